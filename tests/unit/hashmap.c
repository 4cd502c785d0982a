/* hashmap: the table of hashset with values beside it; it grows, and a put is an update. */
#include "base/le.h"
#include "kinds.h"
#include "tamis_builder.h"
#include "tamis_values.h"

enum { STATE = 64 };

static tamis *map_for(uint64_t keys)
{
    tamis_plan plan = plan_for(TAMIS_HASHMAP, keys, 0, 3);

    return new_filter(&plan);
}

static void put(tamis *f, uint64_t key, uint64_t value)
{
    assert_int_equal(tamis_put(f, key, value), TAMIS_OK);
}

static void assert_value(const tamis *f, uint64_t key, uint64_t wanted)
{
    uint64_t value = ~wanted;

    assert_true(tamis_has(f, key));
    assert_true(tamis_get(f, &value, key));
    assert_int_equal(value, wanted);
}

static void assert_absent(const tamis *f, uint64_t key)
{
    uint64_t value = 1;

    assert_false(tamis_has(f, key));
    assert_false(tamis_get(f, &value, key));
    assert_int_equal(value, 0);
}

/* ---- Pairs ------------------------------------------------------------- */

/* Any key and any value, those that stand for "nothing" elsewhere as well. */
static void every_key_has_any_value(void **state)
{
    tamis *f = map_for(10);
    const uint64_t keys[] = { 0, 1, UINT64_MAX, f->salt, unhash_key(1, f->salt) };
    const uint64_t values[] = { 0, 1, UINT64_MAX };

    (void)state;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++) {
            assert_int_equal(info_of(f).count, i + (j > 0));
            put(f, keys[i], values[j]);
            assert_value(f, keys[i], values[j]);
            assert_true(is_whole(f));
        }
    assert_int_equal(hash_key(f->salt, f->salt), 0); /* this one has no slot */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tamis_remove(f, keys[i]), TAMIS_OK);
        assert_int_equal(tamis_remove(f, keys[i]), TAMIS_ABSENT);
        assert_absent(f, keys[i]);
        assert_true(is_whole(f));
    }
    assert_int_equal(count_ones(f->payload, f->plan.bytes), 0);
    tamis_free(f);
}

static void an_update_takes_no_room(void **state)
{
    tamis *f = map_for(2);

    (void)state;
    put(f, 1, 10);
    put(f, 2, 20);
    put(f, 1, 11);
    assert_int_equal(f->plan.capacity, 2);
    assert_int_equal(info_of(f).count, 2);
    assert_value(f, 1, 11);
    assert_value(f, 2, 20);
    tamis_free(f);
}

static void keys_without_values_are_refused(void **state)
{
    tamis *f = map_for(2), *g = NULL;
    const uint64_t key = 1;
    const tamis_spec spec = TAMIS_SPEC(0);
    tamis_builder *b = NULL;
    size_t added;

    (void)state;
    assert_int_equal(tamis_add(f, key), TAMIS_CANNOT);
    assert_int_equal(tamis_add_many(f, &added, &key, 1), TAMIS_CANNOT);
    assert_int_equal(tamis_build(&g, &f->plan, &key, 1, NULL), TAMIS_CANNOT);
    assert_int_equal(tamis_builder_new(&b, TAMIS_HASHMAP, &spec, NULL), TAMIS_OK);
    assert_int_equal(tamis_builder_add_many(b, &key, 1), TAMIS_CANNOT);
    tamis_builder_free(b);
    tamis_free(f);
}

static void other_kinds_cannot_put(void **state)
{
    const uint64_t key = 1;
    size_t done = 7;

    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        tamis_plan plan = plan_for(kind, 10, 0.01, 0);
        tamis *f = new_filter(&plan);

        assert_int_equal(tamis_put(f, 1, 1), TAMIS_CANNOT);
        assert_int_equal(tamis_put_many(f, &done, &key, &key, 1), TAMIS_CANNOT);
        assert_int_equal(done, 0);
        tamis_free(f);
    }
}

/* ---- Layout ------------------------------------------------------------ */

/* Values move with their keys, around the end as well: four keys of the last home, then two go. */
static void values_stay_with_their_keys(void **state)
{
    tamis_plan plan = plan_for(TAMIS_HASHMAP, 6, 0, 0);
    tamis *f = new_filter(&plan);
    uint64_t slots = plan.slots, keys[4];
    const uint8_t *hashes = (const uint8_t *)f->payload + STATE, *values = hashes + 8 * slots;

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        keys[i] = unhash_key(UINT64_MAX - i, f->salt);
    for (uint64_t i = 0; i < 4; i++)
        put(f, keys[i], 100 + i);
    /* Sorted: the last slot has the lowest hash, the first ones the others. */
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t at = (slots - 1 + i) % slots;
        assert_int_equal(le64(hashes + 8 * at), UINT64_MAX - 3 + i);
        assert_int_equal(le64(values + 8 * at), 103 - i);
    }
    assert_int_equal(tamis_remove(f, keys[2]), TAMIS_OK);
    assert_int_equal(tamis_remove(f, keys[3]), TAMIS_OK);
    assert_value(f, keys[0], 100);
    assert_value(f, keys[1], 101);
    assert_int_equal(le64(values + 8), 0);
    assert_true(is_whole(f));
    tamis_free(f);
}

static void the_bytes_tell_no_history(void **state)
{
    enum { N = 1000 };
    rng r = rng_for(30, 0);
    uint64_t *keys = fresh_keys(&r, N), order[N];
    tamis *f = map_for(N), *g = map_for(N);

    (void)state;
    for (uint64_t i = 0; i < N; i++)
        order[i] = i;
    shuffle(&r, order, N);
    for (uint64_t i = 0; i < N; i++)
        put(f, keys[i], i);
    for (uint64_t i = 0; i < N; i++) {
        put(g, keys[order[i]], 77);
        put(g, keys[order[i]], order[i]);
        if (i % 3 == 0) {
            assert_int_equal(tamis_remove(g, keys[order[i]]), TAMIS_OK);
            put(g, keys[order[i]], order[i]);
        }
    }
    assert_true(same_image(f, g));
    tamis_free(f);
    tamis_free(g);
    free(keys);
}

/* ---- Growth ------------------------------------------------------------ */

static void grows_from_nothing(void **state)
{
    const uint64_t n = run_size(100000, 20000, 1000000);
    rng r = rng_for(31, 0);
    uint64_t *keys = fresh_keys(&r, (size_t)n);
    tamis *f = map_for(0);

    (void)state;
    for (uint64_t i = 0; i < n; i++) {
        put(f, keys[i], ~i);
        assert_true(f->plan.capacity >= i + 1 && f->plan.capacity <= 2 * i + 1);
    }
    assert_true(is_whole(f));
    for (uint64_t i = 0; i < n; i++)
        assert_value(f, keys[i], ~i);
    tamis_free(f);
    free(keys);
}

static void one_by_one_is_in_batches(void **state)
{
    enum { N = 5000 };
    rng r = rng_for(32, 0);
    uint64_t *keys = fresh_keys(&r, N), values[N], got[N], hits[N / 64 + 1];
    tamis *f = map_for(3), *g = map_for(3);
    size_t done = 0;

    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        keys[i] = keys[i % 4000]; /* some again */
        values[i] = rng_next(&r);
        put(f, keys[i], values[i]);
    }
    assert_int_equal(tamis_put_many(g, &done, keys, values, N), TAMIS_OK);
    assert_int_equal(done, N);
    assert_true(same_image(f, g));
    assert_int_equal(tamis_get_many(g, got, hits, keys, N), N);
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(got[i], values[i < 1000 ? i + 4000 : i]);
    tamis_free(f);
    tamis_free(g);
    free(keys);
}

/* ---- Whole maps -------------------------------------------------------- */

static void builders_take_the_last_value(void **state)
{
    enum { N = 30000 };
    rng r = rng_for(33, 0);
    uint64_t *keys = fresh_keys(&r, 2 * N), *values = array_of(2 * N, sizeof *values);
    tamis_plan plan = plan_for(TAMIS_HASHMAP, N, 0, 9);
    tamis *built = NULL, *made = NULL;

    (void)state;
    for (uint64_t i = 0; i < 2 * N; i++) {
        keys[i] = keys[i % N];
        values[i] = rng_next(&r);
    }
    assert_int_equal(tamis_build_map(&built, &plan, keys, values, 2 * N, NULL), TAMIS_OK);
    for (uint64_t known = 0; known <= N; known += N)
        for (uint64_t memory = 0; memory <= 8 << 20; memory += 8 << 20) {
            const tamis_spec spec = spec_for(known, 0, 9);
            const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = memory);
            tamis_builder *b = NULL;

            assert_int_equal(tamis_builder_new(&b, TAMIS_HASHMAP, &spec, &o), TAMIS_OK);
            for (size_t at = 0; at < 2 * N; at += 1000)
                assert_int_equal(tamis_builder_add_map(b, keys + at, values + at, 1000), TAMIS_OK);
            assert_int_equal(tamis_builder_finish(&made, b), TAMIS_OK);
            assert_true(same_image(built, made));
            tamis_free(made);
            tamis_builder_free(b);
        }
    for (uint64_t i = 0; i < N; i++)
        assert_value(built, keys[i], values[N + i]);
    tamis_free(built);
    free(keys);
    free(values);
}

/* Pairs wait in a file if they do not fit in memory. */
static void builders_spill_pairs(void **state)
{
    const uint64_t n = 300000;
    const tamis_spec spec = spec_for(0, 0, 9);
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 12 << 20);
    tamis_builder *b = NULL;
    tamis *f = NULL;

    (void)state;
    assert_int_equal(tamis_builder_new(&b, TAMIS_HASHMAP, &spec, &o), TAMIS_OK);
    for (uint64_t i = 0; i < 3 * n; i++) {
        uint64_t key = i % n, value = 5 * i;
        assert_int_equal(tamis_builder_add_map(b, &key, &value, 1), TAMIS_OK);
    }
    assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
    assert_int_equal(f->plan.capacity, n);
    for (uint64_t i = 0; i < n; i++)
        assert_value(f, i, 5 * (2 * n + i));
    tamis_builder_free(b);
    tamis_free(f);
}

/* Of a key in both, the value of the second wins; what is kept of the first has its own. */
static void values_of_two_maps(void **state)
{
    tamis *f = map_for(2), *g = map_for(100), *h = NULL;

    (void)state;
    put(f, 1, 10);
    put(f, 2, 20);
    put(g, 2, 22);
    put(g, 3, 33);
    assert_int_equal(tamis_clone(&h, f, NULL), TAMIS_OK);
    assert_int_equal(tamis_combine(h, TAMIS_MERGE, g), TAMIS_OK);
    assert_value(h, 1, 10);
    assert_value(h, 2, 22);
    assert_value(h, 3, 33);
    assert_int_equal(info_of(h).count, 3);
    assert_int_equal(tamis_combine(h, TAMIS_SUBTRACT, f), TAMIS_OK);
    assert_value(h, 3, 33);
    assert_int_equal(info_of(h).count, 1);
    assert_int_equal(tamis_combine(f, TAMIS_INTERSECT, g), TAMIS_OK);
    assert_value(f, 2, 20);
    assert_int_equal(info_of(f).count, 1);
    tamis_free(f);
    tamis_free(g);
    tamis_free(h);
}

typedef struct roll {
    const tamis *f;
    uint64_t n, most;
} roll;

static bool call(void *ctx, uint64_t key, uint64_t value)
{
    roll *r = ctx;

    assert_value(r->f, key, value);
    return ++r->n < r->most;
}

static void lists_name_pairs(void **state)
{
    tamis *f = map_for(100);

    (void)state;
    for (uint64_t i = 0; i < 50; i++)
        put(f, i ? i : f->salt, 1000 + i);
    for (uint64_t most = 1; most <= 60; most += 59) {
        roll r = { f, 0, most };

        assert_int_equal(tamis_list_values(f, call, &r), TAMIS_OK);
        assert_int_equal(r.n, most < 50 ? most : 50);
    }
    tamis_free(f);
}

/* ---- Damage ------------------------------------------------------------ */

static void verify_sees_values_of_nobody(void **state)
{
    tamis_plan plan = plan_for(TAMIS_HASHMAP, 6, 0, 0);
    tamis *f = new_filter(&plan);
    uint64_t *word = f->payload, *values = word + STATE / 8 + plan.slots;

    (void)state;
    put(f, unhash_key(1, f->salt), 5);
    assert_true(is_whole(f));
    for (uint64_t i = 1; i < plan.slots; i++) {
        values[i] = 1;
        assert_false(is_whole(f));
        values[i] = 0;
    }
    values[0] = 0; /* any value of a key will do */
    assert_true(is_whole(f));
    for (int i = 1; i < STATE / 8; i++) {
        word[i] = 1;
        assert_false(is_whole(f));
        word[i] = 0;
    }
    put(f, f->salt, 9);
    assert_int_equal(word[1], 9);
    word[1] = 8;
    assert_true(is_whole(f));
    tamis_free(f);
}

static bool count_one(void *ctx, uint64_t key, uint64_t value)
{
    uint64_t *n = ctx;

    (void)key;
    (void)value;
    return ++*n;
}

static void reading_ends_on_any_payload(void **state)
{
    tamis *f = map_for(90);
    rng r = rng_for(34, 0);
    uint64_t keys[100], values[100], hits[2];

    (void)state;
    for (int round = 0; round < 300; round++) {
        uint64_t *word = f->payload, same = rng_next(&r);

        for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
            word[i] = round % 3 == 0 ? same : round % 3 == 1 ? rng_next(&r) : UINT64_MAX - i;
        for (uint64_t i = 0; i < 100; i++)
            keys[i] = i % 2 ? rng_next(&r) : unhash_key(word[STATE / 8 + i], f->salt);
        (void)tamis_get_many(f, values, hits, keys, 100);
        uint64_t listed = 0;
        assert_int_equal(tamis_list_values(f, count_one, &listed), TAMIS_OK);
        assert_true(listed <= f->plan.slots + 1);
        (void)!tamis_verify(f, NULL, NULL);
    }
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_has_any_value),
        cmocka_unit_test(an_update_takes_no_room),
        cmocka_unit_test(keys_without_values_are_refused),
        cmocka_unit_test(other_kinds_cannot_put),
        cmocka_unit_test(values_stay_with_their_keys),
        cmocka_unit_test(the_bytes_tell_no_history),
        cmocka_unit_test(grows_from_nothing),
        cmocka_unit_test(one_by_one_is_in_batches),
        cmocka_unit_test(builders_take_the_last_value),
        cmocka_unit_test(builders_spill_pairs),
        cmocka_unit_test(values_of_two_maps),
        cmocka_unit_test(lists_name_pairs),
        cmocka_unit_test(verify_sees_values_of_nobody),
        cmocka_unit_test(reading_ends_on_any_payload),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
