/* base/le.h: byte order does not depend on the machine, nor on alignment. */
#include "base/le.h"

#include "check.h"

static void loads_read_the_low_byte_first(void **state)
{
    const uint8_t bytes[] = { 0xff, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xff };

    (void)state;
    assert_int_equal(le16(bytes + 1), 0x2301);
    assert_int_equal(le32(bytes + 1), 0x67452301);
    assert_int_equal(le64(bytes + 1), UINT64_C(0xefcdab8967452301));
}

static void stores_write_their_bytes_and_no_other(void **state)
{
    const uint64_t x = UINT64_C(0xefcdab8967452301);

    (void)state;
    for (size_t at = 0; at < 8; at++) {
        uint8_t bytes[32];

        memset(bytes, 0x5a, sizeof bytes);
        put_le64(bytes + at + 1, x);
        put_le32(bytes + at + 10, 0x67452301);
        put_le16(bytes + at + 15, 0x2301);
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(bytes[at + 1 + i], (uint8_t)(x >> 8 * i));
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(bytes[at + 10 + i], (uint8_t)(x >> 8 * i));
        assert_int_equal(bytes[at + 15], 0x01);
        assert_int_equal(bytes[at + 16], 0x23);
        assert_int_equal(bytes[at], 0x5a);
        assert_int_equal(bytes[at + 9], 0x5a);
        assert_int_equal(bytes[at + 14], 0x5a);
        assert_int_equal(bytes[at + 17], 0x5a);
    }
}

static void what_is_stored_is_loaded(void **state)
{
    rng r = rng_for(3, 0);
    uint8_t bytes[16];

    (void)state;
    for (int i = 0; i < 10000; i++) {
        uint64_t x = rng_next(&r);
        uint8_t *p = bytes + x % 8;

        put_le64(p, x);
        assert_int_equal(le64(p), x);
        put_le32(p, (uint32_t)x);
        assert_int_equal(le32(p), (uint32_t)x);
        put_le16(p, (uint16_t)x);
        assert_int_equal(le16(p), (uint16_t)x);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_read_the_low_byte_first),
        cmocka_unit_test(stores_write_their_bytes_and_no_other),
        cmocka_unit_test(what_is_stored_is_loaded),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
