/* cqf_avx512.c - many lookups of cqf, eight at a time, and many removes, a block at a time. */
#include "quotient/cqf_eight_avx512.h"
#include "quotient/cqf_remove_template.h"
#include "quotient/sweep.h"

/* ---- Lookups ----------------------------------------------------------- */

/* As has() of a tamis_ops, of those keys of a group. */
__attribute__((noinline)) static uint64_t cqf_has_odd_keys(const tamis *f, const uint64_t *keys,
                                                           uint64_t odd)
{
    const shards s = shards_of(f);
    uint64_t word = 0;

    for (; odd; odd &= odd - 1) {
        unsigned i = word_lowest(odd);
        uint64_t h = hash_key(keys[i], s.salt);
        word |= (uint64_t)(cqf_count_at(shards_position_of(&s, h)) != 0) << i;
    }
    return word;
}

__attribute__((noinline)) static void cqf_locate_group(cqf_group *g, const cqf_eights *t,
                                                       const uint64_t *keys, size_t n)
{
    const cqf_eights own = *t;

    g->n = n;
    g->masks = (cqf_masks){ 0 };
    for (size_t i = 0; i < n; i += CQF_EIGHT)
        cqf_locate_eight(g, &own, keys, i);
}

__attribute__((noinline)) static void cqf_find_group(cqf_group *g, const cqf_eights *t)
{
    const cqf_eights own = *t;

    for (size_t i = 0; i < g->n; i += CQF_EIGHT)
        cqf_find_eight(g, &own, i);
    for (size_t i = 0; i < g->n; i += CQF_EIGHT)
        cqf_select(g->starts + i, g->slots + i);
}

/* And asks for the next group. */
__attribute__((noinline)) static void cqf_look_group(cqf_group *g, const cqf_eights *t,
                                                     const cqf_group *next)
{
    const cqf_eights own = *t;

    for (size_t i = 0; i < MANY; i += CQF_EIGHT) {
        if (i < g->n)
            cqf_look_eight(g, &own, i);
        if (i < next->n)
            cqf_prefetch_eight(&own, next, i);
    }
}

/* The block behind the last of a shard is not the one that is meant, but is no harm. */
__attribute__((noinline)) static void cqf_prefetch_next(const cqf_eights *t, const cqf_group *g)
{
    for (uint64_t open = le64(g->masks.open); open; open &= open - 1) {
        const uint8_t *next = t->at + g->blocks[word_lowest(open)] + t->stride;
        ahead_read(next + RUNS_ENDS, t->is_far);
        ahead_read(next + RUNS_SLOTS + 8, t->is_far);
    }
}

/* The answers. */
__attribute__((noinline)) static uint64_t cqf_end_group(const cqf_eights *t, const cqf_group *g,
                                                        const tamis *f, const uint64_t *keys)
{
    uint64_t open = le64(g->masks.open), fits = 0, equal = 0, held = 0;
    uint8_t list[MANY];
    size_t n = cqf_list(list, open);

    for (size_t i = 0; i < n; i += CQF_EIGHT) {
        cqf_seen seen = cqf_look_on(t, g, cqf_eight_of(list + i), cqf_some(n - i));
        fits |= (uint64_t)seen.fits << i;
        equal |= (uint64_t)seen.equal << i;
        held |= (uint64_t)seen.held << i;
    }
    fits = le64(g->masks.fits) | _pdep_u64(fits, open);
    equal = le64(g->masks.equal) | _pdep_u64(equal, open);
    held = le64(g->masks.held) | _pdep_u64(held, open);
    uint64_t odd = (le64(g->masks.occupied) & ~fits) | (equal & ~held);
    return odd ? held | cqf_has_odd_keys(f, keys, odd) : held;
}

static size_t cqf_has_eights(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const cqf_eights t = cqf_eights_of(f);
    cqf_group groups[3];
    size_t words = (n + MANY - 1) / MANY, found = 0;

    groups[2].n = 0;
    for (size_t k = 0; k < words + 2; k++) {
        cqf_group *next = &groups[k % 3], *now = &groups[(k + 2) % 3], *last = &groups[(k + 1) % 3];
        cqf_locate_group(next, &t, keys + k * MANY, many_group(k * MANY, n));
        cqf_find_group(now, &t);
        cqf_look_group(now, &t, next);
        if (k > 0)
            cqf_prefetch_next(&t, now);
        if (k > 1) {
            hits[k - 2] = cqf_end_group(&t, last, f, keys + (k - 2) * MANY);
            found += word_ones(hits[k - 2]);
        }
    }
    return found;
}

/* ---- Removes ----------------------------------------------------------- */

/* Remainders are bytes, and the order within a block does not matter. */
enum { CQF_BYTE = 8, CQF_BLOCKS_APART = 4, CQF_FETCH_AHEAD = 32, CQF_SLOTS_A_REMOVE = 256 };

static inline sweep_block cqf_sweep_load(const uint8_t *b)
{
    return sweep_block_of(runs_occupied(b), runs_ends(b), b[RUNS_OFFSET], b + RUNS_SLOTS);
}

/* Returns whether the offset of the next one has to be counted anew. */
static inline bool cqf_sweep_store(uint8_t *b, uint8_t *next, const sweep *w,
                                   const sweep_result *out)
{
    bool is_far = w->now.offset == RUNS_FAR;

    put_le64(b, out->occupied);
    put_le64(b + RUNS_ENDS, out->ends);
    _mm512_storeu_si512(b + RUNS_SLOTS, out->slots);
    next[RUNS_OFFSET] = (uint8_t)(w->now.offset - (is_far ? 0 : w->cut));
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
        removed += !cqf_remove_at((shards_position){ m->t, x >> CQF_BYTE, (uint8_t)x }, 1);
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
    uint64_t x = sorted_at(g, i + CQF_FETCH_AHEAD < g->n ? i + CQF_FETCH_AHEAD : i) - m->least;
    const uint8_t *b = m->t.at + (x >> (CQF_BYTE + CQF_BLOCK_BITS)) * m->t.stride;

    ahead_read(b, false);
    ahead_read(b + 64, false);
}

/* Takes out what leaves block k, as far as there is room for it. */
__attribute__((always_inline)) static inline cqf_pass
cqf_sweep_block(cqf_pass p, sweep *w, const uint8_t *reach, const cqf_remover *m,
                const sorted_group *g, cqf_odd *odd)
{
    uint64_t beyond = p.k < m->t.blocks ? m->least + ((p.k + 1) * RUNS_BLOCK << CQF_BYTE) : 0;
    unsigned left = SWEEP_MOST - w->cut;

    for (; p.i < g->n && sorted_at(g, p.i) < beyond; p.i++) {
        uint64_t x = sorted_at(g, p.i) - m->least;
        sweep_answer answer = SWEEP_ODD;
        p.is_over = left == 0 || odd->n == MANY;
        if (p.is_over)
            break;
        cqf_sweep_fetch(m, g, p.i);
        if (p.k * RUNS_BLOCK >= m->edge)
            answer = sweep_take(w, reach, x >> CQF_BYTE & (RUNS_BLOCK - 1), (uint8_t)x);
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
           (sorted_at(g, p.i) - m->least) >> CQF_BYTE < (p.k + CQF_BLOCKS_APART) * RUNS_BLOCK;
}

/* As cqf_remove_some(), but for how many. Nobody can foresee how much is cut off at the end of a
 * block: that is asked last. */
static size_t cqf_sweep_some(const cqf_remover *m, const sorted_group *g, size_t i,
                             uint64_t *removed)
{
    uint64_t first = (sorted_at(g, i) - m->least) >> CQF_BYTE;
    cqf_pass p = { .i = i, .k = first / RUNS_BLOCK };
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
    if (n < f->plan.slots / CQF_SLOTS_A_REMOVE)
        return cqf_remove_all(f, keys, n, 0, cqf_remove_some);
    return cqf_remove_all(f, keys, n, CQF_BYTE + CQF_BLOCK_BITS, cqf_sweep_some);
}

/* In tables of one block, what is next is what is now. */
void tamis__cqf_use_avx512(tamis_ops *ops, const tamis_plan *p)
{
    if (p->slots <= RUNS_BLOCK)
        return;
    if (p->slots <= UINT32_MAX)
        ops->has_many = cqf_has_eights;
    if (p->width == CQF_BYTE)
        ops->remove_many = cqf_sweep_many;
}
