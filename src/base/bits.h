/* bits.h - arithmetic on words that has a name: range reduction, checked products, sizes. */
#ifndef TAMIS_BASE_BITS_H
#define TAMIS_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where a 128-bit product is one instruction. WebAssembly has the type, and a function for it that
 * takes longer than the four products below. */
#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
#define BITS_HAVE_INT128 1
#else
#define BITS_HAVE_INT128 0
#endif

/* High half of the 128-bit product. */
static inline uint64_t mul_high64(uint64_t a, uint64_t b)
{
#if BITS_HAVE_INT128
    __extension__ typedef unsigned __int128 uint128;
    return (uint64_t)((uint128)a * b >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (uint32_t)mid;

    return a1 * b1 + (mid >> 32) + (mid2 >> 32);
#endif
}

/* The two halves of the 128-bit product, xored: every bit of it depends on all bits of a and b. */
static inline uint64_t mul_fold64(uint64_t a, uint64_t b)
{
#if BITS_HAVE_INT128
    __extension__ typedef unsigned __int128 uint128;
    uint128 product = (uint128)a * b;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
#else
    return mul_high64(a, b) ^ a * b;
#endif
}

/* A number below n, in proportion to where x lies among all 64-bit numbers: monotone in x, it uses
 * the high bits first. Nested exactly: scale64(x, c * n) / c == scale64(x, n), which is what makes
 * folding a filter the same as building it smaller. */
static inline uint64_t scale64(uint64_t x, uint64_t n)
{
    return mul_high64(x, n);
}

static inline bool mul_overflows(uint64_t a, uint64_t b, uint64_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

static inline bool add_overflows(uint64_t a, uint64_t b, uint64_t *sum)
{
    return __builtin_add_overflow(a, b, sum);
}

/* n rounded up to a multiple of `to`, a power of two; n is below 2^63. */
static inline uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) & ~(to - 1);
}

/* Bytes of an array of that many bits, in whole 64-bit words. */
static inline uint64_t bytes_of_bits(uint64_t bits)
{
    return (bits / 64 + (bits % 64 != 0)) * 8;
}

static inline bool bytes_are_zero(const void *from, const void *end)
{
    for (const unsigned char *p = (const unsigned char *)from; p < (const unsigned char *)end; p++)
        if (*p)
            return false;
    return true;
}

/* Ones in the first `size` bytes, a multiple of eight; the same on every byte order. */
static inline uint64_t count_ones(const void *bytes, uint64_t size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t ones = 0;

    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, sizeof word);
        ones += (uint64_t)__builtin_popcountll(word);
    }
    return ones;
}

#endif
