/* cqf.h - the geometry of counting quotient filters, and what is done to one fingerprint. */
#ifndef TAMIS_QUOTIENT_CQF_H
#define TAMIS_QUOTIENT_CQF_H

#include "base/hash.h"
#include "base/lanes.h"
#include "filter.h"
#include "quotient/cqf_counter.h"
#include "quotient/shards.h"

/* ---- Geometry ---------------------------------------------------------- */

/* In the header of each shard, after the slots in use, four bytes are a lock. */
enum { LOCK = 8 };

/* A filter, taken apart. All but `at` and `salt` come from the plan and are in f->derived. */
typedef struct cqf_shards {
    uint8_t *at;
    uint64_t salt, fingerprints; /* fingerprints are below that */
    uint64_t slots, bytes, room; /* of each; as many slots as `room` may be in use */
    uint64_t between;            /* bytes from the last block of one to the first of the next */
    unsigned bits, width;        /* there are 2^bits shards */
    lanes lanes;
} cqf_shards;

_Static_assert(sizeof(cqf_shards) <= TAMIS_DERIVED_SIZE, "");

static inline cqf_shards cqf_shards_of(const tamis *f)
{
    cqf_shards s = *(const cqf_shards *)(const void *)f->derived;

    s.at = f->payload;
    s.salt = f->salt;
    return s;
}

/* The same with a width that the compiler knows. */
__attribute__((always_inline)) static inline cqf_shards cqf_shards_as(const tamis *f,
                                                                      unsigned width)
{
    cqf_shards s = cqf_shards_of(f);

    s.width = width;
    s.lanes = lanes_of(width);
    return s;
}

static inline runs_table cqf_shard(const cqf_shards *s, uint64_t i)
{
    return runs_table_at(s->at + i * s->bytes, s->slots, s->width);
}

/* Where a key goes: the shard, and the quotient and remainder there. */
typedef struct cqf_position {
    runs_table t;
    uint64_t quotient;
    uint32_t remainder;
} cqf_position;

static inline cqf_position cqf_position_of(const cqf_shards *s, uint64_t hash)
{
    uint64_t fingerprint = scale64(hash, s->fingerprints);
    uint64_t shard = s->bits ? hash >> (64 - s->bits) : 0;

    return (cqf_position){ cqf_shard(s, shard), (fingerprint >> s->width) - shard * s->slots,
                           (uint32_t)fingerprint & packed_mask(s->width) };
}

/* ---- One fingerprint --------------------------------------------------- */

__attribute__((always_inline)) static inline uint64_t cqf_count_at(cqf_position at)
{
    runs_run r = runs_find(at.t, at.quotient);

    return cqf_find_entry(at.t, &r, at.remainder).count;
}

/* In a shard that may use `room` slots. */
static inline tamis_status cqf_add_at(cqf_position at, uint64_t room, uint64_t times)
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

static inline tamis_status cqf_add_one_at(cqf_position at, uint64_t room)
{
    uint64_t used = runs_used(at.t);

    if (used >= room || !runs_add_at_home(at.t, at.quotient, at.remainder))
        return cqf_add_at(at, room, 1);
    runs_put_used(at.t, used + 1);
    return TAMIS_OK;
}

static inline tamis_status cqf_remove_at(cqf_position at, uint64_t times)
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
/* As has_many() of a tamis_ops, with AVX2: for batches of so few keys that eight at a time do not
 * gain. */
size_t tamis__cqf_has_few(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);
void tamis__cqf_cells(const tamis *f, tamis_telling *to);
bool tamis__cqf_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
