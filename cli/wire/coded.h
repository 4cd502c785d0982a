/* coded.h - numbers, places and coded symbols, as bytes. What is read may come from anybody. */
#ifndef TAMIS_CLI_WIRE_CODED_H
#define TAMIS_CLI_WIRE_CODED_H

#include "tamis_sync.h"
#include "term/buffer.h"

/* Bytes that are read from the front. */
typedef struct coded {
    const uint8_t *at, *end;
} coded;

/* All of a block; NULL may be none of no size. */
coded coded_of(const void *bytes, size_t size);

/* Seven bits in each byte, the lowest first; the top bit says that more follow. */
enum { CODED_NUMBER = 10 }; /* bytes of the largest */
void coded_put_number(buffer *out, uint64_t number);
/* False: there is none, or it has more than 64 bits. */
bool coded_number(coded *c, uint64_t *number);

/* Small numbers of either sign take few bytes. */
void coded_put_signed(buffer *out, int64_t number);
bool coded_signed(coded *c, int64_t *number);

/* As many bytes, little-endian. */
void coded_put_bytes(buffer *out, uint64_t number, unsigned size);
bool coded_bytes(coded *c, uint64_t *number, unsigned size);

/* Symbol number i of a set of n keys: 8 bytes of its sum, 5 of its check, and its count: of the
 * first symbols how far it is from what is expected of n keys, of others one byte. */
void coded_put_symbol(buffer *out, const tamis_symbol *s, uint64_t i, uint64_t n);
bool coded_symbol(coded *c, tamis_symbol *s, uint64_t i, uint64_t n);
/* The next `more` symbols of that set, of which `i` came before. */
void coded_put_symbols(buffer *out, tamis_symbols *of, uint64_t i, size_t more, uint64_t n);
/* All symbols that there are, at most so many. False: what is there is none, or more. */
bool coded_symbols(coded *c, buffer *symbols, uint64_t most, uint64_t i, uint64_t n);

enum { CODED_SYMBOL = 8 + 5 + 1 }; /* bytes of a symbol, after the first ones */

/* n numbers below a limit, ascending, no two the same. What is read has to take all bytes. */
void coded_put_places(buffer *out, const uint64_t *places, size_t n, uint64_t below);
bool coded_places(coded *c, uint64_t *places, size_t n, uint64_t below);

/* Lines with their ends, in order: of each, how many bytes it begins with that the last one begins
 * with, and the rest. */
void coded_put_lines(buffer *out, const char *text, size_t size, unsigned char end);
/* Appends them to `text`. False: these are none, or they are more than `most` bytes. */
bool coded_lines(coded *c, buffer *text, unsigned char end, size_t most);

#endif
