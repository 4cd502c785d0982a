/* shards.h - large tables of runs are cut into shards by the first bits of the hash: tables by
 * themselves, so that a change is local. What of it is the same for all kinds: how many slots there
 * are, and how many of them may be in use. */
#ifndef TAMIS_QUOTIENT_SHARDS_H
#define TAMIS_QUOTIENT_SHARDS_H

#include "base/word.h"
#include "filter.h"

/* Shards have fewer than 2^17 slots: a change shifts no more than that, one of them fits in the
 * second level of the cache, and six standard deviations are 2.4 % of the smallest. */
enum { SHARD_BITS = 17, SHARDS_LOAD_UNIT = 1000 };

static inline unsigned shards_bits(uint64_t slots)
{
    uint64_t more = slots >> SHARD_BITS;

    return more ? word_highest(more) + 1 : 0;
}

/* What differs between the kinds. */
typedef struct shards_rule {
    unsigned most_width;
    unsigned flags;  /* that a plan may have */
    double load;     /* if the spec has none */
    unsigned unused; /* slots of which one is never used, beside the one that ends every search */
    double (*rate)(const tamis_plan *p, double n);
    /* Slots that p->capacity keys take, as planned; absent: as many. */
    uint64_t (*slots_of_keys)(const tamis_plan *p);
} shards_rule;

/* Slots that a shard needs for a slot of each key: with one shard, as many as keys; else the mean
 * and six standard deviations, which one shard in a billion exceeds. */
uint64_t tamis__shards_needed(const tamis_plan *p);
/* Slots of a shard that may be in use. */
uint64_t tamis__shards_room(const tamis_plan *p, const shards_rule *rule);

/* Whether it is a geometry of the kind. */
bool tamis__shards_are_valid(const tamis_plan *p, const shards_rule *rule);
/* As plan() of a tamis_ops, but for the flags. */
tamis_status tamis__shards_plan(tamis_plan *p, const tamis_spec *spec, const shards_rule *rule);
/* As resize() of a tamis_ops: the width stays, or slots << width. */
tamis_status tamis__shards_resize(tamis_plan *p, uint64_t keys, bool keeps_width,
                                  const shards_rule *rule);
#endif
