/* Bits in both of two rows: every kernel counts what the portable one counts. */
#include "../../overlap.c"
#include "check.h"

enum { ROWS = 9, WORDS = 1024 };

static void assert_same(overlap_kernel *kernel, const uint64_t *rows, size_t words)
{
    uint32_t found[ROWS + 1], wanted[ROWS + 1];

    for (size_t n = 0; n < ROWS; n++) {
        found[n] = wanted[n] = 77;
        kernel(found, rows, rows, n, words);
        overlap_portable(wanted, rows, rows, n, words);
        assert_memory_equal(found, wanted, (n + 1) * sizeof *found);
    }
}

static void assert_counts(overlap_kernel *kernel)
{
    uint64_t *rows = array_of(ROWS * WORDS, sizeof *rows);
    rng r = rng_for(2300, 0);

    for (size_t words = OVERLAP_LINE; words <= WORDS; words += words < 300 ? OVERLAP_LINE : 104) {
        for (size_t i = 0; i < ROWS * words; i++)
            rows[i] = rng_next(&r) | (i % 3 ? rng_next(&r) : 0);
        assert_same(kernel, rows, words);
    }
    /* Where sums could overflow: all bits set. */
    memset(rows, 0xFF, ROWS * WORDS * sizeof *rows);
    assert_same(kernel, rows, WORDS);
    free(rows);
}

static void kernels_count_alike(void **state)
{
    (void)state;
    assert_counts(overlap_choose());
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        assert_counts(overlap_avx2);
#endif
}

static void portable_counts(void **state)
{
    const uint64_t rows[2 * OVERLAP_LINE] = { 7, 0, UINT64_MAX, [8] = 5, UINT64_MAX, 1 };
    uint32_t both[2];

    (void)state;
    overlap_portable(both, rows, rows, 2, OVERLAP_LINE);
    assert_int_equal(both[0], 67);
    assert_int_equal(both[1], 3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portable_counts),
        cmocka_unit_test(kernels_count_alike),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
