/* many.h - many keys at once: the one loop, and the steps that a kind fills in.
 *
 * The processor waits for one line of memory about as long as for a dozen, if it is asked for them
 * early. Keys go through in groups of 64, a word of answers: while the lines of one group are
 * looked at, those of the next are on their way. Each step looks at one and asks for one, since
 * requests in bursts would wait for each other.
 *
 *   prepare   group 1               group 2               group 3
 *   fetch     group 1, key by key   group 2, key by key   group 3, key by key
 *   look      group 0, key by key   group 1, key by key   group 2, key by key
 *   more      group 0               group 1               group 2
 *
 * A kind says what it has to know of a key: a group is an array of 64 hashes, or a struct of such
 * arrays. prepare() fills a group, perhaps by vectors; fetch() and look() are told which key of it.
 * many_lookups() then makes hits of what look() answers, many_counts() counts, and many_changes()
 * goes on as long as it is not 0. If some keys need another look, at lines that cannot be known
 * before the first, look() notes them in the group and asks for these lines. When all keys of the
 * group had their first look, more() gives them the second.
 *
 *   many_hashes groups[2];
 *   return many_lookups(f, hits, keys, n, &groups[0], &groups[1], x_prepare, x_fetch, x_look,
 * NULL);
 *
 * Steps are MANY_INLINE and given by their names, so that they cost no call. `self` is the filter,
 * or a local struct with what the steps read for each key: its members are then in registers. See
 * window.c in src/bloom, one_block_template.h for groups that are filled by vectors and for
 * changes, scalable_template.h for more(). */
#ifndef TAMIS_BASE_MANY_H
#define TAMIS_BASE_MANY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define MANY_INLINE __attribute__((always_inline)) static inline

enum { MANY = 64 };

/* Sets what is to be known of n keys, MANY at most. After the last group there is one of none. */
typedef void many_prepare(const void *self, void *group, const uint64_t *keys, size_t n);
/* Asks for the lines that look() will read for key i of the group. */
typedef void many_fetch(const void *self, const void *group, size_t i);
/* 1 if key i is there, else 0; how often; or, after a change, whether to go on. */
typedef uint64_t many_look(void *self, void *group, size_t i);
/* Returns the hits of all looks, of which those of the first are given. */
typedef uint64_t many_more(void *self, void *group, uint64_t hits);

/* The group of kinds that need a hash and no more. */
typedef struct many_hashes {
    uint64_t h[MANY];
} many_hashes;

static inline void many_hash(many_hashes *group, const uint64_t *keys, size_t n, uint64_t salt)
{
    for (size_t i = 0; i < n; i++)
        group->h[i] = hash_key(keys[i], salt);
}

static inline size_t many_group(size_t from, size_t n)
{
    return from >= n ? 0 : n - from < MANY ? n - from : MANY;
}

/* ---- The loop ---------------------------------------------------------- */

enum many_answer { MANY_HITS, MANY_COUNTS, MANY_GO_ON };

/* Looks at key i of a group. False: the loop does not go on. */
MANY_INLINE bool many_take(enum many_answer kind, void *self, void *group, size_t i,
                           many_look *look, uint64_t *hits, uint64_t *counts)
{
    uint64_t answer = look(self, group, i);

    if (kind == MANY_HITS)
        *hits |= answer << i;
    else if (kind == MANY_COUNTS)
        counts[i] = answer;
    return kind != MANY_GO_ON || answer;
}

/* The keys of the next group are as many as those of this one, or fewer: they have a loop of their
 * own, since one with a condition in it would end in two jumps. */
MANY_INLINE size_t many_keys(enum many_answer kind, void *self, uint64_t *answers,
                             const uint64_t *keys, size_t n, void *now, void *next,
                             many_prepare *prepare, many_fetch *fetch, many_look *look,
                             many_more *more)
{
    size_t here = many_group(0, n), found = 0;

    prepare(self, now, keys, here);
    for (size_t i = 0; i < here; i++)
        fetch(self, now, i);
    for (size_t from = 0; from < n; from += MANY) {
        size_t coming = many_group(from + MANY, n), i = 0;
        uint64_t hits = 0;
        prepare(self, next, keys + from + here, coming);
        for (; i < coming; i++) {
            fetch(self, next, i);
            if (!many_take(kind, self, now, i, look, &hits, answers + from))
                return from + i;
        }
        for (; i < here; i++)
            if (!many_take(kind, self, now, i, look, &hits, answers + from))
                return from + i;
        if (more)
            hits = more(self, now, hits);
        if (kind == MANY_HITS)
            answers[from / MANY] = hits;
        found += (size_t)__builtin_popcountll(hits);
        void *looked_at = now;
        now = next;
        next = looked_at;
        here = coming;
    }
    return kind == MANY_HITS ? found : n;
}

/* Lookups and counts leave what is given as const as it is, changes do not: one type fits both. */
static inline void *many_self(const void *self)
{
    return (void *)(uintptr_t)self;
}

/* Bit i % 64 of hits[i / 64] tells about keys[i]; returns how many are set. `one` and `other` have
 * room for a group each. */
MANY_INLINE size_t many_lookups(const void *self, uint64_t *hits, const uint64_t *keys, size_t n,
                                void *one, void *other, many_prepare *prepare, many_fetch *fetch,
                                many_look *look, many_more *more)
{
    return many_keys(MANY_HITS, many_self(self), hits, keys, n, one, other, prepare, fetch, look,
                     more);
}

MANY_INLINE void many_counts(const void *self, uint64_t *counts, const uint64_t *keys, size_t n,
                             void *one, void *other, many_prepare *prepare, many_fetch *fetch,
                             many_look *count)
{
    many_keys(MANY_COUNTS, many_self(self), counts, keys, n, one, other, prepare, fetch, count,
              NULL);
}

/* Returns how many keys came before the one that change() did not go on from. */
MANY_INLINE size_t many_changes(void *self, const uint64_t *keys, size_t n, void *one, void *other,
                                many_prepare *prepare, many_fetch *fetch, many_look *change)
{
    return many_keys(MANY_GO_ON, self, NULL, keys, n, one, other, prepare, fetch, change, NULL);
}

#endif
