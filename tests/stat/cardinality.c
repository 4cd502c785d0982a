/* cardinality.c - how many distinct keys, told from the payload alone.
 *
 * For a Bloom filter of m bits and k hashes the estimate -(m / k) ln(1 - ones / m) has the standard
 * deviation sqrt(m (e^t - t - 1)) / k at t = k n / m. Other kinds are held to their own spread. */
#include "kinds.h"

enum { FILTERS = 1000 };

typedef struct estimate {
    double mean, sd, worst; /* worst: the largest error of one filter */
} estimate;

static double one_estimate(tamis_plan *plan, rng *r, size_t n)
{
    plan->hasher.seed = rng_next(r);
    uint64_t *keys = fresh_keys(r, n);
    tamis *f = filter_of(plan, keys, n);
    double told = info_of(f).cardinality;

    /* Adding again changes nothing: these are distinct keys. */
    if (2 * n <= plan->capacity || tamis_kind_can(plan->kind) & TAMIS_CAN_READ_WHILE_ADD)
        add_all(f, keys, n);
    assert_true(info_of(f).cardinality == told);
    tamis_free(f);
    free(keys);
    return told;
}

static estimate estimate_of(tamis_plan plan, size_t n, uint64_t round)
{
    rng r = rng_for(1100 + (uint64_t)plan.kind, round);
    estimate e = { 0, 0, 0 };

    for (int i = 0; i < FILTERS; i++) {
        double error = one_estimate(&plan, &r, n) - (double)n;

        e.mean += error / FILTERS;
        e.sd += error * error / FILTERS;
        e.worst = fmax(e.worst, fabs(error));
    }
    e.sd = sqrt(e.sd - e.mean * e.mean);
    e.mean += (double)n;
    return e;
}

/* The estimate is not linear in the ones, so that its mean is off by about half of its variance
 * over n: allowed on top of the spread of the mean. */
static void assert_unbiased(const estimate *e, size_t n)
{
    double bias = e->sd * e->sd / (double)n + 0.5;

    if (fabs(e->mean - (double)n) > 6.5 * e->sd / sqrt(FILTERS) + bias)
        fail_msg("%zu keys: mean estimate %.2f, standard deviation %.2f", n, e->mean, e->sd);
}

static void estimates_are_near_the_truth(tamis_kind kind)
{
    const double loads[] = { 0.1, 0.5, 1, 1.5 };
    /* Below half the load, hardly two keys have one fingerprint: nothing that is nearly normal. */
    const bool sets_bits = tamis_kind_can(kind) & TAMIS_CAN_READ_WHILE_ADD;
    const double least = sets_bits ? 0.1 : 0.5, most = sets_bits ? 1.5 : 1;

    for (int i = 0; i < 4; i++) {
        if (loads[i] < least || loads[i] > most)
            continue;
        tamis_plan plan = plan_for(kind, 1000, 0.01, 0);
        size_t n = (size_t)(1000 * loads[i]);
        estimate e = estimate_of(plan, n, (uint64_t)i);

        snprintf(law_at, sizeof law_at, "load %g", loads[i]);
        assert_unbiased(&e, n);
        assert_true(e.sd < 0.05 * (double)n);
        assert_true(e.worst < 6.5 * e.sd + e.sd);
    }
}

/* (FILTERS - 1) s^2 / sigma^2 is chi-square: the sample's variance against the formula's. */
static void assert_sd(const estimate *e, double sd)
{
    double tail = chi_square_tail(FILTERS * e->sd * e->sd / (sd * sd), FILTERS - 1);

    if (tail < ALPHA / 2 || tail > 1 - ALPHA / 2)
        fail_msg("standard deviation %.3f, expected %.3f", e->sd, sd);
}

/* m = 8192, k = 6, n = 1000 gives 8.89. */
static void spread_of_a_bloom_filter(void **state)
{
    tamis_plan plan = plan_for(TAMIS_BLOOM, 1000, 0.01, 0);
    double t = 6 * 1000 / 8192.0, sd = sqrt(8192 * (exp(t) - t - 1)) / 6;

    (void)state;
    plan.slots = 8192;
    plan.hashes = 6;
    plan.bytes = tamis__ops(plan.kind)->bytes(&plan);
    estimate e = estimate_of(plan, 1000, 99);
    assert_true(fabs(sd - 8.89) < 0.005);
    assert_unbiased(&e, 1000);
    assert_sd(&e, sd);
    assert_true(e.worst < 7 * sd);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(spread_of_a_bloom_filter) };
    const law laws[] = {
        { "estimates are near the truth", estimates_are_near_the_truth,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_READ_WHILE_ADD, .cannot = TAMIS_IS_EXACT },
        { "estimates from fingerprints are near the truth", estimates_are_near_the_truth,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_RESIZE, .cannot = TAMIS_IS_EXACT | TAMIS_CAN_ADAPT },
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests) +
           check_laws(laws, sizeof laws / sizeof *laws);
}
