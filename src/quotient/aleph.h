/* aleph.h - the geometry of aleph filters, and what is done to one fingerprint. aleph.c says what
 * it means. */
#ifndef TAMIS_QUOTIENT_ALEPH_H
#define TAMIS_QUOTIENT_ALEPH_H

#include "base/bits.h"
#include "base/hash.h"
#include "filter.h"
#include "quotient/runs.h"

/* ---- Fingerprints of any length ---------------------------------------- */

/* A slot holds the bits of a fingerprint, a one, and zeros to its end: 1011 in five bits is 10111,
 * 10 is 10100 and one without bits, a void, is 10000. */

static inline uint32_t void_of(unsigned width)
{
    return UINT32_C(1) << (width - 1);
}

/* Zeros after the one. What is no fingerprint counts as void. */
static inline unsigned zeros_of(uint32_t x, unsigned width)
{
    return (unsigned)__builtin_ctz(x | void_of(width));
}

static inline unsigned bits_of(uint32_t x, unsigned width)
{
    return width - 1 - zeros_of(x, width);
}

/* Whether the bits of x are the first of those of `fresh`, which has them all. */
static inline bool covers(uint32_t x, uint32_t fresh)
{
    return ((x ^ fresh) & ~(x ^ (x - 1))) == 0;
}

/* Runs are sorted by this: by the bits, and what covers others comes before them. So the last one
 * that covers a fingerprint is the longest. */
static inline uint64_t order_of(uint32_t x, unsigned width)
{
    return (uint64_t)(x & (x - 1)) << 6 | bits_of(x, width);
}

/* In a table of twice the slots the first bit is part of the quotient. */
static inline uint32_t shortened(uint32_t x, unsigned width, unsigned to_width)
{
    return (uint32_t)((uint64_t)x << (1 + to_width - width)) & packed_mask(to_width);
}

/* ---- Geometry ---------------------------------------------------------- */

enum { ALEPH_HEADER = 64, LOAD_UNIT = 1000 };

/* Doublings since the filter was new. */
static inline unsigned size_of(const tamis_plan *p)
{
    return p->hashes & 255;
}

/* Slots that may be in use at a size up to the present one. Twice the slots have room for twice as
 * many and one: for whatever comes out of doubling, and the key that did not fit before. */
static inline uint64_t room_at(const tamis_plan *p, unsigned size)
{
    uint64_t first = (p->slots >> size_of(p)) * p->load / LOAD_UNIT;

    return (first << size) - 1;
}

/* A filter, taken apart. */
typedef struct aleph {
    table t;
    uint8_t *used; /* slots in use, eight bytes */
    uint64_t salt, prints, room;
} aleph;

static inline aleph aleph_of(const tamis *f)
{
    const tamis_plan *p = &f->plan;
    uint8_t *payload = f->payload;

    return (aleph){ .t = table_at(payload + ALEPH_HEADER, p->slots, p->width),
                    .used = payload,
                    .salt = f->salt,
                    .prints = p->slots << (p->width - 1),
                    .room = room_at(p, size_of(p)) };
}

/* Where a key goes. */
typedef struct spot {
    uint64_t quotient;
    uint32_t fresh;
} spot;

static inline spot spot_of(const aleph *a, uint64_t h)
{
    uint64_t print = scale64(h, a->prints);

    return (spot){ print >> (a->t.width - 1),
                   (uint32_t)(print << 1 | 1) & packed_mask(a->t.width) };
}

/* ---- One fingerprint --------------------------------------------------- */

/* The last slot of the run that covers it, and one; 0: there is none. */
static inline uint64_t find_longest(const table *t, const run *r, uint32_t fresh)
{
    for (uint64_t i = r->end; i > r->start; i--)
        if (covers(slot(t, i - 1), fresh))
            return i;
    return 0;
}

static inline bool has_in(const table *t, const spot *at)
{
    run r = find_run(t, at->quotient);

    return r.is_there && find_longest(t, &r, at->fresh);
}

/* Fingerprints that one load is sure to hold: how many, and the lowest and highest bit of each. */
typedef struct lanes {
    unsigned n;
    uint64_t lows, highs;
} lanes;

static inline lanes lanes_of(unsigned width)
{
    lanes l = { (64 - 7) / width, 0, 0 };

    for (unsigned i = 0; i < l.n; i++)
        l.lows |= UINT64_C(1) << i * width;
    l.highs = l.lows << (width - 1);
    return l;
}

/* has_in() for the quotient of slot j of block b: 1 or 0, or -1 if the run does not lie in the
 * block or is longer than a load.
 *
 * All of a run is compared at once, as covers() does it, and no branch depends on where it lies. */
static inline int look_in(const lanes *l, const uint8_t *b, unsigned j, uint32_t fresh,
                          unsigned width)
{
    uint64_t occupied = occupieds(b), ends = runends(b);
    unsigned offset = b[OFFSET], first = offset % BLOCK;
    /* A one where each run starts or could: after the offset, and after each end. */
    uint64_t starts = (ends & ~below(first)) << 1 | UINT64_C(1) << first;
    unsigned before = select_or_64(starts, ones(occupied & below(j)));
    unsigned start = before > j ? before : j;
    uint64_t rest = ends >> before % BLOCK;
    unsigned end = before + (unsigned)__builtin_ctzll(rest | UINT64_C(1) << 63) + 1;
    unsigned n = end - start, bit = start % BLOCK * width;
    uint64_t v = le64(b + SLOTS + bit / 8) >> bit % 8;
    uint64_t differs = (v ^ l->lows * fresh) & ~(v ^ (v - l->lows));

    /* Lanes beyond the run are made to differ. */
    differs |= ~UINT64_C(0) << n * width % 64;
    bool is_odd = (offset >= BLOCK) | (before >= BLOCK) | (rest == 0) | (n - 1 >= l->n);
    bool is_seen = ((differs - l->lows) & ~differs & l->highs) != 0;
    if (!((occupied >> j & 1) & (is_odd | is_seen)))
        return 0;
    return is_odd ? -1 : 1;
}

/* A slot that is empty and at home takes a fingerprint without more ado. */
static inline bool add_at_home(const table *t, const spot *at)
{
    uint8_t *b = t->at + at->quotient / BLOCK * t->stride;
    uint64_t occupied = occupieds(b), ends = runends(b);
    unsigned j = at->quotient % BLOCK, offset = b[OFFSET];

    if (offset > j || occupied >> j & 1 ||
        ones(occupied & below(j)) != ones(ends & ~below(offset) & below(j)))
        return false;
    packed_put(b + SLOTS, j, t->width, at->fresh);
    put_le64(b, occupied | UINT64_C(1) << j);
    put_le64(b + RUNENDS, ends | UINT64_C(1) << j);
    return true;
}

static inline void add_in_order(const table *t, const spot *at)
{
    run r = find_run(t, at->quotient);
    uint64_t i = r.end, order = order_of(at->fresh, t->width);

    while (i > r.start && order_of(slot(t, i - 1), t->width) > order)
        i--;
    open_slot(t, at->quotient, &r, i);
    put_slot(t, i, at->fresh);
}

static inline tamis_status add_in(const aleph *a, const spot *at)
{
    uint64_t used = le64(a->used);

    if (used >= a->room)
        return TAMIS_FULL;
    if (!add_at_home(&a->t, at))
        add_in_order(&a->t, at);
    put_le64(a->used, used + 1);
    return TAMIS_OK;
}

/* The longest that covers it goes: shorter ones cover whatever that one did. Of a void that is all
 * over the table, the one that this key would be looked for in. */
static inline bool remove_in(const aleph *a, const spot *at)
{
    run r = find_run(&a->t, at->quotient);
    uint64_t after = r.is_there ? find_longest(&a->t, &r, at->fresh) : 0;

    if (!after)
        return false;
    close_slot(&a->t, at->quotient, &r, after - 1);
    put_le64(a->used, le64(a->used) - 1);
    return true;
}

/* Everything that ranks and selects, with the instructions of one kind of machine. */
void tamis__aleph_use_avx2(tamis_ops *ops);

#endif
