/* top.h - the most frequent lines of a stream, in memory set beforehand. */
#ifndef TAMIS_CLI_FILTERS_TOP_H
#define TAMIS_CLI_FILTERS_TOP_H

#include "text/keys.h"

/* Bytes of a line that are kept to be shown. */
enum { TOP_TEXT_MAX = 4096 };

typedef struct candidate {
    uint64_t key;
    uint64_t count; /* it came at most that often, or weighs at most that much */
    uint64_t extra; /* and at least count - extra times */
    char *text;     /* with a NUL after it */
    size_t size;
    bool is_cut; /* the line is longer */
} candidate;

typedef struct top top;

/* A line whose text starts `at` bytes into its chunk. */
typedef struct top_line {
    uint64_t key, at;
} top_line;

typedef struct top_chunk {
    const top_line *lines;
    size_t n;
    const uint64_t *weights; /* how much each line counts; NULL: 1 */
    /* The text of the line that starts there, valid until the next call. */
    span (*text)(void *ctx, uint64_t at);
    void *ctx;
} top_chunk;

/* `sketch` counts lines that are no candidates. The caller frees it, and uses it for nothing else.
 * `room` is the number of candidates: up to that many different lines, all counts are exact. */
top *top_new(tamis *sketch, size_t room);
void top_free(top *t);

void top_take(top *t, const top_chunk *chunk);

/* All candidates, the most frequent first; *n tells how many. They live as long as `t`. No line may
 * be taken after this. */
const candidate *top_rank(top *t, size_t *n);
/* No other line came more often than that. */
uint64_t top_floor(const top *t);
/* After top_rank(): 0 if none but the first `shown` came more often than one of these; else how
 * often such a line came at most. */
uint64_t top_doubt(const top *t, size_t shown);

#endif
