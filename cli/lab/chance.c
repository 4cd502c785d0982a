/* chance.c - exact bounds. Tails are summed from the probabilities themselves: a normal
 * approximation is wrong exactly where bounds lie. */
#include <math.h>

#include "chance.h"

double chance_binomial(uint64_t x, uint64_t n, double p)
{
    double i = (double)x, of = (double)n;

    if (p <= 0 || p >= 1)
        return i == (p <= 0 ? 0 : of);
    return exp(lgamma(of + 1) - lgamma(i + 1) - lgamma(of - i + 1) + i * log(p) +
               (of - i) * log1p(-p));
}

double chance_poisson(uint64_t x, double mean)
{
    double i = (double)x;

    return mean <= 0 ? x == 0 : exp(i * log(mean) - mean - lgamma(i + 1));
}

/* P(X >= x) if `up`, else P(X <= x), on the side of the mean where terms fall from x outward. */
static double sum_tail(uint64_t x, uint64_t n, double p, bool up)
{
    double i = (double)x, of = (double)n, odds = p / (1 - p);
    double term = chance_binomial(x, n, p), sum = 0;

    while (term > sum * 1e-17) {
        sum += term;
        term *= up ? (of - i) / (i + 1) * odds : i / (of - i + 1) / odds;
        i += up ? 1 : -1;
    }
    return sum;
}

/* The count furthest from the mean, upward or downward, whose tail is not below `least`. */
static double furthest(uint64_t n, double p, double least, bool up)
{
    uint64_t fits = (uint64_t)(up ? floor((double)n * p) : ceil((double)n * p));
    uint64_t step = 1;

    if (p <= 0 || p >= 1)
        return (double)n * (p > 0);
    while (step < n)
        step *= 2;
    for (; step > 0; step /= 2) {
        bool exists = up ? step <= n - fits : step <= fits;
        uint64_t next = up ? fits + step : fits - step;
        if (exists && sum_tail(next, n, p, up) >= least)
            fits = next;
    }
    return (double)fits;
}

chance_range chance_counts(uint64_t n, double low, double high, double outside)
{
    return (chance_range){ furthest(n, low, outside / 2, false),
                           furthest(n, high, outside / 2, true) };
}

/* n times the divergence of x / n from p, whose exponential bounds the tail from x on. */
static double divergence(double x, double n, double p)
{
    double q = x / n, sum = 0;

    if (q > 0)
        sum += q * log(q / p);
    if (q < 1)
        sum += (1 - q) * log((1 - q) / (1 - p));
    return n * sum;
}

static double sum_end(double n, double p, double outside, double fails)
{
    double fits = n * p;

    if (divergence(fails, n, p) < log(2 / outside))
        return fails;
    for (int i = 0; i < 100; i++) {
        double middle = (fits + fails) / 2;
        *(divergence(middle, n, p) < log(2 / outside) ? &fits : &fails) = middle;
    }
    return fits;
}

chance_range chance_sums(uint64_t n, double p, double outside)
{
    double of = (double)n;

    if (p <= 0 || p >= 1)
        return (chance_range){ of * (p > 0), of * (p > 0) };
    return (chance_range){ sum_end(of, p, outside, 0), sum_end(of, p, outside, of) };
}

/* ---- Bloom filters ----------------------------------------------------- */

double chance_fill(chance_array a, double n)
{
    double throws = a.has_rows ? n : n * a.hashes;

    return a.slots > 1 ? -expm1(throws * log1p(-1 / (double)a.slots)) : n > 0;
}

chance_range chance_bloom(chance_array a, uint64_t n, uint64_t probes)
{
    double k = a.hashes, outside = CHANCE_OUTSIDE / 2, fill = chance_fill(a, (double)n);
    double rows = a.has_rows ? k : 1, bits = a.has_rows ? 1 : k;
    double off = bits * sqrt((double)n * log(2 * rows / outside) / 2) / (double)a.slots;
    chance_range counts =
        chance_counts(probes, pow(fmax(fill - off, 0), k), pow(fmin(fill + off, 1), k), outside);

    return (chance_range){ counts.low / (double)probes, counts.high / (double)probes };
}
