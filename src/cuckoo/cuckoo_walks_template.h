/* cuckoo_walks_template.h - TEMPLATE, part of cuckoo_template.h: many adds at once, several of
 * which look for room at the same time.
 *
 * A key whose places are taken pushes out the entry at one of them. That goes to its other window
 * and pushes out another there, unless there is room, and so on: a walk. Each step waits for
 * memory. So up to CUCKOO_WALKS walks take turns, each with one entry in hand whose next window is
 * being fetched. It is needed soon: it goes to the nearest cache, however large the table is.
 *
 * Before an entry pushes, it looks whether an owner of the window can step aside, within the
 * owner's own window. That reads no other line of memory, and halves the steps.
 *
 *   before    A  B  C  -        X comes to the window of B and C
 *   after     A  B  X  C        C steps aside to the free slot, its other place in that window
 *
 * What is in hand is not in the table. So walks come in rounds, which end when all hands are empty.
 * The log of a round has all its changes. If it is full, since an entry finds no room, all of it is
 * undone, and the keys are added one at a time, by a search that decides. Keys of classes that are
 * at their ceiling wait for the end of the round, and are added to the surplus if it was not
 * undone. */
#include "cuckoo/cuckoo.h"

/* Walks at a time, and changes of a round, which is drained at half of them. A few keys need few
 * changes unless the table is nearly full: there is a short log for these, on the stack. */
enum {
    CUCKOO_WALKS = 24,
    CUCKOO_WALKS_RING = 32,
    CUCKOO_LOG_MOST = 8192,
    CUCKOO_LOG_DRAIN = CUCKOO_LOG_MOST / 2,
    CUCKOO_LOG_SIZE = CUCKOO_LOG_MOST * sizeof(uint64_t),
    CUCKOO_LOG_FEW = 192,
    CUCKOO_FEW_KEYS = 128,
    CUCKOO_SPARE_DRAIN = CUCKOO_FEW_KEYS,
    CUCKOO_SPARE_MOST = CUCKOO_SPARE_DRAIN + CUCKOO_WALKS_RING,
};

/* An entry in hand: its value at the first place of the window that it goes to. */
typedef struct cuckoo_walk {
    uint64_t start, value;
} cuckoo_walk;

/* All that follows is inlined by force, so that these are in registers. In memory, they would have
 * to be read again after each byte that is written. */
typedef struct cuckoo_walks {
    cuckoo_table t;
    cuckoo_lanes l;
    cuckoo_walk *ring;
    uint64_t *log;      /* slots, with what was in them */
    size_t n, most;     /* changes, and room for them */
    size_t drain;       /* changes after which no more keys come */
    cuckoo_walk *spare; /* what was too much for its class; no keys come after SPARE_DRAIN */
    size_t n_spare;
    size_t head, tail; /* of the ring, counted on and on */
    size_t added;
    uint64_t coin, count;
} cuckoo_walks;

CUCKOO_GROUP_INLINE void cuckoo_walk_put(cuckoo_walks *w, uint64_t slot, uint64_t from, uint64_t to)
{
    w->log[w->n++] = slot << w->t.width | from;
    cuckoo_put(&w->t, slot, to);
}

/* ---- Steps ------------------------------------------------------------- */

/* The slots of a window, 1 and 2, and those beside it. What is not there counts as taken. */
typedef struct cuckoo_walk_slots {
    uint64_t slot[4];
} cuckoo_walk_slots;

/* Four slots of 14 bits lie within eight bytes from the byte that they start in. */
enum { CUCKOO_WIDEST_FOUR = 14 };

CUCKOO_GROUP_INLINE cuckoo_walk_slots cuckoo_walk_look(const cuckoo_table *t, uint64_t start)
{
    cuckoo_walk_slots a = { { 1, 0, 0, 1 } };

    if (start > 0 && start + 1 < t->starts && t->width <= CUCKOO_WIDEST_FOUR) {
        uint64_t bit = (start - 1) * t->width, mask = cuckoo_mask(t->width);
        uint64_t x = le64(t->slots + bit / 8) >> bit % 8;
        return (cuckoo_walk_slots){ { x & mask, x >> t->width & mask, x >> 2 * t->width & mask,
                                      x >> 3 * t->width & mask } };
    }
    for (unsigned i = start == 0; i < 4 && start + i <= t->starts + 1; i++)
        a.slot[i] = cuckoo_slot(t, start + i - 1);
    return a;
}

/* Takes a free slot of the window, or one whose owner can step aside. */
CUCKOO_GROUP_INLINE bool cuckoo_walk_enter(cuckoo_walks *w, const cuckoo_walk *to,
                                           const cuckoo_walk_slots *a)
{
    uint64_t low = a->slot[1], high = a->slot[2], value = to->value;

    if (!low && value) {
        cuckoo_walk_put(w, to->start, 0, value);
    } else if (!high) {
        cuckoo_walk_put(w, to->start + 1, 0, value | 1);
    } else if (!a->slot[0] && low & 1 && low != 1 && value) {
        cuckoo_walk_put(w, to->start - 1, 0, low ^ 1);
        cuckoo_walk_put(w, to->start, low, value);
    } else if (!a->slot[3] && !(high & 1)) {
        cuckoo_walk_put(w, to->start + 2, 0, high ^ 1);
        cuckoo_walk_put(w, to->start + 1, high, value | 1);
    } else {
        return false;
    }
    return true;
}

/* One of the two owners has to go, and joins the walks. A coin decides; branchless, as its outcome
 * is unpredictable. */
CUCKOO_GROUP_INLINE void cuckoo_walk_push_out(cuckoo_walks *w, const cuckoo_walk *to,
                                              const cuckoo_walk_slots *a)
{
    w->coin = w->coin * UINT64_C(0xd1342543de82ef95) + 1;
    unsigned which = (unsigned)(w->coin >> 63) | !to->value;
    uint64_t low = a->slot[1], owner = low ^ ((low ^ a->slot[2]) & -(uint64_t)which);
    uint64_t slot = to->start + which;
    cuckoo_walk out = { cuckoo_other_start(&w->t, slot, owner),
                        (owner & ~(uint64_t)CUCKOO_TAG_MASK) | (~owner & 2) };

    cuckoo_walk_put(w, slot, owner, to->value | which);
    cuckoo_group_prefetch(w->t.slots + out.start * w->t.width / 8, true, false);
    w->ring[w->tail++ % CUCKOO_WALKS_RING] = out;
}

static bool cuckoo_walk_is_at_ceiling(cuckoo_table t, cuckoo_entry e)
{
    return cuckoo_copies(&t, &e) == CUCKOO_CEILING;
}

/* An entry in hand is not needed if its class has come to the ceiling meanwhile. Such a class has
 * three slots, so that one is in this window. */
CUCKOO_GROUP_INLINE bool cuckoo_walk_is_spare(const cuckoo_walks *w, const cuckoo_walk *to,
                                              const cuckoo_walk_slots *a)
{
    if (a->slot[1] != to->value && a->slot[2] != (to->value | 1))
        return false;
    return cuckoo_walk_is_at_ceiling(w->t, cuckoo_entry_in(&w->t, to->start, to->value));
}

/* Steps until `left` walks are left. False: the log was full before. Neither a step nor a key makes
 * more than two changes. */
CUCKOO_GROUP_INLINE bool cuckoo_walk_on(cuckoo_walks *w, size_t left)
{
    while (w->tail - w->head > left && w->n + 2 <= w->most) {
        cuckoo_walk to = w->ring[w->head++ % CUCKOO_WALKS_RING];
        cuckoo_walk_slots a = cuckoo_walk_look(&w->t, to.start);

        if (cuckoo_walk_is_spare(w, &to, &a)) {
            w->count--;
            w->spare[w->n_spare++] = to;
        } else if (!cuckoo_walk_enter(w, &to, &a))
            cuckoo_walk_push_out(w, &to, &a);
    }
    return w->tail - w->head <= left;
}

/* ---- Keys -------------------------------------------------------------- */

CUCKOO_GROUP_INLINE void cuckoo_walk_start(cuckoo_walks *w, const cuckoo_entry *e)
{
    cuckoo_walk first = { e->first, cuckoo_value(e, 0) },
                second = { e->second, cuckoo_value(e, 2) };
    cuckoo_walk_slots a = cuckoo_walk_look(&w->t, e->first);
    cuckoo_walk_slots b = cuckoo_walk_look(&w->t, e->second);

    if (cuckoo_walk_enter(w, &first, &a) || cuckoo_walk_enter(w, &second, &b))
        return;
    if (w->coin >> 62 & 1)
        cuckoo_walk_push_out(w, &first, &a);
    else
        cuckoo_walk_push_out(w, &second, &b);
}

CUCKOO_GROUP_INLINE bool cuckoo_walk_add_new(cuckoo_walks *w, const cuckoo_group *g, size_t i,
                                             unsigned how)
{
    cuckoo_spot s = cuckoo_spot_in(g, i);
    unsigned place;

    if (!cuckoo_find_free(&place, &w->t, &w->l, &s, how))
        return false;
    uint64_t slot = g->start[place >> 1][i] + (place & 1);
    cuckoo_walk_put(w, slot, 0, s.fingerprint << CUCKOO_TAG_BITS | place);
    return true;
}

CUCKOO_GROUP_INLINE bool cuckoo_walk_add(cuckoo_walks *w, const cuckoo_group *g, size_t i,
                                         unsigned how)
{
    cuckoo_entry e = cuckoo_entry_of_group(g, i);

    w->added++;
    if (how != CUCKOO_LOOK_WIDE && cuckoo_walk_add_new(w, g, i, how)) {
        w->count++;
    } else if (!cuckoo_walk_is_at_ceiling(w->t, e)) {
        cuckoo_walk_start(w, &e);
        w->count++;
    } else {
        w->spare[w->n_spare++] = (cuckoo_walk){ e.first, e.fingerprint << CUCKOO_TAG_BITS };
    }
    cuckoo_walk_on(w, CUCKOO_WALKS);
    return w->n < w->drain && w->n_spare < CUCKOO_SPARE_DRAIN;
}

CUCKOO_GROUP_INLINE bool cuckoo_visit_add(void *self, const cuckoo_group *g, size_t i, size_t end,
                                          unsigned how)
{
    for (; i < end; i++)
        if (!cuckoo_walk_add(self, g, i, how))
            return false;
    return true;
}

/* Adds as many keys as the log has room for; with a short log, all or none. Returns how many; 0:
 * nothing has changed. */
__attribute__((noinline)) static size_t cuckoo_walk_round(tamis *f, const uint64_t *keys, size_t n,
                                                          uint64_t *log, size_t most)
{
    const cuckoo_table t = cuckoo_table_of(f);
    bool is_short = most < CUCKOO_LOG_MOST;
    cuckoo_walk ring[CUCKOO_WALKS_RING];
    cuckoo_walk spare[CUCKOO_SPARE_MOST];
    cuckoo_walks w = {
        .t = t,
        .l = cuckoo_derived_of(f)->lanes,
        .ring = ring,
        .log = log,
        .drain = is_short ? most - 1 : CUCKOO_LOG_DRAIN,
        .most = most,
        .spare = spare,
        .coin = f->count,
        .count = f->count,
    };

    cuckoo_run(f, &t, keys, n, true, cuckoo_visit_add, NULL, &w);
    if (cuckoo_walk_on(&w, 0) && (w.added == n || !is_short)) {
        f->count = w.count;
        for (size_t i = 0; i < w.n_spare; i++)
            tamis__cuckoo_add_surplus(t, cuckoo_entry_in(&t, spare[i].start, spare[i].value), 1);
        return w.added;
    }
    while (w.n-- > 0)
        cuckoo_put(&t, log[w.n] >> t.width, log[w.n] & cuckoo_mask(t.width));
    return 0;
}

/* Whether slot and value fit in one number of the log: in all but the widest, of exact deletes. */
static bool cuckoo_can_walk(const tamis *f)
{
    const cuckoo_table t = cuckoo_table_of(f);

    return t.width < 64 && t.starts >> (64 - t.width) == 0 && cuckoo_stash_size(&t) == 0;
}

/* Adds some of the keys, or none if walks do not end. *log is the long log, once it was needed. */
static tamis_status cuckoo_walk_some(tamis *f, uint64_t **log, size_t *walked, const uint64_t *keys,
                                     size_t n)
{
    bool is_easy = n <= CUCKOO_FEW_KEYS && f->count < f->plan.slots / 10 * 9;
    uint64_t few[CUCKOO_LOG_FEW];

    *walked = is_easy ? cuckoo_walk_round(f, keys, n, few, CUCKOO_LOG_FEW) : 0;
    if (*walked)
        return TAMIS_OK;
    if (!*log)
        *log = tamis__scratch_new(f, CUCKOO_LOG_SIZE);
    if (!*log)
        return TAMIS_NOMEM;
    *walked = cuckoo_walk_round(f, keys, n, *log, CUCKOO_LOG_MOST);
    return TAMIS_OK;
}

/* At most one group, key by key. */
static tamis_status cuckoo_add_in_turn(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    const cuckoo_table t = cuckoo_table_of(f);
    cuckoo_group g;

    g.n = many_group(*added, n);
    cuckoo_hash_group(&g, &t, keys + *added);
    for (size_t i = 0; i < g.n; i++)
        cuckoo_group_fetch(t.slots, &g, i, true, f->is_far);
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
        tamis__scratch_free(f, log, CUCKOO_LOG_SIZE);
    return status;
}
