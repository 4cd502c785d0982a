/* keys.h - bytes to lines, lines to keys. */
#ifndef TAMIS_CLI_TEXT_KEYS_H
#define TAMIS_CLI_TEXT_KEYS_H

#include "tamis.h"
#include "term/buffer.h"

/* What stands between columns. */
typedef enum key_columns {
    COLUMNS_BY_DELIM,  /* one byte */
    COLUMNS_BY_BLANKS, /* blanks and tabs, as many as there are; those around a line are no column
                        */
    COLUMNS_BY_CSV     /* one byte, unless it is in quotes; so may line ends be */
} key_columns;

enum { KEY_FIELDS_MAX = 16 };

typedef struct key_format {
    unsigned char end;   /* ends a line */
    unsigned char delim; /* stands between columns, and between those that make a key */
    bool strips_cr;      /* a carriage return before the line end belongs to it */
    key_columns columns;
    size_t n_fields;                 /* 0: the key is the whole line */
    uint64_t fields[KEY_FIELDS_MAX]; /* else these columns, from 1 */
    uint64_t value_field;            /* and its value this one; 0: it has none */
    uint64_t below;                  /* raw keys must be below this; 0: no limit */
    tamis_hasher hasher;
} key_format;

typedef struct span {
    const char *at;
    size_t size;
} span;

typedef enum key_fault { KEY_GOOD, KEY_NO_INTEGER, KEY_TOO_LARGE, KEY_NO_VALUE } key_fault;

enum { BATCH_LINES = 512 };

/* Consecutive lines with their keys. */
typedef struct batch {
    size_t n;
    uint64_t keys[BATCH_LINES];
    uint64_t values[BATCH_LINES];       /* if there are any */
    const char *start[BATCH_LINES + 1]; /* of each line; then the end of the last */
    uint64_t keyless[BATCH_LINES / 64]; /* bit set: the line has no such field, and no key */
    size_t n_keyless;
    key_fault fault; /* of the line after the last one taken */
    buffer joined;   /* the text of a key that no part of its line is; belongs to the batch */
} batch;

/* Takes lines from at .. end until the batch is full or a key is bad. Returns where the next batch
 * starts. Bytes after the last line end are a line too. */
const char *batch_take(batch *b, const key_format *format, const char *at, const char *end);

/* The text that the key of a line is made of, in the line itself or in `joined`. False: the line
 * lacks one of its columns. */
bool key_text(span *text, const key_format *format, const char *line, const char *end,
              buffer *joined);

/* The key of such a text. */
key_fault key_make(uint64_t *key, const key_format *format, span text);

/* The column of that name in a header, from 1; 0: none is called so. */
uint64_t key_column(const key_format *format, span header, span name);
/* The first line, with its end, takes so many bytes. */
size_t key_line_size(const key_format *format, const char *at, const char *end);

/* Drops lines without a key from keys[], values[] and n. start[] is no longer valid. */
void batch_drop_keyless(batch *b);

#endif
