/* aqf_check.c - whether an aqf is whole, and what it holds. */
#include <math.h>

#include "quotient/aqf.h"
#include "quotient/runs_check.h"

void tamis__aqf_measure(const tamis *f, tamis_info *info)
{
    shards s = shards_of(f);
    double items = 0, used = 0, rate = 0, chunks = 0;

    for (uint64_t i = 0; i < UINT64_C(1) << s.bits; i++) {
        aqf_shard shard = aqf_shard_at(&s, i);
        aqf_walk w = { .shard = shard, .run = { .t = shard.t } };
        for (; aqf_walk_on(&w); items++) {
            info->adaptations += aqf_learned(&w) > 0;
            chunks += aqf_learned(&w);
            rate += ldexp(1, -(int)(w.item.chunks * shard.chunk));
        }
        used += (double)runs_used(shard.t);
    }
    info->fill = used / (double)f->plan.slots;
    info->cardinality = items;
    info->fpr = fmin(rate / (double)s.fingerprints, 1);
    info->adapted_bits = chunks * 8 * runs_stride(s.width + 1) / RUNS_BLOCK / fmax(items, 1);
}

typedef struct aqf_check {
    const shards *s;
    aqf_shard shard;
    uint64_t number, copies, hashes; /* of the shard; so far; hashes of items that are not 0 */
} aqf_check;

static bool aqf_is_written_well(const aqf_check *c, const aqf_item *e, uint64_t tail)
{
    uint32_t slots[AQF_SLOTS];

    if (e->chunks > aqf_most_chunks(c->shard.chunk))
        return false;
    if (aqf_write(slots, e->remainder, tail, e->chunks, e->count, c->shard.chunk) != e->slots)
        return false;
    for (unsigned i = 0; i < e->slots; i++)
        if (runs_slot(c->shard.t, e->at + i) != slots[i])
            return false;
    return true;
}

/* Whether the hash of an item leads to it. */
static bool aqf_is_hash_of(const aqf_check *c, const aqf_item *e, uint64_t quotient)
{
    uint64_t hash = le64(aqf_hash_at(&c->shard, e->at)), fingerprints = c->s->fingerprints;
    uint64_t fingerprint = (c->number * c->s->slots + quotient) << c->s->width | e->remainder;
    unsigned chunk;

    return scale64(hash, fingerprints) == fingerprint &&
           aqf_compare(&c->shard, e, hash * fingerprints, &chunk) == 0;
}

/* Whether it comes after the item before, and neither begins with the other: what an item is not
 * extended by counts as zeros, above which nothing is. */
static bool aqf_is_after(const aqf_check *c, const aqf_item *e, const aqf_item *before)
{
    unsigned chunk;

    if (!before->slots || e->remainder > before->remainder)
        return true;
    return e->remainder == before->remainder &&
           aqf_compare(&c->shard, before, aqf_beginning(&c->shard, e), &chunk) < 0;
}

static const char *aqf_check_run(const runs_check *r, uint64_t end)
{
    aqf_check *c = r->ctx;
    aqf_item before = { 0 };

    for (uint64_t i = r->i; i < end; i += before.slots) {
        aqf_item e = aqf_read(&c->shard, i, end);
        uint64_t tail = aqf_beginning(&c->shard, &e);
        if (!aqf_is_written_well(c, &e, tail) || add_overflows(c->copies, e.count, &c->copies))
            return "an item is written wrongly";
        if (!aqf_is_after(c, &e, &before))
            return "a run is out of order";
        if (c->shard.hashes && !aqf_is_hash_of(c, &e, r->quotient))
            return "a key is not that of its item";
        if (c->shard.hashes)
            c->hashes += le64(aqf_hash_at(&c->shard, e.at)) != 0;
        before = e;
    }
    return NULL;
}

/* There is no hash where no item starts. */
static bool aqf_hashes_are_few(const aqf_check *c)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < c->shard.t.slots && c->shard.hashes; i++)
        n += le64(aqf_hash_at(&c->shard, i)) != 0;
    return n == c->hashes;
}

const char *tamis__aqf_verify(const tamis *f)
{
    shards s = shards_of(f);
    aqf_check c = { .s = &s };
    const char *why = NULL;

    for (; c.number < UINT64_C(1) << s.bits && !why; c.number++) {
        c.shard = aqf_shard_at(&s, c.number);
        c.hashes = 0;
        runs_check r = { .t = c.shard.t, .room = s.room, .check_run = aqf_check_run, .ctx = &c };
        why = tamis__runs_check(&r);
        if (!why && !aqf_hashes_are_few(&c))
            why = "there is a key where no item starts";
    }
    return why || c.copies == f->count ? why : "the number of keys is wrong";
}
