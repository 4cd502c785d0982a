/* cuckoo_explain.c - slots of the cuckoo filter, and the two windows of a key. */
#include "cuckoo/cuckoo.h"
#include "explain.h"

/* The fingerprint of a slot, or which of its four places that is. */
static tamis_cell cuckoo_cell(const cuckoo_table *t, uint64_t slot, bool is_place)
{
    uint64_t value = cuckoo_slot(t, slot);

    return (tamis_cell){ .array = is_place ? "place" : "slots",
                         .index = slot,
                         .value = is_place ? value & CUCKOO_TAG_MASK : value >> CUCKOO_TAG_BITS,
                         .bits = is_place ? CUCKOO_TAG_BITS : t->width - CUCKOO_TAG_BITS,
                         .marks = value ? 0 : TAMIS_MARK_EMPTY };
}

static tamis_cell cuckoo_stash_cell(const cuckoo_table *t, unsigned i)
{
    return (tamis_cell){ .array = "stash",
                         .index = i,
                         .value = le64(cuckoo_stash_at(t, i)),
                         .bits = 64,
                         .marks = i < cuckoo_stash_size(t) ? 0 : TAMIS_MARK_EMPTY };
}

void tamis__cuckoo_cells(const tamis *f, tamis_telling *to)
{
    cuckoo_table t = cuckoo_table_of(f);
    surplus s = cuckoo_surplus_of(&t);

    for (unsigned is_place = 0; is_place < 2; is_place++)
        for (uint64_t i = 0; i <= t.starts && !to->has_ended; i++)
            tamis__tell_cell(to, cuckoo_cell(&t, i, is_place));
    for (unsigned i = 0; i < CUCKOO_STASH_MOST; i++)
        tamis__tell_cell(to, cuckoo_stash_cell(&t, i));
    tamis__tell_surplus(to, &s);
}

/* Only the fingerprint of the key has to say which place it is at. */
static void cuckoo_explain_place(const cuckoo_table *t, const cuckoo_entry *e, unsigned place,
                                 tamis_telling *to)
{
    uint64_t slot = cuckoo_slot_of(e, place);
    tamis_cell cell = cuckoo_cell(t, slot, false), which = cuckoo_cell(t, slot, true);
    bool is_same = cell.marks != TAMIS_MARK_EMPTY && cell.value == e->fingerprint;

    tamis__tell_read(to, place & 2 ? "slot of the second window" : "slot of the first window", cell,
                     is_same);
    if (is_same)
        tamis__tell_read(to, "which of its four places that is", which, which.value == place);
}

bool tamis__cuckoo_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    cuckoo_table t = cuckoo_table_of(f);
    cuckoo_entry e = cuckoo_entry_of(&t, hash_key(key, t.salt));
    bool is_held = cuckoo_holding(&t, &e), found = is_held || cuckoo_stashed(&t, &e);

    tamis__tell_number(to, "fingerprint", e.fingerprint);
    tamis__tell_number(to, "first window", e.first);
    tamis__tell_number(to, "second window", e.second);
    for (unsigned place = 0; place < CUCKOO_PLACES; place++)
        cuckoo_explain_place(&t, &e, place, to);
    for (unsigned i = 0; i < cuckoo_stash_size(&t); i++)
        tamis__tell_read(to, "hash in the stash", cuckoo_stash_cell(&t, i),
                         cuckoo_is_stashed_at(&t, &e, i));
    tamis__tell_number(to, "count", cuckoo_copies(&t, &e));
    return tamis__tell_answer(to, found,
                              is_held ? "its fingerprint is at one of its places"
                              : found ? "a hash in the stash has its windows and fingerprint"
                                      : "its fingerprint is at none of its places");
}
