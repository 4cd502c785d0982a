/* runs_explain.h - tables of runs as cells: what the bits of a block say of each slot. */
#ifndef TAMIS_QUOTIENT_RUNS_EXPLAIN_H
#define TAMIS_QUOTIENT_RUNS_EXPLAIN_H

#include "explain.h"
#include "quotient/runs_change.h"

static inline bool runs_bit(uint64_t word, uint64_t slot)
{
    return word >> slot % RUNS_BLOCK & 1;
}

static inline bool runs_is_used(runs_table t, uint64_t slot)
{
    return !runs_bit(runs_gaps(runs_block(t, slot / RUNS_BLOCK)), slot);
}

/* What lies there is of the same run as in the slot before. */
static inline bool runs_continues(runs_table t, uint64_t slot)
{
    uint64_t before = slot ? slot - 1 : t.slots - 1;

    return runs_is_used(t, slot) && runs_is_used(t, before) &&
           !runs_bit(runs_ends(runs_block(t, before / RUNS_BLOCK)), before);
}

/* At an edge, whatever lies there is at home. */
static inline unsigned runs_marks(runs_table t, uint64_t slot)
{
    const uint8_t *b = runs_block(t, slot / RUNS_BLOCK);

    if (!runs_is_used(t, slot))
        return TAMIS_MARK_EMPTY;
    return (runs_bit(runs_occupied(b), slot) ? TAMIS_MARK_OCCUPIED : 0u) |
           (runs_continues(t, slot) ? TAMIS_MARK_CONTINUATION : 0u) |
           (runs_bit(runs_edges(b), slot) ? 0u : TAMIS_MARK_SHIFTED) |
           (runs_bit(runs_ends(b), slot) ? TAMIS_MARK_RUN_END : 0u);
}

/* A slot of the table of that number, with all its bits. */
static inline tamis_cell runs_cell(runs_table t, uint64_t number, uint64_t slot)
{
    return (tamis_cell){ .array = "slots",
                         .number = number,
                         .index = slot,
                         .value = runs_slot(t, slot),
                         .bits = t.width,
                         .marks = runs_marks(t, slot) };
}

/* What a table has beside its slots. */
static inline void runs_tell_beside(runs_table t, uint64_t number, tamis_telling *to)
{
    tamis_cell used = {
        .array = "slots in use", .number = number, .value = runs_used(t), .bits = 64
    };

    for (uint64_t i = 0; i < t.blocks && !to->has_ended; i++)
        tamis__tell_cell(to, (tamis_cell){ .array = "offset",
                                           .number = number,
                                           .index = i,
                                           .value = runs_block(t, i)[RUNS_OFFSET],
                                           .bits = 8 });
    tamis__tell_cell(to, used);
}

/* The home of a key: whether any key of its quotient is there, and then where its run starts. */
static inline bool runs_tell_home(runs_table t, uint64_t quotient, tamis_cell home,
                                  tamis_telling *to)
{
    runs_run r = runs_find(t, quotient);

    tamis__tell_read(to, "home slot", home, r.is_there);
    if (!r.is_there)
        return false;
    tamis__tell_number(to, "offset of its block", runs_offset(t, quotient / RUNS_BLOCK));
    tamis__tell_number(to, "first slot of its run", r.start % t.slots);
    return true;
}

#endif
