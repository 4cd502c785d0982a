/* retrieval.c - keys with values: see retrieval.h. */
#include "base/cpu.h"
#include "fuse/retrieval_solve_template.h"

/* ---- Building ---------------------------------------------------------- */

void tamis__retrieval_for_cpu(tamis *f, const retrieval_derived *derived, unsigned cpu)
{
    memcpy(f->derived, derived, sizeof *derived);
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__retrieval_use_avx2(&f->ops);
#endif
    (void)cpu;
}

tamis_status tamis__retrieval_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                                    size_t *n, void *scratch, const tamis_team *team)
{
    return retrieval_solve(f, stage, part, items, n, scratch, team);
}

uint64_t tamis__retrieval_scratch(const ribbon_shape *s, uint64_t n, unsigned workers)
{
    return ribbon_scratch_for(s, n, workers);
}

/* ---- Lookup ------------------------------------------------------------ */

static const uint8_t *retrieval_begin(const tamis *f, const retrieval *r, uint64_t h)
{
    return ribbon_part_at(f, h, r->shape.part_bits) + r->at;
}

/* The value that the slots of a key add up to, on the level that it lives on. */
static bool retrieval_get_sum(uint64_t *sum, const ribbon_shape *s, const uint8_t *part, uint64_t h)
{
    ribbon_level l = ribbon_first_level(s);

    for (; !l.is_last; l = ribbon_next_level(&l, s->width)) {
        ribbon_equation e = ribbon_equation_of(s, &l, ribbon_rehash(h, l.number));
        const uint8_t *slots = part + l.slots_at;
        if (ribbon_is_bumped(part + l.at, e.start))
            continue;
        for (unsigned j = s->width; j-- > 0;)
            if (!ribbon_take_bit(sum, &e, s, j, ribbon_window(slots + 8 * j, e.start, s->width)))
                return false;
        return true;
    }
    return ribbon_get_last(sum, s, &l, part, h);
}

bool tamis__retrieval_get(const tamis *f, enum tamis_stage stage, uint64_t *value, uint64_t h)
{
    const retrieval *r = retrieval_in(f, stage);
    uint64_t sum = 0;

    if (!retrieval_get_sum(&sum, &r->shape, retrieval_begin(f, r, h), h))
        return false;
    *value = sum & ((UINT64_C(1) << r->shape.value_bits) - 1);
    return true;
}

void tamis__retrieval_touch(const tamis *f, enum tamis_stage stage, uint64_t h)
{
    const retrieval *r = retrieval_in(f, stage);
    ribbon_level l = ribbon_first_level(&r->shape);

    if (!l.is_last)
        ribbon_fetch(retrieval_begin(f, r, h), &l,
                     ribbon_start(&l, ribbon_rehash(h, l.number), r->shape.part_bits),
                     r->shape.width, f->is_far);
}
