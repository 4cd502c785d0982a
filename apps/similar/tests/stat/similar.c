/* similar.c - how alike two sets are, told by their filters: 95 of 100 bars hold the truth, from
 * two keys to more keys than bits, and bars are no wider than the spread of the estimates asks for.
 */
#include "../../estimate.c"
#include "check.h"

enum { WORDS_MAX = 1024 };

/* Keys of the first set alone, of the second, and of both. */
typedef struct sets {
    uint32_t bits, hashes, a, b, both;
} sets;

static void set_bits(uint64_t *row, rng *r, const sets *s, uint32_t keys)
{
    for (uint32_t i = 0; i < keys * s->hashes; i++) {
        uint64_t place = rng_next(r) >> 32;

        place = place * s->bits >> 32;
        row[place / 64] |= UINT64_C(1) << place % 64;
    }
}

static similar_sizes drawn(const occupancy *o, rng *r, const sets *s)
{
    uint64_t a[WORDS_MAX] = { 0 }, b[WORDS_MAX] = { 0 }, both[WORDS_MAX] = { 0 };
    uint64_t ones_a = 0, ones_b = 0, ones_both = 0;

    set_bits(a, r, s, s->a);
    set_bits(b, r, s, s->b);
    set_bits(both, r, s, s->both);
    for (uint32_t w = 0; w < s->bits / 64; w++) {
        ones_a += (uint64_t)__builtin_popcountll(a[w] | both[w]);
        ones_b += (uint64_t)__builtin_popcountll(b[w] | both[w]);
        ones_both += (uint64_t)__builtin_popcountll((a[w] | both[w]) & (b[w] | both[w]));
    }
    return similar_sizes_of(o, ones_a, ones_b, ones_both);
}

static similar_sizes true_sizes(const sets *s)
{
    return (similar_sizes){ .keys_a = s->a + s->both,
                            .keys_b = s->b + s->both,
                            .keys_or = s->a + s->b + s->both };
}

static size_t trials(void)
{
    return run_size(1500, 100, 8000);
}

/* From hardly any bit in common by chance to three keys for a bit; from nothing in common to all.
 */
static const sets cases[] = {
    { 4096, 1, 1, 1, 1 },         { 4096, 1, 0, 1, 10 },       { 4096, 1, 5, 5, 0 },
    { 4096, 1, 12, 20, 4 },       { 4096, 1, 30, 40, 0 },      { 4096, 1, 0, 3, 200 },
    { 4096, 1, 60, 60, 60 },      { 4096, 1, 100, 900, 50 },   { 4096, 1, 0, 0, 700 },
    { 4096, 1, 1, 2, 2000 },      { 4096, 1, 1500, 1500, 20 }, { 4096, 1, 20, 3000, 0 },
    { 4096, 1, 700, 600, 2500 },  { 4096, 1, 3, 3, 4000 },     { 4096, 1, 4000, 5000, 1000 },
    { 4096, 1, 10, 10, 9000 },    { 512, 1, 2, 3, 1 },         { 512, 1, 40, 50, 60 },
    { 512, 1, 4, 0, 500 },        { 512, 1, 400, 300, 200 },   { 16384, 1, 900, 1400, 700 },
    { 4096, 3, 50, 60, 70 },      { 4096, 3, 2, 1, 300 },      { 4096, 7, 100, 120, 200 },
    { 16384, 4, 800, 1000, 200 }, { 4096, 7, 1, 1, 400 },
};

enum { CASES = sizeof cases / sizeof *cases };

/* How far from the truth an estimate may be. */
typedef double reach(const occupancy *o, similar_measure by, const similar_sizes *told,
                     const similar_sizes *truth);

static double bar(const occupancy *o, similar_measure by, const similar_sizes *told,
                  const similar_sizes *truth)
{
    (void)truth;
    return similar_bar(o, by, told) + 1e-12;
}

static double deviation(const occupancy *o, similar_measure by, const similar_sizes *told,
                        const similar_sizes *truth)
{
    (void)told;
    return similar_deviation(o, by, truth);
}

/* Of trials(), how many are within reach by each measure. */
static void count_within(uint64_t *within, const occupancy *o, const sets *s, reach *most, rng *r)
{
    similar_sizes truth = true_sizes(s);

    for (size_t i = 0; i < trials(); i++) {
        similar_sizes told = drawn(o, r, s);

        for (similar_measure by = 0; by < SIMILAR_BITS; by++)
            within[by] += fabs(similar_value(by, &told) - similar_value(by, &truth)) <=
                          most(o, by, &told, &truth);
    }
}

static void assert_share(const sets *s, similar_measure by, uint64_t within, double low,
                         double high)
{
    if (!binomial_fits_between(within, trials(), low, high))
        fail_msg("%u and %u keys, %u more in both, %u bits, %u hashes, measure %d: %llu of %zu",
                 s->a, s->b, s->both, s->bits, s->hashes, (int)by, (unsigned long long)within,
                 trials());
}

static void bars_hold_the_truth_of(const sets *s, uint64_t round)
{
    uint64_t inside[SIMILAR_BITS] = { 0 };
    rng r = rng_for(2100, round);
    occupancy o;

    assert_true(occupancy_init(&o, s->bits, s->hashes));
    count_within(inside, &o, s, bar, &r);
    for (similar_measure by = 0; by < SIMILAR_BITS; by++)
        assert_share(s, by, inside[by], 0.95, 1);
    occupancy_free(&o);
}

static void bars_hold_the_truth(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < CASES; i++)
        bars_hold_the_truth_of(&cases[i], i);
}

/* Where numbers are large, an estimate is normal: 68.27 % are within one deviation of the truth.
 * One bit more or less moves it by a step, and where a step ends counts for at most the density at
 * one deviation, 0.242, on each side. The linear part leaves out terms of the order of the square
 * of the relative spread. */
static void deviations_are_those_of(const sets *s, uint64_t round)
{
    similar_sizes truth = true_sizes(s);
    uint64_t within[SIMILAR_BITS] = { 0 };
    rng r = rng_for(2200, round);
    occupancy o;

    assert_true(occupancy_init(&o, s->bits, s->hashes));
    count_within(within, &o, s, deviation, &r);
    for (similar_measure by = 0; by < SIMILAR_BITS; by++) {
        double bit = exp(o.hashes * truth.keys_or / o.bits) / o.hashes;
        double sd = similar_deviation(&o, by, &truth);
        double step = fabs(slopes_of(by, &truth).either) * bit / sd;
        double slack = 2 * 0.242 * step + sd;

        assert_share(s, by, within[by], 0.6827 - slack, 0.6827 + slack);
        /* What bars have on top of it is little here. */
        assert_true(similar_bar(&o, by, &truth) >= Z * sd);
        assert_true(similar_bar(&o, by, &truth) <= 1.25 * Z * sd);
    }
    occupancy_free(&o);
}

static void deviations_are_right(void **state)
{
    static const sets large[] = { { 16384, 1, 2000, 3000, 1500 },
                                  { 16384, 1, 5000, 4000, 6000 },
                                  { 4096, 1, 1200, 1500, 800 },
                                  { 16384, 3, 1000, 1500, 600 } };

    (void)state;
    for (uint64_t i = 0; i < sizeof large / sizeof *large; i++)
        deviations_are_those_of(&large[i], i);
}

/* The formula of the header for Jaccard's measure is the general one. */
static void jaccard_has_its_formula(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < CASES; i++) {
        const sets *s = &cases[i];
        occupancy o = { .bits = s->bits, .hashes = s->hashes };
        similar_sizes t = true_sizes(s);
        double j = s->both / t.keys_or;
        double square = ((1 + j) * (1 + j) * variance_of(&o, t.keys_or) -
                         (1 + 2 * j) * (variance_of(&o, t.keys_a) + variance_of(&o, t.keys_b)) +
                         2 * variance_of(&o, s->both)) /
                        (t.keys_or * t.keys_or);
        double found = similar_deviation(&o, SIMILAR_JACCARD, &t);

        assert_true(fabs(found * found - square) <= 1e-12);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_hold_the_truth),
        cmocka_unit_test(deviations_are_right),
        cmocka_unit_test(jaccard_has_its_formula),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
