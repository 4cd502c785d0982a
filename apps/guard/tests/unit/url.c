/* url.c - URLs of tamis guard: the normal form, and what a list may hold. */
#include "../../url.c"
#include "check.h"

static char *normal(const char *url, size_t size)
{
    buffer to = { 0 };

    if (!url_normalise(&to, (span){ url, size })) {
        buffer_free(&to);
        return NULL;
    }
    buffer_append(&to, "", 1);
    return to.bytes;
}

typedef struct row {
    const char *url, *normal; /* NULL: it is none */
} row;

static const row ROWS[] = {
    /* Scheme and host in lower case, default ports, empty paths. */
    { "HTTP://Example.COM:80/", "http://example.com/" },
    { "https://example.com:443", "https://example.com/" },
    { "https://example.com:80", "https://example.com:80/" },
    { "http://example.com:/", "http://example.com/" },
    { "http://example.com:0080/", "http://example.com/" },
    { "http://example.com:8080?q", "http://example.com:8080/?q" },
    { "ftp://example.com:21/a", "ftp://example.com/a" },
    { "wss://example.com:443/a", "wss://example.com/a" },
    { "gopher://example.com:70/1", "gopher://example.com:70/1" },
    { "http://example.com./", "http://example.com/" },
    { "http://..example..com../", "http://example.com/" },
    /* Without a scheme it is http. */
    { "example.com", "http://example.com/" },
    { "example.com:8080/a", "http://example.com:8080/a" },
    { "//example.com/a", "http://example.com/a" },
    { "localhost:80", "http://localhost/" },
    { "http:example.com/a", "http://example.com/a" },
    { "http:/example.com/a", "http://example.com/a" },
    { "http:////example.com/a", "http://example.com/a" },
    { "a-word-that-is-too-long-for-a-scheme://x/",
      "http://a-word-that-is-too-long-for-a-scheme//x/" },
    { "1http://example.com/", "http://1http//example.com/" },
    { "://example.com/", NULL },
    /* The user is not the host. */
    { "http://user:word@example.com/", "http://example.com/" },
    { "http://www.bank.com@evil.com/", "http://evil.com/" },
    { "http://a@b@evil.com:80/", "http://evil.com/" },
    { "http://evil.com\\@good.com/", "http://evil.com/@good.com/" },
    { "http://evil.com#@good.com/", "http://evil.com/" },
    { "http://evil.com?@good.com/", "http://evil.com/?@good.com/" },
    { "user@example.com", "http://example.com/" },
    /* Fragments and dots. */
    { "http://example.com/a#b", "http://example.com/a" },
    { "http://example.com/#a?b", "http://example.com/" },
    { "http://example.com/a/./b/../c", "http://example.com/a/c" },
    { "http://example.com/../../a", "http://example.com/a" },
    { "http://example.com/a/..", "http://example.com/" },
    { "http://example.com/a/.", "http://example.com/a/" },
    { "http://example.com/a/b/..", "http://example.com/a/" },
    { "http://example.com/.a/..b/c.", "http://example.com/.a/..b/c." },
    { "http://example.com/...", "http://example.com/..." },
    { "http://example.com/a//../b", "http://example.com/a/b" },
    { "http://example.com//", "http://example.com//" },
    { "http://example.com/a/%2e%2E/b/%2e/", "http://example.com/b/" },
    { "http://example.com/?a/../b", "http://example.com/?a/../b" },
    { "http://example.com\\a\\..\\b", "http://example.com/b" },
    /* Octets. */
    { "http://example.com/%7euser/%41%2f%c3%a9", "http://example.com/~user/A%2F%C3%A9" },
    { "http://example.com/\xc3\xa9?\xc3\xa9", "http://example.com/%C3%A9?%C3%A9" },
    { "http://example.com/a b\"<>`{}|^[]",
      "http://example.com/a%20b%22%3C%3E%60%7B%7D%7C%5E%5B%5D" },
    { "http://example.com/!$&'()*+,;=:@-._~", "http://example.com/!$&'()*+,;=:@-._~" },
    { "http://example.com/%", "http://example.com/%25" },
    { "http://example.com/%4", "http://example.com/%254" },
    { "http://example.com/%zz%%41", "http://example.com/%25zz%25A" },
    { "http://example.com/%%411", "http://example.com/%25A1" },
    { "http://example.com/%25%32%35", "http://example.com/%2525" },
    { "http://example.com/?a=%3d&b=%3", "http://example.com/?a=%3D&b=%253" },
    { "http://%65xample.com/", "http://example.com/" },
    { "http://ex%2fample.com/", "http://ex%2Fample.com/" },
    { "http://a%00b.com/%00", "http://a%00b.com/%00" },
    { "http://a b.com/", "http://a%20b.com/" },
    { "http://m\xc3\xbcnchen.de/", "http://m%C3%BCnchen.de/" },
    /* Addresses, however they are written. */
    { "http://127.0.0.1/", "http://127.0.0.1/" },
    { "http://127.1/", "http://127.0.0.1/" },
    { "http://2130706433/", "http://127.0.0.1/" },
    { "http://0x7f.0.0.1/", "http://127.0.0.1/" },
    { "http://0177.0.0.01/", "http://127.0.0.1/" },
    { "http://127.0.0.1./", "http://127.0.0.1/" },
    { "http://%31%32%37.1/", "http://127.0.0.1/" },
    { "http://256.0.0.1/", NULL },
    { "http://1.2.3.4.5/", NULL },
    { "http://1.2.3.08/", NULL },
    { "http://4294967296/", NULL },
    { "http://99999999999999999999999999/", NULL },
    { "http://a.1/", NULL },
    { "http://1.a/", "http://1.a/" },
    { "http://[::1]/", "http://[::1]/" },
    { "http://[0:0:0:0:0:0:0:1]:80/a", "http://[::1]/a" },
    { "http://[2001:DB8::A]:8080", "http://[2001:db8::a]:8080/" },
    { "http://u@[::1]/", "http://[::1]/" },
    { "http://[::1/", NULL },
    { "http://[::1]x/", NULL },
    { "http://[fe80::1%25eth0]/", NULL },
    { "http://[]/", NULL },
    { "http://[::1]:x/", NULL },
    /* Blanks and control bytes. */
    { "  http://example.com/a \t\r\n", "http://example.com/a" },
    { "ht\ntp://exa\tmple.com/a\r\nb", "http://example.com/ab" },
    { "\x01http://example.com/\x7f\x1f", "http://example.com/%7F" },
    { "http://example.com/a\x01"
      "b",
      "http://example.com/a%01b" },
    /* Not URLs. */
    { "", NULL },
    { " ", NULL },
    { "/", NULL },
    { "http://", NULL },
    { "http:///", NULL },
    { "http://:80/", NULL },
    { "http://./", NULL },
    { "http://@/", NULL },
    { "#a", NULL },
    { "?a", NULL },
    { "http://example.com:x/", NULL },
    { "http://example.com:65536/", NULL },
    { "http://example.com:-1/", NULL },
    { "http://a:b:c/", NULL },
};

static void urls_have_one_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const row *r = &ROWS[i];
        char *is = normal(r->url, strlen(r->url));

        if (!is != !r->normal || (is && strcmp(is, r->normal)))
            fail_msg("%s becomes %s, not %s", r->url, is ? is : "nothing",
                     r->normal ? r->normal : "nothing");
        if (is) { /* what is in normal form stays as it is */
            char *again = normal(is, strlen(is));
            assert_non_null(again);
            assert_string_equal(again, is);
            free(again);
        }
        free(is);
    }
}

/* ---- Parts ------------------------------------------------------------- */

/* Of a URL in normal form: one line for each. */
static char *lines_of(const char *url)
{
    buffer scratch = { 0 }, to = { 0 };
    url_parts p;

    url_split(&p, (span){ url, strlen(url) });
    assert_true(url_count(&p) <= URL_PARTS_MAX);
    for (size_t i = 0; i < url_count(&p); i++) {
        span part = url_part(&p, i, &scratch);
        buffer_append(&to, part.at, part.size);
        buffer_append(&to, "\n", 1);
    }
    buffer_append(&to, "", 1);
    buffer_free(&scratch);
    return to.bytes;
}

static void check_parts(const char *url, const char *wanted)
{
    char *lines = lines_of(url);

    assert_string_equal(lines, wanted);
    free(lines);
}

/* The examples of Safe Browsing are among these; there, the URL itself is not looked up. */
static void parts_are_hosts_and_paths(void **state)
{
    (void)state;
    check_parts("http://a.b.c/1/2.html?param=1", "http://a.b.c/1/2.html?param=1\n"
                                                 "a.b.c/1/2.html?param=1\na.b.c/1/2.html\n"
                                                 "a.b.c/\na.b.c/1/\n"
                                                 "b.c/1/2.html?param=1\nb.c/1/2.html\n"
                                                 "b.c/\nb.c/1/\n");
    check_parts("http://a.b.c.d.e.f.g/1.html",
                "http://a.b.c.d.e.f.g/1.html\n"
                "a.b.c.d.e.f.g/1.html\na.b.c.d.e.f.g/\nc.d.e.f.g/1.html\nc.d.e.f.g/\n"
                "d.e.f.g/1.html\nd.e.f.g/\ne.f.g/1.html\ne.f.g/\nf.g/1.html\nf.g/\n");
    check_parts("http://1.2.3.4/1/", "http://1.2.3.4/1/\n1.2.3.4/1/\n1.2.3.4/\n");
    check_parts("http://[::1]:8080/", "http://[::1]:8080/\n[::1]/\n");
    check_parts("https://example.com:8443/", "https://example.com:8443/\nexample.com/\n");
    check_parts("http://localhost/?", "http://localhost/?\nlocalhost/?\nlocalhost/\n");
    check_parts("http://x/1/2/3/4/5/6?a/b", "http://x/1/2/3/4/5/6?a/b\nx/1/2/3/4/5/6?a/b\n"
                                            "x/1/2/3/4/5/6\nx/\nx/1/\nx/1/2/\nx/1/2/3/\n");
    check_parts("http://a.b.c.d.e.f/", "http://a.b.c.d.e.f/\na.b.c.d.e.f/\nb.c.d.e.f/\n"
                                       "c.d.e.f/\nd.e.f/\ne.f/\n");
    /* The most there are. */
    char *most = lines_of("http://a.b.c.d.e.f/1/2/3/4/5?q");
    size_t n = 0;
    for (const char *c = most; *c; c++)
        n += *c == '\n';
    assert_int_equal(n, URL_PARTS_MAX);
    free(most);
}

/* What is not in normal form is one part, or some, and harms nobody. */
static void any_text_has_parts(void **state)
{
    static const char *const texts[] = { "",         ":",          "://",       "http://",
                                         "http://x", "http://:/",  "http://[/", "http://[:/",
                                         "://x/",    "http://.../" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(lines_of(texts[i]));
    check_parts("no url", "no url\n");
    check_parts("http://x", "http://x\n");
}

/* ---- Hostile texts ----------------------------------------------------- */

static void take_random(uint64_t *seed, char *text, size_t size)
{
    static const char signs[] = "http://a.b:@/?#[]%2e\\.1x0 \t";

    for (size_t i = 0; i < size; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + 1;
        text[i] = *seed >> 60 ? signs[(*seed >> 32) % (sizeof signs - 1)] : (char)(*seed >> 40);
    }
}

/* The form of the form is the form, and has no byte that needs to be coded. */
static void noise_has_one_form(void **state)
{
    uint64_t seed = test_seed();
    char text[64];
    size_t good = 0;

    (void)state;
    for (size_t i = 0; i < run_size(30000, 5000, 10000000); i++) {
        buffer to = { 0 }, again = { 0 };
        size_t size = i % sizeof text;

        take_random(&seed, text, size);
        if (url_normalise(&to, (span){ text, size })) {
            good++;
            assert_true(url_normalise(&again, (span){ to.bytes, to.size }));
            assert_int_equal(again.size, to.size);
            assert_memory_equal(again.bytes, to.bytes, to.size);
            for (size_t k = 0; k < to.size; k++)
                assert_true(to.bytes[k] > ' ' && to.bytes[k] < 127);
        } else {
            assert_int_equal(to.size, 0);
        }
        buffer_free(&to);
        buffer_free(&again);
    }
    assert_true(good > 1000);
}

/* A megabyte of one thing, in each place. */
static void long_urls_are_read(void **state)
{
    static const char fill[] = "a.%/\\@:[?\0\xff";
    const size_t most = run_size(1 << 20, 1 << 16, 1 << 24);
    char *text = malloc(most + 32);

    (void)state;
    for (size_t i = 0; i < sizeof fill - 1; i++)
        for (int place = 0; place < 2; place++) {
            const char *before = place ? "http://example.com/" : "http://";
            size_t size = strlen(before);
            buffer to = { 0 }, scratch = { 0 };
            url_parts p;

            memcpy(text, before, size);
            memset(text + size, fill[i], most);
            if (url_normalise(&to, (span){ text, size + most })) {
                url_split(&p, (span){ to.bytes, to.size });
                for (size_t k = 0; k < url_count(&p); k++)
                    assert_true(url_part(&p, k, &scratch).size <= to.size);
            }
            buffer_free(&to);
            buffer_free(&scratch);
        }
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_have_one_form), cmocka_unit_test(parts_are_hosts_and_paths),
        cmocka_unit_test(any_text_has_parts), cmocka_unit_test(noise_has_one_form),
        cmocka_unit_test(long_urls_are_read),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
