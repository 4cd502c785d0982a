/* morton_avx2.c - bits counted by an instruction, and blocks changed eight words at a time. */
#include "cuckoo/morton_template.h"

void tamis__morton_use_avx2(tamis *f)
{
    morton_use(f);
}
