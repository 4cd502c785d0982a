/* compressed_blocks.h - the payload of a compressed Bloom filter: bits, coded in blocks, and the
 * index that says where each block starts (compressed.c). */
#ifndef TAMIS_BLOOM_COMPRESSED_BLOCKS_H
#define TAMIS_BLOOM_COMPRESSED_BLOCKS_H

#include "base/le.h"
#include "bloom/bit_coder.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

enum {
    COMPRESSED_WORD = 8,
    COMPRESSED_HEAD = 8,
    COMPRESSED_BLOCK_BYTES = 256, /* of codes, on average: two bytes of index are then 0.8 % */
    COMPRESSED_BASE_BLOCKS = 32,
    COMPRESSED_MOST_LARGER = 16,
    COMPRESSED_MOST_EXPANSION =
        1024, /* bits for each bit of payload: a small file asks for little memory */
};

static const uint64_t COMPRESSED_MAX_WORDS = UINT64_C(1) << 32, COMPRESSED_MAX_SLOTS = UINT64_C(1)
                                                                                       << 48;

typedef struct compressed_layout {
    uint64_t slots, blocks, block_bits;
    uint64_t starts, codes, room; /* where they are; bytes of codes */
} compressed_layout;

compressed_layout tamis__compressed_layout(const tamis_plan *p);

static inline uint64_t compressed_first_of(const compressed_layout *l, uint64_t block)
{
    uint64_t first = block * l->block_bits;

    return first < l->slots ? first : l->slots;
}

/* ---- Writing ----------------------------------------------------------- */

/* Into zeros. TAMIS_FULL: there is not enough room, or a block is so much longer than others that
 * its start has not enough bits. */
tamis_status tamis__compressed_write(uint8_t *payload, const tamis_plan *p, const uint8_t *bits);

/* ---- Reading ----------------------------------------------------------- */

/* Asks for bits in ascending order, block by block. */
typedef struct compressed_reader {
    const uint8_t *payload;
    compressed_layout l;
    bit_coder_model m;
    bit_coder_reader r;
    uint64_t block; /* that r reads; UINT64_MAX: none */
} compressed_reader;

compressed_reader tamis__compressed_reader(const tamis *f);
bool tamis__compressed_get(compressed_reader *c, uint64_t pos);
/* Where the codes of a block start, as the index says. */
uint64_t tamis__compressed_start(const compressed_reader *c, uint64_t block);
/* Of a damaged index, nothing is read beyond the codes and nothing backwards. */
bit_coder_reader tamis__compressed_read_block(const compressed_reader *c, uint64_t block);

/* Why the payload is damaged, or NULL. */
const char *tamis__compressed_verify(const tamis *f);

#endif
