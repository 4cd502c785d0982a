/* xor_lookup_template.h - TEMPLATE, compiled once for each THIRD and CPU: asking a xor filter for
 * one key or for many. The includer defines THIRD: see xor_layout_template.h. */
#include <string.h>

#include "fuse/xor_layout_template.h"

FUSE_INLINE const uint8_t *xor_part_of(const tamis *f, const xor_shape *s, uint64_t h)
{
    const uint8_t *first = f->payload;

    return s->part_bits ? first + part_of(h, s->part_bits) * s->part_bytes : first;
}

FUSE_INLINE uint32_t xor_of_slots(const uint8_t *array, const uint32_t *slots, xor_third_slot t,
                                  unsigned width, unsigned plain)
{
    return fingerprint_get(array, slots[0], width, plain) ^
           fingerprint_get(array, slots[1], width, plain) ^
           (fingerprint_get(array, t.slot, width, plain) & t.mask);
}

/* What the part says of a key whose fingerprint is in its slots, or not: it may be stashed, and a
 * part without keys has none. */
static inline bool xor_answer(const uint8_t *head, uint64_t mark, bool fits)
{
    unsigned n = head[HEAD_STASHED] < STASH ? head[HEAD_STASHED] : STASH;

    for (unsigned i = 0; i < n; i++)
        fits |= le64(head + HEAD_STASH + 8 * i) == mark;
    return fits && le32(head) != 0;
}

/* ---- One key ----------------------------------------------------------- */

/* Any filter. Not to be inlined where it is rare, as that would make registers scarce. */
__attribute__((noinline)) static bool xor_has(const tamis *f, uint64_t key)
{
    const xor_shape *s = xor_shape_in(f);
    uint64_t h = hash_key(key, f->salt), mark = xor_mark(s, h);
    const uint8_t *part = xor_part_of(f, s, h), *head = part + s->head, *array = head + HEAD_BYTES;
    uint32_t slots[ARITY], x = (uint32_t)mark;

    xor_find_slots(slots, s, mark, xor_spread_seed(head[HEAD_SEED]));
    xor_third_slot t = xor_find_third(part, s, slots[2]);
    x ^= packed_is_plain(s->width) ? xor_of_slots(array, slots, t, s->width, s->width)
                                   : xor_of_slots(array, slots, t, s->width, 0);
    return xor_answer(head, mark, (x & packed_mask(s->width)) == 0);
}

/* A part is usual if it has keys, the first seed and an empty stash, as nearly all have: then there
 * is nothing to look at but slots. Whether all are is asked when a filter is complete. */
FUSE_INLINE bool xor_is_usual(const uint8_t *part, const xor_shape *s)
{
    return le64(part + s->head) - 1 < UINT32_MAX;
}

/* Whether all parts of a filter are. If these are more than `most`, it would take too long to ask
 * them, and the worst is assumed. */
static inline bool xor_are_usual(const tamis *f, size_t most)
{
    const xor_shape *s = xor_shape_in(f);
    size_t parts = (size_t)1 << s->part_bits, usual = 0;

    while (parts <= most && usual < parts &&
           xor_is_usual((const uint8_t *)f->payload + usual * s->part_bytes, s))
        usual++;
    return usual == parts;
}

/* Of a filter of one part, or of several. Not copied as a whole: the compiler can leave out what is
 * not used. */
FUSE_INLINE xor_shape xor_usual_shape(const xor_shape *s, unsigned plain, bool is_single)
{
    return (xor_shape){ .length = s->length,
                        .part_bytes = s->part_bytes,
                        .head = OMITS_ZEROS ? s->head : 0,
                        .last = s->last,
                        .part_bits = is_single ? 0 : s->part_bits,
                        .mark_shift = is_single ? xor_mark_shift(0) : s->mark_shift,
                        .width = plain ? plain : s->width };
}

FUSE_INLINE bool xor_has_hash(const uint8_t *part, const xor_shape *s, uint64_t h, unsigned plain)
{
    uint64_t mark = xor_mark(s, h);
    uint32_t slots[ARITY];

    xor_find_slots(slots, s, mark, 0);
    xor_third_slot t = xor_find_third(part, s, slots[2]);
    uint32_t x = xor_of_slots(part + s->head + HEAD_BYTES, slots, t, s->width, plain);
    return (((uint32_t)mark ^ x) & packed_mask(s->width)) == 0;
}

FUSE_INLINE bool xor_has_usual(const tamis *f, uint64_t key, unsigned plain, bool is_single)
{
    const xor_shape s = xor_usual_shape(xor_shape_in(f), plain, is_single);
    uint64_t h = hash_key(key, f->salt);

    return xor_has_hash(is_single ? f->payload : xor_part_of(f, &s, h), &s, h, plain);
}

#define XOR_HAS(name, plain, is_single)                 \
    static bool name(const tamis *f, uint64_t key)      \
    {                                                   \
        return xor_has_usual(f, key, plain, is_single); \
    }

XOR_HAS(xor_has_8, 8, true)
XOR_HAS(xor_has_16, 16, true)
XOR_HAS(xor_has_32, 32, true)
XOR_HAS(xor_has_odd, 0, true)
XOR_HAS(xor_has_8_in_parts, 8, false)
XOR_HAS(xor_has_16_in_parts, 16, false)
XOR_HAS(xor_has_32_in_parts, 32, false)
XOR_HAS(xor_has_odd_in_parts, 0, false)

/* ---- Many keys --------------------------------------------------------- */

/* Groups of keys, a word of answers each, go through three steps: their slots are asked for from
 * memory; those of the third block, which may take a look at memory to find, are asked for; all are
 * looked at. Of each group that is on its way, one key takes its step at a time, since requests in
 * bursts would wait for each other. */
enum { GROUP = 64, GROUPS = OMITS_ZEROS ? 3 : 2 };

typedef struct xor_group {
    _Alignas(64) uint64_t h[GROUP];
    _Alignas(64) uint32_t slots[ARITY][GROUP];
    _Alignas(64) uint32_t fingerprints[GROUP]; /* and bits above them; in usual filters only */
    xor_third_slot thirds[GROUP];
    size_t n;
} xor_group;

/* What is looked up in; whether it is usual, or has one part, is known when this is compiled. */
typedef struct xor_query {
    xor_shape s;
    const tamis *f;
    unsigned plain;
    bool is_usual, is_single, is_far;
} xor_query;

FUSE_INLINE const uint8_t *xor_part_in(const xor_query *q, uint64_t h)
{
    return q->is_single ? q->f->payload : xor_part_of(q->f, &q->s, h);
}

/* Keys of a group, the last of which may be short and those behind it empty. */
static inline size_t xor_in_group(size_t n, size_t group)
{
    size_t from = group * GROUP;

    return from >= n ? 0 : n - from < GROUP ? n - from : GROUP;
}

#ifdef __AVX512DQ__
#include "fuse/xor_eight_avx512_template.h"
#else

/* Keys that are hashed by vectors: none. */
static inline size_t xor_start_eights(xor_group *to, const xor_query *q, const uint64_t *keys,
                                      size_t n)
{
    (void)to, (void)q, (void)keys, (void)n;
    return 0;
}

/* Bit i tells whether x[i] is the fingerprint of key i, as far as the mask goes. */
static inline uint64_t xor_fits_group(const xor_group *g, const uint32_t *x, uint32_t mask)
{
    uint64_t word = 0;

    for (size_t i = 0; i < g->n; i++)
        word |= (uint64_t)(((x[i] ^ g->fingerprints[i]) & mask) == 0) << i;
    return word;
}

#endif

FUSE_INLINE void xor_start_group(xor_group *to, const xor_query *q, const uint64_t *keys, size_t n)
{
    const uint64_t salt = q->f->salt;

    to->n = n;
    for (size_t i = q->is_usual ? xor_start_eights(to, q, keys, n) : 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], salt), mark = xor_mark(&q->s, h);
        uint64_t seed = q->is_usual ? 0 : xor_spread_seed(xor_part_in(q, h)[q->s.head + HEAD_SEED]);
        uint32_t slots[ARITY];
        xor_find_slots(slots, &q->s, mark, seed);
        for (unsigned j = 0; j < ARITY; j++)
            to->slots[j][i] = slots[j];
        if (q->is_usual)
            to->fingerprints[i] = (uint32_t)mark;
        to->h[i] = h;
    }
}

FUSE_INLINE void xor_fetch_key(const xor_group *g, const xor_query *q, size_t i)
{
    const uint8_t *part = xor_part_in(q, g->h[i]), *array = part + q->s.head + HEAD_BYTES;

    xor_fetch(array, g->slots[0][i], q->s.width, q->plain, q->is_far);
    xor_fetch(array, g->slots[1][i], q->s.width, q->plain, q->is_far);
    xor_fetch_third(part, &q->s, g->slots[2][i], q->plain, q->is_far);
}

FUSE_INLINE void xor_find_third_of_key(xor_group *g, const xor_query *q, size_t i)
{
    const uint8_t *part = xor_part_in(q, g->h[i]);

    g->thirds[i] = xor_find_third(part, &q->s, g->slots[2][i]);
    xor_fetch(part + q->s.head + HEAD_BYTES, g->thirds[i].slot, q->s.width, q->plain, q->is_far);
}

FUSE_INLINE uint32_t xor_look_at_key(const xor_group *g, const xor_query *q, size_t i)
{
    const uint8_t *part = xor_part_in(q, g->h[i]);
    const uint32_t slots[] = { g->slots[0][i], g->slots[1][i] };
    const xor_third_slot t =
        OMITS_ZEROS ? g->thirds[i] : xor_find_third(part, &q->s, g->slots[2][i]);

    return xor_of_slots(part + q->s.head + HEAD_BYTES, slots, t, q->s.width, q->plain);
}

/* The answer for a key whose slots are xored to x, in a filter that is not usual. */
FUSE_INLINE bool xor_answer_key(const xor_group *g, const xor_query *q, size_t i, uint32_t x)
{
    const uint8_t *head = xor_part_in(q, g->h[i]) + q->s.head;
    uint64_t mark = xor_mark(&q->s, g->h[i]);

    return xor_answer(head, mark, ((x ^ (uint32_t)mark) & packed_mask(q->s.width)) == 0);
}

/* The keys of `last` take their first step, those of `middle` their second, those of `first` the
 * third. No group has more keys than the one before it. */
FUSE_INLINE uint64_t xor_step(const xor_group *first, xor_group *middle, const xor_group *last,
                              const xor_query *q)
{
    _Alignas(64) uint32_t x[GROUP];
    uint64_t word = 0;

    for (size_t i = 0; i < first->n; i++) {
        if (i < last->n)
            xor_fetch_key(last, q, i);
        if (OMITS_ZEROS && i < middle->n)
            xor_find_third_of_key(middle, q, i);
        x[i] = xor_look_at_key(first, q, i);
        if (!q->is_usual)
            word |= (uint64_t)xor_answer_key(first, q, i, x[i]) << i;
    }
    return q->is_usual ? xor_fits_group(first, x, packed_mask(q->s.width)) : word;
}

FUSE_INLINE size_t xor_has_groups(const xor_query *q, uint64_t *hits, const uint64_t *keys,
                                  size_t n)
{
    xor_group groups[GROUPS];
    size_t found = 0;

    for (size_t i = 0; i < GROUPS - 1; i++) {
        xor_start_group(&groups[i], q, keys + i * GROUP, xor_in_group(n, i));
        for (size_t j = 0; j < groups[i].n; j++)
            xor_fetch_key(&groups[i], q, j);
    }
    for (size_t j = 0; OMITS_ZEROS && j < groups[0].n; j++)
        xor_find_third_of_key(&groups[0], q, j);
    for (size_t i = 0; i * GROUP < n; i++) {
        size_t last = i + GROUPS - 1;
        xor_group *next = &groups[last % GROUPS];
        xor_start_group(next, q, keys + last * GROUP, xor_in_group(n, last));
        hits[i] = xor_step(&groups[i % GROUPS], &groups[(i + 1) % GROUPS], next, q);
        found += (size_t)__builtin_popcountll(hits[i]);
    }
    return found;
}

/* Up to that many bytes are in the cache, where there is nothing to wait for. */
enum { IN_CACHE = OMITS_ZEROS ? 1 << 19 : 1 << 20 };

#ifdef __AVX512DQ__
FUSE_INLINE uint64_t xor_has_each(const xor_query *q, const uint64_t *keys, size_t n)
{
    _Alignas(64) uint32_t x[GROUP];
    xor_group g;

    xor_start_group(&g, q, keys, n);
    for (size_t i = 0; i < n; i++) {
        if (OMITS_ZEROS)
            g.thirds[i] = xor_find_third(q->f->payload, &q->s, g.slots[2][i]);
        x[i] = xor_look_at_key(&g, q, i);
    }
    return xor_fits_group(&g, x, packed_mask(q->s.width));
}
#else
FUSE_INLINE uint64_t xor_has_each(const xor_query *q, const uint64_t *keys, size_t n)
{
    const uint64_t salt = q->f->salt;
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], salt);
        word |= (uint64_t)xor_has_hash(q->f->payload, &q->s, h, q->plain) << i;
    }
    return word;
}
#endif

FUSE_INLINE size_t xor_has_in_cache(const xor_query *q, uint64_t *hits, const uint64_t *keys,
                                    size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i * GROUP < n; i++) {
        hits[i] = xor_has_each(q, keys + i * GROUP, xor_in_group(n, i));
        found += (size_t)__builtin_popcountll(hits[i]);
    }
    return found;
}

FUSE_INLINE size_t xor_has_many_plain(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                      size_t n, unsigned plain)
{
    xor_query q = { .s = *xor_shape_in(f), .f = f, .plain = plain, .is_far = f->is_far };

    if (plain)
        q.s.width = plain;
    if (!xor_are_usual(f, n / 8 ? n / 8 : 1))
        return xor_has_groups(&q, hits, keys, n);
    q.is_usual = true;
    if (q.s.part_bits)
        return xor_has_groups(&q, hits, keys, n);
    q.is_single = true;
    q.s = xor_usual_shape(&q.s, plain, true);
    if (f->plan.bytes <= IN_CACHE)
        return xor_has_in_cache(&q, hits, keys, n);
    return xor_has_groups(&q, hits, keys, n);
}

static size_t xor_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return FUSE_BY_WIDTH(f->plan.width, xor_has_many_plain, f, hits, keys, n);
}

/* Puts the functions for this plan, and for this payload if it is there, into the table. */
static inline void xor_use(tamis *f)
{
    unsigned width = f->plan.width;

    f->ops.has_many = xor_has_many;
    f->ops.has = xor_has;
    if (f->payload && xor_are_usual(f, MOST_PARTS_ASKED))
        f->ops.has = xor_shape_in(f)->part_bits ? FUSE_PICK(width, xor_has, _in_parts)
                                                : FUSE_PICK(width, xor_has, );
}
