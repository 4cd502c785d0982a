/* md5.c - MD5: the answers of RFC 1321, in one piece and in two. */
#include "check.h"
#include "text/md.h"

static void check_answer(const char *text, const char *expected)
{
    size_t size = strlen(text);

    for (size_t cut = 0; cut <= size; cut++) {
        uint8_t out[MD5_SIZE];
        char hex[2 * MD5_SIZE + 1];
        md m = md_begin(true);

        md_take(&m, text, cut);
        md_take(&m, text + cut, size - cut);
        md_end(&m, out);
        for (int i = 0; i < MD5_SIZE; i++)
            snprintf(hex + 2 * i, 3, "%02x", out[i]);
        assert_string_equal(hex, expected);
    }
}

static void known_answers(void **state)
{
    (void)state;
    check_answer("", "d41d8cd98f00b204e9800998ecf8427e");
    check_answer("a", "0cc175b9c0f1b6a831c399e269772661");
    check_answer("abc", "900150983cd24fb0d6963f7d28e17f72");
    check_answer("message digest", "f96b697d7cb7938d525a2f31aaf161d0");
    check_answer("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b");
    check_answer("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                 "d174ab98d277d9f5a5611c2c9f419d9f");
    check_answer("1234567890123456789012345678901234567890123456789012345678901234567890123456789"
                 "0",
                 "57edf4a22be3c955ac49da2e2107b67a");
}

/* Sizes around the end of a block, where the padding takes one more. */
static void every_size(void **state)
{
    uint8_t bytes[200] = { 0 }, sum[MD5_SIZE] = { 0 }, out[MD5_SIZE];
    char hex[2 * MD5_SIZE + 1];
    md m;

    (void)state;
    for (size_t size = 0; size < sizeof bytes; size++) {
        bytes[size] = (uint8_t)size;
        m = md_begin(true);
        md_take(&m, bytes, size);
        md_end(&m, out);
        for (int i = 0; i < MD5_SIZE; i++)
            sum[i] ^= out[i];
    }
    for (int i = 0; i < MD5_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    /* Of Python's hashlib: the same sizes, xored. */
    assert_string_equal(hex, "f9417e3d556c1e2b15b44bb7b52efeee");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(every_size),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
