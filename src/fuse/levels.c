/* levels.c - what ribbons tell of themselves: see levels.h. */
#include "fuse/levels.h"

/* A level of one part. */
typedef struct levels_place {
    const uint8_t *part; /* where the ribbon begins in it */
    uint64_t part_number, number;
    ribbon_level level;
    unsigned width;
    const levels_names *names;
} levels_place;

/* ---- Cells ------------------------------------------------------------- */

static levels_place levels_first(const tamis *f, const retrieval *r, const levels_names *names,
                                 uint64_t part)
{
    uint64_t size = f->plan.bytes >> r->shape.part_bits;
    unsigned levels = ribbon_last_level(&r->shape).number + 1 - r->shape.first_hash;

    return (levels_place){ .part = (const uint8_t *)f->payload + part * size + r->at,
                           .part_number = part,
                           .number = part * levels,
                           .level = ribbon_first_level(&r->shape),
                           .width = r->shape.width,
                           .names = names };
}

static void levels_go_on(levels_place *at)
{
    at->level = ribbon_next_level(&at->level, at->width);
    at->number++;
}

static uint64_t levels_slot(const levels_place *at, uint64_t i)
{
    const ribbon_level *l = &at->level;
    const uint8_t *slots = at->part + l->slots_at;
    uint64_t value = 0;

    for (unsigned j = 0; j < at->width; j++) {
        uint64_t bit = l->is_last ? (uint64_t)slots[j * l->slots / 8 + i / 8] >> i % 8
                                  : le64(slots + 8 * (i / 64 * at->width + j)) >> i % 64;
        value |= (bit & 1) << j;
    }
    return value;
}

/* Cell i of one of the arrays of a level. */
typedef tamis_cell levels_cell(const levels_place *at, uint64_t i);

static tamis_cell levels_slot_cell(const levels_place *at, uint64_t i)
{
    return (tamis_cell){ .array = at->names->level,
                         .number = at->number,
                         .index = i,
                         .value = levels_slot(at, i),
                         .bits = at->width };
}

static tamis_cell levels_threshold_cell(const levels_place *at, uint64_t bucket)
{
    return (tamis_cell){ .array = at->names->thresholds,
                         .number = at->number,
                         .index = bucket,
                         .value = ribbon_threshold(at->part + at->level.at, bucket),
                         .bits = 2 };
}

static tamis_cell levels_seeds_cell(const levels_place *at, uint64_t i)
{
    (void)i;
    return (tamis_cell){ .array = at->names->seeds,
                         .number = at->part_number,
                         .value = at->part[at->level.end - RIBBON_LAST_STATE],
                         .bits = 8 };
}

/* Slots of all levels, then thresholds of all but the last ones, then seeds of these. */
void tamis__levels_cells(const tamis *f, const retrieval *r, const levels_names *names,
                         tamis_telling *t)
{
    levels_cell *const cells[] = { levels_slot_cell, levels_threshold_cell, levels_seeds_cell };

    for (unsigned array = 0; array < 3; array++)
        for (uint64_t part = 0; part < UINT64_C(1) << r->shape.part_bits; part++) {
            levels_place at = levels_first(f, r, names, part);
            for (;; levels_go_on(&at)) {
                const ribbon_level *l = &at.level;
                uint64_t thresholds = l->is_last ? 0 : l->slots / RIBBON_BUCKET;
                uint64_t n = array == 0 ? l->slots : array == 1 ? thresholds : l->is_last;
                for (uint64_t i = 0; i < n && tamis__tell_cell(t, cells[array](&at, i)); i++)
                    continue;
                if (l->is_last)
                    break;
            }
        }
}

/* ---- Steps ------------------------------------------------------------- */

/* The level that a key lives on, and its equation there; false if that level has no keys. */
static bool levels_find(levels_place *at, ribbon_equation *e, const ribbon_shape *s, uint64_t h,
                        tamis_telling *t)
{
    for (; !at->level.is_last; levels_go_on(at)) {
        *e = ribbon_equation_of(s, &at->level, ribbon_rehash(h, at->level.number));
        tamis_cell threshold = levels_threshold_cell(at, e->start / RIBBON_BUCKET);
        bool is_bumped = ribbon_is_bumped(at->part + at->level.at, e->start);
        tamis__tell_number(t, "start", e->start);
        tamis__tell_read(t, "threshold of its bucket", threshold, !is_bumped);
        tamis__tell_number(t, "first start of its bucket that is not bumped",
                           e->start / RIBBON_BUCKET * RIBBON_BUCKET + RIBBON_CUT[threshold.value]);
        if (!is_bumped)
            return true;
    }
    tamis_cell seeds = levels_seeds_cell(at, 0);
    tamis__tell_read(t, "seeds tried in its level", seeds,
                     (seeds.value != 0) != at->names->is_of_others);
    if (seeds.value == 0)
        return false;
    *e = ribbon_equation_of(s, &at->level,
                            ribbon_rehash(h, at->level.number + (unsigned)seeds.value - 1));
    tamis__tell_number(t, "start", e->start);
    return true;
}

static uint64_t levels_sum(const levels_place *at, const ribbon_equation *e)
{
    uint64_t sum = 0;

    for (uint64_t row = e->row; row; row &= row - 1)
        sum ^= levels_slot(at, e->start + (unsigned)__builtin_ctzll(row));
    return sum;
}

/* Without a fingerprint, the value tells members, 1, from others. */
const char *tamis__levels_explain(const tamis *f, const retrieval *r, const levels_names *names,
                                  uint64_t h, uint64_t *value, tamis_telling *t)
{
    const ribbon_shape *s = &r->shape;
    levels_place at = levels_first(f, r, names, part_of(h, s->part_bits));
    ribbon_equation e;

    *value = 0;
    if (s->part_bits)
        tamis__tell_number(t, "part", at.part_number);
    if (!levels_find(&at, &e, s, h, t))
        return "its level has no keys";
    uint64_t sum = levels_sum(&at, &e), rest = sum ^ e.sum;
    bool is_bare = s->width == s->value_bits, fits = is_bare || rest >> s->value_bits == 0;
    bool agrees = is_bare ? rest != 0 : fits != names->is_of_others;
    tamis__tell_number(t, "row", e.row);
    tamis__tell_number(t, is_bare ? "bit of the hash" : "fingerprint",
                       is_bare ? e.sum : e.sum >> s->value_bits);
    for (uint64_t row = e.row; row; row &= row - 1) {
        uint64_t slot = e.start + (unsigned)__builtin_ctzll(row);
        tamis__tell_read(t, "slot that its row picks", levels_slot_cell(&at, slot), agrees);
    }
    tamis__tell_number(t, "xor of its slots", sum);
    *value = rest & ((UINT64_C(1) << s->value_bits) - 1);
    return fits ? NULL : "the xor of its slots is not its fingerprint";
}
