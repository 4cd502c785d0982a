/* packed.c - arrays of w-bit integers, against arrays of words, for every width. */
#include "base/packed.h"
#include "check.h"

enum { N = 67, SLACK = 16 };

static const uint8_t FENCE = 0xa5;

static bool fence_stands(const uint8_t *array, uint64_t size)
{
    for (int i = 0; i < SLACK; i++)
        if (array[size + (uint64_t)i] != FENCE)
            return false;
    return true;
}

/* Every number is written over in random order; none disturbs another, nor what lies behind. */
static void check_width(unsigned width, size_t n)
{
    uint64_t size = packed_bytes(n, width);
    uint8_t *array = array_of((size_t)size + SLACK, 1);
    uint32_t truth[N] = { 0 };
    rng r = rng_for(1600, width * 1000 + n);

    memset(array + size, FENCE, SLACK);
    for (size_t step = 0; step < 20 * n; step++) {
        size_t i = rng_below(&r, n);
        uint32_t x = (uint32_t)rng_next(&r) & packed_mask(width);

        if (step % 7 == 0)
            x = packed_mask(width);
        packed_put(array, i, width, x);
        truth[i] = x;
        for (size_t j = 0; j < n; j++)
            assert_int_equal(packed_get(array, j, width), truth[j]);
    }
    assert_true(fence_stands(array, size));
    free(array);
}

static void every_width_and_length(void **state)
{
    (void)state;
    for (unsigned width = 1; width <= PACKED_WIDEST; width++)
        for (size_t n = 1; n <= N; n += n < 20 ? 1 : 47)
            check_width(width, n);
}

/* Bits lie as docs/format.md says: number i in bits i w .. i w + w - 1, the lowest first. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (unsigned width = 1; width <= PACKED_WIDEST; width++) {
        uint8_t array[64 * 4 + 8] = { 0 };

        packed_put(array, 13, width, 1);
        assert_int_equal(array[13 * width / 8], 1u << 13 * width % 8);
    }
}

static void wide_numbers_are_cut(void **state)
{
    uint8_t array[16] = { 0 };

    (void)state;
    packed_put(array, 1, 5, UINT32_MAX);
    assert_int_equal(packed_get(array, 0, 5), 0);
    assert_int_equal(packed_get(array, 1, 5), 31);
    assert_int_equal(packed_get(array, 2, 5), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_and_length),
        cmocka_unit_test(bits_are_where_the_format_says),
        cmocka_unit_test(wide_numbers_are_cut),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
