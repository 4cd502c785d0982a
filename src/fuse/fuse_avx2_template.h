/* fuse_avx2_template.h - TEMPLATE, compiled once for each kind of binary fuse filter: its functions
 * for AVX2. The includer defines FUSE_ARITY and FUSE_USE_AVX2: see fuse_template.h. */
#define FUSE_AVX2

#include "base/ahead.h"
#include "base/hash_avx2.h"
#include "base/many.h"
#include "base/sort.h"
#include "fuse/fingerprint.h"
#include "fuse/fuse.h"
#include "fuse/peel.h"

TARGET_AVX2

#include "fuse/fuse_has_many_template.h"
#include "fuse/fuse_solve_template.h"

void FUSE_USE_AVX2(tamis_ops *ops)
{
    ops->solve = fuse_solve;
    ops->has_many = fuse_has_many;
}

TARGET_END
