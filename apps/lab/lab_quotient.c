/* lab_quotient.c - tamis lab quotient: how long clusters of a quotient filter are.
 *
 * Let each slot be the home of a Poisson number of keys of mean a, the load. What finds its slot
 * taken waits for the next: a queue that serves one key per slot. A cluster begins in a slot that
 * nobody waits for, with a key at home there, and ends where the queue is empty again. The queue
 * then starts anew, so that the lengths of clusters are independent. With T(z) = z e^(a (T(z) - 1))
 * for the time until an empty slot (Borel), runs of clusters give T = z e^-a + C T, and by
 * Lagrange's formula the coefficients of C are
 *
 *   P(a cluster of t slots begins | nobody waits) = a^t (t - 1)^(t - 1) e^(-a t) / t!
 *
 * which sum up to 1 - e^-a. On average (1 - a) (e^a - 1) clusters begin in a slot, so that their
 * mean length is a / ((1 - a) (e^a - 1)).
 *
 * The number of keys is drawn, so that all this holds exactly for a table that is long enough. How
 * many of a number of clusters that was fixed before are of some length is binomial. */
#include <math.h>
#include <stdlib.h>

#include "lab.h"
#include "tamis_explain.h"

typedef struct quotient {
    lab lab;
    uint32_t bits;
} quotient;

enum { N_BINS = 7 }; /* 1, 2-3, 4-7, ... slots, and all longer ones */

static const char *const BINS[N_BINS] = { "1", "2-3", "4-7", "8-15", "16-31", "32-63", "64+" };

typedef struct clusters {
    uint64_t wanted, n;    /* clusters: to be counted, and counted */
    uint64_t bins[N_BINS]; /* of the first `wanted` */
    uint64_t all, slots, longest;
    uint64_t length;  /* of the one at hand */
    bool has_started; /* an empty slot came before */
} clusters;

/* ---- Theory ------------------------------------------------------------ */

static double length_chance(double load, uint64_t t)
{
    double length = (double)t;
    double log_chance = length * log(load) - load * length - lgamma(length + 1);

    if (t > 1)
        log_chance += (length - 1) * log(length - 1);
    return exp(log_chance) / -expm1(-load);
}

static double bin_chance(double load, int bin)
{
    double sum = 0;

    for (uint64_t t = UINT64_C(1) << bin; t < UINT64_C(2) << bin; t++)
        sum += length_chance(load, t);
    return sum;
}

static double last_chance(double load)
{
    double rest = 1;

    for (int bin = 0; bin < N_BINS - 1; bin++)
        rest -= bin_chance(load, bin);
    return fmax(rest, 0);
}

static double clusters_per_slot(double load)
{
    return (1 - load) * expm1(load);
}

/* ---- Counting ---------------------------------------------------------- */

static int bin_of(uint64_t length)
{
    int bin = 0;

    while (bin < N_BINS - 1 && length >= UINT64_C(2) << bin)
        bin++;
    return bin;
}

static void end_cluster(clusters *c)
{
    if (c->length == 0)
        return;
    if (c->n < c->wanted) {
        c->bins[bin_of(c->length)]++;
        c->n++;
    }
    c->all++;
    c->slots += c->length;
    c->longest = c->length > c->longest ? c->length : c->longest;
    c->length = 0;
}

/* What lies before the first empty slot may have begun at the end of the table. */
static bool take_cell(void *ctx, const tamis_cell *cell)
{
    clusters *c = ctx;
    bool is_empty = cell->marks & TAMIS_MARK_EMPTY;

    if (is_empty || !(cell->marks & TAMIS_MARK_SHIFTED))
        end_cluster(c);
    c->has_started = c->has_started || is_empty;
    c->length += c->has_started && !is_empty;
    return true;
}

static clusters count_clusters(const lab *l, uint32_t quotient_bits, double load, uint64_t purpose)
{
    uint64_t slots = UINT64_C(1) << quotient_bits;
    tamis_spec spec = TAMIS_SPEC(.quotient_bits = quotient_bits, .tag_bits = 12);
    lab_random random = lab_stream(l, purpose);
    uint64_t n = lab_draw_poisson(&random, load * (double)slots);
    uint64_t *keys = lab_draw_keys(&random, n);
    clusters c = { .wanted = (uint64_t)(0.9 * clusters_per_slot(load) * (double)slots) };
    tamis_plan plan = lab_plan(l, TAMIS_QUOTIENT, &spec);
    tamis *f = lab_filter(l, &plan, keys, n);

    if (tamis_visit_cells(f, take_cell, &c))
        die(CODE_USAGE, "lab quotient: this library does not show slots");
    end_cluster(&c);
    tamis_free(f);
    free(keys);
    return c;
}

/* ---- Experiment -------------------------------------------------------- */

typedef struct panels {
    chart_series *mean_theory, *mean, *longest;
    chart *shares;
} panels;

static void show_shares(const lab *l, const clusters *c, double load, chart_series *theory,
                        chart_series *seen)
{
    for (int bin = 0; bin < N_BINS; bin++) {
        double p = bin < N_BINS - 1 ? bin_chance(load, bin) : last_chance(load);
        chance_range range = chance_shares(chance_counts(c->n, p, p, CHANCE_OUTSIDE), c->n);
        double share = (double)c->bins[bin] / (double)c->n;
        LAB_ROW(l, lab_real(load), lab_text(BINS[bin]), lab_real(p), LAB_BOUNDS(range, share));
        chart_put_name(theory, bin, p, BINS[bin]);
        chart_put_range(seen, bin, share, range.low, range.high);
    }
}

static void show_mean(const lab *l, panels *p, const clusters *c, double load)
{
    double theory = load / clusters_per_slot(load), mean = (double)c->slots / (double)c->all;

    LAB_ROW(l, lab_real(load), lab_text("mean"), lab_real(theory),
            LAB_BOUNDS(CHANCE_UNKNOWN, mean));
    LAB_ROW(l, lab_real(load), lab_text("longest"), lab_none(), lab_none(), lab_none(),
            lab_count(c->longest), lab_none());
    chart_put(p->mean_theory, load, theory);
    chart_put(p->mean, load, mean);
    chart_put(p->longest, load, (double)c->longest);
}

static panels begin_panels(const lab *l)
{
    chart *c =
        lab_chart(l, "Clusters grow with the load", "load, keys per slot", "slots of a cluster");
    panels p = { .mean_theory = chart_add(c, "mean, theory", CHART_LINE),
                 .mean = chart_add(c, "mean, measured", CHART_DOTS),
                 .longest = chart_add(c, "longest, measured", CHART_LINE_DOTS) };

    c->y.is_log = true;
    p.shares = lab_chart(l, "How long clusters are", "slots of a cluster", "share of all clusters");
    p.shares->y.is_log = p.shares->x.is_named = true;
    return p;
}

static const struct {
    double load;
    const char *theory, *measured;
} LOADS[] = {
    { 0.25, NULL, NULL }, { 0.5, "load 0.5", "measured" }, { 0.75, "load 0.75", "measured" },
    { 0.85, NULL, NULL }, { 0.9, "load 0.9", "measured" },
};

static void run(void *request)
{
    const quotient *r = request;
    const lab *l = &r->lab;
    uint32_t bits = (uint32_t)lab_choice(l, r->bits, 18, 14);

    lab_columns(l, "load length theory low high measured inside");
    panels p = begin_panels(l);
    for (size_t i = 0; i < sizeof LOADS / sizeof *LOADS; i++) {
        clusters c = count_clusters(l, bits, LOADS[i].load, i + 1);
        chart_series *theory, *seen, unseen[2] = { 0 };
        bool is_drawn = LOADS[i].theory;
        theory = is_drawn ? chart_add(p.shares, LOADS[i].theory, CHART_LINE) : &unseen[0];
        seen = is_drawn ? chart_add(p.shares, NULL, CHART_DOTS) : &unseen[1];
        theory->colour = seen->colour = svg_colour_at(i / 2 + 3);
        show_shares(l, &c, LOADS[i].load, theory, seen);
        show_mean(l, &p, &c, LOADS[i].load);
        buffer_free(&unseen[0].points);
        buffer_free(&unseen[1].points);
    }
    lab_note(l,
             "2^%u slots. At half the load a cluster has %.3g slots on average, at three "
             "quarters %.3g, at nine tenths %.3g: a lookup walks through a part of one. That is "
             "why quotient filters are planned for three quarters.",
             bits, 0.5 / clusters_per_slot(0.5), 0.75 / clusters_per_slot(0.75),
             0.9 / clusters_per_slot(0.9));
}

static const option_row options[] = {
    { 0, "quotient-bits", "Q", "the filter has 2^Q slots (default: 18)",
      TO_COUNT(quotient, bits, 10, 22) },
    { 0 },
};

LAB_EXPERIMENT(quotient, LAB_NEEDS(TAMIS_QUOTIENT), .lab = { 0 });
