/* overlooked.c - tamis replicas: how many names that are missing pass the filters. */
#include "../../side.c"
#include "check.h"

enum { COMMON = 600, ONLY = 300, ROUNDS = 3 };

/* Keys from a sequence, in order: those that both sides have come first in it. */
static void fill_side(side *s, rng common, rng only)
{
    assert_true(side_make(s, COMMON + ONLY));
    for (size_t i = 0; i < s->n; i++) {
        s->keys[i] = rng_next(i < COMMON ? &common : &only);
        s->others[i] = s->keys[i] * UINT64_C(0x9e3779b97f4a7c15);
    }
}

typedef struct totals {
    uint64_t asked[ROUNDS], passed[ROUNDS];
    double rate;
} totals;

/* What is missing there and still in question, after each round. */
static void compare_once(totals *t, uint64_t seed, double fpr)
{
    side here, there;

    fill_side(&here, rng_for(810, seed), rng_for(811, seed));
    fill_side(&there, rng_for(810, seed), rng_for(812, seed));
    for (unsigned round = 0; round < ROUNDS; round++) {
        tamis *f;

        t->asked[round] += ONLY - here.n_missing;
        assert_int_equal(side_filter(&there, round + 1, fpr, &f), TAMIS_OK);
        t->rate = tamis_plan_of(f)->fpr;
        side_sift(&here, f);
        tamis_free(f);
        t->passed[round] += ONLY - here.n_missing;
    }
    for (size_t i = 0; i < COMMON; i++)
        assert_int_equal(here.states[i], SIDE_OPEN);
    side_free(&here);
    side_free(&there);
}

/* In every round as in the first: what one seed does says nothing of the next. */
static void as_many_as_the_rate_says(void **state)
{
    static const double RATES[] = { 0.3, 0.0625, 0.01 };

    (void)state;
    for (size_t i = 0; i < sizeof RATES / sizeof *RATES; i++) {
        totals t = { 0 };

        for (uint64_t seed = 0; seed < run_size(30, 3, 3000); seed++)
            compare_once(&t, seed, RATES[i]);
        for (int round = 0; round < ROUNDS; round++)
            if (!binomial_fits(t.passed[round], t.asked[round], t.rate))
                fail_msg("rate %g, round %d: %llu of %llu passed", t.rate, round + 1,
                         (unsigned long long)t.passed[round], (unsigned long long)t.asked[round]);
    }
}

/* Groups that are the same are settled, others are not, for every number of groups. */
static void groups_that_differ_stay_open(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 12; bits++) {
        uint64_t sums_here[1 << 12], sums_there[1 << 12];
        uint8_t differs[1 << 9] = { 0 };
        side here, there;

        fill_side(&here, rng_for(820, bits), rng_for(821, bits));
        fill_side(&there, rng_for(820, bits), rng_for(821, bits));
        there.keys[3] ^= UINT64_C(1) << 63;
        side_sum_groups(&here, bits, sums_here);
        side_sum_groups(&there, bits, sums_there);
        for (size_t i = 0; i < (size_t)1 << bits; i++)
            differs[i / 8] |= (uint8_t)((sums_here[i] != sums_there[i]) << i % 8);
        side_settle(&here, bits, differs);
        for (size_t i = 0; i < here.n; i++) {
            uint64_t group = bits ? here.keys[i] >> (64 - bits) : 0;
            uint64_t one = bits ? here.keys[3] >> (64 - bits) : 0;
            uint64_t other = bits ? there.keys[3] >> (64 - bits) : 0;

            assert_int_equal(here.states[i] == SIDE_OPEN, bits && (group == one || group == other));
        }
        side_free(&here);
        side_free(&there);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_the_rate_says),
        cmocka_unit_test(groups_that_differ_stay_open),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
