/* bit_coder.h - bits of which a known share is set, written in as many bits as that takes. */
#ifndef TAMIS_BLOOM_BIT_CODER_H
#define TAMIS_BLOOM_BIT_CODER_H

#include "base/bits.h"

/* A block has at most 2^24 bits: an answer that is as good as certain costs 2^-16 of a bit. */
enum { BIT_CODER_LEVELS = 24 };

typedef struct bit_coder_model {
    bool inverted; /* more bits are set than clear: it is the clear ones that are coded */
    bool certain;  /* all bits are the same, and nothing is coded */
    unsigned top;
    uint16_t zero[BIT_CODER_LEVELS + 1], left[BIT_CODER_LEVELS + 1]; /* of 2^16 */
} bit_coder_model;

bit_coder_model tamis__bit_coder_model(uint64_t ones, uint64_t bits);

/* Writes bits first .. last - 1 as a block, from `to` on. Returns its end, or NULL if it would be
 * beyond `end`. */
uint8_t *tamis__bit_coder_write(uint8_t *to, uint8_t *end, const bit_coder_model *m,
                                const uint8_t *bits, uint64_t first, uint64_t last);

/* Where a walk over the nodes of a block is. */
typedef struct bit_coder_walk {
    uint64_t at;      /* the coded bit that was found last */
    uint64_t group;   /* where the next group starts */
    uint64_t end;     /* of the block */
    uint32_t pending; /* bit j: the right half of 2^j bits, of a node around `at`, comes yet */
} bit_coder_walk;

typedef struct bit_coder_reader {
    bit_coder_walk walk;
    bool done;
    bool strayed;                      /* a bit was found behind the last one */
    const uint8_t *start, *from, *end; /* of the block; what was not read yet */
    uint64_t code, range;              /* above the start of the interval; its length */
    uint64_t recent;                   /* the last 64 bits read */
} bit_coder_reader;

/* Starts to read a block of n bits. Any bytes will do. */
bit_coder_reader tamis__bit_coder_read(const uint8_t *from, const uint8_t *end, uint64_t n);

/* Goes on, by one coded bit at least, to the first at `bit` or behind it: walk.at. False: there is
 * none, and it is done. */
bool tamis__bit_coder_seek(bit_coder_reader *r, const bit_coder_model *m, uint64_t bit);

/* Whether what was read, all of it, is what would be written: the shortest number, and not a byte
 * of zeros behind it. */
bool tamis__bit_coder_is_whole(const bit_coder_reader *r);

#endif
