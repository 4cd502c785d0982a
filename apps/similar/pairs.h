/* pairs.h - all pairs of rows of bits, and the best of them. */
#ifndef TAMIS_APPS_SIMILAR_PAIRS_H
#define TAMIS_APPS_SIMILAR_PAIRS_H

#include <stdbool.h>

#include "estimate.h"
#include "overlap.h"

/* Rows in order of how many bits they have, so that a run of them is of about one size. */
typedef struct bit_rows {
    size_t n, words; /* of a row: a multiple of OVERLAP_LINE */
    uint64_t *bits;
    uint32_t *ones;
    uint32_t *ids; /* of the documents that the rows belong to */
    occupancy occupancy;
} bit_rows;

static inline const uint64_t *bit_row(const bit_rows *r, size_t i)
{
    return r->bits + i * r->words;
}

typedef struct pair {
    double value;
    uint32_t a, b; /* of documents; a < b unless `is_ordered` */
    uint32_t ones_a, ones_b, both;
} pair;

typedef struct pairs_wish {
    similar_measure by;
    double above;  /* at least that */
    uint64_t top;  /* the best of all; 0: all */
    uint64_t each; /* the best of each document, which comes first in its pairs; 0: not so */
    unsigned threads;
} pairs_wish;

/* More than that are refused: they would fill the memory before they are in order. */
#define PAIRS_MAX (UINT64_C(1) << 26)

typedef struct pairs_found {
    pair *all; /* the best first, or by their first document if each has its own */
    size_t n;
} pairs_found;

/* Whether a pair is told in both directions, which differ. */
static inline bool pairs_are_ordered(similar_measure by)
{
    return by == SIMILAR_CONTAINMENT;
}

pairs_found pairs_find(const bit_rows *rows, const pairs_wish *wish);

#endif
