/* aqf.c - adaptive quotient filter: a false positive that it was told of does not come again.
 *
 * The fingerprint of a key is scale64(hash_key(key), slots << width), as in cqf, and n keys make a
 * stranger pass with a probability of about load * 2^-width.
 *
 * When a stranger passes and the filter is told so, the item that it was taken for is extended by
 * more bits of its own key's hash, up to the first chunk in which the two differ (quotient/aqf.h).
 * Items never become shorter, whatever is asked. Hashes of 64-bit keys are a permutation of them,
 * so that any two keys differ within the 64 bits of a tail.
 *
 * To extend an item, the hash of its key is needed. Behind the table there is one for each slot, of
 * 8 bytes, which only changes read: lookups touch the table alone. Or the filter asks for it:
 * TAMIS_PLAN_ASKS_KEYS.
 *
 * A chunk takes a slot, and keeps 1 - 2^(1 - width) of the strangers away that it was made against:
 * z false positives take about z slots. Keys take `load` of the slots, 0.9 if nothing else is
 * asked for; 31 of 32 may be in use.
 *
 *   payload:  2^b shards of equal size, a multiple of 64 bytes
 *   shard:    slots in use, 8 bytes | zeros, 56 bytes
 *             blocks of 64 slots of width + 1 bits | zeros, at least 8 bytes, to a line's end
 *             8 bytes for each slot: the hash, where an item starts; else 0
 *
 * plan.hashes is 1. Zeros are the empty filter. Before any adaptation, what it holds decides every
 * byte, unless keys that shared a fingerprint were removed.
 *
 * Wen, McCoy, Tench, Tagliavini, Bender, Conway, Farach-Colton, Johnson, Pandey: Adaptive Quotient
 * Filters, 2024. */
#include <math.h>

#include "base/cpu.h"
#include "base/sort.h"
#include "quotient/aqf_template.h"
#include "quotient/runs_check.h"
#include "quotient/runs_writer.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Of a plan that is being tried: too many slots for the width are refused only after that. */
static double aqf_fingerprints(const tamis_plan *p)
{
    return ldexp((double)p->slots, (int)p->width);
}

/* A key that shares its fingerprint with others is extended by as many chunks as it takes to tell
 * it from all of them. One of n - 1 others is not told by chunks that leave a share of `pass` alike
 * with probability pass / fingerprints. */
static double aqf_told(const tamis_plan *p, double n, double pass)
{
    return exp(fmax(n - 1, 0) * log1p(-pass / aqf_fingerprints(p)));
}

/* The share of strangers alike that one chunk leaves. */
static double aqf_chunk_pass(const tamis_plan *p)
{
    return ldexp(1, 1 - (int)p->width);
}

static const double LEAST_PASS = 1e-18;

/* Of the strangers with the fingerprint of a key that is extended by k chunks, a share of 2^-k
 * chunks passes. */
static double aqf_rate(const tamis_plan *p, double n)
{
    double told = aqf_told(p, n, 1), sum = told;

    for (double pass = aqf_chunk_pass(p); pass > LEAST_PASS; pass *= aqf_chunk_pass(p)) {
        double by_more = aqf_told(p, n, pass);
        sum += pass * (by_more - told);
        told = by_more;
    }
    return fmin(n / aqf_fingerprints(p) * sum, 1);
}

/* Keys and the chunks that tell each from as many others: the mean and six standard deviations, as
 * if each chunk came with another. Twice the keys in twice the slots take no more than twice as
 * many. */
static uint64_t aqf_slots_beside(const tamis_plan *p, double others)
{
    double n = (double)p->capacity, chunks = 0;

    for (double pass = 1; pass > LEAST_PASS; pass *= aqf_chunk_pass(p))
        chunks += n * (1 - aqf_told(p, others + 1, pass));
    return p->capacity + (uint64_t)(chunks + 6 * sqrt(2 * chunks));
}

static uint64_t aqf_slots_of_keys(const tamis_plan *p)
{
    return aqf_slots_beside(p, (double)p->capacity);
}

/* A key keeps the chunks that told it from others, removed ones too. It meets the n that are there
 * when it comes; and those that come while it stays, n of them if the oldest is removed each time,
 * and n on average if any is. */
static uint64_t aqf_slots_of_churn(const tamis_plan *p)
{
    return aqf_slots_beside(p, 2.0 * (double)p->capacity);
}

static const shards_rule AQF_RULE = {
    .most_width = 31,
    .flags = TAMIS_PLAN_GROWS | TAMIS_PLAN_ASKS_KEYS,
    .load = 0.9,
    .unused = 32,
    .rate = aqf_rate,
    .slots_of_keys = aqf_slots_of_keys,
};

static bool aqf_keeps_keys(const tamis_plan *p)
{
    return !(p->flags & TAMIS_PLAN_ASKS_KEYS);
}

static uint64_t aqf_shard_bytes(const tamis_plan *p)
{
    uint64_t slots = p->slots >> shards_bits(p->slots);

    return runs_bytes(slots, p->width + 1) + (aqf_keeps_keys(p) ? 8 * slots : 0);
}

static uint64_t aqf_bytes(const tamis_plan *p)
{
    return tamis__shards_are_valid(p, &AQF_RULE) ? aqf_shard_bytes(p) << shards_bits(p->slots) : 0;
}

/* Slots that it takes to tell excluded keys from the others: the mean and six standard deviations
 * of those that pass, and one more for each that the first chunk does not keep away. */
static uint64_t aqf_slots_to_exclude(const tamis_spec *spec)
{
    if (spec->universe <= spec->keys)
        return 0;
    double passing = (double)(spec->universe - spec->keys) * spec->fpr;
    return (uint64_t)fmin(1.5 * passing + 6 * sqrt(passing) + 6, 0x1p62);
}

static double aqf_keys_at_load(const tamis_plan *p)
{
    return (double)p->slots * p->load / SHARDS_LOAD_UNIT;
}

static tamis_status aqf_plan(tamis_plan *p, const tamis_spec *spec)
{
    const uint64_t keys = p->capacity;
    shards_rule rule = AQF_RULE;

    if (spec->can & TAMIS_CAN_REMOVE)
        rule.slots_of_keys = aqf_slots_of_churn;
    if (spec->can & TAMIS_CAN_ASK_KEYS && spec->can & TAMIS_CAN_EXACT_DELETE)
        return TAMIS_CANNOT;
    p->flags = (spec->can & TAMIS_CAN_GROW ? TAMIS_PLAN_GROWS : 0) |
               (spec->can & TAMIS_CAN_ASK_KEYS ? TAMIS_PLAN_ASKS_KEYS : 0);
    p->capacity += aqf_slots_to_exclude(spec);
    tamis_status status = tamis__shards_plan(p, spec, &rule);
    p->capacity = keys;
    /* One that grows will have other slots, and as many of them in use as the load allows. */
    while (!status && aqf_keeps_keys(p) && p->flags & TAMIS_PLAN_GROWS && !spec->tag_bits &&
           p->width < AQF_RULE.most_width && aqf_rate(p, aqf_keys_at_load(p)) > spec->fpr)
        p->width++;
    return status;
}

/* With the hashes at hand, remainders are as long in any size, and the rate stays. A filter that
 * asks for them has no more bits of most than it holds. */
static tamis_status aqf_resize(tamis_plan *p, uint64_t keys)
{
    return tamis__shards_resize(p, keys, aqf_keeps_keys(p), &AQF_RULE);
}

/* ---- Keys -------------------------------------------------------------- */

/* What is looked for among the keys of a group. */
typedef struct aqf_ask {
    const aqf_position *p;
    const aqf_item *item;
    uint64_t salt, fingerprints;
    uint64_t hash, other;
    bool has_hash, has_other;
} aqf_ask;

static bool aqf_hear(void *ctx, uint64_t key, uint64_t count)
{
    aqf_ask *a = ctx;
    uint64_t hash = hash_key(key, a->salt);
    unsigned chunk;

    (void)count;
    if (scale64(hash, a->fingerprints) != scale64(a->hash, a->fingerprints) ||
        aqf_compare(&a->p->shard, a->item, hash * a->fingerprints, &chunk) != 0)
        return true;
    if (hash == a->hash) {
        a->has_hash = true;
        return true;
    }
    a->other = hash;
    a->has_other = true;
    return false;
}

tamis_status tamis__aqf_key_of(const tamis *f, const aqf_position *p, const aqf_item *e,
                               uint64_t hash, uint64_t *of, bool *is_other)
{
    shards s = shards_of(f);
    aqf_ask a = { p, e, s.salt, s.fingerprints, hash, 0, false, false };

    if (p->shard.hashes) {
        *of = le64(aqf_hash_at(&p->shard, e->at));
        *is_other = *of != hash;
        return TAMIS_OK;
    }
    if (!f->keys)
        return TAMIS_CANNOT;
    tamis_status status = f->keys(f->keys_ctx, scale64(hash, s.fingerprints), aqf_hear, &a);
    if (status)
        return status;
    *of = a.has_other ? a.other : hash;
    *is_other = a.has_other;
    return a.has_other || a.has_hash ? TAMIS_OK : TAMIS_ABSENT;
}

/* ---- Item by item ------------------------------------------------------ */

/* What an item is extended by, as the first bits of a tail. */
static uint64_t aqf_beginning(const aqf_shard *s, const aqf_item *e)
{
    uint64_t tail = 0;

    for (unsigned i = 0; i < e->chunks && i * s->chunk < 64; i++) {
        uint64_t chunk = runs_slot(s->t, e->at + 1 + i) >> 2;
        tail |= chunk << (64 - s->chunk) >> i * s->chunk;
    }
    return tail;
}

/* Chunks that it takes to tell two items apart, if they share a fingerprint. */
static unsigned aqf_apart(const aqf_shard *s, const aqf_item *a, const aqf_item *b)
{
    uint64_t x = aqf_beginning(s, a), y = aqf_beginning(s, b);

    return a->slots && a->remainder == b->remainder && x != y ? aqf_chunks_to_differ(x, y, s->chunk)
                                                              : 0;
}

/* From the lowest quotient on; starts with zeros but for the shard. */
typedef struct aqf_walk {
    aqf_shard shard;
    runs_walk run;
    aqf_item item;
    unsigned needs, before; /* chunks that tell it from its neighbours; from the one before alone */
} aqf_walk;

/* False: there is no more; it comes, whatever the bytes are. */
static bool aqf_walk_on(aqf_walk *w)
{
    uint64_t i = w->item.at + w->item.slots;

    w->before = w->needs;
    if (i >= w->run.end) {
        if (!runs_walk_on(&w->run))
            return false;
        i = w->run.start;
        w->before = 0;
    }
    w->item = aqf_read(&w->shard, i, w->run.end);
    w->needs = 0;
    if (i + w->item.slots < w->run.end) {
        aqf_item next = aqf_read(&w->shard, i + w->item.slots, w->run.end);
        w->needs = aqf_apart(&w->shard, &w->item, &next);
    }
    return true;
}

/* Chunks beyond those that tell it from its neighbours: they took back false positives. */
static unsigned aqf_adapted(const aqf_walk *w)
{
    unsigned needs = w->needs > w->before ? w->needs : w->before;

    return w->item.chunks > needs ? w->item.chunks - needs : 0;
}

/* The lowest hash with this fingerprint and a tail from this one on. */
static uint64_t aqf_lowest_hash(const shards *s, uint64_t fingerprint, uint64_t tail)
{
    uint64_t hash = 0;

    for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1) {
        uint64_t below = (hash | bit) - 1, there = scale64(below, s->fingerprints);
        if (there < fingerprint || (there == fingerprint && below * s->fingerprints < tail))
            hash |= bit;
    }
    return hash;
}

/* The hash of the item's key or, if the filter has none and the item is not extended, one that
 * leads to the same item. */
static tamis_status aqf_hash_of(const tamis *f, const aqf_walk *w, uint64_t shard, uint64_t *hash)
{
    shards s = shards_of(f);
    uint64_t fingerprint = (shard * s.slots + w->run.after - 1) << s.width | w->item.remainder;
    aqf_position p = { .shard = w->shard };
    bool is_other;

    if (w->shard.hashes) {
        *hash = le64(aqf_hash_at(&w->shard, w->item.at));
        return TAMIS_OK;
    }
    *hash = aqf_lowest_hash(&s, fingerprint, aqf_beginning(&w->shard, &w->item));
    return w->item.chunks ? tamis__aqf_key_of(f, &p, &w->item, *hash, hash, &is_other) : TAMIS_OK;
}

/* ---- Neighbours -------------------------------------------------------- */

/* The items of a fingerprint around a hash, in order; those that are not there have no slots. `at`
 * is the one that the hash begins with or, if there is none, the first above it. */
typedef struct aqf_around {
    aqf_item before[2], at, after; /* before[1] is next to it */
    bool is_beginning;
} aqf_around;

static aqf_around aqf_look_around(const aqf_position *p, const runs_run *run)
{
    aqf_around a = { 0 };
    unsigned chunk;

    for (uint64_t i = run->start; i < run->end && !a.after.slots;) {
        aqf_item e = aqf_read(&p->shard, i, run->end);
        i += e.slots;
        if (e.remainder != p->remainder)
            continue;
        int order = aqf_compare(&p->shard, &e, p->tail, &chunk);
        if (a.at.slots) {
            a.after = e;
        } else if (order < 0) {
            a.before[0] = a.before[1];
            a.before[1] = e;
        } else {
            a.at = e;
            a.is_beginning = order == 0;
        }
    }
    return a;
}

static unsigned aqf_larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Chunks that an item between two others must have when a hash joins them. */
static unsigned aqf_wanted(const aqf_position *p, const aqf_item *low, const aqf_item *e,
                           const aqf_item *high, uint64_t tail)
{
    const aqf_shard *s = &p->shard;
    unsigned needs = aqf_larger(aqf_apart(s, low, e), aqf_apart(s, high, e));
    unsigned apart = aqf_chunks_to_differ(tail, p->tail, s->chunk);

    return e->chunks > needs ? aqf_larger(e->chunks, apart + 1) : aqf_larger(needs, apart);
}

/* An item that has to be longer, if it has chunks. */
typedef struct aqf_longer {
    uint64_t hash;
    unsigned chunks, more;
} aqf_longer;

/* What differs within the chunks of an item is told by them: its hash is looked up only if it has
 * to be longer. */
static tamis_status aqf_lengthen(aqf_longer *out, const tamis *f, const aqf_position *p,
                                 const aqf_item *low, const aqf_item *e, const aqf_item *high,
                                 bool is_beginning, uint64_t hash)
{
    shards s = shards_of(f);
    bool is_other;

    if (!e->slots ||
        (!is_beginning && aqf_wanted(p, low, e, high, aqf_beginning(&p->shard, e)) <= e->chunks))
        return TAMIS_OK;
    tamis_status status = tamis__aqf_key_of(f, p, e, hash, &out->hash, &is_other);
    if (status)
        return status;
    out->chunks = aqf_wanted(p, low, e, high, out->hash * s.fingerprints);
    out->more = out->chunks - e->chunks;
    return TAMIS_OK;
}

tamis_status tamis__aqf_make_way(tamis *f, const aqf_position *p, const aqf_found *at,
                                 uint64_t hash, uint64_t times)
{
    shards s = shards_of(f);
    aqf_around a = aqf_look_around(p, &at->run);
    aqf_longer longer[2] = { { 0 }, { 0 } };
    tamis_status status =
        aqf_lengthen(&longer[0], f, p, &a.before[1], &a.at, &a.after, a.is_beginning, hash);

    if (!status && !a.is_beginning)
        status = aqf_lengthen(&longer[1], f, p, &a.before[0], &a.before[1], &a.at, false, hash);
    if (status)
        return status;
    unsigned apart = a.is_beginning ? aqf_chunks_to_differ(p->tail, longer[0].hash * s.fingerprints,
                                                           p->shard.chunk)
                                    : at->apart;
    unsigned slots =
        1 + apart + aqf_digits(times, p->shard.chunk) + longer[0].more + longer[1].more;
    if (runs_used(p->shard.t) + slots > s.room)
        return TAMIS_FULL;
    for (int i = 0; i < 2 && !status; i++) {
        aqf_position q = aqf_position_of(&s, longer[i].hash);
        aqf_found found = aqf_find(&q);
        if (longer[i].chunks)
            status = aqf_put(f, &q, &found, longer[i].hash, longer[i].chunks, found.item.count);
    }
    return status;
}

/* ---- In order ---------------------------------------------------------- */

/* Whole ones; between sizes of one filter they differ as the fingerprints do. */
static unsigned aqf_fingerprint_bits(const shards *s)
{
    return word_highest(s->fingerprints);
}

/* at[]: the shard, where it is in there, and the chunks that tell the item from the next. */
static bool aqf_next(tamis_cursor *c)
{
    shards s = shards_of(c->f);

    for (; c->at[0] < UINT64_C(1) << s.bits; shards_turn(c->at, sizeof c->at, c->at[0] + 1)) {
        aqf_shard shard = aqf_shard_at(&s, c->at[0]);
        aqf_walk w = { .shard = shard,
                       .run = { shard.t, c->at[1], 0, c->at[3] },
                       .item = { .at = c->at[2] },
                       .needs = (unsigned)c->at[4] };
        if (!aqf_walk_on(&w))
            continue;
        c->at[1] = w.run.after;
        c->at[2] = w.item.at + w.item.slots;
        c->at[3] = w.run.end;
        c->count = w.item.count;
        c->at[4] = w.needs;
        c->told = w.item.chunks ? aqf_fingerprint_bits(&s) + w.item.chunks * shard.chunk : 0;
        c->bits = aqf_adapted(&w) ? c->told : 0;
        c->status = aqf_hash_of(c->f, &w, c->at[0], &c->fingerprint);
        return c->status == TAMIS_OK;
    }
    return false;
}

/* at[]: the shard, where the runs_writer of it is, and the item that waits for its neighbour: its
 * hash, count, chunks, and 1 if it has learned. */
enum { WAITS_HASH = 4, WAITS_COUNT, WAITS_CHUNKS, WAITS_ADAPTED };

static void aqf_append_around(const aqf_position *p, const uint32_t *slots, unsigned n,
                              uint64_t hash)
{
    runs_run r = runs_find(p->shard.t, p->quotient);
    aqf_item end = { .at = r.end };

    aqf_replace(p, &r, &end, slots, n, hash);
}

/* Whether what is to wait will fit, unless its neighbour makes it longer. */
static bool aqf_may_wait(const tamis_writer *w, const shards *s, unsigned chunks, uint64_t count)
{
    uint64_t slots = 1 + chunks + aqf_digits(count, s->width - 1), total;

    return runs_used(aqf_shard_at(s, w->at[0]).t) + slots <= s->room &&
           !add_overflows(w->f->count, count, &total);
}

/* What waits is written. */
static tamis_status aqf_write_down(tamis_writer *w, const shards *s)
{
    uint64_t hash = w->at[WAITS_HASH], count = w->at[WAITS_COUNT];
    aqf_position p = aqf_position_of(s, hash);
    uint32_t slots[AQF_SLOTS];
    runs_writer to = shards_writer(w, s);
    unsigned n =
        aqf_write(slots, p.remainder, p.tail, (unsigned)w->at[WAITS_CHUNKS], count, p.shard.chunk);

    if (runs_used(to.t) + n > s->room)
        return TAMIS_FULL;
    if (runs_writer_fits(&to, p.quotient, n)) {
        to = runs_writer_put(to, p.quotient, slots, n);
        runs_writer_put_down(&to);
        if (p.shard.hashes)
            put_le64(aqf_hash_at(&p.shard, to.i - n), hash);
    } else {
        runs_writer_end(&to);
        to.is_around = true;
        aqf_append_around(&p, slots, n, hash);
    }
    runs_put_used(to.t, runs_used(to.t) + n);
    w->f->count += count;
    shards_put_writer(w, &to);
    return TAMIS_OK;
}

/* Neighbours that share a fingerprint are extended until they differ. Returns how many chunks that
 * takes of the next one. */
static unsigned aqf_tell_from_next(tamis_writer *w, const shards *s, uint64_t hash)
{
    uint64_t before = w->at[WAITS_HASH];

    if (scale64(before, s->fingerprints) != scale64(hash, s->fingerprints))
        return 0;
    unsigned apart =
        aqf_chunks_to_differ(before * s->fingerprints, hash * s->fingerprints, s->width - 1);
    w->at[WAITS_CHUNKS] =
        aqf_larger((unsigned)w->at[WAITS_CHUNKS], apart + (unsigned)w->at[WAITS_ADAPTED]);
    return apart;
}

/* Chunks that hold all that was known of it, where it comes from: a stranger that was taken for one
 * that goes may differ from it by what told the two apart. Part of a chunk becomes a whole one in
 * each new size, and there are no more than those of a tail. */
static unsigned aqf_known_chunks(const tamis_writer *w, const shards *s)
{
    unsigned known = aqf_fingerprint_bits(s), most = aqf_most_chunks(s->width - 1);
    unsigned bits = aqf_larger(w->bits, w->told);
    unsigned chunks = bits > known ? (bits - known + s->width - 2) / (s->width - 1) : 0;

    return chunks < most ? chunks : most;
}

static tamis_status aqf_append(tamis_writer *w, uint64_t hash, uint64_t count)
{
    shards s = shards_of(w->f);
    uint64_t shard = shards_number(&s, hash);
    bool waits = w->at[WAITS_COUNT];
    unsigned apart = waits && count ? aqf_tell_from_next(w, &s, hash) : 0;
    bool is_adapted = count && w->bits;
    unsigned chunks = aqf_larger(aqf_known_chunks(w, &s), apart + is_adapted);
    tamis_status status = waits ? aqf_write_down(w, &s) : TAMIS_OK;

    w->at[WAITS_COUNT] = 0;
    if (count == 0 || shard != w->at[0])
        shards_end_writer(w, &s, shard);
    if (status || count == 0)
        return status;
    if (!aqf_may_wait(w, &s, chunks, count))
        return TAMIS_FULL;
    w->at[WAITS_HASH] = hash;
    w->at[WAITS_COUNT] = count;
    w->at[WAITS_CHUNKS] = chunks;
    w->at[WAITS_ADAPTED] = is_adapted;
    return TAMIS_OK;
}

/* Of the least width, a digit is a bit. */
static tamis_room aqf_room(const tamis *f, uint64_t range, uint64_t copies)
{
    unsigned digits = copies ? aqf_digits(copies, f->plan.width - 1) : 0;

    return tamis__shards_room_in(f, range, 1 + digits);
}

/* ---- Many keys --------------------------------------------------------- */

enum { LEAST_SORTED = 64, SLOTS_A_KEY = 16, AHEAD = 16 };

/* Their hashes, ascending; NULL: there is no memory. */
static uint64_t *aqf_sorted(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hashes = tamis__scratch_new(f, (uint64_t)n * sizeof *hashes);

    for (size_t i = 0; i < n && hashes; i++)
        hashes[i] = hash_key(keys[i], f->salt);
    if (hashes)
        tamis__sort(hashes, n);
    return hashes;
}

/* To an empty filter, in one pass. What does not fit leaves it empty. */
static tamis_status aqf_fill(tamis *f, const uint64_t *hashes, size_t n)
{
    tamis_writer w = { .f = f };
    tamis_status status = TAMIS_OK;

    for (size_t i = 0, copies; i < n && !status; i += copies) {
        for (copies = 1; i + copies < n && hashes[i + copies] == hashes[i];)
            copies++;
        status = aqf_append(&w, hashes[i], copies);
    }
    (void)aqf_append(&w, 0, 0);
    if (status) {
        memset(f->payload, 0, (size_t)f->plan.bytes);
        f->count = 0;
    }
    return status;
}

static tamis_status aqf_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    bool pays = f->count == 0 && n >= LEAST_SORTED && n >= f->plan.slots / SLOTS_A_KEY;
    uint64_t *hashes = pays ? aqf_sorted(f, keys, n) : NULL;
    tamis_status status = hashes ? aqf_fill(f, hashes, n) : TAMIS_FULL;

    if (hashes)
        tamis__scratch_free(f, hashes, n * sizeof *hashes);
    for (*added = status ? 0 : n, status = TAMIS_OK; *added < n; ++*added) {
        if (n - *added > AHEAD)
            f->ops.touch(f, keys[*added + AHEAD]);
        status = f->ops.add(f, keys[*added], 1);
        if (status)
            break;
    }
    return status;
}

/* From the highest hash on, so that each finds in the cache what the one before has left there. */
static size_t aqf_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hashes = n >= LEAST_SORTED ? aqf_sorted(f, keys, n) : NULL;
    size_t removed = 0;

    for (size_t i = n; i-- > 0;)
        removed += !f->ops.remove(f, hashes ? unhash_key(hashes[i], f->salt) : keys[i], 1);
    if (hashes)
        tamis__scratch_free(f, hashes, n * sizeof *hashes);
    return removed;
}

/* ---- The whole filter -------------------------------------------------- */

/* Without what was extended to take back false positives: all keys into an empty filter. */
static tamis_status aqf_unadapt(tamis *f)
{
    tamis_cursor c = { .f = f };
    tamis_writer w = { 0 };
    tamis_status status = tamis_new(&w.f, &f->plan, &f->alloc);

    if (status)
        return status;
    while (!status && aqf_next(&c))
        status = aqf_append(&w, c.fingerprint, c.count);
    (void)aqf_append(&w, 0, 0);
    status = status ? status : c.status;
    if (!status)
        memcpy(f->payload, w.f->payload, (size_t)f->plan.bytes);
    tamis_free(w.f);
    return status;
}

static void aqf_measure(const tamis *f, tamis_info *info)
{
    shards s = shards_of(f);
    double items = 0, used = 0, rate = 0, chunks = 0;

    for (uint64_t i = 0; i < UINT64_C(1) << s.bits; i++) {
        aqf_shard shard = aqf_shard_at(&s, i);
        aqf_walk w = { .shard = shard, .run = { .t = shard.t } };
        for (; aqf_walk_on(&w); items++) {
            info->adaptations += aqf_adapted(&w) > 0;
            chunks += aqf_adapted(&w);
            rate += ldexp(1, -(int)(w.item.chunks * shard.chunk));
        }
        used += (double)runs_used(shard.t);
    }
    info->fill = used / (double)f->plan.slots;
    info->cardinality = items;
    info->fpr = fmin(rate / (double)s.fingerprints, 1);
    info->adapted_bits = chunks * 8 * runs_stride(s.width + 1) / BLOCK / fmax(items, 1);
}

/* ---- Whether it is whole ----------------------------------------------- */

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

static const char *aqf_verify(const tamis *f)
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

/* ---- The table --------------------------------------------------------- */

static void aqf_for_cpu(tamis *f, unsigned cpu)
{
    const tamis_plan *p = &f->plan;

    tamis__shards_derive(f, p->width + 1, tamis__shards_room(p, &AQF_RULE), aqf_keeps_keys(p));
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__aqf_use_avx2(&f->ops);
#endif
    (void)cpu;
}

const tamis_ops tamis__aqf = {
    .traits = TAMIS_TRAIT_CAN_GROW | TAMIS_TRAIT_KEEPS_LOAD | TAMIS_TRAIT_CAN_ASK_KEYS |
              TAMIS_TRAIT_WHOLE_HASHES | TAMIS_TRAIT_QUOTIENT_BITS | TAMIS_TRAIT_TAG_BITS,
    .plan = aqf_plan,
    .bytes = aqf_bytes,
    .rate = aqf_rate,
    .resize = aqf_resize,
    .for_cpu = aqf_for_cpu,
    .verify = aqf_verify,
    .measure = aqf_measure,
    .has = aqf_has,
    .count = aqf_count,
    .add = aqf_add,
    .remove = aqf_remove,
    .touch = aqf_touch,
    .has_many = aqf_has_many,
    .add_many = aqf_add_many,
    .remove_many = aqf_remove_many,
    .next = aqf_next,
    .append = aqf_append,
    .room = aqf_room,
    .locate = aqf_locate,
    .adapt = aqf_adapt,
    .unadapt = aqf_unadapt,
    .cells = tamis__aqf_cells,
    .explain = tamis__aqf_explain,
};
