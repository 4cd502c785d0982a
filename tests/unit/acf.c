/* acf: the places of a key, plans that hold what they promise, what adapting changes and what not,
 * growth and merging, the estimate of strangers, and what verify() must not accept. */
#include "cuckoo/acf.h"

#include "core/plan.h"
#include "kinds.h"

static const tamis_kind KIND = TAMIS_ACF;

/* A filter of just that shape. */
static tamis *shaped(uint64_t buckets, unsigned bits, uint64_t seed)
{
    tamis_plan plan = plan_for(KIND, 0, 0.5, seed);

    plan.slots = buckets;
    plan.hashes = bits;
    plan.bytes = tamis__ops(KIND)->bytes(&plan);
    assert_true(plan.bytes > 0);
    return new_filter(&plan);
}

/* As many keys as are planned for. */
static size_t room_of(uint64_t buckets)
{
    return (size_t)((ACF_TABLES * buckets - 16) * 95 / 100);
}

/* The same with as many keys as it has room for. */
static tamis *loaded(uint64_t buckets, unsigned bits, rng *r, uint64_t **keys, size_t *n)
{
    tamis *f = shaped(buckets, bits, rng_next(r));

    *n = room_of(buckets);
    *keys = fresh_keys(r, *n);
    add_all(f, *keys, *n);
    return f;
}

static void assert_finds(const tamis *f, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, keys[i]));
}

/* ---- Places ------------------------------------------------------------ */

static void assert_places(const acf_table *t, uint64_t h)
{
    const acf_table twice = { .buckets = 2 * t->buckets, .bits = t->bits };
    const acf_places p = acf_places_of(t, h), q = acf_places_of(&twice, h);
    uint32_t prints = acf_prints(t->bits);

    for (unsigned i = 0; i < ACF_TABLES; i++) {
        assert_int_equal(p.cell[i] / t->buckets, i);
        assert_int_equal(q.cell[i] / 2, p.cell[i]);
    }
    for (unsigned s = 0; s < 2; s++) {
        assert_int_equal(acf_selector(t, p.value[s]), s);
        assert_true((p.value[s] & prints) >= 1);
        assert_int_equal((uint64_t)p.value[s] >> t->bits, 0);
        assert_int_equal(q.value[s], p.value[s]);
    }
}

/* The cell of a table of twice the size is one of two, whatever the sizes. */
static void places_are_in_their_tables(void **state)
{
    const uint64_t sizes[] = { 1, 2, 3, 5, 263, 65537, (UINT64_C(1) << 32) + 5, UINT64_C(1) << 39 };
    rng r = rng_for(3600, 0);

    (void)state;
    for (unsigned bits = ACF_LEAST_BITS; bits <= ACF_MOST_BITS; bits++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const acf_table t = { .buckets = sizes[i], .bits = bits };
            assert_places(&t, 0);
            assert_places(&t, UINT64_MAX);
            for (int n = 0; n < 500; n++)
                assert_places(&t, rng_next(&r));
        }
}

/* Cells, fingerprints, and the table where a key looks first: any two of them together. */
static void places_are_even(void **state)
{
    enum { N = 200000, B = 7, V = 15, WAYS = ACF_TABLES + 3 };
    static uint64_t counts[WAYS][WAYS][V * V];
    const acf_table t = { .buckets = B, .bits = 5 };
    const uint64_t most[WAYS] = { B, B, B, B, V, V, ACF_TABLES };

    (void)state;
    for (uint64_t key = 0; key < N; key++) {
        uint64_t h = hash_key(key, salt_of_seed(3));
        const acf_places p = acf_places_of(&t, h);
        const uint64_t way[WAYS] = { p.cell[0],     p.cell[1] % B,       p.cell[2] % B,
                                     p.cell[3] % B, p.value[0] % 16 - 1, p.value[1] % 16 - 1,
                                     h % ACF_TABLES };
        for (int i = 0; i < WAYS; i++)
            for (int j = 0; j < i; j++)
                counts[i][j][way[i] * most[j] + way[j]]++;
    }
    for (int i = 0; i < WAYS; i++)
        for (int j = 0; j < i; j++)
            assert_true(evenly_spread(counts[i][j], most[i] * most[j], ALPHA));
}

/* Widths that the compiler knows, and all others; one by one and in batches. */
static void all_widths_answer_alike(void **state)
{
    enum { PROBES = 1000 };

    (void)state;
    for (unsigned bits = ACF_LEAST_BITS; bits <= ACF_MOST_BITS; bits++) {
        rng r = rng_for(3605, bits);
        size_t n;
        uint64_t *keys, *probes = fresh_keys(&r, PROBES), hits[PROBES / 64 + 1];
        tamis *f = loaded(75, bits, &r, &keys, &n);
        const acf_table t = acf_of(f);

        memcpy(probes, keys, n * sizeof *keys);
        size_t found = tamis_has_many(f, hits, probes, PROBES), expected = 0;
        for (size_t i = 0; i < PROBES; i++) {
            const acf_places p = acf_places_of(&t, hash_key(probes[i], f->salt));
            bool is_there = false;
            for (unsigned j = 0; j < ACF_TABLES; j++)
                is_there |= acf_matches(&t, &p, j);
            assert_int_equal(tamis_has(f, probes[i]), is_there);
            assert_int_equal(hits[i / 64] >> i % 64 & 1, is_there);
            expected += is_there;
        }
        assert_int_equal(found, expected);
        assert_true(found >= n && found < PROBES);
        tamis_free(f);
        free(keys);
        free(probes);
    }
}

/* ---- Room -------------------------------------------------------------- */

static void assert_holds_its_plan(uint64_t n, uint64_t seed)
{
    const tamis_plan plan = plan_for(KIND, n, 0.01, seed);
    rng r = rng_for(3610, seed * 1000003 + n);
    uint64_t *keys = fresh_keys(&r, n);
    tamis *f = new_filter(&plan);

    add_all(f, keys, n);
    assert_finds(f, keys, n);
    assert_true(n > 1000 || is_whole(f));
    tamis_free(f);
    free(keys);
}

static void plans_hold_what_they_promise(void **state)
{
    const uint64_t larger[] = { 1000, 3000, 10000, 100000 };

    (void)state;
    for (uint64_t n = 1; n <= 300; n++)
        for (uint64_t seed = 0; seed < run_size(20, 2, 2000); seed++)
            assert_holds_its_plan(n, seed);
    for (size_t i = 0; i < sizeof larger / sizeof *larger; i++)
        for (uint64_t seed = 0; seed < run_size(3, 1, 30); seed++)
            assert_holds_its_plan(larger[i], seed);
    if (is_long_run())
        for (uint64_t seed = 0; seed < 10; seed++)
            assert_holds_its_plan(1000000, seed);
}

/* What the page says. */
static void sizes_are_those_of_the_formula(void **state)
{
    (void)state;
    for (uint64_t n = 5; n < 100000000; n += n / 3 + 1) {
        const tamis_plan p = plan_for(KIND, n, 0.01, 0);
        double cells = (double)n / 0.95 + 16, bits = (double)(p.hashes + 8 * ACF_ENTRY);

        assert_true(p.hashes <= 10);
        assert_true((double)p.bytes * 8 >= bits * cells - bits);
        assert_true((double)p.bytes * 8 <= bits * (cells + ACF_TABLES) + 512);
    }
    assert_int_equal(plan_for(KIND, 4, 0.01, 0).slots, 1);
}

enum { SMALL = 40 };

/* Whether keys can move so that this one has room: an empty cell is among those that it may have,
 * that keys in these may have, and so on. */
static bool has_room(const tamis *f, uint64_t key)
{
    const acf_table t = acf_of(f);
    bool is_reached[ACF_TABLES * SMALL] = { false };
    uint64_t reached[ACF_TABLES * SMALL], n = 0;
    acf_places p = acf_places_of(&t, hash_key(key, f->salt));

    for (uint64_t i = 0; i <= n; i++) {
        for (unsigned j = 0; j < ACF_TABLES; j++)
            if (!is_reached[p.cell[j]]) {
                is_reached[p.cell[j]] = true;
                reached[n++] = p.cell[j];
            }
        if (i < n && acf_copies(&t, reached[i]) == 0)
            return true;
        if (i < n)
            p = acf_places_of(&t, acf_hash(&t, reached[i]));
    }
    return false;
}

/* Tables of all sizes are filled until nothing fits, and past that. */
static void a_key_is_refused_if_there_is_no_room(void **state)
{
    (void)state;
    for (uint64_t buckets = 1; buckets <= SMALL; buckets++) {
        tamis *f = shaped(buckets, 8, buckets);
        rng r = rng_for(3620, buckets);
        uint64_t *keys = fresh_keys(&r, ACF_TABLES * buckets + 50);
        size_t held = 0;

        for (size_t i = 0; i < ACF_TABLES * buckets + 50; i++) {
            image_bytes before = image_of(f);
            bool fits = has_room(f, keys[i]);
            tamis_status status = tamis_add(f, keys[i]);
            assert_int_equal(status, fits ? TAMIS_OK : TAMIS_FULL);
            assert_true(fits || is_image_of(&before, f));
            free_bytes(&before);
            if (!status)
                keys[held++] = keys[i];
        }
        assert_true(held <= ACF_TABLES * buckets && (held >= ACF_TABLES || buckets > 1));
        assert_finds(f, keys, held);
        assert_true(is_whole(f));
        tamis_free(f);
        free(keys);
    }
}

/* ---- Adapting ---------------------------------------------------------- */

/* Whether a stranger has both fingerprints of a key that is in one of its cells: no selector tells
 * the two apart. */
static bool is_twin(const tamis *f, uint64_t key)
{
    const acf_table t = acf_of(f);
    const acf_places p = acf_places_of(&t, hash_key(key, f->salt));

    for (unsigned i = 0; i < ACF_TABLES; i++) {
        const acf_places q = acf_places_of(&t, acf_hash(&t, p.cell[i]));
        if (acf_copies(&t, p.cell[i]) && p.value[0] == q.value[0] && p.value[1] == q.value[1])
            return true;
    }
    return false;
}

/* What tamis_adapt.h promises: it is not found, but for one in v, which has both fingerprints of
 * the key; a few more, as it may be found in several cells. */
static void check_reports(unsigned bits, int queries)
{
    const double v = acf_prints(bits);
    rng r = rng_for(3630, bits);
    size_t n, twins = 0, reports = 0;
    uint64_t *keys;
    tamis *f = loaded(250, bits, &r, &keys, &n);
    image_bytes before = image_of(f);

    for (int i = 0; i < queries; i++) {
        uint64_t stranger = rng_next(&r);
        bool found = tamis_has(f, stranger);

        assert_int_equal(tamis_adapt(f, stranger), TAMIS_OK);
        assert_true(!tamis_has(f, stranger) || is_twin(f, stranger));
        assert_int_equal(tamis_count(f, stranger), 0);
        twins += tamis_has(f, stranger);
        reports += found;
    }
    assert_true(twins > 0 && binomial_fits_between(twins, reports, 1 / v, 1.2 / v));
    assert_true(is_whole(f));
    assert_finds(f, keys, n);
    assert_false(is_image_of(&before, f));
    assert_true(info_of(f).adaptations > 0 && info_of(f).adapted_bits == 0);
    assert_int_equal(tamis_forget_adaptations(f), TAMIS_OK);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
    free(keys);
}

static void a_stranger_that_was_reported_is_not_found(void **state)
{
    (void)state;
    for (unsigned bits = 5; bits <= 8; bits++)
        check_reports(bits, 1000 << bits);
}

static void wrong_reports_change_nothing(void **state)
{
    rng r = rng_for(3640, 0);
    size_t n;
    uint64_t *keys;
    tamis *f = loaded(250, 7, &r, &keys, &n);

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(tamis_adapt(f, rng_next(&r)), TAMIS_OK);
    image_bytes before = image_of(f);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_adapt(f, keys[i]), TAMIS_PRESENT);
    for (int i = 0; i < 1000; i++) {
        uint64_t stranger = rng_next(&r);
        if (!tamis_has(f, stranger))
            assert_int_equal(tamis_adapt(f, stranger), TAMIS_OK);
    }
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
    free(keys);
}

/* ---- Beside an exact model --------------------------------------------- */

typedef struct world {
    tamis *f;
    uint64_t *keys, *copies;
    bool *was_reported; /* since it was last added */
    size_t universe, held;
    rng r;
    uint64_t found, repeats;
} world;

static world world_of(size_t capacity, double fpr, uint64_t round)
{
    world w = { .universe = 8 * capacity, .r = rng_for(3650, round) };
    tamis_plan plan = plan_for(KIND, capacity, fpr, rng_next(&w.r));

    w.f = new_filter(&plan);
    w.keys = fresh_keys(&w.r, w.universe);
    w.copies = array_of(w.universe, sizeof *w.copies);
    w.was_reported = array_of(w.universe, sizeof *w.was_reported);
    return w;
}

static void change_copies(world *w, size_t i)
{
    bool adds = rng_below(&w->r, 2);
    uint64_t times = 1 + rng_below(&w->r, 3);

    if (!adds) {
        tamis_status status = tamis_remove_times(w->f, w->keys[i], times);
        assert_int_equal(status, times <= w->copies[i] ? TAMIS_OK : TAMIS_ABSENT);
        w->held -= status == TAMIS_OK && w->copies[i] == times;
        w->copies[i] -= status == TAMIS_OK ? times : 0;
    } else if (w->copies[i] || w->held < tamis_plan_of(w->f)->capacity) {
        assert_int_equal(tamis_add_times(w->f, w->keys[i], times), TAMIS_OK);
        w->held += w->copies[i] == 0;
        w->copies[i] += times;
        w->was_reported[i] = false;
    }
}

/* A quarter of all strangers are asked for most of the time. */
static void ask(world *w)
{
    size_t i = rng_below(&w->r, rng_below(&w->r, 4) ? w->universe / 4 : w->universe);
    bool found = tamis_has(w->f, w->keys[i]);

    assert_true(found || !w->copies[i]);
    assert_int_equal(tamis_count(w->f, w->keys[i]), w->copies[i]);
    if (!found || w->copies[i])
        return;
    w->found++;
    w->repeats += w->was_reported[i];
    assert_int_equal(tamis_adapt(w->f, w->keys[i]), TAMIS_OK);
    assert_true(!tamis_has(w->f, w->keys[i]) || is_twin(w->f, w->keys[i]));
    w->was_reported[i] = true;
}

static void check_all(const world *w)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < w->universe; i++) {
        assert_true(tamis_has(w->f, w->keys[i]) || !w->copies[i]);
        assert_int_equal(tamis_count(w->f, w->keys[i]), w->copies[i]);
        sum += w->copies[i];
    }
    assert_true(is_whole(w->f));
    assert_int_equal(info_of(w->f).count, sum);
    assert_true(info_of(w->f).cardinality == (double)w->held);
}

static void live(size_t capacity, double fpr, uint64_t steps, uint64_t round)
{
    world w = world_of(capacity, fpr, round);

    for (uint64_t step = 0; step < steps; step++) {
        if (rng_below(&w.r, 8) < 2)
            change_copies(&w, rng_below(&w.r, w.universe));
        else
            ask(&w);
        if (step % (steps / 50) == 0)
            check_all(&w);
    }
    check_all(&w);
    print_message("%zu keys at %g: %llu false positives in %llu operations, %llu of them repeats\n",
                  capacity, fpr, (unsigned long long)w.found, (unsigned long long)steps,
                  (unsigned long long)w.repeats);
    tamis_free(w.f);
    free(w.keys);
    free(w.copies);
    free(w.was_reported);
}

/* Ten million operations in the long run, at each rate. */
static void nothing_is_lost_by_adapting(void **state)
{
    const uint64_t steps = run_size(400000, 40000, 10000000);

    (void)state;
    live(1000, 0.2, steps, 0);
    live(1000, 0.02, steps, 1);
    live(60, 0.2, steps, 2);
}

/* ---- Other sizes, other filters ---------------------------------------- */

static void report_all(tamis *f, const uint64_t *strangers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_adapt(f, strangers[i]), TAMIS_OK);
}

/* Of a filter that may grow, and was. */
static tamis *doubled(const tamis *f)
{
    tamis_plan plan = f->plan;
    tamis *larger = NULL;

    assert_int_equal(tamis__plan_enlarge(&plan), TAMIS_OK);
    assert_true(plan.bytes > f->plan.bytes && plan.capacity >= f->plan.capacity);
    assert_int_equal(tamis_new(&larger, &plan, NULL), TAMIS_OK);
    assert_int_equal(f->ops.move(larger, f), TAMIS_OK);
    assert_true(is_whole(larger));
    return larger;
}

static tamis *growing(size_t n, rng *r, uint64_t **keys)
{
    const tamis_plan plan = growing_plan(KIND, n, 0.1, 0);
    tamis *f = new_filter(&plan);

    *keys = fresh_keys(r, n);
    add_all(f, *keys, n);
    return f;
}

/* A cell becomes two, so that whoever is found was found before. */
static void growth_keeps_adaptations(void **state)
{
    enum { N = 1000, STRANGERS = 40000 };
    rng r = rng_for(3660, 0);
    uint64_t *keys, *strangers = fresh_keys(&r, STRANGERS);
    tamis *f = growing(N, &r, &keys);

    (void)state;
    report_all(f, strangers, STRANGERS);
    for (int i = 0; i < 4; i++) {
        tamis *larger = doubled(f);

        assert_int_equal(info_of(larger).adaptations, info_of(f).adaptations);
        assert_finds(larger, keys, N);
        for (size_t j = 0; j < STRANGERS; j++)
            assert_true(tamis_has(f, strangers[j]) || !tamis_has(larger, strangers[j]));
        tamis_free(f);
        f = larger;
    }
    tamis_free(f);
    free(keys);
    free(strangers);
}

/* Where copies take no cells, they are no reason to grow. */
static void copies_do_not_make_room(void **state)
{
    const tamis_plan plan = growing_plan(KIND, 10, 0.1, 0);
    tamis *f = new_filter(&plan);

    (void)state;
    assert_int_equal(tamis_add_times(f, 5, UINT64_C(1) << 62), TAMIS_OK);
    assert_int_equal(tamis_add_times(f, 5, UINT64_C(1) << 62), TAMIS_OK);
    assert_int_equal(tamis_plan_of(f)->bytes, plan.bytes);
    assert_int_equal(f->ops.room(f, 0, 7).needed, 1);
    assert_int_equal(f->ops.room(f, 0, 7).used, 1);
    assert_int_equal(f->ops.room(f, 0, 7).free, ACF_TABLES * plan.slots - 1);
    tamis_free(f);
}

static void merging_keeps_what_need_not_move(void **state)
{
    enum { N = 1000 };
    rng r = rng_for(3670, 0);
    uint64_t *keys, *strangers = fresh_keys(&r, 20000);
    tamis *f = growing(N, &r, &keys), *empty = new_filter(tamis_plan_of(f)), *larger = doubled(f);
    tamis *small = new_filter(tamis_plan_of(f));

    (void)state;
    report_all(f, strangers, 20000);
    assert_int_equal(tamis_combine(empty, TAMIS_MERGE, f), TAMIS_OK);
    assert_true(same_payload(empty, f));
    /* Both ways between filters of different growth; counts add up. */
    assert_int_equal(tamis_combine(larger, TAMIS_MERGE, f), TAMIS_OK);
    assert_int_equal(tamis_combine(small, TAMIS_MERGE, larger), TAMIS_OK);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(tamis_count(small, keys[i]), 2);
    assert_true(is_whole(larger) && is_whole(small));
    assert_int_equal(info_of(small).count, 2 * N);
    tamis_free(f);
    tamis_free(empty);
    tamis_free(larger);
    tamis_free(small);
    free(keys);
    free(strangers);
}

static void a_merge_that_does_not_fit_changes_nothing(void **state)
{
    rng r = rng_for(3680, 0);
    size_t n, m;
    uint64_t *keys, *others;
    tamis *f = loaded(250, 7, &r, &keys, &n), *g = shaped(250, 7, f->plan.hasher.seed);

    (void)state;
    m = n;
    others = fresh_keys(&r, m);
    add_all(g, others, m);
    report_all(f, others, m / 2);
    image_bytes before = image_of(f);
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, g), TAMIS_FULL);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
    tamis_free(g);
    free(keys);
    free(others);
}

/* ---- How many were asked ----------------------------------------------- */

static void estimates_are_those_of_the_formula(void **state)
{
    double error, keys = tamis__acf_queried(1024 * 128.0, 3891, 1000, &error);

    (void)state;
    assert_true(fabs(keys - 47288.2) < 0.05);
    /* phi(x) / sqrt(n), x = C / (b v), where the share is what x makes it. */
    double x = 0.4, n = 1e8, ones = n * -expm1(-2 * x) / 2;
    keys = tamis__acf_queried(1e6, n, ones, &error);
    assert_true(is_near(keys, x * 1e6, 1e-9));
    assert_true(is_near(error / keys, sqrt(expm1(4 * x)) / (2 * x) / sqrt(n), 1e-9));
    /* Of 1000 cells, a quarter of a percent is taken off. */
    keys = tamis__acf_queried(1e6, 1000, 1000 * -expm1(-2 * x) / 2, &error);
    assert_true(is_near(keys, x * 1e6 * (1 - expm1(4 * x) / (4 * x * 1000)), 1e-9));
}

static void what_cannot_be_told_has_no_error(void **state)
{
    double error, last = 0;

    (void)state;
    assert_true(tamis__acf_queried(1000, 0, 0, &error) == 0 && isinf(error));
    assert_true(tamis__acf_queried(1000, 4, 0, &error) == 0 && isinf(error));
    /* None is as uncertain as one, and an error of 0 would say that nothing can be told. */
    assert_true(tamis__acf_queried(1000, 100, 0, &error) == 0 && error > 0 && error < 20);
    for (double ones = 0; ones <= 10000; ones++) {
        double keys = tamis__acf_queried(1e6, 10000, ones, &error);

        assert_true(keys >= last && isfinite(keys) && error > 0);
        assert_int_equal(isinf(error), 2 * ones >= 10000 - 200);
        last = keys;
    }
}

typedef struct outcome {
    double keys, error, ones;
} outcome;

/* Asks for that many strangers, each in every pass, in another order, and reports those found. */
static outcome ask_strangers(uint64_t buckets, unsigned bits, size_t strangers, unsigned passes,
                             rng *r)
{
    size_t n;
    uint64_t *keys, *asked = fresh_keys(r, strangers);
    tamis *f = loaded(buckets, bits, r, &keys, &n);
    outcome o;

    for (unsigned pass = 0; pass < passes; pass++) {
        if (pass > 0)
            shuffle(r, asked, strangers);
        for (size_t i = 0; i < strangers; i++)
            if (tamis_has(f, asked[i]))
                assert_int_equal(tamis_adapt(f, asked[i]), TAMIS_OK);
    }
    assert_int_equal(tamis_queried(f, &o.keys, &o.error), TAMIS_OK);
    o.ones = (double)info_of(f).adaptations;
    tamis_free(f);
    free(keys);
    free(asked);
    return o;
}

/* Squares of errors, relative to what the theory expects, add up to a chi-square variable. Power:
 * of 200 filters, an error 1.4 times as large is seen; of 2000, 1.1 times. */
static void estimates_are_as_good_as_the_theory(void **state)
{
    const double shares[] = { 0.05, 0.1, 0.2, 0.4, 0.8 };
    const uint64_t buckets = 256;
    const unsigned bits = 8;
    const size_t filters = run_size(200, 10, 2000);
    double cells = (double)room_of(buckets);

    (void)state;
    for (int i = 0; i < 5; i++) {
        size_t strangers = (size_t)(shares[i] * (double)buckets * acf_prints(bits));
        double x = (double)strangers / ((double)buckets * acf_prints(bits)), ones = 0, squares = 0;
        double expected = sqrt(expm1(4 * x)) / (2 * x) / sqrt(cells);
        rng r = rng_for(3690, (uint64_t)i);

        for (size_t j = 0; j < filters; j++) {
            outcome o = ask_strangers(buckets, bits, strangers, 1 + (unsigned)(j % 3), &r);
            double off = (o.keys / (double)strangers - 1) / expected;
            squares += off * off;
            ones += o.ones;
        }
        double tail = chi_square_tail(squares, (double)filters);
        if (is_long_run())
            print_message("x = %.2f: error %.3f times that of the theory\n", x,
                          sqrt(squares / (double)filters));
        assert_true(tail >= ALPHA / 2 && tail <= 1 - ALPHA / 2);
        assert_true(!is_long_run() || sqrt(squares / (double)filters) <= 1.1);
        assert_true(
            binomial_fits((uint64_t)ones, (uint64_t)(cells * (double)filters), -expm1(-2 * x) / 2));
    }
}

static void too_many_strangers_are_said_to_be(void **state)
{
    rng r = rng_for(3700, 0);
    outcome o = ask_strangers(64, 5, (size_t)64 * 15 * 3, 1, &r);

    (void)state;
    assert_true(isinf(o.error) && isfinite(o.keys));
}

/* ---- What adapting is worth -------------------------------------------- */

/* Strangers that are asked for again and again, each as often as the others, hit a cell under one
 * selector l0 and under the other l1 of them. If one of these is 0, it comes to rest. Else it flips
 * twice in A / l0 + A / l1 questions, on average. */
static double flips_expected(double cells, double strangers, double mean)
{
    double sum = 0;

    for (int i = 1; i < 60; i++)
        for (int j = 1; j < 60; j++)
            sum += exp((i + j) * log(mean) - 2 * mean - lgamma(i + 1) - lgamma(j + 1)) * 2 * i * j /
                   (i + j);
    return cells / strangers * sum;
}

/* Cells that a stranger is found in, each of which is flipped. */
static unsigned matches_of(const tamis *f, uint64_t key)
{
    const acf_table t = acf_of(f);
    const acf_places p = acf_places_of(&t, hash_key(key, f->salt));
    unsigned n = 0;

    for (unsigned i = 0; i < ACF_TABLES; i++)
        n += acf_matches(&t, &p, i);
    return n;
}

/* Flips for each of `questions` questions. */
static double flips_of(tamis *f, const uint64_t *strangers, size_t n, size_t questions, rng *r)
{
    uint64_t flips = 0;

    for (size_t i = 0; i < questions; i++) {
        uint64_t key = strangers[rng_below(r, n)];

        flips += matches_of(f, key);
        assert_int_equal(f->ops.adapt(f, key), TAMIS_OK);
    }
    return (double)flips / (double)questions;
}

/* Means of many filters, as in stat/rate.c. */
static void assert_flips(size_t strangers_per_key, uint64_t round)
{
    const size_t filters = run_size(60, 20, 1000);
    const double sigmas = 6.5;
    double sum = 0, squares = 0, expected = 0;

    for (size_t i = 0; i < filters; i++) {
        rng r = rng_for(3710, round * 100000 + i);
        size_t n;
        uint64_t *keys;
        tamis *f = loaded(64, 8, &r, &keys, &n);
        size_t m = n * strangers_per_key;
        uint64_t *strangers = fresh_keys(&r, m);

        flips_of(f, strangers, m, 20 * m, &r);
        double flips = flips_of(f, strangers, m, 10 * m, &r);
        sum += flips;
        squares += flips * flips;
        expected = flips_expected((double)n, (double)m, (double)m / 64 / acf_prints(8));
        tamis_free(f);
        free(keys);
        free(strangers);
    }
    double mean = sum / (double)filters, sd = sqrt(squares / (double)filters - mean * mean);
    if (fabs(mean - expected) > sigmas * sd / sqrt((double)filters))
        fail_msg("%g flips per question, expected %g", mean, expected);
}

static void cells_flip_as_often_as_expected(void **state)
{
    (void)state;
    assert_flips(10, 0);
    assert_flips(30, 1);
}

/* ---- Plans and images -------------------------------------------------- */

/* Strangers that must not pass have cells with bits enough. */
static void excluded_keys_do_not_pass(void **state)
{
    enum { N = 2000, OTHERS = 50000 };
    rng r = rng_for(3720, 0);
    uint64_t *keys = fresh_keys(&r, N), *others = fresh_keys(&r, OTHERS);
    tamis_spec spec = spec_for(N, 0.1, 4);
    tamis_plan plan;
    tamis *f = NULL;

    (void)state;
    spec.universe = N + OTHERS;
    assert_int_equal(tamis_plan_kind(&plan, KIND, &spec), TAMIS_OK);
    assert_int_equal(tamis_build_excluding(&f, &plan, keys, N, others, OTHERS, NULL), TAMIS_OK);
    assert_finds(f, keys, N);
    for (size_t i = 0; i < OTHERS; i++)
        assert_false(tamis_has(f, others[i]));
    assert_true(is_whole(f));
    tamis_free(f);
    free(keys);
    free(others);
}

/* However many: numbers of excluded keys do not run out of what doubles hold. */
static void more_excluded_keys_take_more_bits(void **state)
{
    tamis_spec spec = spec_for(10, 0.5, 4);
    tamis_plan plan;
    uint32_t least = ACF_LEAST_BITS;

    (void)state;
    for (uint64_t m = 1; m < UINT64_MAX / 2; m *= 2) {
        spec.universe = spec.keys + m;
        assert_int_equal(tamis_plan_kind(&plan, KIND, &spec), TAMIS_OK);
        assert_true(plan.hashes >= least);
        least = plan.hashes;
    }
    assert_int_equal(least, ACF_MOST_BITS);
}

/* Of filters that are planned for exactly their keys and excluded keys, one in a thousand is full
 * at most: keys and excluded keys that no selector tells apart. */
static void few_plans_fail_to_exclude(void **state)
{
    const size_t sizes[][2] = { { 50, 1 }, { 100, 5 }, { 500, 10 }, { 1000, 30 }, { 3000, 100 } };
    const uint64_t builds = run_size(3000, 300, 20000);

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i][0], m = sizes[i][1];
        rng r = rng_for(3712, i);
        uint64_t full = 0;

        for (uint64_t round = 0; round < builds; round++) {
            tamis_spec spec = spec_for(n, 0.1, round);
            uint64_t *keys = fresh_keys(&r, n + m);
            tamis_plan plan;
            tamis *f = NULL;

            spec.universe = n + m;
            assert_int_equal(tamis_plan_kind(&plan, KIND, &spec), TAMIS_OK);
            tamis_status status = tamis_build_excluding(&f, &plan, keys, n, keys + n, m, NULL);
            assert_true(status == TAMIS_OK || status == TAMIS_FULL);
            full += status == TAMIS_FULL;
            tamis_free(f);
            free(keys);
        }
        print_message("%zu keys, %zu excluded: %llu of %llu are full\n", n, m,
                      (unsigned long long)full, (unsigned long long)builds);
        assert_true(binomial_fits_between(full, builds, 0, 1e-3));
    }
}

static void geometries_are_checked(void **state)
{
    const tamis_plan good = plan_for(KIND, 100, 0.01, 0);
    const tamis_ops *ops = tamis__ops(KIND);
    tamis_plan bad[12];

    (void)state;
    for (int i = 0; i < 12; i++)
        bad[i] = good;
    bad[0].slots = 0;
    bad[1].hashes = ACF_LEAST_BITS - 1;
    bad[2].hashes = ACF_MOST_BITS + 1;
    bad[3].width = 1; /* and it does not grow */
    bad[4].load = 1;
    bad[5].flags = TAMIS_PLAN_EXACT_DELETE;
    bad[6].capacity = ACF_TABLES * good.slots + 1;
    bad[7].slots = (UINT64_C(1) << 40) + 1;
    bad[8].slots = UINT64_MAX;
    bad[9].flags = TAMIS_PLAN_GROWS;
    bad[9].width = 41;
    bad[10].flags = TAMIS_PLAN_GROWS;
    bad[10].width = 40;
    bad[11].flags = TAMIS_PLAN_GROWS;
    bad[11].width = 64;
    assert_true(ops->bytes(&good) == good.bytes);
    for (int i = 0; i < 12; i++)
        assert_int_equal(ops->bytes(&bad[i]), 0);
}

static bool is_refused(tamis *f)
{
    return tamis_verify(f, NULL, NULL) == TAMIS_CORRUPT;
}

/* Each change is undone before the next. */
static void damage_is_seen(void **state)
{
    rng r = rng_for(3730, 0);
    size_t n;
    uint64_t *keys, used = 0, empty = 0;
    tamis *f = loaded(25, 9, &r, &keys, &n);
    const acf_table t = acf_of(f);

    (void)state;
    report_all(f, (const uint64_t[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, 8);
    assert_true(is_whole(f));
    while (acf_copies(&t, used) == 0)
        used++;
    while (acf_copies(&t, empty))
        empty++;
    uint64_t h = acf_hash(&t, used), copies = acf_copies(&t, used);
    uint32_t value = acf_cell(&t, used);
    const acf_places p = acf_places_of(&t, h);

    for (uint32_t other = 0; other < 512; other++) {
        acf_put_cell(&t, used, other);
        assert_int_equal(is_refused(f), other != p.value[0] && other != p.value[1]);
    }
    acf_put_cell(&t, used, value);
    acf_put_entry(&t, used, h ^ 1, copies);
    assert_true(is_refused(f));
    acf_put_entry(&t, used, h, copies + 1);
    assert_true(is_refused(f));
    acf_put_entry(&t, used, h, 0);
    assert_true(is_refused(f));
    acf_put_entry(&t, used, h, copies);
    acf_put_entry(&t, empty, 1, 0);
    assert_true(is_refused(f));
    acf_put_entry(&t, empty, 0, 1);
    assert_true(is_refused(f));
    acf_put_entry(&t, empty, 0, 0);
    acf_put_cell(&t, empty, 1);
    assert_true(is_refused(f));
    acf_put_cell(&t, empty, 0);
    assert_true(is_whole(f));
    tamis_free(f);
    free(keys);
}

/* In another of its cells, and with a sum of copies that wraps around. */
static void a_key_in_two_cells_is_seen(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ACF_TABLES; i++)
        for (unsigned j = 0; j < ACF_TABLES; j++) {
            tamis *f = shaped(3, 8, 0);
            const acf_table t = acf_of(f);
            uint64_t h = mix64(77);
            const acf_places p = acf_places_of(&t, h);

            acf_put_cell(&t, p.cell[i], p.value[0]);
            acf_put_entry(&t, p.cell[i], h, 1);
            f->count = 1;
            assert_true(is_whole(f));
            acf_put_cell(&t, p.cell[j], p.value[1]);
            acf_put_entry(&t, p.cell[j], h, i == j ? 1 : UINT64_MAX);
            f->count = i == j;
            assert_int_equal(is_refused(f), i != j);
            tamis_free(f);
        }
}

/* Bits between the cells and the entries. */
static void bits_past_the_end_are_seen(void **state)
{
    (void)state;
    for (unsigned bits = ACF_LEAST_BITS; bits <= ACF_MOST_BITS; bits++)
        for (uint64_t buckets = 1; buckets < 20; buckets++) {
            tamis *f = shaped(buckets, bits, 0);
            const acf_table t = acf_of(f);
            uint64_t end = acf_cells(&t) * bits;

            if (end % 512) {
                t.cells[end / 8] = (uint8_t)(1u << end % 8);
                assert_true(is_refused(f));
                t.cells[end / 8] = 0;
                acf_entry(&t, 0)[-1] = 0x80;
                assert_true(is_refused(f));
                acf_entry(&t, 0)[-1] = 0;
            }
            assert_true(is_whole(f));
            tamis_free(f);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_in_their_tables),
        cmocka_unit_test(places_are_even),
        cmocka_unit_test(all_widths_answer_alike),
        cmocka_unit_test(plans_hold_what_they_promise),
        cmocka_unit_test(sizes_are_those_of_the_formula),
        cmocka_unit_test(a_key_is_refused_if_there_is_no_room),
        cmocka_unit_test(a_stranger_that_was_reported_is_not_found),
        cmocka_unit_test(wrong_reports_change_nothing),
        cmocka_unit_test(nothing_is_lost_by_adapting),
        cmocka_unit_test(growth_keeps_adaptations),
        cmocka_unit_test(copies_do_not_make_room),
        cmocka_unit_test(merging_keeps_what_need_not_move),
        cmocka_unit_test(a_merge_that_does_not_fit_changes_nothing),
        cmocka_unit_test(estimates_are_those_of_the_formula),
        cmocka_unit_test(what_cannot_be_told_has_no_error),
        cmocka_unit_test(estimates_are_as_good_as_the_theory),
        cmocka_unit_test(too_many_strangers_are_said_to_be),
        cmocka_unit_test(cells_flip_as_often_as_expected),
        cmocka_unit_test(excluded_keys_do_not_pass),
        cmocka_unit_test(more_excluded_keys_take_more_bits),
        cmocka_unit_test(few_plans_fail_to_exclude),
        cmocka_unit_test(geometries_are_checked),
        cmocka_unit_test(damage_is_seen),
        cmocka_unit_test(a_key_in_two_cells_is_seen),
        cmocka_unit_test(bits_past_the_end_are_seen),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
