/* digest.c - cache digests of Squid. Every byte of one may come from anybody. */
#include "digest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/replace.h"
#include "term/array.h"
#include "term/message.h"

const double DIGEST_FULL = 0.65;

/* ---- Numbers ----------------------------------------------------------- */

static uint32_t read_be(const uint8_t *b, int size)
{
    uint32_t x = 0;

    for (int i = 0; i < size; i++)
        x = x << 8 | b[i];
    return x;
}

static void write_be(uint8_t *b, uint32_t x, int size)
{
    for (int i = size; i > 0; x >>= 8)
        b[--i] = (uint8_t)x;
}

/* Squid counts bits in an int. 0: there can be no such mask. */
static uint32_t mask_size(uint64_t capacity, uint32_t bits_per_entry)
{
    if (capacity == 0 || bits_per_entry == 0 || capacity > (INT_MAX - 8) / bits_per_entry)
        return 0;
    return (uint32_t)((capacity * bits_per_entry + 7) / 8);
}

/* ---- Reading ----------------------------------------------------------- */

/* Longer than any digest and its headers. */
enum { READ_MOST = INT_MAX / 8 + (1 << 20) };

static void read_all(buffer *b, const char *path)
{
    bool is_input = strcmp(path, "-") == 0;
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;

    while (n > 0 && b->size < READ_MOST) {
        buffer_reserve(b, 1 << 16);
        n = read(fd, b->bytes + b->size, 1 << 16);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            b->size += (size_t)n;
    }
    if (n < 0)
        die_errno("read", path);
    if (!is_input)
        close(fd); /* only read */
}

/* Bytes before the digest in an answer of HTTP that was saved with its headers. */
static size_t headers_size(const buffer *b, const char *name)
{
    size_t start = sizeof "HTTP/1.1 " - 1;
    const char *end;

    if (b->size < start + 3 || memcmp(b->bytes, "HTTP/", 5) != 0)
        return 0;
    if (memcmp(b->bytes + start, "200", 3) != 0)
        die(CODE_CORRUPT, "%s is no cache digest but an answer of HTTP with status %.3s", name,
            b->bytes + start);
    end = memmem(b->bytes, b->size, "\r\n\r\n", 4);
    if (!end)
        die(CODE_CORRUPT, "%s: headers of HTTP have no end; the file was cut short", name);
    return (size_t)(end + 4 - b->bytes);
}

static void take_header(digest *d, const uint8_t *h)
{
    *d = (digest){ .name = d->name,
                   .version = read_be(h, 2),
                   .readable_by = read_be(h + 2, 2),
                   .capacity = read_be(h + 4, 4),
                   .count = read_be(h + 8, 4),
                   .deletes = read_be(h + 12, 4),
                   .size = read_be(h + 16, 4),
                   .bits_per_entry = h[20] };
    if (d->version < DIGEST_READABLE_BY || d->readable_by > DIGEST_VERSION ||
        d->readable_by > d->version)
        die(CODE_CORRUPT,
            "%s is no cache digest of version %d; a cache that builds its digest says"
            " so instead: get it again later",
            d->name, DIGEST_VERSION);
    if (h[21] != DIGEST_HASHES)
        die(CODE_CORRUPT, "%s: a digest with %u hash functions; Squid's have %d", d->name, h[21],
            DIGEST_HASHES);
    if (d->size == 0 || d->size != mask_size(d->capacity, d->bits_per_entry))
        die(CODE_CORRUPT,
            "%s is damaged: a mask of %" PRIu32 " bytes is not that of %" PRIu32
            " entries with %" PRIu32 " bits each",
            d->name, d->size, d->capacity, d->bits_per_entry);
}

static void *mask_alloc(uint32_t size)
{
    return array_new(size, 1, "bytes of a digest");
}

digest digest_read(const char *path)
{
    digest d = { .name = strcmp(path, "-") == 0 ? "standard input" : path };
    buffer b = { 0 };

    read_all(&b, path);
    size_t skipped = headers_size(&b, d.name), size = b.size - skipped;
    if (size < DIGEST_HEADER)
        die(CODE_CORRUPT, "%s is no cache digest: it has %zu bytes, and the header alone has %d",
            d.name, size, DIGEST_HEADER);
    take_header(&d, (const uint8_t *)b.bytes + skipped);
    if (size - DIGEST_HEADER != d.size)
        die(CODE_CORRUPT, "%s is damaged: its mask has %zu bytes, and the header says %" PRIu32,
            d.name, size - DIGEST_HEADER, d.size);
    d.mask = mask_alloc(d.size);
    memcpy(d.mask, b.bytes + skipped + DIGEST_HEADER, d.size);
    buffer_free(&b);
    return d;
}

/* ---- Writing ----------------------------------------------------------- */

bool digest_make(digest *d, uint64_t capacity, uint32_t bits_per_entry)
{
    uint32_t size = mask_size(capacity, bits_per_entry);

    if (size == 0)
        return false;
    *d = (digest){ .version = DIGEST_VERSION,
                   .readable_by = DIGEST_READABLE_BY,
                   .capacity = (uint32_t)capacity,
                   .bits_per_entry = bits_per_entry,
                   .size = size,
                   .mask = mask_alloc(size) };
    return true;
}

void digest_write(const digest *d, const char *path)
{
    uint8_t h[DIGEST_HEADER] = { 0 };
    replacement *file = replace_begin(path);

    write_be(h, d->version, 2);
    write_be(h + 2, d->readable_by, 2);
    write_be(h + 4, d->capacity, 4);
    write_be(h + 8, d->count, 4);
    write_be(h + 12, d->deletes, 4);
    write_be(h + 16, d->size, 4);
    h[20] = (uint8_t)d->bits_per_entry;
    h[21] = DIGEST_HASHES;
    replace_write(file, h, sizeof h);
    replace_write(file, d->mask, d->size);
    replace_end(file);
}

void digest_free(digest *d)
{
    free(d->mask);
    d->mask = NULL;
}

/* ---- Entries ----------------------------------------------------------- */

uint8_t digest_method(const char *name)
{
    static const char *const NAMES[] = { "",        "GET",   "POST",    "PUT",   "HEAD",
                                         "CONNECT", "TRACE", "OPTIONS", "DELETE" };

    for (uint8_t i = 1; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return i;
    return 0;
}

void digest_key(uint8_t key[MD5_SIZE], uint8_t method, span url)
{
    md m = md_begin(true);

    md_take(&m, &method, 1);
    md_take(&m, url.at, url.size);
    md_end(&m, key);
}

static uint32_t bit_of(const digest *d, const uint8_t key[MD5_SIZE], int i)
{
    return read_be(key + 4 * i, 4) % (d->size * 8);
}

void digest_add(digest *d, const uint8_t key[MD5_SIZE])
{
    for (int i = 0; i < DIGEST_HASHES; i++) {
        uint32_t bit = bit_of(d, key, i);

        d->mask[bit / 8] |= (uint8_t)(1 << bit % 8);
    }
    d->count++;
}

bool digest_has(const digest *d, const uint8_t key[MD5_SIZE])
{
    for (int i = 0; i < DIGEST_HASHES; i++) {
        uint32_t bit = bit_of(d, key, i);

        if (!(d->mask[bit / 8] >> bit % 8 & 1))
            return false;
    }
    return true;
}

/* ---- Estimates --------------------------------------------------------- */

/* n entries leave (1 - 1/m)^(4n) of the bits unset. The error is that of linear counting (Whang,
 * Vander-Zanden, Taylor 1990) for 4n balls in m urns. */
digest_fill digest_fill_of(const digest *a, const digest *b)
{
    double m = 8.0 * a->size, set = 0;
    digest_fill f;

    for (uint32_t i = 0; i < a->size; i++)
        set += __builtin_popcount(a->mask[i] | (b ? b->mask[i] : 0));
    f.share = set / m;
    f.rate = pow(f.share, DIGEST_HASHES);
    f.n = set < m ? log1p(-f.share) / (DIGEST_HASHES * log1p(-1 / m)) : INFINITY;
    double load = DIGEST_HASHES * f.n / m;
    f.error = sqrt(m * (expm1(load) - load)) / DIGEST_HASHES;
    return f;
}
