/* window: what is inside is never missed, what is outside is forgotten, and generations are
 * blocked filters. */
#include "base/le.h"
#include "kinds.h"

enum { GENERATIONS = 8 };

static uint64_t rotations(const tamis *f)
{
    return le64(f->payload);
}

static tamis *window_of(uint64_t keys, double fpr, uint64_t seed)
{
    tamis_plan plan = plan_for(TAMIS_WINDOW, keys, fpr, seed);

    return new_filter(&plan);
}

/* Whatever the machine: the differences from 1 that small rates are made of are doubles. */
static void rates_are_the_same_everywhere(void **state)
{
    const struct {
        uint64_t keys;
        double fpr;
    } rows[] = { { 3, 0x1.81800002p-31 }, { 5, 0x1.41400002p-30 }, { 6, 0x1.81800002p-30 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tamis_spec spec = TAMIS_SPEC(.keys = rows[i].keys, .fpr = 0.9);
        tamis_plan plan;

        assert_int_equal(tamis_plan_kind(&plan, TAMIS_WINDOW, &spec), TAMIS_OK);
        assert_true(plan.fpr == rows[i].fpr);
    }
}

static void a_generation_is_a_blocked_filter(void **state)
{
    tamis *f = window_of(7000, 0.02, 5);
    tamis_plan flat = plan_for(TAMIS_BLOCKED, 1000, 0.01, 5);
    rng r = rng_for(3000, 0);
    uint64_t *keys = fresh_keys(&r, 2000);

    (void)state;
    assert_int_equal(f->plan.hashes, 1);
    flat.slots = f->plan.slots;
    flat.bytes = flat.slots * 32;
    add_all(f, keys, 500);
    assert_int_equal(tamis_rotate(f), TAMIS_OK);
    add_all(f, keys + 500, 700);
    for (int generation = 0; generation < 2; generation++) {
        tamis *g = filter_of(&flat, keys + 500 * generation, generation ? 700 : 500);
        const uint8_t *cells = (const uint8_t *)f->payload + 64, *bits = g->payload;

        for (uint64_t i = 0; i < flat.bytes * 8; i++)
            assert_int_equal(cells[i] >> generation & 1, bits[i / 8] >> i % 8 & 1);
        tamis_free(g);
    }
    tamis_free(f);
    free(keys);
}

/* Key i of a stream is there while i, i + 1, ... i + n - 1 are added. */
static void check_stream(uint64_t n, double fpr, uint64_t length, uint64_t seed)
{
    tamis *f = window_of(n, fpr, seed);
    rng lag = rng_for(3001, n);
    uint64_t keys[512], hits[8];
    size_t added;

    for (uint64_t at = 0; at < length; at += 512) {
        for (uint64_t i = 0; i < 512; i++)
            keys[i] = mix64(at + i + seed);
        assert_int_equal(tamis_add_many(f, &added, keys, 512), TAMIS_OK);
        /* Those of the far end, and some between. */
        for (uint64_t i = 0; i < 512; i++) {
            uint64_t back = i < 64 ? n - 1 - (i < n ? i : 0) : rng_below(&lag, n);
            uint64_t last = at + 511;
            keys[i] = mix64((back > last ? 0 : last - back) + seed);
            if (back > last)
                keys[i] = mix64(last + seed);
        }
        assert_int_equal(tamis_has_many(f, hits, keys, 512), 512);
    }
    tamis_free(f);
}

/* 1e8 keys in all with TAMIS_LONG. */
static void nothing_inside_is_missed(void **state)
{
    uint64_t scale = is_long_run() ? 8 : 1;

    (void)state;
    if (is_sanitized())
        scale = 0;
    for (uint64_t n = 1; n < 200; n += 11)
        check_stream(n, 0.01, 20480 + 30720 * scale, n);
    check_stream(1000, 0.1, 100352 + 2000896 * scale, 1);
    check_stream(100000, 0.01, 300032 + 4000256 * scale, 2);
    check_stream(1000000, 1e-6, 100352 + 6000128 * scale, 3);
}

/* After eight shares of new keys, none of the first ones is found, but by chance. */
static void what_is_outside_is_forgotten(void **state)
{
    const uint64_t n = 7000;
    tamis *f = window_of(n, 0.001, 4);
    rng r = rng_for(3002, 0);
    uint64_t *keys = fresh_keys(&r, 2000 + 8 * (n / 7)), hits[32];

    (void)state;
    add_all(f, keys, 2000);
    assert_int_equal(tamis_has_many(f, hits, keys, 2000), 2000);
    add_all(f, keys + 2000, 8 * (n / 7));
    uint64_t found = tamis_has_many(f, hits, keys, 1000);
    assert_true(binomial_fits_between(found, 1000, 0, 0.001));
    tamis_free(f);
    free(keys);
}

static void keys_that_come_again_stay(void **state)
{
    tamis *f = window_of(70, 0.001, 0);
    rng r = rng_for(3003, 0);

    (void)state;
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(tamis_add(f, rng_next(&r)), TAMIS_OK);
        if (i % 70 == 0)
            assert_int_equal(tamis_add(f, 42), TAMIS_OK);
        assert_true(tamis_has(f, 42));
    }
    tamis_free(f);
}

static void repeated_keys_turn_nothing(void **state)
{
    tamis *f = window_of(70, 0.001, 0);

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(tamis_add(f, (uint64_t)(i % 10)), TAMIS_OK);
    assert_int_equal(rotations(f), 0);
    assert_int_equal(info_of(f).count, 1000);
    tamis_free(f);
}

static void eight_rotations_forget_all(void **state)
{
    tamis *f = window_of(1000, 0.01, 0);

    (void)state;
    assert_int_equal(tamis_add(f, 7), TAMIS_OK);
    for (int i = 0; i < GENERATIONS; i++) {
        assert_true(tamis_has(f, 7));
        assert_int_equal(tamis_rotate(f), TAMIS_OK);
        assert_true(is_whole(f));
    }
    assert_false(tamis_has(f, 7));
    assert_true(info_of(f).fill == 0);
    tamis_free(f);
}

static void only_windows_rotate(void **state)
{
    tamis_plan plan = plan_for(TAMIS_BLOOM, 10, 0.01, 0);
    tamis *f = new_filter(&plan);

    (void)state;
    assert_int_equal(tamis_rotate(f), TAMIS_CANNOT);
    tamis_free(f);
}

static void damage_is_noticed(void **state)
{
    tamis *f = window_of(70, 0.01, 0);
    uint8_t *payload = f->payload;

    (void)state;
    assert_int_equal(tamis_add(f, 1), TAMIS_OK);
    payload[16] = 1;
    assert_false(is_whole(f));
    payload[16] = 0;
    payload[8] = 2;
    assert_false(is_whole(f));
    f->count = 100;
    assert_true(is_whole(f));
    payload[8] = 11;
    assert_false(is_whole(f));
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_the_same_everywhere),
        cmocka_unit_test(a_generation_is_a_blocked_filter),
        cmocka_unit_test(nothing_inside_is_missed),
        cmocka_unit_test(what_is_outside_is_forgotten),
        cmocka_unit_test(keys_that_come_again_stay),
        cmocka_unit_test(repeated_keys_turn_nothing),
        cmocka_unit_test(eight_rotations_forget_all),
        cmocka_unit_test(only_windows_rotate),
        cmocka_unit_test(damage_is_noticed),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
