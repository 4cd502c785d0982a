/* delta.c - hashes, signatures, deltas: known answers, and bytes that mean harm. */
#include "../../delta.h"
#include "../../blake2b.h"
#include "../../rolling.h"
#include "check.h"
#include "limited_allocator.h"

/* ---- Bytes that are read and written ----------------------------------- */

typedef struct bytes {
    uint8_t at[1 << 16];
    size_t size, read, piece; /* piece: as much as one read gives; 0: all */
} bytes;

static size_t read_bytes(void *ctx, void *to, size_t size)
{
    bytes *b = ctx;
    size_t n = b->size - b->read < size ? b->size - b->read : size;

    n = b->piece && b->piece < n ? b->piece : n;
    memcpy(to, b->at + b->read, n);
    b->read += n;
    return n;
}

static bool write_bytes(void *ctx, const void *from, size_t size)
{
    bytes *b = ctx;

    if (size > sizeof b->at - b->size)
        return false;
    memcpy(b->at + b->size, from, size);
    b->size += size;
    return true;
}

static bool count_bytes(void *ctx, const void *from, size_t size)
{
    (void)from;
    *(size_t *)ctx += size;
    return true;
}

static bool read_old(void *ctx, void *to, size_t size, uint64_t offset)
{
    const bytes *b = ctx;

    assert_true(offset <= b->size && size <= b->size - offset);
    memcpy(to, b->at + offset, size);
    return true;
}

static void from_hex(bytes *b, const char *hex)
{
    unsigned x;

    b->size = b->read = 0;
    for (; *hex; hex += *hex == ' ' ? 1 : 2)
        if (*hex != ' ') {
            assert_int_equal(sscanf(hex, "%2x", &x), 1);
            b->at[b->size++] = (uint8_t)x;
        }
}

static void assert_hex(const void *found, size_t size, const char *hex)
{
    static bytes wanted;

    from_hex(&wanted, hex);
    assert_int_equal(size, wanted.size);
    assert_memory_equal(found, wanted.at, size);
}

/* ---- Hashes ------------------------------------------------------------ */

static void hashes_are_known(void **state)
{
    uint8_t out[32];

    (void)state;
    blake2b(out, "abc", 3);
    assert_hex(out, 32, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    blake2b(out, "", 0);
    assert_hex(out, 32, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    signature_strong(true, out, (const uint8_t *)"abc", 3);
    assert_hex(out, 16, "a448017aaf21d8525fc10ae87aa6729d");
    signature_strong(true, out, (const uint8_t *)"", 0);
    assert_hex(out, 16, "31d6cfe0d16ae931b73c59d7e0c089c0");
    signature_strong(
        true, out,
        (const uint8_t
             *)"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        80);
    assert_hex(out, 16, "e33b4ddc9c38f2199c3e7b164fcc0536");
}

static void four_are_as_one(void **state)
{
    static uint8_t data[4][2000];
    uint8_t out[4][BLAKE2B_SIZE], one[BLAKE2B_SIZE];
    const uint8_t *const each[4] = { data[0], data[1], data[2], data[3] };
    rng r = rng_for(2, 2);

    (void)state;
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof data[i]; k++)
            data[i][k] = (uint8_t)rng_next(&r);
    for (size_t size = 0; size < 2000; size += size < 300 ? 1 : 97) {
        blake2b_four(out, each, size);
        for (int i = 0; i < 4; i++) {
            blake2b(one, each[i], size);
            assert_memory_equal(out[i], one, sizeof one);
        }
    }
}

/* Moved and shrunk windows have the hash of their bytes, in the plainest way to work it out. */
static uint32_t plain_rolling(bool is_rabin, const uint8_t *at, size_t n)
{
    uint32_t rabin = 1, s1 = 0, s2 = 0;

    for (size_t i = 0; i < n; i++) {
        rabin = rabin * UINT32_C(0x08104225) + at[i];
        s1 += at[i] + 31;
        s2 += s1;
    }
    return is_rabin ? rabin : s2 << 16 | (s1 & 0xffff);
}

static void windows_roll(void **state)
{
    uint8_t data[3000];
    rng r = rng_for(3, 3);

    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)rng_next(&r);
    for (int is_rabin = 0; is_rabin < 2; is_rabin++)
        for (size_t n = 1; n < 600; n += 1 + n / 7) {
            uint32_t hash = rolling_of(is_rabin, data, n), leaving;
            leaving = rolling_leaving(is_rabin, n);
            for (size_t i = 0; i < 100; i++) {
                assert_int_equal(hash, plain_rolling(is_rabin, data + i, n));
                hash = rolling_moved(is_rabin, hash, leaving, data[i], data[i + n]);
            }
            for (size_t i = 100, left = n; left > 0; i++, left--) {
                assert_int_equal(hash, plain_rolling(is_rabin, data + i, left));
                leaving = rolling_leaving_less(is_rabin, leaving);
                hash = rolling_shrunk(is_rabin, hash, leaving, data[i]);
            }
        }
}

/* ---- Files ------------------------------------------------------------- */

static void make_old(bytes *old)
{
    memset(old, 0, sizeof *old);
    for (int i = 0; i < 512; i++)
        old->at[i] = (uint8_t)i;
    memcpy(old->at + 512, "hello librsync", 14);
    old->size = 526;
}

static void signatures_are_known(void **state)
{
    static bytes old, sig;
    signature_spec spec = { SIGNATURE_RABIN_BLAKE2, 256, 8 };

    (void)state;
    make_old(&old);
    sig.size = 0;
    assert_int_equal(signature_make(&spec, read_bytes, &old, write_bytes, &sig, NULL), TAMIS_OK);
    assert_hex(sig.at, sig.size,
               "727301470000010000000008 c1972381 39a7eb9fedc19aab c1972381 39a7eb9fedc19aab "
               "db86fba3 4644b8f771b654a2");
    make_old(&old);
    old.piece = 7;
    sig.size = 0;
    spec.format = SIGNATURE_SUM_BLAKE2;
    assert_int_equal(signature_make(&spec, read_bytes, &old, write_bytes, &sig, NULL), TAMIS_OK);
    assert_hex(sig.at, sig.size,
               "727301370000010000000008 3a009e80 39a7eb9fedc19aab 3a009e80 39a7eb9fedc19aab "
               "35ed074c 4644b8f771b654a2");
}

static block_signature *signature_of(bytes *old, signature_spec spec)
{
    static bytes sig;
    block_signature *s;

    sig.size = sig.read = old->read = 0;
    assert_int_equal(signature_make(&spec, read_bytes, old, write_bytes, &sig, NULL), TAMIS_OK);
    assert_int_equal(signature_load(&s, read_bytes, &sig, 0, NULL), TAMIS_OK);
    return s;
}

static void assert_patches(bytes *delta, bytes *old, const bytes *new_file)
{
    static bytes made;

    made.size = delta->read = 0;
    assert_int_equal(delta_apply(read_bytes, delta, read_old, old, old->size, write_bytes, &made),
                     TAMIS_OK);
    assert_int_equal(made.size, new_file->size);
    assert_memory_equal(made.at, new_file->at, made.size);
}

static void deltas_are_known(void **state)
{
    static bytes old, fresh, delta;
    static const char from_here[] = "72730236 03 58595a 46 00 0100 07 6d6964646c6521 46 00 0100 04 "
                                    "7461696c 00";

    (void)state;
    make_old(&old);
    fresh.size = delta.size = 0;
    write_bytes(&fresh, "XYZ", 3);
    write_bytes(&fresh, old.at + 256, 256);
    write_bytes(&fresh, "middle!", 7);
    write_bytes(&fresh, old.at, 256);
    write_bytes(&fresh, "tail", 4);
    block_signature *s = signature_of(&old, (signature_spec){ SIGNATURE_RABIN_BLAKE2, 256, 8 });
    assert_int_equal(delta_make(s, read_bytes, &fresh, write_bytes, &delta, NULL), TAMIS_OK);
    assert_hex(delta.at, delta.size, from_here);
    assert_patches(&delta, &old, &fresh);
    from_hex(&delta, "72730236 03 58595a 4a 0100 0100 07 6d6964646c6521 46 00 0100 04 7461696c 00");
    assert_patches(&delta, &old, &fresh);
    signature_free(s);
}

/* Blocks whose rolling hashes are right and whose strong hashes are not: one, or several that
 * follow each other, are new. */
static void strong_hashes_decide(void **state)
{
    enum { BLOCK = 100, BLOCKS = 20, LINE = 4 + 8 };
    static bytes old, sig, delta;
    signature_spec spec = { SIGNATURE_RABIN_BLAKE2, BLOCK, 8 };
    rng r = rng_for(6, 6);

    (void)state;
    old.size = BLOCK * BLOCKS;
    for (size_t i = 0; i < old.size; i++)
        old.at[i] = (uint8_t)rng_next(&r);
    for (size_t n = 0; n <= BLOCKS; n++)
        for (size_t first = 0; first + n <= BLOCKS; first++) {
            block_signature *s;
            old.read = sig.size = sig.read = delta.size = 0;
            assert_int_equal(signature_make(&spec, read_bytes, &old, write_bytes, &sig, NULL),
                             TAMIS_OK);
            for (size_t i = first; i < first + n; i++)
                sig.at[12 + i * LINE + 4 + i % 8] ^= 1;
            assert_int_equal(signature_load(&s, read_bytes, &sig, 0, NULL), TAMIS_OK);
            old.read = 0;
            assert_int_equal(delta_make(s, read_bytes, &old, write_bytes, &delta, NULL), TAMIS_OK);
            assert_true(delta.size >= n * BLOCK && delta.size <= n * BLOCK + 20);
            assert_patches(&delta, &old, &old);
            signature_free(s);
        }
}

/* Blocks of every size, files that are near a whole number of them, reads of every size. */
static void any_edge_is_found(void **state)
{
    static bytes old, fresh, delta;
    rng r = rng_for(4, 4);

    (void)state;
    for (unsigned round = 0; round < run_size(3000, 300, 100000); round++) {
        uint32_t block = 1 + (uint32_t)(rng_next(&r) % 40);
        size_t whole = block * (rng_next(&r) % 12), cut = rng_next(&r) % 30;
        old.size = whole + rng_next(&r) % (2 * block);
        old.piece = rng_next(&r) % 50;
        for (size_t i = 0; i < old.size; i++)
            old.at[i] = (uint8_t)(rng_next(&r) % (round % 3 ? 256 : 2));
        fresh = old;
        fresh.read = delta.size = 0;
        if (old.size > cut)
            memmove(fresh.at + cut, fresh.at, old.size - cut);
        signature_format formats[] = { SIGNATURE_SUM_MD4, SIGNATURE_SUM_BLAKE2, SIGNATURE_RABIN_MD4,
                                       SIGNATURE_RABIN_BLAKE2 };
        block_signature *s = signature_of(&old, (signature_spec){ formats[round % 4], block, 16 });
        assert_int_equal(delta_make(s, read_bytes, &fresh, write_bytes, &delta, NULL), TAMIS_OK);
        assert_patches(&delta, &old, &fresh);
        signature_free(s);
    }
}

/* ---- Harm -------------------------------------------------------------- */

static void flipped_bytes_do_no_harm(void **state)
{
    static bytes old, fresh, delta, bad, made;
    rng r = rng_for(5, 5);

    (void)state;
    make_old(&old);
    fresh = old;
    fresh.at[300] ^= 1;
    delta.size = 0;
    block_signature *s = signature_of(&old, (signature_spec){ SIGNATURE_RABIN_BLAKE2, 16, 8 });
    assert_int_equal(delta_make(s, read_bytes, &fresh, write_bytes, &delta, NULL), TAMIS_OK);
    signature_free(s);
    for (unsigned round = 0; round < run_size(20000, 2000, 1000000); round++) {
        bad = delta;
        bad.read = made.size = 0;
        for (unsigned i = 0; i < 1 + round % 4; i++)
            bad.at[rng_next(&r) % bad.size] ^= (uint8_t)(1 + rng_next(&r) % 255);
        bad.size -= round % 2 ? rng_next(&r) % bad.size : 0;
        tamis_status status =
            delta_apply(read_bytes, &bad, read_old, &old, old.size, write_bytes, &made);
        assert_true(status == TAMIS_OK || status == TAMIS_FOREIGN || status == TAMIS_CORRUPT ||
                    status == TAMIS_IO);
    }
}

/* So many zeros. */
static size_t read_zeros(void *ctx, void *to, size_t size)
{
    size_t *left = ctx, n = *left < size ? *left : size;

    memset(to, 0, n);
    *left -= n;
    return n;
}

/* Every window has the rolling hash of the signature's block, and none its strong hash. If each of
 * them cost a strong hash, this would take half an hour. */
static void a_signature_that_lies_does_not_take_forever(void **state)
{
    static bytes sig;
    uint32_t block = 1 << 20, weak = rolling_leaving(true, block);
    size_t left = 2 * (size_t)block, written = 0;
    uint8_t header[] = { 0x72, 0x73, 1, 0x47, 0, 0x10, 0, 0, 0, 0, 0, 8 };
    block_signature *s;

    (void)state;
    sig.size = sig.read = 0;
    write_bytes(&sig, header, sizeof header);
    for (int i = 24; i >= 0; i -= 8)
        sig.at[sig.size++] = (uint8_t)(weak >> i);
    write_bytes(&sig, "nonsense", 8);
    assert_int_equal(signature_load(&s, read_bytes, &sig, 0, NULL), TAMIS_OK);
    assert_int_equal(delta_make(s, read_zeros, &left, count_bytes, &written, NULL), TAMIS_OK);
    assert_int_equal(left, 0);
    assert_true(written > 2 * (size_t)block);
    signature_free(s);
}

/* A signature of twelve bytes claims blocks of 256 MiB: memory is that of the new file. */
static void claims_take_no_memory(void **state)
{
    static bytes old, sig, delta;
    limited_allocator p = { .limit = 1 << 20 };
    tamis_allocator a = allocator_of(&p);
    block_signature *s;

    (void)state;
    make_old(&old);
    from_hex(&sig, "72730147 10000000 00000008");
    assert_int_equal(signature_load(&s, read_bytes, &sig, 0, &a), TAMIS_OK);
    delta.size = 0;
    assert_int_equal(delta_make(s, read_bytes, &old, write_bytes, &delta, &a), TAMIS_OK);
    assert_patches(&delta, &old, &old);
    signature_free(s);
    assert_int_equal(p.live, 0);
}

/* Where a hash comes to in the tables depends on each byte of the signature: hashes that come to
 * one place cannot be chosen one by one. */
static void nobody_chooses_places_in_tables(void **state)
{
    static bytes old, sig;
    signature_spec spec = { SIGNATURE_RABIN_BLAKE2, 16, 8 };
    uint32_t before = 0;

    (void)state;
    make_old(&old);
    assert_int_equal(signature_make(&spec, read_bytes, &old, write_bytes, &sig, NULL), TAMIS_OK);
    for (size_t i = 12; i < sig.size / 4 * 4; i += sig.size / 7) {
        block_signature *s;
        sig.read = 0;
        sig.at[i] ^= 1;
        assert_int_equal(signature_load(&s, read_bytes, &sig, 0, NULL), TAMIS_OK);
        assert_int_not_equal(s->multiplier, before);
        before = s->multiplier;
        signature_free(s);
    }
}

static void memory_may_be_missing(void **state)
{
    static bytes old, sig, delta;
    signature_spec spec = { SIGNATURE_RABIN_BLAKE2, 16, 8 };
    limited_allocator p = { 0 };
    tamis_allocator a = allocator_of(&p);
    tamis_status status = TAMIS_NOMEM;
    block_signature *s = NULL;

    (void)state;
    make_old(&old);
    for (; status == TAMIS_NOMEM; p.limit += 1000, sig.size = old.read = 0)
        status = signature_make(&spec, read_bytes, &old, write_bytes, &sig, &a);
    assert_int_equal(status, TAMIS_OK);
    old.read = 0;
    assert_int_equal(signature_make(&spec, read_bytes, &old, write_bytes, &sig, NULL), TAMIS_OK);
    for (p.limit = 0, status = TAMIS_NOMEM; status == TAMIS_NOMEM; p.limit += 1000, sig.read = 0)
        status = signature_load(&s, read_bytes, &sig, 0, &a);
    assert_int_equal(status, TAMIS_OK);
    p.limit = p.live;
    assert_int_equal(delta_make(s, read_bytes, &old, write_bytes, &delta, &a), TAMIS_NOMEM);
    signature_free(s);
    assert_int_equal(p.live, 0);
    sig.read = 0;
    assert_int_equal(signature_load(&s, read_bytes, &sig, sig.size - 1, NULL), TAMIS_RANGE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_known),
        cmocka_unit_test(four_are_as_one),
        cmocka_unit_test(windows_roll),
        cmocka_unit_test(signatures_are_known),
        cmocka_unit_test(deltas_are_known),
        cmocka_unit_test(strong_hashes_decide),
        cmocka_unit_test(any_edge_is_found),
        cmocka_unit_test(flipped_bytes_do_no_harm),
        cmocka_unit_test(a_signature_that_lies_does_not_take_forever),
        cmocka_unit_test(claims_take_no_memory),
        cmocka_unit_test(nobody_chooses_places_in_tables),
        cmocka_unit_test(memory_may_be_missing),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
