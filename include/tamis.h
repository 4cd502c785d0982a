/* tamis.h - approximate membership filters: is this key in that set?
 *
 * A filter is made in three steps, and data flows one way: spec -> plan -> filter -> image.
 *
 *     tamis_spec spec = TAMIS_SPEC(.keys = 1000000, .fpr = 0.01);   what is wanted
 *     tamis_plan plan;                                              what it will take
 *     tamis *f;
 *     if (tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec) || tamis_new(&f, &plan, NULL))
 *         return 1;
 *     if (tamis_add(f, tamis_key(f, "hello", 5)))
 *         return 1;
 *     bool present = tamis_has(f, tamis_key(f, "hello", 5));
 *     tamis_free(f);
 *
 * Rules for every function, unless it says otherwise:
 *  - Pointers are not NULL. A size follows its array. Sizes are in bytes, counts in items.
 *  - The filter comes first, then outputs, then inputs; a new filter comes before all.
 *  - A function that can fail returns tamis_status. On failure, outputs and filter are as they
 *    were before the call. A function that cannot fail returns its answer.
 *  - Calls taking `const tamis *` may run at the same time on one filter. Other calls need the
 *    filter for themselves. Two filters never share anything. A table in docs/c.md has all that
 *    may run at the same time, and what to take if that is not enough.
 *  - The library does not print, exit, abort or keep global state.
 *  - A struct that starts with its size may get more fields, at its end, in later versions. No
 *    other struct changes before the number of the shared library does. So a program runs with
 *    every later library of that number, compiled or linked anew or not.
 *
 * This header needs no operating system, and neither do tamis_adapt.h, for filters that learn
 * from their mistakes, tamis_values.h, for maps that change, and tamis_explain.h, for pictures of
 * filters. Five more do: tamis_file.h saves, loads and maps; tamis_builder.h is for sets larger
 * than memory, tamis_disk.h for filters larger than memory, tamis_pair.h for a filter that many
 * read and one changes, tamis_shared.h for one that many change. */
#ifndef TAMIS_H
#define TAMIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#define TAMIS_CHECKED __attribute__((warn_unused_result))
#else
#define TAMIS_API
#define TAMIS_CHECKED
#endif

#define TAMIS_VERSION "0.1.0"

#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0
/* For #if: 203 is 0.2.3, and 10000 is 1.0.0. */
#define TAMIS_VERSION_NUMBER \
    (10000 * TAMIS_VERSION_MAJOR + 100 * TAMIS_VERSION_MINOR + TAMIS_VERSION_PATCH)

/* The version of the library in use, which may differ from that of the header. */
TAMIS_API const char *tamis_version(void);

/* ---- Kinds ------------------------------------------------------------- */

/* Constant, number, symbol, name, summary: the whole registration of a kind. Numbers are stored in
 * images: append, never change, never reuse. 18 was a kind that is gone. */
#define TAMIS_KINDS(X)                                                                             \
    X(BITMAP, 1, bitmap, "bitmap", "exact set of small integers, one bit per possible key")        \
    X(HASHSET, 2, hashset, "hashset", "exact set of 64-bit keys, open addressing")                 \
    X(BLOOM, 3, bloom, "bloom", "classic Bloom filter, k bits anywhere in one array")              \
    X(PARTITIONED, 4, partitioned, "partitioned", "Bloom filter with one row of bits per hash")    \
    X(BLOCKED, 5, blocked, "blocked", "Bloom filter that reads one cache line per key")            \
    X(XOR, 6, xor, "xor", "static filter, 22 % above the smallest, reads three slots")             \
    X(XORPLUS, 7, xorplus, "xorplus", "static filter, a xor filter without most of its zeros")     \
    X(FUSE, 8, fuse, "fuse", "static filter, 13 % above the smallest, reads two lines")            \
    X(FUSE4, 9, fuse4, "fuse4", "static filter, 8 % above the smallest, reads two lines")          \
    X(RIBBON, 10, ribbon, "ribbon", "static, by linear equations, close to the least space")       \
    X(GCS, 11, gcs, "gcs", "Golomb-coded set: static, small and slow")                             \
    X(CASCADE, 12, cascade, "cascade", "exact over a known universe, arbitrary outside it")        \
    X(MAP, 13, map, "map", "static map from keys to values of 1 to 32 bits")                       \
    X(QUOTIENT, 14, quotient, "quotient",                                                          \
      "quotient filter: forgets, resizes and lists fingerprints")                                  \
    X(CQF, 15, cqf, "cqf", "counting quotient filter: counts, forgets, grows, lists")              \
    X(CUCKOO, 16, cuckoo, "cuckoo", "cuckoo filter of windows: forgets, small and quick")          \
    X(CUCKOO_BUCKETS, 17, cuckoo_buckets, "cuckoo-buckets",                                        \
      "cuckoo filter with buckets of four: counts to seven, forgets")                              \
    X(MORTON, 19, morton, "morton", "cuckoo filter of packed cache lines: forgets and grows")      \
    X(ALEPH, 20, aleph, "aleph", "grows from any size to any other at one rate, and forgets")      \
    X(FUSE5, 21, fuse5, "fuse5", "static filter, 5 % above the smallest, reads two lines")         \
    X(COUNTING, 22, counting, "counting", "Bloom filter of counters: counts and forgets")          \
    X(COUNTING_BLOCKED, 23, counting_blocked, "counting-blocked",                                  \
      "counting Bloom filter that reads one cache line per key")                                   \
    X(SPECTRAL, 24, spectral, "spectral", "spectral Bloom filter: how often was a key added?")     \
    X(SPECTRAL_MI, 25, spectral_mi, "spectral-mi", "spectral, closer counts, forgets nothing")     \
    X(SPECTRAL_RM, 26, spectral_rm, "spectral-rm", "spectral, closer counts, forgets keys")        \
    X(COUNTMIN, 27, countmin, "countmin", "Count-Min sketch: how often, in memory set beforehand") \
    X(COMPRESSED, 28, compressed, "compressed",                                                    \
      "static Bloom filter, sized and coded to be sent: small and slow")                           \
    X(SCALABLE, 29, scalable, "scalable", "Bloom filter for any number of keys, in stages")        \
    X(WINDOW, 30, window, "window", "Bloom filter of the latest keys, forgets older ones")         \
    X(AQF, 31, aqf, "aqf", "adaptive quotient filter: makes no mistake twice that it is told of")  \
    X(ACF, 32, acf, "acf", "adaptive cuckoo filter: takes mistakes back, counts strangers")        \
    X(HASHMAP, 33, hashmap, "hashmap", "exact map from 64-bit keys to 64-bit values, changes")

typedef enum tamis_kind {
    TAMIS_NO_KIND = 0,
#define TAMIS_X(constant, number, symbol, name, summary) TAMIS_##constant = number,
    TAMIS_KINDS(TAMIS_X)
#undef TAMIS_X
} tamis_kind;

/* What a kind can do, then what it is: constant, bit, name, meaning. */
#define TAMIS_ABILITIES(X)                                                                        \
    X(CAN_ADD, 1u << 0, "add", "takes keys one by one")                                           \
    X(CAN_BUILD, 1u << 1, "build", "is made from all its keys at once")                           \
    X(CAN_REMOVE, 1u << 2, "remove", "forgets keys that were added")                              \
    X(CAN_COUNT, 1u << 3, "count", "tells how often a key was added")                             \
    X(CAN_MERGE, 1u << 4, "merge", "becomes the union with another")                              \
    X(CAN_INTERSECT, 1u << 5, "intersect", "keeps what another holds too")                        \
    X(CAN_LIST, 1u << 6, "list", "names the keys it holds")                                       \
    X(CAN_FOLD, 1u << 7, "fold", "shrinks by an integer factor")                                  \
    X(CAN_ADD_CONCURRENT, 1u << 8, "concurrent-add", "takes keys from several threads at a time") \
    X(CAN_GET, 1u << 9, "get", "gives the value that came with a key")                            \
    X(CAN_EXCLUDE, 1u << 10, "exclude", "never takes a listed other key for one of its own")      \
    X(CAN_READ_WHILE_ADD, 1u << 11, "read-while-add", "answers while other threads add")          \
    X(CAN_RESIZE, 1u << 12, "resize", "takes another size, without keys")                         \
    X(CAN_GROW, 1u << 13, "grow", "makes room by itself, if asked to")                            \
    X(CAN_EXACT_DELETE, 1u << 14, "exact-delete", "removes no key it does not hold, if asked to") \
    X(CAN_CONVERT, 1u << 15, "convert", "becomes a filter of another kind, without keys")         \
    X(CAN_ROTATE, 1u << 18, "rotate", "forgets its oldest keys by itself")                        \
    X(CAN_DOT, 1u << 19, "dot", "multiplies with another, if asked to")                           \
    X(CAN_ADAPT, 1u << 20, "adapt", "takes back a false positive that it is told of")             \
    X(CAN_ASK_KEYS, 1u << 21, "ask-keys",                                                         \
      "keeps no keys beside it and asks for them, if so planned")                                 \
    X(CAN_PUT, 1u << 22, "put", "takes keys with values one by one, and other values for them")   \
    X(IS_EXACT, 1u << 16, "exact", "never takes one key for another")                             \
    X(IS_INDEXED, 1u << 17, "indexed", "keys are integers below its capacity")                    \
    X(IS_TO_STUDY, 1u << 23, "to-study", "is the classic form of what another kind does better")

enum {
#define TAMIS_X(constant, bit, name, meaning) TAMIS_##constant = bit,
    TAMIS_ABILITIES(TAMIS_X)
#undef TAMIS_X
};

/* The kind with the next higher number; TAMIS_NO_KIND comes before the first and after the last. A
 * library may be built with some kinds only (docs/architecture.md): others are skipped, and images
 * of them are TAMIS_CANNOT. */
TAMIS_API tamis_kind  tamis_kind_next(tamis_kind kind);
TAMIS_API const char *tamis_kind_name(tamis_kind kind);    /* NULL if unknown */
TAMIS_API const char *tamis_kind_summary(tamis_kind kind); /* NULL if unknown */
TAMIS_API bool        tamis_kind_find(tamis_kind *kind, const char *name);
/* TAMIS_CAN_ and TAMIS_IS_ flags, or 0. "If asked to" means: if it is in spec.can. */
TAMIS_API unsigned tamis_kind_can(tamis_kind kind);

/* ---- Status ------------------------------------------------------------ */

/* Constant, number, text. */
#define TAMIS_STATUSES(X)                                                        \
    X(OK, 0, "ok")                                                               \
    X(NOMEM, 1, "out of memory")                                                 \
    X(FULL, 2, "the filter is full")                                             \
    X(RANGE, 3, "a number is outside what this kind can do")                     \
    X(CANNOT, 4, "this kind cannot do that")                                     \
    X(READONLY, 5, "the filter is read-only")                                    \
    X(MISMATCH, 6, "the filters differ in kind, size or hash")                   \
    X(ABSENT, 7, "the key is not in the filter")                                 \
    X(FOREIGN, 8, "not a tamis filter")                                          \
    X(CORRUPT, 9, "the filter is damaged")                                       \
    X(NEWER, 10, "written by a newer version of tamis")                          \
    X(DIRTY, 11, "its writer stopped before it was synced")                      \
    X(BUSY, 12, "another program is writing to it")                              \
    X(IO, 13, "input/output error")                                              \
    X(UNSYNCED, 14, "saved, but the disk did not confirm that the name is kept") \
    X(STOPPED, 15, "stopped on request")                                         \
    X(CONFLICT, 16, "a key has two values")                                      \
    X(PRESENT, 17, "the key is in the filter")

typedef enum tamis_status {
#define TAMIS_X(constant, number, text) TAMIS_##constant = number,
    TAMIS_STATUSES(TAMIS_X)
#undef TAMIS_X
} tamis_status;

/* Text for people, never NULL. After TAMIS_IO and TAMIS_UNSYNCED, errno tells more. */
TAMIS_API const char *tamis_status_text(tamis_status status);

/* ---- Keys -------------------------------------------------------------- */

/* A key is a 64-bit number. Bytes become a key here, once. Two inputs with the same key add
 * n / 2^64 to the false positive rate of a filter of n keys. tamis_plan_rate() always counts that;
 * plans do if it is more than a thousandth of the rate asked for.
 *  fast   XXH3-64 with a seed: for keys from people you trust. The same on every machine.
 *  keyed  SipHash-2-4 with a secret: outsiders who do not know it cannot choose colliding keys.
 *  raw    the key is the 64-bit integer given, as eight little-endian bytes. */
typedef enum tamis_hash { TAMIS_FAST = 0, TAMIS_KEYED = 1, TAMIS_RAW = 2 } tamis_hash;

typedef struct tamis_hasher {
    tamis_hash hash;
    uint64_t   seed;       /* fast: part of the hash; all three: where keys are placed */
    uint8_t    secret[16]; /* keyed only: not all zeros, from getrandom() or the like */
} tamis_hasher;

/* In raw mode, longer input is cut to eight bytes and shorter input padded with zeros. */
TAMIS_API uint64_t tamis_hasher_key(const tamis_hasher *hasher, const void *data, size_t size);

/* ---- Plans ------------------------------------------------------------- */

/* What is wanted, made by TAMIS_SPEC(). A field that is zero asks for nothing: no fpr and no
 * max_bytes gives 1 %, no fpr with max_bytes the best rate that fits, no keys with max_bytes as
 * many as fit.
 *
 * From bits to tag_bits, fields are for those who know the geometry they want; kinds that have no
 * such number answer TAMIS_CANNOT. No fpr with tag_bits, or with bits and keys, is the rate that
 * they give. No keys with bits or quotient_bits is as many as fit.
 *
 * A filter that grows keeps its rate up to grow_to keys, and is full there if its kind cannot grow
 * further at that rate: fingerprints that give a bit to each doubling are planned longer. Images do
 * not have grow_to: a loaded filter keeps the rate up to there too, but is not full there. Without
 * grow_to, such a kind grows until its bits are given, at a rate that doubles with its size; where
 * no kind is named, one is chosen that grows without end at the rate. */
typedef struct tamis_spec {
    size_t   size; /* of this struct: later versions may add fields */
    uint64_t keys; /* held at most; for indexed kinds, keys are 0 .. keys - 1 */
    double   fpr;  /* highest false positive rate at that load, from 2^-64, below 1 */
    uint64_t max_bytes;
    double   load;             /* share of slots that the keys take; ignored by kinds without it */
    unsigned can;              /* abilities needed */
    uint32_t value_bits;       /* of values, for TAMIS_CAN_GET kinds only: 1 .. 32; in
                                * TAMIS_CAN_PUT kinds, values have 64 whatever this says */
    uint64_t     universe;     /* keys and excluded ones, of kinds that exclude or adapt only */
    uint32_t     counter_bits; /* of counters: 1 .. 16, and 4 if 0; for Bloom counters only */
    double       error;        /* sketches only: see tamis_plan */
    tamis_hasher hasher;
    uint64_t     bits;          /* or counters: of a Bloom filter, in all its rows or blocks */
    uint32_t     hashes;        /* of a Bloom filter, 1 .. 64 */
    uint32_t     quotient_bits; /* a quotient filter has 2^quotient_bits slots */
    uint32_t     tag_bits;      /* of what is kept of a key: tag, remainder or fingerprint */
    uint64_t     grow_to;       /* keys that it may grow to, at fpr; asks for TAMIS_CAN_GROW */
} tamis_spec;

/* An initializer: tamis_spec spec = TAMIS_SPEC(.keys = 1000, .fpr = 0.01); */
#define TAMIS_SPEC(...)                         \
    {                                           \
        .size = sizeof(tamis_spec), __VA_ARGS__ \
    }

/* Options of a plan. */
enum {
    TAMIS_PLAN_GROWS = 1 << 0,        /* the filter makes room by itself: TAMIS_CAN_GROW */
    TAMIS_PLAN_EXACT_DELETE = 1 << 1, /* remove() knows what is not there: TAMIS_CAN_EXACT_DELETE */
    TAMIS_PLAN_SUMS = 1 << 2,         /* a sketch that can be multiplied: TAMIS_CAN_DOT */
    TAMIS_PLAN_INVERTED = 1 << 3,     /* TAMIS_CAN_EXCLUDE: there are more keys than others */
    TAMIS_PLAN_ASKS_KEYS = 1 << 4,    /* the keys are elsewhere: TAMIS_CAN_ASK_KEYS */
};

/* What it will take. Made by the library; callers read it.
 *
 * `ceiling` is where tamis_count() stops. A key that has come that far may stay, unless its kind
 * counts further than it tells: later adds and removes of it succeed and change nothing.
 *
 * `error` is of sketches, which count any number of keys in memory that does not grow. After N
 * adds, repeated ones included, a count is never below the truth and, with probability 1 -
 * spec.fpr, above it by no more than error * N. spec.error is the highest that will do; other kinds
 * refuse it: TAMIS_CANNOT. With spec.error, plan.fpr is the false positive rate of tamis_has() at
 * plan.capacity distinct keys, which is spec.keys or, if that is 0, as many as spec.fpr allows.
 * Without it, spec.keys and spec.fpr mean what they do in other kinds; up to that many distinct
 * keys, all but a share of spec.fpr of the counts are exact. */
typedef struct tamis_plan {
    tamis_kind   kind;
    tamis_hasher hasher;
    uint64_t     capacity;
    double       fpr;   /* expected at capacity */
    uint64_t     bytes; /* of payload, exactly */
    uint64_t     slots; /* slots, width and hashes mean what the kind says */
    uint32_t     width, hashes;
    uint16_t     flags;       /* TAMIS_PLAN_ options */
    uint16_t     load;        /* thousandths of slots that the keys take; 0: the kind decides */
    uint64_t     ceiling;     /* of counts; 2^64 - 1: none */
    double       error;       /* of counts, as a share of all adds; 0: the kind is no sketch */
    uint64_t     grow_to;     /* spec.grow_to, if the filter is full there; 0: not planned for it */
    uint64_t     reserved[3]; /* zero: later versions may use it */
} tamis_plan;

/* TAMIS_RANGE if the kind cannot meet the spec, TAMIS_CANNOT if it lacks an ability.
 *
 * TAMIS_NO_KIND: the kind with the fastest lookups among those that meet the spec in at most twice
 * the bytes per key of the smallest, and in no more than an exact set takes. With keys and
 * max_bytes but no fpr, it is bytes per key and bit of the rate. Kinds that rotate, those for small
 * integers and those to study are chosen only if spec.can asks for that. If it asks for counts, the
 * smallest is chosen, one without a ceiling if there is any. If it asks for growth without grow_to,
 * only kinds that keep the rate however far they grow. */
TAMIS_API tamis_status tamis_plan_kind(tamis_plan *plan, tamis_kind kind,
                                       const tamis_spec *spec) TAMIS_CHECKED;
/* Every plan meeting the spec, smallest first. Returns how many; fills at most `max`. */
TAMIS_API size_t tamis_plan_all(tamis_plan *plans, size_t max, const tamis_spec *spec);
/* What filters of this plan can do: as tamis_kind_can(), without what spec.can did not ask for. 0
 * if its kind is TAMIS_NO_KIND, which is no filter. */
TAMIS_API unsigned tamis_plan_can(const tamis_plan *plan);
/* The false positive rate to expect with that many distinct keys, also beyond the capacity: a
 * filter that grows has grown by then. 1 if the kind is TAMIS_NO_KIND: without a filter, all keys
 * pass. */
TAMIS_API double tamis_plan_rate(const tamis_plan *plan, uint64_t keys);

/* ---- Filters ----------------------------------------------------------- */

typedef struct tamis tamis;

/* Where memory comes from. Blocks are aligned as malloc() aligns them; alloc() returns NULL if
 * there is none. free() gets the size that alloc() got, and never NULL. */
typedef struct tamis_allocator {
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *block, size_t size);
    void *ctx;
} tamis_allocator;

/* An empty filter. `a` may be NULL, here and below: the C library is used, and huge pages are
 * asked for where they help. The caller owns *out and frees it with tamis_free(). A filter is two
 * blocks from its allocator: the struct, whose address never changes, and the payload. */
TAMIS_API tamis_status tamis_new(tamis **out, const tamis_plan *plan,
                                 const tamis_allocator *a) TAMIS_CHECKED;
/* A filter of exactly these keys. Duplicates are allowed; the array is not modified or kept. Kinds
 * that count have counted duplicates, except the cuckoo family: a key is in it once, whatever the
 * number of copies, and is removed once. TAMIS_FULL: there are more keys than planned; or, in
 * static kinds, these were chosen against the seed, and do not fit in 1.63 times the planned size.
 */
TAMIS_API tamis_status tamis_build(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                   size_t n, const tamis_allocator *a) TAMIS_CHECKED;
/* A filter of exactly these keys, each with its value. TAMIS_CAN_GET kinds only, which take no keys
 * without values. If a key comes with two values, TAMIS_CAN_PUT kinds take the last, and others
 * answer TAMIS_CONFLICT. TAMIS_RANGE: a value has more bits than planned. */
TAMIS_API tamis_status tamis_build_map(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                       const uint64_t *values, size_t n,
                                       const tamis_allocator *a) TAMIS_CHECKED;
/* A filter of exactly these keys that answers no, for certain, for each of the excluded ones. Its
 * false positive rate is that of keys in neither list. TAMIS_CAN_EXCLUDE kinds only, which have no
 * other way to take keys, and TAMIS_CAN_ADAPT kinds, which adapt to the excluded ones.
 * spec.universe counts both lists. Without spec.fpr, keys in neither list may get any answer.
 * Duplicates are allowed. A key in both lists is one of the keys. TAMIS_FULL is as in
 * tamis_build(): a few more excluded keys than planned fit, twice as many may not. */
TAMIS_API tamis_status tamis_build_excluding(tamis **out, const tamis_plan *plan,
                                             const uint64_t *keys, size_t n,
                                             const uint64_t *excluded, size_t m,
                                             const tamis_allocator *a) TAMIS_CHECKED;
/* A copy that can be changed, of views and maps too. */
TAMIS_API tamis_status tamis_clone(tamis **out, const tamis *f,
                                   const tamis_allocator *a) TAMIS_CHECKED;
/* A filter `by` times smaller that still holds every key, at a higher rate: the same as building
 * the smaller filter from the keys. TAMIS_RANGE unless `by` divides plan.slots. */
TAMIS_API tamis_status tamis_fold(tamis **out, const tamis *f, uint64_t by,
                                  const tamis_allocator *a) TAMIS_CHECKED;
/* The same in at most max_bytes of payload, at the lowest rate that can be had without keys:
 * folded, or TAMIS_PARTITIONED with fewer rows, each of which is a filter by itself. A copy if f is
 * as small as that. TAMIS_RANGE if there is no way. TAMIS_CAN_FOLD kinds only. */
TAMIS_API tamis_status tamis_shrink(tamis **out, const tamis *f, uint64_t max_bytes,
                                    const tamis_allocator *a) TAMIS_CHECKED;
/* A filter of another kind that gives the same answers, made without the keys. TAMIS_CANNOT if
 * there is no way from one kind to the other. These there are:
 *  counting -> bloom      the bits without the counters, a quarter of the size or less. Byte for
 *                         byte what the keys would have made, unless counters had stopped.
 *  bloom -> compressed    the same bits in less room; the emptier, the smaller. Slow to ask.
 *  compressed -> bloom    the way back, to at most 1024 times the payload. */
TAMIS_API tamis_status tamis_convert(tamis **out, tamis_kind to, const tamis *f,
                                     const tamis_allocator *a) TAMIS_CHECKED;
/* NULL is fine. A writable map is synced first; call tamis_sync() to learn whether it worked. */
TAMIS_API void tamis_free(tamis *f);

/* Bytes to the key of this filter; see tamis_hasher_key(). */
TAMIS_API uint64_t tamis_key(const tamis *f, const void *data, size_t size);

/* What is called for each of many keys, with how often it is there; false ends the calls. */
typedef bool tamis_visit(void *ctx, uint64_t key, uint64_t count);

/* ---- One key ----------------------------------------------------------- */

/* False is certain; true may be wrong at the filter's rate. Inline, since most programs ask for one
 * key at a time: a filter begins with a pointer to the function that answers. */
TAMIS_API inline bool tamis_has(const tamis *f, uint64_t key);
/* TAMIS_FULL leaves the filter as it was. Filters that grow are full when there is no larger size,
 * or when keys were chosen to crowd a place, so that a larger size would not help. The Bloom kinds
 * are never full: past their capacity the rate rises. TAMIS_RANGE: the kind is indexed and the key
 * is not below its capacity, or there were 2^64 - 1 adds before. */
TAMIS_API tamis_status tamis_add(tamis *f, uint64_t key) TAMIS_CHECKED;
/* So many adds of one key, or none of them. TAMIS_CAN_COUNT kinds only. These take no more than
 * 2^64 - 1 adds in all, and answer TAMIS_RANGE to any that would be more. */
TAMIS_API tamis_status tamis_add_times(tamis *f, uint64_t key, uint64_t times) TAMIS_CHECKED;
/* Only remove what was added. TAMIS_ABSENT if the kind can tell that it was not: filters planned
 * with TAMIS_CAN_EXACT_DELETE among spec.can always can. In others, removing a key that was never
 * added may delete another, with the probability of a false positive. */
TAMIS_API tamis_status tamis_remove(tamis *f, uint64_t key) TAMIS_CHECKED;
/* So many removes of one key; TAMIS_ABSENT, and no change, if it is there fewer times. Kinds with
 * both TAMIS_CAN_COUNT and TAMIS_CAN_REMOVE only. */
TAMIS_API tamis_status tamis_remove_times(tamis *f, uint64_t key, uint64_t times) TAMIS_CHECKED;
/* The key was added at most that often, unless this is plan.ceiling. 1 or 0 in kinds
 * without TAMIS_CAN_COUNT. A kind whose page says so counts too little in rare cases, but never 0
 * for a key that is there. */
TAMIS_API uint64_t tamis_count(const tamis *f, uint64_t key);
/* The value that came with the key. False is certain; true may be wrong, as in tamis_has(), and the
 * value is then arbitrary. 0 for each key in kinds without TAMIS_CAN_GET. */
TAMIS_API bool tamis_get(const tamis *f, uint64_t *value, uint64_t key);

/* ---- Many keys --------------------------------------------------------- */

/* Bit i % 64 of hits[i / 64] tells about keys[i]; (n + 63) / 64 words are written, the rest of
 * the last one with zeros. Returns how many are set. Same answers as tamis_has(), faster on
 * filters larger than the cache. */
TAMIS_API size_t tamis_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);
/* As tamis_get(), with hits as above; values[i] is 0 if keys[i] is not found. */
TAMIS_API size_t tamis_get_many(const tamis *f, uint64_t *values, uint64_t *hits,
                                const uint64_t *keys, size_t n);
/* counts[i] is tamis_count() of keys[i]. */
TAMIS_API void tamis_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n);
/* Adds in order; *added tells how many went in, also on failure. The filter is that of tamis_add()
 * byte for byte; of TAMIS_CUCKOO, one with the same answers, whose bytes depend on the batches. */
TAMIS_API tamis_status tamis_add_many(tamis *f, size_t *added, const uint64_t *keys,
                                      size_t n) TAMIS_CHECKED;
/* As tamis_add_many(), but may run at the same time as itself and, in TAMIS_CAN_READ_WHILE_ADD
 * kinds, as tamis_has() and tamis_has_many() on one filter. Another thread is sure to see a key
 * once this call has returned and that thread was told so. The filter does not grow: TAMIS_FULL.
 * TAMIS_CAN_ADD_CONCURRENT kinds only. */
TAMIS_API tamis_status tamis_add_concurrent(tamis *f, size_t *added, const uint64_t *keys,
                                            size_t n) TAMIS_CHECKED;
/* Removes in order every key that is there; *removed tells how many, also on failure. TAMIS_ABSENT
 * if some were seen to be missing; the others are removed all the same. */
TAMIS_API tamis_status tamis_remove_many(tamis *f, size_t *removed, const uint64_t *keys,
                                         size_t n) TAMIS_CHECKED;

/* ---- Whole filters ----------------------------------------------------- */

/* Starts a new generation and forgets the oldest: a key is forgotten by the eighth rotation after
 * it was last added. A filter planned for n keys rotates by itself whenever n / 7 new keys have
 * come. To rotate by time, plan above the expected number; the last seven intervals are kept.
 * TAMIS_CAN_ROTATE kinds only. */
TAMIS_API tamis_status tamis_rotate(tamis *f) TAMIS_CHECKED;
/* What becomes of two filters f and g.
 *  merge      All keys of both. In kinds that count, counts add up.
 *  intersect  The keys that are in both, as often as in the one that holds them less often. A key
 *             of one alone is found at the rate of the other, a key of neither at less than either.
 *  subtract   The keys of f without those of g. Exact kinds forget what g holds. Kinds that count
 *             remove every copy of g from f, and as in tamis_remove() these must have been added to
 *             it: TAMIS_ABSENT, and no change, if g is seen to hold what f does not. */
typedef enum tamis_operation {
    TAMIS_MERGE = 0,     /* TAMIS_CAN_MERGE kinds only */
    TAMIS_INTERSECT = 1, /* TAMIS_CAN_INTERSECT kinds only */
    TAMIS_SUBTRACT = 2,  /* kinds with both TAMIS_CAN_INTERSECT and TAMIS_CAN_REMOVE only */
} tamis_operation;

/* f becomes what is made of both. TAMIS_MISMATCH unless kind, geometry and hasher are equal, or
 * differ only by growth or tamis_resize(). Filters planned with TAMIS_CAN_ASK_KEYS are not combined
 * with any other: TAMIS_CANNOT if f is one, TAMIS_MISMATCH if g alone is. */
TAMIS_API tamis_status tamis_combine(tamis *f, tamis_operation op, const tamis *g) TAMIS_CHECKED;
/* The union of n filters, at least one, in a filter with room for all of it: the size of the
 * largest, doubled until it is enough. Takes no memory beside that filter, and reads each of the
 * others in one go. TAMIS_CAN_RESIZE kinds only. */
TAMIS_API tamis_status tamis_merge_many(tamis **out, const tamis *const *filters, size_t n,
                                        const tamis_allocator *a) TAMIS_CHECKED;
/* The sum, over all keys, of the count in f times the count in g, up to 2^64 - 1. Never below the
 * truth. TAMIS_MISMATCH as in tamis_combine(). TAMIS_CAN_DOT kinds only. Sketches must be planned
 * with it among spec.can, and then count a little less exactly. */
TAMIS_API tamis_status tamis_dot(const tamis *f, uint64_t *product, const tamis *g) TAMIS_CHECKED;
/* Room for that many keys, by doubling or halving the slots. Fingerprints stay as they are, and so
 * does the rate at a given number of keys. TAMIS_FULL if f holds more than that, TAMIS_RANGE if
 * fingerprints have no more bits to give. TAMIS_CAN_RESIZE kinds only. Filters planned with
 * TAMIS_CAN_GROW among spec.can do this by themselves when they would be full. */
TAMIS_API tamis_status tamis_resize(tamis *f, uint64_t keys) TAMIS_CHECKED;

/* Calls visit for each key the filter can name, until it returns false. Kinds that are not exact
 * name fingerprints instead, ascending: keys that the filter cannot tell apart have the same. */
TAMIS_API tamis_status tamis_list(const tamis *f, tamis_visit *visit, void *ctx) TAMIS_CHECKED;

enum { TAMIS_NOTE_MAX = 255 }; /* bytes of a note */

typedef struct tamis_info {
    size_t     size; /* of this struct, set by the caller: later versions may add fields */
    tamis_plan plan;
    uint64_t   count;       /* adds minus removes, up to the ceiling; distinct keys if exact */
    double     cardinality; /* distinct keys: exact, or estimated from the payload */
    double     fill;        /* share of the payload in use, 0 .. 1 */
    double     fpr;         /* false positive rate at this load */
    bool       readonly;    /* a view, or mapped for reading */
    uint64_t   saturated;   /* counters that have stopped for good, in kinds that have a ceiling */
    /* What tamis_set_note() of tamis_file.h gave it. The text lives as long as the filter, and
     * changes only by that call; it is empty if there is none. */
    const char *note;
    uint64_t    noted; /* when, in seconds since 1970 */
    /* Of kinds that adapt; 0 in others. */
    uint64_t adaptations;    /* in effect: places that were changed to take back false positives */
    double   adapted_bits;   /* that they take, per key */
    double   queried, error; /* of tamis_queried(); error is 0 in kinds that cannot tell */
} tamis_info;

/* Reads the whole payload. Fields of info->size bytes that this version does not know are 0. */
TAMIS_API void tamis_get_info(const tamis *f, tamis_info *info);
/* The plan alone, at no cost; it lives as long as the filter and changes only with it. */
TAMIS_API const tamis_plan *tamis_plan_of(const tamis *f);

/* ---- Images ------------------------------------------------------------ */

/* An image is a filter as bytes (docs/format.md). read and load check everything and copy. view
 * and map check the header and borrow: the filter is read-only, and answers are memory-safe
 * whatever the payload holds. tamis_verify() checks the rest, and so does every call that makes a
 * new filter or image of a view or map. Such a call copies the payload first, as another program
 * may be writing to it, and checks the copy; tamis_merge_many() and tamis_dot() copy nothing. A
 * damaged image is an error, never an empty filter. */
TAMIS_API size_t tamis_image_size(const tamis *f);
/* TAMIS_RANGE unless size is tamis_image_size(). */
TAMIS_API tamis_status tamis_image_write(const tamis *f, void *buf, size_t size) TAMIS_CHECKED;
TAMIS_API tamis_status tamis_image_read(tamis **out, const void *buf, size_t size,
                                        const tamis_allocator *a) TAMIS_CHECKED;
/* `buf` is aligned to 64 bytes (else TAMIS_RANGE) and outlives the filter. */
TAMIS_API tamis_status tamis_image_view(tamis **out, const void *buf, size_t size,
                                        const tamis_allocator *a) TAMIS_CHECKED;

/* Images in pieces, from the first byte to the last, for hosts that store or send them so. A
 * function that returns false ends the call: TAMIS_IO. */
typedef bool tamis_sink(void *ctx, const void *piece, size_t size);
typedef bool tamis_source(void *ctx, void *piece, size_t size); /* fills all of it */
/* The bytes of tamis_image_write(). */
TAMIS_API tamis_status tamis_image_send(const tamis *f, tamis_sink *sink, void *ctx) TAMIS_CHECKED;
/* As tamis_image_read(), of an image of at most max_bytes (else TAMIS_RANGE): nothing larger is
 * allocated, whatever the image says. Takes no byte beyond the image. */
TAMIS_API tamis_status tamis_image_receive(tamis **out, tamis_source *source, void *ctx,
                                           uint64_t               max_bytes,
                                           const tamis_allocator *a) TAMIS_CHECKED;

/* TAMIS_OK, or TAMIS_CORRUPT after calling report (which may be NULL) for each fault, with its
 * place in the image. Filters in memory have their structure checked, views and maps also every
 * checksum. TAMIS_BUSY if another program is writing to a mapped file: checksums are then stale. */
typedef void           tamis_report(void *ctx, const char *why, uint64_t offset, uint64_t size);
TAMIS_API tamis_status tamis_verify(const tamis *f, tamis_report *report, void *ctx) TAMIS_CHECKED;

/* ---- Inline ------------------------------------------------------------ */

/* Names that shadow none of the caller's. */
inline bool tamis_has(const tamis *tamis_f, uint64_t tamis_k)
{
    return (**(bool (*const *)(const tamis *, uint64_t))(const void *)tamis_f)(tamis_f, tamis_k);
}

#ifdef __cplusplus
}
#endif

#endif
