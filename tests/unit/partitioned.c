/* partitioned: one row of bits per hash, which makes the rate a closed formula. */
#include "base/bits.h"
#include "kinds.h"
#include "scattered.h"

static tamis_plan row_plan(uint64_t w, unsigned k)
{
    return scattered_plan(TAMIS_PARTITIONED, w, k, w * k);
}

static double row_rate(double w, double n, double k)
{
    return pow(-expm1(n * log1p(-1 / w)), k);
}

/* n = 5,000,000, k = 30, 2,500,000 bits per row: 1.27 % (printed as 1.28 %) in 75 Mbit. */
static void v5_five_million_urls(void **state)
{
    tamis_plan plan = row_plan(2500000, 30);
    double rate = tamis_plan_rate(&plan, 5000000);

    (void)state;
    assert_true(rate >= 0.0127 && rate <= 0.0128);
    assert_int_equal(plan.bytes * 8, 75000000);
    assert_true(plan.bytes * 20 < UINT64_C(5000000) * 40);
}

/* Bit 5 i + h of the payload is bit h of row i. */
static void v6_positions(uint64_t *at, const uint64_t *hashes)
{
    for (uint64_t i = 0; i < 3; i++)
        at[i] = 5 * i + hashes[i];
}

static void v6_add(tamis *f, const uint64_t *hashes)
{
    uint64_t at[3];

    v6_positions(at, hashes);
    set_all(f, at, 3);
}

static bool v6_has(const tamis *f, const uint64_t *hashes)
{
    uint64_t at[3];

    v6_positions(at, hashes);
    return all_set(f, at, 3);
}

/* k = 3, m = 5: two sites were added, and a third answers true. */
static void v6_very_normal_site(void **state)
{
    const uint64_t virus[] = { 2, 1, 4 }, suspicious[] = { 1, 0, 4 }, normal[] = { 2, 0, 4 };
    const uint64_t absent[][3] = { { 0, 0, 4 }, { 2, 2, 4 }, { 2, 1, 0 }, { 4, 4, 4 } };
    tamis_plan plan = row_plan(5, 3);
    tamis *f = new_filter(&plan);

    (void)state;
    v6_add(f, virus);
    assert_true(v6_has(f, virus));
    assert_false(v6_has(f, suspicious));
    assert_false(v6_has(f, normal));
    v6_add(f, suspicious);
    assert_true(v6_has(f, virus));
    assert_true(v6_has(f, suspicious));
    assert_true(v6_has(f, normal));
    for (int i = 0; i < 4; i++)
        assert_false(v6_has(f, absent[i]));
    assert_int_equal(count_ones(f->payload, plan.bytes), 5);
    tamis_free(f);
}

static void rates_match_the_formula(void **state)
{
    (void)state;
    for (uint64_t w = 2; w <= 1000000; w = w * 3 / 2 + 1)
        for (unsigned k = 1; k <= 20; k += 3)
            for (uint64_t n = 0; n <= 4 * w; n += 1 + n / 2) {
                tamis_plan plan = row_plan(w, k);
                double expected = row_rate((double)w, (double)n, k);

                assert_true(is_near(tamis_plan_rate(&plan, n), expected, 1e-9));
            }
}

/* The only bit of each row is set by the first key. */
static void rows_of_one_bit(void **state)
{
    tamis_plan plan = row_plan(1, 4);

    (void)state;
    assert_true(tamis_plan_rate(&plan, 0) == 0);
    assert_true(tamis_plan_rate(&plan, 1) == 1);
}

static void set_as_specified(uint8_t *bits, uint64_t h, uint64_t w, unsigned k)
{
    for (unsigned i = 0; i < k; i++) {
        uint64_t at = i * w + scale64(h, w);

        bits[at >> 3] |= (uint8_t)(1u << (at & 7));
        h = (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    }
}

static void bits_lie_where_the_format_says(void **state)
{
    const uint64_t sizes[] = { 1, 2, 5, 63, 64, 65, 1000, 4096 };
    rng r = rng_for(31, 0);

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned k = 1; k <= 20; k++) {
            tamis_plan plan = row_plan(sizes[i], k);
            uint8_t *expected = array_of(plan.bytes, 1);

            plan.hasher.seed = rng_next(&r);
            tamis *f = new_filter(&plan);
            for (int n = 0; n < 10; n++) {
                uint64_t key = rng_next(&r);

                assert_int_equal(tamis_add(f, key), TAMIS_OK);
                set_as_specified(expected, hash_key(key, salt_of_seed(plan.hasher.seed)), sizes[i],
                                 k);
            }
            assert_memory_equal(f->payload, expected, plan.bytes);
            free(expected);
            tamis_free(f);
        }
}

/* The rate is the product of what the rows let through, not a power of the mean. */
static void what_is_told_comes_from_the_rows(void **state)
{
    tamis_plan plan = row_plan(100, 3);
    tamis *f = new_filter(&plan);
    const uint64_t ones[] = { 10, 50, 80 };

    (void)state;
    for (uint64_t row = 0; row < 3; row++)
        for (uint64_t i = 0; i < ones[row]; i++) {
            uint64_t at = row * 100 + i;

            set_all(f, &at, 1);
        }
    tamis_info info = info_of(f);
    assert_true(is_near(info.fpr, 0.1 * 0.5 * 0.8, 1e-12));
    assert_true(is_near(info.fill, 140.0 / 300, 1e-12));
    tamis_free(f);
}

static void verify_sees_bits_past_the_end(void **state)
{
    tamis_plan plan = row_plan(33, 3);
    tamis *f = new_filter(&plan);
    uint8_t *payload = f->payload;

    (void)state;
    for (uint64_t at = 99; at < plan.bytes * 8; at++) {
        payload[at >> 3] ^= (uint8_t)(1u << (at & 7));
        assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
        payload[at >> 3] ^= (uint8_t)(1u << (at & 7));
    }
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_OK);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v5_five_million_urls),
        cmocka_unit_test(v6_very_normal_site),
        cmocka_unit_test(rates_match_the_formula),
        cmocka_unit_test(rows_of_one_bit),
        cmocka_unit_test(bits_lie_where_the_format_says),
        cmocka_unit_test(what_is_told_comes_from_the_rows),
        cmocka_unit_test(verify_sees_bits_past_the_end),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
