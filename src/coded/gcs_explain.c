/* gcs_explain.c - what a Golomb-coded set tells of itself: the values that its codes stand for,
 * bucket by bucket, and where the codes begin. */
#include "coded/gcs.h"
#include "explain.h"

/* Value i of a bucket. Those of a damaged one may be too large for their cells. */
static tamis_cell gcs_cell(const gcs_geometry *g, uint64_t bucket, uint64_t i, uint64_t value)
{
    return (tamis_cell){ .array = "bucket",
                         .number = bucket,
                         .index = i,
                         .value = value,
                         .bits = 64 - (unsigned)__builtin_clzll(value | (g->values - 1) | 1) };
}

static bool gcs_tell_part(const tamis *f, uint64_t part, tamis_telling *t)
{
    const gcs_geometry *g = gcs_geometry_in(f);
    const uint8_t *at = gcs_part(f, g, part);
    bool goes_on = true;

    for (uint64_t i = 0; i < g->buckets && goes_on; i++) {
        gcs_reader r = gcs_read_bucket(at, g, i);
        for (uint64_t value; goes_on && gcs_read_value(&r, &value);)
            goes_on = tamis__tell_cell(t, gcs_cell(g, part * g->buckets + i, r.keys - 1, value));
    }
    for (uint64_t i = 0; i <= g->buckets && goes_on; i++)
        goes_on = tamis__tell_cell(t, (tamis_cell){ .array = "offsets of part",
                                                    .number = part,
                                                    .index = i,
                                                    .value = le32(gcs_offset_at(at, g, i)),
                                                    .bits = 32 });
    return goes_on;
}

void tamis__gcs_cells(const tamis *f, tamis_telling *t)
{
    uint64_t parts = UINT64_C(1) << gcs_geometry_in(f)->part_bits;

    for (uint64_t i = 0; i < parts && gcs_tell_part(f, i, t); i++)
        continue;
}

bool tamis__gcs_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    const gcs_geometry *g = gcs_geometry_in(f);
    uint64_t h = hash_key(key, f->salt), part = part_of(h, g->part_bits);
    uint64_t bucket = gcs_bucket_of(g, h), wanted = gcs_value_of(g, h), value;
    gcs_reader r = gcs_read_bucket(gcs_part(f, g, part), g, bucket);
    bool found = f->ops.has(f, key);

    bucket += part * g->buckets;
    tamis__tell_number(t, "bucket", bucket);
    tamis__tell_number(t, "first bit of the bucket", r.start);
    tamis__tell_number(t, "value", wanted);
    for (bool is_past = false; !is_past && gcs_read_value(&r, &value); is_past = value >= wanted)
        tamis__tell_read(t, "value of the bucket", gcs_cell(g, bucket, r.keys - 1, value),
                         value == wanted);
    return tamis__tell_answer(t, found,
                              found ? "its value is in its bucket"
                                    : "its value is not among those of its bucket, which ascend");
}
