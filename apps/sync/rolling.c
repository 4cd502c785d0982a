/* rolling.c - rolling hashes of whole blocks. */
#include "rolling.h"

static uint32_t rolling_sum_of(const uint8_t *bytes, size_t n)
{
    uint32_t s1 = 0, s2 = 0;

    for (size_t i = 0; i < n; i++) {
        s1 += bytes[i] + ROLLING_SUM_OFFSET;
        s2 += s1;
    }
    return s2 << 16 | (s1 & 0xffff);
}

/* Eight bytes at a time: products that do not wait for each other. */
static uint32_t rolling_rabin_of(const uint8_t *bytes, size_t n)
{
    enum { AT_A_TIME = 8 };
    uint32_t powers[AT_A_TIME + 1] = { 1 }, hash = 1;
    size_t i = 0;

    for (int k = 0; k < AT_A_TIME; k++)
        powers[k + 1] = powers[k] * ROLLING_RABIN;
    for (; n - i >= AT_A_TIME; i += AT_A_TIME) {
        uint32_t sum = 0;
#pragma GCC unroll 8
        for (int k = 0; k < AT_A_TIME; k++)
            sum += bytes[i + (size_t)k] * powers[AT_A_TIME - 1 - k];
        hash = hash * powers[AT_A_TIME] + sum;
    }
    for (; i < n; i++)
        hash = hash * ROLLING_RABIN + bytes[i];
    return hash;
}

uint32_t rolling_of(bool is_rabin, const uint8_t *bytes, size_t n)
{
    if (!is_rabin)
        return rolling_sum_of(bytes, n);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return rolling_rabin_avx2(bytes, n);
#endif
    return rolling_rabin_of(bytes, n);
}
