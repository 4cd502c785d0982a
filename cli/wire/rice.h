/* rice.h - numbers as few bits: the upper part one by one, the lower part as it is.
 *
 * For gaps between random numbers in order: of n numbers below N, each takes log2(N / n) and about
 * one and a half bits. */
#ifndef TAMIS_CLI_WIRE_RICE_H
#define TAMIS_CLI_WIRE_RICE_H

#include <stdbool.h>
#include <stdint.h>

#include "term/buffer.h"

/* Bits of the lower part that suit n numbers below N best. */
unsigned rice_low_bits(uint64_t below, uint64_t n);

typedef struct rice_writer {
    unsigned low;
    unsigned n_bits; /* that wait */
    uint64_t bits;
    buffer out;
} rice_writer;

/* Each is at most some hundred times 2^low: upper parts take a bit for each unit. */
void rice_put(rice_writer *w, uint64_t number);
/* After the last one: the rest of its last byte is zeros. */
void rice_end(rice_writer *w);

typedef struct rice_reader {
    unsigned low;
    unsigned n_bits;
    uint64_t bits;
    const uint8_t *at, *end;
    /* Brings the next bytes; false, or NULL: there are no more. */
    bool (*more)(void *ctx, const uint8_t **bytes, size_t *size);
    void *ctx;
} rice_reader;

/* False: the next number is above `most`, or there is none. */
bool rice_get(rice_reader *r, uint64_t *number, uint64_t most);
/* Whether nothing is left but zeros of the last byte. */
bool rice_is_at_end(const rice_reader *r);

#endif
