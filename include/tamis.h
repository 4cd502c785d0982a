/* tamis.h - approximate membership filters: is this key in that set?
 *
 * A filter is made in three steps, and data flows one way: spec -> plan -> filter -> image.
 *
 *     tamis_spec spec = { .keys = 1000000, .fpr = 0.01 };        what is wanted
 *     tamis_plan plan;                                           what it will take
 *     tamis *f;
 *     if (tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec) || tamis_new(&f, &plan, NULL))
 *         return 1;
 *     if (tamis_add(f, tamis_key(f, "hello", 5)) || tamis_save(f, "words.tamis"))
 *         return 1;
 *     bool present = tamis_has(f, tamis_key(f, "hello", 5));
 *     tamis_free(f);
 *
 * Rules for every function, unless it says otherwise:
 *  - Pointers are not NULL. A size follows its array. Sizes are in bytes, counts in items.
 *  - The filter comes first, then outputs, then inputs; outputs that are made come before all.
 *  - What can fail returns tamis_status; on failure, outputs and filter are as they were
 *    before the call. What cannot fail returns its answer.
 *  - Calls taking `const tamis *` may run at the same time on one filter; the others need it
 *    for themselves. Two filters never share anything.
 *  - The library does not print, exit, abort or keep global state. */
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

/* The version of the library in use, which may differ from that of the header. */
TAMIS_API const char *tamis_version(void);

/* ---- Kinds ------------------------------------------------------------- */

/* Constant, number, symbol, name, summary: the whole registration of a kind. Numbers are stored in
 * images: append, never change, never reuse. */
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
    X(CUCKOO_SORTED, 18, cuckoo_sorted, "cuckoo-sorted",                                           \
      "cuckoo filter with sorted buckets, one bit less for each key")                              \
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
    X(WINDOW, 30, window, "window", "Bloom filter of the latest keys, forgets older ones")

typedef enum tamis_kind {
    TAMIS_NO_KIND = 0,
#define TAMIS_X(constant, number, symbol, name, summary) TAMIS_##constant = number,
    TAMIS_KINDS(TAMIS_X)
#undef TAMIS_X
} tamis_kind;

/* What a kind can do, then what it is: constant, bit, name, meaning. */
#define TAMIS_ABILITIES(X)                                                            \
    X(CAN_ADD, 1u << 0, "add", "takes keys one by one")                               \
    X(CAN_BUILD, 1u << 1, "build", "is made from all its keys at once")               \
    X(CAN_REMOVE, 1u << 2, "remove", "forgets keys that were added")                  \
    X(CAN_COUNT, 1u << 3, "count", "tells how often a key was added")                 \
    X(CAN_MERGE, 1u << 4, "merge", "becomes the union with another")                  \
    X(CAN_INTERSECT, 1u << 5, "intersect", "keeps what another holds too")            \
    X(CAN_LIST, 1u << 6, "list", "names the keys it holds")                           \
    X(CAN_FOLD, 1u << 7, "fold", "shrinks by an integer factor")                      \
    X(CAN_SHARE, 1u << 8, "share", "takes keys from several threads")                 \
    X(CAN_GET, 1u << 9, "get", "gives the value that came with a key")                \
    X(CAN_SPLIT, 1u << 10, "split", "tells its keys from listed others")              \
    X(CAN_PATCH, 1u << 11, "patch", "takes keys while others read")                   \
    X(CAN_RESIZE, 1u << 12, "resize", "takes another size, without keys")             \
    X(CAN_GROW, 1u << 13, "grow", "makes room by itself, if asked to")                \
    X(CAN_EXACT_DELETE, 1u << 14, "exact-delete", "forgets no stranger, if asked to") \
    X(CAN_REDUCE, 1u << 15, "reduce", "gives the plain filter of its keys")           \
    X(CAN_ROTATE, 1u << 18, "rotate", "forgets its oldest keys by itself")            \
    X(CAN_DOT, 1u << 19, "dot", "multiplies with another, if asked to")               \
    X(IS_EXACT, 1u << 16, "exact", "never takes one key for another")                 \
    X(IS_INDEXED, 1u << 17, "indexed", "keys are integers below its capacity")

enum {
#define TAMIS_X(constant, bit, name, meaning) TAMIS_##constant = bit,
    TAMIS_ABILITIES(TAMIS_X)
#undef TAMIS_X
};

/* The kind with the next higher number; TAMIS_NO_KIND comes before the first and after the last. */
TAMIS_API tamis_kind  tamis_kind_next(tamis_kind kind);
TAMIS_API const char *tamis_kind_name(tamis_kind kind);    /* NULL if unknown */
TAMIS_API const char *tamis_kind_summary(tamis_kind kind); /* NULL if unknown */
TAMIS_API bool        tamis_kind_find(tamis_kind *kind, const char *name);
TAMIS_API unsigned    tamis_kind_can(tamis_kind kind); /* TAMIS_CAN_ and TAMIS_IS_ flags, or 0 */

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
    X(CONFLICT, 16, "a key has two values")

typedef enum tamis_status {
#define TAMIS_X(constant, number, text) TAMIS_##constant = number,
    TAMIS_STATUSES(TAMIS_X)
#undef TAMIS_X
} tamis_status;

/* Text for people, never NULL. After TAMIS_IO and TAMIS_UNSYNCED, errno tells more. */
TAMIS_API const char *tamis_status_text(tamis_status status);

/* ---- Keys -------------------------------------------------------------- */

/* A key is a 64-bit number. Bytes become one here, once; two inputs that collide add n / 2^64 to
 * the false positive rate of a filter of n keys. Plans take notice of that if it is more than a
 * thousandth of the rate asked for, tamis_plan_rate() in any case.
 *  fast   XXH3-64 with a seed: for keys from trusted hands, the same on every machine.
 *  keyed  SipHash-2-4 with a secret: outsiders who do not know it cannot choose colliding keys.
 *  raw    the key is the 64-bit integer given, as eight little-endian bytes. */
typedef enum tamis_hash { TAMIS_FAST = 0, TAMIS_KEYED = 1, TAMIS_RAW = 2 } tamis_hash;

typedef struct tamis_hasher {
    tamis_hash hash;
    uint64_t   seed;       /* fast: part of the hash; all kinds: where keys are placed */
    uint8_t    secret[16]; /* keyed only: not all zeros, from getrandom() or the like */
} tamis_hasher;

/* `size` is 8 in raw mode; of more bytes the first eight count, and zeros make up for fewer. */
TAMIS_API uint64_t tamis_hasher_key(const tamis_hasher *hasher, const void *data, size_t size);

/* ---- Plans ------------------------------------------------------------- */

/* What is wanted. Zero means "no requirement" in every field: no fpr and no max_bytes gives 1 %,
 * no fpr with max_bytes the best rate that fits, no keys with max_bytes as many as fit. */
typedef struct tamis_spec {
    uint64_t     keys; /* held at most; for indexed kinds, keys are 0 .. keys - 1 */
    double       fpr;  /* highest false positive rate at that load, 2^-64 .. 0.5 */
    uint64_t     max_bytes;
    double       load;       /* share of slots that the keys take; kinds without it ignore it */
    unsigned     can;        /* abilities needed */
    uint32_t     value_bits; /* of values, 1 .. 32; TAMIS_CAN_GET kinds need it, others have none */
    uint64_t     universe;   /* keys and others; TAMIS_CAN_SPLIT kinds need it, others have none */
    uint32_t     counter_bits; /* of counters: 2, 4, 8 or 16, and 4 if 0; kinds without have none */
    double       error;        /* sketches only: see tamis_plan_error() */
    tamis_hasher hasher;
} tamis_spec;

/* What it will take. Made by the library; callers read it. */
typedef struct tamis_plan {
    tamis_kind   kind;
    tamis_hasher hasher;
    uint64_t     capacity;
    double       fpr;   /* expected at capacity */
    uint64_t     bytes; /* of payload, exactly */
    uint64_t     slots; /* the last three are the kind's own business */
    uint32_t     width, hashes;
} tamis_plan;

/* TAMIS_RANGE if the kind cannot meet the spec, TAMIS_CANNOT if it lacks an ability. */
TAMIS_API tamis_status tamis_plan_kind(tamis_plan *plan, tamis_kind kind,
                                       const tamis_spec *spec) TAMIS_CHECKED;
/* Every plan meeting the spec, smallest first. Returns how many; fills at most `max`. */
TAMIS_API size_t tamis_plan_all(tamis_plan *plans, size_t max, const tamis_spec *spec);
/* The false positive rate to expect when `keys` distinct keys are in: more than the capacity, too.
 */
TAMIS_API double tamis_plan_rate(const tamis_plan *plan, uint64_t keys);

/* Where tamis_count() stops. A key that has come that far stays: later adds and removes of it
 * succeed and change nothing. 2^64 - 1 if there is no such limit. */
TAMIS_API uint64_t tamis_plan_ceiling(const tamis_plan *plan);

/* Sketches count any number of keys in memory that does not grow. After N adds, repeated ones too,
 * the count of a key is never below the truth, and with probability spec.fpr at most it is above
 * the truth by more than this times N. 0 in kinds that are no sketches.
 *
 * spec.error is the highest that will do; kinds that are no sketches refuse it: TAMIS_CANNOT. The
 * false positive rate of tamis_has() then is what it comes to: plan.fpr at plan.capacity distinct
 * keys, which is spec.keys or, if that is 0, as many as spec.fpr allows. Without spec.error,
 * spec.keys and spec.fpr mean what they do in other kinds, the error is what it comes to, and as
 * long as there are no more distinct keys than planned, all but a share of spec.fpr of the counts
 * are exact. */
TAMIS_API double tamis_plan_error(const tamis_plan *plan);

/* ---- Filters ----------------------------------------------------------- */

typedef struct tamis tamis;

/* resize(ctx, NULL, 0, n) allocates; resize(ctx, p, n, 0) frees and returns NULL; no other call
 * is made. Blocks are aligned as malloc aligns them. */
typedef struct tamis_allocator {
    void *(*resize)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void *ctx;
} tamis_allocator;

/* An empty filter. `a` may be NULL, here and below: the C library is used, and huge pages are
 * asked for where they help. The caller owns *out and gives it back with tamis_free(). A filter
 * is two blocks from its allocator: the struct, whose address never changes, and the payload. */
TAMIS_API tamis_status tamis_new(tamis **out, const tamis_plan *plan,
                                 const tamis_allocator *a) TAMIS_CHECKED;
/* A filter of exactly these keys. Duplicates are allowed; the array is not modified or kept. Kinds
 * that count have counted them, but not those of the cuckoo family, in which a few copies of a key
 * are all there is room for: it is there once then, to be removed once. */
TAMIS_API tamis_status tamis_build(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                   size_t n, const tamis_allocator *a) TAMIS_CHECKED;
/* A filter of exactly these keys, each with its value: TAMIS_CAN_GET kinds only, which have no
 * other way to take keys. TAMIS_CONFLICT if a key comes with two values, TAMIS_RANGE if a value has
 * more than the bits planned. */
TAMIS_API tamis_status tamis_build_map(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                       const uint64_t *values, size_t n,
                                       const tamis_allocator *a) TAMIS_CHECKED;
/* A filter of exactly these keys that answers no for each of the others, for certain: its rate is
 * that of strangers, which are in neither list. TAMIS_CAN_SPLIT kinds only, which have no other way
 * to take keys; spec.universe counts both lists, and without spec.fpr strangers may get any answer.
 * Duplicates are allowed. A key that is in both lists is one of the keys. */
TAMIS_API tamis_status tamis_build_cascade(tamis **out, const tamis_plan *plan,
                                           const uint64_t *keys, size_t n, const uint64_t *others,
                                           size_t m, const tamis_allocator *a) TAMIS_CHECKED;
/* A copy that can be changed, of views and maps too. */
TAMIS_API tamis_status tamis_clone(tamis **out, const tamis *f,
                                   const tamis_allocator *a) TAMIS_CHECKED;
/* A filter `by` times smaller that still holds every key, at a higher rate. TAMIS_RANGE unless
 * `by` divides plan.slots. The same as building the smaller filter from the keys. */
TAMIS_API tamis_status tamis_fold(tamis **out, const tamis *f, uint64_t by,
                                  const tamis_allocator *a) TAMIS_CHECKED;
/* The plain filter that the keys of f would have made, byte for byte: it neither counts nor
 * forgets. That of a filter with counters has a quarter of its size or less, and may hold keys that
 * were removed if some counters have stopped; that of a compressed one is larger, and fast.
 * TAMIS_CAN_REDUCE kinds only. */
TAMIS_API tamis_status tamis_reduce(tamis **out, const tamis *f,
                                    const tamis_allocator *a) TAMIS_CHECKED;
/* A Bloom filter as TAMIS_COMPRESSED, with the same bits and in no more room than they take; the
 * emptier it is, the less. tamis_reduce() is the way back. TAMIS_CANNOT if f is of another kind. */
TAMIS_API tamis_status tamis_compress(tamis **out, const tamis *f,
                                      const tamis_allocator *a) TAMIS_CHECKED;
/* NULL is fine. A writable map is synced first; call tamis_sync() to learn whether it worked. */
TAMIS_API void tamis_free(tamis *f);

/* Bytes to the key of this filter; see tamis_hasher_key(). */
TAMIS_API uint64_t tamis_key(const tamis *f, const void *data, size_t size);

/* False is certain; true may be wrong at the filter's rate. */
TAMIS_API bool tamis_has(const tamis *f, uint64_t key);
/* TAMIS_FULL leaves the filter as it was. The Bloom kinds are never full: past their capacity the
 * rate rises. TAMIS_RANGE: the kind is indexed and the key is not below its capacity. */
TAMIS_API tamis_status tamis_add(tamis *f, uint64_t key) TAMIS_CHECKED;
/* As many adds of one key, or none of them. TAMIS_CAN_COUNT kinds only; these take no more than
 * 2^64 - 1 adds in all, and answer TAMIS_RANGE to whatever would be more. */
TAMIS_API tamis_status tamis_add_times(tamis *f, uint64_t key, uint64_t times) TAMIS_CHECKED;
/* Adds the key unless tamis_has() finds it; *added tells. Filters filled so are not to be removed
 * from: a key that was taken for another would go with that one. */
TAMIS_API tamis_status tamis_add_absent(tamis *f, bool *added, uint64_t key) TAMIS_CHECKED;
/* Only remove what was added. TAMIS_ABSENT if the kind can tell that it was not: filters planned
 * with TAMIS_CAN_EXACT_DELETE among spec.can always can. Of others, a removed stranger takes along
 * a key that it is taken for, as often as it would have been a false positive. */
TAMIS_API tamis_status tamis_remove(tamis *f, uint64_t key) TAMIS_CHECKED;
/* As many removes of one key; TAMIS_ABSENT, and no change, if it is there fewer times.
 * Kinds with TAMIS_CAN_COUNT and TAMIS_CAN_REMOVE only. */
TAMIS_API tamis_status tamis_remove_times(tamis *f, uint64_t key, uint64_t times) TAMIS_CHECKED;
/* The key was added at most that often, unless it is tamis_plan_ceiling(); 1 or 0 in kinds without
 * TAMIS_CAN_COUNT. A kind whose page says so tells too little in rare cases, but never 0 for what
 * is there. */
TAMIS_API uint64_t tamis_count(const tamis *f, uint64_t key);
/* The value that came with the key. False is certain: a stranger; true may be wrong, as in
 * tamis_has(), and the value is then any. 0 for each key in kinds without TAMIS_CAN_GET. */
TAMIS_API bool tamis_get(const tamis *f, uint64_t *value, uint64_t key);

/* Bit i % 64 of hits[i / 64] tells about keys[i]; (n + 63) / 64 words are written, the rest of
 * the last one with zeros. Returns how many are set. Same answers as tamis_has(), faster on
 * filters larger than the cache. */
TAMIS_API size_t tamis_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);
/* As tamis_get(), with hits as above; values[i] is 0 if keys[i] is a stranger. */
TAMIS_API size_t tamis_get_many(const tamis *f, uint64_t *values, uint64_t *hits,
                                const uint64_t *keys, size_t n);
/* Adds in order; *added tells how many went in, also on failure. */
TAMIS_API tamis_status tamis_add_many(tamis *f, size_t *added, const uint64_t *keys,
                                      size_t n) TAMIS_CHECKED;
/* As tamis_add_many, but may run at the same time as itself and, in TAMIS_CAN_PATCH kinds, as
 * tamis_has() and tamis_has_many() on one filter. A key is seen by other threads once the call that
 * added it has returned and they were told so. No filter grows meanwhile: TAMIS_FULL.
 * TAMIS_CAN_SHARE kinds only. */
TAMIS_API tamis_status tamis_add_shared(tamis *f, size_t *added, const uint64_t *keys,
                                        size_t n) TAMIS_CHECKED;
/* Starts a new generation of keys, and forgets the oldest: keys are forgotten by the eighth
 * rotation after they were last added. Filters of the latest n keys rotate by themselves whenever a
 * seventh of n new keys has come; whoever rotates them by the clock plans for more keys than will
 * come, and has the latest ones of seven intervals. TAMIS_CAN_ROTATE kinds only. */
TAMIS_API tamis_status tamis_rotate(tamis *f) TAMIS_CHECKED;
/* Removes in order, all that are there: *removed tells how many. TAMIS_ABSENT if some were seen not
 * to be; the others are removed all the same. */
TAMIS_API tamis_status tamis_remove_many(tamis *f, size_t *removed, const uint64_t *keys,
                                         size_t n) TAMIS_CHECKED;
/* counts[i] is tamis_count() of keys[i]. */
TAMIS_API void tamis_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n);

/* f becomes the union, or (with extra keys, at most at f's rate) the intersection, of f and g; in
 * kinds that count, counts add up. TAMIS_MISMATCH unless kind, geometry and hasher are equal.
 * Filters that were resized differ in no more than their size: those merge as well. */
TAMIS_API tamis_status tamis_merge(tamis *f, const tamis *g) TAMIS_CHECKED;
TAMIS_API tamis_status tamis_intersect(tamis *f, const tamis *g) TAMIS_CHECKED;
/* The union of n filters, at least one, in a filter with room for all of it: the size of the
 * largest, doubled until it is enough. Takes no memory beside that filter, and reads each of the
 * others in one go. TAMIS_CAN_RESIZE kinds only. */
TAMIS_API tamis_status tamis_merge_many(tamis **out, const tamis *const *filters, size_t n,
                                        const tamis_allocator *a) TAMIS_CHECKED;
/* The sum, over all keys, of their count in f times that in g, up to 2^64 - 1: at least the truth,
 * as counts are. TAMIS_MISMATCH as in tamis_merge(). TAMIS_CAN_DOT kinds only; sketches have to be
 * planned with it among spec.can, else it is TAMIS_CANNOT, and then count a little less exactly. */
TAMIS_API tamis_status tamis_dot(const tamis *f, uint64_t *product, const tamis *g) TAMIS_CHECKED;
/* Room for that many keys, by doubling or halving the slots: fingerprints stay what they are, so
 * that the rate at a given number of keys does too. TAMIS_FULL if f holds more than that,
 * TAMIS_RANGE if a fingerprint has no more bits to give. TAMIS_CAN_RESIZE kinds only; of those,
 * filters planned with TAMIS_CAN_GROW among spec.can double whenever they would be full. */
TAMIS_API tamis_status tamis_resize(tamis *f, uint64_t keys) TAMIS_CHECKED;

/* Calls visit for each key the filter can name, until it returns false. Kinds that are not exact
 * name fingerprints instead, ascending: numbers that are the same for keys they cannot tell apart.
 */
typedef bool           tamis_visit(void *ctx, uint64_t key, uint64_t count);
TAMIS_API tamis_status tamis_list(const tamis *f, tamis_visit *visit, void *ctx) TAMIS_CHECKED;

typedef struct tamis_info {
    tamis_plan plan;
    uint64_t   count;   /* adds minus removes, as far as the ceiling; distinct keys in exact
                         * kinds */
    double cardinality; /* distinct keys: exact, or estimated from the payload in kinds that add
                         * but are not exact */
    double   fill;      /* share of the payload in use, 0 .. 1 */
    double   fpr;       /* false positive rate at this load */
    bool     readonly;  /* a view, or mapped for reading */
    uint64_t saturated; /* counters that have stopped for good, in kinds that have a ceiling */
} tamis_info;
/* Reads the whole payload. */
TAMIS_API tamis_info tamis_describe(const tamis *f);
/* The plan alone, at no cost; it lives as long as the filter and changes only with it. */
TAMIS_API const tamis_plan *tamis_plan_of(const tamis *f);

/* ---- Images and files -------------------------------------------------- */

/* An image is a filter as bytes (docs/format.md). read and load check everything and copy. view
 * and map check the header and borrow: the filter is read-only, answers stay memory-safe whatever
 * the payload holds, and tamis_verify() checks the rest, as does whatever copies such a filter
 * (clone, fold, merge, intersect, dot, write, save). A damaged image is an error, never an empty
 * filter. */
TAMIS_API size_t tamis_image_size(const tamis *f);
/* TAMIS_RANGE unless size is tamis_image_size(). */
TAMIS_API tamis_status tamis_image_write(const tamis *f, void *buf, size_t size) TAMIS_CHECKED;
TAMIS_API tamis_status tamis_image_read(tamis **out, const void *buf, size_t size,
                                        const tamis_allocator *a) TAMIS_CHECKED;
/* `buf` is aligned to 64 bytes (else TAMIS_RANGE) and outlives the filter. */
TAMIS_API tamis_status tamis_image_view(tamis **out, const void *buf, size_t size,
                                        const tamis_allocator *a) TAMIS_CHECKED;

/* Written beside, synced, then renamed: whatever happens, `path` names the old file or the new
 * one, whole. Symbolic links are followed and the mode is kept, but a keyed filter is private
 * unless it replaces a keyed one. Only regular files are replaced. */
TAMIS_API tamis_status tamis_save(const tamis *f, const char *path) TAMIS_CHECKED;
/* TAMIS_BUSY for a dirty file if any descriptor, the caller's own too, has an exclusive flock() on
 * it; TAMIS_DIRTY if none has. */
TAMIS_API tamis_status tamis_load(tamis **out, const char *path,
                                  const tamis_allocator *a) TAMIS_CHECKED;

enum {
    TAMIS_MAP_WRITE = 1,   /* adds go to the file, which is verified; TAMIS_CAN_PATCH kinds only */
    TAMIS_MAP_RECOVER = 2, /* accept and re-seal a file whose writer stopped half-way */
};
/* Borrows the file's pages; nobody may shorten the file meanwhile. In a writable map, the first add
 * marks the file dirty, and tamis_sync() makes it whole again: keys added before the last sync
 * survive whatever happens, and a crash after it is noticed by TAMIS_DIRTY. tamis_save() refuses
 * the file of a writable map, which has tamis_sync(). */
TAMIS_API tamis_status tamis_map(tamis **out, const char *path, unsigned flags,
                                 const tamis_allocator *a) TAMIS_CHECKED;
/* Does nothing but for writable maps. */
TAMIS_API tamis_status tamis_sync(tamis *f) TAMIS_CHECKED;

/* TAMIS_OK, or TAMIS_CORRUPT after calling report (which may be NULL) for each fault, with its
 * place in the image. Filters in memory have their structure checked, views and maps also every
 * checksum; TAMIS_BUSY if another program is writing to a mapped file, whose checksums are stale.
 */
typedef void           tamis_report(void *ctx, const char *why, uint64_t offset, uint64_t size);
TAMIS_API tamis_status tamis_verify(const tamis *f, tamis_report *report, void *ctx) TAMIS_CHECKED;

/* ---- Builders ---------------------------------------------------------- */

/* For sets of unknown size, or larger than memory. Keys come in pieces, from as many threads as
 * one likes; those that do not fit in memory wait in a file without a name, of 8 bytes per key,
 * that is gone with the program whatever ends it. */
typedef struct tamis_builder tamis_builder;

/* How much is done, of how much in all. False stops the work: TAMIS_STOPPED. */
typedef bool tamis_progress(void *ctx, uint64_t done, uint64_t total);

/* Zero means "no requirement" in every field. */
typedef struct tamis_build_options {
    uint64_t        memory;   /* bytes for everything, the filter that is finished too */
    unsigned        threads;  /* to finish with; 0 is 1 */
    const char     *dir;      /* of that file; NULL: $TMPDIR or, without it, /var/tmp */
    tamis_progress *progress; /* called by one thread at a time */
    void           *ctx;      /* for progress */
} tamis_build_options;

/* Kinds that add are planned for spec.keys or, if that is 0, for the keys that come, repeated ones
 * too. Others are planned for distinct keys, and for spec.keys if they are fewer. `o` may be NULL.
 * TAMIS_NOMEM: o.memory is too little; the least is 4 MiB, or the filter and 1 MiB for kinds that
 * add, of the cuckoo family also 8 bytes for each key of the largest of 256 groups, 8/7 of what it
 * takes to solve a part of at most 2^24 keys for others (docs/architecture.md).
 * Of TAMIS_CAN_RESIZE kinds no more than a 256th of the keys is in memory while they are saved. */
TAMIS_API tamis_status tamis_builder_new(tamis_builder **out, tamis_kind kind,
                                         const tamis_spec          *spec,
                                         const tamis_build_options *o) TAMIS_CHECKED;
/* May run at the same time as itself. After a failure there is only tamis_builder_free(). */
TAMIS_API tamis_status tamis_builder_add_many(tamis_builder *b, const uint64_t *keys,
                                              size_t n) TAMIS_CHECKED;
/* The same for kinds that need more than keys, and only for them. TAMIS_CAN_GET kinds take keys
 * with their values, 16 bytes a key in the file. Without spec.value_bits, values have as many bits
 * as the largest needs, and at most 32; TAMIS_RANGE: one has more, and none was taken. That a key
 * has two values is found out when the filter is finished. */
TAMIS_API tamis_status tamis_builder_add_map(tamis_builder *b, const uint64_t *keys,
                                             const uint64_t *values, size_t n) TAMIS_CHECKED;
/* TAMIS_CAN_SPLIT kinds take keys as others do, and those to be told from them here. They are
 * planned for the others that come, unless spec.universe has room for more. */
TAMIS_API tamis_status tamis_builder_add_others(tamis_builder *b, const uint64_t *others,
                                                size_t n) TAMIS_CHECKED;
/* The filter that tamis_build() would make, byte for byte, or of TAMIS_CUCKOO one that answers the
 * same. After a failure more keys may come, and either call be tried again; after success there is
 * only tamis_builder_free(). */
TAMIS_API tamis_status tamis_builder_finish(tamis **out, tamis_builder *b) TAMIS_CHECKED;
/* As tamis_save() of that filter; but TAMIS_CAN_RESIZE kinds and those that cannot add, nor split,
 * never have all of it in memory. */
TAMIS_API tamis_status tamis_builder_save(tamis_builder *b, const char *path) TAMIS_CHECKED;
TAMIS_API void         tamis_builder_free(tamis_builder *b); /* NULL is fine */

/* ---- Filters larger than memory ---------------------------------------- */

/* A filter in a file, with what was added and removed since it was last written waiting in memory;
 * TAMIS_CAN_RESIZE kinds only. When there is much of that, or when it is flushed, it is merged into
 * a new file in one pass, and this takes the name of the old one: whatever happens, the file is
 * whole, and has all that came before the last flush that succeeded. A query reads one page of the
 * file, in a few cases the next one too. Nobody may shorten the file meanwhile, and one program at
 * a time may have it open so: TAMIS_BUSY. A disk filter is for one thread. */
typedef struct tamis_disk tamis_disk;

/* Zero means "no requirement" in every field. */
typedef struct tamis_disk_options {
    uint64_t        memory;   /* bytes for what waits: 64 MiB if 0, and at least 64 KiB */
    tamis_progress *progress; /* of merging; false: TAMIS_STOPPED, and the file is as it was */
    void           *ctx;      /* for progress */
} tamis_disk_options;

/* The filter that tamis_save() or a builder wrote there. `o` may be NULL. */
TAMIS_API tamis_status tamis_disk_open(tamis_disk **out, const char *path,
                                       const tamis_disk_options *o) TAMIS_CHECKED;
/* TAMIS_FULL: the filter has no more room, and does not grow; *added tells how many went in. */
TAMIS_API tamis_status tamis_disk_add_many(tamis_disk *d, size_t *added, const uint64_t *keys,
                                           size_t n) TAMIS_CHECKED;
/* Only remove what was added. Whether a key is in the file is not looked up: those that are not
 * there are passed over when it is merged. */
TAMIS_API tamis_status tamis_disk_remove_many(tamis_disk *d, const uint64_t *keys,
                                              size_t n) TAMIS_CHECKED;
/* As tamis_has_many() and tamis_count_many(), with all that waits. */
TAMIS_API size_t tamis_disk_has_many(const tamis_disk *d, uint64_t *hits, const uint64_t *keys,
                                     size_t n);
TAMIS_API void   tamis_disk_count_many(const tamis_disk *d, uint64_t *counts, const uint64_t *keys,
                                       size_t n);
/* The filter as it is in the file, without what waits. It lives until the next change. */
TAMIS_API const tamis *tamis_disk_file(const tamis_disk *d);
/* After a failure everything waits as before, and it may be tried again; not after TAMIS_UNSYNCED,
 * which tells of a new file, as in tamis_save(). */
TAMIS_API tamis_status tamis_disk_flush(tamis_disk *d) TAMIS_CHECKED;
/* Does not flush. NULL is fine. */
TAMIS_API void tamis_disk_free(tamis_disk *d);

/* ---- Pairs ------------------------------------------------------------- */

/* A filter that counts, in slow memory, and in fast memory the plain filter that tamis_reduce()
 * makes of it, kept in step: for sets that change now and then and are asked all the time. Keys
 * come and go by one thread at a time. Meanwhile others may ask the plain filter, by tamis_has()
 * and tamis_has_many(): a key that is in for as long as a lookup takes is found, and one that was
 * removed before is found no more often than a stranger. TAMIS_CAN_REDUCE kinds only. */
typedef struct tamis_pair tamis_pair;

/* The two have an allocator each: that of the counters may give memory that is a file, or far.
 * Either may be NULL. TAMIS_CANNOT if there is no plain filter of that kind. */
TAMIS_API tamis_status tamis_pair_new(tamis_pair **out, const tamis_plan *plan,
                                      const tamis_allocator *slow,
                                      const tamis_allocator *fast) TAMIS_CHECKED;
/* With the filter that tamis_pair_save() or tamis_save() wrote there. */
TAMIS_API tamis_status tamis_pair_open(tamis_pair **out, const char *path,
                                       const tamis_allocator *slow,
                                       const tamis_allocator *fast) TAMIS_CHECKED;
/* As tamis_add_many() and tamis_remove_many(). */
TAMIS_API tamis_status tamis_pair_add_many(tamis_pair *p, size_t *added, const uint64_t *keys,
                                           size_t n) TAMIS_CHECKED;
TAMIS_API tamis_status tamis_pair_remove_many(tamis_pair *p, size_t *removed, const uint64_t *keys,
                                              size_t n) TAMIS_CHECKED;
/* For readers; it lives as long as the pair, at one address. */
TAMIS_API const tamis *tamis_pair_plain(const tamis_pair *p);
/* For counts, while no key comes or goes. */
TAMIS_API const tamis *tamis_pair_counting(const tamis_pair *p);
/* Saves the one that counts, while no key comes or goes; tamis_save() saves the plain one. */
TAMIS_API tamis_status tamis_pair_save(const tamis_pair *p, const char *path) TAMIS_CHECKED;
TAMIS_API void         tamis_pair_free(tamis_pair *p); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
