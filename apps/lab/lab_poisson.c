/* lab_poisson.c - tamis lab poisson: the binomial distribution and its limit, sums, and what
 * follows for filters whose keys fall into blocks.
 *
 * If the number of keys is itself drawn from a Poisson distribution, blocks get their keys
 * independently of each other. Then the number of blocks with x keys is binomial, and its bounds
 * are exact; that is why the number of keys is drawn here. The rate of a filter is then the mean of
 * independent rates of blocks, whose variance is known: Bernstein's inequality bounds it. */
#include <math.h>
#include <stdlib.h>

#include "lab.h"
#include "tamis_explain.h"

typedef struct poisson {
    lab lab;
    uint64_t keys, bits; /* bits: per key, where keys per block are counted */
} poisson;

/* ---- The limit --------------------------------------------------------- */

/* Half the sum of all differences: the most by which any event may differ. */
static double distance(uint64_t n, double p)
{
    double sum = 0, rest = 1;

    for (uint64_t x = 0; x <= n; x++) {
        double limit = chance_poisson(x, (double)n * p);
        sum += fabs(chance_binomial(x, n, p) - limit);
        rest -= limit;
    }
    return (sum + fmax(rest, 0)) / 2;
}

static bool is_good_by_rule(uint64_t n, double p)
{
    return (n > 20 && p < 0.05) || (n > 100 && p < 0.1);
}

static void show_limit(const lab *l)
{
    static const struct {
        uint64_t n;
        double p;
    } TRIED[] = { { 10, 0.5 },   { 20, 0.25 },  { 21, 0.2 },   { 21, 0.049 },    { 50, 0.04 },
                  { 101, 0.15 }, { 101, 0.09 }, { 500, 0.01 }, { 10000, 0.0005 } };
    for (size_t i = 0; i < sizeof TRIED / sizeof *TRIED; i++) {
        uint64_t n = TRIED[i].n;
        double p = TRIED[i].p, most = -expm1(-(double)n * p) * p;
        LAB_ROW(l, lab_text("limit"),
                lab_format("n = %" PRIu64 ", p = %g: %s by the rule", n, p,
                           is_good_by_rule(n, p) ? "good" : "bad"),
                lab_none(), LAB_BOUNDS(((chance_range){ 0, most }), distance(n, p)));
    }
    lab_note(l, "Limit: 'measured' is the most by which any probability of the binomial and of the "
                "Poisson distribution of the same mean differ, 'high' the bound (1 - e^-np) p of "
                "Barbour and Hall. The rule of thumb (n > 20 and p < .05, or n > 100 and p < .1) "
                "means an error below p/3: it is p that counts, not n.");
}

static void draw_limit(const lab *l)
{
    static const struct {
        const char *name;
        uint64_t n;
        double p;
    } CURVES[] = { { "n = 10, p = 0.5", 10, 0.5 },
                   { "n = 20, p = 0.25", 20, 0.25 },
                   { "n = 100, p = 0.05", 100, 0.05 } };
    chart *c = lab_chart(l, "Binomial distributions of mean 5, and their limit", "x", "P(X = x)");
    chart_series *s = chart_add(c, "Poisson, mean 5", CHART_BARS);

    s->colour = SVG_FAINT;
    for (uint64_t x = 0; x <= 14; x++)
        chart_put(s, (double)x, chance_poisson(x, 5));
    for (size_t i = 0; i < 3; i++) {
        s = chart_add(c, CURVES[i].name, CHART_LINE_DOTS);
        s->colour = svg_colour_at(i);
        for (uint64_t x = 0; x <= 14 && x <= CURVES[i].n; x++)
            chart_put(s, (double)x, chance_binomial(x, CURVES[i].n, CURVES[i].p));
    }
}

/* ---- Sums -------------------------------------------------------------- */

/* Shares of n of each number, against a Poisson distribution, as rows and in a panel. */
static void compare_shares(const lab *l, chart *c, const char *part, const uint64_t *counts,
                           uint64_t n, double mean)
{
    chart_series *theory = chart_add(c, "Poisson", CHART_BARS);
    chart_series *seen = chart_add(c, "measured, with the bounds of 99.9 %", CHART_DOTS);

    theory->colour = SVG_TINT0;
    double spread = 3.2 * sqrt(mean);
    for (uint64_t x = (uint64_t)fmax(mean - spread, 0); (double)x <= mean + spread; x++) {
        double p = chance_poisson(x, mean), share = (double)counts[x] / (double)n;
        chance_range range = chance_shares(chance_counts(n, p, p, CHANCE_OUTSIDE), n);
        LAB_ROW(l, lab_text(part), lab_format("x = %" PRIu64, x), lab_real(p),
                LAB_BOUNDS(range, share));
        chart_put(theory, (double)x, p);
        chart_put_range(seen, (double)x, share, range.low, range.high);
    }
}

static void show_sum(const lab *l)
{
    enum { MOST = 64 };
    const uint64_t n = l->is_quick ? 20000 : 200000;
    uint64_t counts[MOST] = { 0 };
    lab_random r = lab_stream(l, 1);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t sum = lab_draw_poisson(&r, 2) + lab_draw_poisson(&r, 3);
        counts[sum < MOST ? sum : MOST - 1]++;
    }
    chart *c = lab_chart(l, "Sums of two numbers, one of mean 2 and one of mean 3", "sum",
                         "share of all sums");
    compare_shares(l, c, "sum", counts, n, 5);
    lab_note(l,
             "Sum: %" PRIu64 " sums of two numbers, drawn from Poisson distributions of means 2 "
             "and 3, are distributed as one of mean 5.",
             n);
}

/* ---- Blocks ------------------------------------------------------------ */

static bool take_block(void *ctx, const tamis_step *step)
{
    uint64_t *block = ctx;

    if (step->type == TAMIS_STEP_CELL)
        *block = step->cell.number;
    return step->type != TAMIS_STEP_CELL;
}

/* A filter of about that many keys, a number that is drawn. */
static tamis *draw_filter(const poisson *r, double bits, lab_random *random, uint64_t **keys,
                          uint64_t *n)
{
    tamis_spec spec = TAMIS_SPEC(.keys = r->keys, .bits = (uint64_t)((double)r->keys * bits));
    tamis_plan plan = lab_plan(&r->lab, TAMIS_BLOCKED, &spec);

    *n = lab_draw_poisson(random, (double)r->keys);
    *keys = lab_draw_keys(random, *n);
    return lab_filter(&r->lab, &plan, *keys, *n);
}

enum { MOST_IN_BLOCK = 256 };

/* How many blocks have so many keys. */
static void count_blocks(uint64_t counts[MOST_IN_BLOCK], const tamis *f, const uint64_t *keys,
                         uint64_t n)
{
    uint64_t blocks = tamis_plan_of(f)->slots, block = 0;
    uint32_t *load = array_new(blocks, sizeof *load, "numbers");

    for (uint64_t i = 0; i < n; i++) {
        tamis_explain(f, keys[i], take_block, &block);
        load[block]++;
    }
    for (uint64_t i = 0; i < blocks; i++)
        counts[load[i] < MOST_IN_BLOCK ? load[i] : MOST_IN_BLOCK - 1]++;
    free(load);
}

static void show_blocks(const poisson *r)
{
    uint64_t counts[MOST_IN_BLOCK] = { 0 }, *keys, n;
    lab_random random = lab_stream(&r->lab, 2);
    tamis *f = draw_filter(r, (double)r->bits, &random, &keys, &n);
    uint64_t blocks = tamis_plan_of(f)->slots;
    double mean = (double)r->keys / (double)blocks;
    chart *c = lab_chart(&r->lab, "Keys in a block of 'blocked', 256 bits", "keys in a block",
                         "share of all blocks");

    count_blocks(counts, f, keys, n);
    compare_shares(&r->lab, c, "block", counts, blocks, mean);
    lab_note(&r->lab,
             "Block: %" PRIu64 " keys in %" PRIu64 " blocks of 256 bits: the number of keys in a "
             "block is Poisson with mean %.4g, so that some blocks have twice the keys of others.",
             n, blocks, mean);
    tamis_free(f);
    free(keys);
}

/* Of a filter of `blocked` with that many keys per block: eight words of 32 bits, a bit of each set
 * by each key. The mean of the rate of a block, and of its square. */
static void block_moments(double mean, double *rate, double *square)
{
    *rate = *square = 0;
    for (uint64_t x = 0; (double)x < mean + 20 * sqrt(mean) + 20; x++) {
        double one_clear = pow(31 / 32.0, (double)x), two_clear = pow(30 / 32.0, (double)x);
        double weight = chance_poisson(x, mean);
        *rate += weight * pow(1 - one_clear, 8);
        *square += weight * pow(1 - 2 * one_clear + one_clear / 32 + two_clear * 31 / 32, 8);
    }
}

static chance_range block_bounds(double mean, double blocks, uint64_t probes)
{
    double outside = CHANCE_OUTSIDE / 2, l = log(2 / outside), rate, square;

    block_moments(mean, &rate, &square);
    double off = sqrt(2 * fmax(square - rate * rate, 0) * l / blocks) + l / (3 * blocks);
    return chance_shares(chance_counts(probes, fmax(rate - off, 0), rate + off, outside), probes);
}

typedef struct curves {
    chart_series *plain, *theory, *seen;
} curves;

/* One filter: how often strangers are found. Returns the predicted rate. */
static double try_rate(const poisson *r, curves *c, double bits, uint64_t purpose)
{
    const uint64_t probes = r->lab.is_quick ? 100000 : 1000000;
    lab_random random = lab_stream(&r->lab, purpose);
    uint64_t *keys, n;
    tamis *f = draw_filter(r, bits, &random, &keys, &n);
    double blocks = (double)tamis_plan_of(f)->slots, mean = (double)r->keys / blocks, rate, square;
    double share = (double)lab_count_hits(f, &random, probes) / (double)probes;
    chance_range range = block_bounds(mean, blocks, probes);

    block_moments(mean, &rate, &square);
    LAB_ROW(&r->lab, lab_text("rate"), lab_format("%g bits per key", bits), lab_real(rate),
            LAB_BOUNDS(range, share));
    chart_put(c->plain, bits, pow(-expm1(-8 * mean / 256), 8));
    chart_put(c->theory, bits, rate);
    chart_put_range(c->seen, bits, share, range.low, range.high);
    tamis_free(f);
    free(keys);
    return rate;
}

static void show_rates(const poisson *r)
{
    static const double BITS[] = { 6, 8, 10, 12, 14, 16 };
    chart *c = lab_chart(&r->lab, "What it costs: uneven blocks err more", "bits per key",
                         "false positive rate");
    curves lines = { chart_add(c, "bloom with 8 hashes, predicted", CHART_DASHES),
                     chart_add(c, "blocked, predicted", CHART_LINE),
                     chart_add(c, "blocked, measured", CHART_DOTS) };
    double rate = 1;

    c->y.is_log = true;
    for (size_t i = 0; i < sizeof BITS / sizeof *BITS; i++)
        rate = try_rate(r, &lines, BITS[i], 3 + i);
    lab_note(&r->lab,
             "Rate: a block with x keys takes a stranger for one of them with probability "
             "(1 - (31/32)^x)^8, and the rate of the filter is the mean of that over the Poisson "
             "distribution of x. At 16 bits per key it is %.2g, against %.2g of a Bloom filter "
             "with as many bits and eight hashes anywhere: full blocks cost more than empty ones "
             "save.",
             rate, pow(-expm1(-0.5), 8));
}

/* ---- Experiment -------------------------------------------------------- */

static void run(void *request)
{
    poisson *r = request;
    const lab *l = &r->lab;

    r->keys = lab_choice(l, r->keys, 500000, 50000);
    lab_columns(l, "part of theory low high measured inside");
    show_limit(l);
    draw_limit(l);
    show_sum(l);
    show_blocks(r);
    show_rates(r);
}

static const option_row options[] = {
    { 0, "keys", "N", "in filters, about: their number is drawn (default: 5e5)",
      TO_COUNT(poisson, keys, 1000, 10000000) },
    { 0, "bits-per-key", "B", "where keys per block are counted (default: 10)",
      TO_COUNT(poisson, bits, 3, 64) },
    { 0 },
};

LAB_EXPERIMENT(poisson, LAB_NEEDS(TAMIS_BLOCKED), .bits = 10);
