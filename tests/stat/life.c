/* life.c - rates through the life of a filter: as it fills, grows, merges, shrinks and forgets.
 *
 * Whatever was done to a filter, two things are promised of its rate. tamis_get_info() reads it off
 * the payload: given the filter, each stranger is an independent trial at that rate.
 * tamis_plan_rate() works it out from the plan that the filter has now and the number of its keys:
 * it is the mean over filters of that plan. */
#include "core/plan.h"
#include "kinds.h"

static const double FPRS[] = { 0.5, 0.1, 0.01 };

enum { N_FPRS = sizeof FPRS / sizeof *FPRS, CHUNK = 1024 };

/* As in rate.c: beyond it, the mean of many values is less than once in 10^10 times. */
static const double MEAN_SIGMAS = 6.5;

/* ---- Lives ------------------------------------------------------------- */

/* What a filter is planned for, and what comes of it. */
typedef struct life {
    const char *says;
    tamis *(*live)(const struct life *l, const tamis_plan *p, rng *r);
    size_t planned, held; /* keys: at the start, and in the end */
    unsigned can;
    uint64_t grow_to; /* the rate that was asked for holds up to there */
} life;

/* False: it is full, as fingerprints that have given all their bits to growth are. */
static bool add_fresh(tamis *f, rng *r, size_t n)
{
    uint64_t *keys = fresh_keys(r, n);
    size_t added;
    tamis_status status = tamis_add_many(f, &added, keys, n);

    assert_true(status == TAMIS_OK || (status == TAMIS_FULL && grows(&f->plan)));
    free(keys);
    return status == TAMIS_OK;
}

/* For lives that end early. */
static tamis *none_of(tamis *f)
{
    tamis_free(f);
    return NULL;
}

/* With values, or others to be told from the keys, where the kind wants them. */
static tamis *life_built(const life *l, const tamis_plan *p, rng *r)
{
    const size_t n = l->held, m = l->planned;
    uint64_t *keys = fresh_keys(r, n), *more = fresh_keys(r, m > n ? m : n);
    const unsigned can = tamis_kind_can(p->kind);
    tamis_status status;
    tamis *f = NULL;

    for (size_t i = 0; i < n && can & TAMIS_CAN_GET; i++)
        more[i] %= 2;
    if (can & TAMIS_CAN_GET)
        status = tamis_build_map(&f, p, keys, more, n, NULL);
    else if (can & TAMIS_CAN_EXCLUDE)
        status = tamis_build_excluding(&f, p, keys, n, more, m, NULL);
    else
        status = tamis_build(&f, p, keys, n, NULL);
    assert_int_equal(status, TAMIS_OK);
    free(keys);
    free(more);
    return f;
}

/* One by one, so that it grows where it can. */
static tamis *life_added(const life *l, const tamis_plan *p, rng *r)
{
    tamis *f = new_filter(p);

    return add_fresh(f, r, l->held) ? f : none_of(f);
}

static tamis *life_merged(const life *l, const tamis_plan *p, rng *r)
{
    tamis *f = new_filter(p), *g = new_filter(p);

    bool done = add_fresh(f, r, l->held / 2) && add_fresh(g, r, l->held - l->held / 2);
    if (done)
        assert_int_equal(tamis_combine(f, TAMIS_MERGE, g), TAMIS_OK);
    tamis_free(g);
    return done ? f : none_of(f);
}

/* By the smallest factor there is. */
static tamis *life_folded(const life *l, const tamis_plan *p, rng *r)
{
    tamis *f = life_added(l, p, r), *folded = NULL;

    for (uint64_t by = 2; !folded && by < 64; by++)
        if (tamis_fold(&folded, f, by, NULL) != TAMIS_OK)
            folded = NULL;
    tamis_free(f);
    return folded;
}

static tamis *life_resized(const life *l, const tamis_plan *p, rng *r)
{
    tamis *f = new_filter(p);

    assert_true(add_fresh(f, r, l->held / 2));
    if (tamis_resize(f, 2 * l->held) == TAMIS_RANGE)
        return none_of(f);
    assert_true(add_fresh(f, r, l->held - l->held / 2));
    assert_int_equal(tamis_resize(f, l->held), TAMIS_OK);
    return f;
}

/* All keys are replaced, a tenth at a time, three times. */
static tamis *life_of_change(const life *l, const tamis_plan *p, rng *r)
{
    const size_t n = l->held, step = n / 10;
    rng old = *r; /* the keys again, as they came */
    tamis *f = new_filter(p);
    size_t removed;

    if (!add_fresh(f, r, n))
        return none_of(f);
    for (size_t i = 0; i < 3 * n; i += step) {
        uint64_t *keys = fresh_keys(&old, step);
        assert_int_equal(tamis_remove_many(f, &removed, keys, step), TAMIS_OK);
        free(keys);
        assert_true(add_fresh(f, r, step));
    }
    return f;
}

static tamis *life_rotated(const life *l, const tamis_plan *p, rng *r)
{
    tamis *f = new_filter(p);

    for (int i = 0; i < 20; i++) {
        add_fresh(f, r, l->held / 8 + 1);
        assert_int_equal(tamis_rotate(f), TAMIS_OK);
    }
    return f;
}

/* ---- Rates ------------------------------------------------------------- */

typedef struct rates {
    double told, square, planned; /* sums over filters */
    uint64_t hits, probes, filters;
} rates;

static void rates_take(rates *x, const tamis *f, const life *l, size_t probes, rng *r)
{
    uint64_t keys[CHUNK], hits[CHUNK / 64];
    double told = info_of(f).fpr;

    for (size_t done = 0, n; done < probes; done += n) {
        n = probes - done < CHUNK ? probes - done : CHUNK;
        for (size_t i = 0; i < n; i++)
            keys[i] = rng_next(r);
        x->hits += tamis_has_many(f, hits, keys, n);
    }
    x->probes += probes;
    x->filters++;
    x->told += told;
    x->square += told * told;
    x->planned += tamis_plan_rate(&f->plan, l->held);
}

/* A sum of trials with unequal rates spreads less than as many with their mean rate (Hoeffding
 * 1956). */
static void assert_told(const rates *x)
{
    double told = x->told / (double)x->filters;

    if (!binomial_fits(x->hits, x->probes, told))
        fail_msg("%llu of %llu strangers hit, %.4g; told %.4g", (unsigned long long)x->hits,
                 (unsigned long long)x->probes, (double)x->hits / (double)x->probes, told);
}

/* The mean of the rates told. What none of n filters has shown, such as two keys of few that meet,
 * is rarer than -log(ALPHA) / n, and a key more or less. */
static void assert_mean(const rates *x, const life *l, double low, double high)
{
    double n = (double)x->filters, told = x->told / n;
    double sd = sqrt(fmax(0, x->square / n - told * told));
    double unseen = -log(ALPHA) / n * high / (double)l->held;
    double error = MEAN_SIGMAS * sd / sqrt(n) + unseen;

    if (told > high + error || told < low - error)
        fail_msg("mean rate %.6g, not between %.6g and %.6g, tolerance %.2g", told, low, high,
                 error);
}

static void assert_rates(const rates *x, const tamis_plan *p, const life *l, double fpr)
{
    const bool removes = l->can & TAMIS_CAN_REMOVE, has_marks = removes && keeps_marks(p->kind);
    double planned = x->planned / (double)x->filters, low = planned, high = planned;

    assert_told(x);
    bool is_promised = l->held <= l->planned || l->held <= l->grow_to ||
                       (l->can & TAMIS_CAN_GROW && tamis__plan_keeps_rate(p));
    if (is_promised && !(l->can & TAMIS_CAN_FOLD) && !has_marks)
        assert_mean(x, l, 0, fpr);
    /* Where keys are forgotten, or a filter has grown, the plan does not know when keys came. */
    if (tamis_kind_can(p->kind) & TAMIS_CAN_ROTATE || l->can & TAMIS_CAN_GROW)
        low = 0;
    if (removes && tells_keys_apart(p->kind))
        low = 0;
    if (has_marks)
        high = 2 * planned;
    else if (removes && p->ceiling != UINT64_MAX)
        high = 1; /* keys that have come to the ceiling stay */
    assert_mean(x, l, low, high);
}

static void live_at(tamis_kind kind, const life *l, double fpr, uint64_t round)
{
    /* Large filters differ less, and take more time. */
    const size_t small = run_size(50, 8, 1000), filters = 600 * small / (l->held + 600) + 6;
    const size_t probes = run_size(130000, 6000, 2000000) / filters / (is_slow(kind) ? 16 : 1);
    tamis_spec spec = spec_for(l->planned, fpr, 0);
    rng r = rng_for(2000 + (uint64_t)kind, round);
    tamis_plan plan;
    rates x = { 0 };

    spec.can = l->can & (TAMIS_CAN_GROW | TAMIS_CAN_REMOVE);
    spec.grow_to = l->grow_to;
    spec.value_bits = tamis_kind_can(kind) & TAMIS_CAN_GET ? 1 : 0;
    spec.universe = tamis_kind_can(kind) & TAMIS_CAN_EXCLUDE ? 2 * l->planned : 0;
    snprintf(law_at, sizeof law_at, "%s: %zu keys planned at %g, %zu held", l->says, l->planned,
             fpr, l->held);
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    for (size_t i = 0; i < filters; i++) {
        plan.hasher.seed = rng_next(&r);
        tamis *f = l->live(l, &plan, &r);
        assert_true(f || !l->grow_to);
        if (f)
            rates_take(&x, f, l, probes, &r);
        tamis_free(f);
    }
    if (x.filters)
        assert_rates(&x, &plan, l, fpr);
}

static void rates_hold_through_life(tamis_kind kind)
{
    const unsigned GROW = TAMIS_CAN_ADD | TAMIS_CAN_GROW;
    const unsigned MERGE = TAMIS_CAN_ADD | TAMIS_CAN_MERGE, ADD = TAMIS_CAN_ADD;
    const life lives[] = {
        { "first key", life_built, 1000, 1, 0, 0 },
        { "few keys", life_built, 1000, 30, 0, 0 },
        { "half full", life_built, 1000, 500, 0, 0 },
        { "full", life_added, 200, 200, ADD, 0 },
        { "grown from one", life_added, 1, 1000, GROW, 0 },
        { "grown 10 times", life_added, 1000, 10000, GROW, 0 },
        { "grown 100 times", life_added, 100, 10000, GROW, 0 },
        { "grown 1000 times", life_added, 20, 20000, GROW, 0 },
        { "grown to a third of the size asked for", life_added, 100, 2100, GROW, 6400 },
        { "grown to the size asked for", life_added, 100, 6400, GROW, 6400 },
        { "grown to it from a key", life_added, 1, 6400, GROW, 6400 },
        { "grown to it from any number", life_added, 0, 6400, GROW, 6400 },
        { "merged to the size asked for", life_merged, 500, 3200, MERGE | GROW, 3200 },
        { "merged", life_merged, 500, 500, MERGE, 0 },
        { "grown and merged", life_merged, 50, 500, MERGE | GROW, 0 },
        { "folded", life_folded, 500, 500, ADD | TAMIS_CAN_FOLD, 0 },
        { "resized", life_resized, 500, 500, ADD | TAMIS_CAN_RESIZE, 0 },
        { "keys come and go", life_of_change, 500, 500, ADD | TAMIS_CAN_REMOVE, 0 },
        { "grown, keys come and go", life_of_change, 50, 500, GROW | TAMIS_CAN_REMOVE, 0 },
        { "rotated", life_rotated, 500, 500, ADD | TAMIS_CAN_ROTATE, 0 },
    };

    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        for (int p = 0; p < N_FPRS; p++)
            if ((tamis_kind_can(kind) & lives[i].can) == lives[i].can)
                live_at(kind, &lives[i], FPRS[p], 10 * i + (uint64_t)p);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "rates hold through life", rates_hold_through_life, .cannot = TAMIS_IS_EXACT },
    };

    test_begin(argc, argv);
    return check_laws_of_all(laws, sizeof laws / sizeof *laws);
}
