/* xor_avx512.c - xor.c with eight keys at a time. */
#define THIRD 1

#include "fuse/xor.h"

#include "fuse/xor_lookup_template.h"

void tamis__xor_use_avx512(tamis *f)
{
    xor_use(f);
}
