#include "base/radix.h"

#include <string.h>

#include "base/hash.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE = 8 };

/* Below this many hashes, all of them fit in the cache. */
enum { FEW = 1 << 15 };

size_t tamis__radix_scratch(unsigned bits)
{
    return ((size_t)LINE * sizeof(uint64_t) + sizeof(size_t)) << bits;
}

static inline uint64_t hash_of(const radix *r, uint64_t x, bool is_hashed)
{
    return is_hashed ? x : place(x, r->salt);
}

static inline size_t group_of(uint64_t h, unsigned skip, unsigned bits)
{
    return bits ? (size_t)(h << skip >> (64 - bits)) : 0;
}

static inline void count_as(size_t *counts, const radix *r, const uint64_t *x, size_t n,
                            bool is_hashed)
{
    unsigned skip = r->skip, bits = r->bits;

    for (size_t i = 0; i < n; i++)
        counts[group_of(hash_of(r, x[i], is_hashed), skip, bits)]++;
}

void tamis__radix_count(size_t *counts, const radix *r, const uint64_t *x, size_t n)
{
    if (r->is_hashed)
        count_as(counts, r, x, n, true);
    else
        count_as(counts, r, x, n, false);
}

/* ---- Dealing ----------------------------------------------------------- */

static inline void put_line(uint64_t *to, const uint64_t *line)
{
#ifdef __SSE2__
    for (int i = 0; i < LINE; i += 2)
        _mm_stream_si128((__m128i *)(to + i), _mm_load_si128((const __m128i *)(line + i)));
#else
    memcpy(to, line, LINE * sizeof *line);
#endif
}

static void deal_few(uint64_t *out, size_t *ends, const radix *r, const uint64_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_of(r, x[i], r->is_hashed);
        out[ends[group_of(h, r->skip, r->bits)]++] = h;
    }
}

/* A group's line has the hashes that go to one line of the output: the first one may have begun in
 * the middle of it. */
static inline void deal_as(uint64_t *out, size_t *ends, const size_t *begins, uint64_t *lines,
                           const radix *r, const uint64_t *x, size_t n, bool is_hashed)
{
    unsigned skip = r->skip, bits = r->bits;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_of(r, x[i], is_hashed);
        size_t g = group_of(h, skip, bits), end = ends[g]++;
        uint64_t *line = lines + g * LINE;

        line[end % LINE] = h;
        if (end % LINE != LINE - 1)
            continue;
        size_t start = end - (LINE - 1);
        if (start >= begins[g])
            put_line(out + start, line);
        else
            memcpy(out + begins[g], line + begins[g] % LINE, (end + 1 - begins[g]) * sizeof *line);
    }
}

static void put_rests(uint64_t *out, const size_t *ends, const size_t *begins,
                      const uint64_t *lines, size_t groups)
{
    for (size_t g = 0; g < groups; g++) {
        size_t start = ends[g] / LINE * LINE;
        if (start < begins[g])
            start = begins[g];
        memcpy(out + start, lines + g * LINE + start % LINE, (ends[g] - start) * sizeof *out);
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
}

void tamis__radix_deal(uint64_t *out, size_t *ends, const radix *r, const uint64_t *x, size_t n,
                       void *scratch)
{
    size_t groups = (size_t)1 << r->bits;
    uint64_t *lines = scratch;
    size_t *begins = (size_t *)(lines + groups * LINE);

    if (n < FEW) {
        deal_few(out, ends, r, x, n);
        return;
    }
    memcpy(begins, ends, groups * sizeof *begins);
    if (r->is_hashed)
        deal_as(out, ends, begins, lines, r, x, n, true);
    else
        deal_as(out, ends, begins, lines, r, x, n, false);
    put_rests(out, ends, begins, lines, groups);
}
