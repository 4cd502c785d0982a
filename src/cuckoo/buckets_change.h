/* buckets_change.h - adding and removing, the same for buckets of any layout: the file that
 * includes this has included one.
 *
 * A key goes to the emptier of its buckets. If both are full, one of the eight tags there has to go
 * to its other bucket, where perhaps one of four has to go in turn. These ways are searched breadth
 * first, in the order in which they are listed: the first bucket with room ends the shortest. Only
 * then are tags moved, so that a search in vain has changed nothing. */
#ifndef TAMIS_CUCKOO_BUCKETS_CHANGE_H
#define TAMIS_CUCKOO_BUCKETS_CHANGE_H

#include "cuckoo/buckets.h"

/* Buckets that a search looks at. Few tables of 95 % need more than some hundred; with tags of four
 * bits, each bucket has but fifteen others, and they meet the same ones again. All that can be
 * reached in five moves are 2 + 8 + 32 + 128 + 512 + 2048. */
enum { SEARCH = 2048, LONGEST = 6 };

/* The two buckets of a key. */
typedef struct pair {
    bucket first, second;
} pair;

static inline pair read_pair(const table *t, const spot *s)
{
    return (pair){ read_bucket(t, s->first), read_bucket(t, s->second) };
}

static inline unsigned copies_in_pair(const table *t, const spot *s, const pair *p)
{
    return copies_in(&p->first, s->tag) + copies_in(&p->second, s->tag) + stash_copies(t, s);
}

static inline unsigned copies_of(const table *t, const spot *s)
{
    pair p = read_pair(t, s);
    unsigned copies = copies_in_pair(t, s, &p);

    return copies < CEILING ? copies : CEILING;
}

/* ---- What can be undone ------------------------------------------------ */

/* Buckets as they were before each change, and the stash. */
typedef struct journal {
    size_t n;
    uint64_t at[CEILING * LONGEST];
    bucket was[CEILING * LONGEST];
    uint8_t stash[1 + CLASS_BITS];
} journal;

static inline void journal_begin(journal *j, const table *t)
{
    j->n = 0;
    memcpy(j->stash, t->stash, 1 + t->class_bits);
}

static inline void journal_undo(const journal *j, const table *t)
{
    for (size_t i = j->n; i-- > 0;)
        write_bucket(t, j->at[i], &j->was[i]);
    memcpy(t->stash, j->stash, 1 + t->class_bits);
}

/* `j` may be NULL. */
static inline void change_bucket(const table *t, uint64_t i, const bucket *from, const bucket *to,
                                 journal *j)
{
    if (j) {
        j->at[j->n] = i;
        j->was[j->n++] = *from;
    }
    write_bucket(t, i, to);
}

static inline void put_in(const table *t, uint64_t i, const bucket *b, uint32_t tag, journal *j)
{
    bucket now = *b;

    put_tag(&now, tag);
    change_bucket(t, i, b, &now, j);
}

/* ---- Making room ------------------------------------------------------- */

__attribute__((always_inline)) static inline void fetch_half(const table *t, uint64_t half)
{
    __builtin_prefetch(t->at + half / 2, 0, 3);
}

/* A row of buckets: the two of a key, then for each, in order, the others of its four tags. So
 * those of the bucket at k are at 4 k + 2 and behind. */
typedef uint64_t search[SEARCH];

/* Tags make room for the next on the way, from the key's bucket to the one at k. */
static inline void move_along(const table *t, const uint64_t *row, unsigned k, uint32_t tag,
                              journal *j)
{
    unsigned way[LONGEST], n = 0;

    for (way[n++] = k; k >= 2; way[n++] = k)
        k = (k - 2) / SLOTS;
    while (n-- > 1) {
        unsigned slot = (way[n - 1] - 2) % SLOTS;
        bucket b = read_bucket(t, row[way[n]]), now = b;
        now.tag[slot] = tag;
        change_bucket(t, row[way[n]], &b, &now, j);
        tag = b.tag[slot];
    }
    bucket last = read_bucket(t, row[way[0]]);
    put_in(t, row[way[0]], &last, tag, j);
}

/* The others of the four tags at k, as far as there is room for them. */
static inline void lengthen(const table *t, uint64_t *row, unsigned k)
{
    bucket b = read_bucket(t, row[k]);

    for (unsigned slot = 0, n = SLOTS * k + 2; slot < SLOTS && n < SEARCH; slot++, n++) {
        row[n] = other_bucket(t, row[k], b.tag[slot]);
        fetch_half(t, half_of(t, row[n]));
    }
}

/* Both buckets are full. Most ways end among the first eight others, so that the row is lengthened
 * only when few are left to look at: lines that nobody needs cost as much as others. No bucket is
 * twice on a way: the first time already led to whatever the second time does. */
__attribute__((noinline)) static bool put_by_moving(const table *t, const spot *s, journal *j)
{
    search row;
    unsigned from = 2;

    row[0] = s->first;
    row[1] = s->second;
    lengthen(t, row, 0);
    lengthen(t, row, 1);
    for (unsigned k = 2; k < SEARCH; k++) {
        bucket b = read_bucket(t, row[k]);
        if (used_in(&b) < SLOTS) {
            move_along(t, row, k, s->tag, j);
            return true;
        }
        if (SLOTS * from + 2 < k + 1 + SLOTS)
            lengthen(t, row, from++);
    }
    return false;
}

static inline bool put_in_buckets(const table *t, const spot *s, const pair *p, journal *j)
{
    unsigned first = used_in(&p->first), second = used_in(&p->second);

    if (first == SLOTS && second == SLOTS)
        return put_by_moving(t, s, j);
    if (first <= second)
        put_in(t, s->first, &p->first, s->tag, j);
    else
        put_in(t, s->second, &p->second, s->tag, j);
    return true;
}

static inline bool put_copy(const table *t, const spot *s, const pair *p, journal *j)
{
    return put_in_buckets(t, s, p, j) || stash_put(t, class_of(t, s));
}

/* ---- Adding ------------------------------------------------------------ */

__attribute__((noinline)) static tamis_status add_slowly(tamis *f, const table *t, const spot *s)
{
    pair p = read_pair(t, s);

    if (copies_in_pair(t, s, &p) >= CEILING)
        return TAMIS_OK;
    if (!put_copy(t, s, &p, NULL))
        return TAMIS_FULL;
    f->count++;
    return TAMIS_OK;
}

static inline tamis_status add_spot(tamis *f, const table *t, const spot *s)
{
    if (!put_shortly(t, s))
        return add_slowly(f, t, s);
    f->count++;
    return TAMIS_OK;
}

static inline tamis_status add_spot_times(tamis *f, const table *t, const spot *s, uint64_t times)
{
    unsigned room = CEILING - copies_of(t, s), n = times < room ? (unsigned)times : room;
    journal j;

    journal_begin(&j, t);
    for (unsigned i = 0; i < n; i++) {
        pair p = read_pair(t, s);
        if (!put_copy(t, s, &p, &j)) {
            journal_undo(&j, t);
            return TAMIS_FULL;
        }
    }
    f->count += n;
    return TAMIS_OK;
}

/* ---- Removing ---------------------------------------------------------- */

static inline void drop_from(const table *t, uint64_t i, bucket b, uint32_t tag)
{
    drop_tag(&b, slot_of(&b, tag));
    write_bucket(t, i, &b);
}

/* There is one. */
static inline void drop_copy(const table *t, const spot *s, const pair *p)
{
    unsigned stashed = is_stashed(t) ? stash_find(t, class_of(t, s)) : 0;

    if (stashed)
        stash_drop(t, (unsigned)__builtin_ctz(stashed));
    else if (copies_in(&p->first, s->tag))
        drop_from(t, s->first, p->first, s->tag);
    else
        drop_from(t, s->second, p->second, s->tag);
}

/* Whoever waits in the stash may find room now. */
static inline void unstash(const table *t)
{
    if (!is_stashed(t))
        return;
    unsigned entry = (unsigned)__builtin_ctz(t->stash[0]);
    spot s = spot_of_class(t, stash_get(t, entry));
    pair p = read_pair(t, &s);
    if (put_in_buckets(t, &s, &p, NULL))
        stash_drop(t, entry);
}

__attribute__((noinline)) static tamis_status remove_slowly(tamis *f, const table *t, const spot *s,
                                                            uint64_t times)
{
    pair p = read_pair(t, s);
    unsigned copies = copies_in_pair(t, s, &p);

    if (copies >= CEILING)
        return TAMIS_OK;
    if (times > copies)
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++, p = read_pair(t, s))
        drop_copy(t, s, &p);
    f->count -= times;
    unstash(t);
    return TAMIS_OK;
}

static inline tamis_status remove_spot(tamis *f, const table *t, const spot *s, uint64_t times)
{
    if (times > 1 || !drop_shortly(t, s))
        return remove_slowly(f, t, s, times);
    f->count--;
    return TAMIS_OK;
}

#endif
