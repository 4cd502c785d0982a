/* spectral, spectral-mi, spectral-rm: counts against the truth and each other, counters of any
 * size, and damage. */
#include "base/bits.h"
#include "base/le.h"
#include "kinds.h"

static const tamis_kind KINDS[] = { TAMIS_SPECTRAL, TAMIS_SPECTRAL_MI, TAMIS_SPECTRAL_RM };

/* An add makes no more than that many entries, of four digits in two filters of seven rows. */
enum { N_KINDS = 3, STATE_BYTES = 64, LINE_BYTES = 64, MAX_ENTRIES = 56 };

static tamis *spectral_of(tamis_kind kind, uint64_t keys, double fpr, uint64_t seed)
{
    tamis_plan plan = plan_for(kind, keys, fpr, seed);

    return new_filter(&plan);
}

static bool is_zero(const tamis *f)
{
    const uint8_t *bytes = f->payload;

    for (uint64_t i = 0; i < f->plan.bytes; i++)
        if (bytes[i])
            return false;
    return true;
}

/* V11 */
static void stream_a_a_b_c_c(void **state)
{
    const char *stream = "AABCC";

    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        tamis *f = spectral_of(KINDS[k], 3, 1e-6, 0);

        for (const char *c = stream; *c; c++)
            assert_int_equal(tamis_add(f, tamis_key(f, c, 1)), TAMIS_OK);
        assert_int_equal(tamis_count(f, tamis_key(f, "A", 1)), 2);
        assert_int_equal(tamis_count(f, tamis_key(f, "B", 1)), 1);
        assert_int_equal(tamis_count(f, tamis_key(f, "C", 1)), 2);
        assert_int_equal(tamis_count(f, tamis_key(f, "D", 1)), 0);
        tamis_free(f);
    }
}

/* ---- Counters of any size ---------------------------------------------- */

static void a_lone_counter_is_exact(void **state)
{
    const uint64_t counts[] = { 1, 14, 15, 16, 65550, 65551, 65552, UINT64_C(1) << 40, UINT64_MAX };

    (void)state;
    for (int k = 0; k < N_KINDS; k++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            tamis *f = spectral_of(KINDS[k], 10, 0.01, i);

            assert_int_equal(tamis_add_times(f, 7, counts[i]), TAMIS_OK);
            assert_true(tamis_count(f, 7) == counts[i]);
            assert_true(is_whole(f));
            if (f->ops.remove) {
                assert_int_equal(tamis_remove_times(f, 7, counts[i] - 1), TAMIS_OK);
                assert_int_equal(tamis_count(f, 7), 1);
                assert_true(is_whole(f));
                assert_int_equal(tamis_remove(f, 7), TAMIS_OK);
                assert_true(is_zero(f));
            }
            tamis_free(f);
        }
}

/* Up and down, a step at a time over each place where a counter gets a digit more. */
static void digits_come_and_go(void **state)
{
    const uint64_t edges[] = { 10, 65545, (UINT64_C(1) << 32) + 10, (UINT64_C(1) << 48) + 10 };

    (void)state;
    for (size_t e = 0; e < 4; e++) {
        tamis *f = spectral_of(TAMIS_SPECTRAL, 10, 0.01, e);

        assert_int_equal(tamis_add_times(f, 7, edges[e]), TAMIS_OK);
        for (uint64_t i = 1; i < 12; i++) {
            assert_int_equal(tamis_add(f, 7), TAMIS_OK);
            assert_true(tamis_count(f, 7) == edges[e] + i && is_whole(f));
        }
        for (uint64_t i = 11; i-- > 0;) {
            assert_int_equal(tamis_remove(f, 7), TAMIS_OK);
            assert_true(tamis_count(f, 7) == edges[e] + i && is_whole(f));
        }
        tamis_free(f);
    }
}

/* Every key is frequent: the table becomes as large as it must. */
static void tables_grow(void **state)
{
    const uint64_t n = 500;

    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        tamis *f = spectral_of(KINDS[k], n, 0.001, 3), *g = spectral_of(KINDS[k], n, 0.001, 3);
        uint32_t width = f->plan.width;

        for (uint64_t key = 0; key < n; key++)
            assert_int_equal(tamis_add_times(f, key, 1000 + key), TAMIS_OK);
        assert_true(f->plan.width > width && is_whole(f));
        /* One that has not grown takes all of it. */
        assert_int_equal(tamis_add_times(g, 1, 10), TAMIS_OK);
        assert_int_equal(tamis_combine(g, TAMIS_MERGE, f), TAMIS_OK);
        assert_true(g->plan.width > width && is_whole(g));
        for (uint64_t key = 0; key < n; key++) {
            assert_true(tamis_count(f, key) >= 1000 + key);
            assert_true(tamis_count(g, key) >= 1000 + key + (key == 1 ? 10 : 0));
        }
        for (uint64_t key = 0; key < n && f->ops.remove; key++)
            assert_int_equal(tamis_remove_times(f, key, 1000 + key), TAMIS_OK);
        assert_true(!f->ops.remove || is_zero(f));
        tamis_free(f);
        tamis_free(g);
    }
}

/* ---- Streams ----------------------------------------------------------- */

/* Each key once, then more of them by Zipf's law, in random order. */
typedef struct stream {
    uint64_t *adds, *truth;
    size_t n, keys;
} stream;

static stream stream_of(rng *r, size_t keys, double s, size_t adds)
{
    stream t = { array_of(adds + keys, sizeof *t.adds), array_of(keys, sizeof *t.truth), 0, keys };
    double *sums = array_of(keys, sizeof *sums), sum = 0;

    for (size_t i = 0; i < keys; i++)
        sums[i] = sum += pow((double)i + 1, -s);
    for (size_t i = 0; i < adds + keys; i++) {
        double x = (double)(rng_next(r) >> 11) * 0x1p-53 * sum;
        size_t low = 0, high = keys - 1;

        while (low < high && i >= keys) {
            size_t middle = (low + high) / 2;
            if (sums[middle] > x)
                high = middle;
            else
                low = middle + 1;
        }
        size_t key = i < keys ? i : low;
        t.adds[t.n++] = key;
        t.truth[key]++;
    }
    shuffle(r, t.adds, t.n);
    free(sums);
    return t;
}

static void free_stream(stream *t)
{
    free(t->adds);
    free(t->truth);
}

static tamis *poured(tamis_kind kind, const stream *t, double fpr, uint64_t seed)
{
    tamis *f = spectral_of(kind, t->keys, fpr, seed);

    add_all(f, t->adds, t->n);
    return f;
}

/* What minimum selection tells is an upper bound of what minimal increase tells, that one of the
 * truth; removing all undoes all. */
static void counts_are_ordered(void **state)
{
    rng r = rng_for(3100, 0);

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        stream t = stream_of(&r, 1000, 0.1 * (double)seed, 10000);
        tamis *ms = poured(TAMIS_SPECTRAL, &t, 0.05, seed);
        tamis *mi = poured(TAMIS_SPECTRAL_MI, &t, 0.05, seed);
        size_t removed;

        for (uint64_t key = 0; key < t.keys; key++) {
            assert_true(tamis_count(mi, key) >= t.truth[key]);
            assert_true(tamis_count(mi, key) <= tamis_count(ms, key));
        }
        shuffle(&r, t.adds, t.n);
        assert_int_equal(tamis_remove_many(ms, &removed, t.adds, t.n), TAMIS_OK);
        assert_true(is_zero(ms));
        tamis_free(ms);
        tamis_free(mi);
        free_stream(&t);
    }
}

/* A table doubles when it is full and not before: at least three eighths of it are in use. */
static void skewed_counts_take_little(void **state)
{
    const double skews[] = { 0, 0.8, 1, 1.2 };
    rng r = rng_for(3105, 0);

    (void)state;
    for (int k = 0; k < N_KINDS; k++)
        for (int i = 0; i < 4; i++) {
            stream t = stream_of(&r, 10000, skews[i], i ? 90000 : 0);
            tamis *f = poured(KINDS[k], &t, 0.01, 1);
            tamis_plan planned = plan_for(KINDS[k], t.keys, 0.01, 1);
            uint64_t used = le64(f->payload), most = used + MAX_ENTRIES;

            if (getenv("TAMIS_SHOW"))
                print_message("%s, Zipf %g: planned %.1f bits per key, now %.1f\n",
                              tamis_kind_name(KINDS[k]), skews[i],
                              8 * (double)planned.bytes / (double)t.keys,
                              8 * (double)f->plan.bytes / (double)t.keys);
            assert_true(f->plan.width == planned.width || f->plan.width / 2 * 6 < most);
            assert_true(i || f->plan.bytes == planned.bytes);
            tamis_free(f);
            free_stream(&t);
        }
}

static void recurring_minimum_forgets_all(void **state)
{
    rng r = rng_for(3101, 0);

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        stream t = stream_of(&r, 1000, 0.1 * (double)seed, 10000);
        tamis *f = poured(TAMIS_SPECTRAL_RM, &t, 0.03, seed);
        size_t removed, half = t.n / 2;

        assert_int_equal(tamis_remove_many(f, &removed, t.adds, half), TAMIS_OK);
        for (size_t i = half; i < t.n; i++)
            assert_true(tamis_count(f, t.adds[i]) > 0);
        assert_int_equal(tamis_remove_many(f, &removed, t.adds + half, t.n - half), TAMIS_OK);
        assert_true(is_zero(f));
        tamis_free(f);
        free_stream(&t);
    }
}

/* ---- Shares of wrong counts -------------------------------------------- */

/* One key of each of many filters, so that cases are independent: all its counters are shared with
 * the probability that the essay of spectral.h gives. Counts of 1, 2 and 20 are wrong alike. */
static void minimum_selection_errs_at_the_bloom_rate(void **state)
{
    const uint64_t n = 40, trials = is_sanitized() ? 5000 : 50000;
    tamis_plan plan = plan_for(TAMIS_SPECTRAL, n, 0.05, 0);
    uint64_t wrong = 0;

    (void)state;
    for (uint64_t t = 0; t < trials; t++) {
        plan.hasher.seed = t;
        tamis *f = new_filter(&plan);

        for (uint64_t key = 0; key < n; key++)
            assert_int_equal(tamis_add_times(f, key, 1 + key % 3 * 10), TAMIS_OK);
        uint64_t key = t % n, count = tamis_count(f, key);
        assert_true(count >= 1 + key % 3 * 10);
        wrong += count != 1 + key % 3 * 10;
        tamis_free(f);
    }
    assert_true(
        binomial_fits(wrong, trials, tamis__ops(TAMIS_SPECTRAL)->rate(&plan, (double)n - 1)));
}

typedef struct tally {
    uint64_t wrong, below, keys;
} tally;

static void tally_one(tally *t, tamis_kind kind, const stream *of, double fill, uint64_t seed)
{
    tamis_plan plan = plan_for(kind, of->keys, 0x1p-5, seed);

    plan.slots = (uint64_t)((double)of->keys / fill);
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    assert_int_equal(plan.hashes, 5);
    tamis *f = new_filter(&plan);
    add_all(f, of->adds, of->n);
    for (uint64_t key = 0; key < of->keys; key++) {
        uint64_t count = tamis_count(f, key);
        t->wrong += count != of->truth[key];
        t->below += count < of->truth[key];
    }
    t->keys += of->keys;
    tamis_free(f);
}

/* All kinds, on the same streams. */
static void tally_all(tally *tallies, double fill, double s, uint64_t seeds)
{
    rng r = rng_for(3102, 0);

    memset(tallies, 0, N_KINDS * sizeof *tallies);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        stream of = stream_of(&r, 1000, s, 50000);

        for (int k = 0; k < N_KINDS; k++)
            tally_one(&tallies[k], KINDS[k], &of, fill, seed);
        free_stream(&of);
    }
}

static void show(const char *kind, double fill, double s, const tally *t)
{
    if (getenv("TAMIS_SHOW"))
        print_message("%s, %g keys per counter of a row, Zipf %g: wrong %.5f, below %.6f\n", kind,
                      fill, s, (double)t->wrong / (double)t->keys,
                      (double)t->below / (double)t->keys);
}

/* Published and simulated shares, with five rows: minimal increase is wrong about half as often
 * as minimum selection, and so is recurring minimum. */
static void shares_of_wrong_counts(void **state)
{
    const struct {
        double fill, s, ms, mi, rm;
    } rows[] = { { 0.7, 0, 0.0337, 0.0245, 0.0188 },
                 { 0.7, 1, 0.0326, 0.0152, 0.0149 },
                 { 1.0, 1, 0.1017, 0.0493, 0.0512 } };
    const uint64_t seeds = run_size(8, 3, 20);

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const double expected[] = { rows[i].ms, rows[i].mi, rows[i].rm };
        tally tallies[N_KINDS];

        tally_all(tallies, rows[i].fill, rows[i].s, seeds);
        for (int k = 0; k < N_KINDS; k++) {
            const tally t = tallies[k];

            show(tamis_kind_name(KINDS[k]), rows[i].fill, rows[i].s, &t);
            assert_true(
                binomial_fits_between(t.wrong, t.keys, 0.7 * expected[k], 1.3 * expected[k]));
            assert_true(k == 2 || t.below == 0);
        }
    }
}

/* ---- Counts that are too low ------------------------------------------- */

enum { FEW = 40 };

/* The highest share that docs/filters/spectral-rm.md tells. */
static const double MOST_BELOW = 1e-3;

/* What chance makes of a stranger: marks that are all set, and rows of the second filter in which
 * none of its counters is 0. */
static double chance_to_look_moved(const tamis *f)
{
    uint64_t first = f->plan.slots * f->plan.hashes, slots = f->plan.slots / 2 + 1;
    uint64_t halves = STATE_BYTES + LINE_BYTES * (uint64_t)f->plan.width;
    uint64_t marks = halves + bytes_of_bits(4 * (first + slots * f->plan.hashes));
    const uint8_t *payload = f->payload;
    double set = (double)count_ones(payload + marks, f->plan.bytes - marks) / (double)first;
    double chance = set * set * set;

    for (uint64_t row = 0; row < f->plan.hashes; row++) {
        uint64_t used = 0;
        for (uint64_t i = first + row * slots; i < first + (row + 1) * slots; i++)
            used += (payload[halves + i / 2] >> i % 2 * 4 & 15) != 0;
        chance *= (double)used / (double)slots;
    }
    return chance;
}

static void come_and_go(tamis *f, uint64_t *truth, rng *r, bool go)
{
    memset(truth, 0, FEW * sizeof *truth);
    for (uint64_t i = 0; i < 5 * FEW; i++) {
        uint64_t key = i < FEW ? i : rng_below(r, 1 + rng_below(r, FEW));
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
        truth[key]++;
    }
    for (int i = 0; i < 2 * FEW && go; i++) {
        uint64_t key = rng_below(r, FEW);
        if (truth[key] < 2)
            continue;
        assert_int_equal(tamis_remove(f, key), TAMIS_OK);
        truth[key]--;
    }
}

/* One key of each filter, so that cases are independent; *chance is the mean of the above. */
static uint64_t below_of(double fill, bool go, uint64_t trials, double *chance)
{
    tamis_plan plan = plan_for(TAMIS_SPECTRAL_RM, FEW, 0x1p-5, 0);
    rng r = rng_for(3104, (uint64_t)(10 * fill) + go);
    uint64_t truth[FEW], below = 0;

    plan.slots = (uint64_t)(FEW / fill);
    plan.bytes = tamis__ops(TAMIS_SPECTRAL_RM)->bytes(&plan);
    *chance = 0;
    for (uint64_t i = 0; i < trials; i++) {
        plan.hasher.seed = rng_next(&r);
        tamis *f = new_filter(&plan);
        come_and_go(f, truth, &r, go);
        uint64_t key = rng_below(&r, FEW), count = tamis_count(f, key);
        assert_true(count > 0);
        below += count < truth[key];
        *chance += chance_to_look_moved(f) / (double)trials;
        tamis_free(f);
    }
    return below;
}

/* If the share were MOST_BELOW, so few would not be seen but once in a billion runs. Without
 * removes there are no more than chance lets look moved, either. */
static void recurring_minimum_is_rarely_too_low(void **state)
{
    const double fills[] = { 0.7, 1.0 };
    const uint64_t trials = run_size(25000, 25000, 40000);

    (void)state;
    if (is_sanitized())
        skip(); /* statistics alone */
    for (int i = 0; i < 2; i++)
        for (int go = 0; go <= 1; go++) {
            double chance;
            uint64_t below = below_of(fills[i], go, trials, &chance);

            if (getenv("TAMIS_SHOW"))
                print_message("%g keys per counter of a row, removes %d: %llu of %llu below, "
                              "chance %.3g\n",
                              fills[i], go, (unsigned long long)below, (unsigned long long)trials,
                              chance);
            assert_true((double)below < MOST_BELOW * (double)trials);
            assert_true(binomial_tail(below, trials, MOST_BELOW) < 1e-9);
            assert_true(go || binomial_fits_between(below, trials, 0, chance));
        }
}

/* Many more keys than planned, coming and going: whatever the second filter tells, none is lost. */
static void crowded_filters_lose_nothing(void **state)
{
    rng r = rng_for(3103, 0);
    uint64_t truth[64];

    (void)state;
    for (uint64_t seed = 0; seed < run_size(24, 8, 50); seed++) {
        tamis *f = spectral_of(TAMIS_SPECTRAL_RM, 1 + seed % 8, 0.5, seed);

        memset(truth, 0, sizeof truth);
        for (int step = 0; step < 3000; step++) {
            uint64_t key = rng_below(&r, 64);
            if (truth[key] && rng_below(&r, 2)) {
                assert_int_equal(tamis_remove(f, key), TAMIS_OK);
                truth[key]--;
            } else if (step < 2000) {
                assert_int_equal(tamis_add(f, key), TAMIS_OK);
                truth[key]++;
            }
            for (uint64_t i = 0; i < 64; i++)
                assert_true(!truth[i] || (tamis_has(f, i) && tamis_count(f, i) > 0));
        }
        assert_true(is_whole(f));
        tamis_free(f);
    }
}

/* ---- Damage ------------------------------------------------------------ */

static uint8_t *entries(const tamis *f)
{
    return (uint8_t *)f->payload + STATE_BYTES;
}

static uint64_t some_entry(const tamis *f, bool used)
{
    uint64_t i = 0;

    while ((le64(entries(f) + 8 * i) != 0) != used)
        i++;
    return i;
}

static void assert_noticed(const tamis *f, uint8_t *at, uint64_t bad)
{
    uint64_t good = le64(at);

    assert_true(is_whole(f));
    put_le64(at, bad);
    assert_false(is_whole(f));
    /* Whatever it holds, it answers. */
    for (uint64_t key = 0; key < 100; key++)
        (void)tamis_count(f, key);
    put_le64(at, good);
}

static void damage_is_noticed(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        tamis *f = spectral_of(KINDS[k], 100, 0.01, 1);

        for (uint64_t key = 0; key < 3; key++)
            assert_int_equal(tamis_add_times(f, key, 100000 + key), TAMIS_OK);
        uint8_t *payload = f->payload;
        uint8_t *used = entries(f) + 8 * some_entry(f, true);
        uint8_t *empty = entries(f) + 8 * some_entry(f, false);
        uint64_t entry = le64(used);
        assert_noticed(f, payload, le64(payload) + 1);
        assert_noticed(f, payload + 8, 1);
        assert_noticed(f, used, 0);
        assert_noticed(f, used, entry ^ 1 << 16);
        assert_noticed(f, used, entry ^ 1 << 17);
        assert_noticed(f, used, entry ^ UINT64_C(1) << 19);
        assert_noticed(f, used, entry | ~UINT64_C(0) << 19);
        /* Other kinds have counters of which no more is known than bounds, if that. */
        if (KINDS[k] == TAMIS_SPECTRAL)
            assert_noticed(f, used, entry + 1);
        assert_noticed(f, empty, entry);
        assert_noticed(f, payload + f->plan.bytes - 8,
                       le64(payload + f->plan.bytes - 8) ^ UINT64_C(1) << 63);
        f->count -= 2;
        assert_false(is_whole(f));
        f->count += 2;
        tamis_free(f);
    }
}

/* A table without an empty place ends every search. */
static void full_tables_end(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        tamis *f = spectral_of(KINDS[k], 100, 0.01, 1);

        memset(f->payload, 0xff, f->plan.bytes);
        for (uint64_t key = 0; key < 100; key++)
            assert_true(tamis_has(f, key) && tamis_count(f, key) > 0);
        assert_false(is_whole(f));
        tamis_free(f);
    }
}

static void bad_shapes_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        const tamis_plan good = plan_for(KINDS[k], 100, 0.01, 0);
        const tamis_plan bad[] = {
            { .slots = 1, .hashes = 5, .width = 1 },
            { .slots = 10, .hashes = 0, .width = 1 },
            { .slots = 10, .hashes = 65, .width = 1 },
            { .slots = 10, .hashes = 5, .width = 0 },
            { .slots = UINT64_C(1) << 44, .hashes = 1, .width = 1 },
            { .slots = UINT64_MAX, .hashes = 64, .width = 1 },
            { .slots = 10, .hashes = 5, .width = 1, .flags = TAMIS_PLAN_GROWS },
            { .slots = 10, .hashes = 5, .width = 1, .load = 900 },
        };

        assert_int_equal(tamis__ops(KINDS[k])->bytes(&good), good.bytes);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            assert_int_equal(tamis__ops(KINDS[k])->bytes(&bad[i]), 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_a_a_b_c_c),
        cmocka_unit_test(a_lone_counter_is_exact),
        cmocka_unit_test(digits_come_and_go),
        cmocka_unit_test(tables_grow),
        cmocka_unit_test(counts_are_ordered),
        cmocka_unit_test(skewed_counts_take_little),
        cmocka_unit_test(recurring_minimum_forgets_all),
        cmocka_unit_test(minimum_selection_errs_at_the_bloom_rate),
        cmocka_unit_test(shares_of_wrong_counts),
        cmocka_unit_test(recurring_minimum_is_rarely_too_low),
        cmocka_unit_test(crowded_filters_lose_nothing),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(full_tables_end),
        cmocka_unit_test(bad_shapes_are_refused),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
