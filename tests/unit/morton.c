/* morton: where fingerprints go, blocks against lists, what is refused, and growth without keys. */
#include "cuckoo/morton_change.h"

#include "base/cpu.h"
#include "core/plan.h"
#include "kinds.h"
#include "limited_allocator.h"

static tamis_plan planned(uint64_t keys, double fpr, unsigned can)
{
    tamis_spec spec = spec_for(keys, fpr, 0);

    spec.can = can;
    return plan_of_spec(TAMIS_MORTON, spec);
}

/* A plan of that shape, whatever it is good for. */
static tamis_plan plan_of_shape(uint64_t homes, unsigned buckets, unsigned width,
                                unsigned doublings)
{
    tamis_plan plan = planned(1, 0.1, 0);

    plan.capacity = 0;
    plan.slots = homes << doublings;
    plan.width = width;
    plan.hashes = buckets | doublings << MORTON_DOUBLINGS_SHIFT;
    plan.flags = doublings ? TAMIS_PLAN_GROWS : 0;
    assert_int_equal(tamis__plan_settle(&plan), TAMIS_OK);
    return plan;
}

/* A table without blocks: nothing in it is read. */
static morton_table table_of_plan(const tamis_plan *plan)
{
    static uint8_t block[MORTON_LINE];
    morton_table t = morton_of_plan(plan);

    t.at = block;
    return t;
}

static unsigned next_buckets(unsigned buckets)
{
    do
        buckets++;
    while (buckets <= MORTON_MAX_BUCKETS && !morton_buckets_are_valid(buckets));
    return buckets <= MORTON_MAX_BUCKETS ? buckets : 0;
}

/* ---- Places ------------------------------------------------------------ */

static void check_places(const morton_table *t, rng *r)
{
    for (int i = 0; i < 200; i++) {
        uint64_t h = rng_next(r);
        morton_position at = morton_position_of(t, h), other = morton_other(t, &at),
                        back = morton_other(t, &other);
        unsigned bits = t->s.width + t->doublings;
        uint64_t all = (t->homes * t->s.buckets) << bits;

        assert_true(scale64(h, all) ==
                    ((at.home * t->s.buckets + at.bucket) << bits | at.fingerprint));
        assert_true(at.home < t->homes && at.bucket < t->s.buckets);
        assert_true(other.home < t->homes && other.bucket < t->s.buckets);
        assert_true((at.bucket ^ other.bucket) & 1);
        assert_true(back.home == at.home && back.bucket == at.bucket &&
                    back.fingerprint == at.fingerprint);
        if (t->homes >= MORTON_FEW_HOMES)
            assert_true(other.block != at.block);
    }
}

static void the_other_of_the_other_is_the_first(void **state)
{
    const uint64_t homes[] = { 1, 2, 3, 4, 5, 7, 64, 129, 130, 131, 1000, 1000003 };
    rng r = rng_for(1900, 0);

    (void)state;
    for (unsigned i = 0; i < sizeof homes / sizeof *homes; i++)
        for (unsigned buckets = MORTON_MIN_BUCKETS; buckets; buckets = next_buckets(buckets))
            for (unsigned doublings = 0; doublings < 4; doublings++) {
                tamis_plan plan = plan_of_shape(homes[i], buckets, 4 + buckets % 13, doublings);
                morton_table t = table_of_plan(&plan);

                check_places(&t, &r);
            }
}

/* Of all fingerprints there are, at one bucket: short ones all lead elsewhere. */
static bool others_differ(const morton_table *t)
{
    uint64_t seen[32];
    unsigned n = 1u << t->s.width;

    for (unsigned p = 0; p < n; p++) {
        morton_position at = { 0, NULL, 1, p }, other = morton_other(t, &at);
        seen[p] = other.home * t->s.buckets + other.bucket;
        for (unsigned i = 0; i < p; i++)
            if (seen[i] == seen[p])
                return false;
    }
    return true;
}

/* Longer ones may, for few keys have each: at most 10^-9 of filters of a plan refuse a key. */
static void short_fingerprints_share_no_buckets(void **state)
{
    const double fprs[] = { 0.2, 0.15, 0.1, 0.07, 0.05 };

    (void)state;
    for (int k = 0; k < 5; k++)
        for (uint64_t n = 1; n < 100000; n += 1 + n / 10) {
            tamis_plan plan = planned(n, fprs[k], 0);
            morton_table t = table_of_plan(&plan);

            double pairs = (double)t.reach * (double)t.homes * t.s.buckets * t.s.buckets / 4;
            if (t.s.width <= 5 && pairs * pow((double)n / pairs, 7) / 5040 > 1e-9)
                assert_true(others_differ(&t));
        }
}

/* ---- One block --------------------------------------------------------- */

typedef struct list {
    uint32_t fingerprints[MORTON_BUCKET];
    unsigned n;
} list;

static void check_against_lists(const morton_table *t, const list *lists, unsigned used)
{
    const morton_counters c = morton_counters_of(t, t->at);
    unsigned i = 0;

    assert_int_equal(morton_sum_before(c, t->s.buckets), used);
    for (unsigned bucket = 0; bucket < t->s.buckets; bucket++) {
        morton_run r = morton_run_of(t, c, bucket);

        assert_int_equal(morton_counter(c, bucket), lists[bucket].n);
        assert_true(r.start == i && r.end == i + lists[bucket].n);
        i = r.end;
        for (unsigned k = 0; k < lists[bucket].n; k++) {
            unsigned same = 0;
            for (unsigned l = 0; l < lists[bucket].n; l++)
                same += lists[bucket].fingerprints[l] == lists[bucket].fingerprints[k];
            assert_int_equal(morton_copies(t, &(morton_position){ 0, t->at, bucket,
                                                                  lists[bucket].fingerprints[k] }),
                             same);
        }
    }
    for (; i < t->s.slots; i++)
        assert_int_equal(morton_slot(&t->s, t->at, i), 0);
}

static void change_list(const morton_table *t, list *l, unsigned bucket, rng *r, unsigned *used)
{
    uint32_t x = (uint32_t)rng_next(r) & UINT32_MAX >> (32 - t->s.width);
    bool has_room = morton_has_room(t, morton_counters_of(t, t->at), bucket);

    assert_int_equal(has_room, l->n < MORTON_BUCKET && *used < t->s.slots);
    if (rng_below(r, 100) < 60 && has_room) {
        assert_true(morton_try_put(t, &(morton_position){ 0, t->at, bucket, x }));
        l->fingerprints[l->n++] = x;
        ++*used;
    } else if (l->n) {
        unsigned which = (unsigned)rng_below(r, l->n);
        assert_true(morton_take(t, &(morton_position){ 0, t->at, bucket, l->fingerprints[which] }));
        l->fingerprints[which] = l->fingerprints[--l->n];
        --*used;
    }
}

static void check_shape(unsigned buckets, unsigned width, rng *r)
{
    tamis_plan plan = plan_of_shape(1, buckets, width, 0);
    tamis *f = new_filter(&plan);
    morton_table t = morton_of(f);
    list lists[MORTON_MAX_BUCKETS] = { { .n = 0 } };
    unsigned used = 0;

    assert_true(t.s.marks >= MORTON_MIN_MARKS && t.s.marks <= buckets);
    assert_true(2 * buckets + t.s.marks + t.s.slots * width <= MORTON_LINE_BITS);
    for (unsigned bucket = 0; bucket < buckets; bucket++)
        assert_int_equal(morton_mark_of(&t, bucket), bucket * t.s.marks / buckets);
    for (int i = 0; i < 400; i++) {
        unsigned bucket = (unsigned)rng_below(r, buckets);
        change_list(&t, &lists[bucket], bucket, r, &used);
        if (i % 16 == 0)
            check_against_lists(&t, lists, used);
    }
    tamis_free(f);
}

static void blocks_are_lists(void **state)
{
    rng r = rng_for(1901, 0);

    (void)state;
    for (unsigned width = MORTON_MIN_WIDTH; width <= MORTON_MAX_WIDTH; width++)
        for (unsigned buckets = MORTON_MIN_BUCKETS; buckets; buckets = next_buckets(buckets))
            check_shape(buckets, width, &r);
}

/* ---- Many keys --------------------------------------------------------- */

/* A key that is in its second bucket has a first that is marked. */
static void assert_marked_where_left(const tamis *f, const uint64_t *keys, size_t n)
{
    morton_table t = morton_of(f);

    for (size_t i = 0; i < n; i++) {
        morton_position at = morton_position_of(&t, hash_key(keys[i], t.salt)),
                        other = morton_other(&t, &at);
        if (morton_copies(&t, &at))
            continue;
        assert_true(morton_is_marked(&t, at.block, at.bucket));
        assert_true(morton_copies(&t, &other) > 0);
    }
}

static void no_key_is_lost_by_moves(void **state)
{
    const double fprs[] = { 0.2, 0.05, 0.0032, 1e-4, 1e-9 };
    const size_t n = 20000;

    (void)state;
    for (int k = 0; k < 5; k++) {
        rng r = rng_for(1902, (uint64_t)k);
        uint64_t *keys = fresh_keys(&r, 3 * n);
        tamis_plan plan = planned(n, fprs[k], 0);
        tamis *f = new_filter(&plan);
        size_t removed;

        add_all(f, keys, n);
        assert_marked_where_left(f, keys, n);
        for (size_t i = 0; i < 2 * n; i += n / 4) {
            assert_int_equal(tamis_remove_many(f, &removed, keys + i, n / 4), TAMIS_OK);
            add_all(f, keys + i + n, n / 4);
            assert_marked_where_left(f, keys + i + n / 4, n);
            assert_true(is_whole(f));
        }
        tamis_free(f);
        free(keys);
    }
}

static void kernels_agree(void **state)
{
    (void)state;
    for (size_t n = 0; n < 1000; n += 1 + n / 7) {
        rng r = rng_for(1903, n);
        uint64_t *keys = fresh_keys(&r, 2 * n + 1), hits[2][40], counts[40 * 64];
        tamis_plan plan = planned(n, n % 2 ? 0.0032 : 0.02, 0);
        tamis *f = new_filter(&plan), *g = new_filter(&plan);

        tamis__use_cpu(g, TAMIS_CPU_PORTABLE);
        add_all(f, keys, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(tamis_add(g, keys[i]), TAMIS_OK);
        assert_true(same_image(f, g));
        assert_int_equal(tamis_has_many(f, hits[0], keys, 2 * n),
                         tamis_has_many(g, hits[1], keys, 2 * n));
        assert_memory_equal(hits[0], hits[1], (2 * n + 63) / 64 * 8);
        tamis_count_many(f, counts, keys, 2 * n);
        for (size_t i = 0; i < 2 * n; i++) {
            assert_int_equal(tamis_has(f, keys[i]), hits[0][i / 64] >> i % 64 & 1);
            assert_true(counts[i] == tamis_count(g, keys[i]));
        }
        tamis_free(f);
        tamis_free(g);
        free(keys);
    }
}

/* Any payload is safe to ask, and all CPUs give the same answers: counters lead behind the block,
 * and half of the keys are looked for in both buckets. */
static void check_any_payload(const tamis_plan *plan, rng *r)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    tamis *f = new_filter(plan);
    uint64_t *keys = fresh_keys(r, 200), hits[4];
    size_t n = 1 + rng_below(r, 200), found = 0;

    for (uint64_t i = 0; i < MORTON_LINE * plan->slots; i++)
        ((uint8_t *)f->payload)[i] = (uint8_t)rng_next(r);
    for (int c = 0; c < 3; c++) {
        tamis__use_cpu(f, cpus[c]);
        found = tamis_has_many(f, hits, keys, n);
        tamis__use_cpu(f, TAMIS_CPU_PORTABLE);
        for (size_t i = 0; i < n; i++) {
            bool hit = hits[i / 64] >> i % 64 & 1;
            assert_int_equal(hit, tamis_has(f, keys[i]));
            found -= hit;
        }
        assert_int_equal(found, 0);
    }
    tamis_free(f);
    free(keys);
}

static void kernels_agree_on_any_payload(void **state)
{
    const uint64_t homes[] = { 1, 2, 3, 4, 131, 1000 };
    rng r = rng_for(1912, 0);

    (void)state;
    for (unsigned width = MORTON_MIN_WIDTH; width <= MORTON_MAX_WIDTH; width++)
        for (unsigned buckets = MORTON_MIN_BUCKETS; buckets; buckets = next_buckets(buckets)) {
            unsigned doublings = (unsigned)rng_below(&r, width < MORTON_MAX_WIDTH - 3 ? 4 : 1);
            tamis_plan plan = plan_of_shape(homes[rng_below(&r, 6)], buckets, width, doublings);

            check_any_payload(&plan, &r);
        }
}

/* Adds, lookups, counts and removes of n keys, in batches and one by one. */
static void check_batch(size_t n, double fpr)
{
    rng r = rng_for(1911, n);
    uint64_t *keys = fresh_keys(&r, n + 1), hits[5], counts[301];
    tamis_plan plan = planned(n, fpr, 0);
    tamis *many = new_filter(&plan), *one = new_filter(&plan);
    size_t removed = 0, half = n / 2;

    add_all(many, keys, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_add(one, keys[i]), TAMIS_OK);
    assert_true(same_image(many, one));
    assert_int_equal(tamis_has_many(many, hits, keys, n), n);
    tamis_count_many(many, counts, keys, n);
    for (size_t i = 0; i < n; i++)
        assert_true((hits[i / 64] >> i % 64 & 1) && counts[i] == tamis_count(one, keys[i]));
    assert_int_equal(tamis_remove_many(many, &removed, keys, half), TAMIS_OK);
    assert_int_equal(removed, half);
    for (size_t i = 0; i < half; i++)
        assert_int_equal(tamis_remove(one, keys[i]), TAMIS_OK);
    assert_true(same_image(many, one) && is_whole(many));
    assert_int_equal(tamis_has_many(many, hits, keys + half, n - half), n - half);
    tamis_free(many);
    tamis_free(one);
    free(keys);
}

/* With fingerprints of which three are seen at once, and with wider ones. */
static void batches_may_have_any_size(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 300; n++) {
        check_batch(n, 0.0032);
        check_batch(n, 1e-7);
    }
}

/* ---- Copies ------------------------------------------------------------ */

static void a_key_that_comes_a_million_times_leaves_room(void **state)
{
    const size_t n = 10000;
    rng r = rng_for(1904, 0);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan = planned(n, 0.01, 0);
    tamis *f = new_filter(&plan);

    (void)state;
    for (int i = 0; i < 1000000; i++)
        assert_int_equal(tamis_add(f, keys[0]), TAMIS_OK);
    assert_int_equal(tamis_count(f, keys[0]), plan.ceiling);
    assert_int_equal(info_of(f).count, MORTON_CEILING);
    add_all(f, keys + 1, n * 9 / 10);
    image_bytes before = image_of(f);
    assert_int_equal(tamis_add_times(f, keys[0], UINT64_C(1) << 30), TAMIS_OK);
    assert_int_equal(tamis_remove_times(f, keys[0], UINT64_C(1) << 30), TAMIS_OK);
    assert_true(is_image_of(&before, f) && tamis_has(f, keys[0]) && is_whole(f));
    assert_int_equal(tamis_remove_times(f, keys[0], 999999), TAMIS_OK);
    assert_int_equal(tamis_count(f, keys[0]), 1);
    free_bytes(&before);
    free(keys);
    tamis_free(f);
}

/* As many as there is room for, one by one or several copies at once. */
static void what_is_refused_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t blocks = 1; blocks < 40; blocks += 3) {
        tamis_plan plan = plan_of_shape(blocks, 48, 8, 0);
        tamis *f = new_filter(&plan);
        rng r = rng_for(1905, blocks);
        unsigned refused = 0;

        while (refused < 40) {
            uint64_t key = rng_next(&r), times = 1 + rng_below(&r, 3);
            image_bytes before = image_of(f);

            if (tamis_add_times(f, key, times) == TAMIS_OK) {
                assert_true(tamis_count(f, key) >= times);
            } else {
                assert_true(is_image_of(&before, f));
                refused++;
            }
            free_bytes(&before);
        }
        assert_true(is_whole(f));
        assert_true(info_of(f).fill > 0.9);
        tamis_free(f);
    }
}

/* ---- Sizes ------------------------------------------------------------- */

/* 33 at most, and a 64th of the filter if fingerprints have four bits, with 16 times less for each
 * bit more. */
static double bytes_of_surplus(const tamis_plan *p)
{
    morton_table t = table_of_plan(p);
    double bytes = (double)surplus_bytes(morton_surplus_of(&t).entries);

    assert_true(bytes <= 33 + ldexp((double)p->bytes, 10 - 4 * (int)p->width));
    return bytes;
}

/* In whole blocks of 64 bytes, each full to 95 %: less than one block more than the formula. */
static void no_room_is_wasted(void **state)
{
    const double fprs[] = { 0.2, 0.03, 0.0039, 0.0032, 1e-3, 1e-5, 1e-9 };

    (void)state;
    for (int k = 0; k < 7; k++)
        for (uint64_t n = 1; n < 20000000; n = n * 3 / 2 + 1) {
            tamis_plan plan = planned(n, fprs[k], 0);
            morton_shape s = morton_shape_of(morton_buckets(&plan), plan.width);
            double formula = (double)n * 64 / (0.95 * s.slots);

            assert_true((double)plan.bytes - bytes_of_surplus(&plan) < formula + 64);
            assert_true(plan.fpr <= fprs[k]);
        }
    assert_true(planned(10000000, 0.0032, 0).bytes * 8 <= 118000000);
}

/* No more than 5 % above it, whatever the number of keys; but blocks are whole, which filters of
 * less than 1.3 KB notice. */
static void sizes_follow_the_formula(void **state)
{
    const int plans = (int)run_size(2000, 300, 10000);
    rng r = rng_for(1910, 0);

    (void)state;
    for (int i = 0; i < plans; i++) {
        double fpr = i % 2 ? 0.0032 : pow(10, -0.7 - (double)rng_below(&r, 5000) / 1000);
        double n = floor(pow(10, 3 + (double)rng_below(&r, 4000) / 1000));
        tamis_plan plan = planned((uint64_t)n, fpr, 0);
        double formula = n * 64 / (0.95 * morton_shape_of(morton_buckets(&plan), plan.width).slots);

        double blocks = (double)plan.bytes - bytes_of_surplus(&plan);

        assert_true(blocks <= fmax(1.05 * formula, formula + 64));
        assert_true(blocks < 1344 || blocks <= 1.05 * formula);
    }
}

static void geometries_are_checked(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_MORTON);
    const tamis_plan good = plan_of_shape(4, 48, 9, 1);
    tamis_plan p = good;

    (void)state;
    assert_int_equal(ops->bytes(&p), good.bytes);
    p.flags = 0;
    assert_int_equal(ops->bytes(&p), 0);
    p.hashes = 48;
    assert_int_equal(ops->bytes(&p), good.bytes);
    p.flags = TAMIS_PLAN_GROWS | TAMIS_PLAN_EXACT_DELETE;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.load = 950;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.hashes = 48 | 24 << MORTON_DOUBLINGS_SHIFT;
    p.slots = UINT64_C(4) << 24;
    assert_int_equal(ops->bytes(&p), 0);
    p.hashes = 48 | UINT32_C(0xffffff) << MORTON_DOUBLINGS_SHIFT;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.hashes = 62;
    assert_int_equal(ops->bytes(&p), 0);
}

/* ---- Rates ------------------------------------------------------------- */

static void check_rates(const tamis_plan *plan)
{
    double last = 0;

    assert_true(tamis_plan_rate(plan, 0) == 0);
    for (uint64_t n = 1; n < 4 * plan->capacity + 100; n += 1 + n / 10) {
        double rate = tamis_plan_rate(plan, n);
        assert_true(rate >= last && rate <= 1);
        last = rate;
    }
    for (int i = 0; i < 64; i++) {
        double rate = tamis_plan_rate(plan, UINT64_C(1) << i);
        assert_true(rate >= 0 && rate <= 1);
    }
    assert_true(tamis_plan_rate(plan, UINT64_MAX) > 0.99);
}

/* Of keys that do not fit, too. */
static void rates_rise_to_one(void **state)
{
    const double fprs[] = { 0.5, 0.2, 0.05, 0.0032, 1e-4, 1e-9 };

    (void)state;
    for (int k = 0; k < 6; k++)
        for (uint64_t n = 0; n < 100000; n = run_size(7, 40, 7) * n + 1)
            for (int grows = 0; grows < 2; grows++) {
                tamis_plan plan = planned(n, fprs[k], grows ? TAMIS_CAN_GROW : 0);
                check_rates(&plan);
            }
}

/* ---- Growing ----------------------------------------------------------- */

/* No more than planned, and no less than nine tenths of it. */
static void assert_rate_at(const tamis *f, uint64_t n, rng *r)
{
    const int probes = 400000;
    double rate = tamis_plan_rate(tamis_plan_of(f), n);
    uint64_t hits = 0;

    for (int i = 0; i < probes; i++)
        hits += tamis_has(f, rng_next(r));
    if (!binomial_fits_between(hits, (uint64_t)probes, 0.9 * rate, rate))
        fail_msg("%llu of %d strangers at %llu keys, expected %g", (unsigned long long)hits, probes,
                 (unsigned long long)n, rate);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Copies and keys of one class are told from others, and only from these. */
static double distinct_classes(const tamis *f, const uint64_t *keys, size_t n)
{
    const morton_table t = morton_of(f);
    uint64_t *classes = array_of(n, sizeof *classes);
    double distinct = 0;

    for (size_t i = 0; i < n; i++) {
        morton_position p = morton_position_of(&t, hash_key(keys[i], t.salt));
        classes[i] = morton_class(&t, &p);
    }
    qsort(classes, n, sizeof *classes, by_number);
    for (size_t i = 0; i < n; i++)
        distinct += i == 0 || classes[i] != classes[i - 1];
    free(classes);
    return distinct;
}

static void cardinality_counts_keys_once(void **state)
{
    const size_t n = 5000;

    (void)state;
    for (uint64_t times = 1; times <= 5; times++) {
        rng r = rng_for(1913, times);
        uint64_t *keys = fresh_keys(&r, n);
        tamis_plan plan = planned(4 * times * n, 0.02, times % 2 ? TAMIS_CAN_GROW : 0);
        tamis *f = new_filter(&plan);

        for (size_t i = 0; i < n; i++)
            assert_int_equal(tamis_add_times(f, keys[i], 1 + i % times), TAMIS_OK);
        double all =
            ldexp((double)f->plan.slots * morton_buckets(&f->plan), (int)f->plan.width) / 2;
        double classes = distinct_classes(f, keys, n);
        double expected = -all * expm1((double)n * log1p(-1 / all));
        double told = info_of(f).cardinality;
        assert_true(is_near(-all * expm1(told * log1p(-1 / all)), classes, 1e-9));
        /* One key more or less changes it by one at most: the inequality of McDiarmid. */
        assert_true(fabs(classes - expected) < sqrt((double)n * log(2 / ALPHA) / 2));
        tamis_free(f);
        free(keys);
    }
}

/* At every size, when it is full. */
static void check_grown_rates(uint64_t keys, double fpr, uint64_t most)
{
    rng r = rng_for(1914, keys), strangers = rng_for(1915, keys);
    tamis_plan plan = planned(keys, fpr, TAMIS_CAN_GROW);
    tamis *f = new_filter(&plan);

    while (f->count < most) {
        while (f->count < tamis_plan_of(f)->capacity)
            assert_int_equal(tamis_add(f, rng_next(&r)), TAMIS_OK);
        assert_rate_at(f, f->count, &strangers);
        if (tamis_add(f, rng_next(&r)) != TAMIS_OK)
            break;
    }
    tamis_free(f);
}

/* Marks are copied to marks of other buckets, and become more each time. */
static void rates_of_grown_filters(void **state)
{
    (void)state;
    check_grown_rates(1000, 2e-4, is_sanitized() ? 20000 : 280000);
    check_grown_rates(10000, 5e-3, is_sanitized() ? 40000 : 120000);
    check_grown_rates(10000, 2e-4, is_sanitized() ? 40000 : 120000);
}

/* ---- Chosen keys ------------------------------------------------------- */

/* All have one first bucket, and fingerprints that differ in their last bits, or only there: by
 * those bits, no doubling parts them. */
static uint64_t chosen_key(const tamis_plan *p, uint64_t i, unsigned last_bits)
{
    unsigned bits = p->width + morton_doublings(p);
    double place = (double)(p->slots >> morton_doublings(p)) * morton_buckets(p);
    uint64_t fingerprint = i & ((UINT64_C(1) << last_bits) - 1);
    double h = ldexp(((double)fingerprint + 0.5) / place, 64 - (int)bits);

    return unhash_key((uint64_t)h + (i >> last_bits), salt_of_seed(p->hasher.seed));
}

/* A size is doubled only if a quarter of its capacity is in use, which is four fifths of its slots
 * or more; then both are there, and none but the first has more slots than that. */
static void chosen_keys_take_no_memory(void **state)
{
    (void)state;
    for (unsigned last_bits = 0; last_bits <= 12; last_bits++) {
        tamis_plan plan = planned(100, 1e-5, TAMIS_CAN_GROW);
        limited_allocator p = { .limit = UINT64_MAX };
        const tamis_allocator a = allocator_of(&p);
        tamis *f;
        uint64_t i = 0, n = 0;

        assert_int_equal(tamis_new(&f, &plan, &a), TAMIS_OK);
        size_t first = p.most;
        for (; i < 20000 && tamis_add(f, chosen_key(&plan, i, last_bits)) == TAMIS_OK; i++)
            ;
        uint64_t slots = morton_shape_of(morton_buckets(&f->plan), f->plan.width + 1).slots;
        assert_true(p.most <= 3 * (first + 5 * MORTON_LINE * (f->count / slots + 1)));
        for (; n < i; n++)
            assert_true(tamis_has(f, chosen_key(&plan, n, last_bits)));
        assert_true(is_whole(f));
        tamis_free(f);
        assert_int_equal(p.live, 0);
    }
}

/* What is there more than four times goes again, also after the filter has grown. */
static void a_surplus_grows_too(void **state)
{
    const size_t n = 20000;
    rng r = rng_for(1912, 0);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan = planned(1000, 0.001, TAMIS_CAN_GROW);
    tamis *f = new_filter(&plan);

    (void)state;
    assert_int_equal(tamis_add_times(f, keys[0], 10), TAMIS_OK);
    assert_int_equal(tamis_add_times(f, keys[1], 4), TAMIS_OK);
    add_all(f, keys + 2, n - 2);
    assert_true(f->plan.slots > plan.slots && is_whole(f));
    assert_int_equal(tamis_remove_times(f, keys[0], 9), TAMIS_OK);
    assert_int_equal(tamis_remove_times(f, keys[1], 3), TAMIS_OK);
    assert_int_equal(tamis_count(f, keys[0]), 1);
    assert_int_equal(tamis_count(f, keys[1]), 1);
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, keys[i]));
    free(keys);
    tamis_free(f);
}

static void filters_grow_without_keys(void **state)
{
    const size_t last = is_sanitized() ? 100000 : 1000000;
    rng r = rng_for(1906, 0), strangers = rng_for(1907, 0);
    uint64_t *keys = fresh_keys(&r, last);
    tamis_plan plan = planned(1000, 1e-5, TAMIS_CAN_GROW);
    tamis *f = new_filter(&plan);
    size_t had = 0;

    (void)state;
    for (size_t n = 1000; n <= last; n *= 10) {
        add_all(f, keys + had, n - had);
        had = n;
        assert_true(is_whole(f));
        for (size_t i = 0; i < n; i++)
            assert_true(tamis_has(f, keys[i]));
        assert_rate_at(f, n, &strangers);
        assert_true(info_of(f).fill > 0.35);
    }
    assert_true(tamis_plan_of(f)->width < plan.width);
    tamis_free(f);
    free(keys);
}

static void growing_ends_when_there_are_no_more_bits(void **state)
{
    tamis_plan plan = planned(100, 0.1, TAMIS_CAN_GROW), next = plan;
    tamis *f = new_filter(&plan);
    rng r = rng_for(1908, 0);
    tamis_status status = TAMIS_OK;
    uint64_t n = 0;

    (void)state;
    while (next.width > MORTON_MIN_WIDTH)
        assert_int_equal(tamis__ops(TAMIS_MORTON)->resize(&next, 0), TAMIS_OK);
    assert_int_equal(tamis__ops(TAMIS_MORTON)->resize(&next, 0), TAMIS_RANGE);
    for (; !status; n++)
        status = tamis_add(f, rng_next(&r));
    assert_int_equal(status, TAMIS_FULL);
    assert_int_equal(tamis_plan_of(f)->width, MORTON_MIN_WIDTH);
    assert_true(n > plan.capacity && is_whole(f));
    tamis_free(f);
}

/* ---- Damage ------------------------------------------------------------ */

static const char *fault_of(const tamis *f)
{
    return f->ops.verify(f);
}

static void verify_sees_what_is_wrong(void **state)
{
    tamis_plan plan = plan_of_shape(4, 48, 9, 0);
    tamis *f = new_filter(&plan);
    morton_table t = morton_of(f);
    uint8_t *b = f->payload, was[MORTON_LINE];
    unsigned last = morton_slot_bit(&t.s, t.s.slots - 1), gap = morton_slot_bit(&t.s, 0) - 1;
    rng r = rng_for(1909, 0);

    (void)state;
    for (int i = 0; i < 60; i++)
        assert_int_equal(tamis_add(f, rng_next(&r)), TAMIS_OK);
    assert_null(fault_of(f));
    memcpy(was, b, MORTON_LINE);
    memset(b, 0xff, 12);
    assert_string_equal(fault_of(f), "counters of a block exceed its slots");
    memcpy(b, was, MORTON_LINE);
    b[last / 8] ^= (uint8_t)(1u << last % 8);
    assert_string_equal(fault_of(f), "unused slots are not zero");
    memcpy(b, was, MORTON_LINE);
    f->count++;
    assert_string_equal(fault_of(f), "count is not the number of fingerprints");
    f->count--;
    if (2 * t.s.buckets + t.s.marks <= gap) {
        b[gap / 8] ^= (uint8_t)(1u << gap % 8);
        assert_string_equal(fault_of(f), "bits between marks and slots are set");
        memcpy(b, was, MORTON_LINE);
    }
    morton_position at = morton_position_of(&t, rng_next(&r)), other = morton_other(&t, &at);
    for (int i = 0; i < MORTON_BUCKET; i++)
        f->count += (uint64_t)morton_try_put(&t, &at) + morton_try_put(&t, &other);
    assert_string_equal(fault_of(f), "more copies of a fingerprint than the ceiling");
    surplus s = morton_surplus_of(&t);
    memset(f->payload, 0, f->plan.bytes);
    f->count = 0;
    assert_int_equal(tamis_add_times(f, 1, 5), TAMIS_OK);
    assert_null(fault_of(f));
    memset(b, 0, MORTON_LINE * f->plan.slots);
    f->count = 0;
    assert_string_equal(fault_of(f), "a class has a surplus, but is not at its ceiling");
    memset(s.at, 0, surplus_bytes(s.entries));
    assert_null(fault_of(f));
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_of_the_other_is_the_first),
        cmocka_unit_test(short_fingerprints_share_no_buckets),
        cmocka_unit_test(blocks_are_lists),
        cmocka_unit_test(no_key_is_lost_by_moves),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(kernels_agree_on_any_payload),
        cmocka_unit_test(batches_may_have_any_size),
        cmocka_unit_test(a_key_that_comes_a_million_times_leaves_room),
        cmocka_unit_test(what_is_refused_changes_nothing),
        cmocka_unit_test(no_room_is_wasted),
        cmocka_unit_test(sizes_follow_the_formula),
        cmocka_unit_test(geometries_are_checked),
        cmocka_unit_test(rates_rise_to_one),
        cmocka_unit_test(cardinality_counts_keys_once),
        cmocka_unit_test(rates_of_grown_filters),
        cmocka_unit_test(chosen_keys_take_no_memory),
        cmocka_unit_test(a_surplus_grows_too),
        cmocka_unit_test(filters_grow_without_keys),
        cmocka_unit_test(growing_ends_when_there_are_no_more_bits),
        cmocka_unit_test(verify_sees_what_is_wrong),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
