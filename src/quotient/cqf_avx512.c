/* cqf_avx512.c - many lookups of cqf, eight at a time, and many removes, a block at a time. */
#include "quotient/cqf_eight_avx512.h"
#include "quotient/cqf_remove_template.h"
#include "quotient/sweep.h"

/* Remainders are bytes, and the order within a block does not matter. */
enum { BYTE = 8, BLOCKS_APART = 4, FETCH_AHEAD = 32, SLOTS_A_REMOVE = 256 };

static inline sweep_block cqf_sweep_load(const uint8_t *b)
{
    return sweep_block_of(runs_occupied(b), runs_ends(b), b[OFFSET], b + SLOTS);
}

/* Returns whether the offset of the next one has to be counted anew. */
static inline bool cqf_sweep_store(uint8_t *b, uint8_t *next, const sweep *w,
                                   const sweep_result *out)
{
    bool is_far = w->now.offset == FAR;

    put_le64(b, out->occupied);
    put_le64(b + ENDS, out->ends);
    _mm512_storeu_si512(b + SLOTS, out->slots);
    next[OFFSET] = (uint8_t)(w->now.offset - (is_far ? 0 : w->cut));
    return is_far && w->cut;
}

/* ---- One by one -------------------------------------------------------- */

/* Those that go the ordinary way, once the table is whole again. */
typedef struct cqf_odd {
    uint64_t fingerprints[MANY];
    size_t n;
} cqf_odd;

static uint64_t cqf_remove_odd(const cqf_remover *m, const cqf_odd *odd)
{
    uint64_t removed = 0;

    for (size_t i = 0; i < odd->n; i++) {
        uint64_t x = odd->fingerprints[i];
        removed += !cqf_remove_at((shards_position){ m->t, x >> BYTE, (uint8_t)x }, 1);
    }
    return removed;
}

/* ---- One pass ---------------------------------------------------------- */

typedef struct cqf_pass {
    size_t i;         /* of the group: those before it are done or odd */
    uint64_t k;       /* block */
    uint64_t removed; /* but for odd ones */
    bool is_over;     /* no more are taken: what is cut off has to come to its end */
} cqf_pass;

__attribute__((always_inline)) static inline void cqf_sweep_fetch(const cqf_remover *m,
                                                                  const sorted_group *g, size_t i)
{
    uint64_t x = sorted_at(g, i + FETCH_AHEAD < g->n ? i + FETCH_AHEAD : i) - m->least;
    const uint8_t *b = m->t.at + (x >> (BYTE + BLOCK_BITS)) * m->t.stride;

    ahead_read(b, false);
    ahead_read(b + 64, false);
}

/* Takes out what leaves block k, as far as there is room for it. */
__attribute__((always_inline)) static inline cqf_pass
cqf_sweep_block(cqf_pass p, sweep *w, const uint8_t *reach, const cqf_remover *m,
                const sorted_group *g, cqf_odd *odd)
{
    uint64_t beyond = p.k < m->t.blocks ? m->least + ((p.k + 1) * BLOCK << BYTE) : 0;
    unsigned left = SWEEP_MOST - w->cut;

    for (; p.i < g->n && sorted_at(g, p.i) < beyond; p.i++) {
        uint64_t x = sorted_at(g, p.i) - m->least;
        sweep_answer answer = SWEEP_ODD;
        p.is_over = left == 0 || odd->n == MANY;
        if (p.is_over)
            break;
        cqf_sweep_fetch(m, g, p.i);
        if (p.k * BLOCK >= m->edge)
            answer = sweep_take(w, reach, x >> BYTE & (BLOCK - 1), (uint8_t)x, true);
        p.removed += answer == SWEEP_TAKEN;
        left -= answer == SWEEP_TAKEN;
        if (answer == SWEEP_ODD)
            odd->fingerprints[odd->n++] = x;
    }
    return p;
}

/* The next one is so near that the pass goes on to it. */
static inline bool cqf_sweep_goes_on(cqf_pass p, const cqf_remover *m, const sorted_group *g)
{
    return !p.is_over && p.i < g->n && p.k < m->t.blocks &&
           (sorted_at(g, p.i) - m->least) >> BYTE < (p.k + BLOCKS_APART) * BLOCK;
}

/* As cqf_remove_some(), but for how many. Nobody can foresee how much is cut off at the end of a
 * block: that is asked last. */
static size_t cqf_sweep_some(const cqf_remover *m, const sorted_group *g, size_t i,
                             uint64_t *removed)
{
    uint64_t first = (sorted_at(g, i) - m->least) >> BYTE;
    cqf_pass p = { .i = i, .k = first / BLOCK };
    uint8_t reach[SWEEP_REACH], *b = runs_home(m->t, first);
    sweep w = { .now = cqf_sweep_load(b) };
    cqf_odd odd = { .n = 0 };
    bool is_far = false;

    do {
        uint8_t *next = runs_block(m->t, p.k + 1);
        w.next = cqf_sweep_load(next);
        __m512i ends = sweep_reach(&w, reach);
        if (!p.is_over)
            p = cqf_sweep_block(p, &w, reach, m, g, &odd);
        sweep_result out = sweep_on(&w, ends);
        is_far |= cqf_sweep_store(b, next, &w, &out);
        b = next;
        p.k++;
    } while (cqf_sweep_goes_on(p, m, g) || w.cut);
    if (is_far)
        runs_recount_offsets(m->t, first, p.k);
    runs_put_used(m->t, runs_used(m->t) - p.removed);
    *removed += p.removed + cqf_remove_odd(m, &odd);
    return p.i;
}

/* Few of them share no blocks. */
static size_t cqf_sweep_many(tamis *f, const uint64_t *keys, size_t n)
{
    if (n < f->plan.slots / SLOTS_A_REMOVE)
        return cqf_remove_all(f, keys, n, 0, cqf_remove_some);
    return cqf_remove_all(f, keys, n, BYTE + BLOCK_BITS, cqf_sweep_some);
}

/* In tables of one block, what is next is what is now. */
void tamis__cqf_use_avx512(tamis_ops *ops, const tamis_plan *p)
{
    if (p->slots <= BLOCK)
        return;
    if (p->slots <= UINT32_MAX)
        ops->has_many = cqf_has_eights;
    if (p->width == BYTE)
        ops->remove_many = cqf_sweep_many;
}
