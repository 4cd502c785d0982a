/* spectral.h - what the spectral kinds share: rows of counters of any size, most of them small.
 *
 * A key has one counter in each of k rows of w. Most counters of a multiset are small, and a few
 * are large. Each has four bits of its own: up to 14 they are its value; 15 says that the rest of
 * it, value - 15, is in a table, as digits to the base 2^16, the lowest first. No table entry
 * stands for a rest of 0. When the table is full, the filter takes one twice as large: counters
 * never stop, and one that is small again gives its entries back.
 *
 *   payload   64 bytes of state: entries in use, then zeros
 *             the table, plan.width lines of eight entries
 *             the counters, two per byte, the even one in the low half
 *   entry     digit (16 bits) | there is a higher one (1) | number of the digit (2) | counter (45)
 *
 * All four bits of a key's counters have to be 15 before the table is looked at: a count reads one
 * line per row, as a Bloom filter does, and hashes again for frequent keys alone. Entries are found
 * by open addressing, one line on average; three quarters of them are used at most.
 *
 * n distinct keys leave a counter of a row at 0 with probability (1 - 1/w)^n, and rows know nothing
 * of each other: all counters of a stranger are above 0, or all counters of a key shared, with
 * probability
 *
 *   (1 - (1 - 1/w)^n)^k      exactly, for a stranger; for a key, with n - 1. */
#ifndef TAMIS_SKETCH_SPECTRAL_H
#define TAMIS_SKETCH_SPECTRAL_H

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

enum {
    MAX_HASHES = 64,
    STATE_BYTES = 64,
    LINE_BYTES = 64,
    LINE_ENTRIES = 8,
    LINE_USED = 6, /* at most, on average */
    ESCAPE = 15,
    DIGIT_BITS = 16,
    MAX_DIGITS = 4,
    TAG_SHIFT = 17, /* of counter and number of the digit, which tell entries apart */
};

static const uint64_t MORE = UINT64_C(1) << DIGIT_BITS, MAX_COUNTERS = UINT64_C(1) << 44;

static inline uint64_t row_counters(const tamis_plan *p)
{
    return p->slots * p->hashes;
}

static inline uint64_t table_entries(const tamis *f)
{
    return (uint64_t)f->plan.width * LINE_ENTRIES;
}

static inline uint8_t *entry_at(const tamis *f, uint64_t i)
{
    return (uint8_t *)f->payload + STATE_BYTES + i * 8;
}

static inline uint64_t halves_offset(const tamis_plan *p)
{
    return STATE_BYTES + (uint64_t)p->width * LINE_BYTES;
}

static inline uint8_t *halves_of(const tamis *f)
{
    return (uint8_t *)f->payload + halves_offset(&f->plan);
}

static inline uint64_t entries_used(const tamis *f)
{
    return le64(f->payload);
}

static inline uint64_t entries_free(const tamis *f)
{
    return (uint64_t)f->plan.width * LINE_USED - entries_used(f);
}

/* ---- Sizing ------------------------------------------------------------ */

static inline bool shape_is_possible(const tamis_plan *p)
{
    uint64_t counters;

    return p->slots > 1 && p->hashes > 0 && p->hashes <= MAX_HASHES && p->width > 0 &&
           p->flags == 0 && p->load == 0 && !mul_overflows(p->slots, p->hashes, &counters) &&
           counters < MAX_COUNTERS;
}

static inline uint64_t bytes_of_halves(uint64_t counters)
{
    return bytes_of_bits(4 * counters);
}

static inline double spectral_rate(const tamis_plan *p, double n)
{
    return pow(-expm1(n * log1p(-1 / (double)p->slots)), p->hashes);
}

/* Each row may be filled to fpr^(1/k). The table starts with room for one counter of a key in 256
 * keys. */
static inline bool size_rows(tamis_plan *p, uint32_t k, double n, double fpr)
{
    double slots = n > 0 ? -1 / expm1(log1p(-pow(fpr, 1.0 / k)) / n) : 1;

    if (!(slots * k < (double)MAX_COUNTERS))
        return false;
    p->hashes = k;
    p->slots = (uint64_t)fmax(2, ceil(slots));
    while (spectral_rate(p, n) > fpr)
        p->slots++;
    p->width = 1 + (uint32_t)fmin(n * k / (256 * LINE_ENTRIES), 0x1p28);
    return true;
}

/* The best number of hashes is log2(1 / rate), rounded up or down: whichever takes less. */
static inline tamis_status size_spectral(tamis_plan *p, double n, double fpr,
                                         uint64_t (*bytes)(const tamis_plan *p))
{
    uint32_t below = (uint32_t)fmax(1, fmin(floor(-log2(fpr)), MAX_HASHES));
    tamis_plan other = *p;

    if (!size_rows(p, below, n, fpr))
        return TAMIS_RANGE;
    if (below < MAX_HASHES && size_rows(&other, below + 1, n, fpr) && bytes(&other) < bytes(p))
        *p = other;
    return TAMIS_OK;
}

/* Of kinds that have nothing but rows. */
static inline uint64_t bytes_of_rows(const tamis_plan *p)
{
    return shape_is_possible(p) ? halves_offset(p) + bytes_of_halves(row_counters(p)) : 0;
}

static inline tamis_status plan_rows(tamis_plan *p, const tamis_spec *spec)
{
    return size_spectral(p, (double)spec->keys, spec->fpr, bytes_of_rows);
}

/* ---- The table --------------------------------------------------------- */

static inline uint64_t tag_of(uint64_t counter, unsigned digit)
{
    return counter << 2 | digit;
}

static inline uint64_t home_of(const tamis *f, uint64_t tag)
{
    return scale64(mix64(tag), table_entries(f));
}

static inline uint64_t entry_after(const tamis *f, uint64_t i)
{
    return i + 1 == table_entries(f) ? 0 : i + 1;
}

/* Where the entry of that tag is or would be. A table without an empty place, which only a damaged
 * view has, ends the search where it began. */
static inline uint64_t find_entry(const tamis *f, uint64_t tag)
{
    uint64_t i = home_of(f, tag);

    for (uint64_t steps = 0; steps < table_entries(f); steps++, i = entry_after(f, i)) {
        uint64_t entry = le64(entry_at(f, i));
        if (entry == 0 || entry >> TAG_SHIFT == tag)
            break;
    }
    return i;
}

/* 0 if there is none. */
static inline uint64_t read_entry(const tamis *f, uint64_t tag)
{
    uint64_t entry = le64(entry_at(f, find_entry(f, tag)));

    return entry >> TAG_SHIFT == tag ? entry : 0;
}

static inline void put_entry(tamis *f, uint64_t tag, uint64_t digit_and_more)
{
    uint8_t *at = entry_at(f, find_entry(f, tag));

    if (le64(at) == 0)
        put_le64(f->payload, entries_used(f) + 1);
    put_le64(at, tag << TAG_SHIFT | digit_and_more);
}

/* Whether an entry at `from` may move to the empty place `to`: its home is not between them. */
static inline bool may_move_back(const tamis *f, uint64_t from, uint64_t to)
{
    uint64_t n = table_entries(f), home = home_of(f, le64(entry_at(f, from)) >> TAG_SHIFT);

    return (from + n - home) % n >= (from + n - to) % n;
}

/* Entries behind it move back, as far as they may. */
static inline void drop_entry(tamis *f, uint64_t tag)
{
    uint64_t hole = find_entry(f, tag);

    for (uint64_t i = entry_after(f, hole); le64(entry_at(f, i)) != 0; i = entry_after(f, i))
        if (may_move_back(f, i, hole)) {
            memcpy(entry_at(f, hole), entry_at(f, i), 8);
            hole = i;
        }
    put_le64(entry_at(f, hole), 0);
    put_le64(f->payload, entries_used(f) - 1);
}

/* ---- One counter ------------------------------------------------------- */

static inline unsigned half_get(const tamis *f, uint64_t i)
{
    return halves_of(f)[i / 2] >> i % 2 * 4 & 15;
}

static inline void half_put(tamis *f, uint64_t i, unsigned x)
{
    uint8_t *byte = halves_of(f) + i / 2;
    unsigned shift = i % 2 * 4;

    *byte = (uint8_t)((*byte & ~(15u << shift)) | x << shift);
}

static inline uint64_t rest_of(const tamis *f, uint64_t i)
{
    uint64_t rest = 0, entry = MORE;

    for (unsigned d = 0; d < MAX_DIGITS && entry & MORE; d++) {
        entry = read_entry(f, tag_of(i, d));
        rest |= (entry & (MORE - 1)) << d * DIGIT_BITS;
    }
    return rest;
}

/* As far as 64 bits go: views may hold more. */
static inline uint64_t counter_get(const tamis *f, uint64_t i)
{
    unsigned half = half_get(f, i);
    uint64_t value;

    if (half < ESCAPE)
        return half;
    return add_overflows(ESCAPE, rest_of(f, i), &value) ? UINT64_MAX : value;
}

static inline unsigned digits_of(uint64_t value)
{
    unsigned digits = 0;

    for (uint64_t rest = value > ESCAPE ? value - ESCAPE : 0; rest; rest >>= DIGIT_BITS)
        digits++;
    return digits;
}

/* There is room for its entries. */
static inline void counter_put(tamis *f, uint64_t i, uint64_t value)
{
    unsigned had = digits_of(counter_get(f, i)), digits = digits_of(value);

    half_put(f, i, value < ESCAPE ? (unsigned)value : ESCAPE);
    for (unsigned d = 0; d < digits; d++) {
        uint64_t rest = (value - ESCAPE) >> d * DIGIT_BITS;
        put_entry(f, tag_of(i, d), (rest & (MORE - 1)) | (d + 1 < digits ? MORE : 0));
    }
    for (unsigned d = digits; d < had; d++)
        drop_entry(f, tag_of(i, d));
}

/* ---- The counters of a key --------------------------------------------- */

typedef struct places {
    uint64_t h;
    uint64_t at[MAX_HASHES];
} places;

/* One multiplication: its high bits depend on all bits of x, and the shift carries them down for
 * the next row. */
static inline uint64_t next_row(uint64_t x)
{
    return (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
}

/* One counter in each of k rows of `slots`, k > 0, of rows that start with that counter. */
static inline void walk_rows(uint64_t *at, uint64_t x, uint64_t start, uint64_t slots, uint32_t k)
{
    uint32_t i = 0;

    do {
        at[i] = start + scale64(x, slots);
        start += slots;
        x = next_row(x);
    } while (++i < k);
}

static inline void find_places(places *p, const tamis *f, uint64_t key)
{
    p->h = hash_key(key, f->salt);
    walk_rows(p->at, p->h, 0, f->plan.slots, f->plan.hashes);
}

/* The least counter. The table only matters if all of them are there. */
static inline uint64_t least_of(const tamis *f, const uint64_t *at)
{
    unsigned half = ESCAPE;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        unsigned here = half_get(f, at[i]);
        half = here < half ? here : half;
    }
    if (half < ESCAPE)
        return half;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        uint64_t here = counter_get(f, at[i]);
        least = here < least ? here : least;
    }
    return least;
}

static inline uint64_t least_at(const tamis *f, const places *p)
{
    return least_of(f, p->at);
}

/* What is to become of counters: all of it at once, or nothing. Large, so that who makes one sets
 * `n` alone. */
typedef struct change {
    unsigned n;
    uint64_t at[2 * MAX_HASHES], value[2 * MAX_HASHES];
} change;

static inline void change_to(change *c, uint64_t at, uint64_t value)
{
    c->at[c->n] = at;
    c->value[c->n++] = value;
}

static inline tamis_status apply(tamis *f, const change *c)
{
    uint64_t more = 0;

    for (unsigned i = 0; i < c->n; i++) {
        unsigned had = digits_of(counter_get(f, c->at[i])), digits = digits_of(c->value[i]);
        more += digits > had ? digits - had : 0;
    }
    if (more > entries_free(f))
        return TAMIS_FULL;
    for (unsigned i = 0; i < c->n; i++)
        counter_put(f, c->at[i], c->value[i]);
    return TAMIS_OK;
}

static inline uint64_t sum_or_most(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return add_overflows(a, b, &sum) ? UINT64_MAX : sum;
}

/* Adds `times` to each counter of a key. */
static inline void raise_all(change *c, const tamis *f, const uint64_t *at, uint64_t times)
{
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        change_to(c, at[i], sum_or_most(counter_get(f, at[i]), times));
}

/* No counter is less. */
static inline void lower_all(change *c, const tamis *f, const uint64_t *at, uint64_t times)
{
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        change_to(c, at[i], counter_get(f, at[i]) - times);
}

/* The same where no counter comes to need the table, as in most cases; false: one would. */
static inline bool raise_halves(tamis *f, const uint64_t *at, uint64_t times)
{
    unsigned most = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        unsigned half = half_get(f, at[i]);
        most = half > most ? half : most;
    }
    if (times > ESCAPE - most)
        return false;
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        halves_of(f)[at[i] / 2] += (uint8_t)(times << at[i] % 2 * 4);
    return true;
}

/* ---- Lookups ----------------------------------------------------------- */

static inline bool spectral_has(const tamis *f, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt), start = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        if (half_get(f, start + scale64(x, f->plan.slots)) == 0)
            return false;
        start += f->plan.slots;
        x = next_row(x);
    }
    return true;
}

__attribute__((always_inline)) static inline void fetch_half(const tamis *f, uint64_t i)
{
    __builtin_prefetch(halves_of(f) + i / 2, 0, 3);
}

/* Keys that go through the rows side by side: many, since most strangers drop out early. */
enum { GROUP = 256 };

typedef struct searched {
    uint64_t x[GROUP], at[GROUP];
    uint16_t who[GROUP];
    size_t n;
} searched;

/* Those whose counter is 0 drop out; the others fetch their next one while the rest of the row is
 * looked at. Half of the keys would mispredict a branch: they are moved by arithmetic. Inlined
 * by force, since gcc 12 takes a function that prefetches for one that changes nothing. */
__attribute__((always_inline)) static inline void search_row(const tamis *f, searched *g,
                                                             uint64_t next_start)
{
    size_t left = 0;

    for (size_t i = 0; i < g->n; i++) {
        uint64_t next = next_row(g->x[i]), now = g->at[i];
        uint64_t next_at = next_start + scale64(next, f->plan.slots);
        uint64_t stays = half_get(f, now) != 0;
        g->who[left] = g->who[i];
        g->x[left] = next;
        g->at[left] = next_at;
        fetch_half(f, now ^ ((now ^ next_at) & -stays));
        left += stays;
    }
    g->n = left;
}

__attribute__((always_inline)) static inline void has_group(const tamis *f, uint64_t *hits,
                                                            const uint64_t *keys, size_t n)
{
    searched g;

    g.n = n;
    for (size_t i = 0; i < n; i++) {
        g.who[i] = (uint16_t)i;
        g.x[i] = hash_key(keys[i], f->salt);
        g.at[i] = scale64(g.x[i], f->plan.slots);
        fetch_half(f, g.at[i]);
    }
    for (uint32_t row = 1; row < f->plan.hashes; row++)
        search_row(f, &g, row * f->plan.slots);
    for (size_t i = 0; i < g.n; i++)
        hits[g.who[i] / 64] |= (uint64_t)(half_get(f, g.at[i]) != 0) << g.who[i] % 64;
}

static inline size_t spectral_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                       size_t n)
{
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i += GROUP)
        has_group(f, hits + i / 64, keys + i, n - i < GROUP ? n - i : GROUP);
    for (size_t i = 0; i < (n + 63) / 64; i++)
        found += (size_t)__builtin_popcountll(hits[i]);
    return found;
}

/* ---- Many keys, all rows of each --------------------------------------- */

/* Keys whose lines are on their way. */
enum { AHEAD = 16 };

typedef uint64_t reader(const tamis *f, const places *p);
typedef tamis_status changer(tamis *f, const places *p, uint64_t times);
typedef void fetcher(const tamis *f, const places *p);

__attribute__((always_inline)) static inline void fetch_places(const tamis *f, const places *p)
{
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        fetch_half(f, p->at[i]);
}

__attribute__((always_inline)) static inline void read_many(const tamis *f, uint64_t *counts,
                                                            const uint64_t *keys, size_t n,
                                                            reader *read, fetcher *fetch)
{
    places coming[AHEAD];

    for (size_t i = 0; i < n + AHEAD; i++) {
        places *p = &coming[i % AHEAD];
        if (i >= AHEAD && i - AHEAD < n)
            counts[i - AHEAD] = read(f, p);
        if (i < n) {
            find_places(p, f, keys[i]);
            fetch(f, p);
        }
    }
}

__attribute__((always_inline)) static inline tamis_status change_many(tamis *f, size_t *done,
                                                                      const uint64_t *keys,
                                                                      size_t n, changer *change_one,
                                                                      fetcher *fetch)
{
    places coming[AHEAD];
    tamis_status status = TAMIS_OK;

    *done = 0;
    for (size_t i = 0; i < n + AHEAD && !status; i++) {
        places *p = &coming[i % AHEAD];
        if (i >= AHEAD && *done < n) {
            status = change_one(f, p, 1);
            *done += !status;
        }
        if (i < n) {
            find_places(p, f, keys[i]);
            fetch(f, p);
        }
    }
    return status;
}

static inline void spectral_touch(const tamis *f, uint64_t key)
{
    places p;

    find_places(&p, f, key);
    fetch_places(f, &p);
}

/* ---- Larger tables ----------------------------------------------------- */

static inline tamis_status spectral_resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    if (p->width > UINT32_MAX / 2)
        return TAMIS_RANGE;
    p->width *= 2;
    return TAMIS_OK;
}

/* Entries find new places; what follows the table stays as it is. */
static inline tamis_status move_table(tamis *f, const tamis *g)
{
    memcpy(halves_of(f), halves_of(g), g->plan.bytes - halves_offset(&g->plan));
    for (uint64_t i = 0; i < table_entries(g); i++) {
        uint64_t entry = le64(entry_at(g, i));
        if (entry)
            put_entry(f, entry >> TAG_SHIFT, entry & (2 * MORE - 1));
    }
    f->count = g->count;
    return TAMIS_OK;
}

/* ---- Two filters ------------------------------------------------------- */

/* How many entries the sums of the first n counters would have. */
static inline uint64_t digits_of_sums(const tamis *f, const tamis *g, uint64_t n)
{
    uint64_t digits = 0;

    for (uint64_t i = 0; i < n; i++)
        digits += digits_of(sum_or_most(counter_get(f, i), counter_get(g, i)));
    return digits;
}

/* Adds up the first n counters; g may be f. There is room. */
static inline void add_counters(tamis *f, const tamis *g, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t more = counter_get(g, i);
        if (more)
            counter_put(f, i, counter_get(f, i) + more);
    }
}

static inline tamis_status spectral_merge(tamis *f, const tamis *g)
{
    uint64_t all, n = row_counters(&f->plan);

    if (add_overflows(f->count, g->count, &all))
        return TAMIS_RANGE;
    if (digits_of_sums(f, g, n) > (uint64_t)f->plan.width * LINE_USED)
        return TAMIS_FULL;
    add_counters(f, g, n);
    f->count = all;
    return TAMIS_OK;
}

/* ---- The whole filter -------------------------------------------------- */

/* What is wrong with an entry: it belongs to a counter, with all its digits, and is found. */
static inline const char *check_entry(const tamis *f, uint64_t i, uint64_t counters)
{
    uint64_t entry = le64(entry_at(f, i)), tag = entry >> TAG_SHIFT, counter = tag >> 2;
    unsigned digit = tag & 3;

    if (counter >= counters || half_get(f, counter) != ESCAPE)
        return "a digit belongs to no counter";
    if (find_entry(f, tag) != i)
        return "a digit is where it is not found";
    if (!(entry & MORE) && !(entry & (MORE - 1)))
        return "a leading digit is 0";
    if (digit > 0 && !(read_entry(f, tag - 1) & MORE))
        return "a digit has none before it";
    if (entry & MORE && (digit + 1 == MAX_DIGITS || !read_entry(f, tag + 1)))
        return "a digit has none after it";
    return NULL;
}

static inline const char *check_table(const tamis *f, uint64_t counters)
{
    const uint8_t *state = f->payload;
    uint64_t used = 0;

    for (int i = 8; i < STATE_BYTES; i++)
        if (state[i])
            return "unused state is set";
    for (uint64_t i = 0; i < table_entries(f); i++)
        used += le64(entry_at(f, i)) != 0;
    if (used != entries_used(f) || used > (uint64_t)f->plan.width * LINE_USED)
        return "the number of digits is wrong";
    for (uint64_t i = 0; i < table_entries(f); i++) {
        const char *why = le64(entry_at(f, i)) ? check_entry(f, i, counters) : NULL;
        if (why)
            return why;
    }
    return NULL;
}

/* The last word of counters may stick out of them; what sticks out is zero. */
static inline bool has_stray_halves(const tamis *f, uint64_t counters)
{
    for (uint64_t i = counters; i < bytes_of_halves(counters) * 2; i++)
        if (half_get(f, i))
            return true;
    return false;
}

/* False: the sum of a row has more than 64 bits. */
static inline bool sum_row(const tamis *f, uint64_t *sum, uint64_t start, uint64_t slots)
{
    *sum = 0;
    for (uint64_t i = start; i < start + slots; i++)
        if (add_overflows(*sum, counter_get(f, i), sum))
            return false;
    return true;
}

/* Rows add up to the number of adds, or to less where adds raise only the least counters. */
static inline const char *check_rows(const tamis *f, bool exactly)
{
    uint64_t sum;

    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        bool fits = sum_row(f, &sum, row * f->plan.slots, f->plan.slots);
        if (!fits || sum > f->count || (exactly && sum < f->count))
            return "a row does not add up";
    }
    return NULL;
}

static inline const char *check_spectral(const tamis *f, uint64_t counters, bool exactly)
{
    const char *why = check_table(f, counters);

    if (!why && has_stray_halves(f, counters))
        why = "bits past the end are set";
    return why ? why : check_rows(f, exactly);
}

static inline double used_in_row(const tamis *f, uint32_t row)
{
    uint64_t used = 0, start = row * f->plan.slots;

    for (uint64_t i = start; i < start + f->plan.slots; i++)
        used += half_get(f, i) != 0;
    return (double)used;
}

/* Each row is a witness of its own: rates multiply, estimates are averaged. A row without a 0 is
 * taken for one that has one. */
static inline void spectral_measure(const tamis *f, tamis_info *info)
{
    double w = (double)f->plan.slots, fill = 0, fpr = 1, keys = 0;

    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        double used = used_in_row(f, row);
        fill += used / w;
        fpr *= used / w;
        keys += log1p(-fmin(used, w - 1) / w) / log1p(-1 / w);
    }
    info->fill = fill / f->plan.hashes;
    info->fpr = fpr;
    info->cardinality = keys / f->plan.hashes;
}

#endif
