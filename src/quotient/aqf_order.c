/* aqf_order.c - aqf read and written in order of hashes, and many keys at once. */
#include "base/sort.h"
#include "quotient/aqf.h"

/* ---- Reading ----------------------------------------------------------- */

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

/* Whole ones; between sizes of one filter they differ as the fingerprints do. */
static unsigned aqf_fingerprint_bits(const shards *s)
{
    return word_highest(s->fingerprints);
}

/* at[]: the shard, where it is in there, and the chunks that tell the item from the next. */
bool tamis__aqf_next(tamis_cursor *c)
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
        c->bits = aqf_learned(&w) ? c->told : 0;
        c->status = aqf_hash_of(c->f, &w, c->at[0], &c->fingerprint);
        return c->status == TAMIS_OK;
    }
    return false;
}

/* ---- Writing ----------------------------------------------------------- */

/* at[]: the shard, where the runs_writer of it is, and the item that waits for its neighbour: its
 * hash, count, chunks, and 1 if it has learned. */
enum { AQF_WAITS_HASH = 4, AQF_WAITS_COUNT, AQF_WAITS_CHUNKS, AQF_WAITS_ADAPTED };

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
    uint64_t hash = w->at[AQF_WAITS_HASH], count = w->at[AQF_WAITS_COUNT];
    aqf_position p = aqf_position_of(s, hash);
    uint32_t slots[AQF_SLOTS];
    runs_writer to = shards_writer(w, s);
    unsigned n = aqf_write(slots, p.remainder, p.tail, (unsigned)w->at[AQF_WAITS_CHUNKS], count,
                           p.shard.chunk);

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
static unsigned aqf_separate_from_next(tamis_writer *w, const shards *s, uint64_t hash)
{
    uint64_t before = w->at[AQF_WAITS_HASH];

    if (scale64(before, s->fingerprints) != scale64(hash, s->fingerprints))
        return 0;
    unsigned apart =
        aqf_chunks_to_differ(before * s->fingerprints, hash * s->fingerprints, s->width - 1);
    w->at[AQF_WAITS_CHUNKS] =
        aqf_larger((unsigned)w->at[AQF_WAITS_CHUNKS], apart + (unsigned)w->at[AQF_WAITS_ADAPTED]);
    return apart;
}

/* Chunks that keep every hash bit that the source had, so that a false positive that was excluded
 * there stays excluded. Part of a chunk becomes a whole one in each new size, and there are no more
 * than those of a tail. */
static unsigned aqf_known_chunks(const tamis_writer *w, const shards *s)
{
    unsigned known = aqf_fingerprint_bits(s), most = aqf_most_chunks(s->width - 1);
    unsigned bits = aqf_larger(w->bits, w->told);
    unsigned chunks = bits > known ? (bits - known + s->width - 2) / (s->width - 1) : 0;

    return chunks < most ? chunks : most;
}

tamis_status tamis__aqf_append(tamis_writer *w, uint64_t hash, uint64_t count)
{
    shards s = shards_of(w->f);
    uint64_t shard = shards_number(&s, hash);
    bool waits = w->at[AQF_WAITS_COUNT];
    unsigned apart = waits && count ? aqf_separate_from_next(w, &s, hash) : 0;
    bool is_adapted = count && w->bits;
    unsigned chunks = aqf_larger(aqf_known_chunks(w, &s), apart + is_adapted);
    tamis_status status = waits ? aqf_write_down(w, &s) : TAMIS_OK;

    w->at[AQF_WAITS_COUNT] = 0;
    if (count == 0 || shard != w->at[0])
        shards_end_writer(w, &s, shard);
    if (status || count == 0)
        return status;
    if (!aqf_may_wait(w, &s, chunks, count))
        return TAMIS_FULL;
    w->at[AQF_WAITS_HASH] = hash;
    w->at[AQF_WAITS_COUNT] = count;
    w->at[AQF_WAITS_CHUNKS] = chunks;
    w->at[AQF_WAITS_ADAPTED] = is_adapted;
    return TAMIS_OK;
}

/* Of the least width, a digit is a bit. */
tamis_room tamis__aqf_room(const tamis *f, uint64_t range, uint64_t copies)
{
    unsigned digits = copies ? aqf_digits(copies, f->plan.width - 1) : 0;

    return tamis__shards_room_in(f, range, 1 + digits);
}

/* Without what was extended to take back false positives: all keys into an empty filter. */
tamis_status tamis__aqf_forget(tamis *f)
{
    tamis_cursor c = { .f = f };
    tamis_writer w = { 0 };
    tamis_status status = tamis_new(&w.f, &f->plan, &f->alloc);

    if (status)
        return status;
    while (!status && tamis__aqf_next(&c))
        status = tamis__aqf_append(&w, c.fingerprint, c.count);
    (void)tamis__aqf_append(&w, 0, 0);
    status = status ? status : c.status;
    if (!status)
        memcpy(f->payload, w.f->payload, (size_t)f->plan.bytes);
    tamis_free(w.f);
    return status;
}

/* ---- Many keys --------------------------------------------------------- */

enum { AQF_LEAST_SORTED = 64, AQF_SLOTS_A_KEY = 16, AQF_AHEAD = 16 };

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
        status = tamis__aqf_append(&w, hashes[i], copies);
    }
    (void)tamis__aqf_append(&w, 0, 0);
    if (status) {
        memset(f->payload, 0, (size_t)f->plan.bytes);
        f->count = 0;
    }
    return status;
}

tamis_status tamis__aqf_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    bool pays = f->count == 0 && n >= AQF_LEAST_SORTED && n >= f->plan.slots / AQF_SLOTS_A_KEY;
    uint64_t *hashes = pays ? aqf_sorted(f, keys, n) : NULL;
    tamis_status status = hashes ? aqf_fill(f, hashes, n) : TAMIS_FULL;

    if (hashes)
        tamis__scratch_free(f, hashes, n * sizeof *hashes);
    for (*added = status ? 0 : n, status = TAMIS_OK; *added < n; ++*added) {
        if (n - *added > AQF_AHEAD)
            f->ops.touch(f, keys[*added + AQF_AHEAD]);
        status = f->ops.add(f, keys[*added], 1);
        if (status)
            break;
    }
    return status;
}

/* From the highest hash on, so that each finds in the cache what the one before has left there. */
size_t tamis__aqf_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hashes = n >= AQF_LEAST_SORTED ? aqf_sorted(f, keys, n) : NULL;
    size_t removed = 0;

    for (size_t i = n; i-- > 0;)
        removed += !f->ops.remove(f, hashes ? unhash_key(hashes[i], f->salt) : keys[i], 1);
    if (hashes)
        tamis__scratch_free(f, hashes, n * sizeof *hashes);
    return removed;
}
