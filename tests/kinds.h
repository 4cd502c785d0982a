/* kinds.h - laws: tests that hold for every kind with certain abilities, and name none.
 *
 * A law is checked once for each kind that has all of its `can` and none of its `cannot` abilities,
 * and is made from keys alone, unless it is for all. When it fails, what it was doing (law_at) and
 * how to replay it are printed. */
#ifndef TAMIS_TESTS_KINDS_H
#define TAMIS_TESTS_KINDS_H

#include <unistd.h>

#include "base/bits.h"
#include "base/hash.h"
#include "check.h"
#include "filter.h"
#include "info.h"
#include "tamis_file.h"

static inline tamis_kind first_kind(void)
{
    return tamis_kind_next(TAMIS_NO_KIND);
}

/* The next one that is made from keys alone; others need values or a universe. */
static inline tamis_kind next_plain(tamis_kind kind)
{
    do
        kind = tamis_kind_next(kind);
    while (kind && !(tamis_kind_can(kind) & TAMIS_CAN_BUILD));
    return kind;
}

static inline tamis_kind first_plain(void)
{
    return next_plain(TAMIS_NO_KIND);
}

/* ---- Running laws ------------------------------------------------------ */

typedef struct law {
    const char *says;
    void (*check)(tamis_kind kind);
    void (*check_with)(tamis_kind kind, const void *arg); /* instead of check */
    const void *arg;
    unsigned can, cannot;
    bool of_files; /* of code that treats kinds by the few ways there are to make a file of them */
} law;

typedef struct law_case {
    const law *law;
    tamis_kind kind;
    bool held;
    char name[128];
} law_case;

static char law_at[256];

/* How a filter gets into a file: added to, solved, written in order; sets or sketches. */
static inline unsigned way_to_a_file(tamis_kind kind)
{
    const unsigned ways = TAMIS_CAN_ADD | TAMIS_CAN_RESIZE | TAMIS_IS_INDEXED;
    const tamis_ops *ops = tamis__ops(kind);
    bool is_set_or_sketch = ops->traits & TAMIS_TRAIT_BUILDS_SETS || ops->limits.error > 0;

    return (tamis_kind_can(kind) & ways) * 2 + is_set_or_sketch;
}

/* One before it goes the same way. */
static inline bool another_stands_for(tamis_kind kind)
{
    tamis_kind first = first_plain();

    while (first && first != kind && way_to_a_file(first) != way_to_a_file(kind))
        first = next_plain(first);
    return first && first != kind;
}

/* Of kinds that go the same way the first stands for all, but in a long run. KIND=... in the
 * environment leaves one. */
static inline bool law_applies(const law *l, tamis_kind kind)
{
    unsigned can = tamis_kind_can(kind);
    const char *only = getenv("KIND");

    if (only ? strcmp(only, tamis_kind_name(kind)) != 0
             : l->of_files && !is_long_run() && another_stands_for(kind))
        return false;
    return (can & l->can) == l->can && !(can & l->cannot);
}

static inline void law_run(void **state)
{
    law_case *c = *state;

    law_at[0] = '\0';
    if (c->law->check)
        c->law->check(c->kind);
    else
        c->law->check_with(c->kind, c->law->arg);
    c->held = true;
}

static inline int law_report(void **state)
{
    law_case *c = *state;

    if (!c->held)
        print_error("%s\nreplay: SEED=%#llx %s '%s'\n", law_at, (unsigned long long)test_seed(),
                    test_program, c->name);
    return 0;
}

static inline struct CMUnitTest law_test(law_case *c, const law *l, tamis_kind kind)
{
    *c = (law_case){ .law = l, .kind = kind };
    snprintf(c->name, sizeof c->name, "%s: %s", tamis_kind_name(kind), l->says);
    return (struct CMUnitTest){ c->name, law_run, NULL, law_report, c };
}

static inline int check_laws_from(tamis_kind first, tamis_kind next(tamis_kind kind),
                                  const law *laws, size_t n)
{
    enum { MOST = 4096 };
    static law_case cases[MOST];
    static struct CMUnitTest tests[MOST];
    size_t used = 0;

    for (tamis_kind kind = first; kind; kind = next(kind))
        for (size_t i = 0; i < n; i++)
            if (law_applies(&laws[i], kind)) {
                assert_true(used < MOST);
                tests[used] = law_test(&cases[used], &laws[i], kind);
                used++;
            }
    if (getenv("KIND") && used == 0) {
        print_error("no law is for the kind '%s'\n", getenv("KIND"));
        return EXIT_FAILURE;
    }
    return _cmocka_run_group_tests("laws", tests, used, NULL, NULL);
}

static inline int check_laws(const law *laws, size_t n)
{
    return check_laws_from(first_plain(), next_plain, laws, n);
}

/* Also of kinds that need more than keys. */
static inline int check_laws_of_all(const law *laws, size_t n)
{
    return check_laws_from(first_kind(), tamis_kind_next, laws, n);
}

/* ---- Filters for any kind ---------------------------------------------- */

static inline tamis_spec spec_for(uint64_t keys, double fpr, uint64_t seed)
{
    return (tamis_spec)TAMIS_SPEC(.keys = keys, .fpr = fpr,
                                  .hasher = { .hash = TAMIS_RAW, .seed = seed });
}

static inline tamis_plan plan_of_spec(tamis_kind kind, tamis_spec spec)
{
    tamis_plan plan;

    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    return plan;
}

static inline tamis_plan plan_for(tamis_kind kind, uint64_t keys, double fpr, uint64_t seed)
{
    return plan_of_spec(kind, spec_for(keys, fpr, seed));
}

static inline tamis_plan growing_plan(tamis_kind kind, uint64_t keys, double fpr, double load)
{
    tamis_spec spec = spec_for(keys, fpr, 8);

    spec.can = TAMIS_CAN_GROW;
    spec.load = load;
    return plan_of_spec(kind, spec);
}

/* Kinds that need more than keys get values of a few bits, or as many others as keys and one. */
static inline tamis_spec spec_for_any(tamis_kind kind, uint64_t keys, double fpr, uint64_t seed)
{
    tamis_spec spec = spec_for(keys, fpr, seed);

    spec.value_bits = tamis_kind_can(kind) & TAMIS_CAN_GET ? 7 : 0;
    spec.universe = tamis_kind_can(kind) & TAMIS_CAN_EXCLUDE ? 2 * keys + 1 : 0;
    return spec;
}

/* Of sketches, those that keep sums: equations hold of them, and only bounds of others. */
static inline tamis_plan plan_of_sums(tamis_kind kind, uint64_t keys, double fpr, uint64_t seed)
{
    tamis_spec spec = spec_for_any(kind, keys, fpr, seed);

    spec.can = tamis_kind_can(kind) & TAMIS_CAN_DOT;
    return plan_of_spec(kind, spec);
}

static inline tamis *new_filter(const tamis_plan *plan)
{
    tamis *f = NULL;

    assert_int_equal(tamis_new(&f, plan, NULL), TAMIS_OK);
    return f;
}

static inline void add_all(tamis *f, const uint64_t *keys, size_t n)
{
    size_t added = 0;

    assert_int_equal(tamis_add_many(f, &added, keys, n), TAMIS_OK);
    assert_int_equal(added, n);
}

static inline tamis *filter_of(const tamis_plan *plan, const uint64_t *keys, size_t n)
{
    tamis *f = NULL;

    assert_int_equal(tamis_build(&f, plan, keys, n, NULL), TAMIS_OK);
    return f;
}

/* Beside the keys are their values, or as many others. */
static inline tamis_status build_any(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                     const uint64_t *beside, size_t n, const tamis_allocator *a)
{
    if (tamis_kind_can(plan->kind) & TAMIS_CAN_GET)
        return tamis_build_map(out, plan, keys, beside, n, a);
    if (tamis_kind_can(plan->kind) & TAMIS_CAN_EXCLUDE)
        return tamis_build_excluding(out, plan, keys, n, beside, n, a);
    return tamis_build(out, plan, keys, n, a);
}

static inline bool is_indexed(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_IS_INDEXED;
}

static inline bool is_exact(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_IS_EXACT;
}

static inline bool has_trait(tamis_kind kind, enum tamis_trait trait)
{
    return tamis__ops(kind)->traits & (unsigned)trait;
}

static inline bool is_sketch(tamis_kind kind)
{
    return tamis__ops(kind)->limits.error > 0;
}

/* Kinds that take any number of keys, at a price. */
static inline bool is_never_full(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_CAN_READ_WHILE_ADD || is_sketch(kind) ||
           has_trait(kind, TAMIS_TRAIT_COUNTER_BITS);
}

/* Filters of that plan make room by themselves, if only for higher counts. */
static inline bool grows(const tamis_plan *p)
{
    return p->flags & TAMIS_PLAN_GROWS || has_trait(p->kind, TAMIS_TRAIT_GROWS) ||
           has_trait(p->kind, TAMIS_TRAIT_GROWS_COUNTS);
}

/* Slots in use, of kinds that tell their room. */
static inline uint64_t used_slots(const tamis *f)
{
    uint64_t ranges = UINT64_C(1) << f->ops.room(f, 0, 1).range_bits, used = 0;

    for (uint64_t i = 0; i < ranges; i++)
        used += f->ops.room(f, i, 1).used;
    return used;
}

/* A list of kinds that ends with TAMIS_NO_KIND. */
static inline bool is_listed(const tamis_kind *list, tamis_kind kind)
{
    while (*list && *list != kind)
        list++;
    return *list;
}

/* What single kinds do, and no ability tells: laws that cannot hold of these allow for it. */

/* Adds in batches answer as single ones do, but make other bytes. */
static inline bool rearranges(tamis_kind kind)
{
    static const tamis_kind LIST[] = { TAMIS_CUCKOO, TAMIS_NO_KIND };

    return is_listed(LIST, kind);
}

/* Counts are bounds, and which ones depends on the order of adds. */
static inline bool counts_vary(tamis_kind kind)
{
    static const tamis_kind LIST[] = { TAMIS_SPECTRAL_MI, TAMIS_SPECTRAL_RM, TAMIS_NO_KIND };

    return is_listed(LIST, kind);
}

/* Counts are too low in rare cases, but never 0 for a key that is there. */
static inline bool may_undercount(tamis_kind kind)
{
    static const tamis_kind LIST[] = { TAMIS_SPECTRAL_RM, TAMIS_NO_KIND };

    return is_listed(LIST, kind);
}

/* Kinds with whole hashes tell keys apart that share a fingerprint. What that took stays when one
 * of them is removed: then they find what they would have found, and perhaps less. */
static inline bool tells_keys_apart(tamis_kind kind)
{
    return ops_have_whole_hashes(tamis__ops(kind));
}

/* The fingerprint of a key by the contract of src/filter.h. */
static inline uint64_t print_of(const tamis_plan *p, uint64_t key)
{
    uint64_t hash = hash_key(key, salt_of_seed(p->hasher.seed));

    return tells_keys_apart(p->kind) ? hash : scale64(hash, p->slots << p->width);
}

/* Marks stay where keys were turned away: once keys have come and gone, lookups go further, and
 * find what they would have found and perhaps more. Keys of one fingerprint may share one of two
 * places, and which of them a lookup meets depends on the order of adds. */
static inline bool keeps_marks(tamis_kind kind)
{
    static const tamis_kind LIST[] = { TAMIS_MORTON, TAMIS_NO_KIND };

    return is_listed(LIST, kind);
}

/* Counts are of the very key, and lookups are not. Which strangers these find depends on where keys
 * came to lie: what moved to make room does not move back. */
static inline bool counts_very_keys(tamis_kind kind)
{
    static const tamis_kind LIST[] = { TAMIS_ACF, TAMIS_NO_KIND };

    return is_listed(LIST, kind);
}

/* Kinds that decode what they are asked for: a thousand answers take as long as a hundred thousand
 * elsewhere. They have a plain filter of the same bits. */
static inline bool is_slow(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_CAN_CONVERT && !(tamis_kind_can(kind) & TAMIS_CAN_ADD);
}

/* Distinct keys that the plan can take, those most likely to be mistaken for "empty" first: the
 * smallest, the largest, and the one whose place is zero. At most `n`, fewer if the kind has no
 * more; *n tells. */
static inline uint64_t *universe_of(const tamis_plan *plan, rng *r, size_t *n)
{
    const uint64_t special[] = { salt_of_seed(plan->hasher.seed), 0, UINT64_MAX };
    uint64_t *keys;

    if (is_indexed(plan->kind) && *n > plan->capacity)
        *n = (size_t)plan->capacity;
    keys = fresh_keys(r, *n);
    if (is_indexed(plan->kind)) {
        uint64_t *all = array_of(plan->capacity, sizeof *all);

        for (uint64_t i = 0; i < plan->capacity; i++)
            all[i] = i;
        shuffle(r, all, (size_t)plan->capacity);
        memcpy(keys, all, *n * sizeof *keys);
        free(all);
    } else {
        memcpy(keys, special, (*n < 3 ? *n : 3) * sizeof *keys);
    }
    return keys;
}

/* ---- Filters as bytes -------------------------------------------------- */

typedef struct image_bytes {
    uint8_t *at; /* aligned as a view wants it */
    size_t size;
} image_bytes;

static inline image_bytes image_of(const tamis *f)
{
    image_bytes b = { NULL, tamis_image_size(f) };

    b.at = aligned_alloc(64, (b.size + 63) / 64 * 64);
    assert_non_null(b.at);
    assert_int_equal(tamis_image_write(f, b.at, b.size), TAMIS_OK);
    return b;
}

static inline void free_bytes(image_bytes *b)
{
    free(b->at);
    b->at = NULL;
}

static inline bool is_image_of(const image_bytes *b, const tamis *f)
{
    image_bytes now = image_of(f);
    bool same = now.size == b->size && memcmp(now.at, b->at, b->size) == 0;

    free_bytes(&now);
    return same;
}

static inline bool same_image(const tamis *f, const tamis *g)
{
    image_bytes b = image_of(f);
    bool same = is_image_of(&b, g);

    free_bytes(&b);
    return same;
}

static inline bool same_payload(const tamis *f, const tamis *g)
{
    return f->plan.bytes == g->plan.bytes && memcmp(f->payload, g->payload, f->plan.bytes) == 0;
}

static inline bool is_whole(const tamis *f)
{
    return tamis_verify(f, NULL, NULL) == TAMIS_OK;
}

/* An image as it is sent: record() and play() are a tamis_sink and a tamis_source. */
typedef struct tape {
    uint8_t *bytes;
    size_t at;
} tape;

static inline bool record(void *ctx, const void *piece, size_t size)
{
    tape *t = ctx;

    memcpy(t->bytes + t->at, piece, size);
    t->at += size;
    return true;
}

static inline bool play(void *ctx, void *piece, size_t size)
{
    tape *t = ctx;

    memcpy(piece, t->bytes + t->at, size);
    t->at += size;
    return true;
}

/* Whether the n keys are there, asked all at once and one by one. */
static inline bool holds_all(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits);
    bool all = tamis_has_many(f, hits, keys, n) == n;

    for (size_t i = 0; i < n; i++)
        all = all && tamis_has(f, keys[i]);
    free(hits);
    return all;
}

/* A path in TMPDIR that no other process uses; whoever writes there removes it. */
static inline const char *temp_path(void)
{
    static char path[4096];
    const char *dir = getenv("TMPDIR");

    snprintf(path, sizeof path, "%s/tamis-test-%ld", dir ? dir : "/tmp", (long)getpid());
    return path;
}

#endif
