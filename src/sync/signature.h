/* signature.h - a signature in memory, and what finds a block in it. */
#ifndef TAMIS_SYNC_SIGNATURE_H
#define TAMIS_SYNC_SIGNATURE_H

#include "sync/blake2b.h"
#include "tamis_sync.h"

enum { SIGNATURE_STRONG_MOST = 32, SIGNATURE_NONE = -1 };

struct tamis_signature {
    tamis_signature_spec spec;
    bool is_rabin, is_md4;
    uint64_t blocks;
    uint32_t *weak;  /* of each block */
    uint8_t *strong; /* spec.strong bytes of each */
    /* Which rolling hashes there are: a bit for each of their highest bits, then the hashes. */
    unsigned bit_shift, table_shift;
    uint32_t multiplier; /* odd; spreads rolling hashes */
    uint8_t secret[16];  /* spreads pairs of hashes */
    uint64_t *bits;
    uint64_t *weak_table;  /* hash | 1 << 32; 0: empty */
    uint32_t *block_table; /* 1 + the first block with these two hashes, by both; 0: empty */
    tamis_allocator alloc;
};

/* Spreads a rolling hash: its low bits know little of the bytes before the last few. */
static inline uint32_t signature_mixed(const tamis_signature *s, uint32_t weak)
{
    return weak * s->multiplier;
}

static inline bool signature_may_have(const tamis_signature *s, uint32_t weak)
{
    uint32_t at = (uint32_t)((uint64_t)signature_mixed(s, weak) >> s->bit_shift);

    return s->bits[at / 64] >> at % 64 & 1;
}

/* Whether a block has this rolling hash. */
bool tamis__signature_has(const tamis_signature *s, uint32_t weak);
/* The first block with both hashes, or SIGNATURE_NONE. */
int64_t tamis__signature_find(const tamis_signature *s, uint32_t weak, const uint8_t *strong);

void tamis__signature_strong(const tamis_signature *s, uint8_t out[SIGNATURE_STRONG_MOST],
                             const uint8_t *bytes, size_t size);
/* Of four blocks that follow each other. */
void tamis__signature_strong_four(bool is_md4, uint8_t out[4][SIGNATURE_STRONG_MOST],
                                  const uint8_t *bytes, size_t size);

/* As much as there is, up to `size`; SIZE_MAX: the input failed. */
size_t tamis__input_fill(tamis_input *in, void *ctx, void *bytes, size_t size);

static inline uint32_t signature_number(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The last bytes of a number, the highest first. */
static inline void signature_put(uint8_t *p, uint64_t x, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0; x >>= 8)
        p[i] = (uint8_t)x;
}

#endif
