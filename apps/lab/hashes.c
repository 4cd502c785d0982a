/* hashes.c - hash functions as lectures have them. Those to be used are the library's own, the last
 * two. */
#include "hashes.h"

/* ---- Bytes ------------------------------------------------------------- */

/* Up to eight bytes, the first is the lowest. */
static uint64_t word_of(const uint8_t *at, size_t size)
{
    uint64_t word = 0;

    for (size_t i = size; i-- > 0;)
        word = word << 8 | at[i];
    return word;
}

static uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (-by & 63);
}

/* ---- Simple functions -------------------------------------------------- */

/* The key as one long number, the first byte the lowest. */
static uint64_t hash_division(const hashes_family *f, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t rest = 0;

    for (size_t i = size; i-- > 0;)
        rest = (rest << 8 | at[i]) % f->buckets;
    return rest;
}

static uint64_t hash_knuth(const hashes_family *f, const void *data, size_t size)
{
    uint64_t k = hash_division(f, data, size);

    return k * (k + 3) % f->buckets;
}

static uint64_t hash_sum(const hashes_family *f, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t sum = 0;

    (void)f;
    for (size_t i = 0; i < size; i++)
        sum += at[i];
    return sum & 0xffff;
}

static uint64_t hash_times_31(const hashes_family *f, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint32_t h = 0;

    (void)f;
    for (size_t i = 0; i < size; i++)
        h = h * 31 + at[i];
    return h;
}

/* Fowler, Noll, Vo. */
static uint64_t hash_fnv(const hashes_family *f, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    (void)f;
    for (size_t i = 0; i < size; i++)
        h = (h ^ at[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* ---- Murmur ------------------------------------------------------------ */

static const uint64_t MURMUR_1 = UINT64_C(0x87c37b91114253d5);
static const uint64_t MURMUR_2 = UINT64_C(0x4cf5ad432745937f);

static uint64_t murmur_low(uint64_t word)
{
    return rotate(word * MURMUR_1, 31) * MURMUR_2;
}

static uint64_t murmur_high(uint64_t word)
{
    return rotate(word * MURMUR_2, 33) * MURMUR_1;
}

static uint64_t murmur_mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* Appleby's MurmurHash3 of 128 bits with seed 0; the first 64 of them. */
static uint64_t hash_murmur(const hashes_family *f, const void *data, size_t size)
{
    const uint8_t *at = data, *end = at + size;
    uint64_t low = 0, high = 0;

    (void)f;
    for (; end - at >= 16; at += 16) {
        low = (rotate(low ^ murmur_low(word_of(at, 8)), 27) + high) * 5 + 0x52dce729;
        high = (rotate(high ^ murmur_high(word_of(at + 8, 8)), 31) + low) * 5 + 0x38495ab5;
    }
    size_t rest = (size_t)(end - at), first = rest < 8 ? rest : 8;
    low ^= murmur_low(word_of(at, first)) ^ size;
    high ^= murmur_high(word_of(at + first, rest - first)) ^ size;
    low += high;
    high += low;
    return murmur_mix(low) + murmur_mix(high);
}

/* ---- Universal families ------------------------------------------------ */

/* Dietzfelbinger: the key as words of 32 bits, each times a random number; the high half. The
 * length is a word, too. */
static uint64_t hash_multiply_shift(const hashes_family *f, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t sum = f->multipliers[HASHES_WORDS] * (size + 1);

    for (size_t i = 0; i < size; i += 4)
        sum += f->multipliers[i / 4 % HASHES_WORDS] * word_of(at + i, size - i < 4 ? size - i : 4);
    return sum >> 32;
}

static const uint64_t MERSENNE = (UINT64_C(1) << 61) - 1;

/* a b + c modulo the prime 2^61 - 1, for numbers below it: a b is high 2^61 + low, which is
 * high + low. Each has two halves, so that no product is above 2^64. */
static uint64_t mersenne_times(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t half = UINT64_C(0xffffffff);
    uint64_t low = (a & half) * (b & half), middle = (a >> 32) * (b & half) + (low >> 32);
    uint64_t more = (a & half) * (b >> 32) + (middle & half);
    uint64_t high = (a >> 32) * (b >> 32) + (middle >> 32) + (more >> 32);
    uint64_t bits = more << 32 | (low & half);
    uint64_t sum = (bits & MERSENNE) + (high << 3 | bits >> 61) + c;

    sum = (sum & MERSENNE) + (sum >> 61);
    return sum >= MERSENNE ? sum - MERSENNE : sum;
}

/* Carter and Wegman: a x + b modulo a prime. A key of several words of 32 bits is a polynomial, and
 * x its value at a random point. */
static uint64_t hash_carter_wegman(const hashes_family *f, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t x = size + 1;

    for (size_t i = 0; i < size; i += 4)
        x = mersenne_times(x, f->point, word_of(at + i, size - i < 4 ? size - i : 4));
    return mersenne_times(x, f->a, f->b);
}

/* Zobrist: a random number for each byte at each place, all of them xor-ed. */
static uint64_t hash_tabulation(const hashes_family *f, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t h = 0;

    for (size_t i = 0; i < size; i++)
        h ^= rotate(f->tables[i % HASHES_BYTES][at[i]], (unsigned)(i / HASHES_BYTES % 64));
    return h;
}

/* ---- The library's own ------------------------------------------------- */

static uint64_t hash_xxh3(const hashes_family *f, const void *data, size_t size)
{
    return tamis_hasher_key(&f->fast, data, size);
}

static uint64_t hash_siphash(const hashes_family *f, const void *data, size_t size)
{
    return tamis_hasher_key(&f->keyed, data, size);
}

/* ---- All --------------------------------------------------------------- */

const hashes_row hashes_table[HASHES_N] = {
    { "division", 0, hash_division },
    { "knuth", 0, hash_knuth },
    { "sum", 16, hash_sum },
    { "times-31", 32, hash_times_31 },
    { "fnv-1a", 64, hash_fnv },
    { "murmur3", 64, hash_murmur },
    { "multiply-shift", 32, hash_multiply_shift },
    { "carter-wegman", 61, hash_carter_wegman },
    { "tabulation", 64, hash_tabulation },
    { "xxh3", 64, hash_xxh3 },
    { "siphash", 64, hash_siphash },
};

void hashes_draw(hashes_family *f, uint64_t buckets, uint64_t draw(void *ctx), void *ctx)
{
    *f = (hashes_family){ .buckets = buckets };
    f->keyed.hash = TAMIS_KEYED;
    for (uint8_t i = 0; i < sizeof f->keyed.secret; i++)
        f->keyed.secret[i] = i;
    for (size_t i = 0; i <= HASHES_WORDS; i++)
        f->multipliers[i] = draw(ctx) | 1;
    f->point = draw(ctx) % MERSENNE;
    f->a = 1 + draw(ctx) % (MERSENNE - 1);
    f->b = draw(ctx) % MERSENNE;
    for (size_t i = 0; i < HASHES_BYTES; i++)
        for (size_t byte = 0; byte < 256; byte++)
            f->tables[i][byte] = draw(ctx);
}

uint64_t hashes_bucket(const hashes_family *f, const hashes_row *row, uint64_t hash)
{
    return row->bits ? hash % f->buckets : hash;
}

unsigned hashes_bits(const hashes_family *f, const hashes_row *row)
{
    return row->bits ? row->bits : 64 - (unsigned)__builtin_clzll(f->buckets - 1);
}
