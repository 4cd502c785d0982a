/* budget: one budget for many filters. Water-filling against its own conditions, choices against
 * trying everything, and the rates that are promised against filters that are really cut down. */
#include "bloom/bitset.h"
#include "bloom/probes.h"

#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_budget.h"

static double uniform(rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* ---- Any size ---------------------------------------------------------- */

static const double LN2_SQUARED = 0.480453013918201424667;

static tamis_vessel bloom_of(double weight, double keys)
{
    return (tamis_vessel){ weight, LN2_SQUARED / keys, 0, INFINITY, 0 };
}

static double cost_of(const tamis_vessel *v, size_t n)
{
    double cost = 0;

    for (size_t i = 0; i < n; i++)
        cost += v[i].weight * exp(-v[i].decay * v[i].bits);
    return cost;
}

static void assert_pours(tamis_vessel *v, size_t n, double bits)
{
    assert_int_equal(tamis_budget_pour(v, n, bits), TAMIS_OK);
}

static void two_filters_share(void **state)
{
    tamis_vessel v[] = { bloom_of(0.9, 1000), bloom_of(0.1, 1000) };
    tamis_vessel w[] = { bloom_of(0.99, 1000), bloom_of(0.01, 1000) };

    (void)state;
    assert_pours(v, 2, 8000);
    assert_true(fabs(v[0].bits - 6286.6) < 0.05 && fabs(v[1].bits - 1713.4) < 0.05);
    assert_pours(w, 2, 2000);
    assert_true(is_near(w[0].bits, 2000, 1e-12) && w[1].bits == 0);
}

/* w ~ i^-1.2, a thousand keys each. */
static void eight_filters(tamis_vessel v[8])
{
    double sum = 0;

    for (int i = 0; i < 8; i++)
        sum += pow(i + 1, -1.2);
    for (int i = 0; i < 8; i++)
        v[i] = bloom_of(pow(i + 1, -1.2) / sum, 1000);
}

static double equal_split(tamis_vessel *v, size_t n, double bits)
{
    for (size_t i = 0; i < n; i++)
        v[i].bits = bits / (double)n;
    return cost_of(v, n);
}

/* Eight bits per key to one filter after the other, as far as they go. */
static double hottest_first(tamis_vessel *v, size_t n, double bits)
{
    for (size_t i = 0; i < n; i++) {
        v[i].bits = fmin(bits, 8000);
        bits -= v[i].bits;
    }
    return cost_of(v, n);
}

static void eight_filters_share(void **state)
{
    const double known[] = { 7.31, 5.58, 4.57, 3.85, 3.29, 2.84, 2.45, 2.12 };
    tamis_vessel v[8];

    (void)state;
    eight_filters(v);
    assert_true(fabs(equal_split(v, 8, 32000) - 0.14634) < 5e-6);
    assert_true(fabs(hottest_first(v, 8, 32000) - 0.20627) < 5e-6);
    assert_pours(v, 8, 32000);
    for (int i = 0; i < 8; i++)
        assert_true(fabs(v[i].bits / 1000 - known[i]) < 0.005);
    assert_true(fabs(cost_of(v, 8) - 0.10226) < 5e-6);
}

static tamis_vessel random_vessel(rng *r)
{
    double keys = exp(15 * uniform(r));
    tamis_vessel v = bloom_of(exp(-20 * uniform(r)), keys);

    if (rng_below(r, 3) == 0)
        v.most = keys * 20 * uniform(r);
    if (rng_below(r, 6) == 0)
        v.least = fmin(v.most, keys * uniform(r));
    if (rng_below(r, 20) == 0)
        v.weight = 0;
    return v;
}

/* The gain of the next bit is the same everywhere, but for those at a limit: what is empty would
 * gain less, and what is full more. */
static void assert_is_level(const tamis_vessel *v, size_t n)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < n; i++) {
        double gain = v[i].weight * v[i].decay * exp(-v[i].decay * v[i].bits);

        assert_true(v[i].bits >= v[i].least && v[i].bits <= v[i].most);
        if (v[i].bits > v[i].least)
            low = fmin(low, gain);
        if (v[i].bits < v[i].most)
            high = fmax(high, gain);
    }
    assert_true(high <= low * (1 + 1e-9));
}

static void gains_are_level(void **state)
{
    enum { MOST = 300 };
    tamis_vessel v[MOST], twice[MOST];

    (void)state;
    for (uint64_t round = 0; round < run_size(400, 100, 4000); round++) {
        rng r = rng_for(1, round);
        size_t n = 1 + rng_below(&r, MOST);
        double least = 0, most = 0, sum = 0;

        for (size_t i = 0; i < n; i++) {
            twice[i] = v[i] = random_vessel(&r);
            twice[i].weight *= 2;
            least += v[i].least;
            most += v[i].weight > 0 ? fmin(v[i].most, 1e9) : v[i].least;
        }
        double bits = least + (most - least) * pow(uniform(&r), 8);
        assert_pours(v, n, bits);
        assert_pours(twice, n, bits);
        assert_is_level(v, n);
        for (size_t i = 0; i < n; i++) {
            sum += v[i].bits;
            assert_true(fabs(v[i].bits - twice[i].bits) <= 1e-9 * bits);
        }
        assert_true(is_near(sum, bits, 1e-12));
    }
}

static void pouring_has_ends(void **state)
{
    tamis_vessel v[] = { { 1, 0.1, 0, 50, 0 }, { 2, 0.2, 0, 70, 0 }, { 0, 0.1, 3, 9, 0 } };

    (void)state;
    assert_pours(v, 3, 1000);
    assert_true(v[0].bits == 50 && v[1].bits == 70 && v[2].bits == 3);
    assert_pours(v, 3, 3);
    assert_true(v[0].bits < 1e-12 && v[1].bits < 1e-12 && v[2].bits == 3);
    assert_pours(v, 0, 0);
    v[0].weight = v[1].weight = 0;
    assert_pours(v, 3, 50);
    assert_true(v[0].bits == 0 && v[1].bits == 0 && v[2].bits == 3);
}

static void pouring_refuses_nonsense(void **state)
{
    const tamis_vessel bad[] = {
        { -1, 1, 0, 1, 0 }, { NAN, 1, 0, 1, 0 }, { INFINITY, 1, 0, 1, 0 },
        { 1, 0, 0, 1, 0 },  { 1, NAN, 0, 1, 0 }, { 1, 1, -1, 1, 0 },
        { 1, 1, 2, 1, 0 },  { 1, 1, 0, NAN, 0 }, { 1, 1, NAN, 1, 0 },
    };
    tamis_vessel good = { 1, 1, 4, 8, 0 };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_vessel v = bad[i];
        assert_int_equal(tamis_budget_pour(&v, 1, 10), TAMIS_RANGE);
    }
    assert_int_equal(tamis_budget_pour(&good, 1, 3), TAMIS_RANGE);
    assert_int_equal(tamis_budget_pour(&good, 1, NAN), TAMIS_RANGE);
    assert_int_equal(tamis_budget_pour(&good, 1, INFINITY), TAMIS_RANGE);
}

/* ---- Certain sizes ----------------------------------------------------- */

enum { MOST_CLAIMS = 6, MOST_SIZES = 7 };

typedef struct instance {
    tamis_claim claims[MOST_CLAIMS];
    tamis_size sizes[MOST_CLAIMS][MOST_SIZES], kept[MOST_CLAIMS][MOST_SIZES];
    size_t n;
    uint64_t bytes;
} instance;

static size_t random_sizes(rng *r, tamis_size *sizes, uint64_t unit)
{
    size_t n = rng_below(r, MOST_SIZES + 1);
    uint64_t bytes = 0;
    double rate = 1;

    for (size_t i = 0; i < n; i++) {
        bytes += unit * (1 + rng_below(r, 20));
        rate *= 0.2 + 0.7 * uniform(r);
        sizes[i] = (tamis_size){ bytes, rate };
    }
    return n;
}

static void random_instance(instance *in, rng *r)
{
    uint64_t unit = rng_below(r, 2) ? 1 : 64, all = 0;

    in->n = 1 + rng_below(r, MOST_CLAIMS);
    for (size_t i = 0; i < in->n; i++) {
        tamis_claim *c = &in->claims[i];

        *c = (tamis_claim){ .weight = exp(-4 * uniform(r)), .sizes = in->sizes[i] };
        c->n = random_sizes(r, in->sizes[i], unit);
        if (rng_below(r, 3) == 0) {
            c->kept = in->kept[i];
            c->m = random_sizes(r, in->kept[i], unit);
            c->price = rng_below(r, 2) ? 0 : 0.3 * uniform(r);
        }
        c->needed = rng_below(r, 12) == 0 && c->n + c->m > 0;
        all += c->n ? c->sizes[c->n - 1].bytes : 0;
    }
    in->bytes = rng_below(r, all + 10);
}

/* The least cost of claims i and up within that many bytes, by trying everything. */
static double brute_force(const instance *in, size_t i, uint64_t bytes)
{
    const tamis_claim *c = &in->claims[i];
    double least;

    if (i == in->n)
        return 0;
    least = c->needed ? INFINITY : c->weight + brute_force(in, i + 1, bytes);
    for (size_t k = 0; k < c->n + c->m; k++) {
        const tamis_size *s = k < c->n ? &c->sizes[k] : &c->kept[k - c->n];

        if (s->bytes <= bytes)
            least = fmin(least, c->weight * s->rate + (k < c->n ? c->price : 0) +
                                    brute_force(in, i + 1, bytes - s->bytes));
    }
    return least;
}

/* What was chosen is what the result says. */
static void assert_adds_up(const tamis_budget *b, const tamis_claim *claims, size_t n)
{
    uint64_t bytes = 0;
    double cost = 0;

    for (size_t i = 0; i < n; i++) {
        const tamis_claim *c = &claims[i];

        assert_true(c->size || !c->needed);
        bytes += c->size ? c->size->bytes : 0;
        cost += c->size ? c->weight * c->size->rate + (c->is_kept ? 0 : c->price) : c->weight;
    }
    assert_int_equal(bytes, b->bytes);
    assert_true(is_near(cost, b->cost, 1e-12));
    assert_true(b->least <= b->cost);
}

static void choices_are_the_best(void **state)
{
    instance in;
    tamis_budget b;

    (void)state;
    for (uint64_t round = 0; round < run_size(1000, 200, 20000); round++) {
        rng r = rng_for(2, round);

        random_instance(&in, &r);
        double best = brute_force(&in, 0, in.bytes);
        tamis_status status = tamis_budget_choose(&b, in.claims, in.n, in.bytes, NULL);
        if (best == INFINITY) {
            assert_int_equal(status, TAMIS_RANGE);
            continue;
        }
        assert_int_equal(status, TAMIS_OK);
        assert_adds_up(&b, in.claims, in.n);
        assert_true(b.bytes <= in.bytes);
        assert_true(is_near(b.cost, best, 1e-12));
        assert_true(b.least == b.cost);
    }
}

/* Sizes of fuse filters, for keys from a hundred to a million. */
enum { LISTS = 200 };

static tamis_size lists[LISTS][TAMIS_SIZES_MAX];
static size_t list_sizes[LISTS];

static void make_lists(tamis_kind kind)
{
    for (int i = 0; i < LISTS; i++) {
        tamis_spec spec = spec_for((uint64_t)pow(10, 2 + 4.0 * i / LISTS), 0, 0);

        list_sizes[i] = tamis_budget_sizes(lists[i], kind, &spec);
    }
}

static void claim_lists(tamis_claim *claims, size_t n, rng *r)
{
    for (size_t i = 0; i < n; i++) {
        size_t list = rng_below(r, LISTS);

        claims[i] = (tamis_claim){ .weight = uniform(r) / (double)(i + 1),
                                   .sizes = lists[list],
                                   .n = list_sizes[list] };
    }
}

/* Where it is not proven to be the best, it cannot be far from it: the bound is below one step. */
static void many_choices_are_close(void **state)
{
    const size_t n = run_size(20000, 4000, 1000000);
    tamis_claim *claims = array_of(n, sizeof *claims);
    rng r = rng_for(3, 0);
    tamis_budget b;

    (void)state;
    make_lists(TAMIS_FUSE);
    claim_lists(claims, n, &r);
    for (uint64_t bytes = 1000; bytes < UINT64_C(1) << 45; bytes *= 30) {
        assert_int_equal(tamis_budget_choose(&b, claims, n, bytes, NULL), TAMIS_OK);
        assert_adds_up(&b, claims, n);
        assert_true(b.bytes <= bytes);
        assert_true(b.cost <= b.least * 1.01);
    }
    assert_true(b.cost == b.least);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(claims[i].size, &claims[i].sizes[claims[i].n - 1]);
    free(claims);
}

/* Steps of one size: going after the greatest gain is the best, and known to be. */
static void equal_steps_are_proven(void **state)
{
    enum { N = 3000 };
    static tamis_claim claims[N];
    tamis_size rows[20];
    rng r = rng_for(4, 0);
    tamis_budget b;

    (void)state;
    for (int i = 0; i < 20; i++)
        rows[i] = (tamis_size){ 1000 * (uint64_t)(i + 1), exp2(-i - 1) };
    for (int i = 0; i < N; i++)
        claims[i] = (tamis_claim){ .weight = i % 3 ? 1 : uniform(&r), .sizes = rows, .n = 20 };
    for (uint64_t bytes = 999; bytes < 70000000; bytes = bytes * 3 + 1) {
        assert_int_equal(tamis_budget_choose(&b, claims, N, bytes, NULL), TAMIS_OK);
        assert_adds_up(&b, claims, N);
        assert_true(b.cost == b.least);
        assert_int_equal(b.bytes, bytes / 1000 * 1000 < 60000000 ? bytes / 1000 * 1000 : 60000000);
    }
}

static void choosing_has_ends(void **state)
{
    const tamis_size sizes[] = { { 10, 0.5 }, { 20, 0.25 } }, kept[] = { { 15, 0.375 } };
    tamis_claim c = { .weight = 1, .sizes = sizes, .n = 2 };
    tamis_budget b;

    (void)state;
    assert_int_equal(tamis_budget_choose(&b, NULL, 0, 0, NULL), TAMIS_OK);
    assert_true(b.bytes == 0 && b.cost == 0 && b.least == 0);
    assert_int_equal(tamis_budget_choose(&b, &c, 1, 9, NULL), TAMIS_OK);
    assert_true(!c.size && b.cost == 1 && b.least == 1);
    assert_int_equal(tamis_budget_choose(&b, &c, 1, 19, NULL), TAMIS_OK);
    assert_ptr_equal(c.size, &sizes[0]);
    assert_int_equal(tamis_budget_choose(&b, &c, 1, UINT64_MAX, NULL), TAMIS_OK);
    assert_ptr_equal(c.size, &sizes[1]);
    /* Building costs more than it brings, so it stays what it is. */
    c.kept = kept;
    c.m = 1;
    c.price = 0.1875;
    assert_int_equal(tamis_budget_choose(&b, &c, 1, 100, NULL), TAMIS_OK);
    assert_true(c.size == &kept[0] && c.is_kept && b.cost == 0.375);
    c.price = 0.0625;
    assert_int_equal(tamis_budget_choose(&b, &c, 1, 100, NULL), TAMIS_OK);
    assert_true(c.size == &sizes[1] && !c.is_kept && b.cost == 0.3125);
    /* What nobody asks is not worth a byte. */
    c.weight = 0;
    assert_int_equal(tamis_budget_choose(&b, &c, 1, 100, NULL), TAMIS_OK);
    assert_true(!c.size && b.bytes == 0);
    c.needed = true;
    assert_int_equal(tamis_budget_choose(&b, &c, 1, 100, NULL), TAMIS_OK);
    assert_ptr_equal(c.size, &kept[0]);
    assert_int_equal(tamis_budget_choose(&b, &c, 1, 9, NULL), TAMIS_RANGE);
}

static void choosing_refuses_nonsense(void **state)
{
    const tamis_size sizes[] = { { 10, 0.5 } };
    const tamis_claim bad[] = {
        { .weight = -1 },
        { .weight = NAN },
        { .weight = INFINITY },
        { .weight = 1, .price = -1 },
        { .weight = 1, .price = NAN },
        { .weight = 1, .needed = true },
        { .weight = 1, .sizes = sizes, .n = SIZE_MAX },
    };
    tamis_budget b = { .bytes = 7 };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_claim c = bad[i];
        assert_int_equal(tamis_budget_choose(&b, &c, 1, 10, NULL), TAMIS_RANGE);
        assert_int_equal(b.bytes, 7);
    }
}

static void choosing_needs_memory(void **state)
{
    const tamis_size sizes[] = { { 10, 0.5 }, { 17, 0.3 }, { 20, 0.1 } };
    tamis_claim claims[3];
    tamis_budget b;
    limited_allocator p = { .limit = 64 << 20 };
    tamis_allocator a = allocator_of(&p);

    (void)state;
    for (int i = 0; i < 3; i++)
        claims[i] = (tamis_claim){ .weight = i + 1, .sizes = sizes, .n = 3 };
    assert_int_equal(tamis_budget_choose(&b, claims, 3, 39, &a), TAMIS_OK);
    assert_true(p.most <= 9 << 20 && p.live == 0);
    for (p.limit = 0; p.limit < 1 << 20; p.limit = 4 * p.limit + 1) {
        assert_int_equal(tamis_budget_choose(&b, claims, 3, 39, &a), TAMIS_NOMEM);
        assert_int_equal(p.live, 0);
    }
}

/* ---- Sizes of kinds ---------------------------------------------------- */

static void sizes_are_plans(tamis_kind kind)
{
    tamis_size sizes[TAMIS_SIZES_MAX];
    tamis_spec spec = spec_for(3000, 0, 0);
    size_t n = tamis_budget_sizes(sizes, kind, &spec), limited;

    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        tamis_plan plan;

        assert_true(i == 0 ||
                    (sizes[i].bytes > sizes[i - 1].bytes && sizes[i].rate < sizes[i - 1].rate));
        if (i % 8)
            continue;
        spec.max_bytes = sizes[i].bytes;
        assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
        assert_true(plan.bytes <= sizes[i].bytes && plan.fpr <= sizes[i].rate);
    }
    spec.max_bytes = sizes[n / 2].bytes;
    limited = tamis_budget_sizes(sizes, kind, &spec);
    assert_true(limited > 0 && sizes[limited - 1].bytes <= spec.max_bytes);
}

static void shrunk_sizes_are_made(tamis_kind kind)
{
    tamis_size sizes[TAMIS_SIZES_MAX];
    tamis_plan plan = plan_for(kind, 3000, 0.0001, 0);
    tamis *f = new_filter(&plan), *small;
    rng r = rng_for(5, kind);
    uint64_t *keys = fresh_keys(&r, 3000);
    size_t n = tamis_budget_shrunk(sizes, &plan, 3000);

    add_all(f, keys, 3000);
    assert_true(n > 0 && sizes[n - 1].bytes == plan.bytes);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 ||
                    (sizes[i].bytes > sizes[i - 1].bytes && sizes[i].rate <= sizes[i - 1].rate));
        assert_int_equal(tamis_shrink(&small, f, sizes[i].bytes, NULL), TAMIS_OK);
        assert_int_equal(tamis_plan_of(small)->bytes, sizes[i].bytes);
        assert_true(tamis_plan_rate(tamis_plan_of(small), 3000) == sizes[i].rate);
        tamis_free(small);
    }
    free(keys);
    tamis_free(f);
}

static void solid_kinds_keep_their_size(void **state)
{
    tamis_size sizes[TAMIS_SIZES_MAX];
    tamis_plan plan = plan_for(TAMIS_FUSE, 1000, 0.01, 0);

    (void)state;
    assert_int_equal(tamis_budget_shrunk(sizes, &plan, 1000), 1);
    assert_int_equal(sizes[0].bytes, plan.bytes);
}

/* ---- Rates of filters that are cut down -------------------------------- */

enum { KEYS = 1000, BITS = 19171, PROBES = 14 };

/* A classic filter of which only the first `bits` bits are left: probes beyond tell nothing. */
static bool prefix_has(const tamis *f, uint64_t bits, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt);

    for (uint32_t i = 0; i < f->plan.hashes; i++, x = probes_next(x)) {
        uint64_t at = scale64(x, f->plan.slots);
        if (at < bits && !bitset_get(f->payload, at))
            return false;
    }
    return true;
}

static tamis *filled(tamis_kind kind, uint64_t slots, uint32_t hashes, const uint64_t *keys)
{
    tamis_plan plan = plan_for(kind, KEYS, 0.0001, 0);

    plan.slots = slots;
    plan.hashes = hashes;
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    return filter_of(&plan, keys, KEYS);
}

/* Of a share r of the bits and a share p of ones among them. */
static double prefix_rate(const tamis *f, uint64_t bits)
{
    double ones = (double)bitset_ones(f->payload, 0, bits) / (double)f->plan.slots;
    double r = (double)bits / (double)f->plan.slots;

    return pow(1 - r + ones, f->plan.hashes);
}

/* At m = 19171, k = 14 and 1000 keys, half of the filter is 0.0100 in rows and 0.0211 as a prefix,
 * a quarter 0.100 and 0.166. Every one of the keys is still there. */
static void rows_beat_prefixes(void **state)
{
    const size_t queries = run_size(400000, 40000, 4000000);
    const struct {
        uint64_t part;
        double rows, prefix;
    } known[] = { { 2, 0.0100, 0.0211 }, { 4, 0.100, 0.166 } };
    rng r = rng_for(6, 0);
    uint64_t *keys = fresh_keys(&r, KEYS);
    tamis *bloom = filled(TAMIS_BLOOM, BITS, PROBES, keys), *small;
    /* Seven rows are half of fourteen; of a quarter, the rows are four of sixteen. */
    tamis *rows[] = { filled(TAMIS_PARTITIONED, BITS / 14, 14, keys),
                      filled(TAMIS_PARTITIONED, BITS / 16, 16, keys) };

    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t bits = BITS / known[i].part, in_prefix = 0, in_rows = 0;

        assert_int_equal(tamis_shrink(&small, rows[i], bits / 8 / 8 * 8 + 8, NULL), TAMIS_OK);
        assert_int_equal(small->plan.hashes, rows[i]->plan.hashes / known[i].part);
        for (size_t k = 0; k < KEYS; k++)
            assert_true(prefix_has(bloom, bits, keys[k]) && tamis_has(small, keys[k]));
        for (size_t q = 0; q < queries; q++) {
            uint64_t key = rng_next(&r);

            in_prefix += prefix_has(bloom, bits, key);
            in_rows += tamis_has(small, key);
        }
        assert_true(binomial_fits(in_prefix, queries, prefix_rate(bloom, bits)));
        assert_true(binomial_fits(in_rows, queries, info_of(small).fpr));
        /* The fill of a filter this small is a few percent off its mean. */
        assert_true(is_near(prefix_rate(bloom, bits), known[i].prefix, 0.1));
        assert_true(is_near(tamis_plan_rate(&small->plan, KEYS), known[i].rows, 0.15));
        tamis_free(small);
    }
    tamis_free(bloom);
    tamis_free(rows[0]);
    tamis_free(rows[1]);
    free(keys);
}

/* The eight filters of above, built to their parts of the budget and asked. */
static void eight_filters_are_asked(void **state)
{
    const size_t queries = run_size(200000, 20000, 2000000);
    tamis_vessel v[8];
    double cost = 0;

    (void)state;
    eight_filters(v);
    assert_pours(v, 8, 32000);
    for (int i = 0; i < 8; i++) {
        rng r = rng_for(7, (uint64_t)i);
        uint64_t *keys = fresh_keys(&r, KEYS), wrong = 0;
        double rate = exp(-v[i].decay * v[i].bits);
        tamis_plan plan = plan_for(TAMIS_BLOOM, KEYS, rate, (uint64_t)i);
        tamis *f = filter_of(&plan, keys, KEYS);

        /* Whole probes, and slots with many divisors. */
        assert_true((double)plan.bytes * 8 <= v[i].bits * 1.03 + 64);
        for (size_t q = 0; q < queries; q++)
            wrong += tamis_has(f, rng_next(&r));
        assert_true(binomial_fits(wrong, queries, info_of(f).fpr));
        cost += v[i].weight * (double)wrong / (double)queries;
        tamis_free(f);
        free(keys);
    }
    assert_true(is_near(cost, 0.10226, 0.03));
}

static int check_sizes(void)
{
    const law laws[] = {
        { "sizes are plans", sizes_are_plans,
          .cannot = TAMIS_IS_EXACT | TAMIS_IS_INDEXED | TAMIS_CAN_ROTATE },
        { "shrunk sizes are made", shrunk_sizes_are_made, .can = TAMIS_CAN_FOLD },
    };

    return check_laws(laws, sizeof laws / sizeof *laws);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_filters_share),        cmocka_unit_test(eight_filters_share),
        cmocka_unit_test(gains_are_level),          cmocka_unit_test(pouring_has_ends),
        cmocka_unit_test(pouring_refuses_nonsense), cmocka_unit_test(choices_are_the_best),
        cmocka_unit_test(many_choices_are_close),   cmocka_unit_test(equal_steps_are_proven),
        cmocka_unit_test(choosing_has_ends),        cmocka_unit_test(choosing_refuses_nonsense),
        cmocka_unit_test(choosing_needs_memory),    cmocka_unit_test(solid_kinds_keep_their_size),
        cmocka_unit_test(rows_beat_prefixes),       cmocka_unit_test(eight_filters_are_asked),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests) + check_sizes();
}
