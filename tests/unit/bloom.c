/* bloom: the textbook's examples by their positions, and its rate without the textbook's
 * approximation. */
#include "base/bits.h"
#include "base/cpu.h"
#include "kinds.h"
#include "scattered.h"

static tamis_plan bloom_plan(uint64_t m, unsigned k)
{
    return scattered_plan(TAMIS_BLOOM, m, k, m);
}

static double rate(uint64_t m, uint64_t n, unsigned k)
{
    tamis_plan plan = bloom_plan(m, k);

    return tamis_plan_rate(&plan, n);
}

/* ---- The worked examples ----------------------------------------------- */

/* n = 1e9, m = 8e9: k = 1 gives 0.1175, k = 2 gives 0.0489, and 6 is best. */
static void v3_rates_at_eight_bits_per_key(void **state)
{
    const uint64_t n = 1000000000, m = 8 * n;

    (void)state;
    assert_true(fabs(rate(m, n, 1) - 0.1175) < 0.00005);
    assert_true(fabs(rate(m, n, 2) - 0.0489) < 0.00005);
    for (unsigned k = 1; k <= 32; k++)
        assert_true(k == 6 || rate(m, n, k) > rate(m, n, 6));
}

/* Bits per key and best rate: 1 -> 0.61..0.62, 2 -> 0.38, 5 -> 0.09, 10 -> 0.008, which is
 * 0.5^(b ln 2): the best for any real k. Whole numbers of hashes come close, never below. */
static void v4_best_rates_by_bits_per_key(void **state)
{
    const struct {
        uint64_t bits;
        double low, high;
    } rows[] = {
        { 1, 0.61, 0.62 }, { 2, 0.38, 0.385 }, { 5, 0.085, 0.095 }, { 10, 0.0075, 0.0085 }
    };
    const uint64_t n = 1000000;

    (void)state;
    for (int i = 0; i < 4; i++) {
        double ideal = pow(0.5, (double)rows[i].bits * log(2)), best = 1;

        assert_true(ideal >= rows[i].low && ideal <= rows[i].high);
        for (unsigned k = 1; k <= 32; k++)
            best = fmin(best, rate(rows[i].bits * n, n, k));
        assert_true(best >= ideal && best <= 1.03 * ideal);
    }
}

/* About 4.8 more bits per key divide the rate by ten. */
static void v4_bits_for_a_tenth_of_the_rate(void **state)
{
    const double fprs[] = { 0.1, 0.01, 0.001, 0.0001, 0.00001 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        double bits = (double)plan_for(TAMIS_BLOOM, 1000000, fprs[i], 0).bytes * 8e-6;
        double more = (double)plan_for(TAMIS_BLOOM, 1000000, fprs[i + 1], 0).bytes * 8e-6;

        assert_true(more - bits > 4.7 && more - bits < 4.9);
    }
}

/* m = 4, h0 = (key + 1) mod 3, h1 = key mod 4. */
static void v7_positions(uint64_t *at, uint64_t key)
{
    at[0] = (key + 1) % 3;
    at[1] = key % 4;
}

static tamis *v7_filter_of(const uint64_t *keys, size_t n)
{
    tamis_plan plan = bloom_plan(4, 2);
    tamis *f = new_filter(&plan);
    uint64_t at[2];

    for (size_t i = 0; i < n; i++) {
        v7_positions(at, keys[i]);
        set_all(f, at, 2);
    }
    return f;
}

static bool v7_has(const tamis *f, uint64_t key)
{
    uint64_t at[2];

    v7_positions(at, key);
    return all_set(f, at, 2);
}

static void assert_v7(const uint64_t *keys, size_t n, unsigned bits, uint64_t asked, bool answer)
{
    tamis *f = v7_filter_of(keys, n);

    assert_int_equal(*(const uint8_t *)f->payload, bits);
    assert_int_equal(v7_has(f, asked), answer);
    for (size_t i = 0; i < n; i++)
        assert_true(v7_has(f, keys[i]));
    tamis_free(f);
}

static void v7_universe_of_three(void **state)
{
    (void)state;
    assert_v7((uint64_t[]){ 0 }, 1, 0x3, 7, false); /* {1, 0} */
    assert_v7((uint64_t[]){ 1 }, 1, 0x6, 0, false); /* {2, 1} */
    assert_v7((uint64_t[]){ 7 }, 1, 0xc, 0, false); /* {2, 3} */
    assert_v7((uint64_t[]){ 0, 7 }, 2, 0xf, 1, true);
    assert_v7((uint64_t[]){ 1, 7 }, 2, 0xe, 0, false);
    assert_v7((uint64_t[]){ 0, 1 }, 2, 0x7, 7, false);
    assert_v7((uint64_t[]){ 0, 1, 7 }, 3, 0xf, 1, true);
}

/* m = 11; the source counts positions from one. */
static void v8_positions(uint64_t *at, const uint64_t *from_one)
{
    for (int i = 0; i < 3; i++)
        at[i] = from_one[i] - 1;
}

static bool v8_has(const tamis *f, const uint64_t *from_one)
{
    uint64_t at[3];

    v8_positions(at, from_one);
    return all_set(f, at, 3);
}

/* S = {TTA, TCT, ATA}: CGA is absent, AAA a false positive. */
static void v8_codons(void **state)
{
    const uint64_t members[][3] = { { 1, 10, 9 }, { 10, 4, 11 }, { 2, 11, 10 } };
    const uint64_t absent[][3] = { { 3, 6, 4 }, { 6, 2, 1 }, { 9, 3, 3 } }; /* ACG, TTT, CGC */
    const uint64_t cga[] = { 11, 9, 6 }, aaa[] = { 4, 1, 2 };
    tamis_plan plan = bloom_plan(11, 3);
    tamis *f = new_filter(&plan);
    uint64_t at[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        v8_positions(at, members[i]);
        set_all(f, at, 3);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(v8_has(f, members[i]));
        assert_false(v8_has(f, absent[i]));
    }
    assert_false(v8_has(f, cga));
    assert_int_equal(*(const uint8_t *)f->payload >> 5 & 1, 0);
    assert_true(v8_has(f, aaa));
    assert_int_equal(count_ones(f->payload, plan.bytes), 6);
    tamis_free(f);
}

/* ---- Rates ------------------------------------------------------------- */

/* E[(X / m)^k] for X bits set by k n throws, by the recurrence of occupancy: the distribution of X
 * after each throw. */
static double occupancy_rate(unsigned m, unsigned n, unsigned k)
{
    double *p = array_of(m + 1, sizeof *p), sum = 0;

    p[0] = 1;
    for (unsigned t = 0; t < k * n; t++)
        for (unsigned i = m + 1; i-- > 0;)
            p[i] = p[i] * i / m + (i ? p[i - 1] * (m - i + 1) / m : 0);
    for (unsigned i = 0; i <= m; i++)
        sum += p[i] * pow((double)i / m, k);
    free(p);
    return sum;
}

static void rates_match_the_exact_table(void **state)
{
    const struct {
        unsigned m, n, k;
        double rate;
    } rows[] = {
        { 32, 4, 5, 0.025222 },    { 64, 8, 5, 0.023416 },      { 128, 16, 5, 0.022539 },
        { 512, 51, 7, 0.0081797 }, { 1024, 102, 7, 0.0081097 }, { 4096, 409, 7, 0.0081534 },
    };

    (void)state;
    for (int i = 0; i < 6; i++)
        assert_true(is_near(rate(rows[i].m, rows[i].n, rows[i].k), rows[i].rate, 3e-5));
}

static void rates_match_the_recurrence(void **state)
{
    const unsigned sizes[] = { 1, 2, 3, 5, 8, 16, 31, 64, 65, 100, 128, 250, 512, 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned k = 1; k <= 12; k += k < 4 ? 1 : 4)
            for (unsigned n = 0; n * k <= 2 * sizes[i]; n += 1 + n / 3) {
                double exact = occupancy_rate(sizes[i], n, k);

                assert_true(is_near(rate(sizes[i], n, k), exact, 1e-6));
            }
}

/* From where the library leaves the recurrence for something faster, the two must still agree. */
static void rates_of_many_bits_match_the_recurrence(void **state)
{
    const struct {
        unsigned m, n, k;
    } rows[] = { { 2000, 200, 7 },  { 4095, 300, 10 }, { 4096, 1000, 3 }, { 4097, 400, 7 },
                 { 8192, 500, 11 }, { 8192, 8000, 1 }, { 20000, 500, 20 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double exact = occupancy_rate(rows[i].m, rows[i].n, rows[i].k);

        assert_true(is_near(rate(rows[i].m, rows[i].n, rows[i].k), exact, 1e-4));
    }
}

/* ---- Layout ------------------------------------------------------------ */

/* The format's rule, spelled out. */
static void set_as_specified(uint8_t *bits, uint64_t h, uint64_t m, unsigned k)
{
    for (unsigned i = 0; i < k; i++) {
        uint64_t at = scale64(h, m);

        bits[at >> 3] |= (uint8_t)(1u << (at & 7));
        h = (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    }
}

static void bits_lie_where_the_format_says(void **state)
{
    const uint64_t sizes[] = { 1, 2, 63, 64, 65, 1000, 4096, 12345 };
    rng r = rng_for(30, 0);

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned k = 1; k <= 20; k++) {
            tamis_plan plan = bloom_plan(sizes[i], k);
            uint8_t *expected = array_of(plan.bytes, 1);

            plan.hasher.seed = rng_next(&r);
            tamis *f = new_filter(&plan);
            for (int n = 0; n < 10; n++) {
                uint64_t key = rng_next(&r);

                assert_int_equal(tamis_add(f, key), TAMIS_OK);
                set_as_specified(expected, hash_key(key, salt_of_seed(plan.hasher.seed)), sizes[i],
                                 k);
            }
            assert_memory_equal(f->payload, expected, plan.bytes);
            free(expected);
            tamis_free(f);
        }
}

static void what_is_told_comes_from_the_bits(void **state)
{
    tamis_plan plan = bloom_plan(1000, 3);
    tamis *f = new_filter(&plan);

    (void)state;
    for (uint64_t at = 0; at < 500; at++)
        set_all(f, &at, 1);
    tamis_info info = info_of(f);
    assert_true(info.fill == 0.5);
    assert_true(is_near(info.fpr, 0.125, 1e-12));
    assert_true(is_near(info.cardinality, 1000.0 / 3 * log(2), 0.002));
    memset(f->payload, 0xff, 125);
    info = info_of(f);
    assert_true(info.fill == 1 && info.fpr == 1);
    assert_true(isfinite(info.cardinality) && info.cardinality > 1000);
    tamis_free(f);
}

/* Bits past m are never asked about: a payload that has them is damaged. */
static void verify_sees_bits_past_the_end(void **state)
{
    tamis_plan plan = bloom_plan(1001, 3);
    tamis *f = new_filter(&plan);
    uint8_t *payload = f->payload;

    (void)state;
    for (uint64_t at = 1001; at < plan.bytes * 8; at++) {
        payload[at >> 3] ^= (uint8_t)(1u << (at & 7));
        assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
        payload[at >> 3] ^= (uint8_t)(1u << (at & 7));
    }
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_OK);
    tamis_free(f);
}

/* Bloom kinds have no options: a plan with flags or a load is not one of theirs. */
static void plans_with_options_are_refused(void **state)
{
    static const tamis_kind kinds[] = { TAMIS_BLOOM,    TAMIS_PARTITIONED,      TAMIS_BLOCKED,
                                        TAMIS_COUNTING, TAMIS_COUNTING_BLOCKED, TAMIS_SCALABLE,
                                        TAMIS_WINDOW,   TAMIS_COMPRESSED };

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const tamis_ops *ops = tamis__ops(kinds[i]);
        tamis_plan plan = plan_for(kinds[i], 1000, 0.01, 0);

        assert_int_equal(ops->bytes(&plan), plan.bytes);
        for (int bit = 0; bit < 16; bit++) {
            plan.flags = (uint16_t)(1u << bit);
            assert_int_equal(ops->bytes(&plan), 0);
            plan.flags = 0;
            plan.load = (uint16_t)(1u << bit);
            assert_int_equal(ops->bytes(&plan), 0);
            plan.load = 0;
        }
    }
}

/* ---- Kernels ----------------------------------------------------------- */

/* Any payload, of one row or of one for each hash, half of its bits set or all but a few. */
static void check_any_payload(const tamis_plan *plan, rng *r)
{
    tamis *f = new_filter(plan);
    uint64_t *keys = fresh_keys(r, 300), hits[2][5], more = rng_below(r, 2) ? 0x7f : 0;
    size_t n = 1 + rng_below(r, 300);

    for (uint64_t i = 0; i < plan->bytes; i++)
        ((uint8_t *)f->payload)[i] = (uint8_t)(rng_next(r) | more);
    size_t found = tamis_has_many(f, hits[0], keys, n);
    tamis__use_cpu(f, TAMIS_CPU_PORTABLE);
    assert_int_equal(tamis_has_many(f, hits[1], keys, n), found);
    assert_memory_equal(hits[0], hits[1], (n + 63) / 64 * 8);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_has(f, keys[i]), hits[0][i / 64] >> i % 64 & 1);
    tamis_free(f);
    free(keys);
}

static void kernels_agree_on_any_payload(void **state)
{
    const uint64_t slots[] = { 1, 63, 64, 65, 1000, 123457, 9000001 };
    rng r = rng_for(2303, 0);

    (void)state;
    for (unsigned round = 0; round < 140; round++) {
        tamis_plan plan = plan_for(round % 2 ? TAMIS_BLOOM : TAMIS_PARTITIONED, 10, 0.01, 0);
        plan.slots = slots[round % 7];
        plan.hashes = 1 + (uint32_t)rng_below(&r, 12);
        plan.bytes = tamis__ops(plan.kind)->bytes(&plan);
        check_any_payload(&plan, &r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v3_rates_at_eight_bits_per_key),
        cmocka_unit_test(v4_best_rates_by_bits_per_key),
        cmocka_unit_test(v4_bits_for_a_tenth_of_the_rate),
        cmocka_unit_test(v7_universe_of_three),
        cmocka_unit_test(v8_codons),
        cmocka_unit_test(rates_match_the_exact_table),
        cmocka_unit_test(rates_match_the_recurrence),
        cmocka_unit_test(rates_of_many_bits_match_the_recurrence),
        cmocka_unit_test(bits_lie_where_the_format_says),
        cmocka_unit_test(what_is_told_comes_from_the_bits),
        cmocka_unit_test(verify_sees_bits_past_the_end),
        cmocka_unit_test(plans_with_options_are_refused),
        cmocka_unit_test(kernels_agree_on_any_payload),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
