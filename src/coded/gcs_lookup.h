/* gcs_lookup.h - lookups in a Golomb-coded set. */
#ifndef TAMIS_CODED_GCS_LOOKUP_H
#define TAMIS_CODED_GCS_LOOKUP_H

#include "base/ahead.h"
#include "base/hash.h"
#include "coded/gcs.h"

/* ---- Many values of a bucket at once ----------------------------------- */

/* The more values are read at once, the fewer times one waits to know where the next is; but a
 * window must have that many. */
enum { STRIDE = 12 };

/* The sum of STRIDE rests of n bits, from words of four of them:
 *
 *   word       d c b a       & mask  0 c 0 a       each sum has room for two rests,
 *   word >> n  . d c b       & mask  0 d 0 b       as STRIDE / 2 of 3 bits or more need
 */
enum { FOURTH_LEAST = 3, FOURTH_MOST = WINDOW / 4 };

static inline uint64_t gcs_sum_rests(const uint8_t *codes, uint64_t bit, unsigned n)
{
    uint64_t sum = 0, every = gcs_low_bits(UINT64_MAX, n);

    if (n < FOURTH_LEAST || n > FOURTH_MOST) {
        for (unsigned i = 0; i < STRIDE; i++)
            sum += gcs_bits_at(codes, bit + i * n) & every;
        return sum;
    }
    every |= every << 2 * n;
    for (unsigned i = 0; i < STRIDE; i += 4) {
        uint64_t four = gcs_bits_at(codes, bit + i * n);
        sum += (four & every) + (four >> n & every);
    }
    return gcs_low_bits(sum, 2 * n) + (sum >> 2 * n);
}

/* STRIDE values that can be read at once: if the last of them can, all can, since ones lie ever
 * higher, and rests ever lower. */
typedef struct gcs_stride {
    uint64_t one, sum, value; /* of the last */
} gcs_stride;

static inline bool gcs_look_ahead(const gcs_reader *r, gcs_stride *x)
{
    uint64_t window = r->window, keys = r->keys + STRIDE - 1, bits = STRIDE * r->rest_bits;

    for (unsigned i = 1; i < STRIDE; i++)
        window &= window - 1;
    if (window == 0)
        return false;
    x->one = r->at + (uint64_t)__builtin_ctzll(window);
    if (x->one + bits >= r->rests)
        return false;
    x->sum = r->sum + gcs_sum_rests(r->codes, r->rests - bits, r->rest_bits);
    x->value = ((x->one - r->start - keys) << r->rest_bits) + x->sum + keys;
    return true;
}

/* All of the stride are looked at: no processor could foretell where to stop. */
static inline bool gcs_is_among(const gcs_reader *r, uint64_t value)
{
    uint64_t window = r->window, rests = r->rests, sum = r->sum + r->keys;
    uint64_t at = r->at - r->start - r->keys;
    bool found = false;

    for (unsigned i = 0; i < STRIDE; i++) {
        rests -= r->rest_bits;
        sum += gcs_low_bits(gcs_bits_at(r->codes, rests), r->rest_bits);
        found |= ((at + (uint64_t)__builtin_ctzll(window) - i) << r->rest_bits) + sum + i == value;
        window &= window - 1;
    }
    return found;
}

/* Where to look for a key. */
typedef struct gcs_search {
    const uint8_t *part;
    uint64_t bucket, value;
} gcs_search;

static inline gcs_search gcs_search_for(const tamis *f, const gcs_geometry *g, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    return (gcs_search){ gcs_part(f, g, part_of(h, g->part_bits)), gcs_bucket_of(g, h),
                         gcs_value_of(g, h) };
}

static inline bool gcs_find(const gcs_search *s, const gcs_geometry *g)
{
    gcs_reader r = gcs_read_bucket(s->part, g, s->bucket);
    uint64_t value;

    for (gcs_stride x; gcs_look_ahead(&r, &x);) {
        if (x.value >= s->value)
            return gcs_is_among(&r, s->value);
        r.rests -= STRIDE * r.rest_bits;
        r.at = r.end = x.one + 1;
        r.window = gcs_window_at(r.codes, r.at);
        r.sum = x.sum;
        r.keys += STRIDE;
    }
    while (gcs_read_value(&r, &value))
        if (value >= s->value)
            return value == s->value;
    return false;
}

static bool gcs_has(const tamis *f, uint64_t key)
{
    gcs_search s = gcs_search_for(f, gcs_geometry_in(f), key);

    return gcs_find(&s, gcs_geometry_in(f));
}

/* ---- Many keys --------------------------------------------------------- */

enum { GROUP = 32, LINES_AHEAD = 4 };

/* Offsets are fetched for all, then codes for all, then all are looked at. A bucket has two or
 * three lines at usual rates. */
static uint64_t gcs_has_group(const tamis *f, const gcs_geometry *g, const uint64_t *keys, size_t n)
{
    gcs_search s[GROUP];
    uint64_t hits = 0;

    for (size_t i = 0; i < n; i++) {
        s[i] = gcs_search_for(f, g, keys[i]);
        ahead_read(gcs_offset_at(s[i].part, g, s[i].bucket), f->is_far);
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *codes = s[i].part + gcs_offset(s[i].part, g, s[i].bucket) / 8;
        for (int line = 0; line < LINES_AHEAD; line++)
            ahead_read(codes + line * LINE, f->is_far);
    }
    for (size_t i = 0; i < n; i++)
        hits |= (uint64_t)gcs_find(&s[i], g) << i;
    return hits;
}

static size_t gcs_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const gcs_geometry g = *gcs_geometry_in(f);
    size_t found = 0;

    for (size_t i = 0; i < n; i += GROUP) {
        uint64_t word = gcs_has_group(f, &g, keys + i, n - i < GROUP ? n - i : GROUP);
        hits[i / 64] = i % 64 ? hits[i / 64] | word << i % 64 : word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

#endif
