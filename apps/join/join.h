/* join.h - two tables become one: what tamis join does with files and options that are known. */
#ifndef TAMIS_APPS_JOIN_JOIN_H
#define TAMIS_APPS_JOIN_JOIN_H

#include <stdatomic.h>

#include "files/pipeline.h"
#include "files/replace.h"
#include "join_runs.h"
#include "matches.h"
#include "sheet.h"
#include "tape.h"

typedef enum join_kind { JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI } join_kind;

typedef struct join_counts {
    uint64_t asked, dropped; /* rows of the second file, by the filter */
    uint64_t a_found;        /* rows of A with a partner in B */
    uint64_t b_found;        /* and of B in A, if B was second */
    uint64_t out;            /* rows printed */
} join_counts;

typedef struct join {
    join_kind kind;
    sheet a, b;
    const char *key; /* as --on has it */
    source source;   /* threads, and whether compressed files are read as they are */
    uint64_t memory;
    bool no_filter; /* rows are dropped by comparing alone */
    replacement *to;

    bool a_is_first; /* A is read first, since it is the smaller one */
    bool a_is_read, b_is_read;
    tamis_hasher secret;
    tamis *filter;       /* of the keys of the first file; NULL: there is none */
    atomic_bool asks;    /* the filter: it was not given up */
    tape a_rows, b_rows; /* those that wait */
    matches matches;
    runs runs;
    buffer line; /* of an outlet */
    bool has_written_header;
    bool is_probing;  /* rows of B are in memory, and those of A meet them at once */
    uint64_t a_place; /* of the next row of A that waits */
    join_counts counts;
    uint64_t spilled; /* bytes */
    uint64_t filter_bytes;
} join;

/* Reads both files and writes all rows. What is wrong with them ends the program. */
void join_run(join *j);

/* ---- Rows that go out -------------------------------------------------- */

/* Where they wait until they are too many. */
typedef struct outlet {
    enum { OUTLET_STOPS, OUTLET_WRITES, OUTLET_RUNS } when_full;
    buffer *text;
    uint64_t place; /* for OUTLET_RUNS: of the row of A */
} outlet;

/* A row of A, with `missing` fields fewer than its header, beside all rows of B with its key, of
 * which `last` is one. False: there is no room for all of it, only if when_full is OUTLET_STOPS. */
bool emit_found(join *j, outlet *o, span text, size_t missing, const record *last,
                join_counts *counts);
/* The same for a row without a partner. */
void emit_alone(const join *j, outlet *o, span text, size_t missing, join_counts *counts);
/* Sends on what waits. */
void emit_flush(join *j, outlet *o);
void emit_header(join *j);
bool emits_alone(const join *j);
bool emits_pairs(const join *j);

/* ---- Rows of B that do not fit in memory ------------------------------- */

/* Leaves what goes out in j->runs, in order within each. Closes both tapes. `used` bits of each
 * hash are the same in all rows. */
void grace_join(join *j, tape *a, tape *b, unsigned used);
/* Bytes of records and their table that may be in memory, and of a buffer for a file. */
size_t grace_room(const join *j);
size_t grace_piece(const join *j);

typedef enum probe_part { PROBE_ALL, PROBE_ALONE, PROBE_FOUND } probe_part;

/* Every row of A meets the rows of B in j->matches. Those without a partner go out, or those with
 * one, or both. */
void grace_probe(join *j, const tape *a, outlet *o, probe_part part);

#endif
