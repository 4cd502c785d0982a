/* The hash functions of tamis lab hash: known answers, and families that are universal. */
#include "../../hashes.c"
#include "check.h"

static uint64_t draw(void *ctx)
{
    return rng_next(ctx);
}

static hashes_family *family(uint64_t n)
{
    static hashes_family f;
    rng r = rng_for(70, n);

    hashes_draw(&f, 1021, draw, &r);
    return &f;
}

static uint64_t hash_of(const hashes_family *f, const char *name, const char *text)
{
    for (int i = 0; i < HASHES_N; i++)
        if (strcmp(hashes_table[i].name, name) == 0)
            return hashes_table[i].hash(f, text, strlen(text));
    fail_msg("no function is called %s", name);
    return 0;
}

static void known_answers(void **state)
{
    static const char FOX[] = "The quick brown fox jumps over the lazy dog";
    const struct {
        const char *name, *text;
        uint64_t hash;
    } known[] = {
        { "times-31", "", 0 },
        { "times-31", "hello world", 0x6aefe2c4 },
        { "times-31", FOX, 0xdbacdd53 },
        { "fnv-1a", "", UINT64_C(0xcbf29ce484222325) },
        { "fnv-1a", "hello", UINT64_C(0xa430d84680aabd0b) },
        { "fnv-1a", FOX, UINT64_C(0xf3f9b7f5e7e47110) },
        { "murmur3", "", 0 },
        { "murmur3", "a", UINT64_C(0x85555565f6597889) },
        { "murmur3", "abc", UINT64_C(0xb4963f3f3fad7867) },
        { "murmur3", "hello", UINT64_C(0xcbd8a7b341bd9b02) },
        { "murmur3", "hello world", UINT64_C(0x533f6046eb7f610e) },
        { "murmur3", FOX, UINT64_C(0xe34bbc7bbc071b6c) },
        { "xxh3", "", UINT64_C(0x2d06800538d394c2) },
        { "xxh3", "hello", UINT64_C(0x9555e8555c62dcfd) },
        { "xxh3", FOX, UINT64_C(0xce7d19a5418fb365) },
        { "siphash", "", UINT64_C(0x726fdb47dd0e0e31) },
        { "siphash", "hello", UINT64_C(0x004fb3985767df81) },
        { "siphash", FOX, UINT64_C(0x52276105dc1f6fe4) },
        { "sum", "silent", 655 },
        { "sum", "listen", 655 },
        { "division", "\x05\x01", 261 },
        { "knuth", "\x05\x01", 261 * 264 % 1021 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(hash_of(family(0), known[i].name, known[i].text), known[i].hash);
}

/* a b + c modulo the prime, a bit of b at a time. */
static uint64_t times_by_bits(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product = 0;

    for (int bit = 60; bit >= 0; bit--)
        product = (2 * product + (b >> bit & 1) * a) % MERSENNE;
    return (product + c) % MERSENNE;
}

static void products_modulo_the_prime(void **state)
{
    rng r = rng_for(71, 0);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = rng_next(&r) % MERSENNE, b = rng_next(&r) % MERSENNE;
        uint64_t c = rng_next(&r) % MERSENNE;
        if (i % 3 == 0)
            a = MERSENNE - 1 - rng_below(&r, 3);
        if (i % 5 == 0)
            b = MERSENNE - 1 - rng_below(&r, 3);
        assert_int_equal(mersenne_times(a, b, c), times_by_bits(a, b, c));
    }
}

/* Two keys share one of M buckets with a chance of about 1/M, over functions of the family. */
static void families_are_universal(void **state)
{
    const char *const names[] = { "multiply-shift", "carter-wegman", "tabulation" };
    const char *const pairs[][2] = { { "silent", "listen" }, { "a", "b" }, { "ab", "abc" } };
    const uint64_t n = run_size(20000, 2000, 1000000);

    (void)state;
    uint64_t hits[3][3] = { { 0 } };
    for (uint64_t i = 0; i < n; i++) {
        hashes_family *f = family(i);
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                hits[j][k] += hash_of(f, names[j], pairs[k][0]) % f->buckets ==
                              hash_of(f, names[j], pairs[k][1]) % f->buckets;
    }
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
            assert_true(binomial_fits(hits[j][k], n, 1 / 1021.));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(products_modulo_the_prime),
        cmocka_unit_test(families_are_universal),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
