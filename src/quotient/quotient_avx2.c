/* quotient_avx2.c - lookups with the instructions that count and select ones. */
#include <immintrin.h>

#include "quotient/quotient.h"

static inline unsigned select_in(uint64_t word, unsigned i)
{
    uint64_t one = _pdep_u64(UINT64_C(1) << i, word);

    return one ? lowest(one) : BLOCK_SLOTS;
}

#include "quotient/quotient_many.h"

const tamis_batch tamis__quotient_avx2 = {
    .has = has,
    .has_many = has_many,
    .try_add_many = tamis__quotient_add_many,
    .remove_many = tamis__quotient_remove_many,
};
