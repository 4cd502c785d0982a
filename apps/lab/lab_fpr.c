/* lab_fpr.c - tamis lab fpr: false positives of Bloom filters, measured and predicted. */
#include <math.h>
#include <stdlib.h>

#include "lab.h"

enum { OVER_HASHES = 1, OVER_BITS = 2, OVER_KEYS = 4, OVER_NOTHING = 8 };

typedef struct fpr {
    lab lab;
    tamis_kind kind;
    uint64_t keys, bits, probes;
    uint32_t hashes; /* 0: the best */
    unsigned over;
    chart_series *predicted, *measured; /* of the panel at hand */
} fpr;

/* ---- Theory ------------------------------------------------------------ */

static bool has_rows(const tamis_plan *p)
{
    return p->kind == TAMIS_PARTITIONED;
}

static chance_array array_of(const tamis_plan *p)
{
    return (chance_array){ p->slots, p->hashes, has_rows(p) };
}

/* What lectures print: (1 - e^(-kn/m))^k, and for rows (1 - (1 - 1/m)^n)^k. */
static double textbook(const tamis_plan *p, double n)
{
    double k = p->hashes;

    return pow(has_rows(p) ? chance_fill(array_of(p), n) : -expm1(-k * n / (double)p->slots), k);
}

/* With the best k, which is no integer. */
static double best_rate(double bits_per_key)
{
    return pow(0.5, bits_per_key * log(2));
}

/* ---- Measuring --------------------------------------------------------- */

/* Filters above this are measured at that many keys, with the same bits for each. One alone may
 * take longer than each of many. */
static uint64_t most_keys(const fpr *r)
{
    return r->lab.is_quick ? 50000 : r->over & OVER_NOTHING ? 10000000 : 1000000;
}

static double scale_of(const fpr *r)
{
    double most = (double)most_keys(r), n = (double)r->keys;

    return n > most ? most / n : 1;
}

static tamis_plan plan_of(const fpr *r, uint64_t keys, uint64_t bits, uint32_t hashes)
{
    tamis_spec spec = TAMIS_SPEC(.keys = keys, .bits = bits, .hashes = hashes);

    return lab_plan(&r->lab, r->kind, &spec);
}

static double measure(const fpr *r, const tamis_plan *plan, uint64_t n)
{
    lab_random random = lab_stream(&r->lab, 1);
    uint64_t *keys = lab_draw_keys(&random, n);
    tamis *f = lab_filter(&r->lab, plan, keys, n);
    uint64_t hits = lab_count_hits(f, &random, r->probes);

    tamis_free(f);
    free(keys);
    return (double)hits / (double)r->probes;
}

/* One filter: as planned, and as it is measured. Returns its measured rate. */
static double try_one(const fpr *r, const char *over, double x, const tamis_plan *plan, uint64_t n)
{
    double scale = scale_of(r);
    uint64_t bits = plan->slots * (has_rows(plan) ? plan->hashes : 1);
    uint64_t tried = (uint64_t)llround((double)n * scale);
    tamis_plan small =
        scale < 1 ? plan_of(r, tried, (uint64_t)llround((double)bits * scale), plan->hashes)
                  : *plan;
    chance_range range = chance_bloom(array_of(&small), tried, r->probes);
    double rate = measure(r, &small, tried), predicted = tamis_plan_rate(plan, n);

    LAB_ROW(&r->lab, lab_text(over), lab_count(n), lab_count(bits), lab_count(plan->hashes),
            lab_real(best_rate((double)bits / (double)n)), lab_real(textbook(plan, (double)n)),
            lab_real(predicted), lab_count(tried), LAB_BOUNDS(range, rate));
    chart_put(r->predicted, x, predicted);
    chart_put_range(r->measured, x, rate, range.low, range.high);
    return rate;
}

static void begin_panel(fpr *r, const char *title, const char *x)
{
    chart *c = lab_chart(&r->lab, title, x, "false positive rate");

    c->y.is_log = true;
    r->predicted = chart_add(c, "predicted", CHART_LINE_DOTS);
    r->measured = chart_add(c, "measured, with the bounds of 99.9 %", CHART_DOTS);
}

/* ---- Sweeps ------------------------------------------------------------ */

static void sweep_hashes(fpr *r)
{
    double ratio = (double)r->bits / (double)r->keys, best = ratio * log(2);
    uint32_t last = (uint32_t)fmin(fmin(fmax(2 * best, best + 4), best + 8), 64), seen = 0;
    double lowest = 2;

    begin_panel(r, "Hashes: too few and too many are both worse", "k, hashes");
    for (uint32_t k = 1; k <= last; k++) {
        tamis_plan plan = plan_of(r, r->keys, r->bits, k);
        double rate = try_one(r, "hashes", k, &plan, r->keys);
        if (rate < lowest) {
            lowest = rate;
            seen = k;
        }
    }
    lab_note(&r->lab,
             "Over k: by the textbook the best is (m/n) ln 2 = %.4g, the nearest integer %.0f, and "
             "the rate is then 0.6185^(m/n) = %.4g. The lowest rate measured is %.4g, at k = %u.",
             best, fmax(round(best), 1), best_rate(ratio), lowest, seen);
}

static void sweep_bits(fpr *r)
{
    static const unsigned RATIOS[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12, 14 };

    begin_panel(r, "Bits: each 4.8 more per key divide the rate by ten", "bits per key, m/n");
    for (size_t i = 0; i < sizeof RATIOS / sizeof *RATIOS; i++) {
        tamis_plan plan = plan_of(r, r->keys, r->keys * RATIOS[i], r->hashes);
        try_one(r, "bits", RATIOS[i], &plan, r->keys);
    }
    lab_note(&r->lab,
             "Over m: 'best' is 0.6185^(m/n), with a k that is no integer: 1, 2, 5 and 10 bits per "
             "key give %.3f, %.3f, %.4f and %.5f. Each %.2f bits more per key divide it by ten.",
             best_rate(1), best_rate(2), best_rate(5), best_rate(10), log(10) / (log(2) * log(2)));
}

static void sweep_keys(fpr *r)
{
    static const double LOADS[] = { 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.25, 1.5, 2 };
    tamis_plan plan = plan_of(r, r->keys, r->bits, r->hashes);

    begin_panel(r, "Keys: a filter that gets more than planned stays, and errs more",
                "n, keys as a share of the plan");
    for (size_t i = 0; i < sizeof LOADS / sizeof *LOADS; i++)
        try_one(r, "keys", LOADS[i], &plan, (uint64_t)fmax(1, round((double)r->keys * LOADS[i])));
    lab_note(&r->lab, "Over n: with twice the keys of the plan the rate is %.3g instead of %.3g.",
             tamis_plan_rate(&plan, 2 * r->keys), tamis_plan_rate(&plan, r->keys));
}

static void one_filter(fpr *r)
{
    tamis_plan plan = plan_of(r, r->keys, r->bits, r->hashes);

    begin_panel(r, "One filter", "k, hashes");
    double rate = try_one(r, "-", plan.hashes, &plan, r->keys);
    lab_note(&r->lab,
             "%" PRIu64 " keys in %" PRIu64 " bits, %u hashes: %.3g %% by the textbook, "
             "%.3g %% predicted, %.3g %% measured.",
             r->keys, r->bits, plan.hashes, 100 * textbook(&plan, (double)r->keys), 100 * plan.fpr,
             100 * rate);
}

/* ---- Experiment -------------------------------------------------------- */

static void take_over(void *into, const args *a)
{
    static const word_row SWEEPS[] = { { "hashes", OVER_HASHES, NULL },
                                       { "bits", OVER_BITS, NULL },
                                       { "keys", OVER_KEYS, NULL },
                                       { 0 } };
    fpr *r = into;

    r->over |= (unsigned)args_word(a, SWEEPS);
}

static void take_kind(void *into, const args *a)
{
    fpr *r = into;

    r->kind = args_kind(a);
    if (r->kind != TAMIS_BLOOM && r->kind != TAMIS_PARTITIONED)
        args_refuse(a, "-k is bloom or partitioned");
}

static void settle(fpr *r)
{
    if (!r->bits)
        r->bits = 8 * r->keys;
    r->probes = lab_choice(&r->lab, r->probes, 1000000, 50000);
    if (!r->over)
        r->over = r->hashes ? OVER_NOTHING : OVER_HASHES | OVER_BITS | OVER_KEYS;
    if (scale_of(r) < 1)
        lab_note(&r->lab,
                 "'keys', 'bits' and what is predicted are of the size that was asked for. "
                 "Measured is a filter of %" PRIu64 " keys ('tried') with as many bits for each.",
                 most_keys(r));
}

static void run(void *request)
{
    fpr *r = request;

    lab_columns(&r->lab, "over keys bits hashes best textbook predicted tried low high measured "
                         "inside");
    settle(r);
    if (r->over & OVER_HASHES)
        sweep_hashes(r);
    if (r->over & OVER_BITS)
        sweep_bits(r);
    if (r->over & OVER_KEYS)
        sweep_keys(r);
    if (r->over & OVER_NOTHING)
        one_filter(r);
}

static const option_row options[] = {
    { 0, "keys", "N", "keys in the filter (default: 1e6)",
      TO_COUNT(fpr, keys, 1, UINT64_C(1) << 40) },
    { 0, "bits", "M", "of the filter, in all rows together (default: 8 per key)",
      TO_COUNT(fpr, bits, 1, UINT64_C(1) << 46) },
    { 0, "hashes", "K", "of each key (default: each number in turn, and the best)",
      TO_COUNT(fpr, hashes, 1, 64) },
    { 0, "over", "WHAT", "one of hashes, bits and keys; may come again (default: all)",
      .take = take_over },
    { 'k', "kind", "KIND", "bloom (default), or partitioned: a row of bits for each hash",
      .take = take_kind },
    { 0, "probes", "P", "strangers to ask for, at each point (default: 1e6)",
      TO_COUNT(fpr, probes, 1, 1000000000) },
    { 0 },
};

LAB_EXPERIMENT(fpr, LAB_NEEDS(TAMIS_BLOOM), .kind = TAMIS_BLOOM, .keys = 1000000);
