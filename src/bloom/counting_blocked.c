/* counting_blocked.c - counting Bloom filter confined to one cache line per key.
 *
 * A line of 64 bytes has 128 counters of four bits: eight words of 16. The key picks a line, then
 * one counter in each of its words. Whatever is done to a key, one line is read, and at most one is
 * written.
 *
 *   h = hash_key(key):  high bits -> line      low 32 bits -> x
 *   word i of the line has counter (x >> 4 i) % 16
 *
 * The sixteen values of each digit of x are equally likely and the digits independent, so that in
 * a line of i keys a stranger passes with probability (1 - (15/16)^i)^8, exactly. Lines fill
 * unevenly; the sizing accounts for it. Of the ways to lay out k counters in a line this one is
 * within a twentieth of the smallest from 1 % down to 0.01 %, and needs no multiplication.
 *
 * A plain filter of the same positions would have blocks of 16 bytes, and there is no kind of that
 * shape: this one does not become a plain filter.
 *
 * Payload: plan.slots lines. Zeros are the empty filter; every payload is valid. */
#include "base/cpu.h"
#include "bloom/counters.h"
#include "bloom/one_block.h"
#include "bloom/rates.h"
#include "explain.h"

enum { COUNTING_BLOCKED_WORDS = 8, COUNTING_BLOCKED_BITS = 4 };

/* A cache line: payloads are aligned to 64 bytes. */
typedef struct counting_blocked_line {
    uint64_t word[COUNTING_BLOCKED_WORDS]; /* little-endian, of 16 counters each */
} counting_blocked_line;

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t counting_blocked_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 50 && p->width == COUNTING_BLOCKED_BITS &&
              p->hashes == COUNTING_BLOCKED_WORDS && !p->flags && !p->load;

    return ok ? p->slots * sizeof(counting_blocked_line) : 0;
}

/* x is nothing but the eight digits: keys that agree in it are strangers by chance. */
static const rates_block COUNTING_BLOCKED_RATES = { .word = 16, .floor = 0 };

static double counting_blocked_rate(const tamis_plan *p, double n)
{
    return tamis__rates_blocks(&COUNTING_BLOCKED_RATES, (double)p->slots, n);
}

static tamis_status counting_blocked_plan(tamis_plan *p, const tamis_spec *spec)
{
    if (spec->counter_bits != 0 && spec->counter_bits != COUNTING_BLOCKED_BITS)
        return TAMIS_RANGE;
    p->width = COUNTING_BLOCKED_BITS;
    p->hashes = COUNTING_BLOCKED_WORDS;
    return tamis__rates_plan_blocks(p, spec, &COUNTING_BLOCKED_RATES);
}

/* ---- One line ---------------------------------------------------------- */

/* The counters of x, by their numbers in the line, which are written to slots[]. */
static inline counters_key counting_blocked_find(uint64_t *slots, counting_blocked_line *l,
                                                 uint32_t x)
{
    for (unsigned i = 0; i < COUNTING_BLOCKED_WORDS; i++)
        slots[i] = 16 * i | (x >> 4 * i) % 16;
    return (counters_key){ l->word, slots, COUNTING_BLOCKED_WORDS, COUNTING_BLOCKED_BITS };
}

static inline bool counting_blocked_line_has(const counting_blocked_line *l, uint32_t x)
{
    uint64_t missing = 0;

    for (unsigned i = 0; i < COUNTING_BLOCKED_WORDS; i++)
        missing |= counters_get(&l->word[i], COUNTING_BLOCKED_BITS, (x >> 4 * i) % 16) == 0;
    return !missing;
}

static inline bool counting_blocked_add_once(counting_blocked_line *l, uint32_t x,
                                             uint64_t *counted)
{
    uint64_t slots[COUNTING_BLOCKED_WORDS];

    return counters_raise(counting_blocked_find(slots, l, x), 1, counted);
}

static inline bool counting_blocked_remove_once(counting_blocked_line *l, uint32_t x,
                                                uint64_t *counted)
{
    uint64_t slots[COUNTING_BLOCKED_WORDS];

    return counters_lower(counting_blocked_find(slots, l, x), 1, counted);
}

/* ---- Operations -------------------------------------------------------- */

#define one_block_name(function) counting_blocked_##function
#define ONE_BLOCK counting_blocked_line
#define ONE_BLOCK_HAS counting_blocked_line_has
#define ONE_BLOCK_ADD counting_blocked_add_once
#define ONE_BLOCK_REMOVE counting_blocked_remove_once
#include "bloom/one_block_template.h"

static inline counters_key counting_blocked_key(uint64_t *slots, const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    return counting_blocked_find(slots, counting_blocked_block_of(f, h), (uint32_t)h);
}

static uint64_t counting_blocked_count(const tamis *f, uint64_t key)
{
    uint64_t slots[COUNTING_BLOCKED_WORDS];

    return counters_lowest(counting_blocked_key(slots, f, key));
}

static tamis_status counting_blocked_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t slots[COUNTING_BLOCKED_WORDS];

    counters_raise(counting_blocked_key(slots, f, key), times, &f->count);
    return TAMIS_OK;
}

static tamis_status counting_blocked_remove(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t slots[COUNTING_BLOCKED_WORDS];

    return counters_remove(f, counting_blocked_key(slots, f, key), times);
}

MANY_INLINE uint64_t counting_blocked_add_atomic(void *self, void *group, size_t i)
{
    one_block_batch *b = self;
    const one_block_group *g = group;
    uint64_t slots[COUNTING_BLOCKED_WORDS];

    return counters_raise_atomic(counting_blocked_find(slots, one_block_at(b, g, i), g->x[i]), 1,
                                 &b->counted);
}

static tamis_status counting_blocked_add_concurrent(tamis *f, size_t *added, const uint64_t *keys,
                                                    size_t n)
{
    one_block_batch b = one_block_change(f, keys, n, sizeof(counting_blocked_line),
                                         one_block_prepare, counting_blocked_add_atomic);

    __atomic_fetch_add(&f->count, b.counted, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

static void counting_blocked_touch(const tamis *f, uint64_t key)
{
    ahead_read(counting_blocked_block_of(f, hash_key(key, f->salt)), f->is_far);
}

/* ---- The whole filter -------------------------------------------------- */

/* Line l of the large filter falls on l / by of the small one (see scale64()), and each of its
 * counters on the same of that: what is summed up are keys of both. */
static tamis_status counting_blocked_move(tamis *f, const tamis *g)
{
    uint64_t by = g->plan.slots / f->plan.slots;
    counting_blocked_line *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.slots; i++, to++)
        for (uint64_t j = 0; j < by * COUNTING_BLOCKED_WORDS; j++) {
            uint64_t *word = &to->word[j % COUNTING_BLOCKED_WORDS];
            *word = LE_SWAP64(
                counters_sum(LE_SWAP64(*word), LE_SWAP64(*from++), COUNTING_BLOCKED_BITS));
        }
    f->count = g->count;
    return TAMIS_OK;
}

/* A key raises a given counter with probability 1 / (16 lines), lines or not. */
static void counting_blocked_measure(const tamis *f, tamis_info *info)
{
    const counting_blocked_line *lines = f->payload;
    double slots = (double)f->plan.slots, used = (double)counters_measure(f, info), fpr = 0;

    for (uint64_t i = 0; i < f->plan.slots; i++) {
        double rate = 1;
        for (int w = 0; w < COUNTING_BLOCKED_WORDS; w++)
            rate *= __builtin_popcountll(counters_in_use(lines[i].word[w], COUNTING_BLOCKED_BITS)) /
                    16.0;
        fpr += rate;
    }
    info->fill = used / (128 * slots);
    info->fpr = fpr / slots;
    info->cardinality = tamis__rates_keys(1 - info->fill, 128 * slots, 1 / (16 * slots));
}

/* ---- Pictures and words ------------------------------------------------ */

static tamis_cell counting_blocked_cell(const tamis *f, uint64_t line, uint64_t slot)
{
    const counting_blocked_line *lines = f->payload;

    return (tamis_cell){ .array = "block",
                         .number = line,
                         .index = slot,
                         .value = counters_get(lines[line].word, COUNTING_BLOCKED_BITS, slot),
                         .bits = COUNTING_BLOCKED_BITS };
}

static void counting_blocked_cells(const tamis *f, tamis_telling *t)
{
    enum { SLOTS = COUNTING_BLOCKED_WORDS * 64 / COUNTING_BLOCKED_BITS };

    for (uint64_t i = 0; i < f->plan.slots * SLOTS; i++)
        if (!tamis__tell_cell(t, counting_blocked_cell(f, i / SLOTS, i % SLOTS)))
            return;
}

static bool counting_blocked_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t slots[COUNTING_BLOCKED_WORDS];
    counters_key k = counting_blocked_key(slots, f, key);
    uint64_t line = scale64(hash_key(key, f->salt), f->plan.slots);

    tamis__tell_number(t, "block", line);
    for (unsigned i = 0; i < k.n; i++) {
        tamis_cell cell = counting_blocked_cell(f, line, slots[i]);
        tamis__tell_read(t, "counter", cell, cell.value != 0);
    }
    return tamis__tell_count(t, counters_lowest(k));
}

/* ---- For one CPU: a line in two registers, its words in their lanes ----- */

#ifdef TARGET_AVX2
TARGET_AVX2

/* Half of a line: four words, and what they say of the counters of x. */
typedef struct counting_blocked_half {
    __m256i words;
    __m256i zero, stopped; /* all bits of a word whose counter is 0, or has stopped */
    __m256i step;          /* one, in its place, for each counter that has not stopped */
} counting_blocked_half;

/* Word i has its counter at four times digit i of x. */
static inline counting_blocked_half counting_blocked_half_of(const counting_blocked_line *l,
                                                             uint32_t x, int half)
{
    const __m256i digits =
        half ? _mm256_set_epi64x(28, 24, 20, 16) : _mm256_set_epi64x(12, 8, 4, 0);
    const __m256i most = _mm256_set1_epi64x(15 * COUNTING_BLOCKED_BITS);
    __m256i four_x = _mm256_set1_epi64x((long long)((uint64_t)x * COUNTING_BLOCKED_BITS));
    __m256i shifts = _mm256_and_si256(_mm256_srlv_epi64(four_x, digits), most);
    __m256i maxima =
        _mm256_sllv_epi64(_mm256_set1_epi64x((1 << COUNTING_BLOCKED_BITS) - 1), shifts);
    counting_blocked_half h = { .words = _mm256_load_si256((const __m256i *)l->word + half) };
    __m256i counters = _mm256_and_si256(h.words, maxima);

    h.zero = _mm256_cmpeq_epi64(counters, _mm256_setzero_si256());
    h.stopped = _mm256_cmpeq_epi64(counters, maxima);
    h.step = _mm256_andnot_si256(h.stopped, _mm256_sllv_epi64(_mm256_set1_epi64x(1), shifts));
    return h;
}

static inline bool counting_blocked_no_zero(counting_blocked_half a, counting_blocked_half b)
{
    __m256i any = _mm256_or_si256(a.zero, b.zero);

    return _mm256_testz_si256(any, any);
}

/* Whether some counter has not stopped. */
static inline bool counting_blocked_counts(counting_blocked_half a, counting_blocked_half b)
{
    return !_mm256_testc_si256(_mm256_and_si256(a.stopped, b.stopped), _mm256_set1_epi64x(-1));
}

static inline bool counting_blocked_has_avx2(const counting_blocked_line *l, uint32_t x)
{
    return counting_blocked_no_zero(counting_blocked_half_of(l, x, 0),
                                    counting_blocked_half_of(l, x, 1));
}

static inline bool counting_blocked_add_avx2(counting_blocked_line *l, uint32_t x,
                                             uint64_t *counted)
{
    counting_blocked_half a = counting_blocked_half_of(l, x, 0),
                          b = counting_blocked_half_of(l, x, 1);
    __m256i *to = (__m256i *)l->word;

    _mm256_store_si256(to, _mm256_add_epi64(a.words, a.step));
    _mm256_store_si256(to + 1, _mm256_add_epi64(b.words, b.step));
    *counted += counting_blocked_counts(a, b);
    return true;
}

static inline bool counting_blocked_remove_avx2(counting_blocked_line *l, uint32_t x,
                                                uint64_t *counted)
{
    counting_blocked_half a = counting_blocked_half_of(l, x, 0),
                          b = counting_blocked_half_of(l, x, 1);
    __m256i *to = (__m256i *)l->word;

    if (!counting_blocked_no_zero(a, b))
        return false;
    _mm256_store_si256(to, _mm256_sub_epi64(a.words, a.step));
    _mm256_store_si256(to + 1, _mm256_sub_epi64(b.words, b.step));
    *counted += counting_blocked_counts(a, b);
    return true;
}

#define one_block_name(function) counting_blocked_avx2_##function
#define ONE_BLOCK counting_blocked_line
#define ONE_BLOCK_HAS counting_blocked_has_avx2
#define ONE_BLOCK_ADD counting_blocked_add_avx2
#define ONE_BLOCK_PREPARE one_block_prepare_avx2
#define ONE_BLOCK_REMOVE counting_blocked_remove_avx2
#include "bloom/one_block_template.h"

static tamis_status counting_blocked_avx2_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    if (times != 1)
        return counting_blocked_add(f, key, times);
    counting_blocked_add_avx2(counting_blocked_avx2_block_of(f, h), (uint32_t)h, &f->count);
    return TAMIS_OK;
}

static tamis_status counting_blocked_avx2_remove(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt), counted = 0;

    if (times != 1)
        return counting_blocked_remove(f, key, times);
    if (!counting_blocked_remove_avx2(counting_blocked_avx2_block_of(f, h), (uint32_t)h, &counted))
        return TAMIS_ABSENT;
    counters_forget(f, counted);
    return TAMIS_OK;
}

TARGET_END
#endif

static void counting_blocked_for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2) {
        counting_blocked_avx2_use(&f->ops);
        f->ops.add = counting_blocked_avx2_add;
        f->ops.remove = counting_blocked_avx2_remove;
    }
#endif
    (void)f, (void)cpu;
}

const tamis_ops tamis__counting_blocked = {
    COUNTERS_OPS,
    ONE_BLOCK_OPS(counting_blocked),
    .remove_many = counting_blocked_remove_many,
    .plan = counting_blocked_plan,
    .bytes = counting_blocked_bytes,
    .rate = counting_blocked_rate,
    .for_cpu = counting_blocked_for_cpu,
    .measure = counting_blocked_measure,
    .count = counting_blocked_count,
    .add = counting_blocked_add,
    .remove = counting_blocked_remove,
    .touch = counting_blocked_touch,
    .add_concurrent = counting_blocked_add_concurrent,
    .move = counting_blocked_move,
    .cells = counting_blocked_cells,
    .explain = counting_blocked_explain,
};
