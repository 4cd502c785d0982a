/* coded.c - numbers, places and coded symbols, as bytes. */
#include <stdlib.h>
#include <string.h>

#include "coded.h"
#include "rice.h"
#include "term/array.h"

coded coded_of(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    return (coded){ at, size ? at + size : at };
}

void coded_put_number(buffer *out, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        buffer_append(out, &(uint8_t){ (uint8_t)(number | 128) }, 1);
    buffer_append(out, &(uint8_t){ (uint8_t)number }, 1);
}

bool coded_number(coded *c, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        uint64_t bits = *c->at & 127;

        if (bits << shift >> shift != bits)
            return false;
        *number |= bits << shift;
        if (*c->at++ < 128)
            return true;
    }
    return false;
}

void coded_put_bytes(buffer *out, uint64_t number, unsigned size)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    buffer_append(out, bytes, size);
}

bool coded_bytes(coded *c, uint64_t *number, unsigned size)
{
    *number = 0;
    if ((size_t)(c->end - c->at) < size)
        return false;
    for (unsigned i = 0; i < size; i++)
        *number |= (uint64_t)*c->at++ << 8 * i;
    return true;
}

void coded_put_signed(buffer *out, int64_t number)
{
    coded_put_number(out, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

bool coded_signed(coded *c, int64_t *number)
{
    uint64_t folded;
    bool is_good = coded_number(c, &folded);

    *number = is_good ? (int64_t)(folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0)) : 0;
    return is_good;
}

/* ---- Symbols ----------------------------------------------------------- */

/* Each of n keys is in symbol i with probability 1 / (1 + i / 2). */
static uint64_t expected_count(uint64_t i, uint64_t n)
{
    return n / (i + 2) * 2;
}

void coded_put_symbol(buffer *out, const tamis_symbol *s, uint64_t i, uint64_t n)
{
    coded_put_bytes(out, s->sum, 8);
    coded_put_bytes(out, s->check, 5);
    if (i < TAMIS_SYMBOLS_FIRST)
        coded_put_signed(out, (int64_t)((uint64_t)s->count - expected_count(i, n)));
    else
        coded_put_bytes(out, (uint64_t)s->count, 1);
}

bool coded_symbol(coded *c, tamis_symbol *s, uint64_t i, uint64_t n)
{
    bool is_first = i < TAMIS_SYMBOLS_FIRST;
    uint64_t count = 0;

    if (!coded_bytes(c, &s->sum, 8) || !coded_bytes(c, &s->check, 5) ||
        !(is_first ? coded_signed(c, &s->count) : coded_bytes(c, &count, 1)))
        return false;
    s->count = is_first ? (int64_t)((uint64_t)s->count + expected_count(i, n)) : (int64_t)count;
    return true;
}

void coded_put_symbols(buffer *out, tamis_symbols *of, uint64_t i, size_t more, uint64_t n)
{
    tamis_symbol *symbols = array_new(more, sizeof *symbols, "symbols");

    tamis_symbols_next(of, symbols, more);
    for (size_t k = 0; k < more; k++)
        coded_put_symbol(out, &symbols[k], i + k, n);
    free(symbols);
}

bool coded_symbols(coded *c, buffer *symbols, uint64_t most, uint64_t i, uint64_t n)
{
    tamis_symbol s;

    buffer_reserve(symbols, ((size_t)(c->end - c->at) / (CODED_SYMBOL - 1) + 1) * sizeof s);
    for (uint64_t taken = 0; c->at < c->end; taken++) {
        if (taken == most || !coded_symbol(c, &s, i + taken, n))
            return false;
        buffer_append(symbols, &s, sizeof s);
    }
    return true;
}

/* ---- Places ------------------------------------------------------------ */

void coded_put_places(buffer *out, const uint64_t *places, size_t n, uint64_t below)
{
    rice_writer w = { .low = rice_low_bits(below, n) };
    uint64_t next = 0;

    for (size_t i = 0; i < n; i++) {
        rice_put(&w, places[i] - next);
        next = places[i] + 1;
    }
    rice_end(&w);
    buffer_append(out, w.out.bytes, w.out.size);
    buffer_free(&w.out);
}

bool coded_places(coded *c, uint64_t *places, size_t n, uint64_t below)
{
    rice_reader in = { .low = rice_low_bits(below, n), .at = c->at, .end = c->end };
    uint64_t next = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t gap;

        if (next >= below || !rice_get(&in, &gap, below - 1 - next))
            return false;
        places[i] = next + gap;
        next = places[i] + 1;
    }
    return rice_is_at_end(&in);
}

/* ---- Lines ------------------------------------------------------------- */

static size_t shared_bytes(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t n = 0;

    while (n < a_size && n < b_size && a[n] == b[n])
        n++;
    return n;
}

void coded_put_lines(buffer *out, const char *text, size_t size, unsigned char end)
{
    const char *last = text;
    size_t last_size = 0;

    for (const char *at = text, *stop = size ? text + size : text; at < stop; at += last_size + 1) {
        size_t line = (size_t)((const char *)memchr(at, end, (size_t)(stop - at)) - at);
        size_t shared = shared_bytes(last, last_size, at, line);

        coded_put_number(out, shared);
        buffer_append(out, at + shared, line - shared + 1);
        last = at;
        last_size = line;
    }
}

bool coded_lines(coded *c, buffer *text, unsigned char end, size_t most)
{
    size_t last = 0, last_size = 0;

    while (c->at < c->end) {
        uint64_t number;

        if (!coded_number(c, &number) || number > last_size || c->at == c->end)
            return false;
        size_t shared = (size_t)number;
        const uint8_t *stop = memchr(c->at, end, (size_t)(c->end - c->at));
        size_t rest = stop ? (size_t)(stop - c->at) : 0, at = text->size;
        if (!stop || shared + rest >= most || at > most - shared - rest - 1)
            return false;
        buffer_reserve(text, shared + rest + 1);
        if (shared > 0)
            memcpy(text->bytes + at, text->bytes + last, shared);
        text->size += shared;
        buffer_append(text, c->at, rest + 1);
        c->at = stop + 1;
        last = at;
        last_size = shared + rest;
    }
    return true;
}
