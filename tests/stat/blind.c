/* blind.c - what it costs to remove keys that were never added: of kinds that keep a copy for each
 * key, as many members are missing afterwards as the formula of docs/filters/cuckoo.md tells, and
 * none where removes are exact. */
#include "kinds.h"

enum { MOST_CEILING = 7 };

static size_t members(void)
{
    return 1000000;
}

static double poisson(double mean, unsigned k)
{
    return exp(k * log(mean) - mean - lgamma(k + 1.0));
}

static double poisson_at_least(double mean, unsigned k)
{
    double below = 0;

    for (unsigned i = 0; i < k; i++)
        below += poisson(mean, i);
    return 1 - below;
}

/* Keys that share all that a filter knows of them. Strangers are found if their class has a member;
 * this is where the rate comes from. */
static double classes_of(const tamis_plan *p, double n)
{
    return -1 / expm1(log1p(-tamis_plan_rate(p, (uint64_t)n)) / n);
}

/* A class of k members loses them all with the k-th remove, and none before. */
static double expected_losses(double n, double d, double classes)
{
    enum { MANY = 20 }; /* no class has as many */
    double lost = 0;

    for (unsigned k = 1; k < MANY; k++)
        lost += k * poisson(n / classes, k) * poisson_at_least(d / classes, k);
    return classes * lost;
}

static uint64_t remove_each(tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t removed = 0;

    for (size_t i = 0; i < n; i++) {
        tamis_status status = tamis_remove(f, keys[i]);
        assert_true(status == TAMIS_OK || status == TAMIS_ABSENT);
        removed += status == TAMIS_OK;
    }
    return removed;
}

static uint64_t missing_from(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t missing = 0;

    for (size_t i = 0; i < n; i++)
        missing += !tamis_has(f, keys[i]);
    return missing;
}

static void strangers_take_members_along(tamis_kind kind, double fpr)
{
    size_t n = members();
    rng r = rng_for(5000 + (uint64_t)kind, (uint64_t)(1 / fpr));
    tamis_plan plan = plan_for(kind, n, fpr, rng_next(&r));
    uint64_t *keys = fresh_keys(&r, 2 * n);
    tamis *f = new_filter(&plan);

    add_all(f, keys, n);
    uint64_t removed = remove_each(f, keys + n, n), lost = missing_from(f, keys, n);
    double wanted = expected_losses((double)n, (double)n, classes_of(&plan, (double)n));
    snprintf(law_at, sizeof law_at, "%s, fpr %g: %llu removed, %llu missing, %.0f expected",
             tamis_kind_name(kind), fpr, (unsigned long long)removed, (unsigned long long)lost,
             wanted);
    print_message("%s\n", law_at);
    assert_true(is_near((double)lost, wanted, 0.05));
    assert_true(is_whole(f));
    free(keys);
    tamis_free(f);
}

static void strangers_are_taken_for_members(tamis_kind kind)
{
    tamis_plan plan = plan_for(kind, 100, 0.01, 0);

    if (plan.ceiling > MOST_CEILING)
        return;
    strangers_take_members_along(kind, 0.05);
    strangers_take_members_along(kind, 0.01);
}

/* ---- Exact deletes ----------------------------------------------------- */

static void strangers_are_refused(tamis_kind kind)
{
    size_t n = members();
    rng r = rng_for(5100 + (uint64_t)kind, 0);
    tamis_spec spec = spec_for(n, 0.01, rng_next(&r));
    tamis_plan plan;

    spec.can = TAMIS_CAN_EXACT_DELETE;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    uint64_t *keys = fresh_keys(&r, 2 * n);
    tamis *f = new_filter(&plan);
    add_all(f, keys, n);
    assert_int_equal(remove_each(f, keys + n, n), 0);
    assert_int_equal(missing_from(f, keys, n), 0);
    assert_int_equal(info_of(f).count, n);
    free(keys);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const unsigned COPIES = TAMIS_CAN_ADD | TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    const law laws[] = {
        { "strangers are taken for members", strangers_are_taken_for_members, .can = COPIES },
        { "strangers are refused", strangers_are_refused, .can = COPIES | TAMIS_CAN_EXACT_DELETE },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
