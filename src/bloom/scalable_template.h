/* scalable_template.h - TEMPLATE, compiled once for each CPU: layout, lookups and adds of the
 * scalable filter.
 *
 * The includer defines SCALABLE_HAS and SCALABLE_ADD, split_block_has() and split_block_add() or
 * the like of them. Of a group of keys, all are looked for in the newest stage, which has about
 * half of the keys, those that are not there in the one before it, and so on; while one stage is
 * looked at, the lines of the next are on their way. */
#include "base/ahead.h"
#include "base/many.h"
#include "bloom/split_block.h"

/* ---- Layout ------------------------------------------------------------ */

/* 2^40 times the first stage is more than any memory holds. */
enum { SCALABLE_MAX_STAGES = 40, SCALABLE_MAX_PROBES = 8 };

/* Before the blocks, in a line of its own. */
typedef struct scalable_header {
    uint64_t held; /* keys that set a bit; little-endian */
    uint8_t zeros[56];
} scalable_header;

typedef struct scalable_stage {
    split_block *blocks;
    uint64_t n, factor; /* of hashes */
    unsigned probes;
} scalable_stage;

/* In 256ths of a bit: -log2 of the rate of stage j. That of the whole is plan.width. */
static inline uint32_t scalable_rate_bits(const tamis_plan *p, unsigned j)
{
    /* 256 log2 of pi^2 / 6 (j + 1)^2, rounded up: by how much stage j is stricter than the whole.
     * Their rates then add up to no more than that of the whole, however many there are. */
    static const uint16_t STRICTER[SCALABLE_MAX_STAGES] = {
        184,  696,  996,  1208, 1373, 1508, 1622, 1720, 1807, 1885, 1956, 2020, 2079, 2134,
        2185, 2232, 2277, 2319, 2359, 2397, 2433, 2468, 2500, 2532, 2562, 2591, 2619, 2646,
        2672, 2697, 2721, 2744, 2767, 2789, 2811, 2831, 2852, 2871, 2890, 2909,
    };

    return p->width + STRICTER[j];
}

/* One block takes a rate of 2^-10 at little more than the least space, and lower ones at ever more:
 * those are left to several blocks. */
static inline unsigned scalable_probes(const tamis_plan *p, unsigned j)
{
    unsigned probes = 1 + (scalable_rate_bits(p, j) - 1) / (10 * 256);

    return probes < SCALABLE_MAX_PROBES ? probes : SCALABLE_MAX_PROBES;
}

/* Odd, and 1 for the first stage. Stages have hashes of their own: the keys of a stage are those
 * that the ones before it have not, as are the strangers that come to it, and with the same hashes
 * they would meet there more often than by chance. */
static inline uint64_t scalable_factor(unsigned j)
{
    return 1 + j * (2 * HASH_GOLDEN);
}

/* Stage j has 2^j times the blocks of the first, and follows those before it. */
static inline scalable_stage scalable_stage_of(const tamis *f, unsigned j)
{
    split_block *blocks = (split_block *)((scalable_header *)f->payload + 1);
    uint64_t first = f->plan.slots;

    return (scalable_stage){ blocks + (first << j) - first, first << j, scalable_factor(j),
                             scalable_probes(&f->plan, j) };
}

static inline split_block *scalable_block(const scalable_stage *s, uint64_t probe)
{
    return &s->blocks[scale64(probe, s->n)];
}

/* ---- Lookups ----------------------------------------------------------- */

/* g is the hash of a key, times the factor of the stage. */
static inline bool scalable_stage_has(const scalable_stage *s, uint64_t g)
{
    for (unsigned i = 0; i < s->probes; i++) {
        uint64_t probe = split_block_probe(g, i);
        if (!SCALABLE_HAS(scalable_block(s, probe), (uint32_t)probe))
            return false;
    }
    return true;
}

static bool scalable_has(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    for (unsigned j = f->plan.hashes; j-- > 0;) {
        scalable_stage s = scalable_stage_of(f, j);
        if (scalable_stage_has(&s, h * s.factor))
            return true;
    }
    return false;
}

/* The keys of a group that were not found yet, and the stage that is looked at. */
typedef struct scalable_group {
    uint64_t h[MANY], g[MANY]; /* of each key: its hash, and this times the factor of the stage */
    uint8_t at[MANY];          /* where in the group it stands */
    unsigned left;             /* how many there are, of those that were looked at so far */
} scalable_group;

typedef struct scalable_batch {
    const tamis *f;
    scalable_stage newest, before;
    bool is_far;
} scalable_batch;

static inline scalable_batch scalable_begin(const tamis *f)
{
    unsigned newest = f->plan.hashes - 1;

    return (scalable_batch){ f, scalable_stage_of(f, newest),
                             scalable_stage_of(f, newest ? newest - 1 : 0), f->is_far };
}

MANY_INLINE void scalable_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const scalable_batch *b = self;
    scalable_group *g = group;

    for (size_t i = 0; i < n; i++) {
        g->h[i] = hash_key(keys[i], b->f->salt);
        g->g[i] = g->h[i] * b->newest.factor;
    }
    g->left = 0;
}

MANY_INLINE void scalable_fetch(const void *self, const void *group, size_t i)
{
    const scalable_batch *b = self;
    const scalable_group *g = group;

    ahead_read(scalable_block(&b->newest, g->g[i]), b->is_far);
}

/* Whether the stage has key i of those left, which stood at at. If not, and there is a stage before
 * it, the key stays among those left, with the line that it has there on its way. */
MANY_INLINE bool scalable_look_at(scalable_group *g, const scalable_stage *s,
                                  const scalable_stage *before, size_t i, uint8_t at, bool is_far)
{
    uint64_t h = g->h[i];
    bool hit = scalable_stage_has(s, g->g[i]);

    g->h[g->left] = h;
    g->g[g->left] = h * before->factor;
    g->at[g->left] = at;
    ahead_read(scalable_block(before, g->g[g->left]), is_far);
    g->left += !hit;
    return hit;
}

MANY_INLINE uint64_t scalable_look(void *self, void *group, size_t i)
{
    const scalable_batch *b = self;

    return scalable_look_at(group, &b->newest, &b->before, i, (uint8_t)i, b->is_far);
}

/* Each stage looks for what the newer ones do not have. */
MANY_INLINE uint64_t scalable_more(void *self, void *group, uint64_t hits)
{
    const scalable_batch *b = self;
    scalable_group *g = group;
    scalable_stage s = b->before;

    for (unsigned j = b->f->plan.hashes - 1; j-- > 0;) {
        scalable_stage before = scalable_stage_of(b->f, j ? j - 1 : 0);
        unsigned n = g->left;
        g->left = 0;
        for (unsigned i = 0; i < n; i++) {
            unsigned at = g->at[i];
            hits |= (uint64_t)scalable_look_at(g, &s, &before, i, (uint8_t)at, b->is_far) << at;
        }
        s = before;
    }
    return hits;
}

static size_t scalable_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    scalable_batch b = scalable_begin(f);
    scalable_group groups[2];

    return many_lookups(&b, hits, keys, n, &groups[0], &groups[1], scalable_prepare, scalable_fetch,
                        scalable_look, scalable_more);
}

/* ---- Adds -------------------------------------------------------------- */

/* A key that is found would set no bit of the stage that has it, and is not to be in another. */
static tamis_status scalable_add(tamis *f, uint64_t key, uint64_t times)
{
    scalable_header *top = f->payload;
    uint64_t held = le64(&top->held), h = hash_key(key, f->salt);

    (void)times;
    if (!scalable_has(f, key)) {
        scalable_stage newest = scalable_stage_of(f, f->plan.hashes - 1);
        if (held >= f->plan.capacity)
            return TAMIS_FULL;
        for (unsigned i = 0; i < newest.probes; i++) {
            uint64_t probe = split_block_probe(h * newest.factor, i), blocks = 0;
            SCALABLE_ADD(scalable_block(&newest, probe), (uint32_t)probe, &blocks);
        }
        put_le64(&top->held, held + 1);
    }
    f->count++;
    return TAMIS_OK;
}

/* What is found counts as it is; the others are looked for again, since some may be twice among
 * them, but their lines are near by now. */
static tamis_status scalable_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status;) {
        size_t from = *added, end = n - from < MANY ? n : from + MANY;
        uint64_t found;
        scalable_has_many(f, &found, keys + from, end - from);
        for (; *added < end && !status; *added += !status)
            if (found >> (*added - from) & 1)
                f->count++;
            else
                status = scalable_add(f, keys[*added], 1);
    }
    return status;
}
