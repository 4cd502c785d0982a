/* hashset.c - exact set of 64-bit keys: open addressing in Robin Hood order.
 *
 * What an approximate filter is measured against: eight bytes a key and some air, no false
 * positives beyond those of the key hash. Slots hold h = hash_key(key), a permutation: the key can
 * be had back. The home slot is scale64(h), hence homes ascend with h.
 *
 * Collisions go to the next slots, and each run is kept sorted by home, then by h. Three things
 * follow: a search stops as soon as it meets a key that is closer to its home than the sought one
 * would be; a table may be nine tenths full and still answer within a line or two; and the bytes
 * depend on the set alone, not on the order in which it came to be. A removed key leaves no mark:
 * those after it move back.
 *
 *   slot   0   1   2   3   4   5   6   7       five keys: three have their home in slot 6, one in
 *   home   6   0   1   .   .   .   6   6       slot 0, one in slot 1; the run goes around the end
 *
 * Payload: 64 bytes of state, then plan.slots little-endian words, 0 for an empty slot. The key
 * whose h is 0 has no slot: the first word of the state is 1 if it is present.
 *
 * Celis: Robin Hood Hashing, 1986. Amble, Knuth: Ordered Hash Tables, 1974. */
#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/many.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

/* A search takes a few windows, one after the other. */
enum { STATE_BYTES = 64, WINDOW = 8, WINDOWS = 16 };

static uint8_t *hashset_slot(const tamis *f, uint64_t i)
{
    return (uint8_t *)f->payload + STATE_BYTES + i * 8;
}

static uint64_t hashset_get(const tamis *f, uint64_t i)
{
    return le64(hashset_slot(f, i));
}

static bool hashset_has_zero(const tamis *f)
{
    return le64(f->payload) != 0;
}

static uint64_t hashset_slot_after(const tamis *f, uint64_t i)
{
    return i + 1 == f->plan.slots ? 0 : i + 1;
}

/* Slots from the home of h to i, going up and around. */
static uint64_t hashset_distance(const tamis *f, uint64_t h, uint64_t i)
{
    uint64_t home = scale64(h, f->plan.slots);

    return i >= home ? i - home : i + f->plan.slots - home;
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t hashset_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 50 && p->capacity <= p->slots &&
              p->width == 64 && p->hashes == 1 && p->flags == 0 && p->load == 0;

    return ok ? STATE_BYTES + p->slots * 8 : 0;
}

/* One slot in nine stays empty: a search then takes five steps on average, in one line or two. */
static tamis_status hashset_plan(tamis_plan *p, const tamis_spec *spec)
{
    if (spec->keys >= UINT64_C(1) << 49)
        return TAMIS_RANGE;
    p->slots = spec->keys + spec->keys / 8 + 1;
    p->width = 64;
    p->hashes = 1;
    return TAMIS_OK;
}

/* ---- Search ------------------------------------------------------------ */

/* Whether a search for h that has come to slot i may stop before `other`, which is there: homes
 * ascend with h, so that h tells, unless one of the two has gone around the end of the table. */
static bool hashset_is_past(const tamis *f, uint64_t i, uint64_t other, uint64_t h)
{
    bool around = i < scale64(h, f->plan.slots), other_around = i < scale64(other, f->plan.slots);

    return around == other_around ? other > h : around;
}

/* The slot so many steps from the home of h, around the end of the table if need be. */
static uint64_t hashset_slot_from_home(const tamis *f, uint64_t h, uint64_t steps)
{
    uint64_t i = scale64(h, f->plan.slots) + steps;

    return i < f->plan.slots ? i : i - f->plan.slots;
}

/* Whether a search for h goes on after so many steps. */
static bool hashset_goes_on(const tamis *f, uint64_t h, uint64_t steps)
{
    uint64_t i = hashset_slot_from_home(f, h, steps), other = hashset_get(f, i);

    return other != 0 && other != h && !hashset_is_past(f, i, other, h);
}

/* Where h is or, if it is not in the table, where it belongs; plan.slots if it is not there and the
 * table is full. A search that goes on after some steps goes on after all before: they are doubled,
 * then halved. So keys that share a home, or go around the end of the table, cost a logarithm. */
static uint64_t hashset_find_far(const tamis *f, uint64_t h, bool *found)
{
    uint64_t low = 0, high = 0, slots = f->plan.slots;

    *found = false;
    while (high < slots && hashset_goes_on(f, h, high)) {
        low = high + 1;
        high = 2 * high + 1;
    }
    high = high < slots ? high : slots;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (hashset_goes_on(f, h, middle))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == slots)
        return slots;
    uint64_t i = hashset_slot_from_home(f, h, low);
    *found = hashset_get(f, i) == h;
    return i;
}

/* How many of the slots from i on come before h in a window of a cache line: keys ascend up to the
 * first empty slot, whose 0 counts here as the greatest. No branch: where the search ends is a
 * matter of chance, and guessing it wrong costs more than the whole window. */
static unsigned hashset_count_before(const tamis *f, uint64_t i, uint64_t h)
{
    const uint8_t *slots = hashset_slot(f, i);
    unsigned n = 0;

    for (int j = 0; j < WINDOW; j++)
        n += le64(slots + 8 * j) - 1 < h - 1;
    return n;
}

/* As hashset_find_far(), a window at a time: that one decides after a few of them, and at both ends
 * of the table. It also does where the home of h holds a key that went around the end: such keys,
 * the greatest of all, are the only ones in slots before their homes, and come before h there. */
static uint64_t hashset_find(const tamis *f, uint64_t h, bool *found)
{
    uint64_t slots = f->plan.slots, i = scale64(h, slots), end = i + WINDOWS * WINDOW;

    if (i + WINDOW > slots || scale64(hashset_get(f, i), slots) > i)
        return hashset_find_far(f, h, found);
    for (; i < end && i + WINDOW <= slots; i += WINDOW) {
        unsigned before = hashset_count_before(f, i, h);
        if (before < WINDOW) {
            *found = hashset_get(f, i + before) == h;
            return i + before;
        }
    }
    return hashset_find_far(f, h, found);
}

static bool hashset_has_hash(const void *self, uint64_t h)
{
    const tamis *f = self;
    bool found = h == 0 && hashset_has_zero(f);

    if (h != 0)
        hashset_find(f, h, &found);
    return found;
}

static bool hashset_has(const tamis *f, uint64_t key)
{
    return hashset_has_hash(f, hash_key(key, f->salt));
}

/* ---- Change ------------------------------------------------------------ */

/* Everything from i to the next empty slot moves up by one. */
static void hashset_insert_at(tamis *f, uint64_t i, uint64_t h)
{
    while (h != 0) {
        uint64_t displaced = hashset_get(f, i);
        put_le64(hashset_slot(f, i), h);
        h = displaced;
        i = hashset_slot_after(f, i);
    }
}

/* What follows moves back, up to an empty slot or a key that is at home. */
static void hashset_remove_at(tamis *f, uint64_t i)
{
    for (;;) {
        uint64_t after = hashset_slot_after(f, i), h = hashset_get(f, after);
        if (h == 0 || hashset_distance(f, h, after) == 0)
            break;
        put_le64(hashset_slot(f, i), h);
        i = after;
    }
    put_le64(hashset_slot(f, i), 0);
}

static tamis_status hashset_add_hash(tamis *f, uint64_t h)
{
    bool found = h == 0 && hashset_has_zero(f);
    uint64_t i = h == 0 ? 0 : hashset_find(f, h, &found);

    if (found)
        return TAMIS_OK;
    if (f->count >= f->plan.capacity)
        return TAMIS_FULL;
    if (h == 0)
        put_le64(f->payload, 1);
    else
        hashset_insert_at(f, i, h);
    f->count++;
    return TAMIS_OK;
}

static tamis_status hashset_add(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    return hashset_add_hash(f, hash_key(key, f->salt));
}

static tamis_status hashset_remove_hash(tamis *f, uint64_t h)
{
    bool found = h == 0 && hashset_has_zero(f);
    uint64_t i = h == 0 ? 0 : hashset_find(f, h, &found);

    if (!found)
        return TAMIS_ABSENT;
    if (h == 0)
        put_le64(f->payload, 0);
    else
        hashset_remove_at(f, i);
    f->count--;
    return TAMIS_OK;
}

static tamis_status hashset_remove(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    return hashset_remove_hash(f, hash_key(key, f->salt));
}

/* ---- Two sets ---------------------------------------------------------- */

/* What is new is counted first: a union that does not fit changes nothing. */
static tamis_status hashset_merge(tamis *f, const tamis *g)
{
    uint64_t more = hashset_has_zero(g) && !hashset_has_zero(f);

    for (uint64_t i = 0; i < g->plan.slots; i++)
        more += hashset_get(g, i) != 0 && !hashset_has_hash(f, hashset_get(g, i));
    if (more > f->plan.capacity - f->count)
        return TAMIS_FULL;
    if (hashset_has_zero(g))
        (void)hashset_add_hash(f, 0);
    for (uint64_t i = 0; i < g->plan.slots; i++)
        if (hashset_get(g, i) != 0)
            (void)hashset_add_hash(f, hashset_get(g, i));
    return TAMIS_OK;
}

/* After a removal, slot i holds another key, to be looked at in turn. */
static tamis_status hashset_reduce(tamis *f, const tamis *g, tamis_operation op)
{
    bool stays = op == TAMIS_INTERSECT; /* what is in g too */

    if (hashset_has_zero(f) && hashset_has_zero(g) != stays)
        (void)hashset_remove_hash(f, 0);
    for (uint64_t i = 0; i < f->plan.slots;) {
        uint64_t h = hashset_get(f, i);
        if (h != 0 && hashset_has_hash(g, h) != stays)
            (void)hashset_remove_hash(f, h);
        else
            i++;
    }
    return TAMIS_OK;
}

/* ---- The whole set ----------------------------------------------------- */

/* at[0] is 0 before the key whose h is 0, and i + 1 before slot i. */
static bool hashset_next(tamis_cursor *c)
{
    while (c->at[0] <= c->f->plan.slots) {
        uint64_t i = c->at[0]++, h = i ? hashset_get(c->f, i - 1) : 0;
        if (i ? h != 0 : hashset_has_zero(c->f)) {
            c->fingerprint = unhash_key(h, c->f->salt);
            c->count = 1;
            return true;
        }
    }
    return false;
}

/* Whether the key in slot i may follow what is in the slot before it. */
static bool hashset_is_in_order(const tamis *f, uint64_t i)
{
    uint64_t before = i ? i - 1 : f->plan.slots - 1;
    uint64_t h = hashset_get(f, i), previous = hashset_get(f, before);
    uint64_t steps = hashset_distance(f, h, i);

    if (steps == 0)
        return true;
    if (previous == 0)
        return false;
    uint64_t its_steps = hashset_distance(f, previous, before);
    return steps <= its_steps || (steps == its_steps + 1 && previous < h);
}

static const char *hashset_verify(const tamis *f)
{
    const uint8_t *state = f->payload;
    uint64_t keys = hashset_has_zero(f);
    uint64_t ends = 0; /* of runs; without one, removal would go round for ever */

    if (state[0] > 1 || !bytes_are_zero(state + 1, state + STATE_BYTES))
        return "unused state is set";
    for (uint64_t i = 0; i < f->plan.slots; i++) {
        uint64_t h = hashset_get(f, i);
        if (h != 0 && !hashset_is_in_order(f, i))
            return "a key is out of order";
        keys += h != 0;
        ends += h == 0 || hashset_distance(f, h, i) == 0;
    }
    if (ends == 0)
        return "no key is at home";
    if (keys != f->count || keys > f->plan.capacity)
        return "the number of keys is wrong";
    return NULL;
}

/* ---- Many keys --------------------------------------------------------- */

static uint64_t hashset_hash(const void *f, uint64_t key)
{
    return hash_key(key, ((const tamis *)f)->salt);
}

/* A window has two lines but for one home in eight. */
static void hashset_fetch(const void *f, uint64_t h)
{
    const uint8_t *home = hashset_slot(f, scale64(h, ((const tamis *)f)->plan.slots));

    __builtin_prefetch(home, 0, 3);
    __builtin_prefetch(home + (WINDOW - 1) * 8, 0, 3);
}

static size_t hashset_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return many_lookups(f, hits, keys, n, hashset_hash, hashset_fetch, hashset_has_hash);
}

static void hashset_touch(const tamis *f, uint64_t key)
{
    hashset_fetch(f, hashset_hash(f, key));
}

const tamis_ops tamis__hashset = {
    .plan = hashset_plan,
    .bytes = hashset_bytes,
    .verify = hashset_verify,
    .has = hashset_has,
    .add = hashset_add,
    .remove = hashset_remove,
    .touch = hashset_touch,
    .has_many = hashset_has_many,
    .merge = hashset_merge,
    .reduce = hashset_reduce,
    .next = hashset_next,
};
