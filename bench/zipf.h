/* zipf.h - numbers from 1 to n, where r comes with a probability in proportion to 1 / r^s.
 *
 * Drawn by rejection from the area under x^-s, which is inverted exactly (Hörmann and Derflinger,
 * 1996): no table, any n. */
#ifndef BENCH_ZIPF_H
#define BENCH_ZIPF_H

#include <math.h>
#include <stdint.h>

typedef struct zipf {
    double s, low, high, skip; /* areas up to 1.5 less 1, and up to n + 0.5 */
    uint64_t n, state;
} zipf;

static inline double zipf_uniform(zipf *z)
{
    uint64_t x = z->state += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* (e^x - 1) / x and log(1 + x) / x, also near 0: what makes s = 1 no exception. */
static inline double zipf_expm1_over(double x)
{
    return fabs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2;
}

static inline double zipf_log1p_over(double x)
{
    return fabs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2;
}

static inline double zipf_area(const zipf *z, double x)
{
    return zipf_expm1_over((1 - z->s) * log(x)) * log(x);
}

static inline double zipf_area_inverse(const zipf *z, double y)
{
    double t = fmax(y * (1 - z->s), -1);

    return exp(zipf_log1p_over(t) * y);
}

static inline zipf zipf_of(double s, uint64_t n, uint64_t seed)
{
    zipf z = { .s = s, .n = n, .state = seed };

    z.low = zipf_area(&z, 1.5) - 1;
    z.high = zipf_area(&z, (double)n + 0.5);
    z.skip = 2 - zipf_area_inverse(&z, zipf_area(&z, 2.5) - pow(2, -s));
    return z;
}

static inline uint64_t zipf_next(zipf *z)
{
    for (;;) {
        double u = z->high + zipf_uniform(z) * (z->low - z->high), x = zipf_area_inverse(z, u);
        double k = fmin(fmax(floor(x + 0.5), 1), (double)z->n);

        if (k - x <= z->skip || u >= zipf_area(z, k + 0.5) - pow(k, -z->s))
            return (uint64_t)k;
    }
}

#endif
