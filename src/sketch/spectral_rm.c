/* spectral_rm.c - spectral Bloom filter by recurring minimum.
 *
 * If two of a key's counters are the least, they are almost surely right: others would have had to
 * raise both by the same. A key that is added while only one of its counters is the least moves: it
 * is added to a second filter of half the size, too, where few keys are, with the count that it has
 * in the first. From then on both filters are kept up to date for it. A count is
 *
 *   the least counter of the first filter, if it is there twice or the key has not moved;
 *   else the least of both filters.
 *
 * Whether a key has moved is told by a Bloom filter of the moved keys, the marks, together with the
 * second filter, where all counters of such a key are above 0. It must be known at every add, not
 * only while one counter is the least: a second filter that missed some adds would tell too little.
 *
 * Marks and second filter may take a stranger for a key that has moved. Once only one of its
 * counters is the least, the second filter tells too little of it: counts of this kind are too low
 * in rare cases. They are never 0 for a key that is there: the first filter alone tells what is
 * there, and the second is asked only if all counters of the key are above 0 in it.
 *
 * Removes take from the second filter what is there, and nothing from the marks. What was moved too
 * high, and marks of keys that are gone, stay until the last key is removed.
 *
 * In a union, a key may have moved in one filter and not in the other. So no key of a union counts
 * as moved; it moves when it is added again.
 *
 * Payload: as in spectral.h, with k more rows of w / 2 + 1 counters, then the marks, k w bits in
 * whole 64-bit words; what sticks out is zero. Each of the first k rows adds up to the number of
 * adds.
 *
 * Cohen, Matias: Spectral Bloom Filters, 2003. */
#include <string.h>

#include "sketch/spectral.h"

/* ---- Layout ------------------------------------------------------------ */

enum { SPECTRAL_MARK_HASHES = 3 };

static inline uint64_t spectral_rm_second_slots(const tamis_plan *p)
{
    return p->slots / 2 + 1;
}

/* Of both filters. */
static uint64_t spectral_rm_counters(const tamis_plan *p)
{
    return spectral_counters(p) + spectral_rm_second_slots(p) * p->hashes;
}

static inline uint64_t spectral_rm_marks_offset(const tamis_plan *p)
{
    return spectral_offset(p) + spectral_bytes_of_counters(spectral_rm_counters(p));
}

static inline uint8_t *spectral_rm_marks(const tamis *f)
{
    return (uint8_t *)f->payload + spectral_rm_marks_offset(&f->plan);
}

static uint64_t spectral_rm_bytes(const tamis_plan *p)
{
    if (!tamis__spectral_bytes(p))
        return 0;
    return spectral_rm_marks_offset(p) + bytes_of_bits(spectral_counters(p));
}

/* With fewer than five rows, or fuller ones, most keys would move. */
static tamis_status spectral_rm_plan(tamis_plan *p, const tamis_spec *spec)
{
    return tamis__spectral_size(p, (double)spec->keys, fmin(spec->fpr, 0x1p-5), spectral_rm_bytes);
}

/* ---- Marks ------------------------------------------------------------- */

/* Mark i of a key is bit scale64(x_i, k w), where x_0 is this and x_{i+1} = rows_next(x_i). */
static inline uint64_t spectral_rm_first_mark(uint64_t h)
{
    return mix64(h + 2 * HASH_GOLDEN);
}

static inline bool spectral_rm_bit(const tamis *f, uint64_t bit)
{
    return spectral_rm_marks(f)[bit / 8] >> bit % 8 & 1;
}

static inline bool spectral_rm_is_marked(const tamis *f, uint64_t h)
{
    uint64_t x = spectral_rm_first_mark(h);

    for (int i = 0; i < SPECTRAL_MARK_HASHES; i++, x = rows_next(x))
        if (!spectral_rm_bit(f, scale64(x, spectral_counters(&f->plan))))
            return false;
    return true;
}

static void spectral_rm_mark(tamis *f, uint64_t h)
{
    uint64_t x = spectral_rm_first_mark(h);

    for (int i = 0; i < SPECTRAL_MARK_HASHES; i++, x = rows_next(x)) {
        uint64_t bit = scale64(x, spectral_counters(&f->plan));
        spectral_rm_marks(f)[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

/* ---- The two filters --------------------------------------------------- */

/* The least counter of a key in the first, and in how many rows it is. */
typedef struct spectral_rm_least {
    uint64_t value;
    unsigned rows;
} spectral_rm_least;

static inline spectral_rm_least spectral_rm_first_least(const tamis *f, const uint64_t *at)
{
    spectral_rm_least l = { .value = UINT64_MAX };

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        uint64_t value = spectral_counter(f, at[i]);
        if (value < l.value)
            l = (spectral_rm_least){ .value = value };
        l.rows += value == l.value;
    }
    return l;
}

static spectral_rows spectral_rm_second_rows(const tamis *f)
{
    return (spectral_rows){ "second row", spectral_counters(&f->plan),
                            spectral_rm_second_slots(&f->plan) };
}

static void spectral_rm_find_second(uint64_t *at, const tamis *f, uint64_t h)
{
    spectral_find(at, f, spectral_rm_second_rows(f), mix64(h + HASH_GOLDEN));
}

/* The least counter of a key in the second filter, and 0 if it has not moved. Most keys have no
 * marks, and then at[] is not filled. */
static inline uint64_t spectral_rm_second_least(uint64_t *at, const tamis *f, uint64_t h)
{
    if (!spectral_rm_is_marked(f, h))
        return 0;
    spectral_rm_find_second(at, f, h);
    return spectral_least(f, at);
}

/* ---- Counts and adds --------------------------------------------------- */

static uint64_t spectral_rm_count_at(const tamis *f, uint64_t h, const uint64_t *at)
{
    spectral_rm_least l = spectral_rm_first_least(f, at);
    uint64_t second_at[SPECTRAL_MAX_HASHES];

    if (l.value == 0 || l.rows > 1)
        return l.value;
    uint64_t second = spectral_rm_second_least(second_at, f, h);
    return second && second < l.value ? second : l.value;
}

static uint64_t spectral_rm_count(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt), at[SPECTRAL_MAX_HASHES];

    spectral_find(at, f, spectral_rows_of(f), h);
    return spectral_rm_count_at(f, h, at);
}

/* An add raises all counters of the first filter alike: where the least one is stays. */
static tamis_status spectral_rm_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt), at[SPECTRAL_MAX_HASHES], second_at[SPECTRAL_MAX_HASHES];

    spectral_find(at, f, spectral_rows_of(f), h);
    spectral_rm_least l = spectral_rm_first_least(f, at);
    bool has_moved = spectral_rm_second_least(second_at, f, h) != 0;
    bool moves = !has_moved && l.rows == 1;
    spectral_raise lists[2] = { { .at = at, .times = times }, { .at = second_at, .times = times } };
    if (moves) {
        spectral_rm_find_second(second_at, f, h);
        lists[1].times = spectral_sum(l.value, times);
    }
    tamis_status status = tamis__spectral_raise(f, lists, has_moved || moves ? 2 : 1);
    if (status)
        return status;
    if (moves)
        spectral_rm_mark(f, h);
    f->count += times;
    return TAMIS_OK;
}

/* The last key takes along all that was not removed with its own. */
static tamis_status spectral_rm_remove(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt), at[SPECTRAL_MAX_HASHES], second_at[SPECTRAL_MAX_HASHES];

    spectral_find(at, f, spectral_rows_of(f), h);
    if (spectral_rm_count_at(f, h, at) < times)
        return TAMIS_ABSENT;
    uint64_t second = spectral_rm_second_least(second_at, f, h);
    tamis__spectral_lower(f, at, times);
    if (second)
        tamis__spectral_lower(f, second_at, times < second ? times : second);
    f->count -= times;
    if (f->count == 0)
        memset(f->payload, 0, (size_t)f->plan.bytes);
    return TAMIS_OK;
}

/* ---- The whole filter -------------------------------------------------- */

static void spectral_rm_forget_moves(tamis *f)
{
    uint64_t offset = spectral_rm_marks_offset(&f->plan);

    for (uint64_t i = spectral_counters(&f->plan); i < spectral_rm_counters(&f->plan); i++)
        tamis__spectral_put(f, i, spectral_counter(f, i), 0);
    memset(spectral_rm_marks(f), 0, (size_t)(f->plan.bytes - offset));
}

/* A union with nothing leaves all as it is. */
static tamis_status spectral_rm_merge(tamis *f, const tamis *g)
{
    if (g->count == 0)
        return TAMIS_OK;
    if (f->count == 0)
        return tamis__spectral_move(f, g);
    tamis_status status = tamis__spectral_can_merge(f, g);
    if (!status) {
        spectral_rm_forget_moves(f);
        tamis__spectral_add_rows(f, g);
    }
    return status;
}

static const char *spectral_rm_verify(const tamis *f)
{
    const char *why = tamis__spectral_verify(f, spectral_rm_counters(&f->plan), true);
    uint64_t bits = spectral_counters(&f->plan);

    for (uint64_t i = bits; i < bytes_of_bits(bits) * 8 && !why; i++)
        if (spectral_rm_bit(f, i))
            why = "bits past the end are set";
    return why;
}

/* ---- Pictures and words ------------------------------------------------ */

static tamis_cell spectral_rm_mark_cell(const tamis *f, uint64_t bit)
{
    return (
        tamis_cell){ .array = "marks", .index = bit, .value = spectral_rm_bit(f, bit), .bits = 1 };
}

static void spectral_rm_cells(const tamis *f, tamis_telling *t)
{
    uint64_t marks = spectral_counters(&f->plan);

    tamis__spectral_tell_rows(f, spectral_rows_of(f), t);
    tamis__spectral_tell_rows(f, spectral_rm_second_rows(f), t);
    for (uint64_t i = 0; i < marks && tamis__tell_cell(t, spectral_rm_mark_cell(f, i)); i++)
        continue;
    tamis__spectral_tell_table(f, t);
}

/* Whether the key has moved, and what the second filter has of it. A clear mark does not speak
 * against it. */
static void spectral_rm_tell_second(const tamis *f, uint64_t h, tamis_telling *t)
{
    uint64_t at[SPECTRAL_MAX_HASHES], x = spectral_rm_first_mark(h);

    for (int i = 0; i < SPECTRAL_MARK_HASHES; i++, x = rows_next(x)) {
        uint64_t bit = scale64(x, spectral_counters(&f->plan));
        tamis__tell_read(t, "mark of a key that moved", spectral_rm_mark_cell(f, bit), true);
    }
    if (!spectral_rm_is_marked(f, h))
        return;
    spectral_rm_find_second(at, f, h);
    tamis__spectral_tell_counters(f, spectral_rm_second_rows(f), at, t);
}

static bool spectral_rm_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t h = hash_key(key, f->salt), at[SPECTRAL_MAX_HASHES];

    spectral_find(at, f, spectral_rows_of(f), h);
    spectral_rm_least l = spectral_rm_first_least(f, at);
    tamis__spectral_tell_counters(f, spectral_rows_of(f), at, t);
    tamis__tell_number(t, "least counter", l.value);
    tamis__tell_number(t, "number of rows that have it", l.rows);
    if (l.value != 0 && l.rows == 1)
        spectral_rm_tell_second(f, h, t);
    return tamis__tell_count(t, spectral_rm_count_at(f, h, at));
}

const tamis_ops tamis__spectral_rm = {
    SPECTRAL_OPS,
    .plan = spectral_rm_plan,
    .bytes = spectral_rm_bytes,
    .verify = spectral_rm_verify,
    .count = spectral_rm_count,
    .add = spectral_rm_add,
    .remove = spectral_rm_remove,
    .merge = spectral_rm_merge,
    .cells = spectral_rm_cells,
    .explain = spectral_rm_explain,
};
