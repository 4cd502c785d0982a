/* quotient_explain.c - slots of the quotient filter with their bits, and the way to a remainder. */
#include "explain.h"
#include "quotient/quotient.h"

static tamis_cell quotient_cell(const tamis *f, uint64_t slot)
{
    unsigned occupied = quotient_bit(f, IS_OCCUPIED, slot) ? TAMIS_MARK_OCCUPIED : 0;
    unsigned continued = quotient_bit(f, IS_CONTINUATION, slot) ? TAMIS_MARK_CONTINUATION : 0;
    unsigned shifted = quotient_bit(f, IS_SHIFTED, slot) ? TAMIS_MARK_SHIFTED : 0;
    bool is_empty = quotient_is_empty(f, slot);

    return (tamis_cell){ .array = "slots",
                         .index = slot,
                         .value = quotient_remainder(f, slot),
                         .bits = f->plan.width,
                         .marks = is_empty ? TAMIS_MARK_EMPTY : occupied | continued | shifted };
}

void tamis__quotient_cells(const tamis *f, tamis_telling *to)
{
    for (uint64_t i = 0; i < f->plan.slots && tamis__tell_cell(to, quotient_cell(f, i)); i++)
        continue;
}

/* The next slot below, or this one, where something is at home or nothing lies. */
static uint64_t quotient_cluster_of(const tamis *f, uint64_t quotient)
{
    uint64_t slot = quotient;

    for (uint64_t i = 0; i < f->plan.slots && quotient_bit(f, IS_SHIFTED, slot); i++)
        slot = slot ? slot - 1 : f->plan.slots - 1;
    return slot;
}

static bool quotient_explain_run(const tamis *f, const quotient_found *r, tamis_telling *to)
{
    bool found = r->copies != 0;

    tamis__tell_number(to, "first slot of its cluster", quotient_cluster_of(f, r->quotient));
    tamis__tell_number(to, "first slot of its run", r->start);
    for (uint64_t i = 0; i < r->length; i++) {
        tamis_cell cell = quotient_cell(f, quotient_wrap(f, r->start + i));
        tamis__tell_read(to, "slot of the run", cell, cell.value == r->remainder);
    }
    tamis__tell_number(to, "count", r->copies);
    return tamis__tell_answer(to, found,
                              found ? "a slot of its run holds its remainder"
                                    : "no slot of its run holds its remainder");
}

bool tamis__quotient_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    uint64_t fingerprint = quotient_fingerprint(f, key);
    quotient_found r = quotient_find(f, fingerprint);
    bool is_occupied = quotient_bit(f, IS_OCCUPIED, r.quotient);

    tamis__tell_number(to, "fingerprint", fingerprint);
    tamis__tell_number(to, "quotient", r.quotient);
    tamis__tell_number(to, "remainder", r.remainder);
    tamis__tell_read(to, "home slot", quotient_cell(f, r.quotient), is_occupied);
    if (!is_occupied)
        return tamis__tell_answer(to, false, "no key has its quotient");
    return quotient_explain_run(f, &r, to);
}
