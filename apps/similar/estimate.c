/* estimate.c - how alike two sets are, told by their filters alone. */
#include <math.h>
#include <stdlib.h>

#include "estimate.h"

/* Of tables up to 8 MiB; above that, a logarithm takes less time than the bits of a pair. */
enum { TABLE_BITS_MAX = 1 << 20 };

static double keys_of(const occupancy *o, uint64_t ones)
{
    return -o->bits / o->hashes * log1p(-(double)ones / o->bits);
}

int occupancy_init(occupancy *o, uint64_t bits, uint32_t hashes)
{
    *o = (occupancy){ .bits = (double)bits, .hashes = hashes };
    if (bits > TABLE_BITS_MAX)
        return 1;
    o->table = malloc((size_t)(bits + 1) * sizeof *o->table);
    for (uint64_t i = 0; o->table && i <= bits; i++)
        o->table[i] = keys_of(o, i);
    return o->table != NULL;
}

void occupancy_free(occupancy *o)
{
    free(o->table);
}

double occupancy_keys(const occupancy *o, uint64_t ones)
{
    return o->table ? o->table[ones] : keys_of(o, ones);
}

similar_sizes similar_sizes_of(const occupancy *o, uint64_t a, uint64_t b, uint64_t both)
{
    return (similar_sizes){ .a = (double)a,
                            .b = (double)b,
                            .both = (double)both,
                            .keys_a = occupancy_keys(o, a),
                            .keys_b = occupancy_keys(o, b),
                            .keys_or = occupancy_keys(o, a + b - both) };
}

/* ---- Values ------------------------------------------------------------ */

static double from_0_to_1(double value)
{
    return value > 0 ? value < 1 ? value : 1 : 0;
}

static double keys_in_both(const similar_sizes *s)
{
    double both = s->keys_a + s->keys_b - s->keys_or;

    return both > 0 ? both : 0;
}

double similar_value(similar_measure by, const similar_sizes *s)
{
    switch (by) {
    case SIMILAR_JACCARD:
        return from_0_to_1(keys_in_both(s) / s->keys_or);
    case SIMILAR_COSINE:
        return from_0_to_1(keys_in_both(s) / sqrt(s->keys_a * s->keys_b));
    case SIMILAR_CONTAINMENT:
        return from_0_to_1(keys_in_both(s) / s->keys_a);
    default:
        return from_0_to_1(s->both / sqrt(s->a * s->b));
    }
}

double similar_most(similar_measure by, const occupancy *o, uint64_t a, uint64_t b)
{
    uint64_t small = a < b ? a : b, large = a < b ? b : a;

    switch (by) {
    case SIMILAR_JACCARD:
        return occupancy_keys(o, small) / occupancy_keys(o, large);
    case SIMILAR_COSINE:
        return sqrt(occupancy_keys(o, small) / occupancy_keys(o, large));
    case SIMILAR_CONTAINMENT:
        return 1;
    default:
        return sqrt((double)small / (double)large);
    }
}

/* ---- Bars -------------------------------------------------------------- */

/* Derivatives of a measure by the sizes of both sets and of their union. */
typedef struct slopes {
    double a, b, either;
} slopes;

static slopes slopes_of(similar_measure by, const similar_sizes *s)
{
    double a = s->keys_a, b = s->keys_b, u = s->keys_or, both = keys_in_both(s);

    if (by == SIMILAR_JACCARD)
        return (slopes){ 1 / u, 1 / u, -(a + b) / (u * u) };
    if (by == SIMILAR_CONTAINMENT)
        return (slopes){ (u - b) / (a * a), 1 / a, -1 / a };
    double root = sqrt(a * b);
    return (slopes){ (1 - both / (2 * a)) / root, (1 - both / (2 * b)) / root, -1 / root };
}

/* v() of the header. */
static double variance_of(const occupancy *o, double keys)
{
    double load = o->hashes * keys / o->bits;

    return o->bits / (o->hashes * o->hashes) * (expm1(load) - load);
}

double similar_deviation(const occupancy *o, similar_measure by, const similar_sizes *s)
{
    if (by == SIMILAR_BITS)
        return 0;
    slopes g = slopes_of(by, s);
    double a = variance_of(o, s->keys_a), b = variance_of(o, s->keys_b);
    double u = variance_of(o, s->keys_or), both = variance_of(o, keys_in_both(s));
    double variance = g.a * g.a * a + g.b * g.b * b + g.either * g.either * u +
                      2 * (g.a * g.b * both + g.a * g.either * a + g.b * g.either * b);

    return variance > 0 ? sqrt(variance) : 0;
}

/* Of a normal variable, 95 of 100 values are no farther from the mean than that many deviations. */
static const double Z = 1.959963984540054;

double similar_bar(const occupancy *o, similar_measure by, const similar_sizes *s)
{
    if (by == SIMILAR_BITS)
        return 0;
    double missed = expm1(o->hashes * s->keys_or / o->bits);
    double hidden = Z * Z * missed / o->hashes, half_a_bit = 0.5 * (missed + 1) / o->hashes;
    similar_sizes wider = *s;

    wider.keys_a += hidden;
    wider.keys_b += hidden;
    wider.keys_or += 2 * hidden;
    double bar = Z * similar_deviation(o, by, &wider) - slopes_of(by, s).either * half_a_bit;
    return bar < 1 ? bar : 1;
}
