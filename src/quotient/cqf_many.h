/* cqf_many.h - lookups and changes of many keys, a template for the kernels: what instructions they
 * are made of is up to the options of the file that includes it.
 *
 * Adds that are many beside the table are sorted, and merged with what it holds in one pass over
 * both that moves nothing. Removes are sorted too, and taken out from the highest on, so that each
 * finds in the cache what the one before has left there. Few of either go key by key, a group of
 * blocks ahead of the next. */
#include <sched.h>

#include "base/many.h"
#include "base/radix.h"
#include "base/sort.h"
#include "quotient/cqf.h"
#include "quotient/narrow.h"

/* ---- Lookups ----------------------------------------------------------- */

static bool has(const tamis *f, uint64_t key)
{
    shards s = shards_of(f);
    spot at = spot_of(&s, hash_key(key, s.salt));
    table t = table_of(&s, at.shard);

    return count_in(&t, at.quotient, at.remainder) != 0;
}

__attribute__((always_inline)) static inline void fetch_block(const uint8_t *b, unsigned j,
                                                              unsigned width)
{
    __builtin_prefetch(b, 0, 3);
    __builtin_prefetch(b + OFFSET, 0, 3);
    __builtin_prefetch(b + SLOTS + (j * width + 32) / 8, 0, 3);
}

__attribute__((always_inline)) static inline void fetch_spot(const shards *s, uint64_t h)
{
    spot at = spot_of(s, h);
    table t = table_of(s, at.shard);

    fetch_block(t.at + at.quotient / BLOCK * t.stride, at.quotient % BLOCK, s->width);
}

/* Keys on their way: the block of each, and which slot and remainder in it. */
typedef struct places {
    const uint8_t *block[MANY];
    uint32_t remainder[MANY];
    uint8_t slot[MANY];
    size_t n;
} places;

/* Blocks follow each other evenly but for what is between the last of a shard and the first of the
 * next. */
static inline void place_group(places *g, const shards *s, const uint64_t *keys, size_t from,
                               size_t n)
{
    uint64_t stride = SLOTS + 8 * s->width, between = s->bytes - s->slots / BLOCK * stride;
    uint32_t mask = packed_mask(s->width);

    g->n = many_group(from, n);
    for (size_t i = 0; i < g->n; i++) {
        uint64_t h = hash_key(keys[from + i], s->salt), print = scale64(h, s->prints);
        uint64_t q = print >> s->width, shard = s->bits ? h >> (64 - s->bits) : 0;
        g->block[i] = s->at + SHARD_HEADER + q / BLOCK * stride + shard * between;
        g->slot[i] = q % BLOCK;
        g->remainder[i] = (uint32_t)print & mask;
    }
}

static inline bool look(const places *g, const shards *s, const lanes *l, size_t i,
                        const uint64_t *keys)
{
    int seen = look_in(l, g->block[i], g->slot[i], g->remainder[i], s->width);

    if (seen >= 0)
        return seen;
    spot at = spot_of(s, hash_key(keys[i], s->salt));
    table t = table_of(s, at.shard);
    return count_in(&t, at.quotient, at.remainder) != 0;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const shards s = shards_of(f);
    const lanes l = lanes_of(s.width);
    places groups[2];
    size_t found = 0;

    place_group(&groups[0], &s, keys, 0, n);
    for (size_t i = 0; i < groups[0].n; i++)
        fetch_block(groups[0].block[i], groups[0].slot[i], s.width);
    for (size_t from = 0; from < n; from += MANY) {
        const places *now = &groups[from / MANY % 2];
        places *next = &groups[from / MANY % 2 ^ 1];
        uint64_t word = 0;
        place_group(next, &s, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            if (i < next->n)
                fetch_block(next->block[i], next->slot[i], s.width);
            word |= (uint64_t)look(now, &s, &l, i, keys + from) << i;
        }
        hits[from / MANY] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

/* ---- One after the other ----------------------------------------------- */

/* The hashes of the keys from `from` on, MANY at most, whose blocks are on their way. */
static inline void fetch_group(uint64_t *hashes, const shards *s, const uint64_t *keys, size_t from,
                               size_t n)
{
    for (size_t i = 0; i < many_group(from, n); i++) {
        hashes[i] = hash_key(keys[from + i], s->salt);
        fetch_spot(s, hashes[i]);
    }
}

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    shards s = shards_of(f);
    uint64_t hashes[MANY];

    for (size_t i = 0; i < n; i++) {
        if (i % MANY == 0)
            fetch_group(hashes, &s, keys, i, n);
        spot at = spot_of(&s, hashes[i % MANY]);
        table t = table_of(&s, at.shard);
        counts[i] = count_in(&t, at.quotient, at.remainder);
    }
}

static tamis_status add_each(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    shards s = shards_of(f);
    uint64_t hashes[MANY];
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n; ++*added) {
        if (*added % MANY == 0)
            fetch_group(hashes, &s, keys, *added, n);
        spot at = spot_of(&s, hashes[*added % MANY]);
        table t = table_of(&s, at.shard);
        status = add_one_in(shard_at(&s, at.shard), &t, s.room, at.quotient, at.remainder);
        if (status)
            break;
    }
    f->count += *added;
    return status;
}

static size_t remove_each(tamis *f, const uint64_t *keys, size_t n)
{
    shards s = shards_of(f);
    uint64_t hashes[MANY];
    size_t removed = 0;

    for (size_t i = 0; i < n; i++) {
        if (i % MANY == 0)
            fetch_group(hashes, &s, keys, i, n);
        spot at = spot_of(&s, hashes[i % MANY]);
        table t = table_of(&s, at.shard);
        removed += !remove_in(shard_at(&s, at.shard), &t, at.quotient, at.remainder, 1);
    }
    f->count -= removed;
    return removed;
}

/* ---- Sorted fingerprints ----------------------------------------------- */

/* Dealt out to groups by leading bits, hashes are few enough to be sorted in the first level of the
 * cache; groups one after the other are sorted as a whole. */
enum { GROUP_KEYS = 1 << 12, GROUP_MOST_BITS = 11 };

typedef struct deck {
    shards s;
    unsigned bits;    /* there are 2^bits groups */
    uint64_t range;   /* how many fingerprints may be in each */
    bool is_narrow;   /* such a number fits in 32 bits, as does that of the keys */
    uint64_t *hashes; /* of the keys, group by group; or what they are above the least of those */
    size_t *starts;   /* of groups, and the end */
    size_t *counts;   /* of shards */
    uint8_t *old;     /* for a copy of a shard */
    void *scratch, *block;
    size_t bytes;
} deck;

/* No fingerprint is in two groups. */
static inline unsigned deck_bits(size_t n, uint64_t prints)
{
    unsigned bits = 0;

    while (bits < GROUP_MOST_BITS && n >> bits > GROUP_KEYS && !(prints >> bits & 1))
        bits++;
    return bits;
}

/* Counts are taken in as many classes as there are shards or groups, whichever are more. */
static void count_keys(deck *d, const uint64_t *keys, size_t n)
{
    unsigned fine = d->s.bits > d->bits ? d->s.bits : d->bits;
    size_t classes = (size_t)1 << fine, *by_class = d->scratch;
    radix r = { 0, fine, false, d->s.salt };

    memset(by_class, 0, classes * sizeof *by_class);
    memset(d->counts, 0, sizeof *d->counts << d->s.bits);
    memset(d->starts, 0, sizeof *d->starts << d->bits);
    tamis__radix_count(by_class, &r, keys, n);
    for (size_t i = 0; i < classes; i++) {
        d->counts[i >> (fine - d->s.bits)] += by_class[i];
        d->starts[i >> (fine - d->bits)] += by_class[i];
    }
}

/* Half of the memory is for them, the other one to sort with, as much as the largest group needs.
 */
static inline uint32_t *narrow_prints(const deck *d)
{
    return (uint32_t *)(void *)d->hashes;
}

static void deal_narrow(const deck *d, size_t *ends, const uint64_t *keys, size_t n)
{
    uint64_t salt = d->s.salt, prints = d->s.prints, range = d->range;
    uint32_t *out = narrow_prints(d);
    unsigned shift = (64 - d->bits) % 64;
    uint64_t mask = d->bits ? UINT64_MAX : 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], salt), group = (h & mask) >> shift;
        out[ends[group]++] = (uint32_t)(scale64(h, prints) - group * range);
    }
}

static void deal_keys(deck *d, const uint64_t *keys, size_t n)
{
    size_t groups = (size_t)1 << d->bits, at = 0;
    radix r = { 0, d->bits, false, d->s.salt };

    for (size_t i = 0; i < groups; i++) {
        size_t here = d->starts[i];
        d->starts[i] = at;
        at += here;
    }
    if (d->is_narrow)
        deal_narrow(d, d->starts, keys, n);
    else
        tamis__radix_deal(d->hashes, d->starts, &r, keys, n);
    memmove(d->starts + 1, d->starts, groups * sizeof *d->starts);
    d->starts[0] = 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool deck_new(deck *d, const tamis *f, size_t n)
{
    shards s = shards_of(f);
    unsigned bits = deck_bits(n, s.prints);
    size_t scratch = sizeof(size_t) << larger(bits, s.bits);
    size_t tables = ((size_t)1 << s.bits) + ((size_t)1 << bits) + 1;
    /* In pieces of whole lines, the shard after those that need be. */
    size_t lines = round_up(n * 8, 64) + round_up(scratch, 64) + round_up(tables * 8, 64);

    *d = (deck){ .s = s,
                 .bits = bits,
                 .range = s.prints >> bits,
                 .is_narrow = !(s.prints >> bits >> 32 || (uint64_t)n >> 32),
                 .bytes = lines + s.bytes + 64 };
    d->block = tamis__scratch_new(f, d->bytes);
    if (!d->block)
        return false;
    uint8_t *at = (uint8_t *)d->block + (-(uintptr_t)d->block & 63);
    d->hashes = (uint64_t *)(void *)at;
    d->scratch = at + round_up(n * 8, 64);
    d->counts = (size_t *)(void *)((uint8_t *)d->scratch + round_up(scratch, 64));
    d->starts = d->counts + ((size_t)1 << s.bits);
    d->old = at + lines;
    return true;
}

/* The fingerprints of a group, ascending: as numbers above the lowest, or as hashes. */
typedef struct hand {
    const uint32_t *narrow; /* NULL: there are hashes */
    const uint64_t *hashes;
    size_t n;
    uint64_t prints, least;
} hand;

static inline uint64_t print_of(const hand *h, size_t i)
{
    return h->narrow ? h->least + h->narrow[i] : scale64(h->hashes[i], h->prints);
}

static hand sort_group(const deck *d, size_t group)
{
    size_t first = d->starts[group], n = d->starts[group + 1] - first;
    hand h = { .n = n, .prints = d->s.prints, .least = d->range * group };

    if (d->is_narrow) {
        uint32_t *x = narrow_prints(d), *y = x + d->starts[(size_t)1 << d->bits];
        h.narrow = sort_narrow(x + first, y, n, d->range);
    } else {
        tamis__sort(d->hashes + first, n);
        h.hashes = d->hashes + first;
    }
    return h;
}

/* ---- All at once ------------------------------------------------------- */

/* Sorted fingerprints are merged into the shards, one after the other. */
typedef struct merger {
    const deck *d;
    uint64_t least, beyond; /* fingerprints of the shard that is open */
    uint8_t *shard;
    walk old; /* what it held */
    bool is_old_over;
    track to;
    uint64_t used;
} merger;

static void emit_code(merger *m, uint64_t print, uint64_t count)
{
    uint32_t code[COUNTER_MOST];
    unsigned width = m->to.t.width;
    unsigned n = counter_put(code, (uint32_t)print & packed_mask(width), count, width);

    track_put(&m->to, print >> width, code, n);
    m->used += n;
}

static inline void emit(merger *m, uint64_t print, uint64_t count)
{
    uint64_t q = print >> m->to.t.width;

    if (count == 1 && track_fits(&m->to, q, 1)) {
        track_slot(&m->to, q, (uint32_t)print & packed_mask(m->to.t.width));
        m->used++;
        return;
    }
    merger copy = *m;
    emit_code(&copy, print, count);
    *m = copy;
}

static inline uint64_t old_print(const merger *m)
{
    return (m->old.after - 1) << m->to.t.width | m->old.remainder;
}

static inline void pass_on_old(merger *m)
{
    emit(m, old_print(m), m->old.count);
    m->is_old_over = !walk_on(&m->old);
}

static void close_shard(merger *state)
{
    merger m = *state;

    if (!m.shard)
        return;
    while (!m.is_old_over)
        pass_on_old(&m);
    *state = m;
    track_end(&state->to);
    put_le64(state->shard, state->used);
}

/* What it holds is set aside, and it starts empty. */
static void open_shard(merger *m, uint64_t print)
{
    const shards *s = &m->d->s;
    uint64_t prints = s->slots << s->width, i = print / prints;

    close_shard(m);
    m->shard = shard_at(s, i);
    m->least = i * prints;
    m->beyond = m->least + prints;
    m->is_old_over = used_of(m->shard) == 0;
    m->used = 0;
    if (!m->is_old_over) {
        memcpy(m->d->old, m->shard, s->bytes);
        memset(m->shard, 0, s->bytes);
        m->old = (walk){ .t = table_at(m->d->old + SHARD_HEADER, s->slots, s->width) };
        m->is_old_over = !walk_on(&m->old);
    }
    m->to = track_of(table_of(s, i), 0, 0, false);
}

static inline void merge_print(merger *m, uint64_t print, uint64_t times)
{
    while (!m->is_old_over && old_print(m) < print)
        pass_on_old(m);
    uint64_t held = !m->is_old_over && old_print(m) == print ? m->old.count : 0;

    emit(m, print, held + times);
    if (held)
        m->is_old_over = !walk_on(&m->old);
}

/* Those of the group from i on that belong to the open shard; returns where they end. The state is
 * kept where no store through a pointer to bytes can be thought to change it. */
static size_t merge_into_shard(merger *state, const hand *group, size_t i)
{
    merger m = *state;
    hand h = *group;
    size_t times;

    for (; i < h.n; i += times) {
        uint64_t print = print_of(&h, i);
        if (print >= m.beyond)
            break;
        for (times = 1; i + times < h.n && print_of(&h, i + times) == print;)
            times++;
        merge_print(&m, print - m.least, times);
    }
    *state = m;
    return i;
}

static void merge_all(const deck *d)
{
    merger m = { .d = d };

    for (size_t group = 0; group < (size_t)1 << d->bits; group++) {
        hand h = sort_group(d, group);
        for (size_t i = 0; i < h.n; i = merge_into_shard(&m, &h, i))
            if (print_of(&h, i) >= m.beyond)
                open_shard(&m, print_of(&h, i));
    }
    close_shard(&m);
}

/* One pass over the table costs as much as this share of its slots in keys, one by one. */
enum { WORTHWHILE = 16, LEAST_WORTHWHILE = 64, MOST_SHARD_BITS = 20 };

static bool is_worthwhile(const tamis *f, size_t n)
{
    return n >= LEAST_WORTHWHILE && n >= f->plan.slots / WORTHWHILE &&
           shard_bits(f->plan.slots) <= MOST_SHARD_BITS;
}

/* Each key takes one slot at most. */
static bool all_fit(const deck *d)
{
    for (uint64_t i = 0; i < UINT64_C(1) << d->s.bits; i++)
        if (used_of(shard_at(&d->s, i)) + d->counts[i] > d->s.room)
            return false;
    return true;
}

/* False: nothing was done. */
static bool add_at_once(tamis *f, const uint64_t *keys, size_t n)
{
    deck d;

    if (!is_worthwhile(f, n) || !deck_new(&d, f, n))
        return false;
    count_keys(&d, keys, n);
    bool fits = all_fit(&d);
    if (fits) {
        deal_keys(&d, keys, n);
        merge_all(&d);
        f->count += n;
    }
    tamis__scratch_free(f, d.block, d.bytes);
    return fits;
}

/* Keys that may not all fit go in one by one, in order. */
static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    if (!add_at_once(f, keys, n))
        return add_each(f, added, keys, n);
    *added = n;
    return TAMIS_OK;
}

/* ---- Removals in order ------------------------------------------------- */

/* Where a fingerprint is. What is taken out moves only what comes later, or lies before the first
 * edge where runs go around: found together and taken out from the last on, sites stay right. */
typedef struct site {
    uint64_t q, at;
    uint32_t remainder;
    unsigned ahead, n; /* slots of its run before it, and all; 0: remove_in() has to tell */
} site;

/* A shard that fingerprints are taken out of. */
typedef struct picker {
    shards s;
    lanes l;
    uint8_t *shard;
    table t;
    uint64_t least; /* fingerprint of the shard */
    uint64_t edge;  /* no run that goes around has part in what lies from there on */
} picker;

static inline site site_of(const picker *p, uint64_t print, uint64_t next)
{
    unsigned width = p->s.width;
    uint64_t q = print >> width;
    uint32_t x = (uint32_t)print & packed_mask(width);
    brief r = brief_of(&p->l, p->t.at + q / BLOCK * p->t.stride, q % BLOCK, width);
    uint64_t equal = equal_lanes(&p->l, &r, x, width);
    unsigned ahead = ones(p->l.highs & (equal - 1) & ~equal);
    uint64_t at = q / BLOCK * BLOCK + r.start + ahead;
    /* The next one, if it is of the same run, moves its end. */
    bool is_plain = r.is_there & !r.is_another & (equal != 0) & (q != next >> width) &
                    (at >= p->edge) & ascends(&p->l, &r, width);

    return (site){ q, at, x, ahead, is_plain ? r.n : 0 };
}

/* As close_slot(), where the run lies within its block. */
static inline void close_site(const table *t, const site *at)
{
    uint8_t *b = t->at + at->q / BLOCK * t->stride;
    unsigned j = at->at % BLOCK;
    uint64_t is_alone = at->n == 1, is_last = at->ahead + 1 == at->n;
    bool is_far = false;
    uint64_t last = shift_down(t, at->at, &is_far);

    put_le64(b, occupieds(b) & ~(is_alone << at->q % BLOCK));
    put_le64(b + RUNENDS, runends(b) | (is_last & ~is_alone) << j >> 1);
    if (is_far)
        settle_far_offsets(t, at->q, last * BLOCK);
}

static inline bool take_out(const picker *p, const site *at)
{
    if (at->n == 0)
        return !remove_in(p->shard, &p->t, at->q, at->remainder, 1);
    table t = p->t;
    close_site(&t, at);
    put_le64(p->shard, used_of(p->shard) - 1);
    return true;
}

static void pick_shard(picker *p, uint64_t print)
{
    uint64_t prints = p->s.slots << p->s.width, i = print / prints;

    p->shard = shard_at(&p->s, i);
    p->t = table_of(&p->s, i);
    p->least = i * prints;
    p->edge = p->t.at[OFFSET] ? find_edge(&p->t, offset_of(&p->t, 0)) : 0;
}

/* The one that comes a group later. */
__attribute__((always_inline)) static inline void fetch_later(const picker *p, const hand *h,
                                                              size_t i)
{
    uint64_t print = i > MANY ? print_of(h, i - 1 - MANY) : 0;
    uint64_t q = (print > p->least ? print - p->least : 0) >> p->s.width;

    fetch_block(p->t.at + q / BLOCK * p->t.stride, q % BLOCK, p->s.width);
}

/* Those before `end` that are in the open shard, a group at most; returns where they start. */
static size_t pick_group(picker *p, const hand *h, size_t end, uint64_t *removed)
{
    site sites[MANY];
    size_t n = 0, i = end;
    uint64_t next = UINT64_MAX;

    for (; i && n < MANY && print_of(h, i - 1) >= p->least; i--) {
        uint64_t print = print_of(h, i - 1) - p->least;
        fetch_later(p, h, i);
        sites[n++] = site_of(p, print, next);
        next = print;
    }
    for (size_t k = 0; k < n; k++)
        *removed += take_out(p, &sites[k]);
    return i;
}

static uint64_t pick_all(const deck *d)
{
    picker p = { .s = d->s, .l = lanes_of(d->s.width), .least = UINT64_MAX };
    uint64_t removed = 0;

    for (size_t group = (size_t)1 << d->bits; group-- > 0;) {
        hand h = sort_group(d, group);
        for (size_t end = h.n; end; end = pick_group(&p, &h, end, &removed))
            if (print_of(&h, end - 1) < p.least)
                pick_shard(&p, print_of(&h, end - 1));
    }
    return removed;
}

static bool is_sortable(const tamis *f, size_t n)
{
    unsigned bits = shard_bits(f->plan.slots);

    return n >= LEAST_WORTHWHILE && bits <= MOST_SHARD_BITS && n >> bits;
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    deck d;

    if (!is_sortable(f, n) || !deck_new(&d, f, n))
        return remove_each(f, keys, n);
    count_keys(&d, keys, n);
    deal_keys(&d, keys, n);
    uint64_t removed = pick_all(&d);
    f->count -= removed;
    tamis__scratch_free(f, d.block, d.bytes);
    return (size_t)removed;
}

/* ---- One key ----------------------------------------------------------- */

static uint64_t count(const tamis *f, uint64_t key)
{
    shards s = shards_of(f);
    spot at = spot_of(&s, hash_key(key, s.salt));
    table t = table_of(&s, at.shard);

    return count_in(&t, at.quotient, at.remainder);
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    shards s = shards_of(f);
    spot at = spot_of(&s, hash_key(key, s.salt));
    table t = table_of(&s, at.shard);
    uint8_t *shard = shard_at(&s, at.shard);
    uint64_t total;

    if (add_overflows(f->count, times, &total))
        return TAMIS_FULL;
    tamis_status status = times == 1 ? add_one_in(shard, &t, s.room, at.quotient, at.remainder)
                                     : add_in(shard, &t, s.room, at.quotient, at.remainder, times);
    if (!status)
        f->count = total;
    return status;
}

static tamis_status remove_key(tamis *f, uint64_t key, uint64_t times)
{
    shards s = shards_of(f);
    spot at = spot_of(&s, hash_key(key, s.salt));
    table t = table_of(&s, at.shard);
    tamis_status status = remove_in(shard_at(&s, at.shard), &t, at.quotient, at.remainder, times);

    if (!status)
        f->count -= times;
    return status;
}

/* ---- Several threads --------------------------------------------------- */

/* Whoever holds a lock may have lost the processor: let it go on. */
static void lock(uint32_t *word)
{
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(word, __ATOMIC_RELAXED))
            sched_yield();
}

static void unlock(uint32_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

static tamis_status add_locked(const shards *s, uint64_t h)
{
    spot at = spot_of(s, h);
    table t = table_of(s, at.shard);
    uint8_t *shard = shard_at(s, at.shard);

    lock((uint32_t *)(void *)(shard + LOCK));
    tamis_status status = add_one_in(shard, &t, s->room, at.quotient, at.remainder);
    unlock((uint32_t *)(void *)(shard + LOCK));
    return status;
}

static tamis_status add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    shards s = shards_of(f);
    uint64_t hashes[MANY];
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n; ++*added) {
        if (*added % MANY == 0)
            fetch_group(hashes, &s, keys, *added, n);
        status = add_locked(&s, hashes[*added % MANY]);
        if (status)
            break;
    }
    __atomic_fetch_add(&f->count, *added, __ATOMIC_RELAXED);
    return status;
}
