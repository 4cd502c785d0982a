/* quotient_avx2.c - lookups with the instructions that count and select ones. */
#include <immintrin.h>

#include "quotient/quotient.h"

static inline unsigned select_in(uint64_t word, unsigned i)
{
    uint64_t one = _pdep_u64(UINT64_C(1) << i, word);

    return one ? lowest(one) : BLOCK_SLOTS;
}

#include "quotient/quotient_many.h"

void tamis__quotient_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
}
