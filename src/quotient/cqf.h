/* cqf.h - what is done to one fingerprint of a counting quotient filter. */
#ifndef TAMIS_QUOTIENT_CQF_H
#define TAMIS_QUOTIENT_CQF_H

#include "quotient/cqf_counter.h"
#include "quotient/shards.h"

/* In the header of each shard, after the slots in use, four bytes are a lock. */
enum { CQF_LOCK = 8 };

/* ---- One fingerprint --------------------------------------------------- */

__attribute__((always_inline)) static inline uint64_t cqf_count_at(shards_position at)
{
    runs_run r = runs_find(at.t, at.quotient);

    return cqf_find_entry(at.t, &r, at.remainder).count;
}

/* In a shard that may use `room` slots. */
static inline tamis_status cqf_add_at(shards_position at, uint64_t room, uint64_t times)
{
    uint32_t code[COUNTER_MOST];
    runs_run r = runs_find(at.t, at.quotient);
    cqf_entry e = cqf_find_entry(at.t, &r, at.remainder);
    uint64_t used = runs_used(at.t), count;

    if (add_overflows(e.count, times, &count))
        return TAMIS_FULL;
    unsigned n = cqf_counter_put(code, at.remainder, count, at.t.width);
    if (used + n > room + e.slots)
        return TAMIS_FULL;
    cqf_replace_entry(at.t, at.quotient, &r, &e, code, n);
    runs_put_used(at.t, used + n - e.slots);
    return TAMIS_OK;
}

static inline tamis_status cqf_add_one_at(shards_position at, uint64_t room)
{
    uint64_t used = runs_used(at.t);

    if (used >= room || !runs_add_at_home(at.t, at.quotient, at.remainder))
        return cqf_add_at(at, room, 1);
    runs_put_used(at.t, used + 1);
    return TAMIS_OK;
}

static inline tamis_status cqf_remove_at(shards_position at, uint64_t times)
{
    uint32_t code[COUNTER_MOST];
    runs_run r = runs_find(at.t, at.quotient);
    cqf_entry e = cqf_find_entry(at.t, &r, at.remainder);

    if (e.count < times)
        return TAMIS_ABSENT;
    unsigned n = cqf_counter_put(code, at.remainder, e.count - times, at.t.width);
    cqf_replace_entry(at.t, at.quotient, &r, &e, code, n);
    runs_put_used(at.t, runs_used(at.t) + n - e.slots);
    return TAMIS_OK;
}

void tamis__cqf_use_avx2(tamis_ops *ops, unsigned width);
void tamis__cqf_use_avx512(tamis_ops *ops, const tamis_plan *p);
void tamis__cqf_cells(const tamis *f, tamis_telling *to);
bool tamis__cqf_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
