/* robin_hood.c - the table of hashset and hashmap: open addressing in Robin Hood order.
 *
 * Slots hold h = hash_key(key), a permutation: the key can be had back. The home slot is
 * scale64(h), hence homes ascend with h.
 *
 * Collisions go to the next slots, and each run is kept sorted by home, then by h. Three things
 * follow: a search stops as soon as it meets a key that is closer to its home than the sought one
 * would be; a table may be nine tenths full and still answer within a line or two; and the bytes
 * depend on what is in the table alone, not on the order in which it came to be. A removed key
 * leaves no mark: those after it move back.
 *
 *   slot   0   1   2   3   4   5   6   7       five keys: three have their home in slot 6, one in
 *   home   6   0   1   .   .   .   6   6       slot 0, one in slot 1; the run goes around the end
 *
 * Payload: 64 bytes of state, then plan.slots little-endian words, 0 for an empty slot. The key
 * whose h is 0 has no slot: the first word of the state is 1 if it is present. Where plan.width is
 * 128, keys have values: that of the key whose h is 0 is the second word of the state, those of
 * slots are as many words after the slots, 0 for an empty one. They are apart so that a search
 * reads the same lines with and without them.
 *
 * Celis: Robin Hood Hashing, 1986. Amble, Knuth: Ordered Hash Tables, 1974. */
#include "base/ahead.h"
#include "base/many.h"
#include "exact/robin_slots.h"

/* ---- Sizing ------------------------------------------------------------ */

uint64_t tamis__robin_hood_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 50 && p->capacity <= p->slots &&
              p->hashes == 1 && p->flags == 0 && p->load == 0;

    return ok ? ROBIN_STATE_BYTES + p->slots * (p->width / 8) : 0;
}

/* One slot in nine stays empty: a search then takes five steps on average, in one line or two. */
tamis_status tamis__robin_hood_plan(tamis_plan *p, uint64_t keys, uint32_t width)
{
    if (keys >= UINT64_C(1) << 49)
        return TAMIS_RANGE;
    p->slots = keys + keys / 8 + 1;
    p->width = width;
    p->hashes = 1;
    return TAMIS_OK;
}

/* ---- Search ------------------------------------------------------------ */

/* As tamis__robin_hood_look(), of a key that has a slot. A search that goes on after some steps
 * goes on after all before: they are doubled, then halved. So keys that share a home, or go around
 * the end of the table, cost a logarithm. */
static uint64_t robin_find_far(const tamis *f, uint64_t h, bool *found)
{
    uint64_t low = 0, high = 0, slots = f->plan.slots;

    *found = false;
    while (high < slots && robin_goes_on(f, h, high)) {
        low = high + 1;
        high = 2 * high + 1;
    }
    high = high < slots ? high : slots;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (robin_goes_on(f, h, middle))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == slots)
        return slots;
    uint64_t i = robin_slot_from_home(f, h, low);
    *found = robin_get(f, i) == h;
    return i;
}

/* How many of the slots from i on come before h in a window of a cache line: keys ascend up to the
 * first empty slot, whose 0 counts here as the greatest. No branch: where the search ends is a
 * matter of chance, and guessing it wrong costs more than the whole window. */
static unsigned robin_count_before(const tamis *f, uint64_t i, uint64_t h)
{
    const uint8_t *slots = robin_slot(f, i);
    unsigned n = 0;

    for (int j = 0; j < ROBIN_WINDOW; j++)
        n += le64(slots + 8 * j) - 1 < h - 1;
    return n;
}

/* As robin_find_far(), a window at a time: that one decides after a few of them, and at both ends
 * of the table. It also does where the home of h holds a key that went around the end: such keys,
 * the greatest of all, are the only ones in slots before their homes, and come before h there. */
static uint64_t robin_find(const tamis *f, uint64_t h, bool *found)
{
    uint64_t slots = f->plan.slots, i = scale64(h, slots), end = i + ROBIN_WINDOWS * ROBIN_WINDOW;

    if (i + ROBIN_WINDOW > slots || scale64(robin_get(f, i), slots) > i)
        return robin_find_far(f, h, found);
    for (; i < end && i + ROBIN_WINDOW <= slots; i += ROBIN_WINDOW) {
        unsigned before = robin_count_before(f, i, h);
        if (before < ROBIN_WINDOW) {
            *found = robin_get(f, i + before) == h;
            return i + before;
        }
    }
    return robin_find_far(f, h, found);
}

uint64_t tamis__robin_hood_look(const tamis *f, uint64_t h, bool *found)
{
    if (h != 0)
        return robin_find(f, h, found);
    *found = robin_has_zero(f);
    return 0;
}

static bool robin_has_hash(const tamis *f, uint64_t h)
{
    bool found;

    tamis__robin_hood_look(f, h, &found);
    return found;
}

bool tamis__robin_hood_has(const tamis *f, uint64_t key)
{
    return robin_has_hash(f, hash_key(key, f->salt));
}

bool tamis__robin_hood_get(const tamis *f, uint64_t *value, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);
    bool found;
    uint64_t i = tamis__robin_hood_look(f, h, &found);

    if (found)
        *value = robin_value_of(f, h, i);
    return found;
}

/* ---- Change ------------------------------------------------------------ */

/* Puts a word in place of another, and returns that one. */
static uint64_t robin_swap(uint8_t *at, uint64_t word)
{
    uint64_t old = le64(at);

    put_le64(at, word);
    return old;
}

/* Everything from i to the next empty slot moves up by one; the value of h is 0. */
static void robin_insert_at(tamis *f, uint64_t i, uint64_t h)
{
    const bool has_values = robin_has_values(f);
    uint64_t value = 0;

    while (h != 0) {
        if (has_values)
            value = robin_swap(robin_value_at(f, i), value);
        h = robin_swap(robin_slot(f, i), h);
        i = robin_slot_after(f, i);
    }
}

/* What follows moves back, up to an empty slot or a key that is at home. */
static void robin_remove_at(tamis *f, uint64_t i)
{
    const bool has_values = robin_has_values(f);

    for (;;) {
        uint64_t after = robin_slot_after(f, i), h = robin_get(f, after);
        if (h == 0 || robin_distance(f, h, after) == 0)
            break;
        put_le64(robin_slot(f, i), h);
        if (has_values)
            put_le64(robin_value_at(f, i), le64(robin_value_at(f, after)));
        i = after;
    }
    put_le64(robin_slot(f, i), 0);
    if (has_values)
        put_le64(robin_value_at(f, i), 0);
}

static tamis_status robin_put_hash(tamis *f, uint64_t h, uint64_t value)
{
    bool found;
    uint64_t i = tamis__robin_hood_look(f, h, &found);

    if (!found && f->count >= f->plan.capacity)
        return TAMIS_FULL;
    if (!found && h == 0)
        put_le64(f->payload, 1);
    else if (!found)
        robin_insert_at(f, i, h);
    if (robin_has_values(f))
        put_le64(robin_value(f, h, i), value);
    f->count += !found;
    return TAMIS_OK;
}

tamis_status tamis__robin_hood_put(tamis *f, uint64_t key, uint64_t value)
{
    return robin_put_hash(f, hash_key(key, f->salt), value);
}

static tamis_status robin_remove_hash(tamis *f, uint64_t h)
{
    bool found;
    uint64_t i = tamis__robin_hood_look(f, h, &found);

    if (!found)
        return TAMIS_ABSENT;
    if (h != 0) {
        robin_remove_at(f, i);
    } else {
        put_le64(f->payload, 0);
        if (robin_has_values(f))
            put_le64(robin_value(f, h, i), 0);
    }
    f->count--;
    return TAMIS_OK;
}

tamis_status tamis__robin_hood_remove(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    return robin_remove_hash(f, hash_key(key, f->salt));
}

/* ---- Two tables -------------------------------------------------------- */

/* What is new is counted first: a union that does not fit changes nothing. The values are those of
 * g, where it has any. */
tamis_status tamis__robin_hood_merge(tamis *f, const tamis *g)
{
    uint64_t more = robin_has_zero(g) && !robin_has_zero(f);

    for (uint64_t i = 0; i < g->plan.slots; i++)
        more += robin_get(g, i) != 0 && !robin_has_hash(f, robin_get(g, i));
    if (more > f->plan.capacity - f->count)
        return TAMIS_FULL;
    if (robin_has_zero(g))
        (void)robin_put_hash(f, 0, robin_value_of(g, 0, 0));
    for (uint64_t i = 0; i < g->plan.slots; i++) {
        uint64_t h = robin_get(g, i);
        if (h != 0)
            (void)robin_put_hash(f, h, robin_value_of(g, h, i));
    }
    return TAMIS_OK;
}

/* After a removal, slot i holds another key, to be looked at in turn. */
tamis_status tamis__robin_hood_reduce(tamis *f, const tamis *g, tamis_operation op)
{
    bool stays = op == TAMIS_INTERSECT; /* what is in g too */

    if (robin_has_zero(f) && robin_has_zero(g) != stays)
        (void)robin_remove_hash(f, 0);
    for (uint64_t i = 0; i < f->plan.slots;) {
        uint64_t h = robin_get(f, i);
        if (h != 0 && robin_has_hash(g, h) != stays)
            (void)robin_remove_hash(f, h);
        else
            i++;
    }
    return TAMIS_OK;
}

/* ---- The whole table --------------------------------------------------- */

/* at[0] is 0 before the key whose h is 0, and i + 1 before slot i. */
bool tamis__robin_hood_next(tamis_cursor *c)
{
    while (c->at[0] <= c->f->plan.slots) {
        uint64_t i = c->at[0]++, h = i ? robin_get(c->f, i - 1) : 0;
        if (i ? h != 0 : robin_has_zero(c->f)) {
            c->fingerprint = unhash_key(h, c->f->salt);
            c->value = robin_value_of(c->f, h, i - 1);
            c->count = 1;
            return true;
        }
    }
    return false;
}

/* Whether the key in slot i may follow what is in the slot before it. */
static bool robin_is_in_order(const tamis *f, uint64_t i)
{
    uint64_t before = i ? i - 1 : f->plan.slots - 1;
    uint64_t h = robin_get(f, i), previous = robin_get(f, before);
    uint64_t steps = robin_distance(f, h, i);

    if (steps == 0)
        return true;
    if (previous == 0)
        return false;
    uint64_t its_steps = robin_distance(f, previous, before);
    return steps <= its_steps || (steps == its_steps + 1 && previous < h);
}

/* Whether all is zero that belongs to no key. */
static bool robin_is_clean(const tamis *f)
{
    const uint8_t *state = f->payload;
    bool zero_has_value = robin_has_zero(f) && robin_has_values(f);

    for (uint64_t i = 0; i < f->plan.slots && robin_has_values(f); i++)
        if (robin_get(f, i) == 0 && le64(robin_value_at(f, i)) != 0)
            return false;
    return state[0] <= 1 && bytes_are_zero(state + 1, state + 8) &&
           bytes_are_zero(state + (zero_has_value ? 16 : 8), state + ROBIN_STATE_BYTES);
}

const char *tamis__robin_hood_verify(const tamis *f)
{
    uint64_t keys = robin_has_zero(f);
    uint64_t ends = 0; /* of runs; without one, removal would go round for ever */

    if (!robin_is_clean(f))
        return "unused state is set";
    for (uint64_t i = 0; i < f->plan.slots; i++) {
        uint64_t h = robin_get(f, i);
        if (h != 0 && !robin_is_in_order(f, i))
            return "a key is out of order";
        keys += h != 0;
        ends += h == 0 || robin_distance(f, h, i) == 0;
    }
    if (ends == 0)
        return "no key is at home";
    if (keys != f->count || keys > f->plan.capacity)
        return "the number of keys is wrong";
    return NULL;
}

/* ---- Many keys --------------------------------------------------------- */

/* A window has two lines but for one home in eight. */
MANY_INLINE void robin_ask(const tamis *f, uint64_t h)
{
    const uint8_t *home = robin_slot(f, scale64(h, f->plan.slots));

    ahead_read(home, false);
    ahead_read(home + (ROBIN_WINDOW - 1) * 8, false);
}

MANY_INLINE void robin_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const tamis *f = self;

    many_hash(group, keys, n, f->salt);
}

MANY_INLINE void robin_fetch(const void *f, const void *group, size_t i)
{
    const many_hashes *g = group;

    robin_ask(f, g->h[i]);
}

MANY_INLINE uint64_t robin_visit(void *f, void *group, size_t i)
{
    const many_hashes *g = group;

    return robin_has_hash(f, g->h[i]);
}

size_t tamis__robin_hood_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    many_hashes groups[2];

    return many_lookups(f, hits, keys, n, &groups[0], &groups[1], robin_prepare, robin_fetch,
                        robin_visit, NULL);
}

void tamis__robin_hood_touch(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    robin_ask(f, h);
    if (robin_has_values(f))
        ahead_read(robin_value_at(f, scale64(h, f->plan.slots)), false);
}
