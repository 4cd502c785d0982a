/* cuckoo_template.h - TEMPLATE, compiled once for each CPU: keys in batches. The file that includes
 * it has defined cuckoo_hash_group().
 *
 * Slots of up to 16 bits, the usual ones, have all four places of a key compared at once. */
#include "cuckoo/cuckoo.h"

/* How windows are read: by four bytes, by eight, or slot by slot. */
enum { LOOK_SHORT, LOOK_LANES, LOOK_WIDE };

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

/* A batch, by the code for this width of slots. */
CUCKOO_GROUP_INLINE void cuckoo_run(const cuckoo_table *t, const uint64_t *keys, size_t n,
                                    bool writes, cuckoo_group_visit *visit, cuckoo_group_end *end,
                                    void *self)
{
    cuckoo_group groups[2];
    const cuckoo_group_batch b = { t, t->slots, keys, n, groups };

    if (t->width <= WIDEST_SHORT)
        cuckoo_group_run(&b, writes, LOOK_SHORT, cuckoo_hash_group, visit, end, self);
    else if (t->width <= WIDEST_LANE)
        cuckoo_group_run(&b, writes, LOOK_LANES, cuckoo_hash_group, visit, end, self);
    else
        cuckoo_group_run(&b, writes, LOOK_WIDE, cuckoo_hash_group, visit, end, self);
}

/* ---- Four places at once ----------------------------------------------- */

CUCKOO_GROUP_INLINE uint64_t cuckoo_window(const cuckoo_table *t, uint64_t bit, unsigned how)
{
    const uint8_t *at = t->slots + bit / 8;

    return (how == LOOK_SHORT ? le32(at) : le64(at)) >> bit % 8;
}

/* The places of a key, a lane for each; above them there may be anything. Place 0 of fingerprint 0
 * never looks empty. */
CUCKOO_GROUP_INLINE uint64_t cuckoo_four(const cuckoo_table *t, const cuckoo_lanes *l,
                                         const cuckoo_group *g, size_t i, unsigned how)
{
    uint64_t first = cuckoo_window(t, g->bit[0][i], how) & l->window;
    uint64_t second = cuckoo_window(t, g->bit[1][i], how) << 2 * t->width;

    return first | second | (g->fingerprint[i] == 0);
}

/* What the four would be if the key were at each of them. */
static inline uint64_t cuckoo_target(const cuckoo_lanes *l, uint64_t fingerprint)
{
    return (fingerprint << TAG_BITS) * l->ones + l->tags;
}

static inline unsigned cuckoo_lowest_lane(const cuckoo_lanes *l, uint64_t zeros)
{
    return (unsigned)__builtin_popcountll(l->tops & (zeros - 1) & ~zeros);
}

/* ---- Lookups ----------------------------------------------------------- */

static bool cuckoo_has(const tamis *f, uint64_t key)
{
    cuckoo_table t = cuckoo_table_of(f);
    cuckoo_entry e = cuckoo_entry_of(&t, hash_key(key, t.salt));

    return cuckoo_holding(&t, &e) || cuckoo_stashed(&t, &e);
}

CUCKOO_GROUP_INLINE bool cuckoo_visit_has(void *self, const cuckoo_group *g, size_t i, unsigned how)
{
    cuckoo_batch *b = self;
    bool is_held;

    if (how == LOOK_WIDE) {
        cuckoo_entry e = cuckoo_entry_of_group(g, i);
        is_held = cuckoo_holding(&b->t, &e) != 0;
    } else {
        uint64_t four = cuckoo_four(&b->t, &b->l, g, i, how);
        is_held = cuckoo_zero_lanes(&b->l, four ^ cuckoo_target(&b->l, g->fingerprint[i])) != 0;
    }
    b->word |= (uint64_t)is_held << i;
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
    cuckoo_batch b = { .t = t, .l = cuckoo_lanes_of(&t), .out = hits };

    cuckoo_run(&t, keys, n, false, cuckoo_visit_has, cuckoo_end_has, &b);
    return b.n;
}

CUCKOO_GROUP_INLINE bool cuckoo_visit_count(void *self, const cuckoo_group *g, size_t i,
                                            unsigned how)
{
    cuckoo_batch *b = self;
    cuckoo_entry e = cuckoo_entry_of_group(g, i);

    (void)how;
    *b->out++ = cuckoo_copies(&b->t, &e);
    return true;
}

static void cuckoo_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_group groups[2];
    const cuckoo_group_batch all = { &t, t.slots, keys, n, groups };
    cuckoo_batch b = { .t = t, .out = counts };

    cuckoo_group_run(&all, false, LOOK_WIDE, cuckoo_hash_group, cuckoo_visit_count,
                     cuckoo_group_go_on, &b);
}

/* ---- Removing ---------------------------------------------------------- */

/* The usual case in a few steps: one copy, in the slots, and nothing in the stash. No branch
 * depends on the place, which is unpredictable. */
CUCKOO_GROUP_INLINE bool cuckoo_remove_lone(const cuckoo_batch *b, const cuckoo_group *g, size_t i,
                                            unsigned how)
{
    uint64_t four = cuckoo_four(&b->t, &b->l, g, i, how);
    uint64_t held = cuckoo_zero_lanes(&b->l, four ^ cuckoo_target(&b->l, g->fingerprint[i]));
    uint64_t rest = held & (held - 1);

    if (!held || rest)
        return false;
    unsigned place = cuckoo_lowest_lane(&b->l, held);
    cuckoo_put_at(&b->t, g->bit[place >> 1][i] + (place & 1) * (uint64_t)b->t.width, 0);
    return true;
}

CUCKOO_GROUP_INLINE bool cuckoo_visit_remove(void *self, const cuckoo_group *g, size_t i,
                                             unsigned how)
{
    cuckoo_batch *b = self;

    if (how != LOOK_WIDE && !cuckoo_stash_size(&b->t) && cuckoo_remove_lone(b, g, i, how)) {
        b->f->count--;
        b->n++;
    } else {
        cuckoo_entry e = cuckoo_entry_of_group(g, i);
        b->n += tamis__cuckoo_remove(b->f, &e, 1) == TAMIS_OK;
    }
    return true;
}

static size_t cuckoo_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_batch b = { .t = t, .l = cuckoo_lanes_of(&t), .f = f };

    cuckoo_run(&t, keys, n, true, cuckoo_visit_remove, cuckoo_group_go_on, &b);
    return b.n;
}

/* ---- Adding ------------------------------------------------------------ */

#include "cuckoo/cuckoo_walks_template.h"

/* At most one group, key by key. */
static tamis_status cuckoo_add_in_turn(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_group g;

    g.n = many_group(*added, n);
    cuckoo_hash_group(&g, &t, keys + *added);
    for (size_t i = 0; i < g.n; i++)
        cuckoo_group_fetch(t.slots, &g, i, true);
    for (size_t i = 0; i < g.n; i++, ++*added) {
        cuckoo_entry e = cuckoo_entry_of_group(&g, i);
        tamis_status status = tamis__cuckoo_add(f, hash_key(keys[*added], t.salt), &e, 1);
        if (status)
            return status;
    }
    return TAMIS_OK;
}

static tamis_status cuckoo_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t *log = NULL;
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status;) {
        size_t walked = 0;
        if (cuckoo_can_walk(f))
            status = cuckoo_walk_some(f, &log, &walked, keys + *added, n - *added);
        *added += walked;
        if (!status && !walked)
            status = cuckoo_add_in_turn(f, added, keys, n);
    }
    if (log)
        tamis__scratch_free(f, log, LOG_SIZE);
    return status;
}
