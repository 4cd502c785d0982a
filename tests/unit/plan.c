/* Plans: whatever is asked, the answer is a refusal or a plan that keeps the promise. */
#include "core/plan.h"
#include "core/sized.h"
#include "kinds.h"
#include "tamis_budget.h"
#include "tamis_builder.h"
#include "tamis_pair.h"

static const uint64_t EDGES[] = {
    0,
    1,
    2,
    63,
    64,
    65,
    65535,
    65536,
    65537,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0x100000000,
    0x100000001,
    UINT64_C(1) << 48,
    UINT64_C(1) << 63,
    UINT64_MAX - 1,
    UINT64_MAX,
};

enum { N_EDGES = sizeof EDGES / sizeof *EDGES };

static const double FPRS[] = {
    0,
    0.5,
    0.3,
    0.1,
    0.01,
    0.001,
    1e-6,
    1e-12,
    0x1p-64,
    0.61,
    0.999999,
    1 - 0x1p-53,
    /* refused */
    1,
    2,
    -1,
    -0.01,
    0x1p-65,
    1e-300,
    5e-324,
    NAN,
    -NAN,
    INFINITY,
    -INFINITY,
};

enum { N_FPRS = sizeof FPRS / sizeof *FPRS, N_GOOD_FPRS = 12 };

/* Plans compare as bytes, padding included. */
static tamis_plan untouched_plan(void)
{
    tamis_plan plan;

    memset(&plan, 0x77, sizeof plan);
    return plan;
}

static void assert_keeps(const tamis_plan *p, tamis_kind kind, const tamis_spec *spec)
{
    assert_int_equal(p->kind, kind);
    assert_true(p->capacity >= spec->keys);
    assert_true(p->bytes > 0 && p->bytes == tamis__ops(kind)->bytes(p));
    assert_true(!spec->max_bytes || p->bytes <= spec->max_bytes);
    assert_true(p->fpr >= 0 && p->fpr <= (spec->fpr != 0 ? spec->fpr : 0.9999));
    assert_true(spec->fpr != 0 || spec->max_bytes || p->fpr <= 0.01);
    /* Plans state it rounded to 32 bits, and never above what was asked: keys that collide, if they
     * are less than a thousandth of it, may be what is cut off. */
    double rate = tamis_plan_rate(p, p->capacity);
    double collisions = spec->hasher.hash == TAMIS_RAW ? 0 : (double)p->capacity * 0x1p-64;
    double highest = fmin(spec->fpr, 1 - 0x1p-20); /* that is planned */
    bool is_cut = collisions <= p->fpr * 0x1p-10 && (spec->fpr == 0 || p->fpr == highest);
    assert_true(fabs(p->fpr - rate) <= rate * 0x1p-32 + (is_cut ? collisions : 0));
    assert_int_equal(p->hasher.hash, spec->hasher.hash);
    assert_int_equal(p->hasher.seed, spec->hasher.seed);
    assert_memory_equal(p->hasher.secret, spec->hasher.secret, 16);
}

static void assert_usable(const tamis_plan *p)
{
    tamis *f = NULL;

    if (p->bytes > 1 << 20)
        return;
    assert_int_equal(tamis_new(&f, p, NULL), TAMIS_OK);
    assert_false(tamis_has(f, 0));
    if (p->capacity > 0 && tamis_kind_can(p->kind) & TAMIS_CAN_ADD) {
        assert_int_equal(tamis_add(f, 0), TAMIS_OK);
        assert_true(tamis_has(f, 0));
    }
    tamis_free(f);
}

static void assert_answer(tamis_kind kind, const tamis_spec *spec, bool is_sane)
{
    tamis_plan before = untouched_plan(), plan = untouched_plan();
    tamis_status status = tamis_plan_kind(&plan, kind, spec);

    if (status == TAMIS_OK) {
        assert_true(is_sane);
        assert_keeps(&plan, kind, spec);
        assert_usable(&plan);
    } else {
        assert_int_equal(status, TAMIS_RANGE);
        assert_memory_equal(&plan, &before, sizeof plan);
    }
}

static tamis_spec hashed_spec(uint64_t keys, double fpr, uint64_t max_bytes, tamis_hash hash)
{
    tamis_spec spec = TAMIS_SPEC(.keys = keys, .fpr = fpr, .max_bytes = max_bytes);

    spec.hasher = (tamis_hasher){ .hash = hash, .seed = 3 };
    spec.hasher.secret[7] = hash == TAMIS_KEYED;
    return spec;
}

/* Some combinations, and all in the long run. Rates that make no sense are refused whatever
 * else is asked for. */
static void every_edge_is_refused_or_kept(void **state)
{
    const size_t step = run_size(31, 97, 1);

    (void)state;
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind))
        for (int p = 0; p < N_FPRS; p++)
            for (int i = 0; i < N_EDGES; i++)
                for (int j = 0; j < N_EDGES; j++) {
                    bool is_sane = p < N_GOOD_FPRS;
                    tamis_hash hash = (tamis_hash)((p + i + j) % 3);
                    tamis_spec spec = hashed_spec(EDGES[i], FPRS[p], EDGES[j], hash);

                    if (is_sane ? (size_t)(p + i + j) % step == 0 : i == j)
                        assert_answer(kind, &spec, is_sane);
                }
}

/* So many keys, as a power of two, have room in any kind on this machine. */
static const unsigned ADDRESSED = sizeof(size_t) > 4 ? 30 : 22;

static void ordinary_specs_are_not_refused(void **state)
{
    rng r = rng_for(10, 0);

    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (int i = 0; i < 300; i++) {
            uint64_t keys = rng_next(&r) >> (64 - ADDRESSED + rng_below(&r, ADDRESSED));
            double fpr = exp2(-1 - (double)rng_below(&r, 1000) / 100);
            tamis_hash hash = is_indexed(kind) ? TAMIS_RAW : (tamis_hash)(i % 3);
            tamis_spec spec = hashed_spec(keys, fpr, 0, hash);
            tamis_plan plan;

            assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
            assert_keeps(&plan, kind, &spec);
        }
}

static tamis_status plan_hashed(tamis_plan *p, tamis_kind kind, uint64_t keys, int bits,
                                tamis_hash hash)
{
    tamis_spec spec = hashed_spec(keys, ldexp(1, -bits), 0, hash);

    spec.value_bits = tamis_kind_can(kind) & TAMIS_CAN_GET ? 8 : 0;
    spec.universe = tamis_kind_can(kind) & TAMIS_CAN_EXCLUDE ? 20 * keys : 0;
    return tamis_plan_kind(p, kind, &spec);
}

/* Powers of two cost as many bits whatever the hash, as long as collisions do not matter. */
static void assert_whole_bits(tamis_kind kind, uint64_t keys, int bits)
{
    for (tamis_hash hash = TAMIS_FAST; hash <= TAMIS_KEYED; hash++) {
        tamis_plan raw, hashed;

        assert_int_equal(plan_hashed(&raw, kind, keys, bits, TAMIS_RAW), TAMIS_OK);
        assert_int_equal(plan_hashed(&hashed, kind, keys, bits, hash), TAMIS_OK);
        assert_int_equal(hashed.bytes, raw.bytes);
        assert_int_equal(hashed.width, raw.width);
        assert_int_equal(hashed.hashes, raw.hashes);
        assert_true(hashed.fpr <= ldexp(1, -bits));
        assert_true(tamis_plan_rate(&hashed, keys) <= ldexp(1 + 0x1p-10, -bits));
    }
}

static void powers_of_two_take_whole_bits(void **state)
{
    const uint64_t sizes[] = { 1, 1000, 1000000, 4000000 };
    tamis_plan p;

    (void)state;
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind)) {
        if (tamis_kind_can(kind) & TAMIS_CAN_ADD)
            continue;
        for (int bits = 1; bits <= 32; bits++) {
            for (int i = 0; i < 4; i++)
                assert_whole_bits(kind, sizes[i], bits);
            if (bits <= 22)
                assert_whole_bits(kind, UINT64_C(1000000000) >> (30 - ADDRESSED), bits);
        }
        if (sizeof(size_t) == 4) /* so many keys cannot be addressed */
            continue;
        /* Where a quarter of the errors would be collisions, 2^-32 is not to be had. */
        assert_int_equal(plan_hashed(&p, kind, 1000000000, 32, TAMIS_RAW), TAMIS_OK);
        if (plan_hashed(&p, kind, 1000000000, 32, TAMIS_FAST) == TAMIS_OK)
            assert_true(tamis_plan_rate(&p, 1000000000) <= 0x1p-32);
    }
    assert_int_equal(plan_hashed(&p, TAMIS_FUSE, 10000000, 8, TAMIS_FAST), TAMIS_OK);
    assert_int_equal(p.width, 8);
}

static void every_small_number_of_keys_has_a_plan(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (uint64_t n = 0; n <= 4096; n += n < run_size(130, 20, 130) ? 1 : run_size(41, 499, 1))
            for (int p = 2; p <= 4; p++) {
                tamis_spec spec = spec_for(n, FPRS[p], 1);
                tamis_plan plan;

                assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
                assert_keeps(&plan, kind, &spec);
            }
}

/* ---- Budgets ----------------------------------------------------------- */

static void a_budget_is_used_for_the_rate(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        double last = 1;

        for (uint64_t bytes = 2048; bytes <= 1 << 20; bytes += bytes / run_size(2, 1, 3)) {
            tamis_spec spec = hashed_spec(1000, 0, bytes, TAMIS_RAW), better;
            tamis_plan plan, finer;

            if (tamis_plan_kind(&plan, kind, &spec) != TAMIS_OK)
                continue;
            assert_true(plan.bytes <= bytes && plan.fpr <= last);
            last = plan.fpr;
            better = spec;
            better.fpr = plan.fpr * 0.98;
            assert_true(is_exact(kind) || plan.fpr <= 0x1p-63 ||
                        tamis_plan_kind(&finer, kind, &better) == TAMIS_RANGE);
        }
    }
}

static void a_budget_is_used_for_the_keys(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (uint64_t bytes = 256; bytes <= 1 << 30; bytes *= run_size(3, 27, 3)) {
            tamis_spec spec = hashed_spec(0, 0.01, bytes, TAMIS_RAW), more;
            tamis_plan plan, larger;

            if (plan_for(kind, 0, 0.01, 1).bytes > bytes) {
                assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_RANGE);
                continue;
            }
            assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
            assert_true(plan.capacity > 0 && plan.bytes <= bytes);
            more = spec;
            more.keys = plan.capacity + 1;
            assert_int_equal(tamis_plan_kind(&larger, kind, &more), TAMIS_RANGE);
        }
}

/* The fewest bits per key at p, over whole numbers of hashes: what a textbook would plan. */
static double textbook_bloom_bits(double p)
{
    double best = INFINITY;

    for (int k = 1; k <= 64; k++)
        best = fmin(best, -k / log1p(-pow(p, 1.0 / k)));
    return best;
}

/* Poisson mixture over the blocks of a split block filter. */
static double textbook_blocked_rate(double load)
{
    double rate = 0, weight = exp(-load);

    for (int i = 0; i < 1000; i++) {
        rate += weight * pow(1 - pow(31.0 / 32, i), 8);
        weight *= load / (i + 1);
    }
    return rate;
}

static double textbook_blocked_bits(double p)
{
    double low = 1, high = 500;

    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        *(textbook_blocked_rate(256 / middle) > p ? &low : &high) = middle;
    }
    return high;
}

/* Per key. */
static double textbook_bits(tamis_kind kind, double p)
{
    switch (kind) {
    case TAMIS_BITMAP:
        return 1;
    case TAMIS_BLOCKED:
        return textbook_blocked_bits(p);
    default:
        return textbook_bloom_bits(p);
    }
}

static void assert_near_textbook(tamis_kind kind, double p)
{
    double bits = textbook_bits(kind, p);

    for (double n = 1000; n <= 1e7; n = floor(n * 1.013)) {
        double planned = (double)plan_for(kind, (uint64_t)n, p, 1).bytes * 8;

        assert_true(planned <= n * bits * 1.05 + 64);
        assert_true(planned >= n * bits * 0.999 - 64);
    }
}

/* No rounding to powers of two, at no size. */
static void bytes_follow_the_textbook_within_5_percent(void **state)
{
    const tamis_kind kinds[] = { TAMIS_BITMAP, TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED };

    (void)state;
    for (int k = 0; k < 4; k++)
        for (int p = 3; p <= 5; p++)
            assert_near_textbook(kinds[k], FPRS[p]);
}

static void bytes_of_a_hashset_grow_smoothly(void **state)
{
    double least = INFINITY, most = 0;

    (void)state;
    for (double n = 1000; n <= 1e7; n *= 1.003) {
        tamis_plan plan = plan_for(TAMIS_HASHSET, (uint64_t)n, 0.01, 1);
        double per_key = (double)plan.bytes / floor(n);

        least = fmin(least, per_key);
        most = fmax(most, per_key);
    }
    assert_true(least >= 8 && most <= least * 1.1);
}

/* ---- All kinds --------------------------------------------------------- */

static void plan_all_sorts_what_plan_kind_gives(void **state)
{
    rng r = rng_for(11, 0);

    (void)state;
    for (size_t i = 0; i < run_size(100, 20, 200); i++) {
        tamis_spec spec =
            hashed_spec(rng_next(&r) >> (34 + rng_below(&r, 30)), 0.01, 0, (tamis_hash)(i % 3));
        tamis_plan plans[32], plan;
        size_t n = tamis_plan_all(plans, 32, &spec), expected = 0;

        for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind))
            expected += tamis_plan_kind(&plan, kind, &spec) == TAMIS_OK;
        assert_int_equal(n, expected);
        for (size_t j = 0; j < n; j++) {
            assert_int_equal(tamis_plan_kind(&plan, plans[j].kind, &spec), TAMIS_OK);
            assert_memory_equal(&plan, &plans[j], sizeof plan);
            assert_true(j == 0 || plans[j - 1].bytes <= plans[j].bytes);
        }
    }
}

static void plan_all_fills_no_more_than_asked(void **state)
{
    tamis_spec spec = hashed_spec(1000, 0.01, 0, TAMIS_RAW);
    tamis_plan all[32];
    size_t n = tamis_plan_all(all, 32, &spec);

    (void)state;
    for (size_t max = 0; max <= n; max++) {
        tamis_plan plans[32], untouched = untouched_plan();

        for (int i = 0; i < 32; i++)
            plans[i] = untouched;
        assert_int_equal(tamis_plan_all(plans, max, &spec), n);
        assert_memory_equal(plans, all, max * sizeof *plans);
        assert_memory_equal(&plans[max], &untouched, sizeof untouched);
    }
}

static void abilities_are_asked_for(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (unsigned bit = 0; bit < 32; bit++) {
            tamis_spec spec = hashed_spec(10, 0.01, 0, TAMIS_RAW);
            tamis_plan plan = untouched_plan(), before = untouched_plan();
            tamis_status wanted = tamis_kind_can(kind) >> bit & 1 ? TAMIS_OK : TAMIS_CANNOT;

            spec.can = 1u << bit;
            assert_int_equal(tamis_plan_kind(&plan, kind, &spec), wanted);
            assert_int_equal(memcmp(&plan, &before, sizeof plan) == 0, wanted != TAMIS_OK);
        }
}

/* Of what a kind does if asked to, a plan has what it was asked for. */
static unsigned if_asked_to(tamis_kind kind)
{
    return (has_trait(kind, TAMIS_TRAIT_CAN_GROW) ? TAMIS_CAN_GROW : 0u) |
           (has_trait(kind, TAMIS_TRAIT_CAN_DELETE_EXACTLY) ? TAMIS_CAN_EXACT_DELETE : 0u) |
           (ops_have_whole_hashes(tamis__ops(kind)) ? TAMIS_CAN_ASK_KEYS : 0u) |
           (tamis__ops(kind)->dot ? TAMIS_CAN_DOT : 0u);
}

static void plans_can_what_was_asked_for(void **state)
{
    const unsigned options[] = { TAMIS_CAN_GROW, TAMIS_CAN_EXACT_DELETE, TAMIS_CAN_DOT };

    (void)state;
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind))
        for (unsigned subset = 0; subset < 8; subset++) {
            unsigned optional = if_asked_to(kind), all = tamis_kind_can(kind);
            tamis_spec spec = hashed_spec(10, is_exact(kind) ? 0 : 0.01, 0, TAMIS_RAW);
            tamis_plan plan;

            assert_int_equal(optional & ~all, 0);
            for (int i = 0; i < 3; i++)
                spec.can |= subset >> i & 1 ? options[i] & all : 0;
            spec.value_bits = all & TAMIS_CAN_GET ? 8 : 0;
            spec.universe = all & TAMIS_CAN_EXCLUDE ? 20 : 0;
            assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
            assert_int_equal(tamis_plan_can(&plan), (all & ~optional) | spec.can);
        }
}

/* Smaller than the first version of the struct, or larger than any will be. */
static void impossible_sizes_of_the_spec_are_refused(void **state)
{
    const size_t sizes[] = { 0, 1, SIZED_SPEC - 1, 1 << 20, SIZE_MAX };
    tamis_plan plan = untouched_plan(), before = untouched_plan();

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tamis_spec spec = hashed_spec(10, 0.01, 0, TAMIS_RAW);

        spec.size = sizes[i];
        for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind))
            assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_RANGE);
        assert_int_equal(tamis_plan_all(&plan, 1, &spec), 0);
        assert_memory_equal(&plan, &before, sizeof plan);
    }
}

/* A later version has more fields: they are fine as long as they ask for nothing. */
static void later_specs_are_taken_if_they_ask_for_nothing_new(void **state)
{
    struct {
        tamis_spec spec;
        uint64_t later;
    } s = { hashed_spec(10, 0.01, 0, TAMIS_RAW), 0 };
    tamis_plan plan;

    (void)state;
    s.spec.size = sizeof s;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_BLOOM, &s.spec), TAMIS_OK);
    s.later = 1;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_BLOOM, &s.spec), TAMIS_RANGE);
}

static void unknown_kinds_have_no_plan(void **state)
{
    tamis_spec spec = hashed_spec(10, 0.01, 0, TAMIS_RAW);
    tamis_plan plan = untouched_plan(), before = untouched_plan();

    (void)state;
    assert_int_equal(tamis_plan_kind(&plan, (tamis_kind)99, &spec), TAMIS_RANGE);
    assert_memory_equal(&plan, &before, sizeof plan);
}

/* ---- The best kind ----------------------------------------------------- */

static double bytes_per_key(const tamis_plan *p)
{
    return (double)p->bytes / (double)(p->capacity ? p->capacity : 1);
}

/* Unless it is asked for. */
static bool is_never_chosen(tamis_kind kind)
{
    return tamis_kind_can(kind) & (TAMIS_IS_INDEXED | TAMIS_CAN_ROTATE | TAMIS_IS_TO_STUDY);
}

/* Against all plans, most of which have no use for a price of speed. */
static void assert_chosen_well(const tamis_spec *spec)
{
    tamis_plan all[64], best = untouched_plan(), before = untouched_plan();
    size_t n = tamis_plan_all(all, 64, spec);
    tamis_status status = tamis_plan_kind(&best, TAMIS_NO_KIND, spec);

    if (status) {
        assert_memory_equal(&best, &before, sizeof best);
        for (size_t i = 0; i < n; i++)
            assert_true(is_never_chosen(all[i].kind));
        return;
    }
    assert_keeps(&best, best.kind, spec);
    assert_false(is_never_chosen(best.kind));
    for (size_t i = 0; i < n; i++) {
        unsigned can = tamis_kind_can(all[i].kind);
        if (is_never_chosen(all[i].kind))
            continue;
        assert_true(bytes_per_key(&best) <= 2 * bytes_per_key(&all[i]));
        assert_true(!(can & TAMIS_IS_EXACT) || bytes_per_key(&best) <= bytes_per_key(&all[i]));
    }
}

static void the_best_kind_is_near_the_smallest(void **state)
{
    (void)state;
    for (int p = 0; p < N_GOOD_FPRS; p++)
        for (size_t k = 0; k < N_EDGES; k += run_size(1, 4, 1)) {
            tamis_spec spec = hashed_spec(EDGES[k], FPRS[p], 0, TAMIS_FAST);
            assert_chosen_well(&spec);
            spec.hasher.hash = TAMIS_RAW;
            spec.can = TAMIS_CAN_REMOVE;
            assert_chosen_well(&spec);
        }
}

static tamis_kind best_kind(tamis_spec spec)
{
    tamis_plan plan = { 0 };

    spec.size = sizeof spec;
    return tamis_plan_kind(&plan, TAMIS_NO_KIND, &spec) ? TAMIS_NO_KIND : plan.kind;
}

static void the_best_kind_does_what_is_asked(void **state)
{
    const uint64_t n = 1000000;

    (void)state;
    assert_int_equal(best_kind((tamis_spec){ .keys = n }), TAMIS_BLOCKED);
    assert_int_equal(best_kind((tamis_spec){ .keys = n, .max_bytes = n }), TAMIS_BLOCKED);
    assert_int_equal(best_kind((tamis_spec){ .max_bytes = n }), TAMIS_BLOCKED);
    assert_int_equal(best_kind((tamis_spec){ .keys = n, .can = TAMIS_CAN_COUNT }), TAMIS_CQF);
    assert_int_equal(best_kind((tamis_spec){ .keys = n, .can = TAMIS_CAN_ROTATE }), TAMIS_WINDOW);
    assert_int_equal(best_kind((tamis_spec){ .keys = n, .can = TAMIS_IS_EXACT }), TAMIS_HASHSET);
    assert_int_equal(best_kind((tamis_spec){ .keys = n, .fpr = 1e-15 }), TAMIS_NO_KIND);
    assert_int_equal(best_kind((tamis_spec){ .keys = n, .value_bits = 8 }), TAMIS_MAP);
    assert_int_equal(
        best_kind((tamis_spec){ .keys = n, .can = TAMIS_CAN_COUNT, .counter_bits = 4 }),
        TAMIS_COUNTING);
}

static void kinds_to_study_are_chosen_if_asked_for(void **state)
{
    const unsigned wishes[] = { 0, TAMIS_CAN_ADD, TAMIS_CAN_REMOVE, TAMIS_CAN_COUNT,
                                TAMIS_CAN_RESIZE };

    (void)state;
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        for (uint64_t keys = 1; keys < 1000000; keys *= 7) {
            tamis_spec spec = { .keys = keys, .can = wishes[i] };
            assert_false(tamis_kind_can(best_kind(spec)) & TAMIS_IS_TO_STUDY);
            spec.can |= TAMIS_IS_TO_STUDY;
            assert_true(tamis_kind_can(best_kind(spec)) & TAMIS_IS_TO_STUDY);
        }
}

/* ---- Hashers ----------------------------------------------------------- */

static void assert_hasher(tamis_hasher hasher, bool is_good)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 10, .fpr = 0.01, .hasher = hasher);

    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        bool fits = is_good && (!is_indexed(kind) || hasher.hash == TAMIS_RAW);
        tamis_plan plan;

        assert_int_equal(tamis_plan_kind(&plan, kind, &spec), fits ? TAMIS_OK : TAMIS_RANGE);
    }
}

/* A secret goes with the keyed hash and with no other. */
static void hashers_are_checked(void **state)
{
    (void)state;
    assert_hasher((tamis_hasher){ .hash = TAMIS_FAST }, true);
    assert_hasher((tamis_hasher){ .hash = TAMIS_RAW, .seed = UINT64_MAX }, true);
    assert_hasher((tamis_hasher){ .hash = TAMIS_KEYED, .secret = { [15] = 1 } }, true);
    assert_hasher((tamis_hasher){ .hash = TAMIS_KEYED }, false);
    assert_hasher((tamis_hasher){ .hash = TAMIS_FAST, .secret = { 1 } }, false);
    assert_hasher((tamis_hasher){ .hash = TAMIS_RAW, .secret = { [15] = 1 } }, false);
    assert_hasher((tamis_hasher){ .hash = (tamis_hash)3 }, false);
    assert_hasher((tamis_hasher){ .hash = (tamis_hash)0x7fffffff }, false);
}

/* ---- Plans edited by hand ---------------------------------------------- */

static void assert_refused(const tamis_plan *plan)
{
    tamis *out = (tamis *)(uintptr_t)0x10;

    assert_int_equal(tamis_new(&out, plan, NULL), TAMIS_RANGE);
    assert_int_equal(tamis_build(&out, plan, NULL, 0, NULL), TAMIS_RANGE);
    assert_ptr_equal(out, (tamis *)(uintptr_t)0x10);
}

#define REFUSED(plan, change)     \
    do {                          \
        tamis_plan edited = plan; \
        edited.change;            \
        assert_refused(&edited);  \
    } while (0)

/* In these the width is a rate or a way to count, and any such is possible. */
static bool has_size_in_width(tamis_kind kind)
{
    return kind != TAMIS_SCALABLE && kind != TAMIS_COUNTMIN;
}

static void impossible_plans_are_refused(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        const tamis_plan plan = plan_for(kind, 1000, 0.01, 1);

        REFUSED(plan, kind = TAMIS_NO_KIND);
        REFUSED(plan, kind = (tamis_kind)99);
        REFUSED(plan, bytes = 0);
        REFUSED(plan, bytes--);
        REFUSED(plan, bytes += 8);
        REFUSED(plan, bytes = UINT64_MAX);
        REFUSED(plan, slots = 0);
        REFUSED(plan, slots *= is_slow(kind) ? UINT64_C(1) << 40 : 2);
        REFUSED(plan, slots = UINT64_MAX);
        REFUSED(plan, slots = UINT64_C(1) << 63);
        REFUSED(plan, width += has_size_in_width(kind) ? 1 : UINT32_MAX / 2);
        REFUSED(plan, width = UINT32_MAX);
        REFUSED(plan, hashes = UINT32_MAX);
        REFUSED(plan, flags |= 1u << 15);
        REFUSED(plan, load = has_trait(kind, TAMIS_TRAIT_KEEPS_LOAD) ? 0 : 1);
        REFUSED(plan, load = 1001);
        REFUSED(plan, fpr = NAN);
        REFUSED(plan, fpr = -1);
        REFUSED(plan, fpr = 1.5);
        REFUSED(plan, hasher.hash = (tamis_hash)3);
        REFUSED(plan, hasher.hash = TAMIS_KEYED);
        REFUSED(plan, hasher.secret[0] = 1);
    }
}

/* A product that wraps to the right number of bytes is as wrong as any other. */
static void wrapping_sizes_have_no_geometry(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (int i = 0; i < N_EDGES; i++)
            for (int j = 0; j < N_EDGES; j++) {
                tamis_plan plan = plan_for(kind, 1000, 0.01, 1);

                plan.slots = EDGES[i];
                plan.hashes = (uint32_t)EDGES[j];
                plan.bytes = tamis__ops(kind)->bytes(&plan);
                if (plan.bytes > UINT64_C(1) << 45)
                    assert_refused(&plan);
                else if (plan.bytes && !is_slow(kind)) /* whose slots are coded */
                    assert_true(plan.bytes >= plan.slots / 8);
            }
}

/* ---- Rates ------------------------------------------------------------- */

/* Kinds that forget stay below the rate asked for, however many keys come. */
static void assert_rates_stay(const tamis_plan *plan, double asked)
{
    for (uint64_t n = 1; n <= 2000; n += 1 + n / 10)
        assert_true(tamis_plan_rate(plan, n) <= asked);
    for (int i = 0; i < 64; i++)
        assert_true(tamis_plan_rate(plan, UINT64_C(1) << i) <= asked);
}

/* A kind that grows is as good at any size that it can have, which is of 2^32 keys and more. */
static void assert_rates_hold(const tamis_plan *plan, double asked)
{
    for (int i = 0; i <= 32; i++)
        assert_true(tamis_plan_rate(plan, UINT64_C(1) << i) <= asked);
}

static void assert_rates_rise(const tamis_plan *plan)
{
    double last = 0;

    for (uint64_t n = 1; n <= 2000; n += 1 + n / 10) {
        double rate = tamis_plan_rate(plan, n);

        assert_true(rate >= last && rate <= 1);
        last = rate;
    }
    for (int i = 0; i < 64; i++)
        assert_true(tamis_plan_rate(plan, UINT64_C(1) << i) <= 1);
    assert_true(tamis_plan_rate(plan, UINT64_MAX) <= 1);
    /* A kind that cannot add never holds more than was planned, one that tells keys apart takes a
     * share of strangers for them only, and one that grows has grown. */
    assert_true(is_exact(plan->kind) || tells_keys_apart(plan->kind) ||
                tamis__plan_keeps_rate(plan) || !(tamis_kind_can(plan->kind) & TAMIS_CAN_ADD) ||
                tamis_plan_rate(plan, UINT64_MAX) > 0.99);
}

static void rates_rise_with_the_keys(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (int p = 1; p <= 5; p++) {
            tamis_plan plan = plan_for(kind, 500, FPRS[p], 1);

            assert_true(tamis_plan_rate(&plan, 0) == 0);
            if (tamis_kind_can(kind) & TAMIS_CAN_ROTATE)
                assert_rates_stay(&plan, FPRS[p]);
            else
                assert_rates_rise(&plan);
            if (tamis__plan_keeps_rate(&plan) && tamis_plan_can(&plan) & TAMIS_CAN_GROW)
                assert_rates_hold(&plan, FPRS[p]);
        }
}

/* ---- Growth ------------------------------------------------------------ */

enum { GROWS_FROM = 100, GROWS_TO = 6400 };

static tamis_plan plan_to_grow(tamis_kind kind, uint64_t keys, double fpr, uint64_t grow_to)
{
    tamis_spec spec = spec_for(keys, fpr, 1);
    tamis_plan plan;

    spec.grow_to = grow_to;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    return plan;
}

/* Returns how many went in, until it was full. */
static size_t add_until_full(tamis *f, size_t most)
{
    rng r = rng_for(21, 0);
    uint64_t *keys = fresh_keys(&r, most), *hits = array_of(most / 64 + 1, sizeof *hits);
    size_t added;
    tamis_status status = tamis_add_many(f, &added, keys, most);

    assert_int_equal(status, added < most ? TAMIS_FULL : TAMIS_OK);
    assert_int_equal(tamis_has_many(f, hits, keys, added), added);
    free(keys);
    free(hits);
    return added;
}

/* Kinds in order have no slot more; some copies of a fingerprint share slots. */
static void growth_ends_where_it_was_planned_to(void **state)
{
    const uint64_t from[] = { 0, 1, GROWS_FROM, GROWS_TO };

    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (int i = 0; i < 8 && tamis_kind_can(kind) & TAMIS_CAN_GROW; i++) {
            tamis_plan plan = plan_to_grow(kind, from[i / 2], i % 2 ? 0.3 : 0.001, GROWS_TO);
            tamis *f = new_filter(&plan);
            bool is_bounded = !tamis__plan_keeps_rate(&plan);

            assert_true(tamis_plan_can(&plan) & TAMIS_CAN_GROW);
            assert_int_equal(plan.grow_to, is_bounded ? GROWS_TO : 0);
            assert_true(tamis_plan_rate(&plan, GROWS_TO) <= (i % 2 ? 0.3 : 0.001));
            size_t held = add_until_full(f, 4 * GROWS_TO);
            assert_true(held >= GROWS_TO && is_bounded == (held < 4 * GROWS_TO));
            if (is_bounded && tamis_kind_can(kind) & TAMIS_CAN_RESIZE)
                assert_true(held < GROWS_TO + 100);
            assert_true(tamis_plan_rate(tamis_plan_of(f), held) <= (i % 2 ? 0.3 : 0.001));
            tamis_free(f);
        }
}

static void plans_to_grow_are_possible(void **state)
{
    tamis_spec spec = spec_for(1000, 0.01, 1);
    tamis_plan plan;

    (void)state;
    spec.grow_to = 999;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_CQF, &spec), TAMIS_RANGE);
    spec.grow_to = UINT64_C(1) << 60;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_CQF, &spec), TAMIS_RANGE);
    spec.grow_to = 2000;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_BLOOM, &spec), TAMIS_CANNOT);
    spec.tag_bits = 7;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_CQF, &spec), TAMIS_RANGE);
    spec.tag_bits = 8;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_CQF, &spec), TAMIS_OK);
}

/* Whoever names no kind and no end gets one that keeps the rate, from any number of keys on; and
 * one that says it can grow does, if only once. */
static void growth_without_an_end_keeps_the_rate(void **state)
{
    const unsigned more[] = { 0, TAMIS_CAN_REMOVE, TAMIS_CAN_COUNT, TAMIS_CAN_MERGE };
    const uint64_t keys[] = { 0, 1000, 1000000 };

    (void)state;
    for (int i = 0; i < 12; i++) {
        tamis_spec spec = spec_for(keys[i % 3], 0.01, 1);
        tamis_plan plan;

        spec.can = TAMIS_CAN_ADD | TAMIS_CAN_GROW | more[i / 3];
        assert_int_equal(tamis_plan_kind(&plan, TAMIS_NO_KIND, &spec), TAMIS_OK);
        assert_true(tamis__plan_keeps_rate(&plan));
        if (more[i / 3] == TAMIS_CAN_REMOVE)
            assert_int_equal(plan.kind, TAMIS_ALEPH);
        assert_rates_hold(&plan, 0.01);
        spec.grow_to = 4000000;
        assert_int_equal(tamis_plan_kind(&plan, TAMIS_NO_KIND, &spec), TAMIS_OK);
        assert_true(tamis_plan_rate(&plan, spec.grow_to) <= 0.01);
    }
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (int i = 0; i < 2 && tamis_kind_can(kind) & TAMIS_CAN_GROW; i++) {
            tamis_plan plan = growing_plan(kind, i ? GROWS_FROM : 0, 0.6, 0);
            tamis *f = new_filter(&plan);

            assert_true(add_until_full(f, 3000) >= (size_t)(i ? 2 * GROWS_FROM : 2000));
            tamis_free(f);
        }
}

/* Two inputs with one 64-bit hash cannot be told apart by any kind. */
static void hash_collisions_are_part_of_the_rate(void **state)
{
    tamis_spec spec = hashed_spec(UINT64_C(1) << ADDRESSED, 0.01, 0, TAMIS_FAST);
    tamis_plan plan;

    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        spec.fpr = 0.01;
        if (!is_exact(kind) || is_indexed(kind))
            continue;
        assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
        assert_true(plan.fpr == ldexp(1, (int)ADDRESSED - 64));
        spec.fpr = ldexp(1, (int)ADDRESSED - 70);
        assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_RANGE);
    }
}

/* 1 - e^-c: with one probe, which is best there. */
static void a_bit_per_key_or_less_gives_a_rate_below_1(void **state)
{
    (void)state;
    for (uint64_t bytes = 31250; bytes <= 125000; bytes *= 2) {
        tamis_spec spec = hashed_spec(1000000, 0, bytes, TAMIS_RAW);
        double best = -expm1(-1e6 / 8 / (double)bytes);
        tamis_plan plan;

        assert_int_equal(tamis_plan_kind(&plan, TAMIS_BLOOM, &spec), TAMIS_OK);
        assert_int_equal(plan.hashes, 1);
        assert_true(plan.fpr >= best * (1 - 1e-6) && plan.fpr <= best * 1.005);
    }
}

/* Of all that fit: sizes do not fall with every bit. */
static void the_best_rate_that_fits_is_given(void **state)
{
    const uint64_t bytes[] = { 69, 124 };

    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind))
        for (int i = 0; i < 2; i++) {
            tamis_spec spec = spec_for(18, 0, 0);
            tamis_plan best, p;

            spec.max_bytes = bytes[i];
            tamis_status status = tamis_plan_kind(&best, kind, &spec);
            for (int e = 1; e <= 64; e += (int)run_size(1, 5, 1)) {
                spec.fpr = ldexp(1, -e);
                if (tamis_plan_kind(&p, kind, &spec) == TAMIS_OK)
                    assert_true(status == TAMIS_OK && best.fpr <= p.fpr);
            }
        }
}

/* The plan of "no filter", and plans of kinds that there are not: every function that takes a plan
 * refuses it, or says that all keys pass. */
static void plans_of_no_kind_do_no_harm(void **state)
{
    const unsigned numbers[] = { TAMIS_NO_KIND, 18, 99, 0x7fffffff };
    const uint64_t key = 1;
    tamis_size sizes[TAMIS_SIZES_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const tamis_plan plan = { .kind = (tamis_kind)numbers[i] };
        tamis_pair *pair = NULL;
        tamis *f = NULL;

        assert_int_equal(tamis_plan_can(&plan), 0);
        assert_true(tamis_plan_rate(&plan, 0) == 1 && tamis_plan_rate(&plan, UINT64_MAX) == 1);
        assert_int_equal(tamis_budget_shrunk(sizes, &plan, 1000), 0);
        assert_int_equal(tamis_new(&f, &plan, NULL), TAMIS_RANGE);
        assert_int_equal(tamis_build(&f, &plan, &key, 1, NULL), TAMIS_RANGE);
        assert_int_equal(tamis_build_map(&f, &plan, &key, &key, 1, NULL), TAMIS_RANGE);
        assert_int_equal(tamis_build_excluding(&f, &plan, &key, 1, &key, 1, NULL), TAMIS_RANGE);
        assert_int_equal(tamis_build_threads(&f, &plan, &key, 1, 2, NULL), TAMIS_RANGE);
        assert_int_equal(tamis_pair_new(&pair, &plan, NULL, NULL), TAMIS_RANGE);
        assert_true(!f && !pair);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edge_is_refused_or_kept),
        cmocka_unit_test(ordinary_specs_are_not_refused),
        cmocka_unit_test(powers_of_two_take_whole_bits),
        cmocka_unit_test(every_small_number_of_keys_has_a_plan),
        cmocka_unit_test(a_budget_is_used_for_the_rate),
        cmocka_unit_test(a_budget_is_used_for_the_keys),
        cmocka_unit_test(bytes_follow_the_textbook_within_5_percent),
        cmocka_unit_test(bytes_of_a_hashset_grow_smoothly),
        cmocka_unit_test(plan_all_sorts_what_plan_kind_gives),
        cmocka_unit_test(plan_all_fills_no_more_than_asked),
        cmocka_unit_test(abilities_are_asked_for),
        cmocka_unit_test(plans_can_what_was_asked_for),
        cmocka_unit_test(impossible_sizes_of_the_spec_are_refused),
        cmocka_unit_test(later_specs_are_taken_if_they_ask_for_nothing_new),
        cmocka_unit_test(unknown_kinds_have_no_plan),
        cmocka_unit_test(plans_of_no_kind_do_no_harm),
        cmocka_unit_test(the_best_kind_is_near_the_smallest),
        cmocka_unit_test(the_best_kind_does_what_is_asked),
        cmocka_unit_test(kinds_to_study_are_chosen_if_asked_for),
        cmocka_unit_test(hashers_are_checked),
        cmocka_unit_test(impossible_plans_are_refused),
        cmocka_unit_test(wrapping_sizes_have_no_geometry),
        cmocka_unit_test(rates_rise_with_the_keys),
        cmocka_unit_test(growth_ends_where_it_was_planned_to),
        cmocka_unit_test(plans_to_grow_are_possible),
        cmocka_unit_test(growth_without_an_end_keeps_the_rate),
        cmocka_unit_test(hash_collisions_are_part_of_the_rate),
        cmocka_unit_test(a_bit_per_key_or_less_gives_a_rate_below_1),
        cmocka_unit_test(the_best_rate_that_fits_is_given),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
