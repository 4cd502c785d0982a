/* filter.h - the contract between the core and the kinds.
 *
 * The core (src/core) validates arguments, checks abilities and read-only state, compares plans and
 * allocates. A kind does arithmetic on its payload and keeps f->count true. It may rely on this:
 *
 *  - f->plan passed bytes(): every number in it is one that the kind itself accepts.
 *  - f->payload has plan.bytes bytes, 64-byte aligned, little-endian, with no pointer in it.
 *  - The payload's content is NOT to be trusted in calls on a `const tamis *`: a view may hold any
 *    bytes. Loops and indexes are bounded by the plan. Calls that change a filter run on payloads
 *    that verify() accepted. */
#ifndef TAMIS_FILTER_H
#define TAMIS_FILTER_H

#include "tamis.h"

/* The best kernels for a CPU; an absent one is replaced by the kind's has() and the loops of
 * core/batch.c. */
typedef struct tamis_batch {
    bool (*has)(const tamis *f, uint64_t key);
    size_t (*has_many)(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);
    void (*add_many)(tamis *f, const uint64_t *keys, size_t n); /* kinds whose add cannot fail */
    /* Other kinds: in order, as by add(); but see ops.rearranges. */
    tamis_status (*try_add_many)(tamis *f, size_t *added, const uint64_t *keys, size_t n);
    size_t (*remove_many)(tamis *f, const uint64_t *keys, size_t n); /* returns how many */
    void (*count_many)(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n);
} tamis_batch;

/* How a static kind is made. Its payload is 2^part_bits(capacity) parts of one size (a multiple of
 * 64 bytes) and one geometry; part i holds the keys whose place() starts with the bits of i, and is
 * a small filter by itself (base/parts.h).
 *
 * solve() fills a zeroed part. It gets all hashes of the part, in any order within groups of equal
 * leading bits, perhaps with duplicates, in an array that it may spoil; the bytes that it makes
 * depend on the set alone. It sets *n to the number of distinct hashes. It cannot fail but for
 * TAMIS_FULL: more keys than part_room(), or a geometry that stays unlucky whatever the seed; the
 * core then takes a plan that enlarge() has made a step larger, and starts again. */
typedef struct tamis_solver {
    size_t (*scratch)(const tamis_plan *p, size_t n); /* bytes that solve() needs for n hashes */
    tamis_status (*solve)(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n,
                          void *scratch);
    void (*enlarge)(tamis_plan *p);
} tamis_solver;

/* A hash and what came with its key. */
typedef struct tamis_entry {
    uint64_t hash, value;
} tamis_entry;

/* As tamis_solver, for parts made from pairs. TAMIS_CONFLICT: two of them have one hash and not one
 * value. */
typedef struct tamis_pair_solver {
    size_t (*scratch)(const tamis_plan *p, size_t n);
    tamis_status (*solve)(const tamis_plan *p, void *part, tamis_entry *pairs, size_t *n,
                          void *scratch);
} tamis_pair_solver;

/* How a kind is made whose keys come with values, and gives them back. */
typedef struct tamis_mapper {
    const tamis_pair_solver *solver;
    bool (*get)(const tamis *f, uint64_t *value, uint64_t key);
    unsigned (*value_bits)(const tamis_plan *p); /* that values have at most */
    void (*enlarge)(tamis_plan *p);
} tamis_mapper;

/* How a kind is made that tells its keys from certain others. A sieve is solved from either the
 * keys or, in a plan that is inverted, the others; the rest, from those and from all the other ones
 * that pass the sieve, with 1 as the value of keys and 0 as that of others. */
typedef struct tamis_splitter {
    const tamis_pair_solver *sieve; /* values mean nothing */
    bool (*passes)(const tamis *f, uint64_t key);
    const tamis_pair_solver *rest;
    bool (*is_inverted)(const tamis_plan *p);
    void (*enlarge)(tamis_plan *p);
} tamis_splitter;

/* Ordered kinds hold the fingerprint of each key, scale64(place(key), slots << width), with a
 * count, and can be read and written from the lowest to the highest in one pass. The core merges,
 * multiplies, resizes and lists them by that. Kinds use at[] as they like; it starts as zeros. */
typedef struct tamis_cursor {
    const tamis *f;
    uint64_t print, count; /* where it is */
    uint64_t at[4];
} tamis_cursor;

typedef struct tamis_writer {
    tamis *f; /* empty when the writing starts */
    uint64_t at[4];
} tamis_writer;

typedef struct tamis_ordered {
    /* Goes to the next fingerprint; false: there is none. Ends whatever the payload holds. */
    bool (*next)(tamis_cursor *c);
    /* Adds count copies of a fingerprint higher than all before, and keeps f->count true.
     * TAMIS_FULL: no room. Between calls, and before finish(), f answers nothing. */
    tamis_status (*append)(tamis_writer *w, uint64_t print, uint64_t count);
    void (*finish)(tamis_writer *w);
    /* Slots, width and capacity that hold `keys` keys, with slots << width as it was: twice the
     * capacity and one more fits in twice the slots. Pure. */
    tamis_status (*resize)(tamis_plan *p, uint64_t keys);
    bool (*grows)(const tamis_plan *p); /* spec.can had TAMIS_CAN_GROW */
    /* Slots in use: no union needs more than the sum of them. */
    uint64_t (*used)(const tamis *f);
    /* Optional. Ranges, 2^bits of them, into which fingerprints are cut evenly and which are full
     * each by itself; slots of one that are free. Default: one range, and copies up to capacity. */
    unsigned (*range_bits)(const tamis_plan *p);
    uint64_t (*room)(const tamis *f, uint64_t range);
    /* That many copies of a fingerprint take no more slots, nor do they beside others of it. */
    uint64_t (*slots)(const tamis_plan *p, uint64_t count);
} tamis_ordered;

/* How kinds become larger that are not ordered. */
typedef struct tamis_grower {
    bool (*grows)(const tamis_plan *p); /* spec.can had TAMIS_CAN_GROW, or the kind always does */
    /* Slots, width, hashes and capacity of the next size; TAMIS_RANGE: there is none. Pure. */
    tamis_status (*larger)(tamis_plan *p);
    /* Puts all that g holds into f, which is empty and of a later size than g, and its count.
     * TAMIS_FULL: no room; f is then thrown away and a larger one tried. */
    tamis_status (*move)(tamis *f, const tamis *g);
    bool for_counts; /* higher ones alone: not what TAMIS_CAN_GROW promises */
    /* Whether two plans differ in no more than that: merge() then takes both; default: never. */
    bool (*are_alike)(const tamis_plan *a, const tamis_plan *b);
} tamis_grower;

typedef struct tamis_ops {
    /* Required. plan() and bytes() are pure. */
    tamis_status (*plan)(tamis_plan *p, const tamis_spec *spec); /* sets slots, width, hashes */
    uint64_t (*bytes)(const tamis_plan *p); /* of payload; 0: no geometry of this kind */
    bool (*has)(const tamis *f, uint64_t key);

    /* Optional, with a default. */
    double (*rate)(const tamis_plan *p, double n); /* at n keys; default: exact, 0 */
    /* Of counts, as a share of all adds (tamis_plan_error()): sketches, which are never full. */
    double (*error)(const tamis_plan *p);
    void (*init)(tamis *f);                /* default: zeros are the empty filter */
    const char *(*verify)(const tamis *f); /* why not; default: any payload is valid */
    /* Sets cardinality, fill, fpr and saturated from the payload; default: from the count. */
    void (*measure)(const tamis *f, tamis_info *info);
    bool indexed; /* keys are below plan.capacity */

    /* Abilities: NULL means TAMIS_CANNOT. In merge and intersect, plans are equal. */
    tamis_status (*add)(tamis *f, uint64_t key);
    tamis_status (*build)(tamis *f, const uint64_t *keys, size_t n); /* default: add one by one */
    bool builds_sets; /* instead: by add, each key once; copies would crowd (core/set.h) */
    const tamis_solver *solver; /* of static kinds, instead of add and build */
    bool whole;                 /* there is one part, however many keys */
    const tamis_mapper *mapper; /* of kinds that need more than keys, instead of all these */
    const tamis_splitter *splitter;
    tamis_status (*remove)(tamis *f, uint64_t key);
    uint64_t (*count)(const tamis *f, uint64_t key);
    /* Needed beside count, where there is add or remove. `times` is not 0, and f->count has room
     * for it. */
    tamis_status (*add_times)(tamis *f, uint64_t key, uint64_t times);
    tamis_status (*remove_times)(tamis *f, uint64_t key, uint64_t times);
    /* Where counts stop for good, so that removes of such a key must not change it; default: never.
     * f->count leaves out what is not counted. */
    uint64_t (*ceiling)(const tamis_plan *p);
    bool counter_bits;   /* plan() obeys spec.counter_bits */
    bool counts_vary;    /* with the order of adds, within their bounds */
    bool may_undercount; /* in rare cases, but never to 0 */
    bool rearranges;   /* try_add_many() makes a filter that answers as by add(), of other bytes */
    bool exact_delete; /* plan() obeys TAMIS_CAN_EXACT_DELETE: remove() then knows strangers */
    tamis_status (*merge)(tamis *f, const tamis *g);
    tamis_status (*intersect)(tamis *f, const tamis *g);
    /* TAMIS_CANNOT, if plan() was not asked for it. */
    tamis_status (*dot)(const tamis *f, uint64_t *product, const tamis *g);
    tamis_status (*list)(const tamis *f, tamis_visit *visit, void *ctx);
    void (*fold)(tamis *f, const tamis *g, uint64_t by); /* f is empty, its slots are g's / by */
    const tamis_ordered *ordered;                        /* instead of merge, dot, list, grower */
    const tamis_grower *grower;
    void (*rotate)(tamis *f); /* of kinds that forget: also by add(), not before plan.capacity */
    /* To the kind without counts that has the same slots and hashes, and width 0: kinds.c knows
     * which. reduce() sets all bits of f, which is empty. follow() sets and clears those of a key
     * of which g has just got one more or less, so that others may read f meanwhile. */
    void (*reduce)(tamis *f, const tamis *g);
    void (*follow)(tamis *f, const tamis *g, uint64_t key);
    /* The way back, of a static kind: fit() sets what a plan of this kind, with the slots and
     * hashes of g, needs for the payload of g, and pack() fills f, which is empty. TAMIS_FULL: the
     * plan must be enlarged. */
    tamis_status (*fit)(tamis_plan *p, const tamis *g);
    tamis_status (*pack)(tamis *f, const tamis *g);
    tamis_status (*add_shared)(tamis *f, size_t *added, const uint64_t *keys, size_t n);
    bool only_sets_bits; /* atomically, in add_shared: what makes readers and writable maps safe */

    /* Speed. */
    void (*touch)(const tamis *f, uint64_t key); /* prefetch what has() will read first */
    const tamis_batch *(*batch)(unsigned cpu);   /* kernels for a set of TAMIS_CPU_ flags */
    /* Fills f->numbers, and may replace f->has by code for just this plan. */
    void (*prepare)(tamis *f, unsigned cpu);
} tamis_ops;

struct tamis {
    const tamis_ops *ops;
    const tamis_batch *batch; /* chosen once, when the filter is made */
    bool (*has)(const tamis *f, uint64_t key);
    uint64_t numbers[6]; /* what the kind works out of the plan once, for all lookups */
    tamis_plan plan;
    uint64_t count; /* adds minus removes; distinct keys in exact kinds */
    uint64_t salt;  /* mixed from the seed: see place() in base/hash.h */
    void *payload;
    bool readonly;
    bool sealed;          /* a writable map whose file is whole: unseal before changing */
    bool lost;            /* a writable map that could not be synced */
    int fd;               /* of a writable map, else -1 */
    const uint8_t *image; /* of views and maps: all of it; else NULL */
    size_t image_size;
    void *block; /* what the payload came from: heap block or mapping */
    size_t block_size;
    void (*drop)(tamis *f); /* gives the block back; NULL when it is borrowed */
    tamis_allocator alloc;
};

/* Memory for the time of a call, from where the payload comes from; NULL if there is none. */
void *tamis__scratch_new(const tamis *f, size_t size);
void tamis__scratch_free(const tamis *f, void *block, size_t size);

/* The kind's table, or NULL. */
const tamis_ops *tamis__ops(tamis_kind kind);

/* What ops.reduce makes of a kind, and which kind has the ops.pack that takes it. */
tamis_kind tamis__reduced_kind(tamis_kind kind);
tamis_kind tamis__packed_kind(tamis_kind kind);

/* For tests and benchmarks: answer as a machine with only these instruction sets would. */
void tamis__use_cpu(tamis *f, unsigned cpu);

#endif
