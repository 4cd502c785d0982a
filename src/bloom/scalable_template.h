/* scalable_template.h - TEMPLATE, compiled once for each CPU: layout, lookups and adds of the
 * scalable filter.
 *
 * The includer defines SCALABLE_HAS and SCALABLE_ADD, split_block_has() and split_block_add() or
 * the like of them. Keys go through in groups of 64: all are looked for in the newest stage, which
 * has about half of the keys, those that are not there in the one before it, and so on; while one
 * stage is looked at, the lines of the next are on their way. */
#include "base/ahead.h"
#include "bloom/split_block.h"

/* ---- Layout ------------------------------------------------------------ */

/* 2^40 times the first stage is more than any memory holds. */
enum { MAX_STAGES = 40, MAX_PROBES = 8 };

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
    static const uint16_t STRICTER[MAX_STAGES] = {
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

    return probes < MAX_PROBES ? probes : MAX_PROBES;
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

enum { GROUP = 64 };

/* Returns which keys are found, as bits. Each stage looks for what the newer ones do not have. */
static inline uint64_t scalable_search(const tamis *f, const uint64_t *keys, unsigned n)
{
    scalable_stage s = scalable_stage_of(f, f->plan.hashes - 1);
    uint64_t h[GROUP], g[GROUP], found = 0;
    uint8_t at[GROUP]; /* where in the group h[i] stands */
    bool is_far = f->is_far;

    for (unsigned i = 0; i < n; i++) {
        h[i] = hash_key(keys[i], f->salt);
        g[i] = h[i] * s.factor;
        at[i] = (uint8_t)i;
        ahead_read(scalable_block(&s, g[i]), is_far);
    }
    for (unsigned j = f->plan.hashes; j-- > 0;) {
        scalable_stage before = scalable_stage_of(f, j ? j - 1 : 0);
        unsigned left = 0;
        for (unsigned i = 0; i < n; i++) {
            bool hit = scalable_stage_has(&s, g[i]);
            found |= (uint64_t)hit << at[i];
            h[left] = h[i];
            g[left] = h[i] * before.factor;
            at[left] = at[i];
            if (j)
                ahead_read(scalable_block(&before, g[left]), is_far);
            left += !hit;
        }
        n = left;
        s = before;
    }
    return found;
}

static size_t scalable_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t found = 0;

    for (size_t from = 0; from < n; from += GROUP) {
        unsigned here = n - from < GROUP ? (unsigned)(n - from) : GROUP;
        uint64_t word = scalable_search(f, keys + from, here);
        hits[from / GROUP] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
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
        size_t from = *added, end = n - from < GROUP ? n : from + GROUP;
        uint64_t found = scalable_search(f, keys + from, (unsigned)(end - from));
        for (; *added < end && !status; *added += !status)
            if (found >> (*added - from) & 1)
                f->count++;
            else
                status = scalable_add(f, keys[*added], 1);
    }
    return status;
}
