/* fit_morton.c - the constants of src/cuckoo/morton_rate.c, from filters that are filled and looked
 * at: see tools/fit_morton.
 *
 * MORTON_UNEVEN from filters of a million keys at rates where MORTON_BACK_AGAIN hardly counts: what share of
 * fingerprints has a second bucket that is marked? In the model, those that are in their second
 * bucket, `away`, and of the others as many as buckets are marked, which the model makes
 * 1 + MORTON_UNEVEN x as many. MORTON_BACK_AGAIN from the rates of filters whose blocks have as few buckets as
 * can be, taken backwards through morton_rate_at(). Both by least squares. */
#include "cuckoo/morton_rate.c"

#include <stdio.h>
#include <stdlib.h>

enum { FILTERS = 4, BLOCKS = 6000, CHUNK = 1000 };

/* Sums of x y and x x, where y is about factor x; and the least and the highest y / x. */
typedef struct fit {
    double xy, xx, least, highest;
} fit;

static void fit_add(fit *f, double x, double y)
{
    f->least = f->xx == 0 || y / x < f->least ? y / x : f->least;
    f->highest = f->xx == 0 || y / x > f->highest ? y / x : f->highest;
    f->xy += x * y;
    f->xx += x * x;
}

static void fit_print(const fit *f, const char *name, double used)
{
    printf("%-10s  %8.4g fitted  %8.4g in use  single filters %.4g to %.4g\n", name, f->xy / f->xx,
           used, f->least, f->highest);
}

static void must(tamis_status status)
{
    if (!status)
        return;
    fprintf(stderr, "fit_morton: %s\n", tamis_status_text(status));
    exit(1);
}

/* A filter of keys that no other filter has. */
static tamis *filled(const tamis_plan *plan, uint64_t n)
{
    static uint64_t next = 1;
    uint64_t keys[CHUNK];
    size_t added;
    tamis *f;

    must(tamis_new(&f, plan, NULL));
    for (uint64_t left = n; left > 0; left -= added) {
        for (size_t i = 0; i < CHUNK; i++)
            keys[i] = next++;
        must(tamis_add_many(f, &added, keys, left < CHUNK ? left : CHUNK));
    }
    return f;
}

/* ---- UNEVEN ------------------------------------------------------------ */

/* Of the fingerprints, those whose other bucket is marked. */
static double others_marked(const tamis *f)
{
    const morton_table t = morton_of(f);
    double marked = 0, held = 0;

    for (uint64_t i = 0; i < f->plan.slots; i++) {
        const morton_position block = morton_position_at(&t, i, 0, 0);
        for (unsigned bucket = 0; bucket < t.s.buckets; bucket++) {
            morton_run r = morton_run_of(&t, morton_counters_of(&t, block.block), bucket);
            for (unsigned k = r.start; k < r.end; k++, held++) {
                morton_position p = { i, block.block, bucket, morton_slot(&t.s, block.block, k) };
                morton_position other = morton_other(&t, &p);
                marked += morton_is_marked(&t, other.block, other.bucket);
            }
        }
    }
    return marked / held;
}

static void fit_uneven(fit *to, double fpr)
{
    const double n = 1e6;
    tamis_spec spec = TAMIS_SPEC(.keys = (uint64_t)n, .fpr = fpr, .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan;

    must(tamis_plan_kind(&plan, TAMIS_MORTON, &spec));
    morton_shape s = morton_shape_of(morton_buckets(&plan), plan.width);
    morton_flow x = morton_flow_of(&s, (double)plan.slots, n);
    tamis *f = filled(&plan, (uint64_t)n);
    double away = x.away / n, marked = (others_marked(f) - away) / (1 - away);
    fit_add(to, morton_uneven(&x), marked / (1 - morton_clear_buckets(&s, &x)) - 1);
    tamis_free(f);
}

/* ---- BACK_AGAIN -------------------------------------------------------- */

static tamis_plan plan_of_shape(const morton_shape *s)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 1, .fpr = 0.1, .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan;

    must(tamis_plan_kind(&plan, TAMIS_MORTON, &spec));
    plan.capacity = 0;
    plan.slots = BLOCKS;
    plan.width = s->width;
    plan.hashes = s->buckets;
    plan.bytes = tamis__ops(TAMIS_MORTON)->bytes(&plan);
    plan.fpr = 0;
    return plan;
}

/* The share of second buckets that are marked, if that is the rate: morton_rate_at(), solved
 * for it. */
static double marked_at(const morton_shape *s, const morton_flow *x, double n, double rate)
{
    double near = morton_bucket_rate(s, x, n / (x->blocks * s->buckets));
    double more = -expm1(MORTON_BUCKET * log1p(-exp2(-(double)s->width))) - near;
    double away = x->away / n, twice = rate / near - 1;
    double others = (twice - away * (1 - near - fmin(1, x->tight / x->away) * more)) / (1 - away);

    return (others + x->left * more) / (1 - near);
}

static void fit_back_again(fit *to, unsigned width, unsigned buckets)
{
    morton_shape s = morton_shape_of(buckets, width);
    double n = floor(MORTON_LOAD * BLOCKS * s.slots);
    tamis_plan plan = plan_of_shape(&s);
    tamis *f = filled(&plan, (uint64_t)n);
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    morton_flow x = morton_flow_of(&s, BLOCKS, n);
    double before = (1 + MORTON_UNEVEN * morton_uneven(&x)) * (1 - morton_clear_buckets(&s, &x));
    fit_add(to, morton_back_again(&x, n), (marked_at(&s, &x, n, info.fpr) - before) / (1 - before));
    tamis_free(f);
}

int main(void)
{
    const double rates[] = { 0.02, 0.01, 0.0032, 0.001, 0.0001 };
    const unsigned shapes[][2] = { { 4, 46 }, { 5, 38 }, { 5, 42 }, { 6, 32 },
                                   { 6, 36 }, { 7, 28 }, { 8, 26 } };
    fit uneven = { 0 }, back_again = { 0 };

    for (size_t i = 0; i < FILTERS * sizeof rates / sizeof *rates; i++)
        fit_uneven(&uneven, rates[i / FILTERS]);
    fit_print(&uneven, "MORTON_UNEVEN", MORTON_UNEVEN);
    for (size_t i = 0; i < FILTERS * sizeof shapes / sizeof *shapes; i++)
        fit_back_again(&back_again, shapes[i / FILTERS][0], shapes[i / FILTERS][1]);
    fit_print(&back_again, "MORTON_BACK_AGAIN", MORTON_BACK_AGAIN);
    return 0;
}
