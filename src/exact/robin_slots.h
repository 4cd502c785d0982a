/* robin_slots.h - the slots of a table in Robin Hood order (robin_hood.c), and how a search goes
 * through them. */
#ifndef TAMIS_EXACT_ROBIN_SLOTS_H
#define TAMIS_EXACT_ROBIN_SLOTS_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "exact/robin_hood.h"

/* ---- Layout ------------------------------------------------------------ */

/* A search takes a few windows, one after the other. */
enum { ROBIN_STATE_BYTES = 64, ROBIN_KEY_BITS = 64, ROBIN_WINDOW = 8, ROBIN_WINDOWS = 16 };

static inline uint8_t *robin_slot(const tamis *f, uint64_t i)
{
    return (uint8_t *)f->payload + ROBIN_STATE_BYTES + i * 8;
}

static inline uint64_t robin_get(const tamis *f, uint64_t i)
{
    return le64(robin_slot(f, i));
}

static inline bool robin_has_zero(const tamis *f)
{
    return le64(f->payload) != 0;
}

static inline bool robin_has_values(const tamis *f)
{
    return f->plan.width > ROBIN_KEY_BITS;
}

/* The value that belongs to slot i. */
static inline uint8_t *robin_value_at(const tamis *f, uint64_t i)
{
    return robin_slot(f, f->plan.slots + i);
}

/* The value of h, which is in slot i unless it is 0. */
static inline uint8_t *robin_value(const tamis *f, uint64_t h, uint64_t i)
{
    return h == 0 ? (uint8_t *)f->payload + 8 : robin_value_at(f, i);
}

static inline uint64_t robin_value_of(const tamis *f, uint64_t h, uint64_t i)
{
    return robin_has_values(f) ? le64(robin_value(f, h, i)) : 0;
}

static inline uint64_t robin_slot_after(const tamis *f, uint64_t i)
{
    return i + 1 == f->plan.slots ? 0 : i + 1;
}

/* Slots from the home of h to i, going up and around. */
static inline uint64_t robin_distance(const tamis *f, uint64_t h, uint64_t i)
{
    uint64_t home = scale64(h, f->plan.slots);

    return i >= home ? i - home : i + f->plan.slots - home;
}

/* ---- Search ------------------------------------------------------------ */

/* Whether a search for h that has come to slot i may stop before `other`, which is there: homes
 * ascend with h, so that h tells, unless one of the two has gone around the end of the table. */
static inline bool robin_is_past(const tamis *f, uint64_t i, uint64_t other, uint64_t h)
{
    bool around = i < scale64(h, f->plan.slots), other_around = i < scale64(other, f->plan.slots);

    return around == other_around ? other > h : around;
}

/* The slot so many steps from the home of h, around the end of the table if need be. */
static inline uint64_t robin_slot_from_home(const tamis *f, uint64_t h, uint64_t steps)
{
    uint64_t i = scale64(h, f->plan.slots) + steps;

    return i < f->plan.slots ? i : i - f->plan.slots;
}

/* Whether a search for h goes on after so many steps. */
static inline bool robin_goes_on(const tamis *f, uint64_t h, uint64_t steps)
{
    uint64_t i = robin_slot_from_home(f, h, steps), other = robin_get(f, i);

    return other != 0 && other != h && !robin_is_past(f, i, other, h);
}

/* Where h is or, if it is not in the table, where it belongs; plan.slots if it is not there and the
 * table is full. The key whose h is 0 has no slot: then it says 0. */
uint64_t tamis__robin_hood_look(const tamis *f, uint64_t h, bool *found);

#endif
