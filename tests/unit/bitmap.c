/* bitmap: bit i of the payload is key i, and nothing else is. */
#include "base/bits.h"
#include "kinds.h"

static tamis *bitmap_of(uint64_t capacity)
{
    tamis_plan plan = plan_for(TAMIS_BITMAP, capacity, 0, 0);

    return new_filter(&plan);
}

typedef struct members {
    uint64_t keys[64];
    size_t n;
} members;

static bool collect(void *ctx, uint64_t key, uint64_t count)
{
    members *m = ctx;

    assert_int_equal(count, 1);
    m->keys[m->n++] = key;
    return true;
}

static void assert_count(const tamis *f, uint64_t count)
{
    assert_int_equal(info_of(f).count, count);
    assert_true(info_of(f).cardinality == (double)count);
}

/* Capacity 10; add 4, 8, 1; remove 8; add 4 again: sizes 1, 2, 3, 2, 2 and members {1, 4}. */
static void v1_bitmap_of_ten(void **state)
{
    tamis *f = bitmap_of(10);
    members m = { .n = 0 };

    (void)state;
    assert_int_equal(tamis_add(f, 4), TAMIS_OK);
    assert_count(f, 1);
    assert_int_equal(tamis_add(f, 8), TAMIS_OK);
    assert_count(f, 2);
    assert_int_equal(tamis_add(f, 1), TAMIS_OK);
    assert_count(f, 3);
    assert_int_equal(tamis_remove(f, 8), TAMIS_OK);
    assert_count(f, 2);
    assert_int_equal(tamis_add(f, 4), TAMIS_OK);
    assert_count(f, 2);
    for (uint64_t key = 0; key < 10; key++)
        assert_int_equal(tamis_has(f, key), key == 1 || key == 4);
    assert_int_equal(tamis_list(f, collect, &m), TAMIS_OK);
    assert_int_equal(m.n, 2);
    assert_true(m.keys[0] == 1 && m.keys[1] == 4);
    tamis_free(f);
}

/* An index outside the capacity is an error, not a crash, and changes nothing. */
static void v1_bitmap_index_out_of_range(void **state)
{
    const uint64_t outside[] = { 10, 11, 63, 64, 1000, UINT64_C(1) << 32, UINT64_MAX };
    tamis *f = bitmap_of(10);

    (void)state;
    assert_int_equal(tamis_add(f, 9), TAMIS_OK);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_int_equal(tamis_add(f, outside[i]), TAMIS_RANGE);
        assert_int_equal(tamis_remove(f, outside[i]), TAMIS_RANGE);
        assert_false(tamis_has(f, outside[i]));
    }
    assert_count(f, 1);
    assert_int_equal(*(const uint8_t *)f->payload, 0);
    assert_int_equal(((const uint8_t *)f->payload)[1], 2);
    tamis_free(f);
}

static void bits_lie_where_the_format_says(void **state)
{
    tamis *f = bitmap_of(200);
    const uint8_t *payload = f->payload;

    (void)state;
    assert_int_equal(f->plan.bytes, 32);
    for (uint64_t key = 0; key < 200; key++) {
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
        assert_int_equal(payload[key >> 3] >> (key & 7) & 1, 1);
        assert_int_equal(count_ones(payload, 32), 1);
        assert_int_equal(tamis_remove(f, key), TAMIS_OK);
        assert_int_equal(count_ones(payload, 32), 0);
    }
    tamis_free(f);
}

static void sizes_are_whole_words(void **state)
{
    (void)state;
    for (uint64_t n = 0; n <= 1000; n++) {
        tamis_plan plan = plan_for(TAMIS_BITMAP, n, 0, 0);

        assert_int_equal(plan.capacity, n);
        assert_int_equal(plan.bytes, n ? (n + 63) / 64 * 8 : 8);
        assert_true(plan.fpr == 0);
    }
}

static void nothing_can_be_full(void **state)
{
    tamis *f = bitmap_of(129);

    (void)state;
    for (uint64_t key = 0; key < 129; key++)
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
    assert_count(f, 129);
    assert_true(info_of(f).fill == 1);
    for (uint64_t key = 0; key < 129; key++)
        assert_int_equal(tamis_remove(f, key), TAMIS_OK);
    assert_int_equal(tamis_remove(f, 0), TAMIS_ABSENT);
    assert_count(f, 0);
    tamis_free(f);
}

/* One GiB that is never touched but for a few pages. */
static void keys_beyond_32_bits_are_kept_apart(void **state)
{
    const uint64_t two32 = UINT64_C(1) << 32;
    const uint64_t keys[] = { 0, 5, two32 - 1, two32, two32 + 5, 2 * two32 - 1, 2 * two32 + 98 };
    tamis *f = bitmap_of(2 * two32 + 99);

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_false(tamis_has(f, keys[i]));
        assert_int_equal(tamis_add(f, keys[i]), TAMIS_OK);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(tamis_has(f, keys[i]));
    assert_false(tamis_has(f, two32 + 1));
    assert_false(tamis_has(f, 2 * two32));
    assert_int_equal(tamis_add(f, 2 * two32 + 99), TAMIS_RANGE);
    tamis_free(f);
}

/* Bits past the capacity are no keys: a payload that has them is damaged. */
static void verify_sees_bits_past_the_capacity(void **state)
{
    tamis *f = bitmap_of(10);
    uint8_t *payload = f->payload;

    (void)state;
    for (unsigned bit = 10; bit < 64; bit++) {
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_OK);
    }
    tamis_free(f);
}

static void verify_sees_a_wrong_count(void **state)
{
    tamis *f = bitmap_of(100);

    (void)state;
    assert_int_equal(tamis_add(f, 3), TAMIS_OK);
    f->count = 2;
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
    f->count = 1;
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_OK);
    tamis_free(f);
}

/* Both take one word; only one has room for the other's keys. */
static void capacities_that_differ_do_not_mix(void **state)
{
    tamis *none = bitmap_of(0), *one = bitmap_of(1);

    (void)state;
    assert_int_equal(tamis_add(one, 0), TAMIS_OK);
    assert_int_equal(tamis_combine(none, TAMIS_MERGE, one), TAMIS_MISMATCH);
    assert_int_equal(tamis_verify(none, NULL, NULL), TAMIS_OK);
    tamis_free(none);
    tamis_free(one);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v1_bitmap_of_ten),
        cmocka_unit_test(v1_bitmap_index_out_of_range),
        cmocka_unit_test(bits_lie_where_the_format_says),
        cmocka_unit_test(sizes_are_whole_words),
        cmocka_unit_test(nothing_can_be_full),
        cmocka_unit_test(keys_beyond_32_bits_are_kept_apart),
        cmocka_unit_test(verify_sees_bits_past_the_capacity),
        cmocka_unit_test(verify_sees_a_wrong_count),
        cmocka_unit_test(capacities_that_differ_do_not_mix),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
