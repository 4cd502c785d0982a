/* What theory says in tamis lab: known answers, and bounds that hold. */
#include <math.h>

#include "../../chance.c"
#include "check.h"

static void assert_near(double found, double wanted, double relative)
{
    if (!(fabs(found - wanted) <= relative * wanted))
        fail_msg("%.17g is not %.17g", found, wanted);
}

/* Of an even number of degrees it is a sum of Poisson's law; of one, the error function. */
static void chi_square_is_what_it_is_made_of(void **state)
{
    (void)state;
    for (unsigned half = 1; half <= 600; half += half < 10 ? 1 : 59)
        for (double x = 0.01; x < 2500; x *= 1.3) {
            double sum = 0;

            for (uint64_t i = 0; i < half; i++)
                sum += chance_poisson(i, x / 2);
            if (sum > 1e-290)
                assert_true(fabs(chance_chi_square(x, 2 * half) - sum) <= 1e-9 * sum + 1e-12);
        }
    for (double x = 0.01; x < 1000; x *= 1.3)
        assert_true(fabs(chance_chi_square(x, 1) - erfc(sqrt(x / 2))) <= 1e-9);
}

/* The tables of textbooks. */
static void chi_square_has_known_quantiles(void **state)
{
    const struct {
        double degrees, x, above;
    } known[] = {
        { 1, 3.841458820694124, 0.05 },    { 2, 5.991464547107979, 0.05 },
        { 3, 11.344866730144373, 0.01 },   { 10, 18.307038053275146, 0.05 },
        { 10, 2.5582121601872062, 0.99 },  { 30, 43.77297182574219, 0.05 },
        { 100, 124.34211340400407, 0.05 }, { 100, 70.06489492539978, 0.99 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_near(chance_chi_square(known[i].x, known[i].degrees), known[i].above, 1e-8);
    assert_true(chance_chi_square(0, 5) == 1);
    assert_true(chance_chi_square(1e6, 5) < 1e-300);
}

/* Of coins, the counts outside have a chance that can be summed. */
static void means_of_coins_stay_inside(void **state)
{
    (void)state;
    for (double p = 0.01; p < 1; p += 0.07)
        for (uint64_t n = 1; n <= 3000; n = 3 * n + 1) {
            const double coin[] = { 1 - p, p };
            chance_range range = chance_means(coin, 2, n);
            double below = 0, above = 0;

            for (uint64_t x = 0; x <= n; x++) {
                double mean = (double)x / (double)n;
                below += mean < range.low ? chance_binomial(x, n, p) : 0;
                above += mean > range.high ? chance_binomial(x, n, p) : 0;
            }
            assert_true(below <= CHANCE_OUTSIDE / 2 && above <= CHANCE_OUTSIDE / 2);
            assert_true(range.low <= p && range.high >= p);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chi_square_is_what_it_is_made_of),
        cmocka_unit_test(chi_square_has_known_quantiles),
        cmocka_unit_test(means_of_coins_stay_inside),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
