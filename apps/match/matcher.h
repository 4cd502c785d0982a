/* matcher.h - texts go through chunk by chunk: any thread finds, one prints in order. */
#ifndef TAMIS_APPS_MATCH_MATCHER_H
#define TAMIS_APPS_MATCH_MATCHER_H

#include "files/pipeline.h"
#include "index.h"
#include "text/json.h"

typedef enum view {
    VIEW_LINES,
    VIEW_OFFSETS,
    VIEW_COUNTS,
    VIEW_PATTERNS,
    VIEW_NAMES, /* of inputs */
    VIEW_NOTHING
} view;

typedef struct matcher {
    view view;
    bool inverted, words, numbered, as_json;
    bool shows_names; /* of inputs, before what is printed */
    pattern_format format;
    match_index index;

    uint64_t input; /* whose chunks are being printed */
    uint64_t lines; /* of it, before the current chunk */
    bool is_named;  /* it was printed */
    bool found;
    uint64_t *counts; /* for each pattern of the index */
    buffer out, ids;
    json json;
} matcher;

/* In job.out: where something was found in the chunk; in order, if that matters. */
typedef struct spot {
    size_t from;
    union {
        uint32_t longest; /* patterns begin there: this one, and the ancestors of it that count */
        size_t to;        /* or, where lines are asked for, they end here: one, or some in a row */
    };
    uint64_t line; /* its number in the chunk, from 0, if that is asked for */
} spot;

/* Lines are looked at as such. Otherwise a text without any line end is a stream like others. */
bool matcher_needs_lines(const matcher *m);

/* `id` or, of its ancestors, the longest that counts: where only words do, one that is a word. */
uint32_t matcher_next(const matcher *m, const job *j, size_t place, uint32_t id);

/* For a pipeline: finds, and prints. */
void matcher_find(void *ctx, job *j);
void matcher_print(void *ctx, job *j);
/* After the last chunk. */
void matcher_print_patterns(matcher *m);

#endif
