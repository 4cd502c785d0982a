/* blocked: the split block layout bit by bit, against published vectors, and its rate as a mixture
 * over how many keys fall into a block. */
#include "base/bits.h"
#include "base/cpu.h"
#include "base/le.h"
#include "kinds.h"

static const uint32_t SALT[8] = { 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                  0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31 };

static tamis_plan block_plan(uint64_t blocks)
{
    tamis_plan plan = plan_for(TAMIS_BLOCKED, 10, 0.01, 0);

    plan.slots = blocks;
    plan.bytes = tamis__ops(TAMIS_BLOCKED)->bytes(&plan);
    assert_int_equal(plan.bytes, blocks * 32);
    assert_int_equal(plan.hashes, 8);
    assert_int_equal(plan.width, 32);
    return plan;
}

/* ---- Layout ------------------------------------------------------------ */

/* A key whose hash is h: published vectors give the hash of the key, and hash_key() comes after. */
static void add_hash(tamis *f, uint64_t h)
{
    assert_int_equal(tamis_add(f, unhash_key(h, f->salt)), TAMIS_OK);
}

/* XXH64 of "a0" .. "a9", and what they set in a single block of a Parquet Bloom filter. */
static void one_block_as_in_parquet(void **state)
{
    const uint64_t hashes[] = { UINT64_C(0xf095e781a7125e70), UINT64_C(0xfbe5503cb106ea90),
                                UINT64_C(0xa00cac980a7d134b), UINT64_C(0x4a74696301aa2dd9),
                                UINT64_C(0xd2a1705a19327639), UINT64_C(0x92ac73a4cd78f47c),
                                UINT64_C(0xbf4224955bef1ae7), UINT64_C(0x406898628bb01dd2),
                                UINT64_C(0xf9b26498849f68e5), UINT64_C(0xf1e2f8e0d3248d35) };
    const uint8_t expected[32] = { 200, 1,   80, 20, 64,  68, 8,   109, 6,  37, 4,
                                   67,  144, 80, 96, 32,  8,  132, 43,  33, 0,  5,
                                   99,  65,  2,  0,  224, 44, 64,  78,  96, 4 };
    tamis_plan plan = block_plan(1);

    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        plan.hasher.seed = seed;
        tamis *f = new_filter(&plan);
        for (int i = 0; i < 10; i++)
            add_hash(f, hashes[i]);
        assert_memory_equal(f->payload, expected, 32);
        tamis_free(f);
    }
}

/* The same for the 64-bit integers 0, 1 and 2. */
static void one_block_of_integers_as_in_parquet(void **state)
{
    const uint64_t hashes[] = { UINT64_C(0x34c96acdcadb1bbb), UINT64_C(0x9f29cb17a2a49995),
                                UINT64_C(0xeac73e4044e82db0) };
    const uint8_t expected[32] = { 0x00, 0x02, 0x10, 0x08, 0x00, 0x00, 0x04, 0x06, 0x00, 0x24, 0x00,
                                   0x02, 0x00, 0x00, 0x06, 0x02, 0x10, 0x00, 0x40, 0x04, 0x00, 0x00,
                                   0x00, 0x98, 0x40, 0x40, 0x00, 0x20, 0x20, 0x41, 0x00, 0x00 };
    tamis_plan plan = block_plan(1);
    tamis *f = new_filter(&plan);

    (void)state;
    for (int i = 0; i < 3; i++)
        add_hash(f, hashes[i]);
    assert_memory_equal(f->payload, expected, 32);
    tamis_free(f);
}

static void set_as_specified(uint8_t *payload, uint64_t h, uint64_t blocks)
{
    uint8_t *block = payload + 32 * scale64(h, blocks);

    for (int i = 0; i < 8; i++)
        put_le32(block + 4 * i, le32(block + 4 * i) | UINT32_C(1) << ((uint32_t)h * SALT[i] >> 27));
}

static void assert_layout(uint64_t blocks, unsigned cpu, rng *r)
{
    tamis_plan plan = block_plan(blocks);
    uint8_t *expected = array_of(plan.bytes, 1);
    uint64_t keys[333];

    plan.hasher.seed = rng_next(r);
    tamis *f = new_filter(&plan);
    tamis__use_cpu(f, cpu);
    for (int i = 0; i < 333; i++) {
        keys[i] = rng_next(r);
        set_as_specified(expected, hash_key(keys[i], salt_of_seed(plan.hasher.seed)), blocks);
    }
    add_all(f, keys, 333);
    assert_memory_equal(f->payload, expected, plan.bytes);
    free(expected);
    tamis_free(f);
}

static void bits_lie_where_the_format_says(void **state)
{
    rng r = rng_for(32, 0);

    (void)state;
    for (uint64_t blocks = 1; blocks <= 3000; blocks += 1 + blocks / 2) {
        assert_layout(blocks, TAMIS_CPU_PORTABLE, &r);
        assert_layout(blocks, tamis__cpu(), &r);
    }
}

/* ---- Rates ------------------------------------------------------------- */

static double rate(uint64_t blocks, uint64_t n)
{
    tamis_plan plan = block_plan(blocks);

    return tamis_plan_rate(&plan, n);
}

/* Bits per key and rate, from the mixture; the specification of the format rounds them. */
static void rates_match_the_table(void **state)
{
    const struct {
        double bits, percent, digits;
    } rows[] = {
        { 6.0, 9.93, 0.005 },  { 8, 3.32, 0.005 },        { 10.5, 1.013, 0.0005 },
        { 12, 0.542, 0.0005 }, { 16, 0.132, 0.0005 },     { 16.9, 0.0997, 0.00005 },
        { 20, 0.042, 0.0005 }, { 26.4, 0.0099, 0.00005 }, { 41, 0.0010, 0.00005 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double percent = 100 * rate((uint64_t)(rows[i].bits * 1e7 / 256 + 0.5), 10000000);

        assert_true(fabs(percent - rows[i].percent) <= rows[i].digits * 1.01);
    }
}

/* A block holds a binomial number of the keys, not a Poisson one: with few blocks that shows. */
static double binomial_mixture(uint64_t blocks, uint64_t n)
{
    double sum = 0, p = 1 / (double)blocks;

    if (blocks == 1)
        return pow(1 - pow(31.0 / 32, (double)n), 8);
    for (uint64_t i = 1; i <= n; i++)
        sum += exp(log_binomial((double)i, (double)n, p)) * pow(1 - pow(31.0 / 32, (double)i), 8);
    return sum;
}

/* Two keys of one block are the same to it if their low 32 bits are: that much may be added. */
static void rates_match_the_exact_mixture(void **state)
{
    const uint64_t blocks[] = { 1, 2, 3, 5, 10, 41, 100, 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (uint64_t n = 1; n <= 60 * blocks[i]; n += 1 + n / 3) {
            double told = rate(blocks[i], n), expected = binomial_mixture(blocks[i], n);
            double same = (double)n / (double)blocks[i] * 0x1p-32;

            if (told < expected * (1 - 1e-6) || told > (expected + same) * (1 + 1e-6))
                fail_msg("%llu keys in %llu blocks: %.8g, exactly %.8g", (unsigned long long)n,
                         (unsigned long long)blocks[i], told, expected);
        }
}

/* Each block lets through the product of its words: a full block beside an empty one is a rate of
 * one half, not of one half to the eighth. Besides, keys with the same low 32 bits are told: no
 * more of them than a block has bits. */
static void what_is_told_comes_from_the_blocks(void **state)
{
    tamis_plan plan = block_plan(2);
    tamis *f = new_filter(&plan);

    (void)state;
    memset(f->payload, 0xff, 32);
    assert_true(info_of(f).fpr >= 0.5 && info_of(f).fpr <= 0.5 + 256 * 0x1p-32);
    assert_true(info_of(f).fill == 0.5);
    memset(f->payload, 0, 4);
    assert_true(info_of(f).fpr <= 256 * 0x1p-32);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_block_as_in_parquet),
        cmocka_unit_test(one_block_of_integers_as_in_parquet),
        cmocka_unit_test(bits_lie_where_the_format_says),
        cmocka_unit_test(rates_match_the_table),
        cmocka_unit_test(rates_match_the_exact_mixture),
        cmocka_unit_test(what_is_told_comes_from_the_blocks),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
