/* hash.c - are keys spread as evenly as the rates assume?
 *
 * Avalanche: each input bit flips each output bit half of the time. Evenness: positions among m,
 * slices of the hash, and pairs of successive positions, for keys as people have them. Bounds
 * are shared out over the number of things looked at. */
#include "base/hash.h"
#include "base/bits.h"
#include "bloom/probes.h"
#include "check.h"

/* ---- Families of keys -------------------------------------------------- */

typedef uint64_t family(uint64_t i);

static uint64_t sequential(uint64_t i)
{
    return i;
}

static uint64_t backwards(uint64_t i)
{
    return __builtin_bswap64(i);
}

static uint64_t multiples(uint64_t i)
{
    return i << 32;
}

static uint64_t one_high_half(uint64_t i)
{
    return UINT64_C(0xffffffff) << 32 | i;
}

static uint64_t steps(uint64_t i)
{
    return i * 4096 + 64;
}

static uint64_t addresses(uint64_t i)
{
    char text[64];
    int size = snprintf(text, sizeof text, "user-%010llu@example.org", (unsigned long long)i);

    return tamis__hash_fast(text, (size_t)size, 0);
}

static uint64_t keyed_numbers(uint64_t i)
{
    const uint8_t secret[16] = { 1 };

    return tamis__hash_keyed(&i, sizeof i, secret);
}

static family *const FAMILIES[] = { sequential, backwards, multiples,    one_high_half,
                                    steps,      addresses, keyed_numbers };

enum { N_FAMILIES = sizeof FAMILIES / sizeof *FAMILIES };

/* ---- Avalanche --------------------------------------------------------- */

enum { SAMPLES = 1 << 14 };

static void count_flips(uint64_t *flips, uint64_t difference)
{
    for (int bit = 0; bit < 64; bit++)
        flips[bit] += difference >> bit & 1;
}

static void assert_half(const uint64_t *flips, uint64_t samples, double cells)
{
    for (int bit = 0; bit < 64; bit++)
        assert_true(binomial_fits_at(flips[bit], samples, 0.5, ALPHA / cells));
}

/* What changes in the hash if these bits of key and seed do, for samples of both. */
static void assert_place_bits_flip(uint64_t in_key, uint64_t in_seed, rng *r)
{
    uint64_t flips[64] = { 0 };

    for (int i = 0; i < SAMPLES; i++) {
        uint64_t key = rng_next(r), seed = rng_next(r);

        count_flips(flips, hash_key(key, salt_of_seed(seed)) ^
                               hash_key(key ^ in_key, salt_of_seed(seed ^ in_seed)));
    }
    assert_half(flips, SAMPLES, 64 * 64);
}

static void every_key_bit_flips_every_place_bit(void **state)
{
    rng r = rng_for(1200, 0);

    (void)state;
    for (int in = 0; in < 64; in++)
        assert_place_bits_flip(UINT64_C(1) << in, 0, &r);
}

static void every_seed_bit_flips_every_place_bit(void **state)
{
    rng r = rng_for(1200, 1);

    (void)state;
    for (int in = 0; in < 64; in++)
        assert_place_bits_flip(0, UINT64_C(1) << in, &r);
}

typedef uint64_t byte_hash(const void *data, size_t size);

static uint64_t fast(const void *data, size_t size)
{
    return tamis__hash_fast(data, size, 1);
}

static uint64_t keyed(const void *data, size_t size)
{
    const uint8_t secret[16] = { 7 };

    return tamis__hash_keyed(data, size, secret);
}

static void flip_each_bit(byte_hash *hash, size_t size, rng *r)
{
    const int samples = 2048;
    uint8_t bytes[64];

    for (size_t in = 0; in < 8 * size; in++) {
        uint64_t flips[64] = { 0 };

        for (int i = 0; i < samples; i++) {
            for (size_t b = 0; b < size; b++)
                bytes[b] = (uint8_t)(rng_next(r) >> 20);
            uint64_t before = hash(bytes, size);
            bytes[in / 8] ^= (uint8_t)(1u << in % 8);
            count_flips(flips, before ^ hash(bytes, size));
        }
        assert_half(flips, (uint64_t)samples, 64 * 8 * 64 * 12);
    }
}

/* Lengths on both sides of every step in XXH3, from where there are enough inputs. */
static void every_byte_bit_flips_every_key_bit(void **state)
{
    const size_t sizes[] = { 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64 };
    rng r = rng_for(1200, 2);

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        flip_each_bit(fast, sizes[i], &r);
        flip_each_bit(keyed, sizes[i], &r);
    }
}

/* ---- Evenness ---------------------------------------------------------- */

static uint64_t place_of(family *key, uint64_t i)
{
    return hash_key(key(i), salt_of_seed(0));
}

static void assert_even(family *key, uint64_t m, uint64_t n, unsigned shift)
{
    uint64_t *counts = array_of(m, sizeof *counts);

    for (uint64_t i = 0; i < n; i++)
        counts[scale64(place_of(key, i) << shift, m)]++;
    assert_true(evenly_spread(counts, m, ALPHA / 100));
    free(counts);
}

static void positions_are_even(void **state)
{
    (void)state;
    for (int i = 0; i < N_FAMILIES; i++) {
        assert_even(FAMILIES[i], 64, 500000, 0);
        assert_even(FAMILIES[i], 1000, 500000, 0);
    }
    for (int i = 0; i < 5; i++)
        assert_even(FAMILIES[i], (1 << 20) + 64, 8 << 20, 0);
}

/* Kinds take what they need from any part of the 64 bits. */
static void slices_are_even(void **state)
{
    (void)state;
    for (int i = 0; i < N_FAMILIES; i++)
        for (unsigned shift = 0; shift <= 56; shift += 8)
            assert_even(FAMILIES[i], 256, 50000, shift);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Equal neighbours after sorting: nearly the number of equal pairs, for few of them. */
static uint64_t collisions(family *key, uint32_t *halves, uint64_t n, unsigned shift)
{
    uint64_t equal = 0;

    for (uint64_t i = 0; i < n; i++)
        halves[i] = (uint32_t)(place_of(key, i) >> shift);
    qsort(halves, n, sizeof *halves, by_value);
    for (uint64_t i = 1; i < n; i++)
        equal += halves[i] == halves[i - 1];
    return equal;
}

static void halves_collide_as_chance_has_it(void **state)
{
    const uint64_t n = 1 << 19;
    uint32_t *halves = array_of(n, sizeof *halves);

    (void)state;
    for (int i = 0; i < N_FAMILIES; i++)
        for (unsigned shift = 0; shift <= 32; shift += 32)
            assert_true(binomial_fits_at(collisions(FAMILIES[i], halves, n, shift), n * (n - 1) / 2,
                                         0x1p-32, ALPHA / (2 * N_FAMILIES)));
    free(halves);
}

/* ---- Several positions of one key -------------------------------------- */

enum { GRID = 64, PROBES = 12 };

/* Where probes `first` and `first + apart` of each key fall together, on a grid of both. */
static void assert_independent(family *key, unsigned first, unsigned apart, uint64_t n)
{
    uint64_t *counts = array_of(GRID * GRID, sizeof *counts);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = place_of(key, i), y;

        for (unsigned p = 0; p < first; p++)
            x = probes_next(x);
        y = x;
        for (unsigned p = 0; p < apart; p++)
            y = probes_next(y);
        counts[scale64(x, GRID) * GRID + scale64(y, GRID)]++;
    }
    assert_true(evenly_spread(counts, GRID * GRID, ALPHA / 1000));
    free(counts);
}

static void probes_of_one_key_are_independent(void **state)
{
    const uint64_t n = 200000;

    (void)state;
    for (int i = 0; i < 5; i++)
        for (unsigned first = 0; first < PROBES; first++)
            for (unsigned apart = 1; apart <= 3; apart++)
                assert_independent(FAMILIES[i], first, apart, n);
}

/* The eight words of a split block take five bits each from one 32-bit number, which also must not
 * depend on the block that the high bits chose. */
static void words_of_one_block_are_independent(void **state)
{
    const uint32_t salts[] = { 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                               0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31 };
    const uint64_t n = 200000;

    (void)state;
    for (int a = 0; a < 8; a++)
        for (int b = 0; b <= a; b++) {
            uint64_t counts[32 * 32] = { 0 };

            for (uint64_t i = 0; i < n; i++) {
                uint64_t h = place_of(sequential, i);
                uint32_t first = (uint32_t)h * salts[a] >> 27;

                counts[first * 32 + (a == b ? h >> 59 : (uint32_t)h * salts[b] >> 27)]++;
            }
            assert_true(evenly_spread(counts, 32 * 32, ALPHA / 100));
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_bit_flips_every_place_bit),
        cmocka_unit_test(every_seed_bit_flips_every_place_bit),
        cmocka_unit_test(every_byte_bit_flips_every_key_bit),
        cmocka_unit_test(positions_are_even),
        cmocka_unit_test(slices_are_even),
        cmocka_unit_test(halves_collide_as_chance_has_it),
        cmocka_unit_test(probes_of_one_key_are_independent),
        cmocka_unit_test(words_of_one_block_are_independent),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
