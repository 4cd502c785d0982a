/* countmin: where counters lie, what conservative adds do to them, where they stop. */
#include "base/bits.h"
#include "base/le.h"
#include "kinds.h"

enum { CONSERVATIVE = 0, SUMS = TAMIS_PLAN_SUMS };

static const uint64_t CEILING = UINT32_MAX;

static tamis_plan shaped(uint64_t w, uint32_t d, uint16_t flags, uint64_t seed)
{
    tamis_plan plan = plan_for(TAMIS_COUNTMIN, 10, 0.01, seed);

    plan.slots = w;
    plan.hashes = d;
    plan.flags = flags;
    plan.bytes = tamis__ops(TAMIS_COUNTMIN)->bytes(&plan);
    assert_int_equal(plan.bytes, w * d * 4);
    return plan;
}

static tamis *sketch(uint64_t w, uint32_t d, uint16_t flags, uint64_t seed)
{
    tamis_plan plan = shaped(w, d, flags, seed);

    return new_filter(&plan);
}

static uint32_t counter_of(const tamis *f, uint64_t i)
{
    return le32((const uint8_t *)f->payload + 4 * i);
}

static void set_counter(tamis *f, uint64_t i, uint32_t to)
{
    put_le32((uint8_t *)f->payload + 4 * i, to);
}

/* ---- Layout ------------------------------------------------------------ */

static uint64_t position(const tamis *f, uint64_t key, uint32_t row)
{
    uint64_t x = hash_key(key, salt_of_seed(f->plan.hasher.seed));

    for (uint32_t i = 0; i < row; i++)
        x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return row * f->plan.slots + scale64(x, f->plan.slots);
}

/* As docs/format.md has it. */
static void add_as_specified(uint32_t *counters, const tamis *f, uint64_t key, uint32_t times)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint32_t counter = counters[position(f, key, row)];
        least = counter < least ? counter : least;
    }
    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint32_t *counter = &counters[position(f, key, row)];
        if (f->plan.flags == SUMS)
            *counter += times;
        else if (*counter < least + times)
            *counter = least + times;
    }
}

static void assert_counters(const tamis *f, const uint32_t *expected)
{
    for (uint64_t i = 0; i < f->plan.slots * f->plan.hashes; i++)
        assert_int_equal(counter_of(f, i), expected[i]);
}

static void counters_are_what_the_format_says(void **state)
{
    const uint64_t widths[] = { 2, 4, 6, 64, 1000 };
    rng r = rng_for(2700, 0);

    (void)state;
    for (int i = 0; i < 5; i++)
        for (uint32_t d = 1; d <= 45; d += 4)
            for (uint16_t flags = 0; flags <= SUMS; flags += SUMS) {
                tamis *f = sketch(widths[i], d, flags, rng_next(&r));
                uint32_t *expected = array_of(widths[i] * d, sizeof *expected);

                for (int n = 0; n < 200; n++) {
                    uint64_t key = rng_below(&r, 50), times = rng_below(&r, 3);

                    assert_int_equal(tamis_add_times(f, key, times), TAMIS_OK);
                    add_as_specified(expected, f, key, (uint32_t)times);
                }
                assert_counters(f, expected);
                assert_true(is_whole(f));
                free(expected);
                tamis_free(f);
            }
}

/* ---- Counts ------------------------------------------------------------ */

/* Every stream of six adds of four keys, in rows so narrow that most of them meet. */
static void all_short_streams(void **state)
{
    enum { KEYS = 4, ADDS = 6 };

    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++)
        for (unsigned stream = 0; stream < 1u << (2 * ADDS); stream++) {
            tamis *low = sketch(2, 2, CONSERVATIVE, seed), *high = sketch(2, 2, SUMS, seed);
            uint64_t truth[KEYS] = { 0 };

            for (unsigned i = 0; i < ADDS; i++) {
                unsigned key = stream >> (2 * i) & 3;

                assert_int_equal(tamis_add(low, key), TAMIS_OK);
                assert_int_equal(tamis_add(high, key), TAMIS_OK);
                truth[key]++;
            }
            for (uint64_t key = 0; key < KEYS; key++) {
                assert_true(tamis_count(low, key) >= truth[key]);
                assert_true(tamis_count(high, key) >= tamis_count(low, key));
            }
            assert_true(is_whole(low) && is_whole(high));
            tamis_free(low);
            tamis_free(high);
        }
}

/* A few keys often, many once. */
static uint64_t skewed(rng *r)
{
    return rng_below(r, UINT64_C(1) << rng_below(r, 14));
}

enum { UNIVERSE = 1 << 14, STREAM = 60000 };

static uint64_t *stream_of(rng *r, uint64_t *truth)
{
    uint64_t *keys = array_of(STREAM, sizeof *keys);

    for (size_t i = 0; i < STREAM; i++)
        truth[keys[i] = skewed(r)]++;
    return keys;
}

static void add_from_here(tamis *f, const uint64_t *keys, size_t n)
{
    size_t added = 0;

    assert_int_equal(tamis_add_concurrent(f, &added, keys, n), TAMIS_OK);
    assert_int_equal(added, n);
}

/* truth <= conservative <= adds of either way <= sums, for each key and for merged halves. */
static void counts_keep_their_order(void **state)
{
    rng r = rng_for(2701, 0);
    uint64_t *truth = array_of(UNIVERSE, sizeof *truth), *keys = stream_of(&r, truth), excess = 0;
    tamis *least = sketch(3000, 4, CONSERVATIVE, 5), *mixed = sketch(3000, 4, CONSERVATIVE, 5);
    tamis *half = sketch(3000, 4, CONSERVATIVE, 5), *rest = sketch(3000, 4, CONSERVATIVE, 5);
    tamis *sums = sketch(3000, 4, SUMS, 5), *shared = sketch(3000, 4, SUMS, 5);

    (void)state;
    add_all(least, keys, STREAM);
    add_all(sums, keys, STREAM);
    add_from_here(shared, keys, STREAM);
    add_all(mixed, keys, STREAM / 2);
    add_from_here(mixed, keys + STREAM / 2, STREAM / 2);
    add_all(half, keys, STREAM / 2);
    add_all(rest, keys + STREAM / 2, STREAM / 2);
    assert_int_equal(tamis_combine(half, TAMIS_MERGE, rest), TAMIS_OK);
    assert_true(same_image(sums, shared));
    for (uint64_t key = 0; key < UNIVERSE; key++) {
        uint64_t highest = tamis_count(sums, key);

        assert_true(truth[key] <= tamis_count(least, key) && tamis_count(least, key) <= highest);
        assert_true(truth[key] <= tamis_count(mixed, key) && tamis_count(mixed, key) <= highest);
        assert_true(truth[key] <= tamis_count(half, key) && tamis_count(half, key) <= highest);
        excess += highest - tamis_count(least, key);
    }
    assert_true(excess > 0);
    assert_true(is_whole(mixed) && is_whole(half));
    free(truth);
    free(keys);
    tamis *all[] = { least, mixed, half, rest, sums, shared };
    for (int i = 0; i < 6; i++)
        tamis_free(all[i]);
}

/* ---- The ceiling ------------------------------------------------------- */

static void counters_stop(void **state)
{
    (void)state;
    for (uint16_t flags = 0; flags <= SUMS; flags += SUMS) {
        tamis *f = sketch(64, 3, flags, 1), *g = NULL;
        const uint64_t two[] = { 7, 7 };

        assert_int_equal(f->plan.ceiling, CEILING);
        assert_int_equal(tamis_add_times(f, 7, CEILING - 2), TAMIS_OK);
        assert_int_equal(tamis_count(f, 7), CEILING - 2);
        assert_int_equal(tamis_clone(&g, f, NULL), TAMIS_OK);
        add_from_here(f, two, 2);
        assert_int_equal(tamis_count(f, 7), CEILING);
        add_from_here(f, two, 2);
        add_all(f, two, 2);
        assert_int_equal(tamis_add_times(f, 7, UINT64_C(1) << 40), TAMIS_OK);
        assert_int_equal(tamis_count(f, 7), CEILING);
        assert_int_equal(info_of(f).count, CEILING + 4 + (UINT64_C(1) << 40));
        assert_true(is_whole(f));
        assert_int_equal(tamis_combine(g, TAMIS_MERGE, g), TAMIS_OK);
        assert_int_equal(tamis_count(g, 7), CEILING);
        assert_int_equal(info_of(g).count, 2 * (CEILING - 2));
        assert_true(is_whole(g));
        tamis_free(f);
        tamis_free(g);
    }
}

/* ---- Products ---------------------------------------------------------- */

static void products_are_never_too_low(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 20; round++) {
        rng r = rng_for(2702, round);
        uint64_t *a = array_of(UNIVERSE, sizeof *a), *b = array_of(UNIVERSE, sizeof *b);
        uint64_t *left = stream_of(&r, a), *right = stream_of(&r, b), truth = 0, product = 0;
        tamis *f = sketch(2000, 5, SUMS, round), *g = sketch(2000, 5, SUMS, round);

        add_all(f, left, STREAM);
        add_all(g, right, STREAM);
        for (size_t i = 0; i < UNIVERSE; i++)
            truth += a[i] * b[i];
        assert_int_equal(tamis_dot(f, &product, g), TAMIS_OK);
        assert_true(product >= truth);
        /* e N M / w more, with probability e^-5 at most; these seeds have none. */
        assert_true((double)(product - truth) <= 2.7183 * STREAM * STREAM / 2000);
        free(a);
        free(b);
        free(left);
        free(right);
        tamis_free(f);
        tamis_free(g);
    }
}

static void products_need_sums(void **state)
{
    tamis *f = sketch(100, 5, CONSERVATIVE, 1), *g = sketch(100, 5, SUMS, 1);
    uint64_t product = 99;

    (void)state;
    assert_int_equal(tamis_dot(f, &product, f), TAMIS_CANNOT);
    assert_int_equal(tamis_dot(f, &product, g), TAMIS_MISMATCH);
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, g), TAMIS_MISMATCH);
    assert_int_equal(product, 99);
    assert_int_equal(tamis_dot(g, &product, g), TAMIS_OK);
    assert_int_equal(product, 0);
    tamis_free(f);
    tamis_free(g);
}

static void products_stop(void **state)
{
    tamis *f = sketch(100, 5, SUMS, 1), *g = sketch(100, 5, SUMS, 1);
    uint64_t product = 0;

    (void)state;
    assert_int_equal(tamis_add_times(f, 1, CEILING - 1), TAMIS_OK);
    assert_int_equal(tamis_dot(f, &product, f), TAMIS_OK);
    assert_true(product == (CEILING - 1) * (CEILING - 1));
    assert_int_equal(tamis_add_times(f, 2, CEILING - 1), TAMIS_OK);
    assert_int_equal(tamis_dot(f, &product, f), TAMIS_OK);
    assert_true(product == UINT64_MAX);
    assert_int_equal(tamis_add(f, 1), TAMIS_OK);
    assert_int_equal(tamis_add(g, 1), TAMIS_OK);
    assert_int_equal(tamis_dot(g, &product, f), TAMIS_OK);
    assert_true(product == UINT64_MAX);
    tamis_free(f);
    tamis_free(g);
}

/* ---- Plans ------------------------------------------------------------- */

static tamis_status plan_with(tamis_plan *p, double error, double fpr, uint64_t keys, uint64_t max)
{
    tamis_spec spec = spec_for(keys, fpr, 1);

    spec.error = error;
    spec.max_bytes = max;
    return tamis_plan_kind(p, TAMIS_COUNTMIN, &spec);
}

static void errors_are_planned(void **state)
{
    tamis_plan p;

    (void)state;
    /* ceil(e / 0.001) is 2719, and made even; ceil(ln 100) is 5. */
    assert_int_equal(plan_with(&p, 0.001, 0.01, 0, 0), TAMIS_OK);
    assert_true(p.slots == 2720 && p.hashes == 5 && p.flags == CONSERVATIVE && p.width == 32);
    assert_int_equal(p.bytes, 2720 * 5 * 4);
    assert_true(p.error <= 0.001 && p.error > 0.0009);
    assert_true(p.capacity > 1000 && p.fpr <= 0.01);
    assert_true(tamis_plan_rate(&p, p.capacity + 2) > 0.01);
    assert_int_equal(plan_with(&p, 0.001, 0.01, 1000000, 0), TAMIS_OK);
    assert_true(p.slots == 2720 && p.capacity == 1000000 && p.fpr > 0.99);
    assert_int_equal(plan_with(&p, 0.001, 0x1p-64, 0, 0), TAMIS_OK);
    assert_int_equal(p.hashes, 45);
    assert_int_equal(plan_with(&p, 0.001, 0.01, 0, 2720 * 5 * 4), TAMIS_OK);
    assert_int_equal(plan_with(&p, 0.001, 0.01, 0, 2720 * 5 * 4 - 1), TAMIS_RANGE);
    assert_int_equal(plan_with(&p, 0, 0.01, 0, 1 << 20), TAMIS_OK);
    assert_true(p.bytes <= 1 << 20 && p.bytes > (1 << 20) - 64);
    assert_true(p.error < 6e-5);
}

static void impossible_errors_are_refused(void **state)
{
    const double wrong[] = { -1, 1, 2, NAN, INFINITY, -INFINITY, 1e-300 };
    tamis_plan p;

    (void)state;
    for (int i = 0; i < 7; i++)
        assert_int_equal(plan_with(&p, wrong[i], 0.01, 100, 0), TAMIS_RANGE);
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind)) {
        tamis_spec spec = TAMIS_SPEC(.keys = 100, .fpr = 0.01, .error = 0.01);

        if (!is_sketch(kind))
            assert_int_equal(tamis_plan_kind(&p, kind, &spec), TAMIS_CANNOT);
    }
}

/* ---- Payloads ---------------------------------------------------------- */

static void assert_refused(tamis *f, uint64_t i, uint32_t value)
{
    uint32_t before = counter_of(f, i);

    set_counter(f, i, value);
    assert_false(is_whole(f));
    set_counter(f, i, before);
    assert_true(is_whole(f));
}

static void broken_rows_are_refused(void **state)
{
    (void)state;
    for (uint16_t flags = 0; flags <= SUMS; flags += SUMS) {
        tamis *f = sketch(8, 3, flags, 2);

        for (uint32_t i = 0; i < 3; i++)
            assert_refused(f, 8 * i, 1);
        assert_int_equal(tamis_add_times(f, 5, 10), TAMIS_OK);
        for (uint32_t row = 0; row < 3; row++) {
            uint64_t at = position(f, 5, row);

            assert_refused(f, at, 11);
            assert_refused(f, at, UINT32_MAX);
            assert_refused(f, at, 0);
            assert_refused(f, at == row * 8 ? at + 1 : row * 8, 1);
            if (flags == SUMS)
                assert_refused(f, at, 9);
        }
        tamis_free(f);
    }
}

static void bad_shapes_are_refused(void **state)
{
    const tamis_plan bad[] = {
        { .slots = 0, .hashes = 5, .width = 32 },
        { .slots = 11, .hashes = 5, .width = 32 },
        { .slots = 10, .hashes = 0, .width = 32 },
        { .slots = 10, .hashes = 46, .width = 32 },
        { .slots = 10, .hashes = 5, .width = 0 },
        { .slots = UINT64_MAX - 1, .hashes = 2, .width = 32 },
        { .slots = 10, .hashes = 5, .width = 32, .flags = TAMIS_PLAN_GROWS },
        { .slots = 10, .hashes = 5, .width = 32, .flags = 0xffff },
        { .slots = 10, .hashes = 5, .width = 32, .load = 900 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tamis__ops(TAMIS_COUNTMIN)->bytes(&bad[i]), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_what_the_format_says),
        cmocka_unit_test(all_short_streams),
        cmocka_unit_test(counts_keep_their_order),
        cmocka_unit_test(counters_stop),
        cmocka_unit_test(products_are_never_too_low),
        cmocka_unit_test(products_need_sums),
        cmocka_unit_test(products_stop),
        cmocka_unit_test(errors_are_planned),
        cmocka_unit_test(impossible_errors_are_refused),
        cmocka_unit_test(broken_rows_are_refused),
        cmocka_unit_test(bad_shapes_are_refused),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
