/* morton_change.h - a fingerprint is put into a block, or taken out; and the surplus of its class.
 */
#ifndef TAMIS_CUCKOO_MORTON_CHANGE_H
#define TAMIS_CUCKOO_MORTON_CHANGE_H

#include "base/surplus.h"
#include "cuckoo/morton.h"
#ifdef __AVX2__
#include "cuckoo/morton_avx2.h"
#endif

/* ---- Changing a block -------------------------------------------------- */

static inline void morton_mark(const morton_table *t, const morton_position *p)
{
    unsigned bit = 2 * t->s.buckets + morton_mark_of(t, p->bucket);

    p->block[bit / 8] |= (uint8_t)(1u << bit % 8);
}

static inline bool morton_has_room(const morton_table *t, morton_counters c, unsigned bucket)
{
    return ((c.low & c.high) >> bucket & 1) == 0 && morton_sum_before(c, t->s.buckets) < t->s.slots;
}

/* One more or one less in a bucket. */
static inline void morton_count_in(const morton_table *t, const morton_position *p,
                                   morton_counters c, bool more)
{
    unsigned low = p->bucket, high = t->s.buckets + p->bucket;
    bool carry = (c.low >> p->bucket & 1) == more;

    p->block[low / 8] ^= (uint8_t)(1u << low % 8);
    p->block[high / 8] ^= (uint8_t)((unsigned)carry << high % 8);
}

/* All from `bit` on moves up by `width` bits, into which x goes. */
static inline void morton_push_bits(uint8_t *b, unsigned bit, unsigned width, uint32_t x)
{
    unsigned k = bit / 64, low = bit % 64;
    uint64_t word = le64(b + 8 * k), kept = morton_lowest(word, low), high = word ^ kept;
    uint64_t over = high >> (64 - width) | (low + width > 64 ? (uint64_t)x >> (64 - low) : 0);

    put_le64(b + 8 * k, kept | high << width | (uint64_t)x << low);
    while (++k < MORTON_LINE / 8) {
        word = le64(b + 8 * k);
        put_le64(b + 8 * k, word << width | over);
        over = word >> (64 - width);
    }
}

/* The `width` bits from `bit` on are taken out, all that follows moves down, and zeros come in. */
static inline void morton_pull_bits(uint8_t *b, unsigned bit, unsigned width)
{
    unsigned k = bit / 64;
    uint64_t word = le64(b + 8 * k), keep = morton_lowest(UINT64_MAX, bit % 64);

    for (; k < MORTON_LINE / 8; k++) {
        uint64_t next = k + 1 < MORTON_LINE / 8 ? le64(b + 8 * (k + 1)) : 0;
        put_le64(b + 8 * k, (word & keep) | ((word >> width | next << (64 - width)) & ~keep));
        word = next;
        keep = 0;
    }
}

/* In a file that is all for AVX2. */
#ifdef __AVX2__
#define morton_push_bits morton_push_bits_avx2
#define morton_pull_bits morton_pull_bits_avx2
#endif

/* There is room. */
static inline void morton_put(const morton_table *t, const morton_position *p, morton_counters c)
{
    unsigned bit = morton_slot_bit(&t->s, morton_sum_before(c, p->bucket));

    morton_push_bits(p->block, bit, t->s.width, morton_stored(t, p));
    morton_count_in(t, p, c, true);
}

static inline bool morton_try_put(const morton_table *t, const morton_position *p)
{
    morton_counters c = morton_counters_of(t, p->block);

    if (!morton_has_room(t, c, p->bucket))
        return false;
    morton_put(t, p, c);
    return true;
}

/* One copy of a fingerprint, if there is any. */
__attribute__((always_inline)) static inline bool morton_take(const morton_table *t,
                                                              const morton_position *p)
{
    morton_counters c = morton_counters_of(t, p->block);
    morton_found f = morton_find_in(t, p, c);

    if (!f.bits)
        return false;
    morton_pull_bits(p->block, f.from + f.step * (unsigned)__builtin_ctzll(f.bits), t->s.width);
    morton_count_in(t, p, c, false);
    return true;
}

/* ---- Surplus ----------------------------------------------------------- */

/* Buckets hold 9 / 4 keys at most. With one for 2^(width - 2.17) classes, 2^(8.7 - 4 width) / 5!
 * classes have a surplus for each key: a thousandth in 2^(4 width - 12) slots. */
enum { MORTON_SURPLUS_SHIFT = 12 };

/* Doublings change neither the classes nor their number. */
static inline unsigned morton_class_bits(const morton_table *t)
{
    unsigned bits = t->s.width + t->doublings;

    return bits + 64 - (unsigned)__builtin_clzll(t->homes * t->s.buckets / 2 - 1);
}

static inline uint64_t morton_surplus_entries(const morton_table *t)
{
    uint64_t slots = (t->homes << t->doublings) * t->s.slots;

    return surplus_entries(slots, MORTON_CEILING * t->s.width - MORTON_SURPLUS_SHIFT,
                           morton_class_bits(t));
}

/* Of a filter; a plan alone has no payload to point into. */
static inline surplus morton_surplus_of(const morton_table *t)
{
    return (surplus){ t->at + MORTON_LINE * (t->homes << t->doublings), morton_surplus_entries(t),
                      morton_class_bits(t) };
}

/* Of a fingerprint and its two buckets, one of which is even. */
static inline uint64_t morton_class(const morton_table *t, const morton_position *p)
{
    morton_position even = p->bucket & 1 ? morton_other(t, p) : *p;

    return (even.home * t->s.buckets + even.bucket) / 2 << (t->s.width + t->doublings) |
           p->fingerprint;
}

#endif
