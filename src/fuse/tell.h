/* tell.h - what filters by peeling share when they tell of themselves: arrays that each of their
 * parts has, and what the xor of slots says of a key. */
#ifndef TAMIS_FUSE_TELL_H
#define TAMIS_FUSE_TELL_H

#include "base/le.h"
#include "explain.h"
#include "fuse/fingerprint.h"

/* Cell i of an array that every part has. */
typedef tamis_cell tell_cell_of(const tamis *f, uint64_t part, uint64_t i);

/* The first n cells of that array in all parts. */
static inline void tell_array(const tamis *f, tamis_telling *t, tell_cell_of *cell, uint64_t n)
{
    uint64_t parts = UINT64_C(1) << part_bits(f->plan.capacity);

    for (uint64_t part = 0; part < parts; part++)
        for (uint64_t i = 0; i < n && tamis__tell_cell(t, cell(f, part, i)); i++)
            continue;
}

/* A number of the part, which stands alone. */
static inline tamis_cell tell_lone(const char *name, uint64_t part, uint64_t value, unsigned bits)
{
    return (tamis_cell){ .array = name, .number = part, .value = value, .bits = bits };
}

/* Place i of a stash, of which the first `used` have a key. */
static inline tamis_cell tell_stashed(const uint8_t *stash, uint64_t part, uint64_t i,
                                      uint64_t used)
{
    return (tamis_cell){ .array = "stash",
                         .number = part,
                         .index = i,
                         .value = le64(stash + 8 * i),
                         .bits = 64,
                         .marks = i < used ? 0 : TAMIS_MARK_EMPTY };
}

/* The first n places of a stash; whether one holds the key. */
static inline bool tell_stash(const tamis *f, tamis_telling *t, tell_cell_of *cell, uint64_t part,
                              uint64_t n, uint64_t key)
{
    bool found = false;

    for (uint64_t i = 0; i < n; i++) {
        tamis_cell c = cell(f, part, i);
        bool is_key = c.value == key;
        tamis__tell_read(t, "place of the stash", c, is_key);
        found = found || is_key;
    }
    return found;
}

/* The slots of a key, with the names of their roles; whether their xor is the fingerprint. */
static inline bool tell_slots(tamis_telling *t, const char *const *roles, const tamis_cell *slots,
                              unsigned n, uint32_t fingerprint)
{
    uint64_t sum = 0;

    for (unsigned j = 0; j < n; j++)
        sum ^= slots[j].value;
    tamis__tell_number(t, "fingerprint", fingerprint);
    for (unsigned j = 0; j < n; j++)
        tamis__tell_read(t, roles[j], slots[j], sum == fingerprint);
    tamis__tell_number(t, "xor of its slots", sum);
    return sum == fingerprint;
}

static inline bool tell_found(tamis_telling *t, bool fits, bool is_stashed)
{
    const char *why = fits         ? "the xor of its slots is its fingerprint"
                      : is_stashed ? "the stash holds it"
                                   : "the xor of its slots is not its fingerprint";

    return tamis__tell_answer(t, fits || is_stashed, why);
}

#endif
