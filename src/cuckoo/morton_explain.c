/* morton_explain.c - blocks of the Morton filter: how full buckets are, which have overflowed, and
 * the fingerprints. */
#include "cuckoo/morton_change.h"
#include "explain.h"

static uint8_t *morton_block_at(const morton_table *t, uint64_t block)
{
    return t->at + MORTON_LINE * block;
}

static tamis_cell morton_fullness_cell(const morton_table *t, uint64_t block, unsigned bucket)
{
    morton_counters c = morton_counters_of(t, morton_block_at(t, block));

    return (tamis_cell){ .array = "fullness",
                         .number = block,
                         .index = bucket,
                         .value = morton_counter(c, bucket),
                         .bits = 2 };
}

static tamis_cell morton_overflow_cell(const morton_table *t, uint64_t block, unsigned mark)
{
    unsigned bit = 2 * t->s.buckets + mark;

    return (tamis_cell){ .array = "overflow",
                         .number = block,
                         .index = mark,
                         .value = morton_block_at(t, block)[bit / 8] >> bit % 8 & 1,
                         .bits = 1 };
}

/* Slots of a bucket other than the first go on with it. */
static bool morton_continues(const morton_table *t, morton_counters c, unsigned slot)
{
    for (unsigned i = 0; i < t->s.buckets; i++) {
        morton_run r = morton_run_of(t, c, i);
        if (r.start < slot && slot < r.end)
            return true;
    }
    return false;
}

static tamis_cell morton_slot_cell(const morton_table *t, uint64_t block, unsigned slot)
{
    const uint8_t *b = morton_block_at(t, block);
    morton_counters c = morton_counters_of(t, b);
    bool is_used = slot < morton_sum_before(c, t->s.buckets);

    return (tamis_cell){ .array = "block",
                         .number = block,
                         .index = slot,
                         .value = morton_slot(&t->s, b, slot),
                         .bits = t->s.width,
                         .marks = !is_used                       ? TAMIS_MARK_EMPTY
                                  : morton_continues(t, c, slot) ? TAMIS_MARK_CONTINUATION
                                                                 : 0 };
}

static void morton_tell_block(const morton_table *t, uint64_t block, tamis_telling *to)
{
    for (unsigned i = 0; i < t->s.buckets; i++)
        tamis__tell_cell(to, morton_fullness_cell(t, block, i));
    for (unsigned i = 0; i < t->s.marks; i++)
        tamis__tell_cell(to, morton_overflow_cell(t, block, i));
    for (unsigned i = 0; i < t->s.slots; i++)
        tamis__tell_cell(to, morton_slot_cell(t, block, i));
}

void tamis__morton_cells(const tamis *f, tamis_telling *to)
{
    const morton_table t = morton_of(f);
    const surplus s = morton_surplus_of(&t);

    for (uint64_t i = 0; i < f->plan.slots && !to->has_ended; i++)
        morton_tell_block(&t, i, to);
    tamis__tell_surplus(to, &s);
}

/* How full a bucket is, and what it holds. True: the fingerprint is there. */
static bool morton_explain_bucket(const morton_table *t, const morton_position *p,
                                  tamis_telling *to)
{
    uint64_t block = (uint64_t)(p->block - t->at) / MORTON_LINE;
    morton_run r = morton_run_of(t, morton_counters_of(t, p->block), p->bucket);
    tamis_cell fullness = morton_fullness_cell(t, block, p->bucket);

    tamis__tell_read(to, "fullness of the bucket", fullness, fullness.value != 0);
    for (unsigned i = r.start; i < r.end; i++) {
        tamis_cell cell = morton_slot_cell(t, block, i);
        tamis__tell_read(to, "slot of the bucket", cell, cell.value == morton_stored(t, p));
    }
    return morton_find(t, p).bits != 0;
}

/* An overflow bit may be of several buckets. */
static bool morton_explain_overflow(const morton_table *t, const morton_position *p,
                                    tamis_telling *to)
{
    uint64_t block = (uint64_t)(p->block - t->at) / MORTON_LINE;
    bool is_marked = morton_is_marked(t, p->block, p->bucket);

    tamis__tell_read(to, "overflow bit of the bucket",
                     morton_overflow_cell(t, block, morton_mark_of(t, p->bucket)), is_marked);
    return is_marked;
}

bool tamis__morton_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    const morton_table t = morton_of(f);
    morton_position p = morton_position_of(&t, hash_key(key, t.salt)), other = morton_other(&t, &p);

    tamis__tell_number(to, "fingerprint", morton_stored(&t, &p));
    tamis__tell_number(to, "block", (uint64_t)(p.block - t.at) / MORTON_LINE);
    tamis__tell_number(to, "bucket", p.bucket);
    bool found = morton_explain_bucket(&t, &p, to), is_marked = morton_explain_overflow(&t, &p, to);
    if (is_marked) {
        tamis__tell_number(to, "other block", (uint64_t)(other.block - t.at) / MORTON_LINE);
        tamis__tell_number(to, "other bucket", other.bucket);
        found = morton_explain_bucket(&t, &other, to) || found;
    }
    tamis__tell_number(to, "count", f->ops.count(f, key));
    return tamis__tell_answer(
        to, found,
        is_marked ? (found ? "one of its buckets has its fingerprint"
                           : "neither of its buckets has its fingerprint")
        : found   ? "its bucket has its fingerprint"
                  : "its bucket has others, if any, and none was turned away from there");
}
