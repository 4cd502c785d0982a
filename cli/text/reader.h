/* reader.h - the inputs of a command, one after the other, in chunks of whole lines. */
#ifndef TAMIS_CLI_TEXT_READER_H
#define TAMIS_CLI_TEXT_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "csv.h"
#include "term/buffer.h"
#include "unpack.h"

/* Small enough to stay in a core's own cache from read() to the last probe. */
enum { CHUNK_SIZE = 1 << 18 };

typedef struct reader {
    char *const *names;   /* NULL follows the last; "-" is standard input */
    unsigned char end;    /* ends a line */
    bool takes_packed;    /* compressed inputs are read as they are */
    size_t line_max;      /* bytes of a line, a little more or less; 0: any number */
    size_t overlap;       /* 0: chunks are whole lines; else see reader_next() */
    bool is_csv;          /* lines are records: `end` in quotes does not end them */
    csv_format csv;       /* if so */
    csv_state state;      /* of the text read so far */
    const char *name;     /* of the input being read, for messages */
    uint64_t inputs;      /* opened so far */
    uint64_t done, total; /* bytes; total is 0 if unknown */
    uint64_t start, next; /* where the latest chunk begins in its input, and the one after it */
    bool is_last;         /* with overlap: nothing of its input follows the latest chunk */
    int fd;               /* -1: none */
    buffer carry;         /* the start of a line whose end is still to come */
    unpacker *unpacker;   /* of the input being read; NULL: it is not compressed */
    buffer packed;        /* what it has not taken yet */
    size_t taken;         /* of these bytes */
    const char *why;      /* what is wrong with the input; NULL: errno tells */
} reader;

void reader_open(reader *r, char *const *names, unsigned char end);
void reader_close(reader *r);

typedef enum reader_state { READER_CHUNK, READER_END, READER_FAILED } reader_state;

/* Fills `text` with one or more lines of one input. Each has its line end: one is added if the last
 * has none. Returns after a single read() if that brought a whole line, so that slow inputs are
 * answered at once. After READER_FAILED, r->why or errno tells why.
 *
 * With an overlap, a chunk is any bytes, as they are, and begins with the last `overlap` bytes of
 * the one before it, if that is of the same input. */
reader_state reader_next(reader *r, buffer *text);
/* The same. False: that was all. An input that cannot be read ends the program. */
bool reader_has_next(reader *r, buffer *text);

/* Calls `take` for each line of a file, "-" for standard input, with a NUL in place of its end. An
 * input that cannot be read ends the program. */
void reader_each_line(const char *path, void (*take)(void *ctx, char *line, size_t size),
                      void *ctx);
/* Appends all lines of such a file. */
void reader_all(buffer *to, const char *path, unsigned char end, bool takes_packed);

#endif
