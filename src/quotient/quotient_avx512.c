/* quotient_avx512.c - many removes of quotient, a block at a time: see sweep.h.
 *
 * Planes say of slots what sweep.h says of runs: a run ends where the slot after it does not
 * continue it, a slot is shifted where the depth is not zero, and used where it is shifted or
 * occupied. Depths are not stored; they are counted from a slot on that is not shifted. */
#include "base/many.h"
#include "quotient/quotient.h"
#include "quotient/sorted.h"
#include "quotient/sweep.h"

/* Remainders are bytes, and the order within a block does not matter. */
enum { BYTE = 8, BLOCK_BITS = 6, BLOCKS_APART = 4, FETCH_AHEAD = 32, SLOTS_A_REMOVE = 64 };

/* ---- Blocks ------------------------------------------------------------ */

/* Block k, or k - last - 1. */
static inline uint8_t *quotient_around(const quotient_table *t, uint64_t k)
{
    while (k > t->last)
        k -= t->last + 1;
    return quotient_block(t, k);
}

static inline uint64_t quotient_ends(const quotient_table *t, uint64_t k)
{
    const uint8_t *block = quotient_around(t, k);
    uint64_t next = le64(quotient_around(t, k + 1) + CONTINUED);

    return quotient_used_slots(block) & ~(le64(block + CONTINUED) >> 1 | next << 63);
}

static inline sweep_block quotient_sweep_load(const quotient_table *t, uint64_t k)
{
    const uint8_t *block = quotient_around(t, k);

    return sweep_block_of(le64(block + OCCUPIED), quotient_ends(t, k), 0, block + REMAINDERS);
}

/* `before`: 1 if the run in the slot before goes on. Returns that for the next block. */
static inline uint64_t quotient_sweep_store(uint8_t *block, const sweep_result *x, uint64_t before)
{
    uint64_t used = ~x->level | x->occupied, goes_on = used & ~x->ends;

    put_le64(block + OCCUPIED, x->occupied);
    put_le64(block + CONTINUED, used & (goes_on << 1 | before));
    put_le64(block + SHIFTED, ~x->level);
    _mm512_storeu_si512(block + REMAINDERS, x->slots);
    return goes_on >> 63;
}

/* Slots from a position on, up to the n-th end there and including it. */
__attribute__((noinline)) static uint64_t quotient_nth_end(const quotient_table *t, uint64_t from,
                                                           uint64_t n)
{
    uint64_t k = from / BLOCK_SLOTS;
    uint64_t ends = quotient_ends(t, k) & ~word_below(from % BLOCK_SLOTS);

    for (; n > word_ones(ends); ends = quotient_ends(t, ++k))
        n -= word_ones(ends);
    return k * BLOCK_SLOTS + word_select(ends, (unsigned)n - 1) + 1 - from;
}

/* ---- One pass ---------------------------------------------------------- */

typedef struct quotient_pass {
    size_t i;         /* of the group: those before it are done or odd */
    uint64_t k;       /* block */
    uint64_t depth;   /* of its first quotient, as it was */
    uint64_t removed; /* but for odd ones */
    bool is_over;     /* no more are taken: what is cut off has to come to its end */
} quotient_pass;

/* Those that go the ordinary way, once the table is whole again. */
typedef struct quotient_odd {
    uint64_t fingerprints[MANY];
    size_t n;
} quotient_odd;

static uint64_t quotient_remove_odd(tamis *f, const quotient_odd *odd)
{
    uint64_t removed = 0;

    for (size_t i = 0; i < odd->n; i++)
        removed += !tamis__quotient_take_out(f, odd->fingerprints[i], 1);
    return removed;
}

__attribute__((always_inline)) static inline void
quotient_sweep_fetch(const quotient_table *t, const sorted_group *g, size_t i)
{
    uint64_t x = sorted_at(g, i + FETCH_AHEAD < g->n ? i + FETCH_AHEAD : i);
    const uint8_t *b = quotient_block(t, x >> (BYTE + BLOCK_BITS));

    ahead_read(b, false);
    ahead_read(b + 64, false);
}

/* Takes out what leaves block k, as far as there is room for it. */
__attribute__((always_inline)) static inline quotient_pass
quotient_sweep_block(quotient_pass p, sweep *w, const uint8_t *reach, const quotient_table *t,
                     const sorted_group *g, quotient_odd *odd)
{
    uint64_t beyond = p.k <= t->last ? (p.k + 1) * BLOCK_SLOTS << BYTE : 0;
    unsigned left = SWEEP_MOST - w->cut;

    for (; p.i < g->n && sorted_at(g, p.i) < beyond; p.i++) {
        uint64_t x = sorted_at(g, p.i);
        p.is_over = left == 0 || odd->n == MANY;
        if (p.is_over)
            break;
        quotient_sweep_fetch(t, g, p.i);
        sweep_answer answer =
            sweep_take(w, reach, x >> BYTE & (BLOCK_SLOTS - 1), (uint8_t)x, false);
        p.removed += answer == SWEEP_TAKEN;
        left -= answer == SWEEP_TAKEN;
        if (answer == SWEEP_ODD)
            odd->fingerprints[odd->n++] = x;
    }
    return p;
}

/* The next one is so near that the pass goes on to it. */
static inline bool quotient_sweep_goes_on(quotient_pass p, const quotient_table *t,
                                          const sorted_group *g)
{
    return !p.is_over && p.i < g->n && p.k <= t->last &&
           sorted_at(g, p.i) >> BYTE < (p.k + BLOCKS_APART) * BLOCK_SLOTS;
}

/* The depth at the start of the next block. */
static inline uint64_t quotient_next_depth(quotient_pass p, const sweep *w, const uint8_t *reach,
                                           const quotient_table *t)
{
    unsigned runs = word_ones(w->now.occupied);
    uint64_t end = p.depth;

    if (runs)
        end = reach[runs] < UINT8_MAX
                  ? reach[runs]
                  : p.depth + quotient_nth_end(t, p.k * BLOCK_SLOTS + p.depth, runs);
    return end > BLOCK_SLOTS ? end - BLOCK_SLOTS : 0;
}

static inline unsigned quotient_offset(uint64_t depth)
{
    return depth < UINT8_MAX ? (unsigned)depth : UINT8_MAX;
}

/* From i on, beginning with a block whose first slot is not shifted. Returns where it got to.
 * Nobody can foresee how much is cut off at the end of a block: that is asked last. */
static size_t quotient_sweep_from(tamis *f, const sorted_group *g, size_t i, uint64_t k,
                                  uint64_t *removed)
{
    quotient_table t = quotient_table_of(f);
    quotient_pass p = { .i = i, .k = k };
    uint64_t first = sorted_at(g, i) >> (BYTE + BLOCK_BITS);
    sweep w = { .now = quotient_sweep_load(&t, k) };
    uint64_t goes_on = 0;
    uint8_t reach[SWEEP_REACH];
    quotient_odd odd = { .n = 0 };

    do {
        w.next = quotient_sweep_load(&t, p.k + 1);
        __m512i ends = sweep_reach(&w, reach);
        if (!p.is_over)
            p = quotient_sweep_block(p, &w, reach, &t, g, &odd);
        p.depth = quotient_next_depth(p, &w, reach, &t);
        w.next.offset = quotient_offset(p.depth);
        sweep_result out = sweep_on(&w, ends);
        goes_on = quotient_sweep_store(quotient_around(&t, p.k), &out, goes_on);
        p.k++;
    } while (p.k <= first || quotient_sweep_goes_on(p, &t, g) || w.cut);
    f->count -= p.removed;
    *removed += p.removed + quotient_remove_odd(f, &odd);
    return p.i;
}

/* Those before the first slot that is not shifted are pushed aside by runs that go around. */
static size_t quotient_sweep_some(tamis *f, const sorted_group *g, size_t i, uint64_t *removed)
{
    quotient_table t = quotient_table_of(f);
    uint64_t k = sorted_at(g, i) >> (BYTE + BLOCK_BITS);

    while (k && quotient_bit(&t, SHIFTED, k * BLOCK_SLOTS))
        k--;
    if (!quotient_bit(&t, SHIFTED, k * BLOCK_SLOTS))
        return quotient_sweep_from(f, g, i, k, removed);
    *removed += !tamis__quotient_take_out(f, sorted_at(g, i), 1);
    return i + 1;
}

/* ---- All --------------------------------------------------------------- */

/* Few of them share no blocks. */
static size_t quotient_sweep_many(tamis *f, const uint64_t *keys, size_t n)
{
    bool pays = n >= MANY && n >= f->plan.slots / SLOTS_A_REMOVE;
    uint64_t removed = 0;
    sorted_keys s;
    size_t all;

    if (!pays || !tamis__sorted_new(&s, f, n, 0))
        return tamis__quotient_remove_many(f, keys, n);
    tamis__sorted_count(&s, &all, 0, keys, n);
    tamis__sorted_deal(&s, keys, n);
    for (size_t group = 0; group < (size_t)1 << s.bits; group++) {
        sorted_group g = tamis__sorted_group(&s, group, BYTE + BLOCK_BITS);
        for (size_t i = 0; i < g.n;)
            i = quotient_sweep_some(f, &g, i, &removed);
    }
    tamis__sorted_free(f, &s);
    return (size_t)removed;
}

/* In tables of whole blocks. Of one block, what is next is what is now. */
void tamis__quotient_use_avx512(tamis_ops *ops, const tamis_plan *p)
{
    if (p->width == BYTE && p->slots > BLOCK_SLOTS && p->slots % BLOCK_SLOTS == 0)
        ops->remove_many = quotient_sweep_many;
}
