/* gcs.h - how a Golomb-coded set is laid out and read: see gcs.c for what it is. */
#ifndef TAMIS_CODED_GCS_H
#define TAMIS_CODED_GCS_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/parts.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

enum {
    LINE = 64,
    BUCKET_KEYS = 128, /* an offset of 32 bits is then a quarter of a bit per key */
    WINDOW = 57,       /* bits that a load of eight bytes has from any bit on */
    MAX_REST = WINDOW - 1,
};

/* What the plan says, worked out once per call. */
typedef struct geometry {
    unsigned part_bits, rest_bits;
    uint64_t buckets, values; /* of a part; of a bucket */
    uint64_t part_size;
    uint64_t codes_size; /* of a part, before the offsets */
} geometry;

static inline geometry geometry_of(const tamis_plan *p)
{
    unsigned bits = part_bits(p->capacity);
    uint64_t buckets = (p->capacity >> bits) / BUCKET_KEYS + 1;
    uint64_t size = (uint64_t)p->hashes * LINE;

    return (geometry){ bits, p->width, buckets, p->slots, size, size - 4 * (buckets + 1) };
}

static inline uint8_t *part_at(const tamis *f, const geometry *g, uint64_t i)
{
    return (uint8_t *)f->payload + i * g->part_size;
}

static inline uint64_t bucket_of(const geometry *g, uint64_t h)
{
    return scale64(h << g->part_bits, g->buckets);
}

static inline uint64_t value_of(const geometry *g, uint64_t h)
{
    return scale64((h << g->part_bits) * g->buckets, g->values);
}

/* Offset i is where bucket i starts and bucket i - 1 ends, in bits. */
static inline uint8_t *offset_at(const uint8_t *part, const geometry *g, uint64_t i)
{
    return (uint8_t *)(uintptr_t)part + g->codes_size + 4 * i;
}

static inline uint64_t get_offset(const uint8_t *part, const geometry *g, uint64_t i)
{
    uint64_t bit = le32(offset_at(part, g, i)), room = g->codes_size * 8;

    return bit < room ? bit : room;
}

/* At least WINDOW bits. Eight bytes of offsets follow the codes: no load leaves the part. */
static inline uint64_t bits_at(const uint8_t *codes, uint64_t bit)
{
    return le64(codes + bit / 8) >> bit % 8;
}

static inline uint64_t low_bits(uint64_t x, unsigned n)
{
    return x & ((UINT64_C(1) << n) - 1);
}

/* ---- Reading a bucket -------------------------------------------------- */

typedef struct reader {
    const uint8_t *codes;
    unsigned rest_bits;
    uint64_t start, rests; /* in bits: of the bucket; of the rests that were read */
    uint64_t at, window;   /* bits of the quotients from `at` on, those of keys read cleared */
    uint64_t end;          /* of the quotients that were read */
    uint64_t keys, sum;    /* read: how many, and the sum of their rests */
} reader;

static inline uint64_t window_at(const uint8_t *codes, uint64_t bit)
{
    return low_bits(bits_at(codes, bit), WINDOW);
}

/* Of a damaged index, nothing is read beyond the part and nothing backwards. */
static inline reader read_bucket(const uint8_t *part, const geometry *g, uint64_t i)
{
    uint64_t start = get_offset(part, g, i), end = get_offset(part, g, i + 1);

    return (reader){ .codes = part,
                     .rest_bits = g->rest_bits,
                     .start = start,
                     .rests = end,
                     .at = start,
                     .window = start < end ? window_at(part, start) : 0,
                     .end = start };
}

/* The next value, above those before; false when quotients and rests have met. */
static inline bool read_value(reader *r, uint64_t *value)
{
    while (r->window == 0) {
        r->at += WINDOW;
        if (r->at >= r->rests)
            return false;
        r->window = window_at(r->codes, r->at);
    }
    uint64_t one = r->at + (uint64_t)__builtin_ctzll(r->window);
    if (one + r->rest_bits >= r->rests)
        return false;
    r->window &= r->window - 1;
    r->rests -= r->rest_bits;
    r->end = one + 1;
    r->sum += low_bits(bits_at(r->codes, r->rests), r->rest_bits);
    *value = ((one - r->start - r->keys) << r->rest_bits) + r->sum + r->keys;
    r->keys++;
    return true;
}

/* The more values are read at once, the fewer times one waits for the place of the next; but a
 * window must have that many. */
enum { STRIDE = 12 };

/* Rests of which a word has four, and of which STRIDE / 2 add up to no more than two have bits for.
 */
enum { FOURTH_LEAST = 3, FOURTH_MOST = WINDOW / 4 };

/* The sum of STRIDE rests of n bits. A word has four of them, of which every other is added in
 * the place of two. */
static inline uint64_t sum_of_rests(const uint8_t *codes, uint64_t bit, unsigned n)
{
    uint64_t sum = 0, every = low_bits(UINT64_MAX, n);

    if (n < FOURTH_LEAST || n > FOURTH_MOST) {
        for (unsigned i = 0; i < STRIDE; i++)
            sum += bits_at(codes, bit + i * n) & every;
        return sum;
    }
    every |= every << 2 * n;
    for (unsigned i = 0; i < STRIDE; i += 4) {
        uint64_t four = bits_at(codes, bit + i * n);
        sum += (four & every) + (four >> n & every);
    }
    return low_bits(sum, 2 * n) + (sum >> 2 * n);
}

/* STRIDE values that can be read at once: if the last of them can, all can, since ones lie ever
 * higher, and rests ever lower. */
typedef struct stride {
    uint64_t one, sum, value; /* of the last */
} stride;

static inline bool look_ahead(const reader *r, stride *x)
{
    uint64_t window = r->window, keys = r->keys + STRIDE - 1, bits = STRIDE * r->rest_bits;

    for (unsigned i = 1; i < STRIDE; i++)
        window &= window - 1;
    if (window == 0)
        return false;
    x->one = r->at + (uint64_t)__builtin_ctzll(window);
    if (x->one + bits >= r->rests)
        return false;
    x->sum = r->sum + sum_of_rests(r->codes, r->rests - bits, r->rest_bits);
    x->value = ((x->one - r->start - keys) << r->rest_bits) + x->sum + keys;
    return true;
}

static inline void skip(reader *r, const stride *x)
{
    r->rests -= STRIDE * r->rest_bits;
    r->at = r->end = x->one + 1;
    r->window = window_at(r->codes, r->at);
    r->sum = x->sum;
    r->keys += STRIDE;
}

/* All of the stride are looked at: no processor could foretell where to stop. */
static inline bool is_among(const reader *r, uint64_t value)
{
    uint64_t window = r->window, rests = r->rests, sum = r->sum + r->keys;
    uint64_t at = r->at - r->start - r->keys;
    bool found = false;

    for (unsigned i = 0; i < STRIDE; i++) {
        rests -= r->rest_bits;
        sum += low_bits(bits_at(r->codes, rests), r->rest_bits);
        found |= ((at + (uint64_t)__builtin_ctzll(window) - i) << r->rest_bits) + sum + i == value;
        window &= window - 1;
    }
    return found;
}

/* Where to look for a key. */
typedef struct search {
    const uint8_t *part;
    uint64_t bucket, value;
} search;

static inline search search_for(const tamis *f, const geometry *g, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    return (search){ part_at(f, g, part_of(h, g->part_bits)), bucket_of(g, h), value_of(g, h) };
}

static inline bool find(const search *s, const geometry *g)
{
    reader r = read_bucket(s->part, g, s->bucket);
    uint64_t value;

    for (stride x; look_ahead(&r, &x); skip(&r, &x))
        if (x.value >= s->value)
            return is_among(&r, s->value);
    while (read_value(&r, &value))
        if (value >= s->value)
            return value == s->value;
    return false;
}

static bool has(const tamis *f, uint64_t key)
{
    geometry g = geometry_of(&f->plan);
    search s = search_for(f, &g, key);

    return find(&s, &g);
}

/* ---- Many keys --------------------------------------------------------- */

enum { GROUP = 32, LINES_AHEAD = 4 };

/* A bucket has two or three lines at usual rates. This and what calls it must be inlined: gcc takes
 * a function that does nothing but prefetch for one without effect, and drops the call. */
static inline void fetch_bucket(const search *s, const geometry *g)
{
    const uint8_t *codes = s->part + get_offset(s->part, g, s->bucket) / 8;

    for (int i = 0; i < LINES_AHEAD; i++)
        __builtin_prefetch(codes + i * LINE, 0, 3);
}

/* Offsets are fetched for all, then codes for all, then all are looked at. */
static uint64_t has_group(const tamis *f, const geometry *g, const uint64_t *keys, size_t n)
{
    search s[GROUP];
    uint64_t hits = 0;

    for (size_t i = 0; i < n; i++) {
        s[i] = search_for(f, g, keys[i]);
        __builtin_prefetch(offset_at(s[i].part, g, s[i].bucket), 0, 3);
    }
    for (size_t i = 0; i < n; i++)
        fetch_bucket(&s[i], g);
    for (size_t i = 0; i < n; i++)
        hits |= (uint64_t)find(&s[i], g) << i;
    return hits;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    geometry g = geometry_of(&f->plan);
    size_t found = 0;

    for (size_t i = 0; i < n; i += GROUP) {
        uint64_t word = has_group(f, &g, keys + i, n - i < GROUP ? n - i : GROUP);
        if (i % 64 == 0)
            hits[i / 64] = word;
        else
            hits[i / 64] |= word << i % 64;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

void tamis__gcs_use_avx2(tamis_ops *ops);

#endif
