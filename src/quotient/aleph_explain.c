/* aleph_explain.c - slots of the aleph filter, with fingerprints of as many bits as their age left.
 */
#include "quotient/aleph.h"
#include "quotient/runs_explain.h"

/* The bits of the fingerprint without the one and the zeros that tell how many they are. */
static tamis_cell aleph_cell(runs_table t, uint64_t slot)
{
    tamis_cell cell = runs_cell(t, 0, slot);
    uint32_t x = (uint32_t)cell.value;
    bool is_empty = cell.marks == TAMIS_MARK_EMPTY;
    unsigned bits = is_empty ? t.width - 1 : aleph_bits_of(x, t.width);

    cell.value = bits ? x >> (t.width - bits) : 0;
    cell.bits = bits ? bits : 1;
    cell.marks |= bits ? 0u : TAMIS_MARK_VOID;
    return cell;
}

/* How many bits are left of the fingerprints that came at each size. */
static void aleph_tell_generations(const tamis_plan *p, tamis_telling *to)
{
    for (unsigned i = 0; i <= aleph_size(p); i++)
        tamis__tell_cell(
            to, (tamis_cell){
                    .array = "bits left", .index = i, .value = aleph_bits_left(p, i), .bits = 8 });
}

void tamis__aleph_cells(const tamis *f, tamis_telling *to)
{
    runs_table t = aleph_table(f);

    for (uint64_t i = 0; i < t.slots && !to->has_ended; i++)
        tamis__tell_cell(to, aleph_cell(t, i));
    runs_tell_beside(t, 0, to);
    aleph_tell_generations(&f->plan, to);
}

/* The size at which a fingerprint came that has these bits left; of a void, the last one possible.
 */
static unsigned aleph_generation(const tamis_plan *p, unsigned bits)
{
    unsigned size = aleph_size(p);

    while (size && aleph_bits_left(p, size) > bits)
        size--;
    return size;
}

static bool aleph_explain_run(const tamis *f, const shards_position *at, tamis_telling *to)
{
    runs_table t = at->t;
    runs_run r = runs_find(t, at->quotient);
    uint64_t after = aleph_find_longest(t, &r, aleph_fresh(at));

    for (uint64_t i = r.start; i < r.end; i++)
        tamis__tell_read(to, "slot of the run", aleph_cell(t, i % t.slots),
                         aleph_covers(runs_slot(t, i), aleph_fresh(at)));
    if (!after)
        return tamis__tell_answer(to, false, "no fingerprint of its run begins its own");
    unsigned bits = aleph_bits_of(runs_slot(t, after - 1), t.width);
    tamis__tell_number(to, "generation", aleph_generation(&f->plan, bits));
    return tamis__tell_answer(to, true,
                              bits ? "a fingerprint of its run begins its own"
                                   : "its run has a void, which passes for any key of the slot");
}

bool tamis__aleph_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    shards s = shards_of(f);
    shards_position at = shards_position_of(&s, hash_key(key, s.salt));

    tamis__tell_number(to, "doublings", aleph_size(&f->plan));
    tamis__tell_number(to, "quotient", at.quotient);
    tamis__tell_number(to, "fingerprint", at.remainder);
    if (!runs_tell_home(at.t, at.quotient, aleph_cell(at.t, at.quotient), to))
        return tamis__tell_answer(to, false, "no key has its quotient");
    return aleph_explain_run(f, &at, to);
}
