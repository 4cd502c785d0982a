/* sheet.h - one of the two tables of a join: its header, its records, their keys. */
#ifndef TAMIS_APPS_JOIN_SHEET_H
#define TAMIS_APPS_JOIN_SHEET_H

#include <pthread.h>

#include "text/csv.h"
#include "text/keys.h"

typedef struct sheet {
    const char *path; /* "-" is standard input */
    const char *name; /* for messages */
    csv_format csv;
    bool has_quotes; /* else they are text as any other */
    bool has_header;

    /* The rest is known when the first record was read. */
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool is_open;
    bool is_crlf;   /* how the first record ends */
    buffer first;   /* the record, without its end */
    size_t columns; /* its fields; later records have no more */
    size_t n_keys;
    uint64_t keys[KEY_FIELDS_MAX]; /* columns, from 0, in the order in which they were named */
    uint64_t last_key;             /* the highest of them */

    uint64_t rows, lines; /* finished so far */
} sheet;

typedef enum row_fault {
    ROW_GOOD,
    ROW_OPEN,     /* a quoted field does not end */
    ROW_TRAILING, /* text follows a closing quote */
    ROW_SHORT,    /* it lacks a column of the key */
    ROW_WIDE      /* it has more columns than the first one */
} row_fault;

typedef struct row {
    span text; /* without its line end */
    size_t fields;
    size_t lines;              /* more than one if line ends are in quotes */
    span keys[KEY_FIELDS_MAX]; /* as they stand in the text */
} row;

/* `key` is a list of names or numbers as --on has it; `is_second` takes what follows each "=". */
typedef struct sheet_key {
    const char *list;
    bool is_second;
} sheet_key;

/* The name of the file tells what stands between fields; 0: it does not. */
unsigned char sheet_delim(const char *path);

/* Reads the first record, at the start of the input, and finds the columns of the key. Others may
 * wait for it. Returns where the rows begin, and adds to *lines. What is wrong ends the program. */
const char *sheet_open(sheet *s, const sheet_key *key, const char *at, const char *end,
                       uint64_t *lines);
void sheet_await(sheet *s);
void sheet_close(sheet *s);

/* Splits the record at `at`, where each has its end. Returns where the next one begins. Where the
 * text has no quotes, `is_plain`, this is faster. */
const char *sheet_row(const sheet *s, bool is_plain, const char *at, const char *end, row *r,
                      row_fault *fault);
/* What the key says, in the record itself or at the end of `joined`. Keys are equal if these bytes
 * are, in any two sheets. */
span sheet_key_text(const sheet *s, const row *r, buffer *joined);
/* Bytes of `joined` that the keys of so many records take at most, of that size together. */
size_t sheet_key_room(const sheet *s, size_t rows, size_t size);
_Noreturn void sheet_refuse(const sheet *s, uint64_t line, row_fault fault);

/* Columns that are no part of the key. */
size_t sheet_others(const sheet *s);
/* Appends them to a record in the format `to`: a delimiter before each, empty if it is missing. */
void sheet_append_others(const sheet *s, const csv_format *format, buffer *to, span text);
/* The same for the header, with names that no column of `left` has. */
void sheet_append_header(const sheet *s, const sheet *left, buffer *to);

#endif
