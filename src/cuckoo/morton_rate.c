/* morton_rate.c - the false positive rate of Morton filters: which buckets are marked, and what an
 * absent key finds there.
 *
 * n keys come to N blocks of B buckets and P slots, at random. What does not fit where it comes
 * goes on to where there is room. The model follows this in steps of n / 256 keys:
 *
 *   m      so many keys, thrown at random, would fill as many blocks
 *   tries  so many keys, thrown at random, would fill as many buckets
 *   F      share of blocks that are full                  P[Bin(mean m / N) >= P]
 *   q      share of buckets that are full, in the others  P[Bin(tries, 1 / (N B)) >= 3]
 *
 * Each key that comes adds 1 / (1 - F) to m and 1 + (F / (1 - F) + q) / (1 - q) to tries, since
 * what is turned away tries elsewhere. Blocks are filled more evenly than by chance, as a bucket
 * holds three at most: the first binomial number has the variance of min(tries, 3).
 *
 * A key that comes to a full block sets one of its O marks, at random: it does not get into its own
 * bucket, or moves another out. In a block that is not full, the first key that finds a bucket full
 * sets its mark. So a mark is clear if no key found one of its buckets full before the block was
 * full, and none came to its buckets after that.
 *
 * A filter that has grown was filled once for each of its sizes, and has the marks of all. Marks
 * are for more or fewer buckets than before, so that those that were copied are for more each time.
 *
 * Tests compare the result with filters of 10 to 10^7 keys. */
#include <math.h>

#include "cuckoo/morton.h"

/* P[Bin(m, p) < k] for any m >= 0, with p below 1, and the mean of those below k. */
typedef struct morton_tail {
    double below, mean;
} morton_tail;

static morton_tail morton_binomial_tail(double m, double p, unsigned k)
{
    double term = exp(m * log1p(-p)), odds = p / (1 - p);
    morton_tail t = { 0, 0 };

    for (unsigned i = 0; i < k && term > 0; i++) {
        t.below += term;
        t.mean += i * term;
        term *= fmax(0, m - i) / (i + 1) * odds;
    }
    t.below = fmin(1, t.below);
    t.mean = t.below > 0 ? t.mean / t.below : k;
    return t;
}

/* A mark is for B / O buckets, rounded down or up. */
enum { MORTON_FEW, MORTON_MORE, MORTON_SIZES };

typedef struct morton_flow {
    double blocks, came;
    double m, tries; /* see above */
    double full;     /* F */
    double left;     /* share of buckets that a key found full, before their block was */
    double chained;  /* marks set by further moves, per bucket */
    double filled;   /* F, times the share of fingerprints there that are in their second bucket */
    double clear[MORTON_SIZES]; /* P[a block is full, and a mark of it is clear] */
    double away, tight; /* fingerprints in their second bucket; those whose first bucket was full */
} morton_flow;

enum { MORTON_FLOW_STEPS = 256 };

/* The variance of what buckets hold, as a share of the mean: less than 1, as they hold three at
 * most. */
static double morton_evenness(double tries, double p)
{
    double mean = 0, square = 0, rest = 1, term = exp(tries * log1p(-p));

    for (unsigned k = 0; k < MORTON_BUCKET; k++) {
        mean += k * term;
        square += k * k * term;
        rest -= term;
        term *= fmax(0, tries - k) / (k + 1) * p / (1 - p);
    }
    mean += MORTON_BUCKET * rest;
    square += MORTON_BUCKET * MORTON_BUCKET * rest;
    return mean > 1e-9 ? (square - mean * mean) / mean : 1;
}

static morton_tail morton_blocks_with_room(const morton_shape *s, const morton_flow *x, double m)
{
    double mean = m / x->blocks;
    double spread = (1 - 1 / x->blocks) * morton_evenness(x->tries, 1 / (x->blocks * s->buckets));

    if (mean < 0.4 * s->slots || x->blocks < 2)
        return (morton_tail){ mean < s->slots, mean };
    return morton_binomial_tail(mean / (1 - spread), 1 - spread, s->slots);
}

static double morton_size_of_mark(const morton_shape *s, int size)
{
    return s->buckets / s->marks + (unsigned)size;
}

/* Keys come to full blocks, and more blocks become full. */
static void morton_flow_over(morton_flow *x, const morton_shape *s, double keys, double full)
{
    for (int i = 0; i < MORTON_SIZES; i++) {
        double size = morton_size_of_mark(s, i),
               fade = exp(-keys * size / (x->blocks * s->buckets));
        x->clear[i] *= fade;
        x->clear[i] += fmax(0, full - x->full) * pow(1 - x->left, size) * sqrt(fade);
    }
    x->filled += fmax(0, full - x->full) * fmax(0, 1 - (x->came - x->tight) / x->m);
    x->full = full;
}

/* So many keys more. */
static void morton_flow_on(morton_flow *x, const morton_shape *s, double keys)
{
    double m = x->m + keys / 2 / (1 - x->full), buckets = x->blocks * s->buckets;
    morton_tail room = morton_blocks_with_room(s, x, m);
    double full = fmin(1 - room.below, 0.99), share = room.mean * x->blocks / m;
    double q =
        1 - morton_binomial_tail((x->tries + keys / 2) * share, 1 / buckets, MORTON_BUCKET).below;
    double out = full + (1 - full) * q;
    double held = room.below * room.mean + (1 - room.below) * s->slots;

    morton_flow_over(x, s, keys, full);
    /* m is set by what blocks hold, so that errors do not add up. */
    x->m += (x->came + 1.5 * keys - held * x->blocks) / (1 - full);
    x->tries += keys * (1 + (full / (1 - full) + q) / (1 - q));
    x->left += (q - x->left) * keys / buckets;
    x->came += keys;
    /* A full bucket whose three have nowhere to go takes two moves. */
    double chains = keys * q * pow(out, 4), back = x->full > 0 ? x->filled / x->full : 0;
    x->away += keys * out * (1 - 2 * out * back) + chains;
    x->chained += chains / buckets;
    x->tight += keys * (1 - full) * q;
}

/* n keys come to empty blocks. */
static morton_flow morton_flow_of(const morton_shape *s, double blocks, double n)
{
    morton_flow x = { .blocks = blocks };

    for (int i = 0; i < MORTON_FLOW_STEPS && n > 0; i++)
        morton_flow_on(&x, s, n / MORTON_FLOW_STEPS);
    return x;
}

/* P[a bucket is not marked]. */
static double morton_clear_buckets(const morton_shape *s, const morton_flow *x)
{
    double clear = 0;

    for (int i = 0; i < MORTON_SIZES; i++) {
        unsigned more = s->buckets % s->marks, marks = i == MORTON_MORE ? more : s->marks - more;
        double size = morton_size_of_mark(s, i),
               here = x->clear[i] + (1 - x->full) * pow(1 - x->left, size);
        clear += here * exp(-x->chained * size) * size * marks / s->buckets;
    }
    return clear;
}

/* P[an absent key finds its fingerprint in a bucket], where buckets hold `mean` on average. */
static double morton_bucket_rate(const morton_shape *s, const morton_flow *x, double mean)
{
    double p = 1 / (x->blocks * s->buckets), held = 0, hit = 0, before = 0;

    for (unsigned k = 0; k <= MORTON_BUCKET; k++) {
        double up_to = k < MORTON_BUCKET ? morton_binomial_tail(x->tries, p, k + 1).below : 1,
               here = up_to - before;
        held += here * k;
        hit -= here * expm1(k * log1p(-exp2(-(double)s->width)));
        before = up_to;
    }
    return held > 0 ? hit * mean / held : 0;
}

/* What the model leaves out, as two terms whose form was chosen and whose factors were fitted to
 * filters that were filled: tools/fit_morton fits them anew.
 *
 * MORTON_UNEVEN: what does not fit stays within reach, and where many keys come, more blocks are
 * full than on average. So more second buckets are marked than buckets are. Small filters are one
 * such place.
 *
 * MORTON_BACK_AGAIN: where both buckets and blocks are often full, which only rates above 5 % make
 * worth while, more second buckets still are marked; perhaps of those that moved away and later
 * back. The fit meets this term to a third. */
static const double MORTON_UNEVEN = 0.19, MORTON_BACK_AGAIN = 4000;

/* What these are factors of. */
static double morton_uneven(const morton_flow *x)
{
    return x->full * x->full * x->blocks / (x->blocks + MORTON_REACH);
}

static double morton_back_again(const morton_flow *x, double n)
{
    double both = n > 0 ? x->tight / n * x->full : 0;

    return pow(both, 4) * x->blocks / (x->blocks + MORTON_REACH);
}

/* P[an absent key is found among n keys], where buckets are `clear` with that probability.
 *
 * A fingerprint is found by absent keys whose first bucket it is in. It is also found by those
 * whose second bucket it is in, if their first is marked: certainly, if the fingerprint came from
 * there. If their first bucket has the same fingerprint, it does not count twice. A bucket that one
 * left for want of room has three. */
static double morton_rate_at(const morton_shape *s, const morton_flow *x, double n, double clear)
{
    double near = morton_bucket_rate(s, x, n / (x->blocks * s->buckets));
    double more = -expm1(MORTON_BUCKET * log1p(-exp2(-(double)s->width))) - near;
    double away = n > 0 ? x->away / n : 0, tight = x->away > 0 ? x->tight / x->away : 0;
    double uneven = 1 + MORTON_UNEVEN * morton_uneven(x);
    double marked = fmin(1, uneven * (1 - clear));

    marked += fmin(1, MORTON_BACK_AGAIN * morton_back_again(x, n)) * (1 - marked);
    double twice = away * (1 - near - fmin(1, tight) * more);
    if (marked > 0)
        twice += (1 - away) * marked * (1 - near - fmin(1, x->left / marked) * more);
    return fmin(1, near + near * twice);
}

/* ---- Plans ------------------------------------------------------------- */

/* Each 2^doublings-th part is a filter of as many blocks as there were at first, with a binomial
 * number of keys. With six standard deviations more than the mean, it is full to 97 %. */
uint64_t tamis__morton_room(const morton_shape *s, uint64_t homes, unsigned doublings)
{
    double slots = (double)homes * s->slots, root = sqrt(9 + MORTON_HIGHEST_LOAD * slots) - 3;
    double load = doublings ? fmin(MORTON_LOAD, root * root / slots) : MORTON_LOAD;

    return (uint64_t)(load * ldexp(slots, (int)doublings));
}

/* One of the sizes that a filter had, and how it was filled. */
typedef struct morton_size {
    morton_shape s;
    morton_flow x;
} morton_size;

static void morton_fill_sizes(morton_size *sizes, const tamis_plan *p, double n)
{
    unsigned doublings = morton_doublings(p);
    uint64_t homes = p->slots >> doublings;

    for (unsigned d = 0; d <= doublings; d++) {
        morton_shape s = morton_shape_of(morton_buckets(p), p->width + doublings - d);
        double room = d < doublings ? (double)tamis__morton_room(&s, homes, d) : n;
        sizes[d].s = s;
        sizes[d].x = morton_flow_of(&s, ldexp((double)homes, (int)d), fmin(n, room));
    }
}

/* The buckets of a mark: those i with floor(i marks / buckets) = mark. */
static unsigned morton_first_of_mark(const morton_shape *s, unsigned mark)
{
    return (mark * s->buckets + s->marks - 1) / s->marks;
}

/* P[no mark is set of those that the buckets from *low to *high have], which then are all buckets
 * of these marks. */
static double morton_clear_marks(const morton_size *z, unsigned *low, unsigned *high)
{
    unsigned first = *low * z->s.marks / z->s.buckets, last = *high * z->s.marks / z->s.buckets;
    double few = morton_size_of_mark(&z->s, MORTON_FEW), full = z->x.full, in_full = 1,
           in_others = 1;

    *low = morton_first_of_mark(&z->s, first);
    *high = morton_first_of_mark(&z->s, last + 1) - 1;
    for (unsigned mark = first; mark <= last && full > 0; mark++) {
        double size = morton_first_of_mark(&z->s, mark + 1) - morton_first_of_mark(&z->s, mark);
        in_full *= z->x.clear[size > few] / full;
    }
    double buckets = *high + 1 - *low;
    in_others = pow(1 - z->x.left, buckets);
    return (full * in_full + (1 - full) * in_others) * exp(-z->x.chained * buckets);
}

/* P[a bucket is not marked]. Before each doubling, all the marks were clear that became its own. */
static double morton_clear_of_sizes(const morton_size *sizes, unsigned doublings)
{
    unsigned buckets = sizes[0].s.buckets;
    double sum = 0;

    for (unsigned bucket = 0; bucket < buckets; bucket++) {
        unsigned low = bucket, high = bucket;
        double clear = 1;
        for (unsigned d = doublings + 1; d-- > 0;)
            clear *= morton_clear_marks(&sizes[d], &low, &high);
        sum += clear;
    }
    return sum / buckets;
}

/* Fingerprints that are in their second bucket stay there when the filter grows. */
static double morton_away_of_sizes(const morton_size *sizes, unsigned doublings)
{
    double away = 0;

    for (unsigned d = 0; d <= doublings; d++)
        away += sizes[d].x.away;
    return fmin(away, sizes[doublings].x.came);
}

static double morton_rate_grown(const tamis_plan *p, double n)
{
    unsigned doublings = morton_doublings(p);
    morton_size sizes[MORTON_MAX_WIDTH], *last = &sizes[doublings];

    morton_fill_sizes(sizes, p, n);
    last->x.away = morton_away_of_sizes(sizes, doublings);
    return morton_rate_at(&last->s, &last->x, n, morton_clear_of_sizes(sizes, doublings));
}

/* For keys that fit. Processors differ in the last bits, and each step makes that worse. So only as
 * many bits are kept as all agree on, and as the model is good for. */
static double morton_rate_within(const tamis_plan *p, const morton_shape *s, double n)
{
    morton_flow x = morton_flow_of(s, (double)p->slots, n);
    int exponent;
    double rate = morton_doublings(p) ? morton_rate_grown(p, n)
                                      : morton_rate_at(s, &x, n, morton_clear_buckets(s, &x));

    rate = frexp(rate, &exponent);

    return fmin(1, ldexp(ceil(ldexp(rate, 16)), exponent - 16));
}

/* More keys than fit are like several filters that are full. */
double tamis__morton_rate(const tamis_plan *p, double n)
{
    morton_shape s = morton_shape_of(morton_buckets(p), p->width);
    double most = MORTON_HIGHEST_LOAD * (double)p->slots * s.slots;

    if (n <= most)
        return morton_rate_within(p, &s, n);
    return -expm1(n / most * log1p(-morton_rate_within(p, &s, most)));
}
