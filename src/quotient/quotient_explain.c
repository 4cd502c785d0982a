/* quotient_explain.c - slots of the quotient filter with their bits, and the way to a remainder. */
#include "explain.h"
#include "quotient/quotient.h"

static tamis_cell quotient_cell(const quotient_table *t, uint64_t slot)
{
    bool used = quotient_used_slots(quotient_block_of(t, slot)) >> slot % BLOCK_SLOTS & 1;
    unsigned occupied = quotient_bit(t, OCCUPIED, slot) ? TAMIS_MARK_OCCUPIED : 0;
    unsigned continued = quotient_bit(t, CONTINUED, slot) ? TAMIS_MARK_CONTINUATION : 0;
    unsigned shifted = quotient_bit(t, SHIFTED, slot) ? TAMIS_MARK_SHIFTED : 0;

    return (tamis_cell){ .array = "slots",
                         .index = slot,
                         .value = quotient_remainder(t, slot),
                         .bits = t->width,
                         .marks = used ? occupied | continued | shifted : TAMIS_MARK_EMPTY };
}

void tamis__quotient_cells(const tamis *f, tamis_telling *t)
{
    quotient_table q = quotient_table_of(f);

    for (uint64_t i = 0; i < q.slots && tamis__tell_cell(t, quotient_cell(&q, i)); i++)
        continue;
}

/* The next slot below, or this one, where something is at home or nothing lies. */
static uint64_t quotient_cluster_of(const quotient_table *t, uint64_t quotient)
{
    uint64_t slot = quotient;

    for (uint64_t i = 0; i < t->slots && quotient_bit(t, SHIFTED, slot); i++)
        slot = slot ? slot - 1 : t->slots - 1;
    return slot;
}

static bool quotient_explain_run(const quotient_table *t, const quotient_found *r,
                                 tamis_telling *to)
{
    bool found = r->copies != 0;

    tamis__tell_number(to, "first slot of its cluster", quotient_cluster_of(t, r->quotient));
    tamis__tell_number(to, "first slot of its run", r->start);
    for (uint64_t i = 0; i < r->length; i++) {
        tamis_cell cell = quotient_cell(t, quotient_wrap(t, r->start + i));
        tamis__tell_read(to, "slot of the run", cell, cell.value == r->remainder);
    }
    tamis__tell_number(to, "count", r->copies);
    return tamis__tell_answer(to, found,
                              found ? "a slot of its run holds its remainder"
                                    : "no slot of its run holds its remainder");
}

bool tamis__quotient_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    quotient_table t = quotient_table_of(f);
    uint64_t fingerprint = quotient_fingerprint(f, key);
    quotient_found r = tamis__quotient_find(&t, fingerprint);
    bool is_occupied = quotient_bit(&t, OCCUPIED, r.quotient);

    tamis__tell_number(to, "fingerprint", fingerprint);
    tamis__tell_number(to, "quotient", r.quotient);
    tamis__tell_number(to, "remainder", r.remainder);
    tamis__tell_read(to, "home slot", quotient_cell(&t, r.quotient), is_occupied);
    if (!is_occupied)
        return tamis__tell_answer(to, false, "no key has its quotient");
    return quotient_explain_run(&t, &r, to);
}
