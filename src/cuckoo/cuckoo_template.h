/* cuckoo_template.h - TEMPLATE, compiled once for each CPU: keys one by one and in batches. The
 * file that includes it has defined cuckoo_hash_group() and, if CUCKOO_HOLDS_FOUR is 1,
 * cuckoo_hold_four(), which looks up four keys.
 *
 * Slots of up to 16 bits, the usual ones, have all four places of a key compared at once. */
#include "cuckoo/cuckoo.h"

/* How windows are read: by four bytes, by eight, or slot by slot. */
enum { CUCKOO_LOOK_SHORT, CUCKOO_LOOK_LANES, CUCKOO_LOOK_WIDE };

static inline unsigned cuckoo_look(unsigned width)
{
    return width <= CUCKOO_WIDEST_SHORT  ? CUCKOO_LOOK_SHORT
           : width <= CUCKOO_WIDEST_LANE ? CUCKOO_LOOK_LANES
                                         : CUCKOO_LOOK_WIDE;
}

typedef struct cuckoo_batch {
    cuckoo_table t;
    cuckoo_lanes l;
    tamis *f;      /* when keys are removed */
    uint64_t *out; /* answers or counts */
    uint64_t word; /* answers of this group */
    size_t n;      /* keys found or removed */
} cuckoo_batch;

static inline cuckoo_entry cuckoo_entry_of_group(const cuckoo_group *g, size_t i)
{
    return (cuckoo_entry){ g->start[0][i], g->start[1][i], g->fingerprint[i] };
}

/* A batch, by the code for this width of slots. It is compared here, and not through cuckoo_look():
 * then the compiler knows how wide slots are at most. */
CUCKOO_GROUP_INLINE void cuckoo_run(const tamis *f, const cuckoo_table *t, const uint64_t *keys,
                                    size_t n, bool writes, cuckoo_group_visit *visit,
                                    cuckoo_group_end *end, void *self)
{
    const cuckoo_group_batch b = { t, t->slots, keys, n, f->is_far };

    if (t->width <= CUCKOO_WIDEST_SHORT)
        cuckoo_group_run(&b, writes, CUCKOO_LOOK_SHORT, cuckoo_hash_group, visit, end, self);
    else if (t->width <= CUCKOO_WIDEST_LANE)
        cuckoo_group_run(&b, writes, CUCKOO_LOOK_LANES, cuckoo_hash_group, visit, end, self);
    else
        cuckoo_group_run(&b, writes, CUCKOO_LOOK_WIDE, cuckoo_hash_group, visit, end, self);
}

/* ---- Four places at once ----------------------------------------------- */

CUCKOO_GROUP_INLINE uint64_t cuckoo_window(const cuckoo_table *t, uint64_t bit, unsigned how)
{
    const uint8_t *at = t->slots + bit / 8;

    return (how == CUCKOO_LOOK_SHORT ? le32(at) : le64(at)) >> bit % 8;
}

/* Where the windows of a key start, and what is looked for there. */
typedef struct cuckoo_spot {
    uint64_t first, second; /* bits of the payload */
    uint64_t fingerprint;
} cuckoo_spot;

CUCKOO_GROUP_INLINE cuckoo_spot cuckoo_spot_in(const cuckoo_group *g, size_t i)
{
    return (cuckoo_spot){ g->bit[0][i], g->bit[1][i], g->fingerprint[i] };
}

CUCKOO_GROUP_INLINE cuckoo_spot cuckoo_spot_of(const cuckoo_table *t, uint64_t h)
{
    cuckoo_entry e = cuckoo_entry_as(t, h, true);

    return (cuckoo_spot){ e.first * t->width, e.second * t->width, e.fingerprint };
}

static inline uint64_t cuckoo_spot_bit(const cuckoo_table *t, const cuckoo_spot *s, unsigned place)
{
    return (place & 2 ? s->second : s->first) + (place & 1) * (uint64_t)t->width;
}

/* The places of a key, a lane for each; above them there may be anything. Place 0 of fingerprint 0
 * never looks empty: only 0 less 1 has the highest bit. */
CUCKOO_GROUP_INLINE uint64_t cuckoo_four(const cuckoo_table *t, const cuckoo_lanes *l,
                                         const cuckoo_spot *s, unsigned how)
{
    uint64_t first = cuckoo_window(t, s->first, how) & l->window;
    uint64_t second = cuckoo_window(t, s->second, how) << 2 * t->width;

    return first | second | (s->fingerprint - 1) >> 63;
}

/* What the four would be if the key were at each of them. */
static inline uint64_t cuckoo_target(const cuckoo_lanes *l, uint64_t fingerprint)
{
    return fingerprint * l->units + l->tags;
}

static inline unsigned cuckoo_lowest_lane(const cuckoo_lanes *l, uint64_t zeros)
{
    return (unsigned)__builtin_popcountll(l->tops & (zeros - 1) & ~zeros);
}

/* The lanes that the key is in; the lowest is right. */
static inline uint64_t cuckoo_held(const cuckoo_lanes *l, const cuckoo_spot *s, uint64_t four)
{
    return cuckoo_zero_lanes(l, four ^ cuckoo_target(l, s->fingerprint));
}

/* ---- Lookups ----------------------------------------------------------- */

static bool cuckoo_has(const tamis *f, uint64_t key)
{
    cuckoo_table t = cuckoo_table_of(f);
    cuckoo_entry e = cuckoo_entry_of(&t, hash_key(key, t.salt));

    return cuckoo_holding(&t, &e) || cuckoo_stashed(&t, &e);
}

/* The stash, which is empty in nearly all filters, is asked first: then nothing of the key is kept
 * for later. */
CUCKOO_GROUP_INLINE bool cuckoo_has_as(const tamis *f, uint64_t key, unsigned how)
{
    const cuckoo_derived *d = cuckoo_derived_of(f);
    const cuckoo_lanes *l = &d->lanes;

    if (le64((const uint8_t *)f->payload + d->stash_at))
        return cuckoo_has(f, key);
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_spot s = cuckoo_spot_of(&t, hash_key(key, t.salt));
    return cuckoo_group_guess(cuckoo_held(l, &s, cuckoo_four(&t, l, &s, how)));
}

static bool cuckoo_has_short(const tamis *f, uint64_t key)
{
    return cuckoo_has_as(f, key, CUCKOO_LOOK_SHORT);
}

static bool cuckoo_has_lanes(const tamis *f, uint64_t key)
{
    return cuckoo_has_as(f, key, CUCKOO_LOOK_LANES);
}

static uint64_t cuckoo_count(const tamis *f, uint64_t key)
{
    cuckoo_table t = cuckoo_table_of(f);
    cuckoo_entry e = cuckoo_entry_of(&t, hash_key(key, t.salt));

    return cuckoo_copies(&t, &e);
}

CUCKOO_GROUP_INLINE bool cuckoo_is_held(const cuckoo_batch *b, const cuckoo_group *g, size_t i,
                                        unsigned how)
{
    if (how == CUCKOO_LOOK_WIDE) {
        cuckoo_entry e = cuckoo_entry_of_group(g, i);
        return cuckoo_holding(&b->t, &e) != 0;
    }
    cuckoo_spot s = cuckoo_spot_in(g, i);
    return cuckoo_held(&b->l, &s, cuckoo_four(&b->t, &b->l, &s, how)) != 0;
}

CUCKOO_GROUP_INLINE bool cuckoo_visit_has(void *self, const cuckoo_group *g, size_t i, size_t end,
                                          unsigned how)
{
    cuckoo_batch *b = self;

    if (CUCKOO_HOLDS_FOUR && end - i == CUCKOO_GROUP_STEP && how != CUCKOO_LOOK_WIDE)
        b->word |= cuckoo_hold_four(&b->t, &b->l, g, i) << i;
    else
        for (; i < end; i++)
            b->word |= (uint64_t)cuckoo_is_held(b, g, i, how) << i;
    return true;
}

/* Of the keys that were not found, those that are in the stash. */
static uint64_t cuckoo_stash_hits(cuckoo_table t, const cuckoo_group *g, uint64_t hits)
{
    for (size_t i = 0; i < g->n; i++)
        if (!(hits >> i & 1))
            hits |= (uint64_t)(tamis__cuckoo_stashed(t, cuckoo_entry_of_group(g, i)) != 0) << i;
    return hits;
}

CUCKOO_GROUP_INLINE void cuckoo_end_has(void *self, const cuckoo_group *g)
{
    cuckoo_batch *b = self;
    uint64_t hits = cuckoo_stash_size(&b->t) ? cuckoo_stash_hits(b->t, g, b->word) : b->word;

    *b->out++ = hits;
    b->n += (size_t)__builtin_popcountll(hits);
    b->word = 0;
}

static size_t cuckoo_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_batch b = { .t = t, .l = cuckoo_derived_of(f)->lanes, .out = hits };

    cuckoo_run(f, &t, keys, n, false, cuckoo_visit_has, cuckoo_end_has, &b);
    return b.n;
}

CUCKOO_GROUP_INLINE bool cuckoo_visit_count(void *self, const cuckoo_group *g, size_t i, size_t end,
                                            unsigned how)
{
    cuckoo_batch *b = self;

    (void)how;
    for (; i < end; i++) {
        cuckoo_entry e = cuckoo_entry_of_group(g, i);
        *b->out++ = cuckoo_copies(&b->t, &e);
    }
    return true;
}

static void cuckoo_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    const cuckoo_table t = cuckoo_table_of(f);
    const cuckoo_group_batch all = { &t, t.slots, keys, n, f->is_far };
    cuckoo_batch b = { .t = t, .out = counts };

    cuckoo_group_run(&all, false, CUCKOO_LOOK_WIDE, cuckoo_hash_group, cuckoo_visit_count, NULL,
                     &b);
}

/* ---- Removing ---------------------------------------------------------- */

/* The usual case in a few steps: one copy, in the slots, and nothing in the stash. No branch
 * depends on the place, which is unpredictable. */
CUCKOO_GROUP_INLINE bool cuckoo_remove_lone(const cuckoo_table *t, const cuckoo_lanes *l,
                                            const cuckoo_spot *s, unsigned how)
{
    uint64_t held = cuckoo_held(l, s, cuckoo_four(t, l, s, how)), rest = held & (held - 1);

    if (!held || rest)
        return false;
    cuckoo_put_at(t, cuckoo_spot_bit(t, s, cuckoo_lowest_lane(l, held)), 0);
    return true;
}

__attribute__((noinline)) static tamis_status cuckoo_remove(tamis *f, uint64_t key, uint64_t times)
{
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_entry e = cuckoo_entry_of(&t, hash_key(key, t.salt));

    return tamis__cuckoo_remove(f, &e, times);
}

CUCKOO_GROUP_INLINE tamis_status cuckoo_remove_as(tamis *f, uint64_t key, uint64_t times,
                                                  unsigned how)
{
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_spot s = cuckoo_spot_of(&t, hash_key(key, t.salt));

    if (times > 1 || cuckoo_stash_size(&t) ||
        !cuckoo_remove_lone(&t, &cuckoo_derived_of(f)->lanes, &s, how))
        return cuckoo_remove(f, key, times);
    f->count--;
    return TAMIS_OK;
}

static tamis_status cuckoo_remove_short(tamis *f, uint64_t key, uint64_t times)
{
    return cuckoo_remove_as(f, key, times, CUCKOO_LOOK_SHORT);
}

static tamis_status cuckoo_remove_lanes(tamis *f, uint64_t key, uint64_t times)
{
    return cuckoo_remove_as(f, key, times, CUCKOO_LOOK_LANES);
}

CUCKOO_GROUP_INLINE void cuckoo_remove_key(cuckoo_batch *b, const cuckoo_group *g, size_t i,
                                           unsigned how)
{
    cuckoo_spot s = cuckoo_spot_in(g, i);

    if (how != CUCKOO_LOOK_WIDE && !cuckoo_stash_size(&b->t) &&
        cuckoo_remove_lone(&b->t, &b->l, &s, how)) {
        b->f->count--;
        b->n++;
    } else {
        cuckoo_entry e = cuckoo_entry_of_group(g, i);
        b->n += tamis__cuckoo_remove(b->f, &e, 1) == TAMIS_OK;
    }
}

CUCKOO_GROUP_INLINE bool cuckoo_visit_remove(void *self, const cuckoo_group *g, size_t i,
                                             size_t end, unsigned how)
{
    for (; i < end; i++)
        cuckoo_remove_key(self, g, i, how);
    return true;
}

static size_t cuckoo_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_batch b = { .t = t, .l = cuckoo_derived_of(f)->lanes, .f = f };

    cuckoo_run(f, &t, keys, n, true, cuckoo_visit_remove, NULL, &b);
    return b.n;
}

/* ---- Adding ------------------------------------------------------------ */

/* The usual case in a few steps: no copy yet, and a free place. */
CUCKOO_GROUP_INLINE bool cuckoo_find_free(unsigned *place, const cuckoo_table *t,
                                          const cuckoo_lanes *l, const cuckoo_spot *s, unsigned how)
{
    uint64_t four = cuckoo_four(t, l, s, how), free = cuckoo_zero_lanes(l, four);

    if (!free || cuckoo_held(l, s, four))
        return false;
    *place = cuckoo_lowest_lane(l, free);
    return true;
}

__attribute__((noinline)) static tamis_status cuckoo_add(tamis *f, uint64_t key, uint64_t times)
{
    const cuckoo_table t = cuckoo_table_of(f);
    uint64_t h = hash_key(key, t.salt);
    cuckoo_entry e = cuckoo_entry_of(&t, h);

    return tamis__cuckoo_add(f, h, &e, times);
}

CUCKOO_GROUP_INLINE tamis_status cuckoo_add_as(tamis *f, uint64_t key, uint64_t times, unsigned how)
{
    const cuckoo_table t = cuckoo_table_of(f);
    const cuckoo_lanes *l = &cuckoo_derived_of(f)->lanes;
    cuckoo_spot s = cuckoo_spot_of(&t, hash_key(key, t.salt));
    unsigned place;

    if (times > 1 || cuckoo_stash_size(&t) || !cuckoo_find_free(&place, &t, l, &s, how))
        return cuckoo_add(f, key, times);
    cuckoo_put_at(&t, cuckoo_spot_bit(&t, &s, place), s.fingerprint << CUCKOO_TAG_BITS | place);
    f->count++;
    return TAMIS_OK;
}

static tamis_status cuckoo_add_short(tamis *f, uint64_t key, uint64_t times)
{
    return cuckoo_add_as(f, key, times, CUCKOO_LOOK_SHORT);
}

static tamis_status cuckoo_add_lanes(tamis *f, uint64_t key, uint64_t times)
{
    return cuckoo_add_as(f, key, times, CUCKOO_LOOK_LANES);
}

#include "cuckoo/cuckoo_walks_template.h"

/* ---- The functions of a filter ----------------------------------------- */

static void cuckoo_use(tamis *f)
{
    static bool (*const HAS[])(const tamis *, uint64_t) = { cuckoo_has_short, cuckoo_has_lanes,
                                                            cuckoo_has };
    static tamis_status (*const ADD[])(
        tamis *, uint64_t, uint64_t) = { cuckoo_add_short, cuckoo_add_lanes, cuckoo_add };
    static tamis_status (*const REMOVE[])(
        tamis *, uint64_t, uint64_t) = { cuckoo_remove_short, cuckoo_remove_lanes, cuckoo_remove };
    unsigned how = cuckoo_look(f->plan.width);

    f->ops.has = HAS[how];
    f->ops.count = cuckoo_count;
    f->ops.add = ADD[how];
    f->ops.remove = REMOVE[how];
    f->ops.has_many = cuckoo_has_many;
    f->ops.count_many = cuckoo_count_many;
    f->ops.add_many = cuckoo_add_many;
    f->ops.remove_many = cuckoo_remove_many;
}
