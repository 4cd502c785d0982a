/* xorplus_avx2.c - the same code on machines that count ones by themselves. */
#include "fuse/xorplus.h"

void tamis__xorplus_prepare_avx2(tamis *f)
{
    prepare(f);
}

const tamis_batch tamis__xorplus_avx2 = { .has = has, .has_many = has_many };
