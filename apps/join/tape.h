/* tape.h - records one after the other: in memory, and from a limit on in a file without a name. */
#ifndef TAMIS_APPS_JOIN_TAPE_H
#define TAMIS_APPS_JOIN_TAPE_H

#include "text/keys.h"

/* Its key and its text follow; the next record begins at a multiple of eight bytes. */
typedef struct record {
    uint64_t hash; /* of the key, with a secret */
    /* Rows of A, and rows that go out: the number in A. Rows of B: in a list of equal keys the next
     * one, or how many have the key; see matches.c. */
    uint64_t place;
    uint32_t key_size, text_size;
} record;

span record_key(const record *r);
span record_text(const record *r);
size_t record_size(const record *r);
/* Appends a record with the hash and the place of another. */
void record_append(buffer *to, const record *r, span key, span text);

typedef struct tape {
    int fd;           /* -1: nothing is on disk */
    uint64_t on_disk; /* bytes, which come before those held */
    buffer held;
    size_t room;        /* for what it holds */
    uint64_t rows;      /* there and on disk */
    uint64_t last_hash; /* the last one */
    bool is_mixed;      /* there was another */
} tape;

void tape_open(tape *t, size_t room);
/* As record_append(). */
void tape_append(tape *t, const record *r, span key, span text);
void tape_put(tape *t, const record *r);
/* Moves all of it to the disk, and holds `room` bytes at most from now on. */
void tape_spill(tape *t, size_t room);
uint64_t tape_bytes(const tape *t);
bool tape_is_on_disk(const tape *t);
/* Returns how many bytes went to the disk. */
uint64_t tape_close(tape *t);

typedef struct tape_reader {
    int fd;
    uint64_t at, end; /* on disk, not yet read */
    size_t piece;     /* bytes read at a time */
    buffer window;    /* what was read, */
    size_t used;      /* and so much of it used */
    span held;        /* in memory, which comes last */
} tape_reader;

void tape_read(tape_reader *r, const tape *t, size_t piece);
/* The next record, valid until the next call; NULL after the last. */
record *tape_next(tape_reader *r);
void tape_read_end(tape_reader *r);

#endif
