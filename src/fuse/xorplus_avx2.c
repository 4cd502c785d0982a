/* xorplus_avx2.c - the same code on machines that count ones by themselves. */
#define THIRD 2

#include "fuse/xor.h"

#include "fuse/xor_lookup_template.h"

void tamis__xorplus_use_avx2(tamis *f)
{
    xor_use(f);
}
