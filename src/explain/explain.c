/* explain.c - filters that show what they hold, and say why they answer as they do: what a kind
 * tells, and what is told for kinds that tell nothing. */
#include "explain.h"

#include "base/hash.h"

bool tamis__tell_cell(tamis_telling *t, tamis_cell cell)
{
    t->has_ended = t->has_ended || !t->visit_cell(t->ctx, &cell);
    return !t->has_ended;
}

static tamis_cell explain_surplus(const surplus *s, uint64_t i, bool is_class)
{
    return (tamis_cell){ .array = is_class ? "surplus class" : "surplus",
                         .index = i,
                         .value = is_class ? surplus_class_in(s, i) : surplus_in(s, i),
                         .bits = is_class ? s->class_bits : 64 - s->class_bits,
                         .marks = surplus_in(s, i) ? 0 : TAMIS_MARK_EMPTY };
}

void tamis__tell_surplus(tamis_telling *t, const surplus *s)
{
    bool goes_on = true;

    for (unsigned part = 0; part < 2; part++)
        for (uint64_t i = 0; i < s->entries && goes_on; i++)
            goes_on = tamis__tell_cell(t, explain_surplus(s, i, part == 0));
    if (s->entries && goes_on)
        tamis__tell_cell(t, (tamis_cell){ .array = "surplus lost", .value = s->at[0], .bits = 8 });
}

static void explain_tell(tamis_telling *t, tamis_step step)
{
    t->has_ended = t->has_ended || !t->visit_step(t->ctx, &step);
}

void tamis__tell_number(tamis_telling *t, const char *name, uint64_t value)
{
    explain_tell(t, (tamis_step){ .type = TAMIS_STEP_NUMBER, .text = name, .value = value });
}

void tamis__tell_read(tamis_telling *t, const char *as_what, tamis_cell cell, bool agrees)
{
    explain_tell(t, (tamis_step){ .type = TAMIS_STEP_CELL,
                                  .text = as_what,
                                  .value = cell.value,
                                  .agrees = agrees,
                                  .cell = cell });
}

bool tamis__tell_answer(tamis_telling *t, bool found, const char *why)
{
    explain_tell(
        t, (tamis_step){ .type = TAMIS_STEP_ANSWER, .text = why, .value = found, .agrees = found });
    return found;
}

bool tamis__tell_count(tamis_telling *t, uint64_t count)
{
    tamis__tell_number(t, "count", count);
    return tamis__tell_answer(t, count != 0,
                              count ? "none of its counters is 0"
                                    : "a counter is 0 that adding it would have raised");
}

tamis_status tamis_visit_cells(const tamis *f, tamis_visit_cell *visit, void *ctx)
{
    tamis_telling t = { .visit_cell = visit, .ctx = ctx };

    if (!f->ops.cells)
        return TAMIS_CANNOT;
    f->ops.cells(f, &t);
    return TAMIS_OK;
}

bool tamis_explain(const tamis *f, uint64_t key, tamis_visit_step *visit, void *ctx)
{
    tamis_telling t = { .visit_step = visit, .ctx = ctx };

    if (f->ops.item)
        tamis__tell_number(&t, "key", key);
    else
        tamis__tell_number(&t, "hash", hash_key(key, f->salt));
    if (f->ops.explain)
        return f->ops.explain(f, key, &t);
    bool found = tamis_has(f, key);
    return tamis__tell_answer(&t, found, found ? "it was found" : "it was not found");
}

uint64_t tamis_key_with_hash(const tamis *f, uint64_t hash)
{
    return f->ops.item ? hash : unhash_key(hash, f->salt);
}
