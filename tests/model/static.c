/* static.c - kinds that see all their keys at once: they can build, and cannot add.
 *
 * No number of keys, no order and no pattern of them makes a build fail, and the bytes depend on
 * the set of keys alone. Two keys with one place cannot be tried: hash_key() is a permutation. */
#include "kinds.h"
#include "tamis_builder.h"

static const double FPR = 1.0 / 256;

static void explain(const char *what, uint64_t n, uint64_t round)
{
    snprintf(law_at, sizeof law_at, "%s, %llu keys, round %llu", what, (unsigned long long)n,
             (unsigned long long)round);
}

static bool has_all(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hits = array_of((n + 63) / 64, sizeof *hits);
    size_t found = tamis_has_many(f, hits, keys, n);

    free(hits);
    return found == n && (n == 0 || (tamis_has(f, keys[0]) && tamis_has(f, keys[n - 1])));
}

/* Kinds that have a plain filter of the same bits are slow: of many keys, most are asked there. */
static bool holds(const tamis *f, const uint64_t *keys, size_t n)
{
    const size_t few = 500;
    tamis *plain = NULL;

    if (!is_slow(f->plan.kind) || n <= few)
        return has_all(f, keys, n);
    assert_int_equal(tamis_convert(&plain, TAMIS_BLOOM, f, NULL), TAMIS_OK);
    bool held = has_all(plain, keys, n) && has_all(f, keys, few);
    tamis_free(plain);
    return held;
}

/* The planned size is the size: a larger one is for what does not happen. */
static void build_and_ask(tamis_kind kind, const uint64_t *keys, size_t n, uint64_t distinct)
{
    tamis_plan plan = plan_for(kind, distinct, FPR, 0);
    tamis *f = filter_of(&plan, keys, n);

    assert_true(holds(f, keys, n));
    assert_int_equal(info_of(f).count, distinct);
    assert_int_equal(f->plan.bytes, plan.bytes);
    tamis_free(f);
}

static void build_random(tamis_kind kind, size_t n, uint64_t round)
{
    rng r = rng_for(1500 + n, round);
    uint64_t *keys = fresh_keys(&r, n);

    explain("random keys", n, round);
    build_and_ask(kind, keys, n, n);
    free(keys);
}

/* ---- Every size -------------------------------------------------------- */

static void every_small_size_builds(tamis_kind kind)
{
    const size_t all = run_size(600, 130, 20000), step = run_size(401, 1999, 1);

    for (size_t n = 0; n <= 20000; n += n < all ? 1 : step)
        build_random(kind, n, 0);
}

static void sizes_far_apart_build(tamis_kind kind)
{
    const int sizes = is_slow(kind) ? 10 : (int)run_size(15, 5, 2000);
    const double most = (double)run_size(400000, 200000, 2000000);

    for (int i = 0; i <= sizes; i++)
        build_random(kind, (size_t)(20000 * pow(most / 20000, (double)i / sizes)), 1);
}

/* Where a segment twice as long leaves too few of them, a known filter fails with every seed. */
static void sizes_known_to_fail_elsewhere_build(tamis_kind kind)
{
    const uint64_t rounds = run_size(1, 1, 100);

    for (size_t n = 11480; n <= 11550; n += run_size(2, 10, 1))
        for (uint64_t round = 2; round < 2 + rounds; round++)
            build_random(kind, n, round);
}

/* ---- Keys as they come ------------------------------------------------- */

static void all_equal_keys_build(tamis_kind kind)
{
    for (size_t n = 1; n <= 100000; n *= 10) {
        uint64_t *keys = array_of(n, sizeof *keys);

        explain("equal keys", n, 0);
        build_and_ask(kind, keys, n, 1);
        free(keys);
    }
}

static void patterns_build(tamis_kind kind)
{
    const uint64_t steps[] = { 1, 2, UINT64_C(1) << 32, UINT64_C(1) << 44, HASH_GOLDEN };
    const size_t n = 50000;
    uint64_t *keys = array_of(n, sizeof *keys);

    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        for (size_t i = 0; i < n; i++)
            keys[i] = i * steps[s];
        explain("multiples", n, steps[s]);
        build_and_ask(kind, keys, n, n);
    }
    free(keys);
}

/* Each key `copies` times, in any order. */
static uint64_t *repeated(rng *r, const uint64_t *keys, size_t n, size_t copies)
{
    uint64_t *all = array_of(n * copies, sizeof *all);

    for (size_t i = 0; i < n * copies; i++)
        all[i] = keys[i % n];
    shuffle(r, all, n * copies);
    return all;
}

static void duplicates_build(tamis_kind kind)
{
    rng r = rng_for(1510, (uint64_t)kind);
    const size_t sizes[] = { 1, 2, 7, 100, 5000, 40000 };

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t copies = 2; copies <= 128; copies *= copies) {
            uint64_t *keys = fresh_keys(&r, sizes[s]);
            uint64_t *all = repeated(&r, keys, sizes[s], copies);

            explain("copies", sizes[s], copies);
            build_and_ask(kind, all, sizes[s] * copies, sizes[s]);
            free(keys);
            free(all);
        }
}

static void more_keys_than_planned_are_refused(tamis_kind kind)
{
    rng r = rng_for(1520, (uint64_t)kind);
    uint64_t *keys = fresh_keys(&r, 5001);
    tamis_plan plan = plan_for(kind, 5000, FPR, 0);
    tamis *const untouched = (tamis *)&plan;
    tamis *out = untouched;

    explain("one too many", 5001, 0);
    assert_int_equal(tamis_build(&out, &plan, keys, 5001, NULL), TAMIS_FULL);
    assert_ptr_equal(out, untouched);
    keys[5000] = keys[0];
    build_and_ask(kind, keys, 5001, 5000);
    free(keys);
}

/* ---- The same bytes ---------------------------------------------------- */

/* At once, and by a builder. */
static void assert_same_bytes(const tamis *f, const uint64_t *keys, size_t n, double fpr,
                              unsigned threads)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = threads);
    const tamis_spec spec = spec_for(f->plan.capacity, fpr, f->plan.hasher.seed);
    tamis *g = filter_of(&f->plan, keys, n), *h = NULL;
    tamis_builder *b = NULL;

    assert_true(same_image(f, g));
    assert_int_equal(tamis_builder_new(&b, f->plan.kind, &spec, &o), TAMIS_OK);
    assert_int_equal(tamis_builder_add_many(b, keys, n), TAMIS_OK);
    assert_int_equal(tamis_builder_finish(&h, b), TAMIS_OK);
    assert_true(f->plan.capacity == 0 || same_image(f, h));
    tamis_builder_free(b);
    tamis_free(g);
    tamis_free(h);
}

static void bytes_depend_on_the_set_alone(tamis_kind kind)
{
    const size_t sizes[] = { 0, 1, 5, 300, 3000, run_size(70000, 20000, 300000) };
    rng r = rng_for(1530, (uint64_t)kind);

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        uint64_t *keys = fresh_keys(&r, n);
        tamis_plan plan = plan_for(kind, n, FPR, s);
        tamis *f = filter_of(&plan, keys, n);

        explain("orders", n, 0);
        for (unsigned i = 0; i < 3; i++) {
            shuffle(&r, keys, n);
            assert_same_bytes(f, keys, n, FPR, 1 + i);
        }
        uint64_t *twice = repeated(&r, keys, n, 2);
        assert_same_bytes(f, twice, 2 * n, FPR, 1);
        free(twice);
        tamis_free(f);
        free(keys);
    }
}

/* Several parts: a planned capacity makes them, however few keys come. That takes long under a
 * sanitizer, to which parts are like any filter. */
static void parts_are_built_by_any_number_of_threads(tamis_kind kind)
{
    if (is_sanitized())
        skip();
    const uint64_t capacity = is_long_run() ? 40000000 : 26000000;
    const size_t n = is_long_run() ? 2000000 : 200000;
    rng r = rng_for(1540, (uint64_t)kind);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan = plan_for(kind, capacity, 0.5, 0);
    tamis *f = filter_of(&plan, keys, n);

    explain("parts", n, 0);
    assert_true(holds(f, keys, n));
    for (unsigned threads = 2; threads <= 8; threads *= 4) {
        shuffle(&r, keys, n);
        assert_same_bytes(f, keys, n, 0.5, threads);
    }
    tamis_free(f);
    free(keys);
}

int main(int argc, char **argv)
{
    const unsigned BUILD = TAMIS_CAN_BUILD, ADD = TAMIS_CAN_ADD;
    const law laws[] = {
        { "every small size builds", every_small_size_builds, .can = BUILD, .cannot = ADD },
        { "sizes far apart build", sizes_far_apart_build, .can = BUILD, .cannot = ADD },
        { "sizes known to fail elsewhere build", sizes_known_to_fail_elsewhere_build, .can = BUILD,
          .cannot = ADD },
        { "all-equal keys build", all_equal_keys_build, .can = BUILD, .cannot = ADD },
        { "patterns build", patterns_build, .can = BUILD, .cannot = ADD },
        { "duplicates build", duplicates_build, .can = BUILD, .cannot = ADD },
        { "more keys than planned are refused", more_keys_than_planned_are_refused, .can = BUILD,
          .cannot = ADD },
        { "bytes depend on the set alone", bytes_depend_on_the_set_alone, .can = BUILD,
          .cannot = ADD },
        { "parts are built by any number of threads", parts_are_built_by_any_number_of_threads,
          .can = BUILD, .cannot = ADD },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
