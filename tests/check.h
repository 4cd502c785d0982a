/* check.h - what every test needs: seeds that can be replayed, keys, and exact bounds.
 *
 * A random outcome is accepted unless its tail probability is below ALPHA / 2 on its own side. The
 * tail is summed from the probabilities themselves: a normal approximation is wrong exactly where
 * these bounds lie. Seeds are fixed, so that a pass stays a pass; SEED=... in the environment
 * replays any run, and a test's name (which may end with `*`) as first argument picks it. */
#ifndef TAMIS_TESTS_CHECK_H
#define TAMIS_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "choose.h"
#include "tamis.h"

#define ALPHA 1e-9

/* cmocka looks at one byte after the other, which takes a tenth of some tests, and only has to
 * where two differ. */
#undef assert_memory_equal
#define assert_memory_equal(a, b, size) \
    (memcmp(a, b, size) ? _assert_memory_equal(a, b, size, __FILE__, __LINE__) : (void)0)

/* ---- Runs -------------------------------------------------------------- */

/* Under sanitizers everything is several times slower: tests then use smaller numbers where the
 * plain run goes through the same code. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define TAMIS_SANITIZER_ON
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAMIS_SANITIZER_ON
#endif

static inline bool is_sanitized(void)
{
#ifdef TAMIS_SANITIZER_ON
    return true;
#else
    return getenv("TAMIS_SANITIZED") != NULL;
#endif
}

static inline bool is_long_run(void)
{
    return getenv("TAMIS_LONG") != NULL;
}

/* A number for each sort of run. */
static inline size_t run_size(size_t ordinary, size_t sanitized, size_t in_long_run)
{
    return is_sanitized() ? sanitized : is_long_run() ? in_long_run : ordinary;
}

static inline uint64_t test_seed(void)
{
    const char *given = getenv("SEED");

    return given ? strtoull(given, NULL, 0) : UINT64_C(0x7461316d6973);
}

/* argv[0], for the replay command. */
static const char *test_program = "";

static inline void test_begin(int argc, char **argv)
{
    test_program = argv[0];
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
}

static inline int check_tests(int argc, char **argv, const struct CMUnitTest *tests, size_t n)
{
    test_begin(argc, argv);
    int failed = _cmocka_run_group_tests("tests", tests, n, NULL, NULL);
    if (failed)
        print_error("replay: SEED=%#llx %s\n", (unsigned long long)test_seed(), test_program);
    return failed;
}

/* ---- Random numbers and keys ------------------------------------------- */

/* splitmix64: a permutation of a counter, so that one stream never repeats a key. */
typedef struct rng {
    uint64_t state;
} rng;

static inline uint64_t rng_next(rng *r)
{
    uint64_t x = r->state += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* 0 .. n - 1; the bias, n / 2^64, is of no matter here. */
static inline uint64_t rng_below(rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

/* A stream of its own for each purpose and round. */
static inline rng rng_for(uint64_t purpose, uint64_t round)
{
    rng r = { test_seed() ^ purpose * UINT64_C(0xD1B54A32D192ED03) };

    r.state = rng_next(&r) + round * UINT64_C(0x8CB92BA72F3D8DD7);
    r.state = rng_next(&r);
    return r;
}

static inline void *array_of(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    assert_non_null(p);
    return p;
}

static inline uint64_t *fresh_keys(rng *r, size_t n)
{
    uint64_t *keys = array_of(n, sizeof *keys);

    for (size_t i = 0; i < n; i++)
        keys[i] = rng_next(r);
    return keys;
}

/* (high * 2^64 + low) / by, rounded up, which is below 2^64: a bit at a time, as not every machine
 * has 128 bits. `by` is below 2^63. */
static inline uint64_t divide_up(uint64_t high, uint64_t low, uint64_t by)
{
    uint64_t rest = high, quotient = 0;

    for (int bit = 63; bit >= 0; bit--) {
        rest = rest << 1 | (low >> bit & 1);
        quotient = quotient << 1 | (rest >= by);
        rest -= rest >= by ? by : 0;
    }
    return quotient + (rest > 0);
}

static inline void shuffle(rng *r, uint64_t *keys, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(r, i);
        uint64_t swap = keys[i - 1];

        keys[i - 1] = keys[j];
        keys[j] = swap;
    }
}

/* ---- Exact bounds ------------------------------------------------------ */

static inline double log_binomial(double x, double n, double p)
{
    return lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(p) + (n - x) * log1p(-p);
}

/* P(X >= x) above the mean, P(X <= x) below it: terms fall from x outward, and fast. */
static inline double binomial_tail(uint64_t x, uint64_t n, double p)
{
    double i = (double)x, of = (double)n, odds = p / (1 - p);
    bool above = i > of * p;

    if (p <= 0 || p >= 1)
        return i == of * p ? 1 : 0;
    double term = exp(log_binomial(i, of, p)), sum = 0;
    while (term > sum * 1e-17) {
        sum += term;
        term *= above ? (of - i) / (i + 1) * odds : i / (of - i + 1) / odds;
        i += above ? 1 : -1;
    }
    return sum;
}

static inline bool binomial_fits_at(uint64_t x, uint64_t n, double p, double alpha)
{
    return binomial_tail(x, n, p) >= alpha / 2;
}

static inline bool binomial_fits(uint64_t x, uint64_t n, double p)
{
    return binomial_fits_at(x, n, p, ALPHA);
}

/* Some rate between low and high explains x. */
static inline bool binomial_fits_between(uint64_t x, uint64_t n, double low, double high)
{
    double seen = (double)x / (double)n;

    return binomial_fits(x, n, seen < low ? low : seen > high ? high : seen);
}

/* Upper tail of the chi-square distribution: the regularised incomplete gamma function, by its
 * series below the mean and Lentz's continued fraction above it. */
static inline double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;

    for (double k = a + 1; term > sum * 1e-16; k++)
        sum += term *= x / k;
    return sum * exp(a * log(x) - x - lgamma(a));
}

static inline double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;

    for (double i = 1; i < 100000; i++) {
        double an = -i * (i - a);

        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return h * exp(a * log(x) - x - lgamma(a));
}

static inline double chi_square_tail(double x, double freedom)
{
    double a = freedom / 2, half = x / 2;

    if (half <= 0)
        return 1;
    return half < a + 1 ? 1 - gamma_series(a, half) : gamma_fraction(a, half);
}

/* Counts that should be equal. Too even is as wrong as too uneven. */
static inline bool evenly_spread(const uint64_t *counts, size_t n, double alpha)
{
    double total = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        total += (double)counts[i];
    double mean = total / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += ((double)counts[i] - mean) * ((double)counts[i] - mean) / mean;
    double tail = chi_square_tail(sum, (double)n - 1);
    return tail >= alpha / 2 && tail <= 1 - alpha / 2;
}

static inline bool is_near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

#endif
