/* quotient_order.c - the quotient filter read and written in order of fingerprints, and changed by
 * many keys at once. */
#include "base/many.h"
#include "quotient/quotient.h"
#include "quotient/sorted.h"

/* ---- Reading ----------------------------------------------------------- */

/* at[] of a cursor: the position that comes next, the quotient of the run that it follows, and
 * whether there is one. The lowest quotient's run may be shifted by those that wrap around. */
enum { POSITION, QUOTIENT, STARTED };

static bool quotient_next_run(const quotient_table *t, uint64_t *at)
{
    uint64_t quotient = tamis__quotient_next_occupied(t, at[STARTED] ? at[QUOTIENT] + 1 : 0);

    if (quotient == t->slots)
        return false;
    if (!at[STARTED])
        at[POSITION] = tamis__quotient_run(t, quotient);
    if (at[POSITION] < quotient)
        at[POSITION] = at[STARTED] ? quotient : at[POSITION] + t->slots;
    at[STARTED] = true;
    at[QUOTIENT] = quotient;
    return true;
}

bool tamis__quotient_next(tamis_cursor *c)
{
    quotient_table t = quotient_table_of(c->f);
    uint64_t *at = c->at;

    if ((!at[STARTED] || !quotient_continues(&t, at[POSITION])) && !quotient_next_run(&t, at))
        return false;
    if (at[POSITION] >= 2 * t.slots)
        return false;
    uint32_t remainder = quotient_remainder(&t, quotient_wrap(&t, at[POSITION]));
    c->fingerprint = at[QUOTIENT] << t.width | remainder;
    c->count = 0;
    do {
        c->count++;
        at[POSITION]++;
    } while (quotient_continues(&t, at[POSITION]) &&
             quotient_remainder(&t, quotient_wrap(&t, at[POSITION])) == remainder);
    return true;
}

/* ---- Writing ----------------------------------------------------------- */

/* Writes to an empty table from the lowest fingerprint on, without moving anything. */
typedef struct quotient_writer {
    quotient_table t;
    uint64_t after;    /* the quotient written last, and one */
    uint64_t position; /* after it */
} quotient_writer;

static inline void quotient_set_bits(uint8_t *at, uint64_t bits)
{
    put_le64(at, le64(at) | bits);
}

/* Without a branch on whether it is at home, or the first of its run. False: the end was reached.
 */
static inline bool quotient_write(quotient_writer *w, uint64_t fingerprint)
{
    uint64_t quotient = fingerprint >> w->t.width, is_next = w->after == quotient + 1;
    uint64_t position = w->position > quotient ? w->position : quotient;

    if (position >= w->t.slots)
        return false;
    uint8_t *home = quotient_block_of(&w->t, quotient), *block = quotient_block_of(&w->t, position);
    unsigned i = (unsigned)(position % BLOCK_SLOTS), bit = i * w->t.width;
    quotient_set_bits(home + OCCUPIED, UINT64_C(1) << quotient % BLOCK_SLOTS);
    quotient_set_bits(block + CONTINUED, is_next << i);
    quotient_set_bits(block + SHIFTED, (uint64_t)(position != quotient) << i);
    quotient_set_bits(block + REMAINDERS + bit / 8, (fingerprint & packed_mask(w->t.width))
                                                        << bit % 8);
    w->after = quotient + 1;
    w->position = position + 1;
    return true;
}

/* at[]: `after` and `position` of a writer. Copies that come after the end go in between what
 * stands at the beginning. */
tamis_status tamis__quotient_append(tamis_writer *w, uint64_t fingerprint, uint64_t count)
{
    tamis *f = w->f;
    quotient_writer to = { quotient_table_of(f), w->at[0], w->at[1] };
    uint64_t left = count;

    if (count > f->plan.capacity - f->count)
        return TAMIS_FULL;
    while (left && quotient_write(&to, fingerprint))
        left--;
    f->count += count - left;
    if (left)
        tamis__quotient_insert(f, fingerprint, left);
    w->at[0] = to.after;
    w->at[1] = to.position;
    return TAMIS_OK;
}

/* Both are passed by value, so that no store to the table can seem to change them. */
static quotient_writer quotient_write_group(tamis *f, quotient_writer w, sorted_group g)
{
    size_t i = 0;

    while (i < g.n && quotient_write(&w, sorted_at(&g, i)))
        i++;
    f->count += i;
    for (; i < g.n; i++)
        tamis__quotient_insert(f, sorted_at(&g, i), 1);
    return w;
}

/* ---- Many keys --------------------------------------------------------- */

/* What is stored does not depend on the order. So many keys that a group of them shares a stretch
 * of the table that fits in the cache go from one end to the other; to an empty table, they are
 * written in order. */
enum { LEAST_SORTED = 64, LEAST_GROUPED = 1 << 12, SLOTS_A_KEY = 16 };

static size_t quotient_change_one(tamis *f, uint64_t fingerprint, bool removes)
{
    if (removes)
        return tamis__quotient_take_out(f, fingerprint, 1) == TAMIS_OK;
    tamis__quotient_insert(f, fingerprint, 1);
    return 1;
}

static size_t quotient_change_each(tamis *f, const uint64_t *keys, size_t n, bool removes)
{
    quotient_table t = quotient_table_of(f);
    uint64_t fingerprints[MANY];
    size_t changed = 0;

    for (size_t i = 0; i < n + MANY; i++) {
        uint64_t *fingerprint = &fingerprints[i % MANY];
        if (i >= MANY)
            changed += quotient_change_one(f, *fingerprint, removes);
        if (i < n) {
            *fingerprint = quotient_fingerprint(f, keys[i]);
            quotient_fetch(&t, *fingerprint >> t.width);
        }
    }
    return changed;
}

static size_t quotient_change_many(tamis *f, const uint64_t *keys, size_t n, bool removes)
{
    bool is_new = f->count == 0 && !removes;
    bool pays = is_new ? n >= LEAST_SORTED : n >= LEAST_GROUPED && n >= f->plan.slots / SLOTS_A_KEY;
    quotient_writer w = { .t = quotient_table_of(f) };
    size_t all, changed = 0;
    sorted_keys s;

    if (!pays || !tamis__sorted_new(&s, f, n, 0))
        return quotient_change_each(f, keys, n, removes);
    tamis__sorted_count(&s, &all, 0, keys, n);
    tamis__sorted_deal(&s, keys, n);
    for (size_t i = 0; i < (size_t)1 << s.bits; i++) {
        sorted_group g = tamis__sorted_group(&s, i, is_new ? 0 : 64);
        if (is_new)
            w = quotient_write_group(f, w, g);
        for (size_t k = 0; !is_new && k < g.n; k++)
            changed += quotient_change_one(f, sorted_at(&g, k), removes);
    }
    tamis__sorted_free(f, &s);
    return changed;
}

tamis_status tamis__quotient_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t room = f->plan.capacity - f->count;

    *added = n < room ? n : (size_t)room;
    quotient_change_many(f, keys, *added, false);
    return *added == n ? TAMIS_OK : TAMIS_FULL;
}

size_t tamis__quotient_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    return quotient_change_many(f, keys, n, true);
}
