/* retrieval.c - keys with values: see retrieval.h. */
#define PAIRS

#include "fuse/ribbon_back.h"
#include "fuse/ribbon_window.h"

#include "fuse/retrieval_solve_template.h"

/* ---- Building ---------------------------------------------------------- */

size_t tamis__retrieval_scratch(const shape *s, size_t n)
{
    return scratch_for(s, n);
}

tamis_status tamis__retrieval_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                                    size_t *n, void *scratch)
{
    return retrieval_solve(f, stage, part, items, n, scratch);
}

/* ---- Lookup ------------------------------------------------------------ */

/* Column by column, from the fingerprint, at which strangers fail, down to the value. */
typedef struct {
    uint64_t start, row, expected;
    const shape *shape;
} query;

static query query_of(const shape *s, const level *l, uint64_t y)
{
    return (query){ start_of(l, y, s->part_bits), row_in(l, y), with_fingerprint(0, y, s), s };
}

/* Takes one bit more; false if it is another's. */
static inline bool take_bit(uint64_t *word, const query *q, unsigned column, uint64_t window)
{
    uint64_t bit = parity(window & q->row);

    *word = *word << 1 | bit;
    return column < q->shape->value_bits || bit == (q->expected >> column & 1);
}

static bool get_from_groups(uint64_t *word, const query *q, const uint8_t *slots)
{
    unsigned width = q->shape->width;

    for (unsigned j = width; j-- > 0;)
        if (!take_bit(word, q, j, window(slots + 8 * j, q->start, width)))
            return false;
    return true;
}

static bool get_from_last(uint64_t *word, const shape *s, const level *l, const uint8_t *part,
                          uint64_t h)
{
    unsigned seed = part[l->end - LAST_STATE];

    if (seed == 0)
        return false;
    query q = query_of(s, l, draw(h, l->number + seed - 1));
    for (unsigned j = s->width; j-- > 0;)
        if (!take_bit(word, &q, j, last_window(part + l->slots_at + j * l->slots / 8, q.start)))
            return false;
    return true;
}

static bool get_word(uint64_t *word, const shape *s, const uint8_t *part, uint64_t h)
{
    for (level l = first_level(s);; l = next_level(&l, s->width)) {
        if (l.is_last)
            return get_from_last(word, s, &l, part, h);
        query q = query_of(s, &l, draw(h, l.number));
        if (!is_bumped(part + l.at, q.start))
            return get_from_groups(word, &q, part + l.slots_at);
    }
}

static const struct retrieval_stage *stage_of(const tamis *f, enum tamis_stage stage)
{
    return &((const retrieval *)(const void *)f->derived)->stage[stage];
}

static const uint8_t *begin_of(const tamis *f, const struct retrieval_stage *s, uint64_t h)
{
    return part_at(f, h, s->shape.part_bits) + s->at;
}

bool tamis__retrieval_get(const tamis *f, enum tamis_stage stage, uint64_t *value, uint64_t h)
{
    const struct retrieval_stage *s = stage_of(f, stage);
    uint64_t word = 0;

    if (!get_word(&word, &s->shape, begin_of(f, s, h), h))
        return false;
    *value = word & ((UINT64_C(1) << s->shape.value_bits) - 1);
    return true;
}

void tamis__retrieval_touch(const tamis *f, enum tamis_stage stage, uint64_t h)
{
    const struct retrieval_stage *s = stage_of(f, stage);
    const uint8_t *from = begin_of(f, s, h);
    level l = first_level(&s->shape);
    uint64_t start = start_of(&l, h, s->shape.part_bits);

    if (l.is_last)
        return;
    const uint8_t *words = from + l.slots_at + start / 64 * 8 * s->shape.width;
    __builtin_prefetch(from + l.at + start / BUCKET / 4, 0, 3);
    for (unsigned i = 0; i < 16 * s->shape.width; i += 64)
        __builtin_prefetch(words + i, 0, 3);
}
