/* acf_explain.c - the tables of the adaptive cuckoo filter: fingerprints, selectors, keys. */
#include "cuckoo/acf.h"
#include "explain.h"

/* A cell has two parts, the entry beside it two more: each is an array for every table. */
enum acf_part { ACF_PRINT, ACF_SELECTOR, ACF_HASH, ACF_COPIES, ACF_PARTS };

static uint64_t acf_part_value(const acf_table *t, enum acf_part part, uint64_t i)
{
    uint32_t cell = acf_cell(t, i);

    switch (part) {
    case ACF_PRINT:
        return cell & acf_prints(t->bits);
    case ACF_SELECTOR:
        return acf_selector(t, cell);
    case ACF_HASH:
        return acf_hash(t, i);
    default:
        return acf_copies(t, i);
    }
}

static tamis_cell acf_part_cell(const acf_table *t, enum acf_part part, uint64_t i)
{
    static const char *const NAMES[ACF_PARTS] = { "table", "selector", "key hash", "copies" };
    const unsigned bits[ACF_PARTS] = { t->bits - 1, 1, 64, 64 };

    return (tamis_cell){ .array = NAMES[part],
                         .number = i / t->buckets,
                         .index = i % t->buckets,
                         .value = acf_part_value(t, part, i),
                         .bits = bits[part],
                         .marks = acf_cell(t, i) ? 0 : TAMIS_MARK_EMPTY };
}

void tamis__acf_cells(const tamis *f, tamis_telling *to)
{
    const acf_table t = acf_of(f);

    for (enum acf_part part = 0; part < ACF_PARTS; part++)
        for (uint64_t i = 0; i < acf_cells(&t) && !to->has_ended; i++)
            tamis__tell_cell(to, acf_part_cell(&t, part, i));
}

/* A cell in use has one of two fingerprints of its key: its selector tells which one. */
static bool acf_explain_table(const acf_table *t, const acf_places *p, unsigned table,
                              tamis_telling *to)
{
    tamis_cell cell = acf_part_cell(t, ACF_PRINT, p->cell[table]);
    bool agrees = acf_matches(t, p, table);

    if (!(cell.marks & TAMIS_MARK_EMPTY))
        tamis__tell_read(to, "selector of the cell", acf_part_cell(t, ACF_SELECTOR, p->cell[table]),
                         agrees);
    tamis__tell_read(to, "cell of the table", cell, agrees);
    return agrees;
}

bool tamis__acf_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    const acf_table t = acf_of(f);
    const acf_places p = acf_places_of(&t, hash_key(key, f->salt));
    bool found = false;

    tamis__tell_number(to, "fingerprint of selector 0", p.value[0] & acf_prints(t.bits));
    tamis__tell_number(to, "fingerprint of selector 1", p.value[1] & acf_prints(t.bits));
    for (unsigned i = 0; i < ACF_TABLES; i++)
        found = acf_explain_table(&t, &p, i, to) || found;
    tamis__tell_number(to, "count", f->ops.count(f, key));
    return tamis__tell_answer(to, found,
                              found ? "one of its cells has its fingerprint"
                                    : "none of its cells has its fingerprint");
}
