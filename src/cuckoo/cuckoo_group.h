/* cuckoo_group.h - keys in batches, four at a time. As many_keys() of base/many.h but for that:
 * then vectors compare the windows of four.
 *
 * A key reads two lines of memory, and memory is slow. So keys go through in groups of 64: while
 * one group is worked on, the lines of the next are on their way.
 *
 *   hash      group 1               group 2               group 3
 *   fetch     group 1, four by four group 2, four by four group 3, four by four
 *   visit     group 0, four by four group 1, four by four group 2, four by four
 *
 * All of this is inlined by force. So functions that are passed by name cost no call, and what they
 * share by a pointer is in registers. */
#ifndef TAMIS_CUCKOO_GROUP_H
#define TAMIS_CUCKOO_GROUP_H

#include "base/ahead.h"
#include "base/many.h"

#define CUCKOO_GROUP_INLINE __attribute__((always_inline)) static inline

/* Whether x, the answer of a lookup, is not 0: told by a branch, which the processor guesses. So
 * what the caller does next begins before the lines are there. Arithmetic would have to wait, and a
 * caller that branches would guess once more. */
CUCKOO_GROUP_INLINE bool cuckoo_group_guess(uint64_t x)
{
    bool yes = true;

    if (!x)
        return false;
    __asm__("" : "+r"(yes)); /* without it, compilers take the comparison for the answer */
    return yes;
}

typedef struct cuckoo_group {
    uint64_t start[2][MANY]; /* the windows or buckets of each key */
    uint64_t bit[2][MANY];   /* where these begin in the payload */
    uint64_t at[2][MANY];    /* the bytes of these bits */
    uint64_t fingerprint[MANY];
    size_t n;
} cuckoo_group;

typedef struct cuckoo_group_batch {
    const void *table; /* of the kind, for the function that hashes */
    const uint8_t *payload;
    const uint64_t *keys;
    size_t n;
    bool is_far;
} cuckoo_group_batch;

/* Key i. From one window or bucket to the next there are that many bits. */
static inline void cuckoo_group_set(cuckoo_group *g, size_t i, uint64_t first, uint64_t second,
                                    uint64_t fingerprint, unsigned bits)
{
    g->start[0][i] = first;
    g->start[1][i] = second;
    g->bit[0][i] = first * bits;
    g->bit[1][i] = second * bits;
    g->at[0][i] = g->bit[0][i] / 8;
    g->at[1][i] = g->bit[1][i] / 8;
    g->fingerprint[i] = fingerprint;
}

/* Keys at a time, or fewer at the end of a batch. */
enum { CUCKOO_GROUP_STEP = 4 };

/* Fills a group of g->n keys. */
typedef void cuckoo_group_hash(cuckoo_group *g, const void *table, const uint64_t *keys);
/* Works on keys i to end - 1 of a group; false ends the batch. `how` is a constant that the caller
 * passed, by which code is chosen. */
typedef bool cuckoo_group_visit(void *self, const cuckoo_group *g, size_t i, size_t end,
                                unsigned how);
/* All keys of a group were visited. */
typedef void cuckoo_group_end(void *self, const cuckoo_group *g);

/* Eight bytes are read. One time in nine they reach into the next line. To wait for it there would
 * take longer than to ask for both. */
CUCKOO_GROUP_INLINE void cuckoo_group_prefetch(const uint8_t *at, bool writes, bool is_far)
{
    if (writes) {
        ahead_write(at, is_far);
        ahead_write(at + 7, is_far);
    } else {
        ahead_read(at, is_far);
        ahead_read(at + 7, is_far);
    }
}

CUCKOO_GROUP_INLINE void cuckoo_group_fetch(const uint8_t *payload, const cuckoo_group *g, size_t i,
                                            bool writes, bool is_far)
{
    cuckoo_group_prefetch(payload + g->at[0][i], writes, is_far);
    cuckoo_group_prefetch(payload + g->at[1][i], writes, is_far);
}

CUCKOO_GROUP_INLINE size_t cuckoo_group_step_end(const cuckoo_group *g, size_t i)
{
    return i + CUCKOO_GROUP_STEP < g->n ? i + CUCKOO_GROUP_STEP : g->n;
}

/* The keys of a step from key i on, as far as there are any. */
CUCKOO_GROUP_INLINE void cuckoo_group_fetch_step(const cuckoo_group_batch *b, const cuckoo_group *g,
                                                 size_t i, bool writes)
{
    const uint8_t *payload = b->payload;

    if (i + CUCKOO_GROUP_STEP > g->n)
        for (; i < g->n; i++)
            cuckoo_group_fetch(payload, g, i, writes, b->is_far);
    else if (b->is_far)
#pragma GCC unroll 4
        for (size_t k = 0; k < CUCKOO_GROUP_STEP; k++)
            cuckoo_group_fetch(payload, g, i + k, writes, true);
    else
#pragma GCC unroll 4
        for (size_t k = 0; k < CUCKOO_GROUP_STEP; k++)
            cuckoo_group_fetch(payload, g, i + k, writes, false);
}

/* The group of the keys from `from` on, as far as there are any. */
CUCKOO_GROUP_INLINE void cuckoo_group_load(cuckoo_group *g, const cuckoo_group_batch *b,
                                           size_t from, cuckoo_group_hash *hash)
{
    g->n = many_group(from, b->n);
    if (g->n)
        hash(g, b->table, b->keys + from);
}

CUCKOO_GROUP_INLINE void cuckoo_group_run(const cuckoo_group_batch *b, bool writes, unsigned how,
                                          cuckoo_group_hash *hash, cuckoo_group_visit *visit,
                                          cuckoo_group_end *end, void *self)
{
    cuckoo_group groups[2];

    cuckoo_group_load(&groups[0], b, 0, hash);
    for (size_t i = 0; i < groups[0].n; i += CUCKOO_GROUP_STEP)
        cuckoo_group_fetch_step(b, &groups[0], i, writes);
    for (size_t from = 0; from < b->n; from += MANY) {
        const cuckoo_group *now = &groups[from / MANY % 2];
        cuckoo_group *next = &groups[from / MANY % 2 ^ 1];
        cuckoo_group_load(next, b, from + MANY, hash);
        for (size_t i = 0; i < now->n; i += CUCKOO_GROUP_STEP) {
            cuckoo_group_fetch_step(b, next, i, writes);
            if (!visit(self, now, i, cuckoo_group_step_end(now, i), how))
                return;
        }
        if (end)
            end(self, now);
    }
}

#endif
