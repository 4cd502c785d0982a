/* scattered.h - what the kinds of scattered bits do alike: see scattered_template.h. */
#ifndef TAMIS_BLOOM_SCATTERED_H
#define TAMIS_BLOOM_SCATTERED_H

#include <math.h>

#include "bloom/probes.h"

static inline uint64_t scattered_rows(const tamis *f)
{
    return probes_derived(f)->step ? f->plan.hashes : 1;
}

/* ---- Adds -------------------------------------------------------------- */

MANY_INLINE void scattered_set_key(tamis *f, probes_shape s, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt), base = 0;
    void *bits = f->payload;

    for (uint32_t i = s.hashes; i > 0; i--) {
        bitset_set(bits, base + scale64(x, s.range));
        base += s.step;
        x = probes_next(x);
    }
}

typedef void scattered_set(void *bits, uint64_t pos);

/* Sets one round of bits while the next one is being fetched, or the first of the next row. */
MANY_INLINE void scattered_set_many(tamis *f, probes_shape s, const uint64_t *keys, size_t n,
                                    scattered_set *set)
{
    uint64_t salt = f->salt;
    uint32_t rounds = s.hashes;
    uint8_t *bits = f->payload;
    bool is_far = f->is_far;
    size_t here = probes_abreast(n), done = 0;
    probes_row r;

    for (size_t i = 0; i < here; i++)
        ahead_write(bits + probes_start(&r, i, hash_key(keys[i], salt), s.range) / 8, is_far);
    while (here) {
        uint64_t base = 0;
        for (uint32_t round = 1; round < rounds; round++) {
            base += s.step;
            for (size_t i = 0; i < here; i++) {
                uint64_t now = r.pos[i];
                ahead_write(bits + probes_step(&r, i, base, s.range) / 8, is_far);
                set(bits, now);
            }
        }
        done += here;
        size_t coming = probes_abreast(n - done);
        for (size_t i = 0; i < here; i++) {
            uint64_t now = r.pos[i];
            if (i < coming)
                ahead_write(bits + probes_start(&r, i, hash_key(keys[done + i], salt), s.range) / 8,
                            is_far);
            set(bits, now);
        }
        here = coming;
    }
}

/* ---- Pictures and words ------------------------------------------------ */

/* Rows if there are several, else one array. */
static tamis_cell scattered_cell(const tamis *f, uint64_t pos)
{
    bool is_row = probes_derived(f)->step != 0;
    uint64_t row = is_row ? pos / f->plan.slots : 0;

    return (tamis_cell){ .array = is_row ? "row" : "bits",
                         .number = row,
                         .index = pos - row * f->plan.slots,
                         .value = bitset_get(f->payload, pos),
                         .bits = 1 };
}

static void scattered_cells(const tamis *f, tamis_telling *t)
{
    uint64_t bits = f->plan.slots * scattered_rows(f);

    for (uint64_t pos = 0; pos < bits && tamis__tell_cell(t, scattered_cell(f, pos)); pos++)
        continue;
}

static bool scattered_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t pos[PROBES_MAX];
    bool found = true;

    probes_find(pos, f, *probes_derived(f), key);
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        found &= bitset_tell_bit(t, scattered_cell(f, pos[i]));
    return bitset_tell_answer(t, found);
}

/* ---- The whole filter -------------------------------------------------- */

/* Position p of a large row falls on p / by of the small one: see scale64(). Rows that f does not
 * have are left out. */
static tamis_status scattered_move(tamis *f, const tamis *g)
{
    uint64_t small = f->plan.slots, large = g->plan.slots, rows = scattered_rows(f);

    if (small == large) {
        memcpy(f->payload, g->payload, (size_t)f->plan.bytes);
        for (uint64_t i = rows * small; i < 8 * f->plan.bytes; i++)
            bitset_put_atomic(f->payload, i, false);
    }
    for (uint64_t row = 0; small < large && row < rows; row++)
        bitset_fold(f->payload, row * small, g->payload, row * large, large, large / small);
    f->count = g->count;
    return TAMIS_OK;
}

static const char *scattered_verify(const tamis *f)
{
    return bitset_verify_end(f->payload, f->plan.slots * scattered_rows(f));
}

/* Each row is a witness of its own: rates multiply, estimates are averaged. Where there is one row,
 * all probes of a key go there. */
static void scattered_measure(const tamis *f, tamis_info *info)
{
    uint64_t slots = f->plan.slots, rows = scattered_rows(f);
    double w = (double)slots, keys = 0, fill = 0, fpr = 1, probes = f->plan.hashes / (double)rows;

    for (uint64_t row = 0; row < rows; row++) {
        double set = (double)bitset_ones(f->payload, row * slots, (row + 1) * slots) / w;
        fill += set;
        fpr *= pow(set, probes);
        keys += tamis__rates_keys(1 - set, w, 1 / w);
    }
    info->fill = fill / (double)rows;
    info->fpr = fpr;
    info->cardinality = keys / f->plan.hashes;
}

/* What the tables of these kinds have in common. */
#define SCATTERED_OPS                                                                             \
    .traits = TAMIS_TRAIT_ONLY_SETS_BITS | TAMIS_TRAIT_BITS, .bytes = scattered_name(bytes),      \
    .for_cpu = scattered_name(for_cpu), .verify = scattered_verify, .measure = scattered_measure, \
    .has = scattered_name(has), .add = scattered_name(add), .has_many = scattered_name(has_many), \
    .add_many = scattered_name(add_many), .add_concurrent = scattered_name(add_concurrent),       \
    .merge = bitset_merge, .reduce = bitset_reduce, .move = scattered_move,                       \
    .cells = scattered_cells, .explain = scattered_explain

#endif
