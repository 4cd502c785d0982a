/* The bounds that other tests rest on, against values known from elsewhere. */
#include "check.h"

/* Lowest and highest count accepted at one tail of 1e-9 each, which is alpha = 2e-9. */
static void assert_bounds(uint64_t n, double p, uint64_t low, uint64_t high)
{
    assert_false(binomial_fits_at(low - 1, n, p, 2e-9));
    assert_true(binomial_fits_at(low, n, p, 2e-9));
    assert_true(binomial_fits_at(high, n, p, 2e-9));
    assert_false(binomial_fits_at(high + 1, n, p, 2e-9));
}

static void binomial_bounds_match_known_tables(void **state)
{
    (void)state;
    assert_bounds(1000000, 0.1, 98205, 101804);
    assert_bounds(1000000, 0.01, 9409, 10602);
    assert_bounds(10000000, 0.01, 98119, 101893);
    assert_bounds(10000000, 0.001, 9406, 10605);
    assert_bounds(10000000, 1e-4, 816, 1195);
    assert_bounds(10000000, 1.0 / 65536, 85, 232);
}

static double choose(int n, int x)
{
    double c = 1;

    for (int i = 0; i < x; i++)
        c = c * (n - i) / (i + 1);
    return c;
}

static void binomial_tail_is_the_sum_of_its_terms(void **state)
{
    (void)state;
    for (int n = 1; n <= 30; n++)
        for (int x = 0; x <= n; x++) {
            double p = 0.3, sum = 0;
            int from = x > n * p ? x : 0, to = x > n * p ? n : x;

            for (int i = from; i <= to; i++)
                sum += choose(n, i) * pow(p, i) * pow(1 - p, n - i);
            assert_true(is_near(binomial_tail((uint64_t)x, (uint64_t)n, p), sum, 1e-12));
        }
}

static void certain_rates_accept_only_certain_counts(void **state)
{
    (void)state;
    assert_true(binomial_fits(0, 1000, 0));
    assert_false(binomial_fits(1, 1000, 0));
    assert_true(binomial_fits(1000, 1000, 1));
    assert_false(binomial_fits(999, 1000, 1));
}

/* With two degrees of freedom the tail is exp(-x / 2); with one, erfc(sqrt(x / 2)). */
static void chi_square_matches_closed_forms(void **state)
{
    (void)state;
    for (double x = 0.25; x < 100; x += 0.25) {
        assert_true(is_near(chi_square_tail(x, 2), exp(-x / 2), 1e-9));
        assert_true(is_near(chi_square_tail(x, 1), erfc(sqrt(x / 2)), 1e-9));
    }
}

static void uneven_and_too_even_counts_are_refused(void **state)
{
    uint64_t even[256], uneven[256], random[256] = { 0 };
    rng r = rng_for(1, 0);

    (void)state;
    for (int i = 0; i < 256; i++) {
        even[i] = 1000;
        uneven[i] = i < 128 ? 800 : 1200;
    }
    for (int i = 0; i < 256000; i++)
        random[rng_next(&r) % 256]++;
    assert_false(evenly_spread(even, 256, ALPHA));
    assert_false(evenly_spread(uneven, 256, ALPHA));
    assert_true(evenly_spread(random, 256, ALPHA));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binomial_bounds_match_known_tables),
        cmocka_unit_test(binomial_tail_is_the_sum_of_its_terms),
        cmocka_unit_test(certain_rates_accept_only_certain_counts),
        cmocka_unit_test(chi_square_matches_closed_forms),
        cmocka_unit_test(uneven_and_too_even_counts_are_refused),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
