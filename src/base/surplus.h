/* surplus.h - how many keys of a class there are beyond those that have slots of their own.
 *
 * A filter that keeps a copy for each key has room for a few of one class: its ceiling. What comes
 * beyond that is counted here, so that all of it can go again:
 *
 *   keys of a class = copies in slots + surplus      a surplus only where copies are at the ceiling
 *
 * While that holds, a class goes with its last key. There is no need to look here unless a key is
 * added to a class at its ceiling or removed from one.
 *
 *   first byte   1: a class found no room. From then on, no class that is at its ceiling ever
 *                comes down, since nobody knows how many keys it has
 *   entries      words: class + (surplus << class_bits), or 0
 *
 * An entry is one of SURPLUS_WINDOW from where the hash of its class points to, around the end. A
 * surplus that is as high as it can be stays so, and its class too. If classes have more bits than
 * leave eight for the surplus, there are no entries. Two keys hardly ever share such a class, but
 * copies of one key do: once it is at its ceiling it stays there, and a remove is TAMIS_OK and
 * changes nothing, as tamis.h says of plan.ceiling. */
#ifndef TAMIS_BASE_SURPLUS_H
#define TAMIS_BASE_SURPLUS_H

#include <stdbool.h>

#include "base/le.h"

enum { SURPLUS_WINDOW = 16, SURPLUS_CLASS_BITS = 56 };

typedef struct surplus {
    uint8_t *at;
    uint64_t entries;
    unsigned class_bits;
} surplus;

/* If 2^shift slots are expected to have no more than a thousandth of a class with a surplus, and
 * all keys are replaced again and again, one finds no room less than once in 10^7 turnovers:
 * entries are as many as a Poisson variable exceeds with a probability of 10^-8. */
static inline uint64_t surplus_entries(uint64_t slots, unsigned shift, unsigned class_bits)
{
    uint64_t n = shift < 64 ? slots >> shift : 0;

    return class_bits > SURPLUS_CLASS_BITS ? 0 : 2 + (n < 2 ? n : 2) + n / 64;
}

static inline uint64_t surplus_bytes(uint64_t entries)
{
    return entries ? 1 + 8 * entries : 0;
}

/* What entry i holds. A surplus of 0: the entry is free. */
static inline uint64_t surplus_in(const surplus *s, uint64_t i)
{
    return le64(s->at + 1 + 8 * i) >> s->class_bits;
}

static inline uint64_t surplus_class_in(const surplus *s, uint64_t i)
{
    return le64(s->at + 1 + 8 * i) & ((UINT64_C(1) << s->class_bits) - 1);
}

/* So many keys more of a class that is at its ceiling. */
void tamis__surplus_add(const surplus *s, uint64_t class, uint64_t times);

/* So many keys less of a class that has `copies` in slots, as far as its surplus goes; *times
 * becomes how many copies have to leave their slots. False: the class has fewer keys. */
bool tamis__surplus_remove(const surplus *s, uint64_t class, uint64_t copies, uint64_t ceiling,
                           uint64_t *times);

/* Puts all into an empty one, whose classes are the same. */
void tamis__surplus_move(const surplus *to, const surplus *from);

/* Why it is damaged, or NULL. `is_full` tells whether a class is at its ceiling. */
const char *tamis__surplus_verify(const surplus *s,
                                  bool (*is_full)(const void *table, uint64_t class),
                                  const void *table);

#endif
