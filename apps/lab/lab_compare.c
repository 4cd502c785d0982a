/* lab_compare.c - tamis lab compare: size, rate and time of every kind. */
#include <math.h>
#include <stdlib.h>

#include "lab.h"

typedef struct compare {
    lab lab;
    uint64_t keys, probes;
} compare;

/* What was measured of one filter. */
typedef struct outcome {
    double bits;             /* per key */
    double plan, rate;       /* predicted, and of this filter as it is */
    uint64_t hits, probes;   /* strangers that were found, and asked for */
    double build, hit, miss; /* ns per key */
} outcome;

/* A compressed filter is decoded for each lookup. */
static uint64_t probes_of(const compare *r, tamis_kind kind)
{
    return kind == TAMIS_COMPRESSED ? r->probes / 10 + 1 : r->probes;
}

static outcome measure(const compare *r, const tamis_plan *plan)
{
    /* Keys of their own for each filter: what is by chance in one is not in all. */
    lab_random random = lab_stream(&r->lab, plan->bytes << 8 | plan->kind);
    uint64_t *keys = lab_draw_keys(&random, r->keys);
    uint64_t *hits = array_new(r->keys / 64 + 1, sizeof *hits, "numbers");
    double start = lab_clock();
    tamis *f = lab_filter(&r->lab, plan, keys, r->keys);
    double built = lab_clock(), n = (double)r->keys;
    tamis_info info = { .size = sizeof info };

    if (tamis_has_many(f, hits, keys, (size_t)r->keys) != r->keys)
        die(CODE_CORRUPT, "lab compare: a key of a %s filter is missing",
            tamis_kind_name(plan->kind));
    double asked = lab_clock();
    outcome o = { .plan = tamis_plan_rate(plan, r->keys), .probes = probes_of(r, plan->kind) };
    o.hits = lab_count_hits(f, &random, o.probes);
    double missed = lab_clock();
    tamis_get_info(f, &info);
    o.rate = info.fpr;
    o.bits = (double)info.plan.bytes * 8 / n;
    o.build = (built - start) / n;
    o.hit = (asked - built) / n;
    o.miss = (missed - asked) / (double)o.probes;
    tamis_free(f);
    free(hits);
    free(keys);
    return o;
}

static void show_row(const compare *r, tamis_kind kind, double fpr, const outcome *o)
{
    chance_range range =
        chance_shares(chance_counts(o->probes, o->rate, o->rate, CHANCE_OUTSIDE), o->probes);

    LAB_ROW(&r->lab, lab_text(tamis_kind_name(kind)), lab_real(fpr), lab_real(o->bits),
            lab_real(log2(1 / fmax(o->plan, 0x1p-64))), lab_real(o->plan), lab_real(o->rate),
            LAB_BOUNDS(range, (double)o->hits / (double)o->probes), lab_real(o->build),
            lab_real(o->hit), lab_real(o->miss));
}

/* ---- Pictures ---------------------------------------------------------- */

/* Those with a curve of their own: one of each family. */
static const tamis_kind DRAWN[] = { TAMIS_BLOOM, TAMIS_BLOCKED, TAMIS_CUCKOO,
                                    TAMIS_CQF,   TAMIS_FUSE,    TAMIS_RIBBON };

enum { N_DRAWN = sizeof DRAWN / sizeof *DRAWN };

enum { KINDS_MAX = 64 };

/* What the charts show that have one rate: a variable, as a literal may have more bits. */
static const double AT_ONE_RATE = 0.01;

typedef struct pictures {
    chart_series *drawn[N_DRAWN];
    chart *by_size, *by_time;
    chart_series *spots;
    size_t n; /* bars */
} pictures;

static chart *begin_bars(lab *l, const char *title, const char *y)
{
    chart *c = lab_chart(l, title, "kind, smallest first", y);

    c->y.is_log = c->x.is_named = true;
    chart_add(c, NULL, CHART_BARS);
    return c;
}

static void begin_pictures(pictures *p, lab *l)
{
    chart *c = lab_chart(l, "Size against rate", "bits per key", "false positive rate, measured");
    chart_series *least = chart_add(c, "the least possible, log2(1/rate)", CHART_DASHES);

    least->colour = SVG_DIM;
    c->y.is_log = true;
    for (double bits = 2; bits <= 12; bits += 2)
        chart_put(least, bits, pow(2, -bits));
    for (size_t i = 0; i < N_DRAWN; i++) {
        p->drawn[i] = chart_add(c, tamis_kind_name(DRAWN[i]), CHART_LINE_DOTS);
        p->drawn[i]->colour = svg_colour_at(i);
    }
    c = lab_chart(l, "Kinds of up to 20 bits per key at 1 %", "bits per key", "rate, measured");
    c->height = 420;
    p->spots = chart_add(c, NULL, CHART_DOTS);
    p->by_size = begin_bars(l, "Size of every kind at 1 %", "bits per key");
    if (l->with_times)
        p->by_time = begin_bars(l, "Time of a lookup at 1 %, absent keys", "ns per key");
}

static void draw(pictures *p, tamis_kind kind, double fpr, const outcome *o)
{
    const char *name = tamis_kind_name(kind);

    for (size_t i = 0; i < N_DRAWN; i++)
        if (DRAWN[i] == kind && o->hits > 0)
            chart_put(p->drawn[i], o->bits, (double)o->hits / (double)o->probes);
    if (fpr != AT_ONE_RATE)
        return;
    if (o->bits < 20)
        chart_put_name(p->spots, o->bits, (double)o->hits / (double)o->probes, name);
    chart_put_name(&p->by_size->series[0], (double)p->n, o->bits, name);
    if (p->by_time)
        chart_put_name(&p->by_time->series[0], (double)p->n, o->miss, name);
    p->n++;
}

/* ---- Experiment -------------------------------------------------------- */

/* Every kind that can be built of keys alone, the smallest first. */
static void show_rate(const compare *r, pictures *p, double fpr)
{
    tamis_plan plans[KINDS_MAX];
    tamis_spec spec = TAMIS_SPEC(.keys = r->keys, .fpr = fpr);

    spec.hasher = (tamis_hasher){ .hash = TAMIS_RAW, .seed = r->lab.seed };
    size_t n = tamis_plan_all(plans, KINDS_MAX, &spec);
    for (size_t i = 0; i < n && i < KINDS_MAX; i++) {
        if (tamis_kind_can(plans[i].kind) & (TAMIS_IS_INDEXED | TAMIS_CAN_GET))
            continue;
        outcome o = measure(r, &plans[i]);
        show_row(r, plans[i].kind, fpr, &o);
        draw(p, plans[i].kind, fpr, &o);
    }
}

static void run(void *request)
{
    static const double RATES[] = { 0.1, 0.01, 0.001 };
    compare *r = request;
    lab *l = &r->lab;
    pictures p = { 0 };

    r->keys = lab_choice(l, r->keys, 50000, 2000);
    r->probes = r->probes ? r->probes : 2 * r->keys;
    lab_columns(l,
                "kind asked bits least predicted now low high measured inside build* hit* miss*");
    begin_pictures(&p, l);
    for (size_t i = 0; i < sizeof RATES / sizeof *RATES; i++)
        show_rate(r, &p, RATES[i]);
    lab_note(l,
             "%" PRIu64 " keys, %" PRIu64 " strangers, a tenth for 'compressed', whose lookups are "
             "slow. 'bits' are per key, 'least' what no filter "
             "of the predicted rate can be below. 'now' is the rate that the filter, as full as it "
             "became, tells of itself: given that, each stranger is a trial, and the bounds are "
             "exact. 'build', 'hit' and 'miss', with --time, are nanoseconds per key on this "
             "machine, in batches.",
             r->keys, r->probes);
}

static const option_row options[] = {
    { 0, "keys", "N", "in each filter (default: 5e4)", TO_COUNT(compare, keys, 100, 100000000) },
    { 0, "probes", "P", "strangers to ask for (default: two for each key)",
      TO_COUNT(compare, probes, 1, 1000000000) },
    { 0 },
};

LAB_EXPERIMENT(compare, LAB_NEEDS(TAMIS_NO_KIND), .lab = { 0 });
