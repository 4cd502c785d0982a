/* base/hash_avx2.h: the same numbers as base/hash.h and scale64(), four at a time. */
#include "base/hash_avx2.h"

#include "base/bits.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "check.h"

static const uint64_t EDGES[] = {
    0,
    1,
    2,
    3,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x1fffffff,
    HASH_GOLDEN,
    UINT64_C(1) << 62,
    UINT64_C(1) << 63,
    ~HASH_GOLDEN,
    INT64_MAX,
    UINT64_MAX - 1,
    UINT64_MAX,
};

enum { N_EDGES = sizeof EDGES / sizeof *EDGES, LANES = 4 };

TARGET_AVX2
static void load_and_compare(const uint64_t *x, uint64_t factor, uint64_t slots)
{
    __m256i v = _mm256_loadu_si256((const void *)x), n = _mm256_set1_epi64x((long long)slots);
    uint64_t product[LANES], mixed[LANES], scaled[LANES];

    _mm256_storeu_si256((void *)product, mul64_avx2(v, factor));
    _mm256_storeu_si256((void *)mixed, mix64_avx2(v));
    _mm256_storeu_si256((void *)scaled, scale64_avx2(v, n));
    for (int i = 0; i < LANES; i++) {
        assert_int_equal(product[i], x[i] * factor);
        assert_int_equal(mixed[i], mix64(x[i]));
        assert_int_equal(scaled[i], scale64(x[i], slots));
    }
}
TARGET_END

static void edges_agree(void **state)
{
    if (!(tamis__cpu() & TAMIS_CPU_AVX2))
        skip();
    (void)state;
    for (int i = 0; i + LANES <= N_EDGES; i++)
        for (int j = 0; j < N_EDGES; j++)
            load_and_compare(EDGES + i, EDGES[j], EDGES[j] & UINT32_MAX);
}

static void random_numbers_agree(void **state)
{
    rng r = rng_for(3, 0);

    if (!(tamis__cpu() & TAMIS_CPU_AVX2))
        skip();
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t x[LANES];

        for (int lane = 0; lane < LANES; lane++)
            x[lane] = rng_next(&r) >> rng_below(&r, 64);
        load_and_compare(x, rng_next(&r) >> rng_below(&r, 64),
                         rng_next(&r) >> (32 + rng_below(&r, 32)));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_agree),
        cmocka_unit_test(random_numbers_agree),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
