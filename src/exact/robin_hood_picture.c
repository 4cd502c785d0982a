/* robin_hood_picture.c - what hashset and hashmap tell of their table. */
#include "exact/robin_slots.h"
#include "explain.h"

/* Keys of one home are a run. */
static tamis_cell robin_cell(const tamis *f, uint64_t i)
{
    uint64_t h = robin_get(f, i), slots = f->plan.slots;
    uint64_t before = robin_get(f, i ? i - 1 : slots - 1);
    bool is_shifted = robin_distance(f, h, i) != 0;
    bool goes_on = is_shifted && before != 0 && scale64(before, slots) == scale64(h, slots);
    tamis_cell cell = { .array = "slots", .index = i, .value = h, .bits = 64 };

    if (h == 0)
        cell.marks = TAMIS_MARK_EMPTY;
    else
        cell.marks =
            (is_shifted ? TAMIS_MARK_SHIFTED : 0u) | (goes_on ? TAMIS_MARK_CONTINUATION : 0u);
    return cell;
}

/* The value of what is in slot i. */
static tamis_cell robin_value_cell(const tamis *f, uint64_t i)
{
    return (tamis_cell){ .array = "values",
                         .index = i,
                         .value = le64(robin_value_at(f, i)),
                         .bits = 64,
                         .marks = robin_get(f, i) ? 0 : TAMIS_MARK_EMPTY };
}

/* Whether the key whose h is 0 is there. */
static tamis_cell robin_zero_cell(const tamis *f)
{
    return (tamis_cell){ .array = "zero key", .value = robin_has_zero(f), .bits = 1 };
}

static tamis_cell robin_zero_value_cell(const tamis *f)
{
    return (tamis_cell){ .array = "value of zero key",
                         .value = robin_value_of(f, 0, 0),
                         .bits = 64,
                         .marks = robin_has_zero(f) ? 0 : TAMIS_MARK_EMPTY };
}

void tamis__robin_hood_cells(const tamis *f, tamis_telling *t)
{
    bool has_values = robin_has_values(f), goes_on = true;

    for (uint64_t i = 0; i < f->plan.slots && goes_on; i++)
        goes_on = tamis__tell_cell(t, robin_cell(f, i));
    for (uint64_t i = 0; has_values && i < f->plan.slots && goes_on; i++)
        goes_on = tamis__tell_cell(t, robin_value_cell(f, i));
    if (goes_on && tamis__tell_cell(t, robin_zero_cell(f)) && has_values)
        tamis__tell_cell(t, robin_zero_value_cell(f));
}

/* Tells the slots of a search, one by one, and returns why it ended without a find. */
static const char *robin_explain_search(const tamis *f, uint64_t h, tamis_telling *t)
{
    tamis__tell_number(t, "home", scale64(h, f->plan.slots));
    for (uint64_t steps = 0; steps < f->plan.slots; steps++) {
        tamis_cell cell = robin_cell(f, robin_slot_from_home(f, h, steps));
        tamis__tell_read(t, steps ? "next slot" : "home slot", cell, cell.value == h);
        if (cell.marks & TAMIS_MARK_EMPTY)
            return "the search met an empty slot";
        if (!robin_goes_on(f, h, steps))
            return "the search met a hash that would come after it";
    }
    return "no slot holds its hash";
}

bool tamis__robin_hood_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t h = hash_key(key, f->salt);
    const char *why_not = "the key with hash 0 is not there";
    bool found;
    uint64_t i = tamis__robin_hood_look(f, h, &found);

    if (h != 0)
        why_not = robin_explain_search(f, h, t);
    else
        tamis__tell_read(t, "is it there", robin_zero_cell(f), found);
    if (found && robin_has_values(f)) {
        tamis_cell value = h ? robin_value_cell(f, i) : robin_zero_value_cell(f);
        tamis__tell_read(t, "its value", value, true);
        tamis__tell_number(t, "value", value.value);
    }
    return tamis__tell_answer(t, found, found ? "the table holds its hash" : why_not);
}
