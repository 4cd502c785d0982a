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
 * keys: see bits_needed().
 *
 * Golomb: Run-Length Encodings, 1966. Rice: Some Practical Universal Noiseless Coding Techniques,
 * 1979. Kiely: Selecting the Golomb Parameter in Rice Coding, 2004. Putze, Sanders, Singler:
 * Cache-, Hash- and Space-Efficient Bloom Filters, 2009. */
#include "coded/gcs.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Offsets are 32 bits: a part has fewer bits than that. */
static const uint64_t MAX_LINES = UINT64_C(1) << 23, MAX_CAPACITY = UINT64_C(1) << 48;

static const double MAX_CELLS = 0x1p63;

static double cells_of(const tamis_plan *p)
{
    geometry g = geometry_of(p);

    return ldexp((double)g.buckets * (double)g.values, (int)g.part_bits);
}

/* The best P: the largest for which 2^P is no more than 0.96 of the mean distance. Above, s = (1 -
 * fpr)^(2^P) passes the golden ratio, where s + s^2 = 1, and a bit more of rest costs more than it
 * saves of quotients (Kiely 2004). */
static unsigned best_rest_bits(const tamis_plan *p)
{
    geometry g = geometry_of(p);
    uint64_t keys = p->capacity >> g.part_bits;
    uint64_t distance = g.buckets * g.values / (keys ? keys : 1);

    distance -= distance / 27;
    return distance ? 63 - (unsigned)__builtin_clzll(distance) : 0;
}

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->width <= MAX_REST && p->hashes > 0 && p->hashes < MAX_LINES &&
              p->capacity < MAX_CAPACITY && cells_of(p) < MAX_CELLS && p->flags == 0 &&
              p->load == 0;

    if (!ok || p->width != best_rest_bits(p))
        return 0;
    geometry g = geometry_of(p);
    return 4 * (g.buckets + 1) < g.part_size ? g.part_size << g.part_bits : 0;
}

/* Keys fall into cells independently. */
static double rate(const tamis_plan *p, double n)
{
    return -expm1(n * log1p(-1 / cells_of(p)));
}

/* Mean sum of the quotients of a bucket, that of the distance from its last key to its end
 * included. A distance adds one for each multiple m of `step` that it reaches: m cells are empty
 * with probability (1 - m / cells)^n, and lie at the start of the bucket or behind a key. */
static double mean_quotients(double n, double cells, double values, double step)
{
    double sum = 0;

    for (double m = step; m < values; m += step) {
        double empty = exp(n * log1p(-m / cells));
        if (empty < 1e-20)
            break;
        sum += empty * (1 + (values - m) * -expm1(n * log1p(-1 / (cells - m))));
    }
    return sum;
}

/* One part in a billion needs more, whatever the number of keys. Moving one key changes the number
 * of occupied cells and the sum of quotients by one at most, so that neither is t above its mean
 * with a probability above exp(-2 t^2 / n) (McDiarmid 1989). And neither can be above what it is if
 * all keys have a cell of their own, or all distances are multiples of 2^P. */
static double bits_needed(const geometry *g, double n)
{
    const double t = sqrt(n * log(1e9) / 2);
    double cells = (double)g->buckets * (double)g->values, step = exp2(g->rest_bits);
    double keys = -cells * expm1(n * log1p(-1 / cells)) + t;
    double sum = (double)g->buckets * mean_quotients(n, cells, (double)g->values, step) + t;

    return fmin(keys, n) * (g->rest_bits + 1) + fmin(sum, cells / step);
}

/* The smallest number of cells that meets the rate. */
static void choose_values(tamis_plan *p, double n, double fpr)
{
    geometry g = geometry_of(p);
    double cells = -1 / expm1(log1p(-fpr) / n);

    p->slots = (uint64_t)ldexp(cells / (double)g.buckets, -(int)g.part_bits);
    while (p->slots == 0 || rate(p, n) > fpr)
        p->slots += (p->slots >> 40) + 1;
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = fmax(1, (double)spec->keys);

    if (spec->keys >= MAX_CAPACITY || n / spec->fpr >= MAX_CELLS)
        return TAMIS_RANGE;
    choose_values(p, n, spec->fpr);
    p->width = best_rest_bits(p);
    geometry g = geometry_of(p);
    double bits = bits_needed(&g, fmax(1, (double)part_room(spec->keys)));
    double size = bits / 8 + 4 * (double)(g.buckets + 1);
    if (size / LINE >= (double)MAX_LINES - 1)
        return TAMIS_RANGE;
    p->hashes = (uint32_t)(size / LINE) + 1;
    return TAMIS_OK;
}

/* ---- Kernels ----------------------------------------------------------- */

static void for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__gcs_use_avx2(&f->ops);
#endif
    (void)f;
    (void)cpu;
}

/* ---- Sorting ----------------------------------------------------------- */

enum { FEW = 24, DIGIT = 8, LARGE_DIGIT = 11, MANY = 4096 };

static void sort_few(uint64_t *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t x = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

/* By `digits` values of the bits above `shift`; ends[d] becomes the end of those with digit d. */
static void scatter(uint64_t *a, size_t n, uint64_t *spare, size_t *ends, size_t digits,
                    unsigned shift)
{
    memset(ends, 0, digits * sizeof *ends);
    for (size_t i = 0; i < n; i++)
        ends[a[i] >> shift & (digits - 1)]++;
    for (size_t d = 0, start = 0; d < digits; d++) {
        size_t count = ends[d];
        ends[d] = start;
        start += count;
    }
    for (size_t i = 0; i < n; i++)
        spare[ends[a[i] >> shift & (digits - 1)]++] = a[i];
    memcpy(a, spare, n * sizeof *a);
}

/* All of a[] agree above the lowest `bits` bits. Hashes differ in their first bits: two digits make
 * groups of a few, of ten million. */
static void sort(uint64_t *a, size_t n, uint64_t *spare, unsigned bits)
{
    size_t ends[1 << LARGE_DIGIT], start = 0;
    unsigned digit = n < MANY ? DIGIT : LARGE_DIGIT;

    if (n <= FEW) {
        sort_few(a, n);
        return;
    }
    if (digit > bits)
        digit = bits;
    if (digit == 0)
        return;
    scatter(a, n, spare, ends, (size_t)1 << digit, bits - digit);
    for (size_t d = 0; d < (size_t)1 << digit; d++) {
        sort(a + start, ends[d] - start, spare, bits - digit);
        start = ends[d];
    }
}

static size_t drop_repeated(uint64_t *a, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (i == 0 || a[i] != a[i - 1])
            a[kept++] = a[i];
    return kept;
}

/* ---- Writing a part ---------------------------------------------------- */

static inline void set_bits(uint8_t *codes, uint64_t bit, uint64_t x)
{
    put_le64(codes + bit / 8, le64(codes + bit / 8) | x << bit % 8);
}

static uint64_t size_of_bucket(const uint64_t *values, size_t n, unsigned rest_bits)
{
    uint64_t size = n * (uint64_t)(rest_bits + 1), next = 0;

    for (size_t i = 0; i < n; i++) {
        size += (values[i] - next) >> rest_bits;
        next = values[i] + 1;
    }
    return size;
}

static void write_bucket(uint8_t *codes, uint64_t start, uint64_t end, const uint64_t *values,
                         size_t n, unsigned rest_bits)
{
    uint64_t next = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t distance = values[i] - next;
        start += distance >> rest_bits;
        set_bits(codes, start++, 1);
        end -= rest_bits;
        set_bits(codes, end, low_bits(distance, rest_bits));
        next = values[i] + 1;
    }
}

/* The values of bucket i, from the first of the sorted hashes; *taken tells how many those were. */
static size_t take_bucket(uint64_t *values, const geometry *g, uint64_t i, const uint64_t *hashes,
                          size_t n, size_t *taken)
{
    size_t kept = 0, at = 0;

    for (; at < n && bucket_of(g, hashes[at]) == i; at++) {
        uint64_t value = value_of(g, hashes[at]);
        if (kept == 0 || values[kept - 1] != value)
            values[kept++] = value;
    }
    *taken = at;
    return kept;
}

static size_t scratch_size(const tamis_plan *p, enum tamis_stage stage, size_t n)
{
    (void)p;
    (void)stage;
    return n * sizeof(uint64_t);
}

static tamis_status solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                          size_t *n, void *scratch)
{
    geometry g = geometry_of(&f->plan);
    uint64_t at = 0, *values = scratch, *hashes = items;
    size_t from = 0, taken;

    (void)stage;
    sort(hashes, *n, scratch, 64 - g.part_bits);
    *n = drop_repeated(hashes, *n);
    for (uint64_t i = 0; i < g.buckets; i++, from += taken) {
        size_t kept = take_bucket(values, &g, i, hashes + from, *n - from, &taken);
        uint64_t size = size_of_bucket(values, kept, g.rest_bits);
        if (size > g.codes_size * 8 - at)
            return TAMIS_FULL;
        write_bucket(part, at, at + size, values, kept, g.rest_bits);
        at += size;
        put_le32(offset_at(part, &g, i + 1), (uint32_t)at);
    }
    return TAMIS_OK;
}

/* No set of that many keys needs more than an eighth above what is planned, and few do at all. */
static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    p->hashes += p->hashes / 16 + 1;
    return p->hashes < MAX_LINES ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- The whole set ----------------------------------------------------- */

/* Values in a part. Buckets that overlap in a damaged index count once. */
static uint64_t count_values(const uint8_t *part, const geometry *g)
{
    uint64_t n = 0, end = 0, value;

    for (uint64_t i = 0; i < g->buckets; i++) {
        reader r = read_bucket(part, g, i);
        if (r.start < end || r.rests < r.start)
            continue;
        end = r.rests;
        while (read_value(&r, &value))
            n++;
    }
    return n;
}

static uint64_t count_all(const tamis *f)
{
    geometry g = geometry_of(&f->plan);
    uint64_t n = 0;

    for (uint64_t i = 0; i < UINT64_C(1) << g.part_bits; i++)
        n += count_values(part_at(f, &g, i), &g);
    return n;
}

/* The rate is the share of cells that are occupied. The number of keys was counted when they were
 * at hand. */
static void measure(const tamis *f, tamis_info *info)
{
    info->fpr = fmin(1, (double)count_all(f) / cells_of(&f->plan));
}

static const char *verify_bucket(const uint8_t *part, const geometry *g, uint64_t i)
{
    reader r = read_bucket(part, g, i);
    uint64_t value, next = 0, most = g->values >> g->rest_bits;

    if (r.rests < r.start)
        return "offsets do not ascend";
    while (read_value(&r, &value)) {
        if (r.end - r.start - r.keys > most || value < next || value >= g->values)
            return "a value is out of range";
        next = value + 1;
    }
    return r.end == r.rests ? NULL : "a bucket does not end with a key";
}

static bool is_zero_from(const uint8_t *codes, uint64_t bit, uint64_t end)
{
    for (; bit + WINDOW <= end; bit += WINDOW)
        if (window_at(codes, bit))
            return false;
    return bit >= end || low_bits(bits_at(codes, bit), (unsigned)(end - bit)) == 0;
}

static const char *verify_part(const uint8_t *part, const geometry *g)
{
    const uint64_t room = g->codes_size * 8;

    if (le32(offset_at(part, g, 0)) != 0)
        return "the first offset is not zero";
    for (uint64_t i = 0; i < g->buckets; i++) {
        if (le32(offset_at(part, g, i + 1)) > room)
            return "an offset is past the end";
        const char *why = verify_bucket(part, g, i);
        if (why)
            return why;
    }
    bool clean = is_zero_from(part, get_offset(part, g, g->buckets), room);
    return clean ? NULL : "bits past the end are set";
}

static const char *verify(const tamis *f)
{
    geometry g = geometry_of(&f->plan);

    for (uint64_t i = 0; i < UINT64_C(1) << g.part_bits; i++) {
        const char *why = verify_part(part_at(f, &g, i), &g);
        if (why)
            return why;
    }
    return count_all(f) <= f->count ? NULL : "the number of keys is wrong";
}

const tamis_ops tamis__gcs = {
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .measure = measure,
    .has = has,
    .has_many = has_many,
    .solve = solve,
    .scratch = scratch_size,
};
