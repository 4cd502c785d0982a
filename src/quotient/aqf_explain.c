/* aqf_explain.c - slots of the adaptive quotient filter: remainders, what extends them, and counts.
 */
#include "quotient/aqf.h"
#include "quotient/runs_explain.h"

/* Without the bits that tell what a slot is: the marks do. */
static tamis_cell aqf_cell(const aqf_shard *s, uint64_t number, uint64_t slot)
{
    tamis_cell cell = runs_cell(s->t, number, slot);
    bool goes_on = cell.value & AQF_MORE;
    unsigned mark = aqf_is_digit((uint32_t)cell.value) ? TAMIS_MARK_COUNT : TAMIS_MARK_EXTENSION;

    cell.marks |= goes_on && cell.marks != TAMIS_MARK_EMPTY ? mark : 0u;
    cell.value >>= goes_on ? 2 : 1;
    cell.bits -= goes_on ? 2 : 1;
    return cell;
}

/* Hashes of keys are beside the slots in which their items start. */
static void aqf_tell_hashes(const aqf_shard *s, uint64_t number, tamis_telling *to)
{
    const unsigned none = TAMIS_MARK_EMPTY | TAMIS_MARK_COUNT | TAMIS_MARK_EXTENSION;

    for (uint64_t i = 0; s->hashes && i < s->t.slots && !to->has_ended; i++) {
        bool is_none = aqf_cell(s, number, i).marks & none;
        tamis__tell_cell(to, (tamis_cell){ .array = "key hash",
                                           .number = number,
                                           .index = i,
                                           .value = le64(aqf_hash_at(s, i)),
                                           .bits = 64,
                                           .marks = is_none ? TAMIS_MARK_EMPTY : 0 });
    }
}

void tamis__aqf_cells(const tamis *f, tamis_telling *to)
{
    shards s = shards_of(f);

    for (uint64_t number = 0; number < UINT64_C(1) << s.bits && !to->has_ended; number++) {
        aqf_shard shard = aqf_shard_at(&s, number);
        for (uint64_t i = 0; i < s.slots && !to->has_ended; i++)
            tamis__tell_cell(to, aqf_cell(&shard, number, i));
        runs_tell_beside(shard.t, number, to);
        aqf_tell_hashes(&shard, number, to);
    }
}

/* Slot i of an item, from the first on, beside what the key would have there. True: it agrees. */
static bool aqf_explain_slot(const aqf_position *p, uint64_t number, const aqf_item *e, unsigned i,
                             bool agrees, tamis_telling *to)
{
    tamis_cell cell = aqf_cell(&p->shard, number, (e->at + i) % p->shard.t.slots);
    const char *as = "slot of the run";

    if (i == 0) {
        agrees = e->remainder == p->remainder;
    } else if (i <= e->chunks) {
        as = "more bits of that key";
        agrees = agrees && cell.value == aqf_chunk(p->tail, i - 1, p->shard.chunk);
    } else {
        as = "digit of a count";
    }
    tamis__tell_read(to, as, cell, agrees);
    return agrees;
}

static bool aqf_explain_run(const aqf_position *p, uint64_t number, tamis_telling *to)
{
    aqf_found found = aqf_find(p);
    bool is_alike = false;

    for (uint64_t at = found.run.start; at < found.run.end;) {
        aqf_item e = aqf_read(&p->shard, at, found.run.end);
        bool agrees = true;
        for (unsigned i = 0; i < e.slots; i++)
            agrees = aqf_explain_slot(p, number, &e, i, agrees, to);
        is_alike = is_alike || e.remainder == p->remainder;
        at += e.slots;
    }
    tamis__tell_number(to, "count", found.item.slots ? found.item.count : 0);
    if (found.item.slots)
        return tamis__tell_answer(to, true,
                                  "a slot of its run holds its remainder, and any bits "
                                  "that follow are those of its hash");
    return tamis__tell_answer(to, false,
                              is_alike ? "its remainder is there, but followed by bits of another "
                                         "key"
                                       : "no slot of its run holds its remainder");
}

bool tamis__aqf_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    shards s = shards_of(f);
    uint64_t hash = hash_key(key, s.salt), number = shards_number(&s, hash);
    aqf_position p = aqf_position_of(&s, hash);

    tamis__tell_number(to, "fingerprint", scale64(hash, s.fingerprints));
    if (s.bits)
        tamis__tell_number(to, "shard", number);
    tamis__tell_number(to, "quotient", p.quotient);
    tamis__tell_number(to, "remainder", p.remainder);
    tamis__tell_number(to, "bits after it", p.tail);
    if (!runs_tell_home(p.shard.t, p.quotient, aqf_cell(&p.shard, number, p.quotient), to))
        return tamis__tell_answer(to, false, "no key has its quotient");
    return aqf_explain_run(&p, number, to);
}
