/* gcs.c - Golomb-coded set: sorted fingerprints, of which only the distances are kept.
 *
 * A key becomes one of C cells, C = n / fpr: a stranger hits an occupied one at the rate wanted. To
 * say which n of C cells are occupied takes log2(1 / fpr) + 1.44 bits a key, and no more than a
 * tenth of a bit above that if the distance to the next occupied cell, which is nearly geometric,
 * is written as Rice has it: the upper part in unary, P lower bits as they are. That is the least
 * of all kinds but those that solve equations, and the price is time: distances must be added up.
 *
 * Cells are therefore cut into buckets of 128 keys on average, each found by one multiplication:
 *
 *   x = h without the bits of its part
 *   bucket = x * buckets >> 64       cell = (the lower half of that product) * values >> 64
 *
 *   part:    | bucket 0 | bucket 1 | ...                | unused | offset of each bucket, and end |
 *   bucket:  | 001 1 01 0001 1 ... -> quotients   rests <- ... r3 r2 r1 r0 |
 *
 * The quotients of a bucket are read up from its start, the rests down from its end, where they
 * lie at known places: what is added up does not wait for what is decoded. Zeros before a one count
 * 2^P cells each. Distances start at 0 for the next cell. Quotients and rests meet where the
 * bucket's keys end, so that nothing else needs to be stored.
 *
 * Payload: 2^part_bits(plan.capacity) parts of plan.hashes lines of 64 bytes; plan.slots cells in
 * each bucket; plan.width = P. Zeros are the empty filter. How long the codes become depends on the
 * keys: see gcs_bits_needed().
 *
 * Golomb: Run-Length Encodings, 1966. Rice: Some Practical Universal Noiseless Coding Techniques,
 * 1979. Kiely: Selecting the Golomb Parameter in Rice Coding, 2004. Putze, Sanders, Singler:
 * Cache-, Hash- and Space-Efficient Bloom Filters, 2009. */
#include <math.h>
#include <string.h>

#include "base/ahead.h"
#include "base/sort.h"
#include "coded/gcs.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Offsets are 32 bits: a part has fewer bits than that. */
static const uint64_t GCS_MAX_LINES = UINT64_C(1) << 23, GCS_MAX_CAPACITY = UINT64_C(1) << 48;

static const double GCS_MAX_CELLS = 0x1p63;

static gcs_geometry gcs_geometry_of(const tamis_plan *p)
{
    unsigned bits = part_bits(p->capacity);
    uint64_t buckets = (p->capacity >> bits) / GCS_BUCKET_KEYS + 1;
    uint64_t size = (uint64_t)p->hashes * GCS_LINE;

    return (gcs_geometry){ bits, p->width, buckets, p->slots, size, size - 4 * (buckets + 1) };
}

static double gcs_cells(const tamis_plan *p)
{
    gcs_geometry g = gcs_geometry_of(p);

    return ldexp((double)g.buckets * (double)g.values, (int)g.part_bits);
}

/* The best P: the largest for which 2^P is no more than 0.96 of the mean distance. Above, s = (1 -
 * fpr)^(2^P) passes the golden ratio, where s + s^2 = 1, and a bit more of rest costs more than it
 * saves of quotients (Kiely 2004). */
static unsigned gcs_best_rest_bits(const tamis_plan *p)
{
    gcs_geometry g = gcs_geometry_of(p);
    uint64_t keys = p->capacity >> g.part_bits;
    uint64_t distance = g.buckets * g.values / (keys ? keys : 1);

    distance -= distance / 27;
    return distance ? 63 - (unsigned)__builtin_clzll(distance) : 0;
}

static uint64_t gcs_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->width <= GCS_MAX_REST && p->hashes > 0 &&
              p->hashes < GCS_MAX_LINES && p->capacity < GCS_MAX_CAPACITY &&
              gcs_cells(p) < GCS_MAX_CELLS && p->flags == 0 && p->load == 0;

    if (!ok || p->width != gcs_best_rest_bits(p))
        return 0;
    gcs_geometry g = gcs_geometry_of(p);
    return 4 * (g.buckets + 1) < g.part_size ? g.part_size << g.part_bits : 0;
}

/* No more than a double has: of 32 bits, x86 keeps what functions return in wider registers, and a
 * last bit decides about cells. */
static double gcs_double(double x)
{
    volatile double stored = x;

    return stored;
}

/* Keys fall into cells independently. */
static double gcs_rate(const tamis_plan *p, double n)
{
    return -gcs_double(expm1(n * log1p(-1 / gcs_cells(p))));
}

/* One part in a billion needs more bits, whatever the number of keys. Moving one key changes the
 * number of occupied cells and the sum of quotients by one at most, so that neither is t above its
 * mean with a probability above exp(-2 t^2 / n) (McDiarmid 1989). And neither can be above what it
 * is if all keys have a cell of their own, or all distances are multiples of 2^P.
 *
 * A distance adds one to the quotients of its bucket, that from the last key to the end included,
 * for each multiple m of 2^P that it reaches: m cells are empty with probability (1 - m / cells)^n,
 * and lie at the start of the bucket or behind a key. */
static double gcs_bits_needed(const gcs_geometry *g, double n)
{
    const double t = sqrt(n * log(1e9) / 2), buckets = (double)g->buckets;
    double values = (double)g->values, cells = buckets * values, step = exp2(g->rest_bits);
    double keys = -cells * expm1(n * log1p(-1 / cells)) + t, quotients = 0;

    for (double m = step; m < values; m += step) {
        double empty = exp(n * log1p(-m / cells));
        if (empty < 1e-20)
            break;
        quotients += empty * (1 + (values - m) * -expm1(n * log1p(-1 / (cells - m))));
    }
    return fmin(keys, n) * (g->rest_bits + 1) + fmin(buckets * quotients + t, cells / step);
}

/* The smallest number of cells that meets the rate, then the room for their codes. */
static tamis_status gcs_plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = fmax(1, (double)spec->keys), cells = -1 / gcs_double(expm1(log1p(-spec->fpr) / n));
    gcs_geometry g = gcs_geometry_of(p);

    if (spec->keys >= GCS_MAX_CAPACITY || n / spec->fpr >= GCS_MAX_CELLS)
        return TAMIS_RANGE;
    p->slots = (uint64_t)ldexp(cells / (double)g.buckets, -(int)g.part_bits);
    while (p->slots == 0 || gcs_rate(p, n) > spec->fpr)
        p->slots += (p->slots >> 40) + 1;
    p->width = gcs_best_rest_bits(p);
    g = gcs_geometry_of(p);
    double bits = gcs_bits_needed(&g, fmax(1, (double)part_room(spec->keys)));
    double lines = (bits / 8 + 4 * (double)(g.buckets + 1)) / GCS_LINE;
    if (lines >= (double)GCS_MAX_LINES - 1)
        return TAMIS_RANGE;
    p->hashes = (uint32_t)lines + 1;
    return TAMIS_OK;
}

static void gcs_for_cpu(tamis *f, unsigned cpu)
{
    gcs_geometry g = gcs_geometry_of(&f->plan);

    memcpy(f->derived, &g, sizeof g);
    (void)cpu;
}

/* ---- Lookups ----------------------------------------------------------- */

/* Where to look for a key. */
typedef struct gcs_search {
    const uint8_t *part;
    uint64_t bucket, value;
} gcs_search;

static inline gcs_search gcs_search_for(const tamis *f, uint64_t key)
{
    const gcs_geometry *g = gcs_geometry_in(f);
    uint64_t h = hash_key(key, f->salt);

    return (gcs_search){ gcs_part(f, g, part_of(h, g->part_bits)), gcs_bucket_of(g, h),
                         gcs_value_of(g, h) };
}

static bool gcs_has(const tamis *f, uint64_t key)
{
    const gcs_geometry *g = gcs_geometry_in(f);
    const gcs_search s = gcs_search_for(f, key);
    gcs_reader r = gcs_read_bucket(s.part, g, s.bucket);
    uint64_t value;

    while (gcs_read_value(&r, &value))
        if (value >= s.value)
            return value == s.value;
    return false;
}

/* The codes are where the offset says. */
static void gcs_touch(const tamis *f, uint64_t key)
{
    const gcs_search s = gcs_search_for(f, key);

    ahead_read(gcs_offset_at(s.part, gcs_geometry_in(f), s.bucket), f->is_far);
}

/* ---- Writing a part ---------------------------------------------------- */

static inline void gcs_set_bits(uint8_t *codes, uint64_t bit, uint64_t x)
{
    put_le64(codes + bit / 8, le64(codes + bit / 8) | x << bit % 8);
}

/* Ascending hashes become the values of bucket i, in their place; returns how many hashes are its
 * own. */
static size_t gcs_take_bucket(uint64_t *hashes, size_t n, const gcs_geometry *g, uint64_t i,
                              size_t *values)
{
    size_t taken = 0;

    for (*values = 0; taken < n && gcs_bucket_of(g, hashes[taken]) == i; taken++) {
        uint64_t value = gcs_value_of(g, hashes[taken]);
        if (*values == 0 || hashes[*values - 1] != value)
            hashes[(*values)++] = value;
    }
    return taken;
}

static uint64_t gcs_bucket_size(const uint64_t *values, size_t n, unsigned rest_bits)
{
    uint64_t size = n * (uint64_t)(rest_bits + 1), next = 0;

    for (size_t i = 0; i < n; i++) {
        size += (values[i] - next) >> rest_bits;
        next = values[i] + 1;
    }
    return size;
}

static void gcs_write_bucket(uint8_t *codes, uint64_t start, uint64_t end, const uint64_t *values,
                             size_t n, unsigned rest_bits)
{
    uint64_t next = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t distance = values[i] - next;
        start += distance >> rest_bits;
        gcs_set_bits(codes, start++, 1);
        end -= rest_bits;
        gcs_set_bits(codes, end, gcs_low_bits(distance, rest_bits));
        next = values[i] + 1;
    }
}

static tamis_status gcs_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                              size_t *n, void *scratch, const tamis_team *team)
{
    const gcs_geometry *g = gcs_geometry_in(f);
    uint64_t at = 0, *hashes = items;
    size_t left = *n = tamis__sort_unique(items, *n), values;

    (void)stage, (void)scratch, (void)team;
    for (uint64_t i = 0; i < g->buckets; i++) {
        size_t taken = gcs_take_bucket(hashes, left, g, i, &values);
        uint64_t size = gcs_bucket_size(hashes, values, g->rest_bits);
        if (size > g->codes_size * 8 - at)
            return TAMIS_FULL;
        gcs_write_bucket(part, at, at + size, hashes, values, g->rest_bits);
        at += size;
        put_le32(gcs_offset_at(part, g, i + 1), (uint32_t)at);
        hashes += taken;
        left -= taken;
    }
    return TAMIS_OK;
}

/* Hashes are sorted where they are. */
static uint64_t gcs_scratch(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                            unsigned workers)
{
    (void)p, (void)stage, (void)n, (void)workers;
    return 0;
}

/* No set of that many keys needs more than an eighth above what is planned, and few do at all. */
static tamis_status gcs_resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    p->hashes += p->hashes / 16 + 1;
    return p->hashes < GCS_MAX_LINES ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- The whole set ----------------------------------------------------- */

/* Values in a part. Buckets that overlap in a damaged index count once. */
static uint64_t gcs_count_values(const uint8_t *part, const gcs_geometry *g)
{
    uint64_t n = 0, end = 0, value;

    for (uint64_t i = 0; i < g->buckets; i++) {
        gcs_reader r = gcs_read_bucket(part, g, i);
        if (r.start < end || r.rests < r.start)
            continue;
        end = r.rests;
        while (gcs_read_value(&r, &value))
            n++;
    }
    return n;
}

/* The rate is the share of cells that are occupied. The number of keys was counted when they were
 * at hand. */
static void gcs_measure(const tamis *f, tamis_info *info)
{
    const gcs_geometry *g = gcs_geometry_in(f);
    uint64_t n = 0;

    for (uint64_t i = 0; i < UINT64_C(1) << g->part_bits; i++)
        n += gcs_count_values(gcs_part(f, g, i), g);
    info->fpr = fmin(1, (double)n / gcs_cells(&f->plan));
}

static const char *gcs_verify_bucket(const uint8_t *part, const gcs_geometry *g, uint64_t i,
                                     uint64_t *n)
{
    gcs_reader r = gcs_read_bucket(part, g, i);
    uint64_t value, next = 0, most = g->values >> g->rest_bits;

    if (le32(gcs_offset_at(part, g, i + 1)) > g->codes_size * 8)
        return "an offset is past the end";
    if (r.rests < r.start)
        return "offsets do not ascend";
    while (gcs_read_value(&r, &value)) {
        if (r.end - r.start - r.keys > most || value < next || value >= g->values)
            return "a value is out of range";
        next = value + 1;
    }
    *n += r.keys;
    return r.end == r.rests ? NULL : "a bucket does not end with a key";
}

static const char *gcs_verify_part(const uint8_t *part, const gcs_geometry *g, uint64_t *n)
{
    const char *why = le32(gcs_offset_at(part, g, 0)) ? "the first offset is not zero" : NULL;

    for (uint64_t i = 0; i < g->buckets && !why; i++)
        why = gcs_verify_bucket(part, g, i, n);
    if (why)
        return why;
    uint64_t end = gcs_offset(part, g, g->buckets);
    bool clean = !(end % 8 && part[end / 8] >> end % 8) &&
                 bytes_are_zero(part + (end + 7) / 8, part + g->codes_size);
    return clean ? NULL : "bits past the end are set";
}

static const char *gcs_verify(const tamis *f)
{
    const gcs_geometry *g = gcs_geometry_in(f);
    const char *why = NULL;
    uint64_t n = 0;

    for (uint64_t i = 0; i < UINT64_C(1) << g->part_bits && !why; i++)
        why = gcs_verify_part(gcs_part(f, g, i), g, &n);
    return why ? why : n <= f->count ? NULL : "the number of keys is wrong";
}

const tamis_ops tamis__gcs = {
    .traits = TAMIS_TRAIT_TO_STUDY,
    .plan = gcs_plan,
    .bytes = gcs_bytes,
    .rate = gcs_rate,
    .resize = gcs_resize,
    .for_cpu = gcs_for_cpu,
    .verify = gcs_verify,
    .measure = gcs_measure,
    .has = gcs_has,
    .touch = gcs_touch,
    .solve = gcs_solve,
    .scratch = gcs_scratch,
    .cells = tamis__gcs_cells,
    .explain = tamis__gcs_explain,
};
