/* signature.h - hashes of the blocks of a file, and what finds a block by them.
 *
 * Who has the old file makes its signature: a rolling hash and a strong hash of each block. The
 * format is that of librsync: rdiff reads and writes the same files. */
#ifndef TAMIS_APPS_SYNC_SIGNATURE_H
#define TAMIS_APPS_SYNC_SIGNATURE_H

#include "blake2b.h"
#include "tamis.h"

typedef enum signature_format {
    SIGNATURE_SUM_MD4 = 0x72730136,    /* for programs of before 2014; MD4 can be forged */
    SIGNATURE_SUM_BLAKE2 = 0x72730137, /* of before 2020 */
    SIGNATURE_RABIN_MD4 = 0x72730146,
    SIGNATURE_RABIN_BLAKE2 = 0x72730147, /* what rdiff writes today */
} signature_format;

typedef struct signature_spec {
    signature_format format;
    uint32_t block;  /* bytes of a block, at most 2^28 */
    uint32_t strong; /* bytes that are kept of a strong hash: up to 32, and 16 of MD4 */
} signature_spec;

/* Puts up to `size` bytes there, and returns how many: 0 at the end, SIZE_MAX if it fails. */
typedef size_t byte_source(void *ctx, void *bytes, size_t size);

enum { SIGNATURE_STRONG_MOST = 32, SIGNATURE_NONE = -1 };

typedef struct block_signature {
    signature_spec spec;
    bool is_rabin, is_md4;
    uint64_t blocks;
    uint32_t *weak;  /* of each block */
    uint8_t *strong; /* spec.strong bytes of each */
    /* Which rolling hashes there are: a bit for each of their highest bits, then the hashes. */
    unsigned bit_shift, table_shift;
    uint32_t multiplier; /* odd; spreads rolling hashes */
    tamis_hasher places; /* spreads pairs of hashes */
    uint64_t *bits;
    uint64_t *weak_table;  /* hash | 1 << 32; 0: empty */
    uint32_t *block_table; /* 1 + the first block with these two hashes, by both; 0: empty */
    tamis_allocator alloc;
    uint8_t *arrays; /* all of them */
    size_t arrays_size;
} block_signature;

/* What a NULL allocator stands for. */
extern const tamis_allocator signature_heap;

/* Any number of bytes, from a pipe too. TAMIS_RANGE: there is no such signature. TAMIS_IO: an input
 * or a sink failed, here and below. */
tamis_status signature_make(const signature_spec *spec, byte_source *old_file, void *old_ctx,
                            tamis_sink *out, void *out_ctx, const tamis_allocator *a);
/* TAMIS_FOREIGN: it is none. TAMIS_CORRUPT: it is cut short. TAMIS_RANGE: it is of blocks of no
 * size, or longer than `most` bytes, if that is not 0. */
tamis_status signature_load(block_signature **out, byte_source *in, void *ctx, uint64_t most,
                            const tamis_allocator *a);
void signature_free(block_signature *s);

/* Spreads a rolling hash: its low bits know little of the bytes before the last few. */
static inline uint32_t signature_mixed(const block_signature *s, uint32_t weak)
{
    return weak * s->multiplier;
}

static inline bool signature_may_have(const block_signature *s, uint32_t weak)
{
    uint32_t at = (uint32_t)((uint64_t)signature_mixed(s, weak) >> s->bit_shift);

    return s->bits[at / 64] >> at % 64 & 1;
}

/* Whether a block has this rolling hash. */
bool signature_has(const block_signature *s, uint32_t weak);
/* The first block with both hashes, or SIGNATURE_NONE. */
int64_t signature_find(const block_signature *s, uint32_t weak, const uint8_t *strong);

void signature_strong(bool is_md4, uint8_t out[SIGNATURE_STRONG_MOST], const uint8_t *bytes,
                      size_t size);
/* Of four blocks that follow each other. */
void signature_strong_four(bool is_md4, uint8_t out[4][SIGNATURE_STRONG_MOST], const uint8_t *bytes,
                           size_t size);

/* Makes room for so many bytes, of which those in use stay. False: there is no memory. */
bool signature_grow(const tamis_allocator *by, uint8_t **bytes, size_t used, size_t *room,
                    size_t wanted);
/* As much as there is, up to `size`; SIZE_MAX: the input failed. */
size_t signature_fill(byte_source *in, void *ctx, void *bytes, size_t size);

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
