/* scalable: where bits go, stages that open in time, and a rate that holds whatever comes. */
#include "base/bits.h"
#include "base/le.h"
#include "kinds.h"

static uint64_t held(const tamis *f)
{
    return le64(f->payload);
}

static void add_stream(tamis *f, rng *r, uint64_t n)
{
    uint64_t keys[1024];
    size_t added;

    for (uint64_t done = 0; done < n; done += 1024) {
        for (int i = 0; i < 1024; i++)
            keys[i] = rng_next(r);
        assert_int_equal(tamis_add_many(f, &added, keys, 1024), TAMIS_OK);
    }
}

/* ---- Layout ------------------------------------------------------------ */

static void one_stage_is_a_blocked_filter(void **state)
{
    tamis_plan plan = plan_for(TAMIS_SCALABLE, 5000, 0.01, 3), flat;
    rng r = rng_for(2900, 0);
    uint64_t *keys = fresh_keys(&r, 5000);
    tamis *f = filter_of(&plan, keys, 5000);

    (void)state;
    assert_int_equal(plan.hashes, 1);
    flat = plan_for(TAMIS_BLOCKED, 5000, 0.01, 3);
    flat.slots = plan.slots;
    flat.bytes = plan.slots * 32;
    tamis *g = filter_of(&flat, keys, 5000);
    assert_memory_equal((uint8_t *)f->payload + 64, g->payload, flat.bytes);
    tamis_free(f);
    tamis_free(g);
    free(keys);
}

/* Growing moves nothing: the bytes of the stages before stay. */
static void older_stages_stay_as_they_are(void **state)
{
    tamis_plan plan = plan_for(TAMIS_SCALABLE, 100, 0.01, 0);
    tamis *f = new_filter(&plan);
    rng r = rng_for(2900, 1);

    (void)state;
    while (f->plan.hashes < 6) {
        uint64_t size = f->plan.bytes - 64;
        uint8_t *before = array_of(size, 1);
        unsigned stages = f->plan.hashes;

        memcpy(before, (uint8_t *)f->payload + 64, size);
        assert_int_equal(tamis_add(f, rng_next(&r)), TAMIS_OK);
        if (f->plan.hashes > stages) {
            assert_int_equal(f->plan.bytes, 64 + plan.slots * ((UINT64_C(2) << stages) - 1) * 32);
            assert_memory_equal(before, (uint8_t *)f->payload + 64, size);
        }
        free(before);
    }
    tamis_free(f);
}

/* ---- Room -------------------------------------------------------------- */

static void repeated_keys_take_no_room(void **state)
{
    tamis_plan plan = plan_for(TAMIS_SCALABLE, 100, 0.001, 0);
    rng r = rng_for(2900, 2);
    uint64_t *keys = fresh_keys(&r, 100);
    tamis *f = filter_of(&plan, keys, 100);
    uint64_t before = held(f);

    (void)state;
    for (int i = 0; i < 1000; i++)
        add_all(f, keys, 100);
    assert_int_equal(held(f), before);
    assert_int_equal(f->plan.hashes, 1);
    assert_int_equal(info_of(f).count, 100100);
    tamis_free(f);
    free(keys);
}

/* A hundred times as many keys as planned and more: the rate that filters tell of themselves, and
 * that of strangers, stay below what was asked for. (Rates of stages with few blocks vary from seed
 * to seed, as those of every small Bloom filter do.) */
static void stays_below(double fpr, uint64_t first, uint64_t last)
{
    tamis_plan plan = plan_for(TAMIS_SCALABLE, first, fpr, 9);
    tamis *f = new_filter(&plan);
    rng r = rng_for(2901, first), strangers = rng_for(2902, first);
    uint64_t probes = 1024000, hits = 0, words[16], keys[1024];

    for (uint64_t n = first; n <= last; n *= 2) {
        add_stream(f, &r, n);
        double told = info_of(f).fpr;
        if (told > fpr)
            fail_msg("%g keys at %g: rate %g", (double)f->count, fpr, told);
        assert_true(tamis_plan_rate(&f->plan, f->plan.capacity) <= fpr);
    }
    for (uint64_t done = 0; done < probes; done += 1024) {
        for (int i = 0; i < 1024; i++)
            keys[i] = rng_next(&strangers);
        hits += tamis_has_many(f, words, keys, 1024);
    }
    assert_true(binomial_fits_between(hits, probes, 0, fpr));
    assert_true(binomial_fits(hits, probes, info_of(f).fpr));
    tamis_free(f);
}

static void rate_holds_after_hundredfold_growth(void **state)
{
    (void)state;
    stays_below(0.5, 16384, 200000);
    stays_below(0.25, 16384, 200000);
    if (is_sanitized())
        return; /* statistics alone */
    stays_below(0.1, 16384, 1000000);
    stays_below(0.01, 16384, 1000000);
    stays_below(0.001, 16384, 1000000);
    stays_below(1e-6, 16384, 1000000);
}

/* The rates of forty stages add up to no more than the whole. */
static void rates_of_all_stages_add_up(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_SCALABLE);
    const double fprs[] = { 0.5, 0.25, 0.1, 0.01 };
    double sum = 0;

    (void)state;
    for (int j = 0; j < 40; j++)
        sum += 6 / (M_PI * M_PI * (j + 1) * (j + 1));
    assert_true(sum <= 1);
    for (int i = 0; i < 8; i += (int)run_size(3, 7, 1)) {
        tamis_plan plan = plan_for(TAMIS_SCALABLE, i % 2 ? 10000 : 1, fprs[i / 2], 0);
        while (ops->resize(&plan, 0) == TAMIS_OK)
            assert_true(ops->rate(&plan, (double)plan.capacity) <= fprs[i / 2]);
        assert_true(plan.hashes == 40 || plan.slots > 1);
    }
}

/* ---- Faults ------------------------------------------------------------ */

static void damage_is_noticed(void **state)
{
    tamis_plan plan = plan_for(TAMIS_SCALABLE, 100, 0.01, 0);
    tamis *f = new_filter(&plan);
    uint8_t *payload = f->payload;

    (void)state;
    assert_int_equal(tamis_add(f, 1), TAMIS_OK);
    assert_true(is_whole(f));
    payload[63] = 1;
    assert_false(is_whole(f));
    payload[63] = 0;
    payload[0] = 2;
    assert_false(is_whole(f));
    payload[0] = 1;
    assert_true(is_whole(f));
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stage_is_a_blocked_filter),
        cmocka_unit_test(older_stages_stay_as_they_are),
        cmocka_unit_test(repeated_keys_take_no_room),
        cmocka_unit_test(rate_holds_after_hundredfold_growth),
        cmocka_unit_test(rates_of_all_stages_add_up),
        cmocka_unit_test(damage_is_noticed),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
