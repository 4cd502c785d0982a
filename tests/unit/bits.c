/* base/bits.h: words, range reduction, checked sizes. */
#include "base/bits.h"

#include "check.h"

static const uint64_t EDGES[] = {
    0,
    1,
    2,
    3,
    63,
    64,
    65,
    0xffff,
    0x10000,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x100000001,
    UINT64_C(1) << 48,
    INT64_MAX,
    UINT64_C(1) << 63,
    UINT64_MAX - 1,
    UINT64_MAX,
};

enum { N_EDGES = sizeof EDGES / sizeof *EDGES };

/* From 32-bit halves, so that it does not share the compiler's 128-bit arithmetic. */
static uint64_t product_high(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t carry = (a0 * b0 >> 32) + (uint32_t)(a1 * b0) + (uint32_t)(a0 * b1);

    return a1 * b1 + (a1 * b0 >> 32) + (a0 * b1 >> 32) + (carry >> 32);
}

static void scale64_is_the_high_half_of_the_product(void **state)
{
    rng r = rng_for(2, 0);

    (void)state;
    for (int i = 0; i < N_EDGES; i++)
        for (int j = 0; j < N_EDGES; j++)
            assert_int_equal(scale64(EDGES[i], EDGES[j]), product_high(EDGES[i], EDGES[j]));
    for (int i = 0; i < 100000; i++) {
        uint64_t a = rng_next(&r), b = rng_next(&r) >> rng_below(&r, 64);

        assert_int_equal(scale64(a, b), product_high(a, b));
        assert_int_equal(mul_high64(a, b), product_high(b, a));
    }
}

static void scale64_stays_below_n_and_is_monotone(void **state)
{
    rng r = rng_for(2, 1);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t n = 1 + (rng_next(&r) >> rng_below(&r, 64)) / 2;
        uint64_t x = rng_next(&r), y = rng_next(&r);

        assert_true(scale64(x, n) < n);
        assert_true(x < y ? scale64(x, n) <= scale64(y, n) : scale64(x, n) >= scale64(y, n));
    }
    assert_int_equal(scale64(UINT64_MAX, 1), 0);
    assert_int_equal(scale64(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
}

/* What folding rests on. */
static void scale64_nests_exactly(void **state)
{
    rng r = rng_for(2, 2);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t c = 1 + rng_below(&r, 1000), n = 1 + (rng_next(&r) >> (10 + rng_below(&r, 54)));
        uint64_t x = rng_next(&r);

        assert_int_equal(scale64(x, c * n) / c, scale64(x, n));
    }
}

static void overflow_is_told_for_all_edges(void **state)
{
    (void)state;
    for (int i = 0; i < N_EDGES; i++)
        for (int j = 0; j < N_EDGES; j++) {
            uint64_t a = EDGES[i], b = EDGES[j], out;

            assert_int_equal(mul_overflows(a, b, &out), product_high(a, b) != 0);
            assert_int_equal(out, a * b);
            assert_int_equal(add_overflows(a, b, &out), a + b < a);
            assert_int_equal(out, a + b);
        }
}

static void round_up_reaches_the_next_multiple(void **state)
{
    (void)state;
    for (uint64_t to = 1; to <= 4096; to *= 2)
        for (uint64_t n = 0; n <= 3 * to; n++) {
            uint64_t up = round_up(n, to);

            assert_true(up >= n && up - n < to && up % to == 0);
        }
    assert_int_equal(round_up(INT64_MAX, 64), UINT64_C(1) << 63);
}

static void bytes_of_bits_is_whole_words(void **state)
{
    (void)state;
    assert_int_equal(bytes_of_bits(0), 0);
    for (uint64_t bits = 1; bits < 1000; bits++)
        assert_int_equal(bytes_of_bits(bits), (bits + 63) / 64 * 8);
    assert_int_equal(bytes_of_bits(UINT64_MAX), UINT64_C(1) << 61);
}

static void count_ones_counts_each_bit_once(void **state)
{
    unsigned char bytes[40] = { 0 };

    (void)state;
    for (unsigned size = 0; size <= 32; size += 8) {
        memset(bytes, 0, sizeof bytes);
        for (unsigned bit = 0; bit < size * 8; bit++) {
            assert_int_equal(count_ones(bytes + 3, size), bit);
            bytes[3 + bit / 8] |= (unsigned char)(1u << bit % 8);
        }
        bytes[2] = bytes[3 + size] = 0xff;
        assert_int_equal(count_ones(bytes + 3, size), size * 8);
    }
}

static void bytes_are_zero_looks_at_each_and_no_more(void **state)
{
    uint8_t bytes[32] = { 0 };

    (void)state;
    for (int from = 0; from <= 20; from++)
        for (int end = from; end <= 20; end++)
            for (int set = 0; set < 32; set++) {
                bytes[set] = 1;
                assert_int_equal(bytes_are_zero(bytes + from, bytes + end),
                                 set < from || set >= end);
                bytes[set] = 0;
            }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale64_is_the_high_half_of_the_product),
        cmocka_unit_test(scale64_stays_below_n_and_is_monotone),
        cmocka_unit_test(scale64_nests_exactly),
        cmocka_unit_test(overflow_is_told_for_all_edges),
        cmocka_unit_test(round_up_reaches_the_next_multiple),
        cmocka_unit_test(bytes_of_bits_is_whole_words),
        cmocka_unit_test(bytes_are_zero_looks_at_each_and_no_more),
        cmocka_unit_test(count_ones_counts_each_bit_once),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
