/* Advice: costs are what the formula says, and no kind or rate is cheaper than what is advised. */
#include "advice/advise.h"
#include "kinds.h"
#include "limited_allocator.h"

enum { MOST = TAMIS_SPEEDS_MAX + 1 };

static tamis_plan plan_at(double fpr)
{
    tamis_plan p = plan_for(TAMIS_BLOOM, 2000, 0.01, 1);

    p.fpr = fpr;
    return p;
}

static tamis_advice cost_of(const tamis_plan *p, const tamis_use *use)
{
    tamis_advice a;

    assert_true(tamis__advise_cost(&a, p, use));
    return a;
}

static tamis_advice cost_without(const tamis_use *use)
{
    const tamis_plan nothing = { .kind = TAMIS_NO_KIND };

    return cost_of(&nothing, use);
}

/* ---- Worked example ---------------------------------------------------- */

/* 102,000 URLs a year, 2,000 of them malicious; filter 1 ms, database 500 ms, 3 % of the others
 * pass: 25.5 ms on average instead of 500 ms. */
static void v9_a_filter_before_a_database(void **state)
{
    tamis_use use = TAMIS_USE(.queries = 102000, .member_share = 2000 / 102000.0, .store_cost = 500,
                              .probe_cost = 1);
    tamis_plan p = plan_at(0.03);
    tamis_advice with = cost_of(&p, &use), without = cost_without(&use);

    (void)state;
    assert_true(
        is_near(with.total / 102000, 1 + (100000 * 0.03 * 500 + 2000 * 500) / 102000.0, 1e-12));
    assert_true(fabs(with.total / 102000 - 25.5) < 0.05);
    assert_true(is_near(without.total / 102000, 500, 1e-12));
    assert_true(is_near(with.wrong, 100000 * 0.03 * 500, 1e-12));
    assert_true(is_near(with.found, 2000 * 500, 1e-12));
}

/* ---- Costs ------------------------------------------------------------- */

static double random_between(rng *r, double low, double high)
{
    return exp(log(low) + log(high / low) * (double)(rng_next(r) >> 11) * 0x1p-53);
}

static tamis_use random_use(rng *r)
{
    tamis_use use = TAMIS_USE(.queries = floor(random_between(r, 1, 1e12)));

    use.member_share = rng_below(r, 4) ? (double)rng_below(r, 1000) / 1000 : 0;
    use.store_cost = random_between(r, 1e-8, 10);
    use.memory_cost = rng_below(r, 4) ? random_between(r, 1e-3, 1e6) : 0;
    use.builds = (double)rng_below(r, 3);
    use.probe_cost = random_between(r, 1e-9, 1e-6);
    use.build_cost = random_between(r, 1e-9, 1e-6);
    return use;
}

static void costs_add_up(void **state)
{
    rng r = rng_for(180, 0);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        tamis_use u = random_use(&r);
        tamis_plan p = plan_at(random_between(&r, 1e-9, 0.9));
        tamis_advice a = cost_of(&p, &u), none = cost_without(&u);
        double to_store = u.member_share + (1 - u.member_share) * p.fpr;
        double total = u.queries * (u.probe_cost + to_store * u.store_cost) +
                       u.builds * 2000 * u.build_cost +
                       (double)p.bytes / 1073741824 * u.memory_cost;

        assert_true(is_near(a.total, total, 1e-12));
        assert_true(is_near(a.total, a.probes + a.found + a.wrong + a.builds + a.memory, 1e-12));
        assert_true(is_near(none.total, u.queries * u.store_cost, 1e-12));
        assert_true(none.total == none.found && none.wrong == 0 && none.probes == 0);
    }
}

/* At the two turning points, with and without cost the same. */
static void a_filter_is_worth_it_up_to_where_it_says(void **state)
{
    rng r = rng_for(181, 0);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        tamis_use u = random_use(&r), at = u;
        tamis_plan p = plan_at(random_between(&r, 1e-9, 0.9));
        tamis_advice a = cost_of(&p, &u);

        if (isfinite(a.worth_from)) {
            at.store_cost = a.worth_from;
            assert_true(is_near(cost_of(&p, &at).total, cost_without(&at).total, 1e-9));
        }
        at = u;
        at.member_share = a.worth_below;
        if (a.worth_below > 0)
            assert_true(is_near(cost_of(&p, &at).total, cost_without(&at).total, 1e-9));
        assert_int_equal(a.total<cost_without(&u).total, u.store_cost> a.worth_from);
        assert_int_equal(a.total < cost_without(&u).total, u.member_share < a.worth_below);
    }
}

/* ---- The best of all --------------------------------------------------- */

/* Of one kind, over all rates: in steps that are finer than those of the library. */
static double least_of_kind(tamis_kind kind, const tamis_spec *spec, const tamis_use *use)
{
    double least = INFINITY, step = 1.0 / (double)run_size(8, 2, 16);

    for (double bits = step; bits < 64; bits += step) {
        tamis_spec s = *spec;
        tamis_plan p;
        tamis_advice a;

        s.fpr = exp2(-bits);
        if (!tamis_plan_kind(&p, kind, &s) && tamis__advise_cost(&a, &p, use))
            least = fmin(least, a.total);
    }
    return least;
}

static void assert_best(const tamis_spec *spec, const tamis_use *use)
{
    tamis_advice options[MOST];
    size_t n = tamis_advise(options, MOST, spec, use);
    double without = cost_without(use).total, least = without;

    assert_true(n >= 2 && n <= MOST);
    for (size_t i = 0; i < n; i++) {
        tamis_kind kind = options[i].plan.kind;
        double of_kind = kind ? least_of_kind(kind, spec, use) : without;
        assert_true(options[i].total <= of_kind * 1.01);
        least = fmin(least, of_kind);
        assert_true(i == 0 || options[i - 1].total <= options[i].total);
        assert_true(!spec->max_bytes || options[i].plan.bytes <= spec->max_bytes);
    }
    assert_true(options[0].total <= least * 1.01);
}

/* Within a percent of the best that exhaustive search finds with the same costs: the rest is what
 * steps of a sixteenth of a bit leave. */
static void no_kind_and_no_rate_is_cheaper(void **state)
{
    rng r = rng_for(182, 0);

    (void)state;
    for (size_t i = 0; i < run_size(6, 2, 40); i++) {
        tamis_use u = random_use(&r);
        tamis_spec spec = spec_for((uint64_t)random_between(&r, 1000, 1e9), 0, 1);

        u.memory_cost = random_between(&r, 1e-3, 1e6);
        if (i % 3 == 0)
            spec.max_bytes = (uint64_t)((double)spec.keys * random_between(&r, 0.5, 10)) + 1000;
        assert_best(&spec, &u);
    }
}

/* c keys price / (2^33 ln 2 queries store), with c = 1 / ln 2 for a Bloom filter. */
static void the_rate_is_near_the_closed_form(void **state)
{
    (void)state;
    for (double price = 1; price < 1e6; price *= 10) {
        tamis_spec spec = spec_for(10000000, 0, 1);
        tamis_use u = TAMIS_USE(.queries = 1e9, .store_cost = 1e-4, .memory_cost = price);
        double best = 1e7 * price / (0x1p33 * log(2) * log(2) * 1e9 * 1e-4);
        tamis_advice options[MOST];
        size_t n = tamis_advise(options, MOST, &spec, &u), i = 0;

        while (i < n && options[i].plan.kind != TAMIS_BLOOM)
            i++;
        assert_true(i < n);
        /* Hashes are whole numbers: a bit above or below may cost as much. */
        assert_true(options[i].plan.fpr > best / 2 && options[i].plan.fpr < best * 2);
    }
}

/* ---- What is an option ------------------------------------------------- */

static void no_filter_is_an_answer(void **state)
{
    tamis_spec spec = spec_for(1000000, 0.01, 1);
    tamis_use cheap = TAMIS_USE(.queries = 1e6, .store_cost = 1e-9, .probe_cost = 1e-8);
    tamis_use members =
        TAMIS_USE(.queries = 1e6, .member_share = 1, .store_cost = 1, .probe_cost = 1e-8);
    tamis_use few = TAMIS_USE(.queries = 10, .store_cost = 1e-3, .probe_cost = 1e-8, .builds = 1,
                              .build_cost = 1e-6);
    tamis_use dear =
        TAMIS_USE(.queries = 10, .store_cost = 1e-3, .probe_cost = 1e-8, .memory_cost = 1e6);
    const tamis_use *uses[] = { &cheap, &members, &few, &dear };

    (void)state;
    for (int i = 0; i < 4; i++) {
        tamis_advice options[MOST];
        assert_true(tamis_advise(options, MOST, &spec, uses[i]) > 1);
        assert_int_equal(options[0].plan.kind, TAMIS_NO_KIND);
    }
}

/* The rates that are asked for are kept, as are abilities; and what forgets, is for small integers
 * or is to study is no option unless it is asked for. */
static void wishes_are_obeyed(void **state)
{
    tamis_use u = TAMIS_USE(.queries = 1e9, .store_cost = 1e-3, .memory_cost = 1);
    tamis_spec rate = spec_for(5000, 0.02, 1), geometry = spec_for(5000, 0, 1), can = geometry;
    tamis_advice options[MOST];

    (void)state;
    geometry.bits = 40000;
    can.can = TAMIS_CAN_REMOVE;
    for (size_t i = 0, n = tamis_advise(options, MOST, &rate, &u); i < n; i++) {
        tamis_plan p;
        if (options[i].plan.kind) {
            assert_int_equal(tamis_plan_kind(&p, options[i].plan.kind, &rate), TAMIS_OK);
            assert_memory_equal(&p, &options[i].plan, sizeof p);
            assert_false(tamis_kind_can(p.kind) &
                         (TAMIS_CAN_ROTATE | TAMIS_IS_INDEXED | TAMIS_IS_TO_STUDY));
        }
    }
    for (size_t i = 0, n = tamis_advise(options, MOST, &geometry, &u); i < n; i++)
        assert_true(!options[i].plan.kind || has_trait(options[i].plan.kind, TAMIS_TRAIT_BITS));
    for (size_t i = 0, n = tamis_advise(options, MOST, &can, &u); i < n; i++)
        assert_true(!options[i].plan.kind ||
                    tamis_kind_can(options[i].plan.kind) & TAMIS_CAN_REMOVE);
    can.can = TAMIS_CAN_ROTATE;
    assert_true(tamis_advise(options, MOST, &can, &u) > 1);
    can.can = TAMIS_IS_TO_STUDY;
    assert_true(tamis_advise(options, MOST, &can, &u) > 1);
}

/* Without a price or a bound, the product of memory and total counts among filters that are worth
 * it. */
static void free_memory_is_not_wasted(void **state)
{
    tamis_spec spec = spec_for(100000, 0, 1);
    tamis_use u = TAMIS_USE(.queries = 1e6, .store_cost = 1e-3, .probe_cost = 1e-7);
    tamis_advice options[MOST];
    size_t n = tamis_advise(options, MOST, &spec, &u);

    (void)state;
    for (size_t i = 0; i + 1 < n; i++) {
        tamis_advice a = options[i], b = options[i + 1];
        assert_true(!a.plan.kind || a.plan.fpr <= 0.01);
        if (a.plan.kind && b.plan.kind)
            assert_true(a.plan.bytes <= b.plan.bytes); /* lookups cost the same */
    }
    assert_int_equal(options[n - 1].plan.kind, TAMIS_NO_KIND);
}

static void no_more_than_asked_is_filled(void **state)
{
    tamis_spec spec = spec_for(5000, 0.02, 1);
    tamis_use u = TAMIS_USE(.queries = 1e9, .store_cost = 1e-3, .memory_cost = 1);
    tamis_advice all[MOST], some[MOST], before;
    size_t n = tamis_advise(all, MOST, &spec, &u);

    (void)state;
    memset(&before, 0x33, sizeof before);
    for (size_t max = 0; max < n; max++) {
        for (size_t i = 0; i < MOST; i++)
            some[i] = before;
        assert_int_equal(tamis_advise(some, max, &spec, &u), n);
        for (size_t i = 0; i < max; i++)
            assert_true(some[i].total == all[i].total && some[i].plan.kind == all[i].plan.kind);
        assert_memory_equal(&some[max], &before, sizeof before);
    }
}

static void numbers_that_make_no_sense_are_refused(void **state)
{
    static const double wrong[] = { -1, -1e-300, NAN, INFINITY, -INFINITY, 1e19 };
    tamis_spec spec = spec_for(5000, 0.02, 1), bad = spec;
    tamis_use good = TAMIS_USE(.queries = 1, .store_cost = 1), u = good;
    double *fields[] = { &u.queries, &u.member_share, &u.store_cost, &u.memory_cost,
                         &u.builds,  &u.probe_cost,   &u.build_cost };
    tamis_advice options[MOST];

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (size_t j = 0; j < sizeof wrong / sizeof *wrong; j++) {
            u = good;
            *fields[i] = wrong[j];
            assert_int_equal(tamis_advise(options, MOST, &spec, &u), 0);
        }
    u = good;
    u.member_share = 1.0000001;
    assert_int_equal(tamis_advise(options, MOST, &spec, &u), 0);
    u = good;
    u.size = ADVISE_USE - 1;
    assert_int_equal(tamis_advise(options, MOST, &spec, &u), 0);
    for (size_t j = 0; j < sizeof wrong / sizeof *wrong; j++) {
        bad.fpr = wrong[j];
        assert_int_equal(tamis_advise(options, MOST, &bad, &good), 0);
    }
}

/* ---- Machines ---------------------------------------------------------- */

/* One whose lookups take as many nanoseconds as the number of the kind, and ten times that in
 * memory; at the lower rate, twice as many. */
static tamis_machine machine_of(void)
{
    tamis_machine m = { .size = sizeof m, .hash = 1e-9 };

    for (int i = 0; i < TAMIS_READS; i++)
        m.reads[i] = i < 4 ? 1e-9 : 11e-9;
    for (tamis_kind k = first_plain(); k; k = next_plain(k)) {
        double ns = k * 1e-9;
        tamis_timing high = { 4, 1 << 18, 2 * ns, ns, ns, 10 * ns, 10 * ns };
        tamis_timing low = { 12, 1 << 18, 4 * ns, 2 * ns, 2 * ns, 20 * ns, 20 * ns };
        m.speeds[m.kinds++] = (tamis_speed){ k, { high, is_exact(k) ? high : low } };
    }
    return m;
}

static void times_are_found_between_those_that_were_measured(void **state)
{
    tamis_machine m = machine_of();
    tamis_plan p = { .kind = TAMIS_BLOOM, .fpr = 0x1p-8, .bytes = 1 << 10 };
    double absent, present, build;

    (void)state;
    assert_true(tamis__advise_times(&m, &p, &absent, &present, &build));
    assert_true(is_near(absent, 1.5 * TAMIS_BLOOM * 1e-9, 1e-9));
    assert_true(is_near(build, 3 * TAMIS_BLOOM * 1e-9, 1e-9));
    p.bytes = 1 << 30;
    assert_true(tamis__advise_times(&m, &p, &absent, &present, &build));
    assert_true(is_near(present, 15 * TAMIS_BLOOM * 1e-9, 1e-9));
    p.bytes = 1 << 22; /* half of the way from 2^21 to 2^23 */
    assert_true(tamis__advise_times(&m, &p, &absent, &present, &build));
    assert_true(is_near(present, (1.5 + 13.5 / 2) * TAMIS_BLOOM * 1e-9, 1e-9));
    p.fpr = 0x1p-60;
    assert_true(tamis__advise_times(&m, &p, &absent, &present, &build));
    assert_true(present > 15 * TAMIS_BLOOM * 1e-9);
    p.fpr = 0.9;
    p.bytes = 1;
    assert_true(tamis__advise_times(&m, &p, &absent, &present, &build));
    assert_true(is_near(absent, 0.5 * TAMIS_BLOOM * 1e-9, 0.05));
    p.kind = TAMIS_MAP;
    assert_false(tamis__advise_times(&m, &p, &absent, &present, &build));
}

/* Where nothing else counts, the fastest kind is first; kinds that were not measured are none. */
static void measured_times_decide(void **state)
{
    tamis_machine m = machine_of();
    tamis_spec spec = spec_for(1000, 0.01, 1);
    tamis_use u = TAMIS_USE(.queries = 1e9, .store_cost = 1e-6, .memory_cost = 1e-9, .machine = &m);
    tamis_advice options[MOST];
    size_t n = tamis_advise(options, MOST, &spec, &u);

    (void)state;
    assert_true(n > 10);
    assert_int_equal(options[0].plan.kind, TAMIS_HASHSET);
    m.kinds = 5;
    assert_true(tamis_advise(options, MOST, &spec, &u) <= 6);
    m.kinds = TAMIS_SPEEDS_MAX + 1;
    assert_int_equal(tamis_advise(options, MOST, &spec, &u), 0);
    m = machine_of();
    m.speeds[3].at[1].absent = NAN;
    assert_int_equal(tamis_advise(options, MOST, &spec, &u), 0);
}

/* ---- Measuring --------------------------------------------------------- */

static double ticking(void *ctx)
{
    return *(double *)ctx += 1e-6;
}

/* Without memory it says so and gives back what it had. The whole is run by cli.plan_advice. */
static void measuring_needs_memory(void **state)
{
    static const uint64_t limits[] = { 0, 8 << 20, 140 << 20 }; /* the last is for no filter */
    static tamis_machine m, before;
    double time = 0;

    (void)state;
    m.size = sizeof m;
    before = m;
    for (size_t i = 0; i < run_size(3, 2, 3); i++) {
        limited_allocator p = { .limit = limits[i] };
        const tamis_allocator a = allocator_of(&p);

        assert_int_equal(tamis_calibrate(&m, ticking, &time, &a), TAMIS_NOMEM);
        assert_memory_equal(&m, &before, sizeof m);
        assert_true(p.live == 0 && p.is_overdrawn);
    }
    m.size = 8;
    assert_int_equal(tamis_calibrate(&m, ticking, &time, NULL), TAMIS_RANGE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v9_a_filter_before_a_database),
        cmocka_unit_test(costs_add_up),
        cmocka_unit_test(a_filter_is_worth_it_up_to_where_it_says),
        cmocka_unit_test(no_kind_and_no_rate_is_cheaper),
        cmocka_unit_test(the_rate_is_near_the_closed_form),
        cmocka_unit_test(no_filter_is_an_answer),
        cmocka_unit_test(wishes_are_obeyed),
        cmocka_unit_test(free_memory_is_not_wasted),
        cmocka_unit_test(no_more_than_asked_is_filled),
        cmocka_unit_test(numbers_that_make_no_sense_are_refused),
        cmocka_unit_test(times_are_found_between_those_that_were_measured),
        cmocka_unit_test(measured_times_decide),
        cmocka_unit_test(measuring_needs_memory),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
