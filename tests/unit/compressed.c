/* compressed: sizes as they were published, bits of every density there and back, and payloads that
 * nobody wrote. */
#include "base/bits.h"
#include "base/le.h"
#include "kinds.h"
#include "tamis_pair.h"

/* ---- Sizes ------------------------------------------------------------- */

/* Bits that it takes to tell of each bit whether it is set, when a share p of them is. */
static double entropy(double p)
{
    return p > 0 && p < 1 ? (-p * log(p) - (1 - p) * log1p(-p)) / log(2) : 0;
}

/* Of an array of that many bits a key: the share that is set, the rate, and the length when
 * coded. */
static double wire_fill(double bits, unsigned k)
{
    return -expm1(-(double)k / bits);
}

static double wire_rate(double bits, unsigned k)
{
    return pow(wire_fill(bits, k), k);
}

static double wire_length(double bits, unsigned k)
{
    return bits * entropy(wire_fill(bits, k));
}

/* The largest array that is no longer than that when coded. The length grows with the array once
 * less than half of it is set. */
static double wire_bits(double length, unsigned k)
{
    double low = k / log(2), high = low;

    while (wire_length(high, k) < length)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (wire_length(middle, k) < length)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Mitzenmacher 2001, tables of 8 and of 16 bits a key. */
static void published_sizes_are_met(void **state)
{
    static const struct {
        double bits;
        unsigned k;
        double fpr, length;
    } rows[] = {
        { 8, 6, .0216, 8 },      { 14, 2, .0177, 7.923 },    { 92, 1, .0108, 7.923 },
        { 16, 11, 4.59e-4, 16 }, { 28, 4, 3.14e-4, 15.846 }, { 48, 3, 2.22e-4, 15.829 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(is_near(wire_rate(rows[i].bits, rows[i].k), rows[i].fpr, 0.005));
        assert_true(is_near(wire_length(rows[i].bits, rows[i].k), rows[i].length, 0.003));
    }
}

/* The same lengths, to the last bit. */
static void exact_lengths_are_solved(void **state)
{
    static const struct {
        double length;
        unsigned k;
        double bits, fpr;
    } rows[] = {
        { 8, 2, 14.34, .0170 },   { 8, 1, 96.9, .0103 },     { 16, 4, 28.67, 2.87e-4 },
        { 16, 3, 49.8, 2.00e-4 }, { 16, 2, 193.8, 1.05e-4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double bits = wire_bits(rows[i].length, rows[i].k);
        double fpr = wire_rate(bits, rows[i].k);

        assert_true(is_near(bits, rows[i].bits, 0.001));
        assert_true(is_near(fpr, rows[i].fpr, 0.005));
        assert_true(is_near(wire_length(bits, rows[i].k), rows[i].length, 1e-9));
    }
}

/* The best rate for 8 bits and for 16 bits a key, with 1.3 % for what is not entropy. */
static void plans_are_the_best_of_their_length(void **state)
{
    const uint64_t n = 10000000;
    tamis_spec spec = spec_for(n, 0, 0);
    tamis_plan plan;

    (void)state;
    for (spec.max_bytes = n; spec.max_bytes <= 2 * n; spec.max_bytes *= 2) {
        unsigned k = (unsigned)(spec.max_bytes / n);
        double length = 8.0 * (double)spec.max_bytes / (double)n;

        assert_int_equal(tamis_plan_kind(&plan, TAMIS_COMPRESSED, &spec), TAMIS_OK);
        assert_int_equal(plan.hashes, k);
        assert_true(plan.fpr >= wire_rate(wire_bits(length, k), k));
        assert_true(plan.fpr <= wire_rate(wire_bits(length / 1.013, k), k));
    }
}

static void planned_sizes_are_near_the_entropy(void **state)
{
    (void)state;
    for (double fpr = 0.5; fpr > 1e-9; fpr /= 1.3)
        for (uint64_t n = 1000; n <= 10000000; n *= 10) {
            tamis_plan plan = plan_for(TAMIS_COMPRESSED, n, fpr, 0);
            double bits = (double)plan.slots / (double)n;
            double length = wire_length(bits, plan.hashes) * (double)n / 8;

            assert_true(bits <= 16 * 8 * (double)plan.bytes / (double)n);
            if (plan.slots >= 100000)
                assert_true((double)plan.bytes <= 1.02 * length + 64);
        }
}

/* ---- There and back ---------------------------------------------------- */

static tamis *bloom_of(uint64_t slots, uint32_t hashes)
{
    tamis_plan plan = plan_for(TAMIS_BLOOM, 1000, 0.01, 3);

    plan.slots = slots;
    plan.hashes = hashes;
    plan.bytes = tamis__ops(TAMIS_BLOOM)->bytes(&plan);
    return new_filter(&plan);
}

static void set_bit(tamis *f, uint64_t bit)
{
    ((uint8_t *)f->payload)[bit / 8] |= (uint8_t)(1u << bit % 8);
}

static tamis *bloom_of_density(rng *r, uint64_t slots, double density)
{
    tamis *f = bloom_of(slots, 1);

    for (uint64_t i = 0; i < slots; i++)
        if ((double)(rng_next(r) >> 11) * 0x1p-53 < density)
            set_bit(f, i);
    return f;
}

static tamis *compressed(const tamis *f)
{
    tamis *packed = NULL;

    assert_int_equal(tamis_convert(&packed, TAMIS_COMPRESSED, f, NULL), TAMIS_OK);
    assert_true(is_whole(packed));
    return packed;
}

static void assert_returns(const tamis *f, const tamis *packed)
{
    tamis *back = NULL;

    assert_int_equal(tamis_convert(&back, TAMIS_BLOOM, packed, NULL), TAMIS_OK);
    assert_true(same_image(f, back));
    tamis_free(back);
}

static double entropy_of(const tamis *f)
{
    double m = (double)f->plan.slots;

    return m * entropy((double)count_ones(f->payload, f->plan.bytes) / m) / 8;
}

static void try_density(rng *r, uint64_t slots, double density)
{
    tamis *f = bloom_of_density(r, slots, density), *packed = compressed(f);

    assert_returns(f, packed);
    if (slots >= 100000)
        assert_true((double)packed->plan.bytes <=
                    fmax(1.02 * entropy_of(f), (double)slots / 8 / 1024) + 64);
    assert_true(packed->plan.bytes * 1024 >= slots / 8);
    for (int i = 0; i < 50; i++) {
        uint64_t key = rng_next(r);
        assert_int_equal(tamis_has(f, key), tamis_has(packed, key));
    }
    tamis_free(packed);
    tamis_free(f);
}

static void every_density_returns(void **state)
{
    const double densities[] = {
        0, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.2, 0.3, 0.45, 0.5, 0.7, 0.99, 1
    };
    uint64_t most = run_size(3000000, 500000, 10000000);
    rng r = rng_for(2800, 0);

    (void)state;
    for (size_t i = 0; i < sizeof densities / sizeof *densities; i++)
        for (uint64_t slots = 1; slots <= most; slots *= 10)
            try_density(&r, slots + (slots > 10 ? slots / 7 * (i % 2) : 0), densities[i]);
}

/* Every array of ten bits, and one bit or all but one anywhere in a few words. */
static void every_small_array_returns(void **state)
{
    (void)state;
    for (unsigned set = 0; set < 1 << 10; set++) {
        tamis *f = bloom_of(10, 1);
        put_le16(f->payload, (uint16_t)set);
        tamis *packed = compressed(f);
        assert_returns(f, packed);
        tamis_free(packed);
        tamis_free(f);
    }
    for (uint64_t bit = 0; bit < 200; bit++)
        for (int inverted = 0; inverted < 2; inverted++) {
            tamis *f = bloom_of(200, 1);
            for (uint64_t i = 0; i < 200; i++)
                if ((i == bit) != inverted)
                    set_bit(f, i);
            tamis *packed = compressed(f);
            assert_returns(f, packed);
            tamis_free(packed);
            tamis_free(f);
        }
}

/* All set bits side by side: their blocks are far longer than others. */
static void crowded_bits_return(void **state)
{
    (void)state;
    for (uint64_t ones = 1000; ones <= 1000000; ones *= 10) {
        tamis *f = bloom_of(30000000, 1);
        memset((uint8_t *)f->payload + 123456, 0xff, ones / 8);
        tamis *packed = compressed(f);
        assert_returns(f, packed);
        tamis_free(packed);
        tamis_free(f);
    }
}

/* ---- Answers ----------------------------------------------------------- */

static void answers_are_those_of_bloom(void **state)
{
    const double rates[] = { 0.5, 0.1, 0.01, 1e-3, 1e-5 };
    const size_t n = 3000;
    rng r = rng_for(2801, 0);
    uint64_t *keys = fresh_keys(&r, 3 * n), hits[3000 * 3 / 64 + 1];

    (void)state;
    for (int i = 0; i < 5; i++) {
        tamis_plan plan = plan_for(TAMIS_COMPRESSED, n, rates[i], (uint64_t)i);
        tamis *f = filter_of(&plan, keys, n), *plain = NULL;
        tamis_plan as_bloom = plan;

        as_bloom.kind = TAMIS_BLOOM;
        as_bloom.width = 0;
        as_bloom.bytes = tamis__ops(TAMIS_BLOOM)->bytes(&as_bloom);
        tamis *built = filter_of(&as_bloom, keys, n);
        assert_int_equal(tamis_convert(&plain, TAMIS_BLOOM, f, NULL), TAMIS_OK);
        assert_true(same_image(plain, built));
        tamis_has_many(f, hits, keys, 3 * n);
        for (size_t k = 0; k < 3 * n; k++) {
            assert_int_equal(tamis_has(f, keys[k]), tamis_has(built, keys[k]));
            assert_int_equal(hits[k / 64] >> k % 64 & 1, tamis_has(built, keys[k]));
        }
        tamis *again = compressed(built);
        assert_returns(built, again);
        assert_true(again->plan.bytes <= f->plan.bytes);
        tamis_free(again);
        tamis_free(built);
        tamis_free(plain);
        tamis_free(f);
    }
    free(keys);
}

/* Keys whose bits are all different need more than planned: the filter grows. */
static void keys_without_collisions_fit(void **state)
{
    const size_t n = 20000;
    tamis_plan plan = plan_for(TAMIS_COMPRESSED, n, 0.4, 0);
    uint64_t *keys = array_of(n, sizeof *keys);

    (void)state;
    assert_int_equal(plan.hashes, 1);
    for (size_t i = 0; i < n; i++)
        keys[i] = unhash_key(UINT64_MAX / n * i, salt_of_seed(0));
    tamis *f = filter_of(&plan, keys, n);
    assert_true(f->plan.bytes >= plan.bytes && f->plan.bytes <= 2 * plan.bytes);
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, keys[i]));
    assert_true(is_whole(f));
    plan.width = plan.width * 2 / 3;
    plan.bytes = tamis__ops(TAMIS_COMPRESSED)->bytes(&plan);
    tamis *small = filter_of(&plan, keys, n);
    assert_true(small->plan.bytes > plan.bytes);
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(small, keys[i]));
    tamis_free(small);
    tamis_free(f);
    free(keys);
}

static void other_kinds_are_not_compressed(void **state)
{
    tamis_plan plan = plan_for(TAMIS_PARTITIONED, 100, 0.01, 0);
    tamis *f = new_filter(&plan), *out = NULL;
    tamis_pair *pair = NULL;

    (void)state;
    assert_int_equal(tamis_convert(&out, TAMIS_COMPRESSED, f, NULL), TAMIS_CANNOT);
    assert_null(out);
    plan = plan_for(TAMIS_COMPRESSED, 100, 0.01, 0);
    assert_int_equal(tamis_pair_new(&pair, &plan, NULL, NULL), TAMIS_CANNOT);
    tamis_free(f);
}

/* ---- Payloads that nobody wrote ---------------------------------------- */

static void ask(const tamis *f, rng *r)
{
    uint64_t keys[40], hits[1];

    for (int i = 0; i < 40; i++)
        keys[i] = rng_next(r);
    tamis_has_many(f, hits, keys, 40);
    for (int i = 0; i < 40; i++)
        assert_int_equal(hits[0] >> i & 1, tamis_has(f, keys[i]));
}

static void random_bytes_are_answered(void **state)
{
    rng r = rng_for(2802, 0);

    (void)state;
    for (int round = 0; round < (int)run_size(300, 60, 300); round++) {
        uint64_t n = 1 + rng_below(&r, 5000);
        tamis_plan plan = plan_for(TAMIS_COMPRESSED, n, exp2(-1.0 - round % 20), 0);
        tamis *f = new_filter(&plan);
        uint8_t *payload = f->payload;

        for (uint64_t i = 0; i < plan.bytes; i++)
            payload[i] = (uint8_t)rng_next(&r);
        assert_false(is_whole(f));
        ask(f, &r);
        put_le64(payload, rng_below(&r, plan.slots + 1));
        ask(f, &r);
        assert_false(is_whole(f));
        tamis_free(f);
    }
}

/* Every byte of a small filter, changed in every way: it is never whole again. */
static void every_change_is_noticed(void **state)
{
    rng r = rng_for(2803, 0);
    tamis_plan plan = plan_for(TAMIS_COMPRESSED, 300, 0.01, 0);
    uint64_t *keys = fresh_keys(&r, 300);
    tamis *f = filter_of(&plan, keys, 300);
    uint8_t *payload = f->payload;
    int passed = 0;

    (void)state;
    assert_true(is_whole(f));
    for (uint64_t i = 0; i < plan.bytes; i++)
        for (unsigned change = 1; change < 256; change += (unsigned)run_size(5, 37, 1)) {
            payload[i] ^= (uint8_t)change;
            passed += is_whole(f);
            (void)tamis_has(f, keys[0]);
            payload[i] ^= (uint8_t)change;
        }
    /* Other bits, as many of them, in codes as long: such payloads are valid. */
    assert_true(passed < (int)plan.bytes * 255 / 50);
    free(keys);
    tamis_free(f);
}

static void broken_rules_are_told(void **state)
{
    tamis *plain = bloom_of(100000, 1);
    rng r = rng_for(2804, 0);

    (void)state;
    for (int i = 0; i < 5000; i++)
        set_bit(plain, rng_below(&r, 100000));
    tamis *f = compressed(plain);
    uint8_t *payload = f->payload;
    uint64_t ones = le64(payload), blocks = f->plan.bytes / 256 + 1;
    uint64_t starts = 8 + (blocks / 32 + 1) * 8;
    uint16_t first = le16(payload + starts + 2);

    put_le64(payload, ones + 1); /* another model, or another number of bits */
    assert_false(is_whole(f));
    put_le64(payload, 100001);
    assert_false(is_whole(f));
    put_le64(payload, 0);
    assert_false(is_whole(f));
    put_le64(payload, ones);
    assert_true(is_whole(f));
    put_le64(payload + 8, 1); /* of the first base */
    assert_false(is_whole(f));
    put_le64(payload + 8, 0);
    put_le16(payload + starts, 1);
    assert_false(is_whole(f));
    put_le16(payload + starts, 0);
    put_le16(payload + starts + 2, (uint16_t)(first + 1));
    assert_false(is_whole(f));
    put_le16(payload + starts + 2, 0xffff);
    assert_false(is_whole(f));
    put_le16(payload + starts + 2, first);
    payload[f->plan.bytes - 1] = 1;
    assert_false(is_whole(f));
    payload[f->plan.bytes - 1] = 0;
    assert_true(is_whole(f));
    tamis_free(f);
    tamis_free(plain);
}

static void wrong_numbers_are_no_geometry(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_COMPRESSED);
    tamis_plan plan = plan_for(TAMIS_COMPRESSED, 1000, 0.01, 0), p;

    (void)state;
#define REFUSED(field, value) (p = plan, p.field = (value), ops->bytes(&p) == 0)
    assert_true(ops->bytes(&plan) == plan.bytes);
    assert_true(REFUSED(slots, 0));
    assert_true(REFUSED(slots, UINT64_C(1) << 48));
    assert_true(REFUSED(slots, UINT64_MAX));
    assert_true(REFUSED(slots, UINT64_C(1) << 40)); /* blocks of more than 2^24 bits */
    assert_true(REFUSED(width, 0));
    assert_true(REFUSED(hashes, 0));
    assert_true(REFUSED(hashes, 65));
#undef REFUSED
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_sizes_are_met),
        cmocka_unit_test(exact_lengths_are_solved),
        cmocka_unit_test(plans_are_the_best_of_their_length),
        cmocka_unit_test(planned_sizes_are_near_the_entropy),
        cmocka_unit_test(every_density_returns),
        cmocka_unit_test(every_small_array_returns),
        cmocka_unit_test(crowded_bits_return),
        cmocka_unit_test(answers_are_those_of_bloom),
        cmocka_unit_test(keys_without_collisions_fit),
        cmocka_unit_test(other_kinds_are_not_compressed),
        cmocka_unit_test(random_bytes_are_answered),
        cmocka_unit_test(every_change_is_noticed),
        cmocka_unit_test(broken_rules_are_told),
        cmocka_unit_test(wrong_numbers_are_no_geometry),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
