/* index.h - many fixed strings, and which of them a text goes on with.
 *
 * Of each pattern, one window of at most eight bytes is looked for in the text. Windows have the
 * sizes 1, 2, 3, 4, 6 and 8, and a pattern has the largest that fits: patterns of one size of
 * window are a class. Of the windows of a pattern, that one is taken which is the rarest among all
 * patterns, so that few share it, however alike they begin.
 *
 * Patterns with the same window at the same offset are a group. They are sorted by their bytes: one
 * binary search finds the last that is not after the text. Whatever the text begins with is among
 * the patterns which that one begins with, its parent, the parent of that, and so on. Jumps go far
 * up this chain, so that the longest that fits is found in a few steps. */
#ifndef TAMIS_APPS_MATCH_INDEX_H
#define TAMIS_APPS_MATCH_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tamis.h"
#include "term/buffer.h"

/* PATTERNS_MAX and OFFSET_MAX are what fits in a group. A short range of offsets bounds the groups
 * of a window, too. */
enum { WINDOW_MAX = 8, CLASSES = 6, OFFSET_MAX = 63, PATTERNS_MAX = (1 << 26) - 1 };

#define NO_PATTERN UINT32_MAX

typedef struct pattern {
    uint64_t at; /* of its bytes, in index.bytes */
    uint32_t size;
    uint32_t parent; /* the longest other one of its group that it begins with, or NO_PATTERN */
} pattern;

typedef struct group {
    uint64_t hash;       /* of the window: no other window has it */
    uint32_t first;      /* of its patterns */
    uint32_t n : 26;     /* 0: the slot is empty */
    uint32_t offset : 6; /* of the window */
} group;

typedef struct window_class {
    unsigned size;
    uint64_t mask;      /* of these bytes of eight */
    unsigned bit_shift; /* from a hash to a bit */
    uint64_t *bits;     /* set for each window: small enough for the cache of a core */
    tamis *filter;      /* of the hashes */
    unsigned slot_shift;
    size_t n_slots; /* a power of two */
    group *slots;   /* a table with linear probing */
} window_class;

typedef struct match_index {
    buffer given;      /* the lines of the patterns as they were read */
    buffer folded;     /* with small letters only, if case is ignored */
    const char *bytes; /* of the two, what the text is compared with */
    uint64_t factor;   /* odd: the hash of a window is their product */
    pattern *patterns; /* group by group */
    uint32_t *jumps;   /* for each, a pattern further up its chain, or NO_PATTERN */
    size_t n;
    uint64_t empty; /* lines that are no pattern */
    size_t longest;
    window_class classes[CLASSES];
    unsigned n_classes;
} match_index;

typedef struct pattern_format {
    unsigned char end; /* of a line */
    bool strips_cr;
    bool folds; /* case is ignored */
    bool takes_packed;
} pattern_format;

/* Reads the lines of a file, "-" for standard input. What cannot be read ends the program. */
void index_open(match_index *x, const char *path, const pattern_format *format);
void index_close(match_index *x);

/* The longest pattern of the group that at .. end begins with; NO_PATTERN if there is none. The
 * others are its ancestors. */
uint32_t index_find(const match_index *x, const group *g, const char *at, const char *end);

/* Small letters for capitals, of ASCII. */
void index_fold(char *bytes, size_t size);

/* A window may be read beyond the end: puts zeros there. */
void index_pad(buffer *b);

/* The hash of the window that begins here. Eight bytes are read, however small it is. */
static inline uint64_t window_hash(const window_class *c, uint64_t factor, const char *at)
{
    uint64_t bytes;

    memcpy(&bytes, at, sizeof bytes);
    return (bytes & c->mask) * factor;
}

#endif
