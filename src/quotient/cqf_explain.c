/* cqf_explain.c - slots of the counting quotient filter, remainders told from digits of counts. */
#include "quotient/cqf.h"
#include "quotient/runs_explain.h"

/* Which entry a slot is of is known from the head of its run on: slots are read one after the
 * other. Positions are a round above slots, so that a head before slot 0 has one too. */
typedef struct cqf_reader {
    runs_table t;
    uint64_t shard;
    uint64_t at, end; /* the position that was read last, and where its run ends */
    cqf_entry entry;  /* no slots: there is none */
} cqf_reader;

static cqf_entry cqf_entry_at(const cqf_reader *r, uint64_t position)
{
    return cqf_read_entry(r->t, position, r->end, runs_slot(r->t, position));
}

static void cqf_read_head(cqf_reader *r, uint64_t position)
{
    uint64_t back = 0;

    r->entry.slots = 0;
    if (!runs_is_used(r->t, position % r->t.slots))
        return;
    while (back < r->t.slots && runs_continues(r->t, (position - back) % r->t.slots))
        back++;
    uint64_t head = position - back, end = runs_next_end(r->t, head) + 1;
    r->end = end < head + r->t.slots ? end : head + r->t.slots;
    if (back < r->t.slots && runs_is_used(r->t, head % r->t.slots))
        r->entry = cqf_entry_at(r, head);
}

/* Digits stand between the first and the last slot of an entry. */
static bool cqf_is_digit(cqf_reader *r, uint64_t slot)
{
    uint64_t position = r->t.slots + slot;

    if (position != r->at + 1 || !runs_continues(r->t, slot))
        cqf_read_head(r, position);
    r->at = position;
    while (r->entry.slots && r->entry.at + r->entry.slots <= position)
        r->entry = cqf_entry_at(r, r->entry.at + r->entry.slots);
    return position > r->entry.at && position + 1 < r->entry.at + r->entry.slots;
}

static tamis_cell cqf_cell(cqf_reader *r, uint64_t slot)
{
    tamis_cell cell = runs_cell(r->t, r->shard, slot);

    cell.marks |= cqf_is_digit(r, slot) ? TAMIS_MARK_COUNT : 0u;
    return cell;
}

void tamis__cqf_cells(const tamis *f, tamis_telling *to)
{
    shards s = shards_of(f);

    for (uint64_t shard = 0; shard < UINT64_C(1) << s.bits && !to->has_ended; shard++) {
        cqf_reader r = { .t = shards_table(&s, shard), .shard = shard };
        for (uint64_t i = 0; i < s.slots && !to->has_ended; i++)
            tamis__tell_cell(to, cqf_cell(&r, i));
        runs_tell_beside(r.t, shard, to);
    }
}

static bool cqf_explain_run(cqf_reader *r, const shards_position *at, tamis_telling *to)
{
    runs_run run = runs_find(at->t, at->quotient);
    uint64_t count = cqf_find_entry(at->t, &run, at->remainder).count;

    for (uint64_t i = run.start; i < run.end; i++) {
        tamis_cell cell = cqf_cell(r, i % r->t.slots);
        bool is_digit = cell.marks & TAMIS_MARK_COUNT;
        tamis__tell_read(to, is_digit ? "digit of a count" : "slot of the run", cell,
                         (is_digit ? runs_slot(r->t, r->entry.at) : cell.value) == at->remainder);
    }
    tamis__tell_number(to, "count", count);
    return tamis__tell_answer(to, count != 0,
                              count ? "a slot of its run holds its remainder"
                                    : "no slot of its run holds its remainder");
}

bool tamis__cqf_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    shards s = shards_of(f);
    uint64_t hash = hash_key(key, s.salt);
    shards_position at = shards_position_of(&s, hash);
    cqf_reader r = { .t = at.t, .shard = shards_number(&s, hash) };

    tamis__tell_number(to, "fingerprint", scale64(hash, s.fingerprints));
    if (s.bits)
        tamis__tell_number(to, "shard", r.shard);
    tamis__tell_number(to, "quotient", at.quotient);
    tamis__tell_number(to, "remainder", at.remainder);
    if (!runs_tell_home(at.t, at.quotient, cqf_cell(&r, at.quotient), to))
        return tamis__tell_answer(to, false, "no key has its quotient");
    return cqf_explain_run(&r, &at, to);
}
