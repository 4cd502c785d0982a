/* url.c - URLs in one form.
 *
 * One web page has many names: HTTP://EXAMPLE.com:80/a/../%7Euser/#top is
 * http://example.com/~user/. Who looks for URLs in a list has to write them as the list does, and
 * whoever wants to get past it will try not to. So the text is read as browsers read it: blanks
 * around it and line ends in it do not count, a backslash is a slash, and an address may be written
 * as a single number.
 *
 * A list is short if one entry stands for a host or a folder: example.com/ is about every page of
 * that host and of www.example.com, and example.com/ads/ about everything below. So each URL is
 * looked up by some ends of its host with some beginnings of its path, as in the lists of Safe
 * Browsing. */
#include "url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* ---- Octets ------------------------------------------------------------ */

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static unsigned char in_lower_case(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 'a' - 'A') : c;
}

/* These mean the same with and without a percent sign. */
static bool is_unreserved(unsigned char c)
{
    return is_letter(c) || is_digit(c) || (c && strchr("-._~", c));
}

/* What a path may have besides, and a question, and a name. */
static const char PATH_SIGNS[] = "!$&'()*+,;=:@", QUESTION_SIGNS[] = "!$&'()*+,;=:@/?",
                  NAME_SIGNS[] = "!$&'()*+,;=";

/* -1: it is none. */
static int hex_digit(unsigned char c)
{
    if (is_digit(c))
        return c - '0';
    c = in_lower_case(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Whether an octet is written in hexadecimal at `at`. */
static bool is_coded(const char *at, const char *end)
{
    return end - at >= 3 && *at == '%' && hex_digit((unsigned char)at[1]) >= 0 &&
           hex_digit((unsigned char)at[2]) >= 0;
}

static unsigned char decode(const char *at)
{
    return (unsigned char)(hex_digit((unsigned char)at[1]) << 4 | hex_digit((unsigned char)at[2]));
}

static void append_coded(buffer *to, unsigned char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char text[3] = { '%', digits[c >> 4], digits[c & 15] };

    buffer_append(to, text, sizeof text);
}

/* Of a path or a question. A percent sign that begins no octet stands for itself: it is coded, or
 * the result could read as something else. */
static void append_octets(buffer *to, span text, const char *signs)
{
    const char *at = text.at, *end = at + text.size;

    while (at < end) {
        bool was_coded = is_coded(at, end);
        unsigned char c = was_coded ? decode(at) : (unsigned char)*at;

        if (is_unreserved(c) || (!was_coded && c && strchr(signs, c)))
            buffer_append(to, &c, 1);
        else
            append_coded(to, c);
        at += was_coded ? 3 : 1;
    }
}

/* ---- Parts of a text --------------------------------------------------- */

static span span_to(const char *at, const char *end)
{
    return (span){ at, (size_t)(end - at) };
}

/* The first of these in the text, or its end. */
static const char *first_of(span text, const char *these)
{
    const char *at = text.at, *end = at + text.size;

    while (at < end && !(*at && strchr(these, *at)))
        at++;
    return at;
}

/* Without blanks around it, and line ends and tabs in it, as browsers have it. */
static void clean(buffer *to, span url)
{
    const char *at = url.at, *end = at + url.size;

    while (at < end && (unsigned char)*at <= ' ')
        at++;
    while (at < end && (unsigned char)end[-1] <= ' ')
        end--;
    buffer_reserve(to, (size_t)(end - at) + 1);
    for (; at < end; at++)
        if (!(*at == '\t' || *at == '\n' || *at == '\r'))
            to->bytes[to->size++] = *at;
}

typedef struct scheme {
    char name[32];
    unsigned port; /* 0: it has no default */
    bool is_web;   /* one that browsers read leniently */
} scheme;

static scheme known_scheme(const char *name)
{
    static const scheme known[] = { { "http", 80, true },
                                    { "https", 443, true },
                                    { "ws", 80, true },
                                    { "wss", 443, true },
                                    { "ftp", 21, true } };
    scheme other = { .is_web = false };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i];
    snprintf(other.name, sizeof other.name, "%s", name);
    return other;
}

/* Takes it off the text. "example.com:80/" has none: what is before the colon is a host. */
static scheme take_scheme(span *text)
{
    const char *end = text->at + text->size, *colon = first_of(*text, ":/?#\\@");
    char name[32] = "";
    size_t size = (size_t)(colon - text->at);

    if (colon < end && *colon == ':' && size > 0 && size < sizeof name &&
        is_letter((unsigned char)text->at[0]))
        for (size_t i = 0; i < size; i++)
            name[i] = (char)in_lower_case((unsigned char)text->at[i]);
    for (const char *c = name; *c; c++)
        if (!is_letter((unsigned char)*c) && !is_digit((unsigned char)*c) && !strchr("+-.", *c))
            return known_scheme("http");
    scheme s = known_scheme(name);
    bool has_slashes = end - colon >= 3 && memcmp(colon, "://", 3) == 0;
    if (!*name || !(s.is_web || has_slashes))
        return known_scheme("http");
    *text = span_to(colon + 1, end);
    return s;
}

/* ---- Host and port ----------------------------------------------------- */

/* A part of an address: decimal, octal after 0, hexadecimal after 0x. False: it is no number. */
static bool take_number(uint64_t *out, const char *at, const char *end)
{
    unsigned base = 10;

    *out = 0;
    if (at == end)
        return false;
    if (end - at >= 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    } else if (end - at >= 2 && at[0] == '0') {
        base = 8;
        at++;
    }
    for (; at < end; at++) {
        int digit = hex_digit((unsigned char)*at);
        if (digit < 0 || digit >= (int)base)
            return false;
        if (*out <= UINT32_MAX)
            *out = *out * base + (unsigned)digit;
    }
    return true;
}

typedef enum address { ADDRESS_NONE, ADDRESS_GOOD, ADDRESS_BAD } address;

/* 10.1, 0x7f.1, 2130706433: the last part has all octets that are left. A name whose last word is a
 * number is an address or nothing. */
static address read_ipv4(uint32_t *out, span host)
{
    const char *at = host.at, *end = at + host.size;
    uint64_t parts[4], last;
    size_t n = 0;
    const char *word = end;

    while (word > at && word[-1] != '.')
        word--;
    bool all_digits = word < end;
    for (const char *c = word; c < end; c++)
        all_digits = all_digits && is_digit((unsigned char)*c);
    if (!all_digits && !take_number(&last, word, end))
        return ADDRESS_NONE;
    for (; n < 4; at++) {
        const char *dot = first_of(span_to(at, end), ".");
        if (!take_number(&parts[n++], at, dot))
            return ADDRESS_BAD;
        at = dot;
        if (at == end)
            break;
    }
    if (at != end || parts[n - 1] >= UINT64_C(1) << (8 * (5 - n)))
        return ADDRESS_BAD;
    *out = (uint32_t)parts[n - 1];
    for (size_t i = 0; i + 1 < n; i++) {
        if (parts[i] > 255)
            return ADDRESS_BAD;
        *out |= (uint32_t)parts[i] << (24 - 8 * i);
    }
    return ADDRESS_GOOD;
}

static bool append_ipv6(buffer *to, span host)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr number;

    if (host.size >= sizeof text || memchr(host.at, 0, host.size))
        return false;
    memcpy(text, host.at, host.size);
    text[host.size] = 0;
    if (inet_pton(AF_INET6, text, &number) != 1 || !inet_ntop(AF_INET6, &number, text, sizeof text))
        return false;
    buffer_append(to, "[", 1);
    buffer_append(to, text, strlen(text));
    buffer_append(to, "]", 1);
    return true;
}

/* Dots around a name, and two in a row, do not make it another. */
static size_t drop_dots(char *name, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < size; i++)
        if (name[i] != '.' || (n > 0 && name[n - 1] != '.'))
            name[n++] = name[i];
    return n > 0 && name[n - 1] == '.' ? n - 1 : n;
}

static bool append_name(buffer *to, span host)
{
    const char *at = host.at, *end = at + host.size;
    buffer plain = { 0 };
    uint32_t number;
    char text[16];

    buffer_reserve(&plain, host.size + 1);
    for (; at < end; at += is_coded(at, end) ? 3 : 1) {
        unsigned char c = is_coded(at, end) ? decode(at) : (unsigned char)*at;
        plain.bytes[plain.size++] = (char)in_lower_case(c);
    }
    plain.size = drop_dots(plain.bytes, plain.size);
    address kind = read_ipv4(&number, (span){ plain.bytes, plain.size });
    bool is_good = plain.size > 0 && kind != ADDRESS_BAD;
    if (is_good && kind == ADDRESS_GOOD) {
        snprintf(text, sizeof text, "%u.%u.%u.%u", number >> 24, number >> 16 & 255,
                 number >> 8 & 255, number & 255);
        buffer_append(to, text, strlen(text));
    }
    for (size_t i = 0; is_good && kind == ADDRESS_NONE && i < plain.size; i++) {
        unsigned char c = (unsigned char)plain.bytes[i];
        if (is_unreserved(c) || (c && strchr(NAME_SIGNS, c)))
            buffer_append(to, &c, 1);
        else
            append_coded(to, c);
    }
    buffer_free(&plain);
    return is_good;
}

/* With its colon, unless it is the one that everybody means. */
static bool append_port(buffer *to, span port, unsigned otherwise)
{
    unsigned number = 0;
    char text[8];

    for (size_t i = 0; i < port.size; i++) {
        if (!is_digit((unsigned char)port.at[i]))
            return false;
        number = number * 10 + (unsigned)(port.at[i] - '0');
        if (number > 65535)
            return false;
    }
    if (port.size > 0 && number != otherwise) {
        snprintf(text, sizeof text, ":%u", number);
        buffer_append(to, text, strlen(text));
    }
    return true;
}

/* Without the user, who is whatever is before the last at sign. */
static bool append_authority(buffer *to, span text, unsigned port)
{
    const char *at = text.at, *end = at + text.size, *host = end, *colon;

    while (host > at && host[-1] != '@')
        host--;
    if (host < end && *host == '[') {
        colon = first_of(span_to(host, end), "]");
        if (colon == end || !append_ipv6(to, span_to(host + 1, colon)))
            return false;
        colon++;
        if (colon < end && *colon != ':')
            return false;
    } else {
        colon = first_of(span_to(host, end), ":");
        if (!append_name(to, span_to(host, colon)))
            return false;
    }
    return append_port(to, span_to(colon < end ? colon + 1 : end, end), port);
}

/* ---- Path and question ------------------------------------------------- */

/* Whether the last segment of the path, from `start` on, is one or two dots. */
static size_t dots_at_end(const buffer *path, size_t start)
{
    const char *at = path->bytes + start, *end = path->bytes + path->size;
    const char *last = end;

    while (last > at && last[-1] != '/')
        last--;
    size_t size = (size_t)(end - last);
    return (size == 1 && last[0] == '.') || (size == 2 && memcmp(last, "..", 2) == 0) ? size : 0;
}

/* The path ends with a slash afterwards: the one before the dots or, of two dots, the one before
 * the segment before them. */
static void drop_segment(buffer *path, size_t start, size_t dots)
{
    path->size -= dots;
    if (dots == 1 || path->size <= start + 1)
        return;
    do
        path->size--;
    while (path->size > start + 1 && path->bytes[path->size - 1] != '/');
}

static void append_path(buffer *to, span path, bool is_web)
{
    const char *at = path.at, *end = at + path.size;
    size_t start = to->size;

    buffer_append(to, "/", 1);
    if (at < end)
        at++;
    for (;;) {
        const char *slash = first_of(span_to(at, end), is_web ? "/\\" : "/");
        append_octets(to, span_to(at, slash), PATH_SIGNS);
        size_t dots = dots_at_end(to, start);
        if (dots)
            drop_segment(to, start, dots);
        else if (slash < end)
            buffer_append(to, "/", 1);
        if (slash == end)
            return;
        at = slash + 1;
    }
}

bool url_normalise(buffer *to, span url)
{
    buffer clear = { 0 };
    size_t start = to->size;

    clean(&clear, url);
    span text = { clear.bytes, clear.size };
    scheme s = take_scheme(&text);
    const char *end = first_of(text, "#"), *at = text.at;
    const char *slashes = s.is_web ? "/\\" : "/";
    for (int i = 0; at < end && *at && strchr(slashes, *at) && (s.is_web || i < 2); i++)
        at++;
    const char *path = first_of(span_to(at, end), s.is_web ? "/\\?" : "/?");
    const char *question = first_of(span_to(path, end), "?");
    buffer_append(to, s.name, strlen(s.name));
    buffer_append(to, "://", 3);
    bool is_good = append_authority(to, span_to(at, path), s.port);
    if (is_good)
        append_path(to, span_to(path, question), s.is_web);
    if (is_good && question < end)
        append_octets(to, span_to(question, end), QUESTION_SIGNS);
    if (!is_good)
        to->size = start;
    buffer_free(&clear);
    return is_good;
}

/* ---- What a list may hold ---------------------------------------------- */

static bool is_address(span host)
{
    uint32_t number;

    return host.at[0] == '[' || read_ipv4(&number, host) == ADDRESS_GOOD;
}

/* All of it; then its last five words, and each time one less, down to two. */
static void split_host(url_parts *p, span host)
{
    enum { WORDS_MOST = 5, WORDS_LEAST = 2 };
    const char *starts[WORDS_MOST], *at = host.at + host.size;
    size_t words = 0;

    p->hosts[p->n_hosts++] = host;
    if (is_address(host))
        return;
    while (at > host.at && words < WORDS_MOST) {
        at--;
        while (at > host.at && at[-1] != '.')
            at--;
        starts[words++] = at;
        at -= at > host.at;
    }
    for (; words >= WORDS_LEAST; words--)
        if (starts[words - 1] != host.at && p->n_hosts < 5)
            p->hosts[p->n_hosts++] = span_to(starts[words - 1], host.at + host.size);
}

static void add_path(url_parts *p, span path)
{
    for (size_t i = 0; i < p->n_paths; i++)
        if (p->paths[i].size == path.size)
            return;
    p->paths[p->n_paths++] = path;
}

static void split_path(url_parts *p, span path)
{
    enum { FOLDERS_MOST = 4 };
    const char *at = path.at, *question = first_of(path, "?");

    add_path(p, path);
    add_path(p, span_to(at, question));
    for (int i = 0; i < FOLDERS_MOST; i++) {
        at = first_of(span_to(at, question), "/");
        if (at == question)
            return;
        add_path(p, span_to(path.at, ++at));
    }
}

void url_split(url_parts *p, span url)
{
    const char *end = url.at + url.size, *host = first_of(url, ":");

    p->url = url;
    p->n_hosts = p->n_paths = 0;
    if (end - host <= 3 || memcmp(host, "://", 3))
        return;
    host += 3;
    const char *path = first_of(span_to(host, end), "/");
    const char *closed = *host == '[' ? first_of(span_to(host, path), "]") : host;
    const char *port = first_of(span_to(closed, path), ":");
    if (path == end || port == host)
        return;
    split_host(p, span_to(host, port));
    split_path(p, span_to(path, end));
}

size_t url_count(const url_parts *p)
{
    return 1 + p->n_hosts * p->n_paths;
}

span url_part(const url_parts *p, size_t i, buffer *scratch)
{
    if (i == 0)
        return p->url;
    span host = p->hosts[(i - 1) / p->n_paths], path = p->paths[(i - 1) % p->n_paths];
    scratch->size = 0;
    buffer_append(scratch, host.at, host.size);
    buffer_append(scratch, path.at, path.size);
    return (span){ scratch->bytes, scratch->size };
}
