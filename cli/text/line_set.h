/* line_set.h - a set of lines in memory, each with a key. */
#ifndef TAMIS_CLI_TEXT_LINE_SET_H
#define TAMIS_CLI_TEXT_LINE_SET_H

#include "keys.h"
#include "term/buffer.h"

typedef struct line_ref {
    uint64_t key;
    size_t at; /* where the line is in the text */
} line_ref;

typedef struct line_set {
    unsigned char end; /* of each line */
    buffer text;       /* lines with their ends, as they came */
    line_ref *lines;   /* each once, by their keys */
    size_t n;
    uint64_t sum;             /* of other hashes of these lines */
    tamis_hasher keys, other; /* how both are made */
} line_set;

/* Keys and sums of lines, by secrets that both come from this one. */
void line_set_hash_by(line_set *s, const uint8_t secret[16]);
/* Appends the lines of a file, "-" for standard input, to the text. A failure ends the program. */
void line_set_read(line_set *s, const char *path, bool takes_packed);
/* Finds the lines of the text, and puts them in order. False: two of them have the same key. */
bool line_set_index(line_set *s);
void line_set_free(line_set *s);

/* Without its end. */
span line_set_line(const line_set *s, const line_ref *line);
uint64_t line_set_key(const line_set *s, span line);
uint64_t line_set_other(const line_set *s, span line);
/* NULL: no line has that key. */
const line_ref *line_set_find(const line_set *s, uint64_t key);

/* The next line of a text that ends with a line end; *at is 0 at first. False: there is none. */
bool line_next(const buffer *text, unsigned char end, size_t *at, span *line);

/* By their bytes, the shorter first. */
int span_compare(span a, span b);
/* Puts lines in the order of their bytes. */
void line_set_sort(const line_set *s, line_ref *lines, size_t n);
/* Lines with their ends, one after the other. */
void line_set_write(const line_set *s, const line_ref *lines, size_t n, buffer *out);

#endif
