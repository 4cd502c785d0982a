/* base/hash.h and the three hashes of keys: their outputs are part of the image format. */
#include "base/hash.h"

#include "base/cpu.h"
#include "base/hash_keys.h"
#include "check.h"

#define FOX "The quick brown fox jumps over the lazy dog"

static const uint8_t SECRET[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

/* Bytes of both halves of the range, without a short period. */
static void fill_pattern(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 167 + 13);
}

/* ---- XXH3-64 ----------------------------------------------------------- */

typedef struct text_vector {
    const char *text;
    uint64_t seed, hash;
} text_vector;

static void xxh3_gives_its_published_answers(void **state)
{
    const text_vector vectors[] = {
        { "", 0, UINT64_C(0x2d06800538d394c2) },
        { "a", 0, UINT64_C(0xe6c632b61e964e1f) },
        { "abc", 0, UINT64_C(0x78af5f94892f3950) },
        { "hello", 0, UINT64_C(0x9555e8555c62dcfd) },
        { "hello world", 0, UINT64_C(0xd447b1ea40e6988b) },
        { FOX, 0, UINT64_C(0xce7d19a5418fb365) },
        { "", 1, UINT64_C(0x4dc5b0cc826f6703) },
        { "hello", 1, UINT64_C(0x74b07ed397a89e92) },
        { FOX, 1, UINT64_C(0x1e098210b55fad4a) },
        { "a", UINT64_MAX, UINT64_C(0x43a7e49bc8a25756) },
        { FOX, UINT64_MAX, UINT64_C(0xbce97e3bb51bbd73) },
        { "abc", UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xfc1ae99bb3de2336) },
    };

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const text_vector *v = &vectors[i];

        assert_int_equal(tamis__hash_fast(v->text, strlen(v->text), v->seed), v->hash);
    }
}

/* One number for the hashes of all prefixes of a pattern; the expected ones come from the xxHash
 * shared library. */
static uint64_t fold_fast(const uint8_t *bytes, uint64_t seed)
{
    uint64_t fold = 0;

    for (size_t size = 0; size <= 300; size++)
        fold = fold * UINT64_C(0x100000001b3) + tamis__hash_fast(bytes, size, seed);
    return fold;
}

static void xxh3_at_every_length_seed_and_alignment(void **state)
{
    uint8_t bytes[320];

    (void)state;
    for (size_t at = 0; at < 16; at++) {
        fill_pattern(bytes + at, 301);
        assert_int_equal(fold_fast(bytes + at, 0), UINT64_C(0x639a7c5d3a323d9f));
        assert_int_equal(fold_fast(bytes + at, 1), UINT64_C(0x83901d7d4702eb12));
        assert_int_equal(fold_fast(bytes + at, HASH_GOLDEN), UINT64_C(0xdf17de12353ca120));
        assert_int_equal(fold_fast(bytes + at, UINT64_MAX), UINT64_C(0x641e12dd329361ee));
    }
}

/* ---- SipHash-2-4 ------------------------------------------------------- */

/* Its authors' 64 vectors: secret 00 .. 0f, messages empty, 00, 00 01, 00 01 02, ... */
static const uint64_t SIP[64] = {
    UINT64_C(0x726fdb47dd0e0e31), UINT64_C(0x74f839c593dc67fd), UINT64_C(0x0d6c8009d9a94f5a),
    UINT64_C(0x85676696d7fb7e2d), UINT64_C(0xcf2794e0277187b7), UINT64_C(0x18765564cd99a68d),
    UINT64_C(0xcbc9466e58fee3ce), UINT64_C(0xab0200f58b01d137), UINT64_C(0x93f5f5799a932462),
    UINT64_C(0x9e0082df0ba9e4b0), UINT64_C(0x7a5dbbc594ddb9f3), UINT64_C(0xf4b32f46226bada7),
    UINT64_C(0x751e8fbc860ee5fb), UINT64_C(0x14ea5627c0843d90), UINT64_C(0xf723ca908e7af2ee),
    UINT64_C(0xa129ca6149be45e5), UINT64_C(0x3f2acc7f57c29bdb), UINT64_C(0x699ae9f52cbe4794),
    UINT64_C(0x4bc1b3f0968dd39c), UINT64_C(0xbb6dc91da77961bd), UINT64_C(0xbed65cf21aa2ee98),
    UINT64_C(0xd0f2cbb02e3b67c7), UINT64_C(0x93536795e3a33e88), UINT64_C(0xa80c038ccd5ccec8),
    UINT64_C(0xb8ad50c6f649af94), UINT64_C(0xbce192de8a85b8ea), UINT64_C(0x17d835b85bbb15f3),
    UINT64_C(0x2f2e6163076bcfad), UINT64_C(0xde4daaaca71dc9a5), UINT64_C(0xa6a2506687956571),
    UINT64_C(0xad87a3535c49ef28), UINT64_C(0x32d892fad841c342), UINT64_C(0x7127512f72f27cce),
    UINT64_C(0xa7f32346f95978e3), UINT64_C(0x12e0b01abb051238), UINT64_C(0x15e034d40fa197ae),
    UINT64_C(0x314dffbe0815a3b4), UINT64_C(0x027990f029623981), UINT64_C(0xcadcd4e59ef40c4d),
    UINT64_C(0x9abfd8766a33735c), UINT64_C(0x0e3ea96b5304a7d0), UINT64_C(0xad0c42d6fc585992),
    UINT64_C(0x187306c89bc215a9), UINT64_C(0xd4a60abcf3792b95), UINT64_C(0xf935451de4f21df2),
    UINT64_C(0xa9538f0419755787), UINT64_C(0xdb9acddff56ca510), UINT64_C(0xd06c98cd5c0975eb),
    UINT64_C(0xe612a3cb9ecba951), UINT64_C(0xc766e62cfcadaf96), UINT64_C(0xee64435a9752fe72),
    UINT64_C(0xa192d576b245165a), UINT64_C(0x0a8787bf8ecb74b2), UINT64_C(0x81b3e73d20b49b6f),
    UINT64_C(0x7fa8220ba3b2ecea), UINT64_C(0x245731c13ca42499), UINT64_C(0xb78dbfaf3a8d83bd),
    UINT64_C(0xea1ad565322a1a0b), UINT64_C(0x60e61c23a3795013), UINT64_C(0x6606d7e446282b93),
    UINT64_C(0x6ca4ecb15c5f91e1), UINT64_C(0x9f626da15c9625f3), UINT64_C(0xe51b38608ef25f57),
    UINT64_C(0x958a324ceb064572),
};

static void siphash_gives_its_official_answers(void **state)
{
    uint8_t message[64];

    (void)state;
    for (size_t size = 0; size < 64; size++) {
        message[size] = (uint8_t)size;
        assert_int_equal(tamis__hash_keyed(message, size, SECRET), SIP[size]);
    }
}

static void siphash_of_texts(void **state)
{
    const text_vector vectors[] = {
        { "", 0, UINT64_C(0x726fdb47dd0e0e31) },
        { "a", 0, UINT64_C(0x2ba3e8e9a71148ca) },
        { "abc", 0, UINT64_C(0x5dbcfa53aa2007a5) },
        { "hello", 0, UINT64_C(0x004fb3985767df81) },
        { "hello world", 0, UINT64_C(0xed5159c956cd5602) },
        { FOX, 0, UINT64_C(0x52276105dc1f6fe4) },
    };

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const text_vector *v = &vectors[i];

        assert_int_equal(tamis__hash_keyed(v->text, strlen(v->text), SECRET), v->hash);
    }
}

/* Also past 255 bytes, where the length no longer fits its byte. */
static void siphash_at_every_length_and_alignment(void **state)
{
    uint8_t bytes[320];

    (void)state;
    for (size_t at = 0; at < 16; at++) {
        uint64_t fold = 0;

        fill_pattern(bytes + at, 301);
        for (size_t size = 0; size <= 300; size++)
            fold = fold * UINT64_C(0x100000001b3) + tamis__hash_keyed(bytes + at, size, SECRET);
        assert_int_equal(fold, UINT64_C(0x055545c2d448e7dd));
    }
}

static void every_bit_of_the_secret_matters(void **state)
{
    uint64_t base = tamis__hash_keyed(FOX, 43, SECRET);

    (void)state;
    for (size_t bit = 0; bit < 128; bit++) {
        uint8_t other[16];

        memcpy(other, SECRET, 16);
        other[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(tamis__hash_keyed(FOX, 43, other), base);
    }
}

/* ---- Bytes above 0x7f -------------------------------------------------- */

typedef struct byte_vector {
    const char *bytes;
    size_t size;
    uint64_t fast, seeded, keyed;
} byte_vector;

/* Where a signed char would be taken for a negative number. */
static void high_bytes_are_not_negative(void **state)
{
    const byte_vector vectors[] = {
        { "\x80", 1, UINT64_C(0x6b148c0872500941), UINT64_C(0x0f7240a49a3c9aa8),
          UINT64_C(0x11f49ee895ee6ece) },
        { "\xff", 1, UINT64_C(0xd6bcec3c6b29d72e), UINT64_C(0xb6f915e821f2ed78),
          UINT64_C(0xcad12f7b27ddb802) },
        { "\x80\xff\xc3\xa9", 4, UINT64_C(0xe251275788e1cf34), UINT64_C(0xb29bd34c69205480),
          UINT64_C(0xeda30a56ab48af51) },
        { "na\xc3\xafve caf\xc3\xa9 \xe2\x82\xac", 16, UINT64_C(0x43042087aff85a02),
          UINT64_C(0xdb4e34f4330765c8), UINT64_C(0x851c6f37a550d62b) },
    };

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const byte_vector *v = &vectors[i];

        assert_int_equal(tamis__hash_fast(v->bytes, v->size, 0), v->fast);
        assert_int_equal(tamis__hash_fast(v->bytes, v->size, HASH_GOLDEN), v->seeded);
        assert_int_equal(tamis__hash_keyed(v->bytes, v->size, SECRET), v->keyed);
    }
}

/* ---- Hashers ----------------------------------------------------------- */

static tamis_hasher hasher_of(tamis_hash hash, uint64_t seed)
{
    tamis_hasher hasher = { .hash = hash, .seed = seed };

    memcpy(hasher.secret, SECRET, sizeof hasher.secret);
    return hasher;
}

static void hashers_choose_their_hash(void **state)
{
    tamis_hasher fast = hasher_of(TAMIS_FAST, 1), keyed = hasher_of(TAMIS_KEYED, 1);

    (void)state;
    assert_int_equal(tamis_hasher_key(&fast, FOX, 43), UINT64_C(0x1e098210b55fad4a));
    assert_int_equal(tamis_hasher_key(&keyed, FOX, 43), UINT64_C(0x52276105dc1f6fe4));
    keyed.seed = 99;
    assert_int_equal(tamis_hasher_key(&keyed, FOX, 43), UINT64_C(0x52276105dc1f6fe4));
}

static void raw_keys_are_eight_little_endian_bytes(void **state)
{
    const uint8_t bytes[] = { 0, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x81 };
    tamis_hasher raw = hasher_of(TAMIS_RAW, 12345);

    (void)state;
    assert_int_equal(tamis_hasher_key(&raw, bytes + 1, 8), UINT64_C(0x8123456789abcdef));
}

static void empty_and_nul_keys_differ(void **state)
{
    (void)state;
    for (tamis_hash hash = TAMIS_FAST; hash <= TAMIS_KEYED; hash++) {
        tamis_hasher hasher = hasher_of(hash, 7);
        uint64_t none = tamis_hasher_key(&hasher, "", 0);
        uint64_t nul = tamis_hasher_key(&hasher, "\0", 1);
        uint64_t a = tamis_hasher_key(&hasher, "a", 1);
        uint64_t a_nul = tamis_hasher_key(&hasher, "a\0", 2);

        assert_true(none != nul && a != a_nul && nul != a && none != a);
    }
}

/* ---- Places ------------------------------------------------------------ */

static void mix64_gives_its_known_answers(void **state)
{
    (void)state;
    assert_int_equal(mix64(0), 0);
    assert_int_equal(mix64(1), UINT64_C(0xb456bcfc34c2cb2c));
    assert_int_equal(mix64(42), UINT64_C(0x810879608e4259cc));
    assert_int_equal(mix64(UINT64_C(1) << 63), UINT64_C(0x8f780810af31a493));
    assert_int_equal(mix64(UINT64_MAX), UINT64_C(0x64b5720b4b825f21));
    assert_int_equal(mix64(UINT64_C(0x0123456789abcdef)), UINT64_C(0x87cbfbfe89022cea));
}

static void places_are_frozen(void **state)
{
    (void)state;
    assert_int_equal(salt_of_seed(0), UINT64_C(0x9ca066f1a4ab2eea));
    assert_int_equal(salt_of_seed(1), UINT64_C(0xe5fdc025e13eeed5));
    assert_int_equal(salt_of_seed(UINT64_MAX), UINT64_C(0x25b775faeca8f520));
    assert_int_equal(hash_key(0, salt_of_seed(0)), UINT64_C(0x6393d51c06c618dc));
    assert_int_equal(hash_key(1, salt_of_seed(7)), UINT64_C(0xbdcfd730d2dc9dbe));
    assert_int_equal(hash_key(UINT64_MAX, salt_of_seed(0xdeadbeef)), UINT64_C(0x113fceef657eb61c));
}

static void mixing_can_be_undone(void **state)
{
    rng r = rng_for(4, 0);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t x = rng_next(&r) >> i % 64, salt = rng_next(&r);

        assert_int_equal(unmix64(mix64(x)), x);
        assert_int_equal(mix64(unmix64(x)), x);
        assert_int_equal(unhash_key(hash_key(x, salt), salt), x);
    }
}

/* Of every number of keys, also where they are not aligned, and no word beyond them. */
static void compare_hashes_of_many(unsigned cpu)
{
    enum { MOST = 40 };
    rng r = rng_for(5, 0);
    uint64_t keys[MOST + 1], hashes[MOST + 1], salt = rng_next(&r);

    for (size_t i = 0; i <= MOST; i++)
        keys[i] = rng_next(&r) >> i;
    for (size_t n = 0; n < MOST; n++)
        for (size_t from = 0; from < 2; from++) {
            hashes[from + n] = 7;
            tamis__hash_keys(hashes + from, keys + from, n, salt, cpu);
            for (size_t i = from; i < from + n; i++)
                assert_int_equal(hashes[i], hash_key(keys[i], salt));
            assert_int_equal(hashes[from + n], 7);
        }
}

static void many_keys_hash_as_one(void **state)
{
    const unsigned cpu = tamis__cpu();

    (void)state;
    compare_hashes_of_many(cpu);
    compare_hashes_of_many(cpu & ~(unsigned)TAMIS_CPU_AVX512);
    compare_hashes_of_many(TAMIS_CPU_PORTABLE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xxh3_gives_its_published_answers),
        cmocka_unit_test(xxh3_at_every_length_seed_and_alignment),
        cmocka_unit_test(siphash_gives_its_official_answers),
        cmocka_unit_test(siphash_of_texts),
        cmocka_unit_test(siphash_at_every_length_and_alignment),
        cmocka_unit_test(every_bit_of_the_secret_matters),
        cmocka_unit_test(high_bytes_are_not_negative),
        cmocka_unit_test(hashers_choose_their_hash),
        cmocka_unit_test(raw_keys_are_eight_little_endian_bytes),
        cmocka_unit_test(empty_and_nul_keys_differ),
        cmocka_unit_test(mix64_gives_its_known_answers),
        cmocka_unit_test(places_are_frozen),
        cmocka_unit_test(mixing_can_be_undone),
        cmocka_unit_test(many_keys_hash_as_one),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
