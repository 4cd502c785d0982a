/* window.c - a Bloom filter of the latest keys.
 *
 * Eight generations, each a filter of blocks as in blocked.c: keys go to the newest, and are looked
 * for in all. When the newest has its share of the keys it is followed by a new one, for which the
 * oldest is cleared: that is a rotation. So a key stays while seven shares come after it, and is
 * gone after eight.
 *
 * The bits of the generations that stand for one thing stand together, in one byte. The bits of a
 * key are eight bytes, and what these have in common says which generations hold it, in one look. A
 * block is 256 bytes, four lines that follow each other. A rotation clears one bit of each byte.
 *
 *   generation   7 6 5 4 3 2 1 0      the newest is rotations % 8
 *   byte of x    0 1 0 0 1 0 0 1
 *   byte of x    0 1 1 0 0 0 1 1      ... and six more
 *   in common    0 1 0 0 0 0 0 1      generations 6 and 0 have the key
 *
 *   h = hash_key(key):  probe 0 is h, probe i is mix64(h + i)
 *   of each probe:   high bits -> block      low 32 bits -> x
 *   byte 32 i + ((x * SPLIT_SALT[i]) >> 27) of the block, for i < 8
 *
 * Payload: a line with the number of rotations and the keys of the newest generation, as two 64-bit
 * numbers; then plan.slots blocks. plan.hashes is the number of probes, plan.width that of
 * generations. */
#include <math.h>

#include "base/ahead.h"
#include "base/many.h"
#include "bloom/split_block.h"
#include "explain.h"

enum { WINDOW_GENERATIONS = 8, WINDOW_MAX_PROBES = 8, WINDOW_CELLS = 32 };

typedef struct window_header {
    uint64_t rotations, held; /* little-endian */
    uint8_t zeros[48];
} window_header;

typedef struct window_block {
    uint8_t cell[SPLIT_WORDS][WINDOW_CELLS];
} window_block;

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t window_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 47 && p->width == WINDOW_GENERATIONS &&
              p->hashes > 0 && p->hashes <= WINDOW_MAX_PROBES && p->capacity < UINT64_C(1) << 60 &&
              !p->flags && !p->load;

    return ok ? sizeof(window_header) + p->slots * sizeof(window_block) : 0;
}

/* Keys of a generation: seven are enough for all that must stay. */
static uint64_t window_share(const tamis_plan *p)
{
    return p->capacity / (WINDOW_GENERATIONS - 1) +
           (p->capacity % (WINDOW_GENERATIONS - 1) != 0 || !p->capacity);
}

/* All that came are in full generations and the newest one; of more than eight, seven are left. Of
 * the keys that come to a generation, some are found there already, and take no room.
 *
 * Small rates are multiples of 2^-53, as images have them: each difference from 1 is a double of
 * its own, so that the last bits of a pow(), which differ between processors, are none of them. */
static double window_rate(const tamis_plan *p, double n)
{
    double share = (double)window_share(p), blocks = (double)p->slots;
    double each = tamis__rates_integral(blocks, share, p->hashes, 1, 8), newest = fmod(n, each);
    double full = fmin(rint((n - newest) / each), WINDOW_GENERATIONS - 1);
    double not_in_full = 1 - tamis__rates_probes(blocks, each, p->hashes);
    double not_in_newest = 1 - tamis__rates_probes(blocks, newest, p->hashes);
    double in_no_full = full > 0 ? 1 + expm1(full * log1p(not_in_full - 1)) : 1;
    double in_none = in_no_full * not_in_newest;

    return 1 - in_none;
}

static tamis_status window_plan(tamis_plan *p, const tamis_spec *spec)
{
    double each = -expm1(log1p(-spec->fpr) / WINDOW_GENERATIONS), bits = -log2(each);

    p->width = WINDOW_GENERATIONS;
    p->hashes = (uint32_t)fmin(1 + floor(bits / 10), WINDOW_MAX_PROBES);
    p->slots =
        tamis__rates_blocks_for_probes((double)window_share(p) * (1 + each), each, p->hashes);
    return window_bytes(p) ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- Lookups ----------------------------------------------------------- */

static inline window_block *window_block_of(const tamis *f, uint64_t probe)
{
    return (window_block *)((window_header *)f->payload + 1) + scale64(probe, f->plan.slots);
}

/* Which generations have all eight bits of each probe. */
static inline unsigned window_generations(const tamis *f, uint64_t h)
{
    unsigned common = 0xff;

    for (unsigned i = 0; common && i < f->plan.hashes; i++) {
        uint64_t probe = split_block_probe(h, i);
        const window_block *b = window_block_of(f, probe);
        for (int w = 0; w < SPLIT_WORDS; w++)
            common &= b->cell[w][split_block_place((uint32_t)probe, w)];
    }
    return common;
}

static bool window_has(const tamis *f, uint64_t key)
{
    return window_generations(f, hash_key(key, f->salt)) != 0;
}

MANY_INLINE void window_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const tamis *f = self;

    many_hash(group, keys, n, f->salt);
}

MANY_INLINE void window_fetch(const void *self, const void *group, size_t i)
{
    const tamis *f = self;
    const many_hashes *g = group;
    const window_block *b = window_block_of(f, g->h[i]);

    for (int w = 0; w < SPLIT_WORDS; w += 2)
        ahead_read(b->cell[w], f->is_far);
}

MANY_INLINE uint64_t window_look(void *f, void *group, size_t i)
{
    const many_hashes *g = group;

    return window_generations(f, g->h[i]) != 0;
}

static size_t window_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    many_hashes groups[2];

    return many_lookups(f, hits, keys, n, &groups[0], &groups[1], window_prepare, window_fetch,
                        window_look, NULL);
}

/* ---- Changes ----------------------------------------------------------- */

static tamis_status window_rotate(tamis *f)
{
    window_header *top = f->payload;
    uint64_t rotations = le64(&top->rotations) + 1;
    uint64_t keep = ~(UINT64_C(0x0101010101010101) << rotations % WINDOW_GENERATIONS);
    uint64_t *words = (uint64_t *)(top + 1);

    for (uint64_t i = 0; i < f->plan.slots * (sizeof(window_block) / 8); i++)
        words[i] &= keep;
    put_le64(&top->rotations, rotations);
    put_le64(&top->held, 0);
    return TAMIS_OK;
}

static inline void window_add_hash(tamis *f, uint64_t h)
{
    window_header *top = f->payload;
    unsigned newest = 1u << le64(&top->rotations) % WINDOW_GENERATIONS;

    f->count++;
    if (window_generations(f, h) & newest)
        return;
    if (le64(&top->held) >= window_share(&f->plan)) {
        window_rotate(f);
        newest = 1u << le64(&top->rotations) % WINDOW_GENERATIONS;
    }
    for (unsigned i = 0; i < f->plan.hashes; i++) {
        uint64_t probe = split_block_probe(h, i);
        window_block *b = window_block_of(f, probe);
        for (int w = 0; w < SPLIT_WORDS; w++)
            b->cell[w][split_block_place((uint32_t)probe, w)] |= (uint8_t)newest;
    }
    put_le64(&top->held, le64(&top->held) + 1);
}

static tamis_status window_add(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    window_add_hash(f, hash_key(key, f->salt));
    return TAMIS_OK;
}

MANY_INLINE uint64_t window_add_one(void *f, void *group, size_t i)
{
    const many_hashes *g = group;

    window_add_hash(f, g->h[i]);
    return true;
}

static tamis_status window_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    many_hashes groups[2];

    *added = many_changes(f, keys, n, &groups[0], &groups[1], window_prepare, window_fetch,
                          window_add_one);
    return TAMIS_OK;
}

/* ---- The whole filter -------------------------------------------------- */

static const char *window_verify(const tamis *f)
{
    const window_header *top = f->payload;

    if (!bytes_are_zero(top->zeros, top + 1))
        return "bytes before the first block are not zero";
    if (le64(&top->held) > window_share(&f->plan))
        return "the newest generation holds more than its share";
    return le64(&top->held) > f->count ? "it holds more keys than were added" : NULL;
}

/* The block of one generation, as it would be in a filter of its own. */
static split_block window_block_in(const window_block *b, unsigned generation)
{
    split_block of = { .word = { 0 } };

    for (int w = 0; w < SPLIT_WORDS; w++)
        for (int c = 0; c < WINDOW_CELLS; c++)
            of.word[w] |= (uint32_t)(b->cell[w][c] >> generation & 1) << c;
    return of;
}

/* Keys that came again are in more than one generation: the cardinality counts them in each. */
static void window_measure(const tamis *f, tamis_info *info)
{
    const window_block *blocks = (const window_block *)((const window_header *)f->payload + 1);
    double strangers = 1;

    info->fill = info->cardinality = 0;
    for (unsigned generation = 0; generation < WINDOW_GENERATIONS; generation++) {
        split_block_sums s = { 0 };
        for (uint64_t i = 0; i < f->plan.slots; i++) {
            split_block b = window_block_in(&blocks[i], generation);
            split_block_sum(&s, &b, 1);
        }
        info->fill += split_block_fill(&s) / WINDOW_GENERATIONS;
        info->cardinality += split_block_adds(&s) / f->plan.hashes;
        strangers *= 1 - pow(split_block_rate(&s), f->plan.hashes);
    }
    info->fpr = 1 - strangers;
}

/* ---- Pictures and words ------------------------------------------------ */

/* A byte of a block: which generations have that bit. */
static tamis_cell window_cell(const tamis *f, uint64_t block, uint64_t i)
{
    const window_block *blocks = (const window_block *)((const window_header *)f->payload + 1);

    return (tamis_cell){ .array = "block",
                         .number = block,
                         .index = i,
                         .value = blocks[block].cell[i / WINDOW_CELLS][i % WINDOW_CELLS],
                         .bits = WINDOW_GENERATIONS };
}

static bool window_tell_state(tamis_telling *t, const char *name, const uint64_t *at)
{
    return tamis__tell_cell(t, (tamis_cell){ .array = name, .value = le64(at), .bits = 64 });
}

static void window_cells(const tamis *f, tamis_telling *t)
{
    const window_header *top = f->payload;

    for (uint64_t i = 0; i < f->plan.slots * SPLIT_BITS; i++)
        if (!tamis__tell_cell(t, window_cell(f, i / SPLIT_BITS, i % SPLIT_BITS)))
            return;
    if (window_tell_state(t, "rotations", &top->rotations))
        window_tell_state(t, "keys held", &top->held);
}

/* A byte speaks for the key while it has a generation in common with all before. */
static bool window_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t h = hash_key(key, f->salt), common = 0xff;

    for (unsigned i = 0; i < f->plan.hashes; i++) {
        uint64_t probe = split_block_probe(h, i), block = scale64(probe, f->plan.slots);
        tamis__tell_number(t, "block", block);
        for (int w = 0; w < SPLIT_WORDS; w++) {
            tamis_cell cell = window_cell(f, block, split_block_index((uint32_t)probe, w));
            common &= cell.value;
            tamis__tell_read(t, "generations with the bit", cell, common != 0);
        }
    }
    for (unsigned generation = 0; generation < WINDOW_GENERATIONS; generation++)
        if (common >> generation & 1)
            tamis__tell_number(t, "generation that has it", generation);
    return tamis__tell_answer(t, common != 0,
                              common ? "a generation has all its bits"
                                     : "no generation has all its bits");
}

const tamis_ops tamis__window = {
    .plan = window_plan,
    .bytes = window_bytes,
    .rate = window_rate,
    .verify = window_verify,
    .measure = window_measure,
    .has = window_has,
    .add = window_add,
    .has_many = window_has_many,
    .add_many = window_add_many,
    .forget = window_rotate,
    .cells = window_cells,
    .explain = window_explain,
};
