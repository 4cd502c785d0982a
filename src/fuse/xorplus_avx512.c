/* xorplus_avx512.c - xorplus.c with eight keys at a time. */
#define THIRD 2

#include "fuse/xor.h"

#include "fuse/xor_lookup_template.h"

void tamis__xorplus_use_avx512(tamis *f)
{
    xor_use(f);
}
