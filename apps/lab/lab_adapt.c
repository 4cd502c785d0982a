/* lab_adapt.c - tamis lab adapt: false positives over time, with and without adapting. */
#include <math.h>
#include <stdlib.h>

#include "lab.h"
#include "tamis_adapt.h"

static const tamis_kind KINDS[] = { TAMIS_CQF, TAMIS_CUCKOO, TAMIS_ACF, TAMIS_AQF };

enum { N_KINDS = sizeof KINDS / sizeof *KINDS, ROUNDS = 12, STEPS = 12 };

typedef struct adapt {
    lab lab;
    uint64_t keys, strangers, queries;
} adapt;

static bool adapts(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_CAN_ADAPT;
}

/* With room for every mistake that may be told, where mistakes take room. */
static tamis *fill(const adapt *r, tamis_kind kind)
{
    tamis_spec spec = TAMIS_SPEC(.keys = r->keys, .fpr = 0.01);
    lab_random random = lab_stream(&r->lab, 100 + (uint64_t)kind);
    uint64_t *keys = lab_draw_keys(&random, r->keys);

    if (kind == TAMIS_AQF)
        spec.universe = r->keys + r->strangers;
    tamis_plan plan = lab_plan(&r->lab, kind, &spec);
    tamis *f = lab_filter(&r->lab, &plan, keys, r->keys);
    free(keys);
    return f;
}

/* Asks for a stranger, and tells the filter if it was wrong. */
static bool ask(tamis *f, uint64_t stranger)
{
    bool found = tamis_has(f, stranger);

    if (found && adapts(tamis_plan_of(f)->kind) && tamis_adapt(f, stranger))
        die(CODE_LIMIT, "lab adapt: no room to adapt");
    return found;
}

static void row(const adapt *r, const char *part, tamis_kind kind, uint64_t asked, double theory,
                chance_range range, uint64_t found)
{
    LAB_ROW(&r->lab, lab_text(part), lab_text(tamis_kind_name(kind)), lab_count(asked),
            lab_real(theory), LAB_BOUNDS(range, (double)found));
}

/* ---- The same strangers, again and again ------------------------------- */

/* In the first round, strangers are independent trials at the rate of the filter; if it adapts,
 * what keeps one away may keep away others, so that there are no more than that. Later rounds are
 * as the first without adapting, and without mistakes in a filter that makes none twice. */
static void show_rounds(const adapt *r, tamis_kind kind, chart_series *s)
{
    lab_random random = lab_stream(&r->lab, 2);
    uint64_t *strangers = lab_draw_keys(&random, r->strangers);
    tamis *f = fill(r, kind);
    double rate = lab_rate(f), theory = rate * (double)r->strangers;
    chance_range range = chance_counts(r->strangers, rate, rate, CHANCE_OUTSIDE);

    if (adapts(kind))
        range.low = 0;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t found = 0;
        for (uint64_t i = 0; i < r->strangers; i++)
            found += ask(f, strangers[i]);
        if (round <= 3 || round == ROUNDS)
            row(r, "round", kind, round, theory, range, found);
        chart_put(s, (double)round, (double)found);
        if (round > 1)
            continue;
        theory = kind == TAMIS_ACF ? NAN : kind == TAMIS_AQF ? 0 : (double)found;
        range = (chance_range){ theory, theory };
    }
    free(strangers);
    tamis_free(f);
}

/* ---- Zipf's law -------------------------------------------------------- */

/* A filter that makes no mistake twice makes at most one for each stranger. */
static chance_range most_mistakes(double rate, uint64_t strangers)
{
    chance_range range = chance_counts(strangers, rate, rate, CHANCE_OUTSIDE);

    range.low = 0;
    return range;
}

static void show_stream(const adapt *r, tamis_kind kind, const lab_zipf *z, chart_series *s)
{
    lab_random random = lab_stream(&r->lab, 3), stream = lab_stream(&r->lab, 4);
    uint64_t *strangers = lab_draw_keys(&random, r->strangers), found = 0, different = 0, asked = 0;
    bool *was_asked = array_new(r->strangers, sizeof *was_asked, "numbers");
    tamis *f = fill(r, kind);
    double rate = lab_rate(f);

    for (uint64_t step = 1; step <= STEPS; step++) {
        uint64_t end = r->queries >> (STEPS - step);
        for (; asked < end; asked++) {
            size_t i = lab_draw_zipf(z, &stream);
            different += !was_asked[i];
            was_asked[i] = true;
            found += ask(f, strangers[i]);
        }
        bool is_bound = kind == TAMIS_AQF;
        if (step % 4 == 0)
            row(r, "zipf", kind, asked, rate * (double)(is_bound ? different : asked),
                is_bound ? most_mistakes(rate, different) : CHANCE_UNKNOWN, found);
        chart_put(s, (double)asked, (double)found);
    }
    free(was_asked);
    free(strangers);
    tamis_free(f);
}

/* ---- Experiment -------------------------------------------------------- */

static void show_all(const adapt *r)
{
    chart *rounds = lab_chart(&r->lab, "The same strangers, asked for in every round", "round",
                              "false positives");
    chart *zipf =
        lab_chart(&r->lab, "Strangers by Zipf's law", "queries so far", "false positives so far");
    lab_zipf z = lab_zipf_new(r->strangers, 1);

    zipf->x.is_log = zipf->y.is_log = true;
    for (int i = 0; i < N_KINDS; i++) {
        const char *name = tamis_kind_name(KINDS[i]);
        show_rounds(r, KINDS[i], chart_add(rounds, name, CHART_LINE_DOTS));
        show_stream(r, KINDS[i], &z, chart_add(zipf, name, CHART_LINE_DOTS));
    }
    free(z.sums);
}

static void run(void *request)
{
    adapt *r = request;
    lab *l = &r->lab;

    r->strangers = r->keys = lab_choice(l, r->keys, 50000, 5000);
    r->queries = 10 * r->keys;
    lab_columns(l, "part kind asked theory low high found inside");
    show_all(r);
    lab_note(l,
             "Round: %" PRIu64 " strangers, each asked for once in every round. 'cqf' and 'cuckoo' "
             "err about the same ones each time. 'aqf' is told of them, and errs about none of "
             "them again. 'acf' takes most mistakes back, but what one stranger took back another "
             "may bring again.",
             r->strangers);
    lab_note(l,
             "Zipf: some strangers are asked for far more often than others. Without adapting, "
             "what counts is whether one of these few is a false positive; the filter that makes "
             "no mistake twice errs at most once for each different stranger, at its rate.");
}

static const option_row options[] = {
    { 0, "keys", "N", "in the filter, and as many strangers (default: 5e4)",
      TO_COUNT(adapt, keys, 1000, 10000000) },
    { 0 },
};

LAB_EXPERIMENT(adapt, LAB_NEEDS(TAMIS_CQF, TAMIS_CUCKOO, TAMIS_ACF, TAMIS_AQF), .lab = { 0 });
