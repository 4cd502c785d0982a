/* lab_counting.c - tamis lab counting: counters that stop, and removes that lose keys.
 *
 * After n keys of k hashes each, a counter of m was raised Binomial(nk, 1/m) times. Counters are
 * balls in bins: the more some have, the less others do. So how many have stopped has the bounds of
 * a sum of independent trials. */
#include <math.h>
#include <stdlib.h>

#include "lab.h"

typedef struct counting {
    lab lab;
    uint64_t n;
    uint64_t slots; /* counters per key */
    uint64_t *keys;
    lab_random random; /* of strangers */
} counting;

static tamis *fill(const counting *r, uint32_t width)
{
    tamis_spec spec = TAMIS_SPEC(.keys = r->n, .bits = r->n * r->slots, .counter_bits = width);
    tamis_plan plan = lab_plan(&r->lab, TAMIS_COUNTING, &spec);

    return lab_filter(&r->lab, &plan, r->keys, r->n);
}

static void row(const counting *r, const char *part, uint32_t width, uint64_t removes,
                double theory, chance_range range, double measured)
{
    LAB_ROW(&r->lab, lab_text(part), lab_count(width), lab_count(removes), lab_real(theory),
            LAB_BOUNDS(range, measured));
}

/* P(a counter is raised at least c times), of so many throws. */
static double reaches(const tamis_plan *p, uint64_t throws, uint64_t c)
{
    double below = 0;

    for (uint64_t x = 0; x < c; x++)
        below += chance_binomial(x, throws, 1 / (double)p->slots);
    if (below < 0.5)
        return 1 - below;
    below = 0; /* what is left is small: sum it instead */
    for (uint64_t x = c; x < c + 60; x++)
        below += chance_binomial(x, throws, 1 / (double)p->slots);
    return below;
}

/* ---- Overflow ---------------------------------------------------------- */

typedef struct overflow {
    chart_series *theory, *seen, *stay_theory, *stay;
} overflow;

static void show_stopped(const counting *r, overflow *o, const tamis *f, uint32_t width)
{
    const tamis_plan *p = tamis_plan_of(f);
    tamis_info info = { .size = sizeof info };
    double share = reaches(p, r->n * p->hashes, p->ceiling);
    chance_range range = chance_shares(chance_sums(p->slots, share, CHANCE_OUTSIDE), p->slots);

    tamis_get_info(f, &info);
    double stopped = (double)info.saturated / (double)p->slots;
    row(r, "stopped", width, 0, share, range, stopped);
    chart_put(o->theory, width, share);
    chart_put_range(o->seen, width, stopped, range.low, range.high);
}

/* How many of the keys are found. */
static double count_found(const counting *r, const tamis *f)
{
    uint64_t *hits = array_new(r->n / 64 + 1, sizeof *hits, "numbers");
    uint64_t found = tamis_has_many(f, hits, r->keys, (size_t)r->n);

    free(hits);
    return (double)found;
}

/* After every key was removed: a counter of one of them has stopped if others raised it to one
 * below the end. */
static void show_left(const counting *r, overflow *o, tamis *f, uint32_t width)
{
    const tamis_plan *p = tamis_plan_of(f);
    double stays = pow(reaches(p, (r->n - 1) * p->hashes, p->ceiling - 1), p->hashes);
    size_t removed;

    /* Keys whose counters have all stopped are still there, and so is a key that shares counters
     * with them: that is what is counted. */
    if (tamis_remove_many(f, &removed, r->keys, (size_t)r->n) == TAMIS_NOMEM)
        die(CODE_MEMORY, "lab counting: out of memory");
    double found = count_found(r, f) / (double)r->n;
    row(r, "left", width, r->n, stays, CHANCE_UNKNOWN, found);
    chart_put(o->stay_theory, width, stays);
    chart_put(o->stay, width, found);
}

static void show_widths(const counting *r)
{
    chart *c = lab_chart(&r->lab, "Wider counters stop less often", "bits of a counter", "share");
    overflow o = { chart_add(c, "counters that stop, theory", CHART_LINE),
                   chart_add(c, "counters, measured, with bounds of 99.9 %", CHART_DOTS),
                   chart_add(c, "keys still found when all are removed, theory", CHART_DASHES),
                   chart_add(c, "keys, measured", CHART_DOTS) };

    c->y = (chart_axis){ .label = "share", .is_log = true, .low = 1e-18, .high = 10 };
    for (uint32_t width = 1; width <= 5; width++) {
        tamis *f = fill(r, width);
        show_stopped(r, &o, f, width);
        show_left(r, &o, f, width);
        tamis_free(f);
    }
    lab_note(&r->lab,
             "Stopped: a counter of w bits stops for good at 2^w - 1, as nobody knows how often it "
             "was raised beyond. With four bits that is rare enough to be forgotten. Left: keys "
             "that are still found after all were removed, because all their counters have "
             "stopped. They are no false negatives, but they stay.");
}

/* ---- Removing strangers ------------------------------------------------ */

static uint64_t remove_strangers(tamis *f, lab_random *random, uint64_t n)
{
    uint64_t accepted = 0;

    while (n-- > 0)
        accepted += tamis_remove(f, lab_draw(random)) == TAMIS_OK;
    return accepted;
}

/* Each accepted remove lowers k counters above 0. One that was 1 becomes 0, and its only key is
 * lost. */
static double lost_by_each(const tamis_plan *p, double n)
{
    double mean = n * p->hashes / (double)p->slots;

    return p->hashes * mean * exp(-mean) / -expm1(-mean);
}

static void show_strangers(const counting *r)
{
    static const double SHARES[] = { 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1 };
    chart *c = lab_chart(&r->lab, "Removing keys that were never added loses others",
                         "strangers removed, as a share of the keys", "keys");
    chart_series *theory = chart_add(c, "lost, if each remove were the first", CHART_DASHES);
    chart_series *lost_seen = chart_add(c, "lost: false negatives", CHART_LINE_DOTS);
    chart_series *accepted_seen = chart_add(c, "removes that were accepted", CHART_LINE_DOTS);
    lab_random random = r->random;
    uint64_t done = 0, accepted = 0;
    tamis *f = fill(r, 4);
    double n = (double)r->n, rate = lab_rate(f);

    c->x.is_log = c->y.is_log = true;
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
        const tamis_plan *p = tamis_plan_of(f);
        uint64_t end = (uint64_t)(SHARES[i] * n);
        double passes = (double)end * tamis_plan_rate(p, r->n);
        accepted += remove_strangers(f, &random, end - done);
        done = end;
        double lost = n - count_found(r, f), all = fmin(passes * lost_by_each(p, n), n);
        /* Counters only go down: no later remove is more likely to be accepted than the first. */
        row(r, "accepted", 4, end, passes, chance_counts(end, 0, rate, CHANCE_OUTSIDE),
            (double)accepted);
        row(r, "lost", 4, end, all, CHANCE_UNKNOWN, lost);
        chart_put(theory, SHARES[i], all);
        chart_put(lost_seen, SHARES[i], lost);
        chart_put(accepted_seen, SHARES[i], (double)accepted);
    }
    lab_note(&r->lab,
             "Accepted and lost: a stranger is removed if all its counters are above 0, a false "
             "positive. Each such remove takes %.2g keys with it, at first: those that alone had "
             "raised one of its counters. These are false negatives, the only ones there are.",
             lost_by_each(tamis_plan_of(f), n));
    tamis_free(f);
}

/* ---- Experiment -------------------------------------------------------- */

static void run(void *request)
{
    counting *r = request;

    r->random = lab_stream(&r->lab, 1);
    r->n = lab_choice(&r->lab, r->n, 200000, 20000);
    r->keys = lab_draw_keys(&r->random, r->n);
    lab_columns(&r->lab, "part width removes theory low high measured inside");
    show_widths(r);
    show_strangers(r);
    free(r->keys);
}

static const option_row options[] = {
    { 0, "keys", "N", "in the filter (default: 2e5)", TO_COUNT(counting, n, 1000, 10000000) },
    { 0, "counters", "C", "for each key (default: 10)", TO_COUNT(counting, slots, 2, 64) },
    { 0 },
};

LAB_EXPERIMENT(counting, LAB_NEEDS(TAMIS_COUNTING), .slots = 10);
