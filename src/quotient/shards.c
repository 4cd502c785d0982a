/* shards.c - see shards.h. */
#include "quotient/shards.h"

#include <math.h>

enum { SHARDS_MIN_WIDTH = 2 };

static const uint64_t SHARDS_MAX_SLOTS = UINT64_C(1) << 48;

/* All shards have the same number of whole blocks. */
static uint64_t shards_grain(uint64_t slots)
{
    return (uint64_t)RUNS_BLOCK << shards_bits(slots);
}

/* The root is exact below 2^52. */
static uint64_t shards_needed_for(const tamis_plan *p, uint64_t slots)
{
    unsigned bits = shards_bits(p->slots);
    uint64_t mean = (slots >> bits) + 1;

    return bits ? mean + 6 * (uint64_t)(sqrt((double)mean) + 1) : slots;
}

uint64_t tamis__shards_needed(const tamis_plan *p)
{
    return shards_needed_for(p, p->capacity);
}

uint64_t tamis__shards_room(const tamis_plan *p, const shards_rule *rule)
{
    uint64_t slots = p->slots >> shards_bits(p->slots);

    return slots - 1 - (rule->unused ? slots / rule->unused : 0);
}

static bool shards_have_room(const tamis_plan *p, uint64_t slots, const shards_rule *rule)
{
    return slots < p->slots && shards_needed_for(p, slots) <= tamis__shards_room(p, rule);
}

bool tamis__shards_are_valid(const tamis_plan *p, const shards_rule *rule)
{
    return p->slots > 0 && p->slots <= SHARDS_MAX_SLOTS && p->slots % shards_grain(p->slots) == 0 &&
           p->width >= SHARDS_MIN_WIDTH && p->width <= rule->most_width &&
           p->slots < UINT64_C(1) << (63 - p->width) && p->hashes == 1 &&
           (p->flags & ~rule->flags) == 0 && p->load > 0 && p->load <= SHARDS_LOAD_UNIT &&
           shards_have_room(p, p->capacity, rule);
}

/* Within the load, and with room in every shard, with a key to spare: so twice the slots hold twice
 * the keys and one. */
static bool shards_are_roomy(const tamis_plan *p, const shards_rule *rule)
{
    tamis_plan more = *p;

    more.capacity++;
    uint64_t slots = rule->slots_of_keys ? rule->slots_of_keys(&more) : more.capacity;
    return slots * SHARDS_LOAD_UNIT <= p->load * p->slots && shards_have_room(p, slots - 1, rule);
}

/* Slots come in steps of at most a 512th of them, a power of two: so that large filters can be
 * halved until they have a thousand blocks or fewer. */
static uint64_t shards_step(uint64_t slots)
{
    uint64_t step = shards_grain(slots);

    while (slots / step >= 1024)
        step *= 2;
    return step;
}

/* The fewest slots for the width. */
static void shards_set_slots(tamis_plan *p, const shards_rule *rule)
{
    p->slots = (p->capacity + 1) * SHARDS_LOAD_UNIT / p->load;
    p->slots += RUNS_BLOCK - p->slots % RUNS_BLOCK;
    do
        p->slots += shards_step(p->slots) - 1 - (p->slots - 1) % shards_step(p->slots);
    while (!shards_are_roomy(p, rule) && ++p->slots);
}

/* Slots and width are those that were asked for, or the fewest. */
tamis_status tamis__shards_plan(tamis_plan *p, const tamis_spec *spec, const shards_rule *rule)
{
    double load = spec->load > 0 ? spec->load : rule->load;

    p->hashes = 1;
    p->load = (uint16_t)(load * SHARDS_LOAD_UNIT + 0.5);
    if (spec->keys >= SHARDS_MAX_SLOTS / SHARDS_LOAD_UNIT || p->load == 0 ||
        spec->quotient_bits > 48 || spec->tag_bits == 1 || spec->tag_bits > rule->most_width)
        return TAMIS_RANGE;
    if (p->capacity >= SHARDS_MAX_SLOTS / SHARDS_LOAD_UNIT)
        return TAMIS_RANGE;
    p->width = spec->tag_bits ? spec->tag_bits : SHARDS_MIN_WIDTH;
    for (;; p->width++) {
        p->slots = UINT64_C(1) << spec->quotient_bits;
        if (!spec->quotient_bits)
            shards_set_slots(p, rule);
        if (p->slots >= UINT64_C(1) << (63 - p->width))
            return TAMIS_RANGE;
        if (spec->tag_bits || p->width == rule->most_width ||
            rule->rate(p, (double)p->capacity) <= spec->fpr)
            break;
    }
    return shards_are_roomy(p, rule) ? TAMIS_OK : TAMIS_RANGE;
}

/* Half the slots, if there are whole blocks and remainders have room for one bit more. */
static bool shards_halve(tamis_plan *p, bool keeps_width, const shards_rule *rule)
{
    tamis_plan half = *p;

    half.slots /= 2;
    half.width += !keeps_width;
    bool ok = p->slots % (2 * RUNS_BLOCK) == 0 && half.slots % shards_grain(half.slots) == 0 &&
              half.width <= rule->most_width && shards_are_roomy(&half, rule);
    if (ok)
        *p = half;
    return ok;
}

tamis_status tamis__shards_resize(tamis_plan *p, uint64_t keys, bool keeps_width,
                                  const shards_rule *rule)
{
    if (keys >= SHARDS_MAX_SLOTS / SHARDS_LOAD_UNIT)
        return TAMIS_RANGE;
    p->capacity = keys;
    while (!shards_are_roomy(p, rule)) {
        if ((p->width == SHARDS_MIN_WIDTH && !keeps_width) || p->slots > SHARDS_MAX_SLOTS / 2)
            return TAMIS_RANGE;
        p->slots *= 2;
        p->width -= !keeps_width;
    }
    while (shards_halve(p, keeps_width, rule))
        ;
    return TAMIS_OK;
}

/* ---- A filter, taken apart --------------------------------------------- */

void tamis__shards_derive(tamis *f, unsigned bits, unsigned width, unsigned slot_bits,
                          uint64_t room, bool beside)
{
    uint64_t slots = f->plan.slots >> bits, table = runs_bytes(slots, slot_bits);
    uint64_t bytes = table + (beside ? 8 * slots : 0);
    shards s = { .fingerprints = f->plan.slots << width,
                 .slots = slots,
                 .bytes = bytes,
                 .room = room,
                 .between = bytes - slots / RUNS_BLOCK * runs_stride(slot_bits),
                 .beside = beside ? table : 0,
                 .bits = bits,
                 .width = width,
                 .lanes = lanes_of(slot_bits) };

    memcpy(f->derived, &s, sizeof s);
}

tamis_room tamis__shards_room_in(const tamis *f, uint64_t range, uint64_t needed)
{
    shards s = shards_of(f);
    uint64_t used = runs_used(shards_table(&s, range));

    return (tamis_room){ .range_bits = s.bits,
                         .used = used,
                         .free = used < s.room ? s.room - used : 0,
                         .needed = needed };
}
