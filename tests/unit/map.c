/* map.c - values come back: every width, conflicts, strangers, and payloads of any bytes. */
#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_builder.h"

static tamis_plan map_plan(uint64_t keys, unsigned value_bits, unsigned fingerprint_bits)
{
    tamis_spec spec = spec_for(keys, ldexp(1, -(int)fingerprint_bits), 1);
    tamis_plan p;

    spec.value_bits = value_bits;
    assert_int_equal(tamis_plan_kind(&p, TAMIS_MAP, &spec), TAMIS_OK);
    return p;
}

static tamis *map_of(const tamis_plan *p, const uint64_t *keys, const uint64_t *values, size_t n)
{
    tamis *f = NULL;

    assert_int_equal(tamis_build_map(&f, p, keys, values, n, NULL), TAMIS_OK);
    return f;
}

static uint64_t *random_values(rng *r, size_t n, unsigned bits)
{
    uint64_t *values = array_of(n, sizeof *values);

    for (size_t i = 0; i < n; i++)
        values[i] = rng_next(r) >> (64 - bits);
    return values;
}

static void assert_values(const tamis *f, const uint64_t *keys, const uint64_t *values, size_t n)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits), *got = array_of(n + 1, sizeof *got);

    assert_int_equal(tamis_get_many(f, got, hits, keys, n), n);
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 77;

        assert_true(tamis_get(f, &value, keys[i]) && tamis_has(f, keys[i]));
        assert_int_equal(value, values[i]);
        assert_int_equal(got[i], values[i]);
    }
    free(hits);
    free(got);
}

/* ---- Values ------------------------------------------------------------ */

static void check_map(size_t n, unsigned value_bits, unsigned fingerprint_bits, uint64_t round)
{
    rng r = rng_for(20 + value_bits, round);
    uint64_t *keys = fresh_keys(&r, n), *values = random_values(&r, n, value_bits);
    tamis_plan p = map_plan(n, value_bits, fingerprint_bits);
    tamis *f = map_of(&p, keys, values, n);

    assert_int_equal(info_of(f).count, n);
    assert_true(is_whole(f));
    assert_values(f, keys, values, n);
    tamis_free(f);
    free(keys);
    free(values);
}

static void values_of_every_width_come_back(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 32; bits++) {
        check_map(1, bits, 1 + bits * 7 % 32, 0);
        check_map(300, bits, 1 + bits * 5 % 32, 1);
        check_map(6000, bits, 33 - bits, 2);
        check_map(is_sanitized() ? 8000 : 90000, bits, 1 + bits % 8, 3);
    }
    check_map(70000, 32, 32, 4);
}

/* Large enough for four streams. */
static void a_large_map_gives_its_values(void **state)
{
    (void)state;
    check_map(is_sanitized() ? 280000 : 1000000, 5, 6, 5);
}

static void equal_values_come_back(void **state)
{
    enum { N = 20000 };
    rng r = rng_for(60, 0);
    uint64_t *keys = fresh_keys(&r, N), *values = array_of(N, sizeof *values);
    tamis_plan p = map_plan(N, 9, 4);

    (void)state;
    for (int all = 0; all < 2; all++) {
        for (size_t i = 0; i < N; i++)
            values[i] = all ? 511 : 0;
        tamis *f = map_of(&p, keys, values, N);

        assert_values(f, keys, values, N);
        tamis_free(f);
    }
    free(keys);
    free(values);
}

static void a_map_without_keys_knows_nobody(void **state)
{
    tamis_plan p = map_plan(0, 8, 1);
    tamis *f = map_of(&p, NULL, NULL, 0);
    uint64_t value = 5;

    (void)state;
    for (uint64_t key = 0; key < 1000; key++) {
        assert_false(tamis_get(f, &value, key));
        assert_int_equal(value, 0);
    }
    assert_int_equal(tamis_get_many(f, &value, &value, &value, 0), 0);
    tamis_free(f);
}

/* The bytes depend on the set alone. */
static void order_and_repetition_leave_no_trace(void **state)
{
    enum { N = 9000 };
    rng r = rng_for(61, 0);
    uint64_t *keys = fresh_keys(&r, 2 * N), *values = array_of(2 * N, sizeof *values);
    tamis_plan p = map_plan(N, 16, 8);

    (void)state;
    for (size_t i = 0; i < N; i++)
        values[i] = mix64(keys[i]) & 0xffff;
    tamis *f = map_of(&p, keys, values, N);
    memcpy(keys + N, keys, N * sizeof *keys);
    shuffle(&r, keys, 2 * N);
    for (size_t i = 0; i < 2 * N; i++)
        values[i] = mix64(keys[i]) & 0xffff;
    tamis *again = map_of(&p, keys, values, 2 * N);

    assert_true(same_image(f, again));
    tamis_free(f);
    tamis_free(again);
    free(keys);
    free(values);
}

/* ---- Refusals ---------------------------------------------------------- */

static void assert_refused(const tamis_plan *p, const uint64_t *keys, const uint64_t *values,
                           size_t n, tamis_status wanted)
{
    tamis *out = (tamis *)(uintptr_t)0x10;

    assert_int_equal(tamis_build_map(&out, p, keys, values, n, NULL), wanted);
    assert_ptr_equal(out, (tamis *)(uintptr_t)0x10);
}

static void two_values_of_a_key_are_a_conflict(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 120000; n = n * 5 + 3) {
        rng r = rng_for(62, n);
        uint64_t *keys = fresh_keys(&r, n), *values = random_values(&r, n, 7);
        tamis_plan p = map_plan(n, 7, 3);

        for (int i = 0; i < 10; i++) {
            size_t a = (size_t)rng_below(&r, n), b = (size_t)rng_below(&r, n);
            uint64_t kept = keys[b];

            if (a == b)
                continue;
            keys[b] = keys[a];
            tamis_status wanted = values[a] == values[b] ? TAMIS_OK : TAMIS_CONFLICT;
            if (wanted)
                assert_refused(&p, keys, values, n, wanted);
            keys[b] = kept;
        }
        free(keys);
        free(values);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    uint64_t keys[3] = { 1, 2, 3 }, values[3] = { 0, 15, 16 };
    tamis_plan p = map_plan(3, 4, 8), two = map_plan(2, 5, 8);
    tamis *f = NULL;

    (void)state;
    assert_refused(&p, keys, values, 3, TAMIS_RANGE);
    values[2] = UINT64_MAX;
    assert_refused(&p, keys, values, 3, TAMIS_RANGE);
    assert_refused(&two, keys, (uint64_t[3]){ 1, 2, 3 }, 3, TAMIS_FULL);
    assert_int_equal(tamis_build_map(&f, &p, keys, values, 2, NULL), TAMIS_OK);
    tamis_free(f);
}

static void kinds_say_what_they_cannot(void **state)
{
    tamis_plan p = map_plan(10, 4, 8), bloom = plan_for(TAMIS_BLOOM, 10, 0.01, 1);
    tamis_spec spec = spec_for(10, 0.01, 1);
    uint64_t key = 1, value = 2;
    tamis *f = NULL;
    tamis_builder *b;

    (void)state;
    assert_refused(&bloom, &key, &value, 1, TAMIS_CANNOT);
    assert_int_equal(tamis_build(&f, &p, &key, 1, NULL), TAMIS_CANNOT);
    assert_int_equal(tamis_builder_new(&b, TAMIS_MAP, &spec, NULL), TAMIS_OK);
    assert_int_equal(tamis_builder_add_many(b, &key, 1), TAMIS_CANNOT);
    assert_int_equal(tamis_builder_add_excluded(b, &key, 1), TAMIS_CANNOT);
    tamis_builder_free(b);
    assert_int_equal(tamis_plan_kind(&p, TAMIS_MAP, &spec), TAMIS_RANGE);
    spec.value_bits = 33;
    assert_int_equal(tamis_plan_kind(&p, TAMIS_MAP, &spec), TAMIS_RANGE);
    spec.value_bits = 8;
    assert_int_equal(tamis_plan_kind(&p, TAMIS_BLOOM, &spec), TAMIS_CANNOT);
    assert_int_equal(tamis_plan_all(&p, 1, &spec), 2); /* the other is hashmap */
    f = filter_of(&bloom, &key, 1);
    assert_true(tamis_get(f, &value, key));
    assert_int_equal(value, 0);
    tamis_free(f);
}

static void impossible_plans_are_refused(void **state)
{
    const tamis_plan p = map_plan(1000, 6, 7);
    tamis_plan edits[] = { p, p, p, p, p, p, p, p, p };
    tamis *f;

    (void)state;
    edits[0].width = 0;
    edits[1].width = 33;
    edits[2].hashes = 0;
    edits[3].hashes = 33;
    edits[4].slots = UINT64_C(1) << 40;
    edits[5].width++;
    edits[6].bytes -= 64;
    edits[7].flags = TAMIS_PLAN_INVERTED;
    edits[8].load = 900;
    for (int i = 0; i < 9; i++) {
        if (i < 5)
            edits[i].bytes = tamis__ops(TAMIS_MAP)->bytes(&edits[i]);
        assert_int_equal(tamis_new(&f, &edits[i], NULL), TAMIS_RANGE);
    }
}

/* ---- Strangers --------------------------------------------------------- */

static void strangers_are_turned_away(void **state)
{
    const size_t n = is_sanitized() ? 5000 : 50000, trials = is_sanitized() ? 50000 : 1000000;

    (void)state;
    for (unsigned bits = 1; bits <= 12; bits += 3)
        for (int small = 0; small < 2; small++) {
            rng r = rng_for(63, bits);
            uint64_t *keys = fresh_keys(&r, n), *values = random_values(&r, n, 3), value;
            tamis_plan p = map_plan(small ? 100 : n, 3, bits);
            tamis *f = map_of(&p, keys, values, small ? 100 : n);
            uint64_t passed = 0;

            for (size_t i = 0; i < trials; i++)
                passed += tamis_get(f, &value, rng_next(&r));
            assert_true(binomial_fits(passed, trials, ldexp(1, -(int)bits)));
            tamis_free(f);
            free(keys);
            free(values);
        }
}

/* ---- Images ------------------------------------------------------------ */

static void images_keep_the_values(void **state)
{
    enum { N = 30000 };
    rng r = rng_for(64, 0);
    uint64_t *keys = fresh_keys(&r, N), *values = random_values(&r, N, 11);
    tamis_plan p = map_plan(N, 11, 5);
    tamis *f = map_of(&p, keys, values, N), *g;
    image_bytes image = image_of(f);
    const char *path = temp_path();

    (void)state;
    assert_int_equal(tamis_image_view(&g, image.at, image.size, NULL), TAMIS_OK);
    assert_values(g, keys, values, N);
    tamis_free(g);
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    assert_int_equal(tamis_load(&g, path, NULL), TAMIS_OK);
    assert_values(g, keys, values, N);
    assert_true(same_image(f, g));
    tamis_free(g);
    assert_int_equal(tamis_map(&g, path, 0, NULL), TAMIS_OK);
    assert_values(g, keys, values, N);
    assert_true(is_whole(g));
    tamis_free(g);
    remove(path);
    free_bytes(&image);
    tamis_free(f);
    free(keys);
    free(values);
}

/* Any bytes are safe to ask, and give values of no more than the bits planned. */
static void any_payload_is_safe(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 40000; n = n * 3 + 7) {
        rng r = rng_for(65, n);
        tamis_plan p = map_plan(n, 1 + (unsigned)(n % 32), 1 + (unsigned)(n % 13));
        tamis *f = new_filter(&p);
        uint8_t *payload = f->payload;

        for (int round = 0; round < 3; round++) {
            for (uint64_t i = 0; i < p.bytes; i++)
                payload[i] = round ? (uint8_t)rng_next(&r) : 0xff;
            for (int i = 0; i < 2000; i++) {
                uint64_t value;

                tamis_get(f, &value, rng_next(&r));
                assert_int_equal(value >> p.width, 0);
            }
        }
        tamis_free(f);
    }
}

/* ---- Memory ------------------------------------------------------------ */

static void building_without_memory_leaves_nothing(void **state)
{
    enum { N = 5000 };
    rng r = rng_for(66, 0);
    uint64_t *keys = fresh_keys(&r, N), *values = random_values(&r, N, 4);
    tamis_plan p = map_plan(N, 4, 4);
    tamis_status status = TAMIS_NOMEM;

    (void)state;
    for (size_t blocks = 0; status == TAMIS_NOMEM; blocks++) {
        limited_blocks b = { .left = blocks };
        const tamis_allocator a = allocator_of_blocks(&b);
        tamis *f = (tamis *)(uintptr_t)0x10;

        status = tamis_build_map(&f, &p, keys, values, N, &a);
        assert_int_equal(b.held, status ? 0 : 2);
        assert_true(status ? f == (tamis *)(uintptr_t)0x10 : blocks > 2);
        if (!status)
            tamis_free(f);
    }
    assert_int_equal(status, TAMIS_OK);
    free(keys);
    free(values);
}

/* A geometry that is too small is taken for an unlucky one. */
static void too_few_slots_become_more(void **state)
{
    enum { N = 9000 };
    rng r = rng_for(67, 0);
    uint64_t *keys = fresh_keys(&r, N), *values = random_values(&r, N, 6);
    tamis_plan p = map_plan(N, 6, 2);

    (void)state;
    p.slots = N * 3 / 4;
    p.bytes = tamis__ops(TAMIS_MAP)->bytes(&p);
    tamis *f = map_of(&p, keys, values, N);
    assert_true(f->plan.slots > p.slots && f->plan.bytes > p.bytes && is_whole(f));
    assert_values(f, keys, values, N);
    tamis_free(f);
    free(keys);
    free(values);
}

/* ---- Size -------------------------------------------------------------- */

/* A key costs its bits and little more. */
static void size_is_near_the_least(void **state)
{
    tamis_plan p = map_plan(1000000, 8, 8);

    (void)state;
    assert_true((double)p.bytes * 8 < 1000000 * 16 * 1.005);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_width_come_back),
        cmocka_unit_test(a_large_map_gives_its_values),
        cmocka_unit_test(equal_values_come_back),
        cmocka_unit_test(a_map_without_keys_knows_nobody),
        cmocka_unit_test(order_and_repetition_leave_no_trace),
        cmocka_unit_test(two_values_of_a_key_are_a_conflict),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(kinds_say_what_they_cannot),
        cmocka_unit_test(impossible_plans_are_refused),
        cmocka_unit_test(strangers_are_turned_away),
        cmocka_unit_test(images_keep_the_values),
        cmocka_unit_test(any_payload_is_safe),
        cmocka_unit_test(building_without_memory_leaves_nothing),
        cmocka_unit_test(too_few_slots_become_more),
        cmocka_unit_test(size_is_near_the_least),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
