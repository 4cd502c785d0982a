/* spool.h - bytes that go to a file without a name in large pieces, and come back in order. */
#ifndef TAMIS_APPS_JOIN_SPOOL_H
#define TAMIS_APPS_JOIN_SPOOL_H

#include <stdint.h>

#include "term/buffer.h"

typedef struct spool {
    int fd;           /* -1: nothing is on disk */
    uint64_t on_disk; /* bytes, which come before those held */
    buffer held;
} spool;

/* Moves to the disk what is held. */
void spool_flush(spool *s);
void spool_close(spool *s);

/* A part of what is on disk. */
typedef struct spool_reader {
    int fd;
    uint64_t at, end; /* not yet read */
    size_t piece;     /* bytes read at a time */
    buffer window;
    size_t used; /* of the window */
} spool_reader;

/* The next `size` bytes, valid until the next call; NULL: there are fewer. They stay the next ones
 * until `used` is moved. */
char *spool_peek(spool_reader *r, size_t size);

#endif
