/* gcs_avx2.c - the same code on machines that find and clear the lowest one by themselves. */
#include "coded/gcs.h"

const tamis_batch tamis__gcs_avx2 = { .has = has, .has_many = has_many };
