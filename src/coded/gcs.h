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
    GCS_LINE = 64,
    GCS_BUCKET_KEYS = 128, /* an offset of 32 bits is then a quarter of a bit per key */
    GCS_WINDOW = 57,       /* bits that a load of eight bytes has from any bit on */
    GCS_MAX_REST = GCS_WINDOW - 1,
};

/* What the plan says. */
typedef struct gcs_geometry {
    unsigned part_bits, rest_bits;
    uint64_t buckets, values; /* of a part; of a bucket */
    uint64_t part_size;
    uint64_t codes_size; /* of a part, before the offsets */
} gcs_geometry;

_Static_assert(sizeof(gcs_geometry) <= TAMIS_DERIVED_SIZE, "");

static inline const gcs_geometry *gcs_geometry_in(const tamis *f)
{
    return (const void *)f->derived;
}

static inline uint8_t *gcs_part(const tamis *f, const gcs_geometry *g, uint64_t i)
{
    return (uint8_t *)f->payload + i * g->part_size;
}

static inline uint64_t gcs_bucket_of(const gcs_geometry *g, uint64_t h)
{
    return scale64(h << g->part_bits, g->buckets);
}

static inline uint64_t gcs_value_of(const gcs_geometry *g, uint64_t h)
{
    return scale64((h << g->part_bits) * g->buckets, g->values);
}

/* Offset i is where bucket i starts and bucket i - 1 ends, in bits. */
static inline uint8_t *gcs_offset_at(const uint8_t *part, const gcs_geometry *g, uint64_t i)
{
    return (uint8_t *)(uintptr_t)part + g->codes_size + 4 * i;
}

static inline uint64_t gcs_offset(const uint8_t *part, const gcs_geometry *g, uint64_t i)
{
    uint64_t bit = le32(gcs_offset_at(part, g, i)), room = g->codes_size * 8;

    return bit < room ? bit : room;
}

/* At least GCS_WINDOW bits. Eight bytes of offsets follow the codes: no load leaves the part. */
static inline uint64_t gcs_bits_at(const uint8_t *codes, uint64_t bit)
{
    return le64(codes + bit / 8) >> bit % 8;
}

static inline uint64_t gcs_low_bits(uint64_t x, unsigned n)
{
    return x & ((UINT64_C(1) << n) - 1);
}

/* ---- Reading a bucket -------------------------------------------------- */

typedef struct gcs_reader {
    const uint8_t *codes;
    unsigned rest_bits;
    uint64_t start, rests; /* in bits: of the bucket; of the rests that were read */
    uint64_t at, window;   /* bits of the quotients from `at` on, those of keys read cleared */
    uint64_t end;          /* of the quotients that were read */
    uint64_t keys, sum;    /* read: how many, and the sum of their rests */
} gcs_reader;

static inline uint64_t gcs_window_at(const uint8_t *codes, uint64_t bit)
{
    return gcs_low_bits(gcs_bits_at(codes, bit), GCS_WINDOW);
}

/* Of a damaged index, nothing is read beyond the part and nothing backwards. */
static inline gcs_reader gcs_read_bucket(const uint8_t *part, const gcs_geometry *g, uint64_t i)
{
    uint64_t start = gcs_offset(part, g, i), end = gcs_offset(part, g, i + 1);

    return (gcs_reader){ .codes = part,
                         .rest_bits = g->rest_bits,
                         .start = start,
                         .rests = end,
                         .at = start,
                         .window = start < end ? gcs_window_at(part, start) : 0,
                         .end = start };
}

/* The next value, above those before; false when quotients and rests have met. */
static inline bool gcs_read_value(gcs_reader *r, uint64_t *value)
{
    while (r->window == 0) {
        r->at += GCS_WINDOW;
        if (r->at >= r->rests)
            return false;
        r->window = gcs_window_at(r->codes, r->at);
    }
    uint64_t one = r->at + (uint64_t)__builtin_ctzll(r->window);
    if (one + r->rest_bits >= r->rests)
        return false;
    r->window &= r->window - 1;
    r->rests -= r->rest_bits;
    r->end = one + 1;
    r->sum += gcs_low_bits(gcs_bits_at(r->codes, r->rests), r->rest_bits);
    *value = ((one - r->start - r->keys) << r->rest_bits) + r->sum + r->keys;
    r->keys++;
    return true;
}

/* ---- Pictures and words: gcs_explain.c --------------------------------- */

void tamis__gcs_cells(const tamis *f, tamis_telling *t);
bool tamis__gcs_explain(const tamis *f, uint64_t key, tamis_telling *t);

#endif
