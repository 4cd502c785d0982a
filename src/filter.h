/* filter.h - the contract between the core and the kinds.
 *
 * A kind is one table of functions, a tamis_ops. A function that is missing is an ability that the
 * kind does not have.
 *
 * The core checks arguments, abilities and read-only state, compares plans and allocates. A kind
 * does arithmetic on its payload and keeps f->count true. It may rely on this:
 *
 *  - f->plan passed bytes(): every number in it is one that the kind itself accepts.
 *  - f->payload has plan.bytes bytes, 64-byte aligned, little-endian, with no pointer in it. Zeros
 *    are the empty filter.
 *  - Calls on a `const tamis *` must not trust the payload: a view may hold any bytes. Loops and
 *    indexes are bounded by the plan. Calls that change a filter see only payloads that verify()
 *    accepted.
 *
 * In return, only the functions of the table give the bytes of a payload a meaning. The core
 * clears, copies and checksums them as a whole, and does so in core/memory.c and
 * core/image_*.c alone. */
#ifndef TAMIS_FILTER_H
#define TAMIS_FILTER_H

#include "tamis_adapt.h"
#include "tamis_values.h"

/* ---- What a kind is ---------------------------------------------------- */

/* Facts about a kind that no function shows. */
enum tamis_trait {
    /* Keys. */
    TAMIS_TRAIT_ONLY_SETS_BITS = 1 << 0, /* adding never clears a bit; add_concurrent() is atomic */
    TAMIS_TRAIT_BUILDS_SETS = 1 << 1,    /* build by add() after removing duplicates */
    TAMIS_TRAIT_KEEPS_COPIES = 1 << 2,   /* each copy of a key takes a slot */
    TAMIS_TRAIT_TAKES_VALUES = 1 << 3,   /* a value with each key, to solve() or add(); get() */
    TAMIS_TRAIT_TAKES_EXCLUDED = 1 << 4, /* solve() gets keys, and others to tell them from */
    TAMIS_TRAIT_ONE_PART = 1 << 5,       /* solve() fills the whole payload, however large */
    /* Growth. */
    TAMIS_TRAIT_GROWS = 1 << 6,        /* always; others grow if plan.flags has TAMIS_PLAN_GROWS */
    TAMIS_TRAIT_GROWS_COUNTS = 1 << 7, /* always, but only to hold higher counts */
    TAMIS_TRAIT_KEEPS_RATE = 1 << 18,  /* however far it grows; but not one that asks for keys */
    /* Options of a tamis_spec that plan() obeys, and notes in plan.flags. */
    TAMIS_TRAIT_CAN_GROW = 1 << 8,
    TAMIS_TRAIT_CAN_DELETE_EXACTLY = 1 << 9,
    TAMIS_TRAIT_COUNTER_BITS = 1 << 10, /* plan.width, where counts stop */
    TAMIS_TRAIT_KEEPS_LOAD = 1 << 11,   /* in plan.load */
    TAMIS_TRAIT_BITS = 1 << 12,         /* bits and hashes */
    TAMIS_TRAIT_QUOTIENT_BITS = 1 << 13,
    TAMIS_TRAIT_TAG_BITS = 1 << 14,
    /* Words. explain() tells a "fingerprint", and then the cells that it is the xor of: */
    TAMIS_TRAIT_IS_PEELED = 1 << 15,     /* up to 8, by peeling */
    TAMIS_TRAIT_IS_ELIMINATED = 1 << 16, /* ascending, in a band of 64, by linear equations */
    /* Choice. The kind is the classic form of an idea that another kind does better: it is taught,
     * drawn and tested as all are, but chosen only if it is asked for. */
    TAMIS_TRAIT_TO_STUDY = 1 << 17,
};

/* How far counts can be trusted. */
typedef struct tamis_limits {
    uint64_t ceiling; /* where counts stop for good; 0: nowhere, or where TRAIT_COUNTER_BITS says */
    double error;     /* of a sketch with one slot, as a share of all adds: see tamis_plan */
} tamis_limits;

/* ---- Kinds that are read and written in order -------------------------- */

/* Where a walk through a filter is. The kind uses at[] as it likes; it starts as zeros. */
typedef struct tamis_cursor {
    const tamis *f;
    uint64_t fingerprint, count; /* the current one; exact kinds: the key, and 1 */
    uint64_t value;              /* of the key, in kinds that take values */
    unsigned bits;               /* of a whole hash: its first that adaptations look at, or 0 */
    unsigned told;               /* its first that tell it from all others that were there, or 0 */
    tamis_status status;         /* why it ended, if not at the end: to be looked at after it */
    uint64_t at[6];
} tamis_cursor;

/* Where the writing of a filter is. */
typedef struct tamis_writer {
    tamis *f;      /* empty when the writing starts */
    unsigned bits; /* of what is appended next: as in tamis_cursor */
    unsigned told; /* as there, if what was beside it may go; else 0 */
    uint64_t at[8];
} tamis_writer;

/* The room in one range of fingerprints. There are 2^range_bits ranges of equal length, and each is
 * full by itself. */
typedef struct tamis_room {
    unsigned range_bits;
    uint64_t used, free; /* slots */
    uint64_t needed;     /* upper bound on slots used by that many copies of one fingerprint */
} tamis_room;

/* ---- Kinds that are solved from all keys ------------------------------- */

/* A hash and the value that came with its key. */
typedef struct tamis_entry {
    uint64_t hash, value;
} tamis_entry;

/* Kinds with TAMIS_TRAIT_TAKES_EXCLUDED are solved twice: a sieve of the keys, then the rest, which
 * tells keys (value 1) from others that pass the sieve (value 0). If plan.flags has
 * TAMIS_PLAN_INVERTED, the sieve is of the others. get() tells whether a key passes the sieve. */
enum tamis_stage { TAMIS_STAGE_SIEVE = 0, TAMIS_STAGE_REST = 1 };

/* Threads that share the work of a solve(). */
typedef void tamis_piece(void *ctx, size_t piece, unsigned worker);
typedef struct tamis_team {
    unsigned workers;
    void *ctx;
    /* Does all pieces. Workers, numbered from 0, take them in ascending order, so that one may wait
     * for those before it; there may be fewer workers than were hoped for. */
    void (*run)(const struct tamis_team *t, tamis_piece *do_piece, void *ctx, size_t pieces);
} tamis_team;

/* Somebody who is told what a filter does: see explain.h. */
typedef struct tamis_telling tamis_telling;

/* ---- The table --------------------------------------------------------- */

typedef struct tamis_ops {
    unsigned traits; /* TAMIS_TRAIT_ bits */
    tamis_limits limits;

    /* Plans. All of these are pure. */
    tamis_status (*plan)(tamis_plan *p, const tamis_spec *spec); /* sets slots, width, hashes */
    uint64_t (*bytes)(const tamis_plan *p);        /* of payload; 0: no geometry of this kind */
    double (*rate)(const tamis_plan *p, double n); /* at n keys; NULL: exact, 0 */
    /* Another size: sets slots, width, hashes and capacity, never bytes and fpr, which the core
     * works out after it. TAMIS_RANGE: there is none.
     *  in order (next and append): slots << width stays or, with whole hashes, the width. Room for
     *                              `keys` keys; `keys` twice the capacity and one more fit in twice
     *                              the slots.
     *  others:                     one step larger, a sixteenth in solved kinds; or other hashes
     *                              first, if the plan has any. `keys` means nothing. */
    tamis_status (*resize)(tamis_plan *p, uint64_t keys);

    /* The choice of code: replaces functions of f->ops by those for this plan and for a CPU with
     * these TAMIS_CPU_ flags, and fills f->derived. Called whenever a filter gets a plan, and again
     * when it was solved, loaded, mapped or copied. Only then f->payload is not NULL, and functions
     * may be chosen by what it holds. */
    void (*for_cpu)(tamis *f, unsigned cpu);

    /* The payload as a whole. */
    const char *(*verify)(const tamis *f); /* why it is damaged, or NULL; absent: never */
    /* Sets cardinality, fill, fpr and saturated from the payload; absent: from the count. */
    void (*measure)(const tamis *f, tamis_info *info);

    /* What a key becomes on its way to solve(); parts and buckets are cut by its leading bits.
     * Absent: its hash. Kinds that have it rely on the order of keys, and take raw ones alone; of
     * exact ones, these are below plan.capacity. */
    uint64_t (*item)(const tamis *f, uint64_t key);

    /* One key. Kinds without count() see 1 as `times`, others never 0 and no sum above 2^64 - 1.
     * Kinds that take values see a value there, and another one if the key is in. */
    bool (*has)(const tamis *f, uint64_t key); /* required */
    bool (*get)(const tamis *f, uint64_t *value, uint64_t key);
    uint64_t (*count)(const tamis *f, uint64_t key);
    tamis_status (*add)(tamis *f, uint64_t key, uint64_t times);
    tamis_status (*remove)(tamis *f, uint64_t key, uint64_t times);

    /* Many keys. Absent: core/batch.c calls the function for one key, with touch() ahead. */
    void (*touch)(const tamis *f, uint64_t key); /* prefetch what has() will read first */
    size_t (*has_many)(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);
    void (*count_many)(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n);
    /* In order. On failure, *added keys are in and the rest is not. */
    tamis_status (*add_many)(tamis *f, size_t *added, const uint64_t *keys, size_t n);
    size_t (*remove_many)(tamis *f, const uint64_t *keys, size_t n); /* returns how many */
    tamis_status (*add_concurrent)(tamis *f, size_t *added, const uint64_t *keys, size_t n);

    /* Two filters. Plans of merge() and reduce() are equal, but merge() of kinds with resize()
     * takes any plan.width, and both take any size of exact kinds with resize(). The sum of the
     * counts is below 2^64. Of a key with two values, merge() keeps that of g, reduce() that of f.
     */
    tamis_status (*merge)(tamis *f, const tamis *g);
    /* TAMIS_INTERSECT or, in kinds with remove(), TAMIS_SUBTRACT. Kinds in order need none. */
    tamis_status (*reduce)(tamis *f, const tamis *g, tamis_operation op);
    /* TAMIS_CANNOT, if plan() was not asked for it. */
    tamis_status (*dot)(const tamis *f, uint64_t *product, const tamis *g);
    /* Puts all that g holds into f, which is empty and of another size: larger, by resize(); or, in
     * kinds without resize(), smaller by a whole factor of slots or, where bytes()
     * depends on hashes, by rows, of which it takes the first. TAMIS_FULL: no room.
     */
    tamis_status (*move)(tamis *f, const tamis *g);

    /* In order of fingerprints: scale64(hash_key(key), slots << width); of hashes in adaptive kinds
     * with append(), of keys in exact ones. */
    bool (*next)(tamis_cursor *c); /* false: the end, which comes whatever the payload holds */
    /* Adds copies of a fingerprint that is higher than all before, and keeps f->count true;
     * TAMIS_FULL: no room. A count of 0 ends the writing. Until then f answers nothing. */
    tamis_status (*append)(tamis_writer *w, uint64_t fingerprint, uint64_t count);
    /* Also of kinds that grow and whose copies take no slots of their own, with one range. */
    tamis_room (*room)(const tamis *f, uint64_t range, uint64_t copies);

    /* From all keys at once, instead of add(). The payload is 2^part_bits(capacity) parts of one
     * size (a multiple of 64 bytes) and one geometry. Part i holds the keys whose hash starts with
     * the bits of i, and is a small filter by itself (base/parts.h).
     *
     * solve() fills a zeroed part; f has a plan, but perhaps no payload. It gets all items of the
     * part, hashes or tamis_entry, in groups of equal leading bits, perhaps with duplicates, in an
     * array that it may overwrite. The bytes that it makes depend on the set of items alone, and
     * not on the team, which is NULL if there is none. It sets *n to the number of distinct hashes.
     * It fails with TAMIS_FULL if the geometry is too small: the core then takes a plan that
     * resize() has made a step larger, and starts again, up to eight times. TAMIS_CONFLICT: one
     * hash has two values. TAMIS_RANGE: a value has more bits than planned. */
    tamis_status (*solve)(const tamis *f, enum tamis_stage stage, void *part, void *items,
                          size_t *n, void *scratch, const tamis_team *team);
    /* Bytes for solve(), with so many workers. */
    uint64_t (*scratch)(const tamis_plan *p, enum tamis_stage stage, uint64_t n, unsigned workers);

    /* Adaptive kinds: changes all places where has() takes the key for one that is there, after
     * which it is taken for that no more or, as tamis_adapt.h says, seldom. TAMIS_PRESENT: it is
     * this very key. */
    tamis_status (*adapt)(tamis *f, uint64_t key);
    /* Adaptive kinds: leaves what the keys alone would have made. Others: forgets the oldest keys,
     * as add() does, too, but not before capacity. */
    tamis_status (*forget)(tamis *f);

    /* Pictures and words: see explain.h. Absent: none, and the answer alone. cells() tells every
     * cell, explain() what has() does, and answers as that does. */
    void (*cells)(const tamis *f, tamis_telling *t);
    bool (*explain)(const tamis *f, uint64_t key, tamis_telling *t);
} tamis_ops;

/* Fingerprints in next() and append() are hash_key(). A plan may have TAMIS_PLAN_ASKS_KEYS. */
static inline bool ops_have_whole_hashes(const tamis_ops *ops)
{
    return ops->append && ops->adapt;
}

/* Keys come with a value, one after the other. */
static inline bool ops_put(const tamis_ops *ops)
{
    return ops->add && ops->traits & TAMIS_TRAIT_TAKES_VALUES;
}

/* ---- A filter ---------------------------------------------------------- */

enum { TAMIS_DERIVED_SIZE = 96 };

/* A line of text that comes with a filter; none if it is empty. */
typedef struct tamis_note {
    uint64_t time; /* when it was written, in seconds since 1970 */
    char text[TAMIS_NOTE_MAX + 1];
} tamis_note;

/* What a lookup reads comes first, in two lines of the cache. */
struct tamis {
    bool (*has)(const tamis *f, uint64_t key); /* ops.has, where tamis_has() in tamis.h finds it */
    void *payload;
    uint64_t salt;     /* mixed from the seed: see hash_key() in base/hash.h */
    bool is_far;       /* ask ahead for lines by way of the second cache: see base/ahead.h */
    bool can_only_add; /* tamis_add() calls add(), and TAMIS_FULL is its last word: f does not grow
                        */
    /* A struct of the kind's own: what for_cpu() works out of the plan for all calls. No member of
     * it needs more alignment than this, which every malloc() gives. */
    _Alignas(uint64_t) unsigned char derived[TAMIS_DERIVED_SIZE];
    tamis_ops ops; /* for this plan and this CPU */
    tamis_plan plan;
    uint64_t count; /* adds minus removes; distinct keys in exact kinds */
    unsigned cpu;   /* TAMIS_CPU_ flags that ops was chosen for */
    bool readonly;
    const uint8_t *image; /* of views and maps: all of it; else NULL */
    size_t image_size;
    void *block; /* what the payload came from: heap block or mapping */
    size_t block_size;
    void (*drop)(tamis *f); /* gives the block back; NULL when it is borrowed */
    tamis_allocator alloc;
    tamis_note note;
    tamis_keys *keys; /* where keys are asked for, if the plan says so; NULL: nowhere yet */
    void *keys_ctx;

    /* Writable maps (os/file.c). */
    tamis_status (*unseal)(tamis *f); /* before each change; NULL: f is no writable map */
    bool sealed;                      /* the file is whole */
    int lost;                         /* errno of what could not be synced; 0: nothing */
    int fd;
};

_Static_assert(_Alignof(tamis) <= 8, "an allocator may align to 8 bytes only");

/* Memory for the time of a call, from where the payload comes from; NULL if there is none. A size
 * is worked out in 64 bits, and may be more than a machine of 32 can address. */
void *tamis__scratch_new(const tamis *f, uint64_t size);
void tamis__scratch_free(const tamis *f, void *block, uint64_t size);

/* Up to 64 lookups, one by one: for a has_many() that gains nothing where keys are few. */
size_t tamis__batch_has_few(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);

/* Lets other threads go on, one of which holds what is waited for. */
void tamis__yield(void);

/* The kind's table, or NULL. */
const tamis_ops *tamis__ops(tamis_kind kind);

/* Its place among all kinds, from the fastest lookup on; of a number that is no kind, the last. */
int tamis__kind_rank(tamis_kind kind);

/* The functions for a machine with only these instruction sets. The core calls it with those of
 * the real one; tests and benchmarks with fewer. */
void tamis__use_cpu(tamis *f, unsigned cpu);

/* ---- Conversions ------------------------------------------------------- */

/* Makes a filter of kind `to` with the answers of f, which was verified. */
typedef tamis_status tamis_converter(tamis **out, tamis_kind to, const tamis *f,
                                     const tamis_allocator *a);

/* A row of core/kinds.c, which lists them all. */
typedef struct tamis_conversion {
    tamis_kind from, to;
    tamis_converter *convert;
    /* Optional, for pairs: brings `to` in step with `from` after one key was added or removed,
     * while others read `to`. */
    void (*follow)(tamis *to, const tamis *from, uint64_t key);
} tamis_conversion;

/* The row, or NULL; and the row of a kind that has a follow(). */
const tamis_conversion *tamis__conversion(tamis_kind from, tamis_kind to);
const tamis_conversion *tamis__plain_conversion(tamis_kind from);

#endif
