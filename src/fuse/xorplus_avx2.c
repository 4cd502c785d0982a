/* xorplus_avx2.c - the same code on machines that count ones by themselves. */
#include "fuse/xorplus.h"

void tamis__xorplus_use_avx2(tamis *f)
{
    prepare(f);
}
