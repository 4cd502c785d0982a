/* ribbon.c - what chance does not reach: every size and width, each level, bumping, and kernels. */
#include "fuse/ribbon.h"
#include "base/cpu.h"
#include "kinds.h"

static tamis_plan plan_of_width(uint64_t keys, unsigned width)
{
    tamis_plan p = plan_for(TAMIS_RIBBON, keys, ldexp(1, -(int)width), 1);

    assert_int_equal(p.width, width);
    return p;
}

static ribbon_level first_level_of(const tamis_plan *p)
{
    ribbon_shape s = ribbon_shape_of(p);

    return ribbon_first_level(&s);
}

static void assert_all_found(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits);

    assert_int_equal(tamis_has_many(f, hits, keys, n), n);
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, keys[i]));
    free(hits);
}

static void assert_builds(const tamis_plan *p, const uint64_t *keys, size_t n)
{
    tamis *f = filter_of(p, keys, n);

    assert_int_equal(info_of(f).count, n);
    assert_true(is_whole(f));
    assert_all_found(f, keys, n);
    tamis_free(f);
}

/* ---- Sizes and widths -------------------------------------------------- */

static void every_small_number_of_keys_builds(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 3000; n += run_size(2, 23, 1)) {
        rng r = rng_for(10, n);
        uint64_t *keys = fresh_keys(&r, n);
        tamis_plan p = plan_of_width(n, 1 + (unsigned)(n % 12));

        assert_builds(&p, keys, n);
        free(keys);
    }
}

static void numbers_around_new_levels_build(void **state)
{
    const size_t edges[] = { RIBBON_LAST_KEYS, 70000, 110000, 271700, 543400 };

    (void)state;
    for (size_t e = 0; e < 5; e++)
        for (size_t n = edges[e] - 20; n <= edges[e] + 20; n += run_size(5, 20, 1)) {
            rng r = rng_for(11, n);
            uint64_t *keys = fresh_keys(&r, n);
            tamis_plan p = plan_of_width(n, 8);

            assert_builds(&p, keys, n);
            free(keys);
        }
}

static uint64_t hits_of_strangers(const tamis *f, rng *r, size_t n)
{
    uint64_t hits[1024 / 64], keys[1024], found = 0;

    for (size_t done = 0; done < n; done += 1024) {
        for (size_t i = 0; i < 1024; i++)
            keys[i] = rng_next(r);
        found += tamis_has_many(f, hits, keys, 1024);
    }
    return found;
}

static void every_width_has_its_rate(void **state)
{
    enum { N = 6000, STRANGERS = 200 * 1024 };
    rng r = rng_for(12, 0);
    uint64_t *keys = fresh_keys(&r, N);

    (void)state;
    for (unsigned width = 1; width <= RIBBON_MOST_WIDTH; width++) {
        tamis_plan p = plan_of_width(N, width);
        tamis *f = filter_of(&p, keys, N);

        assert_all_found(f, keys, N);
        uint64_t hits = hits_of_strangers(f, &r, STRANGERS);
        assert_true(binomial_fits(hits, STRANGERS, ldexp(1, -(int)width)));
        tamis_free(f);
    }
    free(keys);
}

static void space_is_near_the_least(void **state)
{
    const struct {
        uint64_t keys;
        double overhead;
    } rows[] = {
        { 100000, 0.0099 }, { 1000000, 0.006 }, { 10000000, 0.004 }, { 1000000000, 0.0055 }
    };

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (unsigned width = 8; width <= 32; width++) {
            double least = (double)rows[i].keys * width;

            if (least / 8 > (double)SIZE_MAX / 4)
                continue; /* more than this machine can address */
            tamis_plan p = plan_of_width(rows[i].keys, width);
            assert_true((double)p.bytes * 8 <= least * (1 + rows[i].overhead));
        }
}

/* ---- Levels ------------------------------------------------------------ */

/* How many of the keys end on each level; counts[] has room for eight. */
static void count_levels(const tamis *f, const uint64_t *keys, size_t n, size_t *counts)
{
    memset(counts, 0, 8 * sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], f->salt);
        ribbon_level l = first_level_of(&f->plan);

        while (!l.is_last && ribbon_is_bumped((const uint8_t *)f->payload + l.at,
                                              ribbon_start(&l, ribbon_rehash(h, l.number), 0)))
            l = ribbon_next_level(&l, f->plan.width);
        counts[l.number]++;
    }
}

static void each_level_holds_its_share(void **state)
{
    enum { N = 200000 };
    rng r = rng_for(13, 0);
    uint64_t *keys = fresh_keys(&r, N);
    tamis_plan p = plan_of_width(N, 8);
    tamis *f = filter_of(&p, keys, N);
    size_t counts[8], all = 0;

    (void)state;
    assert_int_equal(p.hashes, 3);
    count_levels(f, keys, N, counts);
    for (ribbon_level l = first_level_of(&p); !l.is_last; l = ribbon_next_level(&l, p.width)) {
        assert_true(counts[l.number] <= l.slots);
        /* Level 0 is full but for one slot in 700; level 1 has room to spare. */
        assert_true(counts[l.number] >= l.slots - l.slots / (l.number ? 10 : 400));
        all += counts[l.number];
    }
    assert_true(counts[2] > 0);
    assert_int_equal(all + counts[2], N);
    tamis_free(f);
    free(keys);
}

static void all_thresholds_occur(void **state)
{
    enum { N = 300000 };
    rng r = rng_for(14, 0);
    uint64_t *keys = fresh_keys(&r, N);
    tamis_plan p = plan_of_width(N, 8);
    tamis *f = filter_of(&p, keys, N);
    ribbon_level l = first_level_of(&p);
    const uint8_t *thresholds = f->payload;
    uint64_t seen[RIBBON_THRESHOLDS] = { 0 };

    (void)state;
    for (uint64_t b = 0; b < l.slots / RIBBON_BUCKET; b++)
        seen[thresholds[b / 4] >> b % 4 * 2 & 3]++;
    assert_true(seen[RIBBON_BUMP_NONE] > seen[RIBBON_BUMP_FEW] &&
                seen[RIBBON_BUMP_FEW] > seen[RIBBON_BUMP_MANY]);
    assert_true(seen[RIBBON_BUMP_MANY] > 0);
    assert_true(seen[RIBBON_BUMP_ALL] < 10);
    tamis_free(f);
    free(keys);
}

/* A plan for fewer keys than there are: levels overflow into each other until the last is full. */
static void too_many_keys_are_never_lost(void **state)
{
    enum { N = 20000 };
    rng r = rng_for(15, 0);
    uint64_t *keys = fresh_keys(&r, N);

    (void)state;
    for (size_t room = N - 1000; room < N; room += 50) {
        tamis_plan p = plan_of_width(room, 8);
        tamis *f = NULL;
        tamis_status status = tamis_build(&f, &p, keys, N, NULL);

        assert_true(status == TAMIS_OK || status == TAMIS_FULL);
        if (f)
            assert_all_found(f, keys, N);
        tamis_free(f);
    }
    free(keys);
}

/* Of two keys that start side by side. Each copy that looked at all before it would take minutes.
 */
static void many_copies_of_few_keys_build(void **state)
{
    enum { N = 5000, COPIES = 300000 };
    rng r = rng_for(18, 0);
    uint64_t *keys = fresh_keys(&r, N + 2 * COPIES);
    tamis_plan p = plan_of_width(N + 2, 8);

    (void)state;
    for (size_t i = 0; i < 2 * COPIES; i++)
        keys[N + i] = unhash_key((UINT64_C(1) << 60) + i / COPIES, salt_of_seed(1));
    tamis *f = filter_of(&p, keys, N + 2 * COPIES);
    assert_int_equal(info_of(f).count, N + 2);
    assert_all_found(f, keys, N + 2 * COPIES);
    tamis_free(f);
    free(keys);
}

/* After other hashes, which take none. */
static void enlarging_makes_room(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_RIBBON);

    (void)state;
    for (uint64_t n = 0; n < 100000; n = n * 5 / 4 + 1) {
        tamis_plan p = plan_of_width(n, 8), before = p;

        assert_int_equal(ops->resize(&p, 0), TAMIS_OK);
        assert_true(p.slots == before.slots && ribbon_shape_of(&p).first_hash == 1);
        assert_int_equal(ops->bytes(&p), before.bytes);
        assert_int_equal(ops->resize(&p, 0), TAMIS_OK);
        assert_true(p.slots > before.slots && p.bytes == before.bytes);
        assert_true(ops->bytes(&p) >= before.bytes);
    }
}

/* There are only so many hashes. */
static void steps_come_to_an_end(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_RIBBON);
    tamis_plan p = plan_of_width(1, 8);

    (void)state;
    for (int i = 0; i < RIBBON_MOST_FIRST_HASH; i++) {
        assert_int_equal(ops->resize(&p, 0), TAMIS_OK);
        assert_true(ops->bytes(&p) > 0);
    }
    assert_int_equal(ops->resize(&p, 0), TAMIS_RANGE);
    p.hashes += 1 << RIBBON_FIRST_HASH_AT;
    assert_int_equal(ops->bytes(&p), 0);
}

/* ---- The set alone ----------------------------------------------------- */

static void order_and_twins_do_not_matter(void **state)
{
    const size_t sizes[] = { 1, 20, 64, 900, 5000, 200000 };

    (void)state;
    for (size_t s = 0; s < 6; s++) {
        size_t n = sizes[s];
        rng r = rng_for(16, n);
        uint64_t *keys = fresh_keys(&r, n), *twice = array_of(3 * n, sizeof *twice);
        tamis_plan p = plan_of_width(n, 8);
        tamis *f = filter_of(&p, keys, n), *g;

        for (size_t i = 0; i < 3; i++)
            memcpy(twice + i * n, keys, n * sizeof *keys);
        shuffle(&r, twice, 3 * n);
        g = filter_of(&p, twice, 3 * n);
        assert_true(same_image(f, g));
        tamis_free(f);
        tamis_free(g);
        free(keys);
        free(twice);
    }
}

static void one_key_a_million_times(void **state)
{
    enum { N = 1000000 };
    uint64_t *keys = array_of(N, sizeof *keys);
    tamis_plan p = plan_of_width(N, 8);
    tamis *f;

    (void)state;
    for (size_t i = 0; i < N; i++)
        keys[i] = 42;
    f = filter_of(&p, keys, N);
    assert_int_equal(info_of(f).count, 1);
    assert_true(tamis_has(f, 42));
    tamis_free(f);
    free(keys);
}

/* ---- Empty, hostile ---------------------------------------------------- */

static void empty_filters_hold_nothing(void **state)
{
    const uint64_t sizes[] = { 0, 1, 100, 5000, 100000, 20000000 };
    rng r = rng_for(17, 0);

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        tamis_plan p = plan_of_width(sizes[i], 1);
        tamis *f = new_filter(&p), *g = filter_of(&p, NULL, 0);

        assert_true(same_image(f, g));
        assert_int_equal(hits_of_strangers(f, &r, 4096), 0);
        tamis_free(f);
        tamis_free(g);
    }
}

static uint64_t *answers(tamis *f, unsigned cpu, const uint64_t *keys, size_t n)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits);

    tamis__use_cpu(f, cpu);
    tamis_has_many(f, hits, keys, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hits[i / 64] >> i % 64 & 1, tamis_has(f, keys[i]));
    return hits;
}

/* Any bytes: every kernel answers, and all answer alike. */
static void any_payload_gets_one_answer(void **state)
{
    enum { N = 5000 };
    const uint64_t sizes[] = { 1, 30, 64, 65, 900, 4500, 30000 };
    rng r = rng_for(18, 0);

    (void)state;
    for (unsigned width = 1; width <= RIBBON_MOST_WIDTH; width++)
        for (size_t s = 0; s < 7; s++) {
            tamis_plan p = plan_of_width(sizes[s], width);
            tamis *f = new_filter(&p);
            uint64_t *keys = fresh_keys(&r, N);

            for (uint64_t i = 0; i < p.bytes; i++)
                ((uint8_t *)f->payload)[i] = (uint8_t)rng_next(&r);
            uint64_t *portable = answers(f, TAMIS_CPU_PORTABLE, keys, N);
            uint64_t *best = answers(f, tamis__cpu(), keys, N);
            assert_memory_equal(portable, best, N / 64 * 8 + 8);
            free(portable);
            free(best);
            free(keys);
            tamis_free(f);
        }
}

/* ---- Kernels ----------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint8_t *part_by(unsigned cpu, tamis *f, const uint64_t *hashes, size_t n)
{
    uint64_t *copy = array_of(n, sizeof *copy);
    void *scratch = array_of(f->ops.scratch(&f->plan, TAMIS_STAGE_SIEVE, n, 1), 1);
    uint8_t *part = calloc(f->plan.bytes, 1);
    size_t distinct = n;

    assert_non_null(part);
    memcpy(copy, hashes, n * sizeof *copy);
    tamis__use_cpu(f, cpu);
    assert_int_equal(f->ops.solve(f, TAMIS_STAGE_SIEVE, part, copy, &distinct, scratch, NULL),
                     TAMIS_OK);
    assert_int_equal(distinct, n);
    free(copy);
    free(scratch);
    return part;
}

static void assert_solved_alike(size_t n, unsigned width)
{
    rng r = rng_for(19, n * 64 + width);
    tamis_plan p = plan_of_width(n, width);
    uint64_t *hashes = fresh_keys(&r, n);
    tamis *f = filter_of(&p, hashes, 0);

    qsort(hashes, n, sizeof *hashes, ascending);
    uint8_t *portable = part_by(TAMIS_CPU_PORTABLE, f, hashes, n);
    uint8_t *best = part_by(tamis__cpu(), f, hashes, n);
    assert_memory_equal(portable, best, p.bytes);
    free(portable);
    free(best);
    free(hashes);
    tamis_free(f);
}

/* One level, several levels; one segment, two, and four side by side. */
static void kernels_solve_alike(void **state)
{
    const size_t small[] = { 1, 8, 63, 64, 65, 1000, 4096, 4097, 6000, 30000 };
    const size_t large[] = { 280000, 560000, 1200000 };

    (void)state;
    for (unsigned width = 1; width <= RIBBON_MOST_WIDTH; width++)
        for (size_t i = 0; i < 10; i++)
            assert_solved_alike(small[i], width);
    for (unsigned width = 7; width <= 9 && !is_sanitized(); width++)
        for (size_t i = 0; i < 3; i++)
            assert_solved_alike(large[i], width);
}

static void kernels_find_alike(void **state)
{
    enum { N = 30000 };
    rng r = rng_for(20, 0);
    uint64_t *keys = fresh_keys(&r, 2 * N);

    (void)state;
    for (unsigned width = 1; width <= RIBBON_MOST_WIDTH; width++) {
        tamis_plan p = plan_of_width(N, width);
        tamis *f = filter_of(&p, keys, N);
        uint64_t *portable = answers(f, TAMIS_CPU_PORTABLE, keys, 2 * N);
        uint64_t *best = answers(f, tamis__cpu(), keys, 2 * N);

        assert_memory_equal(portable, best, 2 * N / 64 * 8 + 8);
        for (size_t i = 0; i < N; i++)
            assert_true(best[i / 64] >> i % 64 & 1);
        free(portable);
        free(best);
        tamis_free(f);
    }
    free(keys);
}

static void other_geometries_are_refused(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_RIBBON);
    tamis_plan p = plan_of_width(100000, 8), q = p;

    (void)state;
    assert_int_equal(ops->bytes(&p), p.bytes);
    q.width = 0;
    assert_int_equal(ops->bytes(&q), 0);
    q.width = RIBBON_MOST_WIDTH + 1;
    assert_int_equal(ops->bytes(&q), 0);
    q = p;
    q.hashes++;
    assert_int_equal(ops->bytes(&q), 0);
    q = p;
    q.slots = UINT64_MAX;
    assert_int_equal(ops->bytes(&q), 0);
    q = p;
    q.flags = TAMIS_PLAN_GROWS;
    assert_int_equal(ops->bytes(&q), 0);
    q = p;
    q.load = 900;
    assert_int_equal(ops->bytes(&q), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_number_of_keys_builds),
        cmocka_unit_test(numbers_around_new_levels_build),
        cmocka_unit_test(every_width_has_its_rate),
        cmocka_unit_test(space_is_near_the_least),
        cmocka_unit_test(each_level_holds_its_share),
        cmocka_unit_test(all_thresholds_occur),
        cmocka_unit_test(too_many_keys_are_never_lost),
        cmocka_unit_test(many_copies_of_few_keys_build),
        cmocka_unit_test(enlarging_makes_room),
        cmocka_unit_test(steps_come_to_an_end),
        cmocka_unit_test(order_and_twins_do_not_matter),
        cmocka_unit_test(one_key_a_million_times),
        cmocka_unit_test(empty_filters_hold_nothing),
        cmocka_unit_test(any_payload_gets_one_answer),
        cmocka_unit_test(kernels_solve_alike),
        cmocka_unit_test(kernels_find_alike),
        cmocka_unit_test(other_geometries_are_refused),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
