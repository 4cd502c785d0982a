/* cuckoo_walks.h - many adds at once: several keys look for room at the same time.
 *
 * A key whose places are taken pushes out what is at one of them; that goes to its other window and
 * pushes out another one there, unless there is room, until one finds room. Each step waits for
 * memory. So up to WALKS are on their way, each with one entry in hand whose next window is being
 * fetched, and take turns.
 *
 * Before it pushes, an entry looks whether its neighbour can make way within the neighbour's own
 * window. That reads no other line of memory, and halves the steps.
 *
 * What is in hand is not in the table. So walks come in rounds that end when all hands are empty.
 * All that a round changes is in its log: when that is full, because somebody finds no room, it is
 * all undone, and the keys are added one at a time, by a search that decides. */
#include "cuckoo/cuckoo.h"

/* Walks at a time, and changes of a round, which is drained at half of them. */
enum { WALKS = 24, WALKS_RING = 32, LOG_MOST = 8192, LOG_DRAIN = LOG_MOST / 2 };

/* An entry in hand: its value at the first place of the window that it goes to. */
typedef struct walk {
    uint64_t start, value;
} walk;

/* All that follows is inlined by force, so that these are in registers and not in memory, where any
 * byte that is written could be theirs. */
typedef struct walks {
    table t;
    walk *ring;
    uint64_t *log;     /* slots, with what was in them */
    size_t head, tail; /* of the ring, counted on and on */
    size_t n;          /* changes */
    uint64_t coin, count;
} walks;

#define WALK_INLINE __attribute__((always_inline)) static inline

WALK_INLINE void put_logged(walks *w, uint64_t slot, uint64_t from, uint64_t to)
{
    w->log[w->n++] = slot << w->t.width | from;
    put_at(&w->t, slot * w->t.width, to);
}

WALK_INLINE void undo(walks *w)
{
    for (; w->n > 0; w->n--) {
        uint64_t last = w->log[w->n - 1];
        put_at(&w->t, (last >> w->t.width) * w->t.width, last & mask_of(w->t.width));
    }
}

/* ---- Steps ------------------------------------------------------------- */

/* The slots of a window, 1 and 2, and those beside it. What is not there counts as taken. */
typedef struct around {
    uint64_t slot[4];
} around;

/* Four slots of 14 bits lie within eight bytes from the byte that they start in. */
enum { WIDEST_AROUND = 14 };

WALK_INLINE around look_around(const table *t, uint64_t start)
{
    around a = { { 1, 0, 0, 1 } };

    if (start > 0 && start + 1 < t->starts && t->width <= WIDEST_AROUND) {
        uint64_t bit = (start - 1) * t->width, mask = mask_of(t->width);
        uint64_t x = le64(t->slots + bit / 8) >> bit % 8;
        return (around){ { x & mask, x >> t->width & mask, x >> 2 * t->width & mask,
                           x >> 3 * t->width & mask } };
    }
    for (unsigned i = start == 0; i < 4 && start + i <= t->starts + 1; i++)
        a.slot[i] = slot_at(t, start + i - 1);
    return a;
}

/* Takes a free slot, or one whose owner can step aside. */
WALK_INLINE bool settle(walks *w, const walk *to, const around *a)
{
    uint64_t low = a->slot[1], high = a->slot[2], value = to->value;

    if (!low && value) {
        put_logged(w, to->start, 0, value);
    } else if (!high) {
        put_logged(w, to->start + 1, 0, value | 1);
    } else if (!a->slot[0] && low & 1 && low != 1 && value) {
        put_logged(w, to->start - 1, 0, low ^ 1);
        put_logged(w, to->start, low, value);
    } else if (!a->slot[3] && !(high & 1)) {
        put_logged(w, to->start + 2, 0, high ^ 1);
        put_logged(w, to->start + 1, high, value | 1);
    } else {
        return false;
    }
    return true;
}

/* Of two owners, chance decides which has to go: it joins the walks. Chosen by arithmetic, as no
 * branch could be foretold. */
WALK_INLINE void push_out(walks *w, const walk *to, const around *a)
{
    w->coin = w->coin * UINT64_C(0xd1342543de82ef95) + 1;
    unsigned which = (unsigned)(w->coin >> 63) | !to->value;
    uint64_t low = a->slot[1], owner = low ^ ((low ^ a->slot[2]) & -(uint64_t)which);
    uint64_t slot = to->start + which;
    walk out = { other_start(&w->t, slot, owner), (owner & ~(uint64_t)TAG_MASK) | (~owner & 2) };

    put_logged(w, slot, owner, to->value | which);
    fetch_window(&w->t, out.start, true);
    w->ring[w->tail++ % WALKS_RING] = out;
}

static bool is_at_ceiling(table t, entry e)
{
    return copies_of(&t, &e) == CEILING;
}

/* One in hand of a class that came to the ceiling meanwhile is needed no more. A window has but two
 * slots: such a class is in this one too. */
WALK_INLINE bool is_spare(const walks *w, const walk *to, const around *a)
{
    if (a->slot[1] != to->value && a->slot[2] != (to->value | 1))
        return false;
    return is_at_ceiling(w->t, entry_at(&w->t, to->start, to->value));
}

WALK_INLINE void step(walks *w)
{
    walk to = w->ring[w->head++ % WALKS_RING];
    around a = look_around(&w->t, to.start);

    if (is_spare(w, &to, &a))
        w->count--;
    else if (!settle(w, &to, &a))
        push_out(w, &to, &a);
}

/* Steps until no more than `left` walks are left. False: there was no end to it. Neither a step nor
 * a key makes more than two changes. */
WALK_INLINE bool step_on(walks *w, size_t left)
{
    while (w->tail - w->head > left && w->n + 2 <= LOG_MOST)
        step(w);
    return w->tail - w->head <= left;
}

/* ---- Keys -------------------------------------------------------------- */

WALK_INLINE void start_walk(walks *w, const entry *e)
{
    walk first = { e->first, value_at(e, 0) }, second = { e->second, value_at(e, 2) };
    around a = look_around(&w->t, e->first), b = look_around(&w->t, e->second);

    if (settle(w, &first, &a) || settle(w, &second, &b))
        return;
    if (w->coin >> 62 & 1)
        push_out(w, &first, &a);
    else
        push_out(w, &second, &b);
}

/* The usual case in a few steps: no copy yet, and a free place. */
WALK_INLINE bool add_new(walks *w, const lanes *l, const group *g, size_t i, const bool is_short)
{
    uint64_t four = four_of(&w->t, l, g, i, is_short), print = g->print[i];
    uint64_t free = zero_lanes(l, four);

    if (!free || zero_lanes(l, four ^ target_of(l, print)))
        return false;
    unsigned place = lowest_lane(l, free);
    put_logged(w, g->start[place >> 1][i] + (place & 1), 0, print << TAG_BITS | place);
    return true;
}

WALK_INLINE void add_one(walks *w, const lanes *l, const group *g, size_t i, const look how)
{
    if (how == LOOK_WIDE || !add_new(w, l, g, i, how == LOOK_SHORT)) {
        entry e = entry_in(g, i);
        if (is_at_ceiling(w->t, e))
            return;
        start_walk(w, &e);
    }
    w->count++;
}

/* As many of the keys as a round has room for. Returns how many; 0: nothing has changed. */
WALK_INLINE size_t add_round(tamis *f, walks *w, const uint64_t *keys, size_t n, const look how)
{
    table t = table_of(f);
    lanes l = how == LOOK_WIDE ? (lanes){ 0 } : lanes_of(&t);
    group groups[2];
    size_t added = 0;

    place_group(&groups[0], f, &t, keys, 0, n);
    fetch_group(&t, &groups[0], true);
    while (added < n && w->n < LOG_DRAIN) {
        const group *now = &groups[added / MANY % 2];
        group *next = &groups[added / MANY % 2 ^ 1];
        place_group(next, f, &t, keys, added + MANY, n);
        for (size_t i = 0; i < now->n && w->n < LOG_DRAIN; i++, added++) {
            if (i < next->n)
                fetch(&w->t, next, i, true);
            add_one(w, &l, now, i, how);
            step_on(w, WALKS);
        }
    }
    if (!step_on(w, 0)) {
        undo(w);
        return 0;
    }
    f->count = w->count;
    return added;
}

/* Where slot and value are one number: all but the widest, those of exact deletes. */
static inline bool can_walk(const table *t)
{
    return t->width < 64 && t->starts >> (64 - t->width) == 0 && stash_size(t) == 0;
}

/* Not inlined: the log is large, and gone when keys are added one at a time. */
__attribute__((noinline)) static size_t add_some(tamis *f, const uint64_t *keys, size_t n)
{
    walk ring[WALKS_RING];
    uint64_t log[LOG_MOST];
    walks w = { .t = table_of(f), .ring = ring, .log = log, .coin = f->count, .count = f->count };

    switch (look_of(&w.t)) {
    case LOOK_SHORT:
        return add_round(f, &w, keys, n, LOOK_SHORT);
    case LOOK_LANES:
        return add_round(f, &w, keys, n, LOOK_LANES);
    case LOOK_WIDE:
        break;
    }
    return add_round(f, &w, keys, n, LOOK_WIDE);
}

#undef WALK_INLINE
