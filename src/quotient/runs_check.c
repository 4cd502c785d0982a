/* runs_check.c - see runs_check.h.
 *
 * The slots are walked through once, all round, from the first that is not taken by runs from
 * before the end. If the walk comes out where it started, each run lies where it has to. */
#include "quotient/runs_check.h"

static bool runs_check_empty(runs_table t, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (runs_slot(t, i))
            return false;
    return true;
}

static const char *runs_check_quotient(runs_check *c, uint64_t q, uint64_t last)
{
    if (!runs_check_empty(c->t, c->i, q))
        return "an empty slot holds something";
    c->i = c->i > q ? c->i : q;
    uint64_t end = runs_next_end(c->t, c->i) + 1;
    if (end > last)
        return "a run has no end";
    c->quotient = q;
    const char *why = c->check_run(c, end);
    c->used += end - c->i;
    c->i = end;
    c->runs++;
    return why;
}

static const char *runs_check_block(runs_check *c, uint64_t k, uint64_t last)
{
    const uint8_t *b = runs_block(c->t, k);
    uint64_t beyond = c->i > k * RUNS_BLOCK ? c->i - k * RUNS_BLOCK : 0;
    const char *why = NULL;

    if (b[RUNS_OFFSET] != (beyond < RUNS_FAR ? beyond : RUNS_FAR))
        return "an offset is wrong";
    for (uint64_t rest = runs_occupied(b); rest && !why; rest &= rest - 1)
        why = runs_check_quotient(c, k * RUNS_BLOCK + word_lowest(rest), last);
    return why;
}

static const char *runs_check_blocks(runs_check *c)
{
    uint64_t first = runs_offset(c->t, 0), slots = c->t.slots, ends = 0;
    const char *why = NULL;

    c->i = first;
    for (uint64_t k = 0; k < c->t.blocks && !why; k++) {
        ends += word_ones(runs_ends(runs_block(c->t, k)));
        why = runs_check_block(c, k, first + slots);
    }
    if (why)
        return why;
    if (ends != c->runs)
        return "runs and their ends differ in number";
    if (first != (c->i > slots ? c->i - slots : 0))
        return "an offset is wrong";
    return runs_check_empty(c->t, c->i, slots) ? NULL : "an empty slot holds something";
}

const char *tamis__runs_check(runs_check *c)
{
    const uint8_t *header = c->t.at - RUNS_HEADER, *end = c->t.at + c->t.blocks * c->t.stride;

    if (!bytes_are_zero(header + 8, c->t.at) ||
        !bytes_are_zero(end, header + runs_bytes(c->t.slots, c->t.width)))
        return "unused bytes are set";
    const char *why = runs_check_blocks(c);
    if (!why && (c->used != runs_used(c->t) || c->used > c->room))
        why = "the number of slots in use is wrong";
    return why;
}
