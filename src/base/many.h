/* many.h - many lookups at once: a loop that a kind fills in.
 *
 * The processor waits for one line of memory about as long as for a dozen, if it is asked for them
 * early. Keys go through in groups of 64, a word of answers: while the lines of one group are
 * looked at, those of the next are on their way. Each step looks at one and asks for one, since
 * requests in bursts would wait for each other. */
#ifndef TAMIS_BASE_MANY_H
#define TAMIS_BASE_MANY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MANY = 64 };

/* The three steps of a lookup. Given as names of inline functions, they cost no call. */
typedef uint64_t many_hash(const void *self, uint64_t key); /* or all that is to be known of it */
typedef void many_fetch(const void *self, uint64_t hash);   /* asks for what look() reads */
typedef bool many_look(const void *self, uint64_t hash);

static inline size_t many_group(size_t from, size_t n)
{
    return from >= n ? 0 : n - from < MANY ? n - from : MANY;
}

/* Bit i % 64 of hits[i / 64] tells about keys[i]; returns how many are set. */
__attribute__((always_inline)) static inline size_t many_lookups(const void *self, uint64_t *hits,
                                                                 const uint64_t *keys, size_t n,
                                                                 many_hash *hash_of,
                                                                 many_fetch *fetch, many_look *look)
{
    uint64_t hashes[2][MANY];
    size_t found = 0;

    for (size_t i = 0; i < many_group(0, n); i++) {
        hashes[0][i] = hash_of(self, keys[i]);
        fetch(self, hashes[0][i]);
    }
    for (size_t from = 0; from < n; from += MANY) {
        const uint64_t *now = hashes[from / MANY % 2];
        uint64_t *next = hashes[from / MANY % 2 ^ 1], word = 0;
        size_t here = many_group(from, n), coming = many_group(from + MANY, n);
        for (size_t i = 0; i < coming; i++)
            next[i] = hash_of(self, keys[from + here + i]);
        for (size_t i = 0; i < here; i++) {
            if (i < coming)
                fetch(self, next[i]);
            word |= (uint64_t)look(self, now[i]) << i;
        }
        hits[from / MANY] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

#endif
