/* tables.c - hash tables as lectures have them. They are here to be looked at: the one to be used
 * is the kind hashmap. */
#include "tables.h"

#include <stdlib.h>

#include "term/array.h"

const word_row tables_ways[TABLES_N + 1] = {
    { "chaining", TABLES_CHAINING, "it goes to the end of a list that starts there" },
    { "linear", TABLES_LINEAR, "it goes to the next free slot" },
    { "quadratic", TABLES_QUADRATIC, "it goes 1, then 2, then 3 ... slots further" },
    { "double", TABLES_DOUBLE, "it goes further by steps of a length of its own" },
    { "robin-hood", TABLES_ROBIN_HOOD, "the next slots are shared, sorted by home and hash" },
    { 0 }
};

tables tables_new(tables_way way, size_t slots)
{
    tables t = { .way = way,
                 .slots = slots,
                 .entries = array_new(slots, sizeof *t.entries, "numbers") };

    if (way == TABLES_CHAINING) {
        t.heads = array_new(slots, sizeof *t.heads, "numbers");
        t.free = 1;
        for (size_t i = 0; i + 1 < slots; i++)
            t.entries[i].next = i + 2;
    }
    return t;
}

void tables_free(tables *t)
{
    free(t->entries);
    free(t->heads);
    *t = (tables){ 0 };
}

/* ---- Lists ------------------------------------------------------------- */

/* Where the link to the key is, or the one that ends its list. */
static size_t *find_link(const tables *t, uint64_t key, uint64_t hash, size_t *probes)
{
    size_t *link = &t->heads[hash % t->slots];

    for (*probes = 0; *link; link = &t->entries[*link - 1].next) {
        ++*probes;
        if (t->entries[*link - 1].key == key)
            break;
    }
    return link;
}

static tables_place get_from_list(const tables *t, uint64_t key, uint64_t hash)
{
    tables_place p = { .slot = (size_t)(hash % t->slots) };
    const size_t *link = find_link(t, key, hash, &p.probes);

    p.found = *link != 0;
    p.entry = *link ? &t->entries[*link - 1] : NULL;
    return p;
}

static bool put_to_list(tables *t, uint64_t key, uint64_t hash, uint64_t value)
{
    size_t probes, *link = find_link(t, key, hash, &probes), number = t->free;

    if (number == 0)
        return false;
    t->free = t->entries[number - 1].next;
    t->entries[number - 1] = (tables_entry){ key, hash, value, true, false, 0 };
    *link = number;
    return true;
}

static void remove_from_list(tables *t, uint64_t key, uint64_t hash)
{
    size_t probes, *link = find_link(t, key, hash, &probes), number = *link;
    tables_entry *e = &t->entries[number - 1];

    *link = e->next;
    *e = (tables_entry){ .next = t->free };
    t->free = number;
}

/* ---- Open addressing --------------------------------------------------- */

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Of double hashing: steps of this length come to every slot. */
static size_t step_of(const tables *t, uint64_t hash)
{
    size_t step = 1 + (size_t)(hash / t->slots % t->slots);

    while (common_divisor(step, t->slots) != 1)
        step++;
    return step % t->slots;
}

/* The slot after so many steps. Those of quadratic probing come to every slot, if there are 2^b. */
static size_t slot_after(const tables *t, uint64_t hash, size_t step, size_t i)
{
    size_t home = (size_t)(hash % t->slots);

    switch (t->way) {
    case TABLES_QUADRATIC:
        return (home + i * (i + 1) / 2) % t->slots;
    case TABLES_DOUBLE:
        return (home + i * step) % t->slots;
    default:
        return (home + i) % t->slots;
    }
}

static size_t distance(const tables *t, const tables_entry *e, size_t slot)
{
    return (slot + t->slots - (size_t)(e->hash % t->slots)) % t->slots;
}

/* In Robin Hood order: whether what is there comes after a key that has gone so far. */
static bool is_past(const tables *t, size_t slot, uint64_t hash, size_t steps)
{
    const tables_entry *e = &t->entries[slot];
    size_t its = distance(t, e, slot);

    return its < steps || (its == steps && e->hash > hash);
}

static tables_place get_from_slots(const tables *t, uint64_t key, uint64_t hash)
{
    tables_place p = { 0 };
    size_t step = t->way == TABLES_DOUBLE ? step_of(t, hash) : 1;

    for (size_t i = 0; i < t->slots; i++) {
        p.slot = slot_after(t, hash, step, i);
        p.probes++;
        tables_entry *e = &t->entries[p.slot];
        if (e->is_used && e->key == key) {
            p.found = true;
            p.entry = e;
            break;
        }
        bool ends = t->way == TABLES_ROBIN_HOOD && e->is_used && is_past(t, p.slot, hash, i);
        if (ends || (!e->is_used && !e->is_gone))
            break;
    }
    return p;
}

/* The first slot on its way that is free; slots of removed keys are used again. */
static bool put_to_slots(tables *t, uint64_t key, uint64_t hash, uint64_t value)
{
    size_t step = t->way == TABLES_DOUBLE ? step_of(t, hash) : 1;

    for (size_t i = 0; i < t->slots; i++) {
        tables_entry *e = &t->entries[slot_after(t, hash, step, i)];
        if (!e->is_used) {
            *e = (tables_entry){ key, hash, value, true, false, 0 };
            return true;
        }
    }
    return false;
}

/* What comes after the key makes room: all up to the next free slot moves by one. */
static bool put_in_order(tables *t, uint64_t key, uint64_t hash, uint64_t value)
{
    tables_entry e = { key, hash, value, true, false, 0 };
    size_t i = 0, slot;

    if (t->n == t->slots)
        return false;
    for (slot = slot_after(t, hash, 1, 0); t->entries[slot].is_used && !is_past(t, slot, hash, i);
         slot = slot_after(t, hash, 1, ++i))
        continue;
    while (e.is_used) {
        tables_entry moved = t->entries[slot];
        t->entries[slot] = e;
        e = moved;
        slot = (slot + 1) % t->slots;
    }
    return true;
}

/* What follows moves back, up to a free slot or a key that is at home. */
static void remove_in_order(tables *t, size_t slot)
{
    for (;;) {
        size_t after = (slot + 1) % t->slots;
        const tables_entry *e = &t->entries[after];
        if (!e->is_used || distance(t, e, after) == 0)
            break;
        t->entries[slot] = *e;
        slot = after;
    }
    t->entries[slot] = (tables_entry){ 0 };
}

/* ---- All --------------------------------------------------------------- */

tables_place tables_get(const tables *t, uint64_t key, uint64_t hash)
{
    return t->way == TABLES_CHAINING ? get_from_list(t, key, hash) : get_from_slots(t, key, hash);
}

bool tables_put(tables *t, uint64_t key, uint64_t hash, uint64_t value)
{
    tables_place p = tables_get(t, key, hash);
    bool fits = p.found;

    if (p.found)
        p.entry->value = value;
    else if (t->way == TABLES_CHAINING)
        fits = put_to_list(t, key, hash, value);
    else if (t->way == TABLES_ROBIN_HOOD)
        fits = put_in_order(t, key, hash, value);
    else
        fits = put_to_slots(t, key, hash, value);
    t->n += !p.found && fits;
    return fits;
}

bool tables_remove(tables *t, uint64_t key, uint64_t hash)
{
    tables_place p = tables_get(t, key, hash);

    if (!p.found)
        return false;
    if (t->way == TABLES_CHAINING)
        remove_from_list(t, key, hash);
    else if (t->way == TABLES_ROBIN_HOOD)
        remove_in_order(t, p.slot);
    else
        *p.entry = (tables_entry){ .is_gone = true };
    t->n--;
    return true;
}

const tables_entry *tables_next(const tables *t, size_t *at)
{
    while (*at < t->slots)
        if (t->entries[(*at)++].is_used)
            return &t->entries[*at - 1];
    return NULL;
}
