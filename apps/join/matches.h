/* matches.h - rows of B by their keys, in memory. */
#ifndef TAMIS_APPS_JOIN_MATCHES_H
#define TAMIS_APPS_JOIN_MATCHES_H

#include "tape.h"

typedef struct matches {
    buffer *rows; /* records */
    uint64_t *slots;
    size_t n_slots;
    bool each_once; /* one record for each key, without those that follow */
} matches;

/* What a row takes besides its record. */
enum { MATCHES_ROW = 12 };

/* Makes the table of the records in `rows`, of which there are n at most, and stays on them. With
 * each_once, repeats are taken out of `rows`, and counted in the first; n becomes what is left. */
void matches_open(matches *m, buffer *rows, uint64_t *n, bool each_once);
void matches_close(matches *m);

/* The last row with this key; NULL: there is none. */
record *matches_find(const matches *m, uint64_t hash, span key);
/* The one after it: after the last comes the first. */
record *matches_next(const matches *m, const record *r);
/* How many rows have the key of r, if nobody asked before; else 0. */
uint64_t matches_mark(const matches *m, record *r);

#endif
