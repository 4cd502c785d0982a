/* morton_avx2.c - the kernels with instructions that count bits, and look at all bytes of a block
 * at once where fingerprints are bytes. */
#include "cuckoo/morton_many.h"

void tamis__morton_use_avx2(tamis_ops *ops)
{
    use_kernels(ops);
}
