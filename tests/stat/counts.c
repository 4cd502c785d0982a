/* counts.c - how far the counts of sketches are off: never below the truth, and above it by more
 * than the error planned no more often than planned. Over a thousand seeds, with exact bounds. And
 * how often counts of kinds that are planned for so many keys are off at all. */
#include "kinds.h"

enum { SEEDS = 1000, UNIVERSE = 4096 };

static tamis_plan error_plan(tamis_kind kind, double error, double chance, unsigned can)
{
    tamis_spec spec = spec_for(0, chance, 0);
    tamis_plan plan;

    spec.error = error;
    spec.can = can;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    assert_true(plan.error <= error);
    return plan;
}

/* At most as often as planned: one side of the binomial bound. */
static void assert_seldom(uint64_t seen, uint64_t of, double chance)
{
    if ((double)seen > (double)of * chance && !binomial_fits(seen, of, chance))
        fail_msg("%llu of %llu counts too far off, planned for %.4g of them",
                 (unsigned long long)seen, (unsigned long long)of, chance);
}

static void assert_as_often(uint64_t seen, uint64_t of, double chance)
{
    if (!binomial_fits(seen, of, chance))
        fail_msg("%llu of %llu counts too far off, expected %.4g of them", (unsigned long long)seen,
                 (unsigned long long)of, chance);
}

/* ---- Skewed streams ---------------------------------------------------- */

/* Key i comes about 1000 / i^s times, all from one seed in an order of its own; some twice in a
 * row, and by number. */
static uint64_t weight(rng *r, uint64_t i, double s)
{
    return 1 + (uint64_t)(2000 * pow((double)(i + 1), -s)) + rng_below(r, 2);
}

static uint64_t pour(tamis *f, uint64_t *truth, rng *r, double s, size_t adds)
{
    uint64_t all = 0;

    for (size_t i = 0; i < adds; i++) {
        uint64_t key = rng_below(r, UNIVERSE), times = weight(r, key, s);

        assert_int_equal(tamis_add_times(f, key, times), TAMIS_OK);
        truth[key] += times;
        all += times;
    }
    return all;
}

/* One key of each sketch, so that cases are independent; all keys are held to the truth. */
static bool is_off(const tamis *f, const uint64_t *truth, rng *r, uint64_t all)
{
    uint64_t probe = rng_below(r, UNIVERSE);
    double most = f->plan.error * (double)all;

    for (uint64_t key = 0; key < UNIVERSE; key++)
        assert_true(tamis_count(f, key) >= truth[key]);
    return (double)(tamis_count(f, probe) - truth[probe]) > most;
}

static bool one_stream_is_off(tamis_plan plan, rng *r, double s, bool merged)
{
    uint64_t truth[UNIVERSE] = { 0 }, all = 0;
    tamis *parts[2];

    plan.hasher.seed = rng_next(r);
    for (int i = 0; i <= merged; i++) {
        parts[i] = new_filter(&plan);
        all += pour(parts[i], truth, r, s, UNIVERSE / 4);
    }
    if (merged) {
        assert_int_equal(tamis_combine(parts[0], TAMIS_MERGE, parts[1]), TAMIS_OK);
        tamis_free(parts[1]);
    }
    assert_int_equal(info_of(parts[0]).count, all);
    bool off = is_off(parts[0], truth, r, all);
    tamis_free(parts[0]);
    return off;
}

static void counts_of_skewed_streams(tamis_kind kind)
{
    const double exponents[] = { 0.8, 1.1, 1.4 }, errors[] = { 0.05, 0.01 }, chance = 0.05;
    const size_t seeds = SEEDS;

    for (int variant = 0; variant < 12; variant++) {
        double s = exponents[variant % 3], error = errors[variant / 3 % 2];
        bool merged = variant >= 6;
        uint64_t off = 0;
        rng r = rng_for(2750 + (uint64_t)kind, (uint64_t)variant);

        for (int sums = 0; sums <= 1; sums++, off = 0) {
            tamis_plan plan = error_plan(kind, error, chance, sums ? TAMIS_CAN_DOT : 0);

            snprintf(law_at, sizeof law_at, "exponent %g, error %g, merged: %d, sums: %d", s, error,
                     merged, sums);
            for (size_t i = 0; i < seeds; i++)
                off += one_stream_is_off(plan, &r, s, merged);
            assert_seldom(off, seeds, chance);
        }
    }
}

/* ---- The worst streams ------------------------------------------------- */

/* As many keys as can be that each come more often than the error allows: whoever meets one of them
 * in each row is too far off, and nobody else is. That has the probability by which the rate of the
 * plan is defined, and comes close to what was asked for. */
static void counts_of_the_worst_streams(tamis_kind kind)
{
    const double chance = exp(-3);
    const size_t seeds = 20 * SEEDS;

    for (int sums = 0; sums <= 1; sums++) {
        tamis_plan plan = error_plan(kind, 0.02, chance, sums ? TAMIS_CAN_DOT : 0);
        uint64_t heavy = (uint64_t)ceil(1 / plan.error) - 1, off = 0;
        rng r = rng_for(2760 + (uint64_t)kind, (uint64_t)sums);

        snprintf(law_at, sizeof law_at, "%llu heavy keys, sums: %d", (unsigned long long)heavy,
                 sums);
        for (size_t i = 0; i < seeds; i++) {
            plan.hasher.seed = rng_next(&r);
            tamis *f = new_filter(&plan);
            for (uint64_t key = 0; key < heavy; key++)
                assert_int_equal(tamis_add_times(f, key, 1000), TAMIS_OK);
            double most = plan.error * 1000 * (double)heavy;
            off += (double)tamis_count(f, heavy + 1) > most;
            tamis_free(f);
        }
        assert_seldom(off, seeds, chance);
        assert_as_often(off, seeds, tamis_plan_rate(&plan, heavy));
    }
}

/* ---- Exact counts ------------------------------------------------------ */

/* Planned for so many keys instead, a count is the truth but at the rate: just as often as all
 * counters of a key are shared in kinds that keep sums, as those must that remove. Where each copy
 * takes a slot, there is one of each key. */
static void counts_are_exact_but_at_the_rate(tamis_kind kind)
{
    const size_t n = 200, seeds = 20 * SEEDS;
    const unsigned most = has_trait(kind, TAMIS_TRAIT_BUILDS_SETS) ? 1 : 7;
    tamis_plan plan = plan_for(kind, n, 0.05, 0);
    rng r = rng_for(2770 + (uint64_t)kind, 0);
    uint64_t wrong = 0;

    for (size_t i = 0; i < seeds; i++) {
        plan.hasher.seed = rng_next(&r);
        tamis *f = new_filter(&plan);
        for (uint64_t key = 0; key < n; key++)
            assert_int_equal(tamis_add_times(f, key, 1 + key % most), TAMIS_OK);
        uint64_t probe = rng_below(&r, n);
        assert_true(tamis_count(f, probe) >= 1 + (may_undercount(plan.kind) ? 0 : probe % most));
        wrong += tamis_count(f, probe) != 1 + probe % most;
        tamis_free(f);
    }
    assert_seldom(wrong, seeds, tamis_plan_rate(&plan, n - 1));
    if (counts_very_keys(kind))
        assert_int_equal(wrong, 0);
    else if (tamis_kind_can(kind) & TAMIS_CAN_REMOVE && !counts_vary(kind))
        assert_as_often(wrong, seeds, tamis_plan_rate(&plan, n - 1));
}

/* Sketches are what multiplies without fingerprints. */
int main(int argc, char **argv)
{
    const unsigned COUNTS = TAMIS_CAN_ADD | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE | TAMIS_CAN_DOT;
    const law laws[] = {
        { "counts of skewed streams", counts_of_skewed_streams, .can = COUNTS,
          .cannot = TAMIS_CAN_RESIZE },
        { "counts of the worst streams", counts_of_the_worst_streams, .can = COUNTS,
          .cannot = TAMIS_CAN_RESIZE },
        { "counts are exact but at the rate", counts_are_exact_but_at_the_rate,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_COUNT, .cannot = TAMIS_CAN_RESIZE | TAMIS_IS_EXACT },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
