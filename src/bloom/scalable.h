/* scalable.h - layout of the scalable filter, shared by its kernels. */
#ifndef TAMIS_BLOOM_SCALABLE_H
#define TAMIS_BLOOM_SCALABLE_H

#include "base/le.h"
#include "bloom/blocked.h"
#include "bloom/group.h"

/* 2^40 times the first stage is more than any memory holds. */
enum { MAX_STAGES = 40, MAX_PROBES = 8 };

/* Before the blocks, in a line of its own. */
typedef struct {
    uint64_t held; /* keys that set a bit; little-endian */
    uint8_t zeros[56];
} header;

/* 256 log2 of pi^2 / 6 (j + 1)^2, rounded up: by how much stage j is stricter than the whole. Their
 * rates then add up to no more than that of the whole, however many there are. */
static const uint16_t TIGHTER[MAX_STAGES] = {
    184,  696,  996,  1208, 1373, 1508, 1622, 1720, 1807, 1885, 1956, 2020, 2079, 2134,
    2185, 2232, 2277, 2319, 2359, 2397, 2433, 2468, 2500, 2532, 2562, 2591, 2619, 2646,
    2672, 2697, 2721, 2744, 2767, 2789, 2811, 2831, 2852, 2871, 2890, 2909,
};

/* In 256ths of a bit: -log2 of the rate of stage j. plan.width is that of the whole. */
static inline uint32_t stage_bits(const tamis_plan *p, unsigned j)
{
    return p->width + TIGHTER[j];
}

/* One block takes a rate of 2^-10 at little more than the least space, and lower ones at ever more:
 * those are left to several blocks. */
static inline unsigned stage_probes(const tamis_plan *p, unsigned j)
{
    unsigned probes = 1 + (stage_bits(p, j) - 1) / (10 * 256);

    return probes < MAX_PROBES ? probes : MAX_PROBES;
}

typedef struct {
    block *blocks;
    uint64_t n;
    unsigned probes;
} stage;

/* Stage j has 2^j times the blocks of the first, and follows those before it. */
static inline stage stage_of(const tamis *f, unsigned j)
{
    block *blocks = (block *)((header *)f->payload + 1);
    uint64_t first = f->plan.slots;

    return (stage){ blocks + (first << j) - first, first << j, stage_probes(&f->plan, j) };
}

/* What the key of that place means for probe i. */
static inline uint64_t probe(uint64_t h, unsigned i)
{
    return i ? mix64(h + i) : h;
}

static inline block *block_for(const stage *s, uint64_t probed)
{
    return &s->blocks[scale64(probed, s->n)];
}

void tamis__scalable_use_avx2(tamis_ops *ops);

#endif
