/* chance.c - exact bounds. Tails are summed from the probabilities themselves: a normal
 * approximation is wrong exactly where bounds lie. */
#include "chance.h"

chance_range chance_shares(chance_range counts, uint64_t n)
{
    return (chance_range){ counts.low / (double)n, counts.high / (double)n };
}

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

/* ---- Means ------------------------------------------------------------- */

/* log E(e^(tilt X)); the largest term is taken out, so that none is too large for a double. */
static double log_moment(const double *chances, size_t values, double tilt)
{
    double most = -INFINITY, sum = 0;

    for (size_t i = 0; i < values; i++)
        most = chances[i] > 0 ? fmax(most, tilt * (double)i + log(chances[i])) : most;
    for (size_t i = 0; i < values; i++)
        sum += chances[i] > 0 ? exp(tilt * (double)i + log(chances[i]) - most) : 0;
    return most + log(sum);
}

/* For each tilt, P(mean >= x) <= exp(-n (tilt x - log E(e^(tilt X)))), and for tilts below 0 the
 * same of P(mean <= x). So x is where that is half of what may be outside: the closest of all. */
static double furthest_mean(const double *chances, size_t values, uint64_t n, double sign)
{
    double enough = log(2 / CHANCE_OUTSIDE) / (double)n, best = sign * INFINITY;

    for (double tilt = 1e-6; tilt < 100; tilt *= 1.02) {
        double x = (log_moment(chances, values, sign * tilt) + enough) / (sign * tilt);
        best = sign > 0 ? fmin(best, x) : fmax(best, x);
    }
    return best;
}

chance_range chance_means(const double *chances, size_t values, uint64_t n)
{
    return (chance_range){ furthest_mean(chances, values, n, -1),
                           furthest_mean(chances, values, n, 1) };
}

/* The share of the gamma distribution of shape a that is below x: a series, which is quick up to
 * about a. */
static double gamma_below(double a, double x)
{
    double term = 1 / a, sum = term;

    for (double i = a + 1; term > sum * 1e-16; i++) {
        term *= x / i;
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a));
}

/* And above: a continued fraction, from its end to its start (Abramowitz and Stegun 6.5.31). */
static double gamma_above(double a, double x)
{
    double fraction = 0;

    for (int i = 2000; i > 0; i--)
        fraction = (double)i * (a - (double)i) / (x + 2 * (double)i + 1 - a + fraction);
    return exp(a * log(x) - x - lgamma(a)) / (x + 1 - a + fraction);
}

double chance_chi_square(double x, double degrees)
{
    double a = degrees / 2, half = x / 2;

    if (half <= 0)
        return 1;
    return half < a + 1 ? 1 - gamma_below(a, half) : gamma_above(a, half);
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

    return chance_shares(
        chance_counts(probes, pow(fmax(fill - off, 0), k), pow(fmin(fill + off, 1), k), outside),
        probes);
}
