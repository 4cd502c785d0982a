/* aqf.h - the geometry of adaptive quotient filters, and items in a run.
 *
 * Of a hash h, the quotient and the remainder are the high half of h * (slots << width), and its
 * low half, the tail, is what an item can be extended by:
 *
 *   |  quotient  | remainder |  chunk 0  |  chunk 1  |  chunk 2  | ...
 *   |     fingerprint        |               tail, 64 bits
 *
 * Slots are one bit wider than a remainder. The low bit of the first slot of an item is 0; slots
 * that go on with it have a 1 there, then a bit that tells chunks from digits of the count:
 *
 *   remainder | 0      chunk | 0 | 1   ...      digit | 1 | 1   ...
 *
 * A chunk has one bit less than a remainder, and so has a digit. Digits are those of the count
 * minus one, from the lowest on, and none of them if that is 0.
 *
 * No item of a run is the beginning of another: with the key of each at hand, two keys that share a
 * fingerprint are both extended up to the first chunk in which they differ. So a hash begins with
 * one item of a filter at most, and the one that its key was added to is it.
 *
 * An item that was extended to take back a false positive has at least one chunk more than it takes
 * to tell it from its neighbours: so it is known, and kept in other sizes and in unions. */
#ifndef TAMIS_QUOTIENT_AQF_H
#define TAMIS_QUOTIENT_AQF_H

#include "quotient/shards.h"

/* ---- Geometry ---------------------------------------------------------- */

/* One shard: the table and, one for each slot, the hash of the key whose item starts there. */
typedef struct aqf_shard {
    runs_table t;
    uint8_t *hashes; /* NULL: they are elsewhere */
    unsigned chunk;  /* bits of one */
} aqf_shard;

static inline aqf_shard aqf_shard_at(const shards *s, uint64_t i)
{
    uint8_t *hashes = s->beside ? s->at + i * s->bytes + s->beside : NULL;

    return (aqf_shard){ shards_table(s, i), hashes, s->width - 1 };
}

/* Where a hash goes. */
typedef struct aqf_position {
    aqf_shard shard;
    uint64_t quotient, tail;
    uint32_t remainder;
} aqf_position;

static inline aqf_position aqf_position_of(const shards *s, uint64_t hash)
{
    shards_position p = shards_position_of(s, hash);

    return (aqf_position){ aqf_shard_at(s, shards_number(s, hash)), p.quotient,
                           hash * s->fingerprints, p.remainder };
}

/* ---- Slots ------------------------------------------------------------- */

enum { AQF_MORE = 1, AQF_DIGIT = 2 };

/* Of one bit, the least there is: 64 chunks of a tail, and as many digits of a count. */
enum { AQF_CHUNKS = 64, AQF_SLOTS = 1 + 2 * 64 };

/* Chunk i of a tail; what is beyond it is 0. */
static inline uint32_t aqf_chunk(uint64_t tail, unsigned i, unsigned bits)
{
    return i * bits < 64 ? (uint32_t)(tail << i * bits >> (64 - bits)) : 0;
}

/* Chunks of a whole tail. */
static inline unsigned aqf_most_chunks(unsigned bits)
{
    return (64 + bits - 1) / bits;
}

/* Chunks of two different tails up to the first that differs. */
static inline unsigned aqf_chunks_to_differ(uint64_t a, uint64_t b, unsigned bits)
{
    return (unsigned)__builtin_clzll(a ^ b) / bits + 1;
}

/* The slots of an item. Returns how many, at most AQF_SLOTS. */
static inline unsigned aqf_write(uint32_t *slots, uint32_t remainder, uint64_t tail,
                                 unsigned chunks, uint64_t count, unsigned bits)
{
    unsigned n = 0;

    slots[n++] = remainder << 1;
    for (unsigned i = 0; i < chunks; i++)
        slots[n++] = aqf_chunk(tail, i, bits) << 2 | AQF_MORE;
    for (uint64_t v = count - 1; v; v >>= bits)
        slots[n++] = ((uint32_t)v & packed_mask(bits)) << 2 | AQF_DIGIT | AQF_MORE;
    return n;
}

/* Slots of digits. */
static inline unsigned aqf_digits(uint64_t count, unsigned bits)
{
    unsigned n = 0;

    for (uint64_t v = count - 1; v; v >>= bits)
        n++;
    return n;
}

static inline unsigned aqf_larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* ---- Items ------------------------------------------------------------- */

/* A remainder, what it is extended by, and the count: the item in slots at .. at + slots - 1. */
typedef struct aqf_item {
    uint64_t at, count;
    unsigned slots, chunks; /* no slots: it is not there, and belongs here */
    uint32_t remainder;
} aqf_item;

static inline bool aqf_is_digit(uint32_t slot)
{
    return slot & AQF_DIGIT;
}

/* The digits from slot i on, up to `end`: in what is no count, what does not fit is dropped. */
static inline unsigned aqf_read_count(const aqf_shard *s, uint64_t i, uint64_t end, uint64_t *count)
{
    unsigned n = 0;
    uint64_t v = 0;

    for (; i + n < end && n < AQF_CHUNKS; n++) {
        uint32_t slot = runs_slot(s->t, i + n);
        if (!(slot & AQF_MORE) || !aqf_is_digit(slot))
            break;
        v |= n * s->chunk < 64 ? (uint64_t)(slot >> 2) << n * s->chunk : 0;
    }
    *count = v < UINT64_MAX ? v + 1 : v;
    return n;
}

/* The remainder in the first slot of an item; of a slot that starts none, more than any. */
static inline uint32_t aqf_remainder(uint32_t slot)
{
    return slot & AQF_MORE ? UINT32_MAX : slot >> 1;
}

/* The item that starts in slot i of a run that ends before slot `end`. Most are one slot. */
__attribute__((always_inline)) static inline aqf_item aqf_read(const aqf_shard *s, uint64_t i,
                                                               uint64_t end)
{
    aqf_item e = {
        .at = i, .count = 1, .slots = 1, .remainder = aqf_remainder(runs_slot(s->t, i))
    };

    for (; i + e.slots < end && e.chunks < AQF_CHUNKS; e.chunks++, e.slots++) {
        uint32_t slot = runs_slot(s->t, i + e.slots);
        if (!(slot & AQF_MORE))
            return e;
        if (aqf_is_digit(slot))
            break;
    }
    if (i + e.slots < end)
        e.slots += aqf_read_count(s, i + e.slots, end, &e.count);
    return e;
}

/* Below 0, 0 or above: what the item is extended by is less than the tail, its beginning, or more;
 * *chunk is the first that differs. */
static inline int aqf_compare(const aqf_shard *s, const aqf_item *e, uint64_t tail, unsigned *chunk)
{
    for (*chunk = 0; *chunk < e->chunks; ++*chunk) {
        uint32_t there = runs_slot(s->t, e->at + 1 + *chunk) >> 2;
        uint32_t wanted = aqf_chunk(tail, *chunk, s->chunk);
        if (there != wanted)
            return there < wanted ? -1 : 1;
    }
    return 0;
}

/* Where a hash is in its run, or belongs: of its item `apart` is the number of chunks; of a new
 * one, the number that no other item of the run begins with. */
typedef struct aqf_found {
    runs_run run;
    aqf_item item;
    unsigned apart;
} aqf_found;

__attribute__((always_inline)) static inline aqf_found aqf_find(const aqf_position *p)
{
    aqf_found f = { .run = runs_find(p->shard.t, p->quotient) };
    uint64_t i = f.run.start;

    while (i < f.run.end) {
        aqf_item e = aqf_read(&p->shard, i, f.run.end);
        unsigned chunk;
        if (e.remainder > p->remainder)
            break;
        if (e.remainder == p->remainder) {
            int order = aqf_compare(&p->shard, &e, p->tail, &chunk);
            f.apart = order && chunk + 1 > f.apart ? chunk + 1 : f.apart;
            if (order == 0) {
                f.item = e;
                f.apart = e.chunks;
                return f;
            }
            if (order > 0)
                break;
        }
        i += e.slots;
    }
    f.item.at = i;
    return f;
}

/* ---- Item by item ------------------------------------------------------ */

/* The chunks of an item, as the first bits of a tail. */
static inline uint64_t aqf_beginning(const aqf_shard *s, const aqf_item *e)
{
    uint64_t tail = 0;

    for (unsigned i = 0; i < e->chunks && i * s->chunk < 64; i++) {
        uint64_t chunk = runs_slot(s->t, e->at + 1 + i) >> 2;
        tail |= chunk << (64 - s->chunk) >> i * s->chunk;
    }
    return tail;
}

/* Chunks that it takes to tell two items apart, if they share a fingerprint. */
static inline unsigned aqf_chunks_apart(const aqf_shard *s, const aqf_item *a, const aqf_item *b)
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
static inline bool aqf_walk_on(aqf_walk *w)
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
        w->needs = aqf_chunks_apart(&w->shard, &w->item, &next);
    }
    return true;
}

/* Chunks beyond those that tell it from its neighbours: they took back false positives. */
static inline unsigned aqf_learned(const aqf_walk *w)
{
    unsigned needs = w->needs > w->before ? w->needs : w->before;

    return w->item.chunks > needs ? w->item.chunks - needs : 0;
}

/* ---- Hashes ------------------------------------------------------------ */

static inline uint8_t *aqf_hash_at(const aqf_shard *s, uint64_t i)
{
    return s->hashes + 8 * (i < s->t.slots ? i : i - s->t.slots);
}

/* Hashes of slots i .. gap - 1 move up by one. */
static inline void aqf_hashes_up(const aqf_shard *s, uint64_t i, uint64_t gap)
{
    if (gap < s->t.slots || i >= s->t.slots)
        memmove(aqf_hash_at(s, i) + 8, aqf_hash_at(s, i), (size_t)(8 * (gap - i)));
    else
        for (uint64_t k = gap; k > i; k--)
            memcpy(aqf_hash_at(s, k), aqf_hash_at(s, k - 1), 8);
}

/* Those of slots i + 1 .. edge - 1 move down by one. */
static inline void aqf_hashes_down(const aqf_shard *s, uint64_t i, uint64_t edge)
{
    if (edge <= s->t.slots || i >= s->t.slots)
        memmove(aqf_hash_at(s, i), aqf_hash_at(s, i) + 8, (size_t)(8 * (edge - 1 - i)));
    else
        for (uint64_t k = i; k + 1 < edge; k++)
            memcpy(aqf_hash_at(s, k), aqf_hash_at(s, k + 1), 8);
    put_le64(aqf_hash_at(s, edge - 1), 0);
}

/* ---- Changes ----------------------------------------------------------- */

/* As runs_open_slot() and runs_close_slot(), with the hashes. */
static inline void aqf_open(const aqf_shard *s, uint64_t q, runs_run *r, uint64_t i)
{
    if (s->hashes)
        aqf_hashes_up(s, i, runs_find_gap(s->t, i));
    runs_open_slot(s->t, q, r, i);
    if (s->hashes)
        put_le64(aqf_hash_at(s, i), 0);
}

static inline void aqf_close(const aqf_shard *s, uint64_t q, runs_run *r, uint64_t i)
{
    if (s->hashes)
        aqf_hashes_down(s, i, runs_find_edge(s->t, i + 1));
    runs_close_slot(s->t, q, r, i);
}

/* An item gets these n slots instead of those that it has; if there are any, it has this hash. */
static inline void aqf_replace(const aqf_position *p, runs_run *r, const aqf_item *e,
                               const uint32_t *slots, unsigned n, uint64_t hash)
{
    for (unsigned i = e->slots; i < n; i++)
        aqf_open(&p->shard, p->quotient, r, e->at + i);
    for (unsigned i = e->slots; i > n; i--)
        aqf_close(&p->shard, p->quotient, r, e->at + i - 1);
    for (unsigned i = 0; i < n; i++)
        runs_put_slot(p->shard.t, e->at + i, slots[i]);
    if (n && p->shard.hashes)
        put_le64(aqf_hash_at(&p->shard, e->at), hash);
}

/* An item gets so many chunks of this hash, and this count; 0: it goes. */
static inline tamis_status aqf_put(const tamis *f, const aqf_position *p, aqf_found *at,
                                   uint64_t hash, unsigned chunks, uint64_t count)
{
    shards s = shards_of(f);
    uint32_t slots[AQF_SLOTS];
    uint64_t used = runs_used(p->shard.t);
    unsigned n = 0;

    if (count)
        n = aqf_write(slots, p->remainder, hash * s.fingerprints, chunks, count, p->shard.chunk);
    if (n > at->item.slots && used + n > s.room + at->item.slots)
        return TAMIS_FULL;
    aqf_replace(p, &at->run, &at->item, slots, n, hash);
    runs_put_used(p->shard.t, used + n - at->item.slots);
    return TAMIS_OK;
}

/* The hash of the key of an item; p: the place of `hash`. *is_other: it is not `hash`. A filter
 * that asks for its keys prefers another one. TAMIS_ABSENT: there is no key of that item.
 * TAMIS_CANNOT: there is nobody to ask. */
tamis_status tamis__aqf_key_of(const tamis *f, const aqf_position *p, const aqf_item *e,
                               uint64_t hash, uint64_t *of, bool *is_other);

/* Extends the neighbours of a new hash as far as they need it (aqf_add.c); TAMIS_FULL, and no
 * change, if these and the new item do not all fit. */
tamis_status tamis__aqf_separate_neighbours(tamis *f, const aqf_position *p, const aqf_found *at,
                                            uint64_t hash, uint64_t times);

/* ---- Functions of the table -------------------------------------------- */

/* In aqf_order.c. */
bool tamis__aqf_next(tamis_cursor *c);
tamis_status tamis__aqf_append(tamis_writer *w, uint64_t hash, uint64_t count);
tamis_room tamis__aqf_room(const tamis *f, uint64_t range, uint64_t copies);
tamis_status tamis__aqf_forget(tamis *f);
tamis_status tamis__aqf_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n);
size_t tamis__aqf_remove_many(tamis *f, const uint64_t *keys, size_t n);
/* In aqf_check.c. */
const char *tamis__aqf_verify(const tamis *f);
void tamis__aqf_measure(const tamis *f, tamis_info *info);
/* In files of their own. */
void tamis__aqf_use_avx2(tamis_ops *ops);
void tamis__aqf_cells(const tamis *f, tamis_telling *to);
bool tamis__aqf_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
