/* window.c - a Bloom filter of the latest keys.
 *
 * Eight generations, each a filter of blocks as in blocked.c: keys go to the newest, and are looked
 * for in all. When the newest has its share of the keys it is followed by a new one, for which the
 * oldest is cleared: that is a rotation. So a key stays while seven shares come after it, and is
 * gone after eight.
 *
 * The bits of the generations that stand for one thing stand together, in one byte: the bits of a
 * key are eight bytes, and what they have in common says which generations hold it, in one look. A
 * block is 256 bytes, four lines that follow each other. A rotation clears one bit of each byte.
 *
 *   h = hash_key(key):  probe 0 is h, probe i is mix64(h + i)
 *   of each probe:   high bits -> block      low 32 bits -> x
 *   byte 32 i + ((x * SALT[i]) >> 27) of the block, for i < 8
 *
 * Payload: a line with the number of rotations and the keys of the newest generation, as two 64-bit
 * numbers; then plan.slots blocks. plan.hashes is the number of probes, plan.width that of
 * generations. */
#include "base/hash.h"
#include "base/le.h"
#include "base/many.h"
#include "bloom/blocked.h"
#include "bloom/split.h"

enum { GENERATIONS = 8, MAX_PROBES = 8, CELLS = 32 };

typedef struct {
    uint64_t rotations, held; /* little-endian */
    uint8_t zeros[48];
} header;

typedef struct {
    uint8_t cell[WORDS][CELLS];
} row;

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 47 && p->width == GENERATIONS &&
              p->hashes > 0 && p->hashes <= MAX_PROBES && p->capacity < UINT64_C(1) << 60 &&
              has_no_options(p);

    return ok ? sizeof(header) + p->slots * sizeof(row) : 0;
}

/* Keys of a generation: seven are enough for all that must stay. */
static uint64_t share(const tamis_plan *p)
{
    return p->capacity / (GENERATIONS - 1) + (p->capacity % (GENERATIONS - 1) != 0 || !p->capacity);
}

static double rate_of_generation(const tamis_plan *p, double n)
{
    return split_rate_of_probes((double)p->slots, n, p->hashes);
}

/* How many keys come until that many were not found in the newest generation: 1 + rate for each,
 * by Simpson's rule. */
static double keys_for(const tamis_plan *p, double held)
{
    enum { STEPS = 8 };
    double sum = 0;

    for (int i = 0; i <= STEPS; i++) {
        double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * (1 + rate_of_generation(p, held * i / STEPS));
    }
    return held * sum / (3 * STEPS);
}

/* All that came are in full generations and the newest one; of more than eight, seven are left. */
static double rate(const tamis_plan *p, double n)
{
    double each = keys_for(p, (double)share(p)), full = floor(n / each);
    double stranger = pow(1 - rate_of_generation(p, each), fmin(full, GENERATIONS - 1));

    return 1 - stranger * (1 - rate_of_generation(p, n - full * each));
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double each = -expm1(log1p(-spec->fpr) / GENERATIONS), bits = -log2(each);

    p->width = GENERATIONS;
    p->hashes = (uint32_t)fmin(1 + floor(bits / 10), MAX_PROBES);
    p->slots = 1;
    if (!bytes(p))
        return TAMIS_RANGE;
    double keys = (double)share(p) * (1 + each);
    p->slots = blocks_for(keys * p->hashes, pow(each, 1.0 / p->hashes));
    if (!p->slots)
        return TAMIS_RANGE;
    while (rate_of_generation(p, keys) > each)
        p->slots += 1 + p->slots / 1000;
    return TAMIS_OK;
}

/* ---- Lookups ----------------------------------------------------------- */

static inline uint64_t probe(uint64_t h, unsigned i)
{
    return i ? mix64(h + i) : h;
}

static inline row *row_for(const tamis *f, uint64_t probed)
{
    return (row *)((header *)f->payload + 1) + scale64(probed, f->plan.slots);
}

/* Which generations have all eight bits of x. */
static inline unsigned generations_in(const row *r, uint32_t x)
{
    unsigned common = 0xff;

    for (int i = 0; i < WORDS; i++)
        common &= r->cell[i][x * SALT[i] >> 27];
    return common;
}

static inline unsigned generations_of(const tamis *f, uint64_t h)
{
    unsigned common = generations_in(row_for(f, h), (uint32_t)h);

    for (unsigned i = 1; common && i < f->plan.hashes; i++) {
        uint64_t probed = probe(h, i);
        common &= generations_in(row_for(f, probed), (uint32_t)probed);
    }
    return common;
}

static bool has(const tamis *f, uint64_t key)
{
    return generations_of(f, hash_key(key, f->salt)) != 0;
}

static inline uint64_t place_of(const void *self, uint64_t key)
{
    return hash_key(key, ((const tamis *)self)->salt);
}

__attribute__((always_inline)) static inline void fetch_row(const void *self, uint64_t h)
{
    const row *r = row_for(self, h);

    for (int i = 0; i < WORDS; i += 2)
        __builtin_prefetch(r->cell[i], 0, 3);
}

static inline bool look(const void *self, uint64_t h)
{
    return generations_of(self, h) != 0;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return many_lookups(f, hits, keys, n, place_of, fetch_row, look);
}

/* ---- Changes ----------------------------------------------------------- */

static void rotate(tamis *f)
{
    header *top = f->payload;
    uint64_t rotations = le64(&top->rotations) + 1;
    uint64_t keep = ~(UINT64_C(0x0101010101010101) << rotations % GENERATIONS);
    uint64_t *words = (uint64_t *)(top + 1);

    for (uint64_t i = 0; i < f->plan.slots * (sizeof(row) / 8); i++)
        words[i] &= keep;
    put_le64(&top->rotations, rotations);
    put_le64(&top->held, 0);
}

static void set_bit(tamis *f, uint64_t h, unsigned bit)
{
    for (unsigned i = 0; i < f->plan.hashes; i++) {
        uint64_t probed = probe(h, i);
        row *r = row_for(f, probed);
        for (int w = 0; w < WORDS; w++)
            r->cell[w][(uint32_t)probed * SALT[w] >> 27] |= (uint8_t)bit;
    }
}

static inline void add_place(tamis *f, uint64_t h)
{
    header *top = f->payload;
    unsigned newest = 1u << le64(&top->rotations) % GENERATIONS;

    f->count++;
    if (generations_of(f, h) & newest)
        return;
    if (le64(&top->held) >= share(&f->plan)) {
        rotate(f);
        newest = 1u << le64(&top->rotations) % GENERATIONS;
    }
    set_bit(f, h, newest);
    put_le64(&top->held, le64(&top->held) + 1);
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    add_place(f, hash_key(key, f->salt));
    return TAMIS_OK;
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t h[MANY];

    for (size_t from = 0; from < n; from += MANY) {
        size_t here = many_group(from, n);
        many_place_group(h, f, keys + from, here, place_of);
        for (size_t i = 0; i < here; i++)
            fetch_row(f, h[i]);
        for (size_t i = 0; i < here; i++)
            add_place(f, h[i]);
    }
    *added = n;
    return TAMIS_OK;
}

/* ---- As it is ---------------------------------------------------------- */

static const char *verify(const tamis *f)
{
    const header *top = f->payload;

    for (size_t i = 0; i < sizeof top->zeros; i++)
        if (top->zeros[i])
            return "bytes before the first block are not zero";
    if (le64(&top->held) > share(&f->plan))
        return "the newest generation holds more than its share";
    return le64(&top->held) > f->count ? "it holds more keys than were added" : NULL;
}

/* The blocks of one generation, each gathered to look as in blocked.c, tell its rate and keys. */
static split_measure read_generation(const tamis *f, unsigned bit)
{
    const row *rows = (const row *)((const header *)f->payload + 1);
    double blocks = (double)f->plan.slots, fpr = 0, ones = 0;

    for (uint64_t i = 0; i < f->plan.slots; i++) {
        double rate = 1;
        for (int w = 0; w < WORDS; w++) {
            unsigned ones_here = 0;
            for (int c = 0; c < CELLS; c++)
                ones_here += rows[i].cell[w][c] >> bit & 1;
            rate *= ones_here / 32.0;
            ones += ones_here;
        }
        fpr += rate;
    }
    double fill = ones / (256 * blocks);
    return (split_measure){ fill, fpr / blocks,
                            keys_from_clear(1 - fill, 256 * blocks, 1 / (32 * blocks)) };
}

/* Keys that came again are in more than one generation: the cardinality counts them in each. */
static void measure(const tamis *f, tamis_info *info)
{
    double strangers = 1;

    info->fill = info->cardinality = 0;
    for (unsigned bit = 0; bit < GENERATIONS; bit++) {
        split_measure m = read_generation(f, bit);
        info->fill += m.fill / GENERATIONS;
        info->cardinality += m.keys / f->plan.hashes;
        strangers *= 1 - pow(m.fpr, f->plan.hashes);
    }
    info->fpr = 1 - strangers;
}

const tamis_ops tamis__window = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .measure = measure,
    .add = add,
    .rotate = rotate,
    .has_many = has_many,
    .add_many = add_many,
};
