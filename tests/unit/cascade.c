/* cascade.c - no error on the whole universe, whatever its shape, and close to the least space. */
#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_builder.h"

static tamis_plan cascade_plan(uint64_t members, uint64_t others, double fpr)
{
    tamis_spec spec = spec_for(members, fpr, 1);
    tamis_plan p;

    spec.universe = members + others;
    assert_int_equal(tamis_plan_kind(&p, TAMIS_CASCADE, &spec), TAMIS_OK);
    return p;
}

static tamis *cascade_of(const tamis_plan *p, const uint64_t *keys, size_t n,
                         const uint64_t *others, size_t m)
{
    tamis *f = NULL;

    assert_int_equal(tamis_build_excluding(&f, p, keys, n, others, m, NULL), TAMIS_OK);
    return f;
}

static void assert_splits(const tamis *f, const uint64_t *keys, size_t n, const uint64_t *others,
                          size_t m)
{
    uint64_t *hits = array_of((n > m ? n : m) / 64 + 1, sizeof *hits);

    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, keys[i]));
    for (size_t i = 0; i < m; i++)
        assert_false(tamis_has(f, others[i]));
    assert_int_equal(tamis_has_many(f, hits, keys, n), n);
    assert_int_equal(tamis_has_many(f, hits, others, m), 0);
    free(hits);
}

static void check_split(size_t n, size_t m, double fpr)
{
    rng r = rng_for(30, n * 1000003 + m);
    uint64_t *keys = fresh_keys(&r, n + m);
    tamis_plan p = cascade_plan(n, m, fpr);
    tamis *f = cascade_of(&p, keys, n, keys + n, m);

    snprintf(law_at, sizeof law_at, "%zu members, %zu others", n, m);
    assert_int_equal(info_of(f).count, n);
    assert_true(is_whole(f));
    assert_int_equal(f->plan.bytes, p.bytes);
    assert_splits(f, keys, n, keys + n, m);
    tamis_free(f);
    free(keys);
}

/* ---- The universe ------------------------------------------------------ */

static void small_universes_are_split(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 40; n++)
        for (size_t m = n == 0; m <= 40; m++)
            check_split(n, m, 0);
}

static void random_universes_are_split(void **state)
{
    rng r = rng_for(31, 0);

    (void)state;
    for (int i = 0; i < (is_sanitized() ? 40 : 300); i++) {
        size_t n = (size_t)(rng_next(&r) >> (50 + rng_below(&r, 14)));
        size_t m = (size_t)(rng_next(&r) >> (47 + rng_below(&r, 17)));

        if (n + m > 0)
            check_split(n, m, i % 4 ? 0 : 0.03);
    }
}

static void corners_are_split(void **state)
{
    const size_t many = is_sanitized() ? 20000 : 200000;

    (void)state;
    check_split(0, many, 0);
    check_split(many, 0, 0);
    check_split(1, many, 0);
    check_split(many, 1, 0);
    check_split(many, many, 0);
    check_split(many, many + 1, 0);
    check_split(many / 2, many, 0);
    check_split(many, many / 2 - 1, 0);
    check_split(many / 3, 10 * many, 0);
    check_split(many, 10, 0.001);
}

/* ---- Lists ------------------------------------------------------------- */

static void a_key_in_both_lists_is_a_member(void **state)
{
    enum { N = 3000, BOTH = 500 };

    (void)state;
    for (size_t m = 1000; m <= 27000; m *= 3) {
        rng r = rng_for(32, m);
        uint64_t *keys = fresh_keys(&r, N + m);
        tamis_plan p = cascade_plan(N, m, 0);
        tamis *f = cascade_of(&p, keys, N, keys + N - BOTH, m + BOTH);

        assert_splits(f, keys, N, keys + N, m);
        assert_int_equal(info_of(f).count, N);
        tamis_free(f);
        free(keys);
    }
}

static void order_and_repetition_leave_no_trace(void **state)
{
    enum { N = 2000 };

    (void)state;
    for (size_t m = 500; m <= 32000; m *= 8) {
        rng r = rng_for(33, m);
        uint64_t *keys = fresh_keys(&r, 2 * N), *others = fresh_keys(&r, 2 * m);
        tamis_plan p = cascade_plan(N, m, 0);
        tamis *f = cascade_of(&p, keys, N, others, m);

        memcpy(keys + N, keys, N * sizeof *keys);
        memcpy(others + m, others, m * sizeof *others);
        shuffle(&r, keys, 2 * N);
        shuffle(&r, others, 2 * m);
        tamis *again = cascade_of(&p, keys, 2 * N, others, 2 * m);

        assert_true(same_image(f, again));
        tamis_free(f);
        tamis_free(again);
        free(keys);
        free(others);
    }
}

/* ---- Strangers --------------------------------------------------------- */

static void strangers_pass_at_the_rate_stated(void **state)
{
    const uint64_t trials = is_sanitized() ? 30000 : 400000;
    const size_t others[] = { 1000, 6000, 25000, 100000, 400000 };

    (void)state;
    for (int i = 0; i < 5; i++)
        for (int asks = 0; asks < 2; asks++) {
            rng r = rng_for(34, (uint64_t)i);
            size_t n = 5000, m = others[i];
            uint64_t *keys = fresh_keys(&r, n + m), passed = 0;
            tamis_plan p = cascade_plan(n, m, asks ? 0.02 : 0);
            tamis *f = cascade_of(&p, keys, n, keys + n, m);

            for (uint64_t j = 0; j < trials; j++)
                passed += tamis_has(f, rng_next(&r));
            assert_true(binomial_fits(passed, trials, tamis_plan_rate(&p, n)));
            assert_true(!asks || p.fpr <= 0.02);
            tamis_free(f);
            free(keys);
        }
}

static uint64_t strangers_that_pass(const tamis_plan *p, size_t n, size_t m, uint64_t strangers,
                                    rng *r)
{
    uint64_t *keys = fresh_keys(r, n + m), passed = 0;
    tamis *f = cascade_of(p, keys, n, keys + n, m);

    assert_splits(f, keys, n, keys + n, m);
    for (uint64_t i = 0; i < strangers; i++)
        passed += tamis_has(f, rng_next(r));
    tamis_free(f);
    free(keys);
    return passed;
}

/* Of few keys, or where no other passes, the rest has hardly any equations: what it says to
 * strangers must not depend on them. */
static void strangers_pass_small_filters_at_the_rate_stated(void **state)
{
    const size_t sizes[] = { 1, 2, 5, 20, 50, 64, 100 }, times[] = { 0, 1, 10 };
    const uint64_t strangers = 300, filters = is_sanitized() ? 30 : 200;

    (void)state;
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 6; j++) {
            size_t n = sizes[i], m = n * times[j % 3];
            tamis_plan p = cascade_plan(n, m, j < 3 ? 0.01 : 0);
            rng r = rng_for(39, n * 10 + (uint64_t)j);
            uint64_t passed = 0;

            for (uint64_t k = 0; k < filters; k++) {
                p.hasher.seed = rng_next(&r);
                passed += strangers_that_pass(&p, n, m, strangers, &r);
            }
            assert_true(binomial_fits(passed, strangers * filters, tamis_plan_rate(&p, n)));
        }
}

/* ---- Size -------------------------------------------------------------- */

/* Of two levels without any loss: k bits for members, one for whatever passes. */
static double model_bits(double r, double s)
{
    double k = fmax(0, floor(log2(s / r)));

    return k * r + r + s * exp2(-k);
}

static double log2_choose(double n, double k)
{
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2);
}

static void size_is_within_3_percent_of_the_model(void **state)
{
    const double r[] = { 1e5, 1e5, 1e5, 1e6, 1e6, 1e4 }, s[] = { 1e7, 1e6, 1e5, 1e8, 3e6, 1e7 };

    (void)state;
    for (int i = 0; i < 6; i++) {
        double bits = (double)cascade_plan((uint64_t)r[i], (uint64_t)s[i], 0).bytes * 8;
        double limit = i == 5 ? 1.05 : 1.03;

        assert_true(bits < model_bits(r[i], s[i]) * limit);
        assert_true(bits > log2_choose(r[i] + s[i], r[i]));
        assert_true(bits < log2_choose(r[i] + s[i], r[i]) * 1.15);
    }
    /* Members and others change places. */
    assert_int_equal(cascade_plan(10000000, 100000, 0).bytes,
                     cascade_plan(100000, 10000000, 0).bytes);
}

static void a_large_universe_is_split(void **state)
{
    (void)state;
    check_split(run_size(30000, 3000, 100000), run_size(3000000, 300000, 10000000), 0);
}

/* ---- Refusals and images ----------------------------------------------- */

/* How many can do one of these. */
static size_t kinds_with(unsigned abilities)
{
    size_t n = 0;

    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind))
        n += (tamis_kind_can(kind) & abilities) != 0;
    return n;
}

static void kinds_say_what_they_cannot(void **state)
{
    tamis_plan p = cascade_plan(10, 100, 0), bloom = plan_for(TAMIS_BLOOM, 10, 0.01, 1);
    tamis_spec spec = spec_for(10, 0, 1);
    uint64_t keys[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    tamis *f = (tamis *)(uintptr_t)0x10;
    tamis_builder *b;

    (void)state;
    assert_int_equal(tamis_build(&f, &p, keys, 1, NULL), TAMIS_CANNOT);
    assert_int_equal(tamis_builder_new(&b, TAMIS_CASCADE, &spec, NULL), TAMIS_OK);
    assert_int_equal(tamis_builder_add_map(b, keys, keys, 1), TAMIS_CANNOT);
    tamis_builder_free(b);
    assert_int_equal(tamis_build_excluding(&f, &bloom, keys, 1, keys, 0, NULL), TAMIS_CANNOT);
    assert_int_equal(tamis_build_excluding(&f, &p, keys, 12, keys, 0, NULL), TAMIS_FULL);
    assert_ptr_equal(f, (tamis *)(uintptr_t)0x10);
    assert_int_equal(tamis_plan_kind(&p, TAMIS_CASCADE, &spec), TAMIS_RANGE);
    spec.universe = 9;
    assert_int_equal(tamis_plan_kind(&p, TAMIS_CASCADE, &spec), TAMIS_RANGE);
    spec.universe = 30;
    assert_int_equal(tamis_plan_kind(&p, TAMIS_BLOOM, &spec), TAMIS_CANNOT);
    assert_int_equal(tamis_plan_all(&p, 1, &spec), kinds_with(TAMIS_CAN_EXCLUDE | TAMIS_CAN_ADAPT));
}

static void impossible_plans_are_refused(void **state)
{
    const tamis_plan p = cascade_plan(1000, 20000, 0);
    tamis_plan edits[] = { p, p, p, p, p, p, p };
    tamis *f;

    (void)state;
    edits[0].width = 33;
    edits[1].flags = TAMIS_PLAN_GROWS;
    edits[2].slots = UINT64_C(1) << 40;
    edits[3].hashes = UINT32_MAX;
    edits[3].slots = 1 << 28;
    edits[4].width++;
    edits[5].bytes -= 64;
    edits[6].load = 900;
    for (int i = 0; i < 7; i++) {
        if (i < 4)
            edits[i].bytes = tamis__ops(TAMIS_CASCADE)->bytes(&edits[i]);
        assert_int_equal(tamis_new(&f, &edits[i], NULL), TAMIS_RANGE);
    }
}

static void images_keep_the_answers(void **state)
{
    enum { N = 3000, M = 50000 };
    rng r = rng_for(35, 0);
    uint64_t *keys = fresh_keys(&r, N + M);
    const char *path = temp_path();

    (void)state;
    for (int inverted = 0; inverted < 2; inverted++) {
        size_t n = inverted ? M : N, m = inverted ? N : M;
        tamis_plan p = cascade_plan(n, m, 0);
        tamis *f = cascade_of(&p, keys, n, keys + n, m), *g;
        image_bytes image = image_of(f);

        assert_int_equal(tamis_image_view(&g, image.at, image.size, NULL), TAMIS_OK);
        assert_splits(g, keys, n, keys + n, m);
        tamis_free(g);
        assert_int_equal(tamis_save(f, path), TAMIS_OK);
        assert_int_equal(tamis_load(&g, path, NULL), TAMIS_OK);
        assert_splits(g, keys, n, keys + n, m);
        tamis_free(g);
        assert_int_equal(tamis_map(&g, path, 0, NULL), TAMIS_OK);
        assert_splits(g, keys, n, keys + n, m);
        tamis_free(g);
        remove(path);
        free_bytes(&image);
        tamis_free(f);
    }
    free(keys);
}

static void any_payload_is_safe(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 20000; n = n * 3 + 7)
        for (size_t m = 1; m <= 100000; m *= 10) {
            rng r = rng_for(36, n + m);
            tamis_plan p = cascade_plan(n, m, 0);
            tamis *f = new_filter(&p);
            uint8_t *payload = f->payload;

            f->count = n;
            for (uint64_t i = 0; i < p.bytes; i++)
                payload[i] = (uint8_t)rng_next(&r);
            for (int i = 0; i < 1000; i++)
                (void)tamis_has(f, rng_next(&r));
            tamis_free(f);
        }
}

/* ---- Memory ------------------------------------------------------------ */

static void building_without_memory_leaves_nothing(void **state)
{
    enum { N = 1000, M = 8000 };
    rng r = rng_for(37, 0);
    uint64_t *keys = fresh_keys(&r, N + M);
    tamis_plan p = cascade_plan(N, M, 0);
    tamis_status status = TAMIS_NOMEM;

    (void)state;
    for (size_t blocks = 0; status == TAMIS_NOMEM; blocks++) {
        limited_blocks b = { .left = blocks };
        const tamis_allocator a = allocator_of_blocks(&b);
        tamis *f = (tamis *)(uintptr_t)0x10;

        status = tamis_build_excluding(&f, &p, keys, N, keys + N - 1, M + 1, &a);
        assert_int_equal(b.held, status ? 0 : 2);
        assert_true(status ? f == (tamis *)(uintptr_t)0x10 : blocks > 6);
        if (!status)
            tamis_free(f);
    }
    assert_int_equal(status, TAMIS_OK);
    free(keys);
}

/* More others than planned let more of them pass. So many that nobody planned are refused. */
static void more_others_than_planned_make_it_larger(void **state)
{
    enum { N = 2000, M = 60000 };
    rng r = rng_for(38, 0);
    uint64_t *keys = fresh_keys(&r, N + M);
    tamis_plan p = cascade_plan(N, M * 2 / 3, 0), few = cascade_plan(N, M / 4, 0);
    tamis *f = cascade_of(&p, keys, N, keys + N, M), *none = NULL;

    (void)state;
    assert_int_equal(tamis_build_excluding(&none, &few, keys, N, keys + N, M, NULL), TAMIS_FULL);
    assert_true(f->plan.bytes > p.bytes && is_whole(f));
    assert_splits(f, keys, N, keys + N, M);
    tamis_free(f);
    free(keys);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_universes_are_split),
        cmocka_unit_test(random_universes_are_split),
        cmocka_unit_test(corners_are_split),
        cmocka_unit_test(a_key_in_both_lists_is_a_member),
        cmocka_unit_test(order_and_repetition_leave_no_trace),
        cmocka_unit_test(strangers_pass_at_the_rate_stated),
        cmocka_unit_test(strangers_pass_small_filters_at_the_rate_stated),
        cmocka_unit_test(size_is_within_3_percent_of_the_model),
        cmocka_unit_test(a_large_universe_is_split),
        cmocka_unit_test(kinds_say_what_they_cannot),
        cmocka_unit_test(impossible_plans_are_refused),
        cmocka_unit_test(images_keep_the_answers),
        cmocka_unit_test(any_payload_is_safe),
        cmocka_unit_test(building_without_memory_leaves_nothing),
        cmocka_unit_test(more_others_than_planned_make_it_larger),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
