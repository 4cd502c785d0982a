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
 * Both of them may take a stranger for a key that has moved. Of that key, once only one counter is
 * the least, the second filter tells too little: counts of this kind are too low in rare cases.
 * They are never 0 for a key that is there, as the first filter and nothing else tells what is
 * there, and the second cannot tell less than 1 when it is asked.
 *
 * Removes take from the second filter as much as there is, at most, and nothing from the marks.
 * What was moved too high, and marks of keys that are gone, stay until the last key is.
 *
 * In a union, a key may have moved in one filter and not in the other. So all keys of a union have
 * not moved: they do when they are added again.
 *
 * Payload: as in spectral.h, with k more rows of w / 2 + 1 counters, then the marks, k w bits in
 * whole 64-bit words; what sticks out is zero. Each of the first k rows adds up to the number of
 * adds.
 *
 * Cohen, Matias: Spectral Bloom Filters, 2003. */
#include "sketch/spectral.h"

/* ---- Layout ------------------------------------------------------------ */

enum { MARK_HASHES = 3 };

static uint64_t second_slots(const tamis_plan *p)
{
    return p->slots / 2 + 1;
}

static uint64_t all_counters(const tamis_plan *p)
{
    return row_counters(p) + second_slots(p) * p->hashes;
}

static uint64_t marks_offset(const tamis_plan *p)
{
    return halves_offset(p) + bytes_of_halves(all_counters(p));
}

static uint8_t *marks_of(const tamis *f)
{
    return (uint8_t *)f->payload + marks_offset(&f->plan);
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    return shape_is_possible(p) ? marks_offset(p) + bytes_of_bits(row_counters(p)) : 0;
}

/* With fewer than five rows, or fuller ones, most keys would move. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return size_spectral(p, (double)spec->keys, fmin(spec->fpr, 0x1p-5), bytes);
}

/* ---- Marks ------------------------------------------------------------- */

static inline uint64_t first_mark(uint64_t h)
{
    return mix64(h + 2 * HASH_GOLDEN);
}

static inline bool is_marked(const tamis *f, uint64_t h)
{
    uint64_t x = first_mark(h);

    for (int i = 0; i < MARK_HASHES; i++) {
        uint64_t bit = scale64(x, row_counters(&f->plan));
        if (!(marks_of(f)[bit / 8] >> bit % 8 & 1))
            return false;
        x = next_row(x);
    }
    return true;
}

static inline void mark(tamis *f, uint64_t h)
{
    uint64_t x = first_mark(h);

    for (int i = 0; i < MARK_HASHES; i++) {
        uint64_t bit = scale64(x, row_counters(&f->plan));
        marks_of(f)[bit / 8] |= (uint8_t)(1u << bit % 8);
        x = next_row(x);
    }
}

/* ---- The two filters --------------------------------------------------- */

/* The least counter of a key in the first, and in how many rows it is. */
typedef struct least {
    uint64_t value;
    unsigned rows;
} least;

static inline void least_add(least *l, uint64_t value)
{
    if (value < l->value)
        *l = (least){ .value = value };
    l->rows += value == l->value;
}

static inline least first_least(const tamis *f, const places *p)
{
    least l = { .value = UINT64_MAX };

    for (uint32_t i = 0; i < f->plan.hashes; i++)
        least_add(&l, counter_get(f, p->at[i]));
    return l;
}

typedef struct second {
    uint64_t at[MAX_HASHES];
    uint64_t value; /* the least, and 0 if the key has not moved */
} second;

static inline void find_second_places(second *s, const tamis *f, uint64_t h)
{
    walk_rows(s->at, mix64(h + HASH_GOLDEN), row_counters(&f->plan), second_slots(&f->plan),
              f->plan.hashes);
}

/* Most keys have no marks, and no use for the places. */
static inline void find_second(second *s, const tamis *f, uint64_t h)
{
    s->value = 0;
    if (is_marked(f, h)) {
        find_second_places(s, f, h);
        s->value = least_of(f, s->at);
    }
}

/* ---- Operations -------------------------------------------------------- */

static uint64_t count_at(const tamis *f, const places *p)
{
    least l = first_least(f, p);
    second s;

    if (l.value == 0 || l.rows > 1)
        return l.value;
    find_second(&s, f, p->h);
    return s.value && s.value < l.value ? s.value : l.value;
}

static tamis_status add_to_both(tamis *f, const places *p, const second *s, uint64_t times,
                                uint64_t second_times)
{
    change c;

    c.n = 0;
    raise_all(&c, f, p->at, times);
    if (second_times)
        raise_all(&c, f, s->at, second_times);
    return apply(f, &c);
}

/* An add raises all counters of the first filter alike: where the least one is stays. */
static tamis_status add_at(tamis *f, const places *p, uint64_t times)
{
    least l = first_least(f, p);
    tamis_status status = TAMIS_OK;
    second s;

    find_second(&s, f, p->h);
    bool moves = !s.value && l.rows == 1;
    if (moves)
        find_second_places(&s, f, p->h);
    if (s.value || moves)
        status = add_to_both(f, p, &s, times, moves ? sum_or_most(l.value, times) : times);
    else if (!raise_halves(f, p->at, times))
        status = add_to_both(f, p, &s, times, 0);
    if (status)
        return status;
    if (moves)
        mark(f, p->h);
    f->count += times;
    return TAMIS_OK;
}

/* The last key takes along all that was not removed with its own. */
static void forget_times(tamis *f, uint64_t times)
{
    f->count -= times;
    if (f->count == 0)
        memset(f->payload, 0, f->plan.bytes);
}

static tamis_status remove_times(tamis *f, uint64_t key, uint64_t times)
{
    places p;
    second s;
    change c;

    find_places(&p, f, key);
    if (count_at(f, &p) < times)
        return TAMIS_ABSENT;
    c.n = 0;
    find_second(&s, f, p.h);
    lower_all(&c, f, p.at, times);
    if (s.value)
        lower_all(&c, f, s.at, times < s.value ? times : s.value);
    tamis_status status = apply(f, &c);
    forget_times(f, times);
    return status;
}

/* ---- The whole filter -------------------------------------------------- */

static void forget_moves(tamis *f)
{
    for (uint64_t i = row_counters(&f->plan); i < all_counters(&f->plan); i++)
        if (half_get(f, i))
            counter_put(f, i, 0);
    memset(marks_of(f), 0, f->plan.bytes - marks_offset(&f->plan));
}

/* A union with nothing leaves all as it is. */
static tamis_status become(tamis *f, const tamis *g)
{
    return entries_used(g) > entries_free(f) ? TAMIS_FULL : move_table(f, g);
}

static tamis_status merge(tamis *f, const tamis *g)
{
    uint64_t all, n = row_counters(&f->plan);

    if (g->count == 0)
        return TAMIS_OK;
    if (f->count == 0)
        return become(f, g);
    if (add_overflows(f->count, g->count, &all))
        return TAMIS_RANGE;
    if (digits_of_sums(f, g, n) > (uint64_t)f->plan.width * LINE_USED)
        return TAMIS_FULL;
    forget_moves(f);
    add_counters(f, g, n);
    f->count = all;
    return TAMIS_OK;
}

static bool has_stray_marks(const tamis *f)
{
    uint64_t bits = row_counters(&f->plan);

    for (uint64_t i = bits; i < bytes_of_bits(bits) * 8; i++)
        if (marks_of(f)[i / 8] >> i % 8 & 1)
            return true;
    return false;
}

static const char *verify(const tamis *f)
{
    const char *why = check_spectral(f, all_counters(&f->plan), true);

    return why ? why : has_stray_marks(f) ? "bits past the end are set" : NULL;
}

/* ---- Many keys --------------------------------------------------------- */

/* Of most keys the first mark is clear, and the second filter is not looked at. */
__attribute__((always_inline)) static inline void fetch_all(const tamis *f, const places *p)
{
    fetch_places(f, p);
    __builtin_prefetch(marks_of(f) + scale64(first_mark(p->h), row_counters(&f->plan)) / 8, 0, 3);
}

#define COUNT_AT count_at
#define ADD_FETCHES fetch_all
#include "sketch/spectral_kind.h"

const tamis_ops tamis__spectral_rm = {
    .traits = TAMIS_TRAIT_GROWS_COUNTS,
    .plan = plan,
    .bytes = bytes,
    .rate = spectral_rate,
    .resize = spectral_resize,
    .verify = verify,
    .measure = spectral_measure,
    .has = spectral_has,
    .count = count,
    .add = add,
    .remove = remove_times,
    .touch = spectral_touch,
    .has_many = spectral_has_many,
    .count_many = count_many,
    .add_many = add_many,
    .merge = merge,
    .move = move_table,
};
