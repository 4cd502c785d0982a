/* shards.h - large tables of runs are cut into shards by the first bits of the hash: tables by
 * themselves, so that a change is local. What is the same for all kinds: how many slots there are,
 * how many of them may be in use, where a key belongs, and how shards follow each other in order.
 */
#ifndef TAMIS_QUOTIENT_SHARDS_H
#define TAMIS_QUOTIENT_SHARDS_H

#include "filter.h"
#include "quotient/runs_lookup.h"
#include "quotient/runs_writer.h"

/* ---- Sizes ------------------------------------------------------------- */

/* Shards have fewer than 2^17 slots: a change shifts no more than that, one of them fits in the
 * second level of the cache, and six standard deviations are 2.4 % of the smallest. */
enum { SHARDS_SLOT_BITS = 17, SHARDS_LOAD_UNIT = 1000 };

static inline unsigned shards_bits(uint64_t slots)
{
    uint64_t more = slots >> SHARDS_SLOT_BITS;

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

/* ---- A filter, taken apart --------------------------------------------- */

/* Of aleph, too, which has one shard of any size. All but `at` and `salt` comes from the plan and
 * is in f->derived. */
typedef struct shards {
    uint8_t *at;
    uint64_t salt, fingerprints; /* fingerprints are below that */
    uint64_t slots, bytes, room; /* of each; as many slots as `room` may be in use */
    uint64_t between;            /* bytes from the last block of one to the first of the next */
    uint64_t beside;             /* bytes from its start to 8 for each slot; 0: there are none */
    unsigned bits, width;        /* there are 2^bits shards; of a remainder */
    lanes lanes;                 /* of slots */
} shards;

_Static_assert(sizeof(shards) <= TAMIS_DERIVED_SIZE, "");

/* Fills f->derived: there are 2^bits shards, remainders have `width` bits and slots `slot_bits`,
 * and `beside` tells whether each has 8 bytes besides. */
void tamis__shards_derive(tamis *f, unsigned bits, unsigned width, unsigned slot_bits,
                          uint64_t room, bool beside);

static inline shards shards_of(const tamis *f)
{
    shards s = *(const shards *)(const void *)f->derived;

    s.at = f->payload;
    s.salt = f->salt;
    return s;
}

static inline runs_table shards_table(const shards *s, uint64_t i)
{
    return runs_table_at(s->at + i * s->bytes, s->slots, s->lanes.width);
}

/* ---- Where a key belongs ----------------------------------------------- */

static inline uint64_t shards_number(const shards *s, uint64_t hash)
{
    return s->bits ? hash >> (64 - s->bits) : 0;
}

/* In the table of its shard. */
typedef struct shards_position {
    runs_table t;
    uint64_t quotient;
    uint32_t remainder;
} shards_position;

static inline shards_position shards_position_of(const shards *s, uint64_t hash)
{
    uint64_t fingerprint = scale64(hash, s->fingerprints), shard = shards_number(s, hash);

    return (shards_position){ shards_table(s, shard), (fingerprint >> s->width) - shard * s->slots,
                              (uint32_t)fingerprint & packed_mask(s->width) };
}

/* ---- Lookups ----------------------------------------------------------- */

/* The remainder is in the upper bits of a slot. Blocks follow each other evenly but for what is
 * between the last of a shard and the first of the next. */
MANY_INLINE runs_place shards_locate(const shards *s, uint64_t key)
{
    uint64_t h = hash_key(key, s->salt), fingerprint = scale64(h, s->fingerprints);
    uint64_t q = fingerprint >> s->width, shard = h >> 1 >> (63 - s->bits);
    uint64_t offset = q / RUNS_BLOCK * runs_stride(s->lanes.width) + shard * s->between;

    return (runs_place){ .block = s->at + RUNS_HEADER + offset,
                         .wanted = ((uint32_t)fingerprint & packed_mask(s->width))
                                   << (s->lanes.width - s->width),
                         .quotient = q % RUNS_BLOCK };
}

/* As has() of a tamis_ops; what the compiler knows of s, it makes use of. */
MANY_INLINE bool shards_has(const tamis *f, shards s, uint64_t key, runs_look *look,
                            runs_has_odd *has_odd)
{
    runs_place at = shards_locate(&s, key);
    int seen = look(&s.lanes, &at);

    if (seen == 0)
        return word_no();
    return seen < 0 ? has_odd(f, key) : true;
}

/* What has_many() works with, and places of keys: while the blocks of 64 keys are looked at, those
 * of the next 64 are on their way. */
typedef struct shards_lookups {
    const tamis *f;
    const shards *s;
    runs_look *look;
    runs_has_odd *has_odd;
} shards_lookups;

typedef struct shards_group {
    runs_place at[MANY];
    const uint64_t *keys;
} shards_group;

MANY_INLINE void shards_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const shards_lookups *l = self;
    shards_group *g = group;

    g->keys = keys;
    for (size_t i = 0; i < n; i++)
        g->at[i] = shards_locate(l->s, keys[i]);
}

MANY_INLINE void shards_fetch_place(const void *self, const void *group, size_t i)
{
    const shards_lookups *l = self;
    const runs_place *at = &((const shards_group *)group)->at[i];

    runs_fetch(at->block, at->quotient, l->s->lanes.width);
}

MANY_INLINE uint64_t shards_look_at(void *self, void *group, size_t i)
{
    const shards_lookups *l = self;
    const shards_group *g = group;
    int seen = l->look(&l->s->lanes, &g->at[i]);

    return (uint64_t)(seen < 0 ? l->has_odd(l->f, g->keys[i]) : seen);
}

/* As has_many() of a tamis_ops. */
MANY_INLINE size_t shards_has_many(const tamis *f, shards s, uint64_t *hits, const uint64_t *keys,
                                   size_t n, runs_look *look, runs_has_odd *has_odd)
{
    const shards_lookups l = { f, &s, look, has_odd };
    shards_group groups[2];

    return many_lookups(&l, hits, keys, n, &groups[0], &groups[1], shards_prepare,
                        shards_fetch_place, shards_look_at, NULL);
}

MANY_INLINE void shards_fetch(const shards *s, uint64_t hash)
{
    shards_position p = shards_position_of(s, hash);

    runs_fetch(runs_home(p.t, p.quotient), p.quotient % RUNS_BLOCK, s->lanes.width);
}

/* For loops that go key by key: where key i belongs. The hash of the one which comes a group later
 * takes the place of its hash, and the block of that is fetched. */
MANY_INLINE shards_position shards_position_ahead(uint64_t hashes[MANY], const shards *s,
                                                  const uint64_t *keys, size_t i, size_t n)
{
    for (size_t k = 0; i == 0 && k < many_group(0, n); k++) {
        hashes[k] = hash_key(keys[k], s->salt);
        shards_fetch(s, hashes[k]);
    }
    uint64_t hash = hashes[i % MANY];
    if (n - i > MANY) {
        hashes[i % MANY] = hash_key(keys[i + MANY], s->salt);
        shards_fetch(s, hashes[i % MANY]);
    }
    return shards_position_of(s, hash);
}

/* ---- In order ---------------------------------------------------------- */

/* at[0] of a cursor or a writer: the shard. The rest is about where it is in there. */

static inline void shards_turn(uint64_t *at, size_t size, uint64_t shard)
{
    memset(at, 0, size);
    at[0] = shard;
}

/* at[1] to at[3]: where the runs_writer of the shard is. */
static inline runs_writer shards_writer(const tamis_writer *w, const shards *s)
{
    return runs_writer_at(shards_table(s, w->at[0]), w->at[1], w->at[2], w->at[3]);
}

static inline void shards_put_writer(tamis_writer *w, const runs_writer *to)
{
    w->at[1] = to->after;
    w->at[2] = to->i;
    w->at[3] = to->is_around;
}

/* The open shard is whole; on to another. */
static inline void shards_end_writer(tamis_writer *w, const shards *s, uint64_t next)
{
    runs_writer to = shards_writer(w, s);

    runs_writer_end(&to);
    shards_turn(w->at, sizeof w->at, next);
}

/* As room() of a tamis_ops, for copies that need so many slots. */
tamis_room tamis__shards_room_in(const tamis *f, uint64_t range, uint64_t needed);

#endif
