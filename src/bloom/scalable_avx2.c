/* scalable_avx2.c - the eight words of a block in one register. */
#include "bloom/split_avx2.h"

#include "bloom/scalable_many.h"

const tamis_batch tamis__scalable_avx2 = {
    .has = has,
    .has_many = has_many,
    .try_add_many = try_add_many,
};
