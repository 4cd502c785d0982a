/* cuckoo.h - slots, windows and the places of a key: what the kind and its kernels share. cuckoo.c
 * says what it means. */
#ifndef TAMIS_CUCKOO_CUCKOO_H
#define TAMIS_CUCKOO_CUCKOO_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/surplus.h"
#include "cuckoo/cuckoo_group.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

/* The lowest bits of a slot tell at which of its places an entry is. */
enum {
    CUCKOO_TAG_BITS = 2,
    CUCKOO_PLACES = 1 << CUCKOO_TAG_BITS,
    CUCKOO_TAG_MASK = CUCKOO_PLACES - 1
};

/* A slot of up to 57 bits, or a window of two that have 28 each, lies within eight bytes from the
 * byte that it starts in. */
enum { CUCKOO_NARROWEST = 6, CUCKOO_WIDEST = 64, CUCKOO_WIDEST_LOAD = 57, CUCKOO_WIDEST_PAIR = 28 };

/* Entries that a class has at most: one of its four places is left to others. What comes beyond is
 * its surplus. With one key for 2^(width - 2) classes, 2^(6 - 3 width) / 4! classes have one for
 * each key: a thousandth in 2^(3 width - 12) slots. */
enum { CUCKOO_CEILING = 3, CUCKOO_SURPLUS_SHIFT = 12 };

enum { CUCKOO_STASH_MOST = 4, CUCKOO_STASH_BYTES = 8 + 8 * CUCKOO_STASH_MOST };

typedef struct cuckoo_table {
    uint8_t *slots, *stash;
    uint64_t salt;
    uint64_t starts; /* of windows: one fewer than slots */
    unsigned width;
} cuckoo_table;

static inline uint64_t cuckoo_slots_bytes(const tamis_plan *p)
{
    return (p->slots * p->width + 7) / 8;
}

/* All places of a key in one word, a lane for each: of slots of up to 16 bits. */
typedef struct cuckoo_lanes {
    uint64_t ones, tops; /* the lowest and the highest bit of each */
    uint64_t units;      /* 1 as a fingerprint */
    uint64_t tags;       /* 0, 1, 2, 3 */
    uint64_t window;     /* the lower two */
} cuckoo_lanes;

/* What for_cpu() works out of the plan. */
typedef struct cuckoo_derived {
    uint64_t starts, stash_at;
    cuckoo_lanes lanes;
    unsigned width;
} cuckoo_derived;

_Static_assert(sizeof(cuckoo_derived) <= TAMIS_DERIVED_SIZE, "");

static inline const cuckoo_derived *cuckoo_derived_of(const tamis *f)
{
    return (const cuckoo_derived *)(const void *)f->derived;
}

static inline cuckoo_table cuckoo_table_of(const tamis *f)
{
    const cuckoo_derived *d = cuckoo_derived_of(f);
    uint8_t *slots = f->payload;

    return (cuckoo_table){ slots, slots + d->stash_at, f->salt, d->starts, d->width };
}

static inline uint64_t cuckoo_mask(unsigned width)
{
    return UINT64_MAX >> (64 - width);
}

/* 0: empty. What lies behind the last slot is the stash, so that loads end in the payload. */
static inline uint64_t cuckoo_slot(const cuckoo_table *t, uint64_t slot)
{
    const uint8_t *at = t->slots + slot * t->width / 8;
    unsigned shift = (unsigned)(slot * t->width % 8);
    uint64_t x = le64(at) >> shift;

    if (t->width > CUCKOO_WIDEST_LOAD && shift)
        x |= (uint64_t)at[8] << (64 - shift);
    return x & cuckoo_mask(t->width);
}

/* Puts a value into the slot that starts at that bit. */
static inline void cuckoo_put_at(const cuckoo_table *t, uint64_t bit, uint64_t value)
{
    uint8_t *at = t->slots + bit / 8;
    unsigned shift = (unsigned)(bit % 8);
    uint64_t mask = cuckoo_mask(t->width);

    put_le64(at, (le64(at) & ~(mask << shift)) | value << shift);
    if (t->width > CUCKOO_WIDEST_LOAD && shift)
        at[8] = (uint8_t)((at[8] & ~(mask >> (64 - shift))) | value >> (64 - shift));
}

static inline void cuckoo_put(const cuckoo_table *t, uint64_t slot, uint64_t value)
{
    cuckoo_put_at(t, slot * t->width, value);
}

/* ---- Entries ----------------------------------------------------------- */

/* All that the filter knows of a key. Keys of one class have the same. */
typedef struct cuckoo_entry {
    uint64_t first, second; /* starts of its windows */
    uint64_t fingerprint;
} cuckoo_entry;

/* The 32-bit prime next to 2^32 divided by the golden ratio, and another: of xxHash. */
#define CUCKOO_STEP_FIRST UINT32_C(0x9E3779B1)
#define CUCKOO_STEP_SECOND UINT32_C(0x85EBCA77)

/* From the first window to the second, up and around the end. The two never overlap. Mixed twice:
 * steps that are multiples of each other would lead back to where they came from. */
static inline uint64_t cuckoo_step_folded(const cuckoo_table *t, uint32_t x)
{
    x *= CUCKOO_STEP_FIRST;
    x = (x ^ x >> 15) * CUCKOO_STEP_SECOND;
    return 2 + scale64((uint64_t)x << 32, t->starts - 3);
}

static inline uint64_t cuckoo_step(const cuckoo_table *t, uint64_t fingerprint)
{
    return cuckoo_step_folded(t, (uint32_t)(fingerprint ^ fingerprint >> 32));
}

/* Around the end. The subtraction is the comparison. */
static inline uint64_t cuckoo_wrap(const cuckoo_table *t, uint64_t start)
{
    uint64_t wrapped;
    bool is_inside = __builtin_sub_overflow(start, t->starts, &wrapped);

    return is_inside ? start : wrapped;
}

/* The other window of what is in a slot. Branchless: the outcome is unpredictable. */
static inline uint64_t cuckoo_other_start(const cuckoo_table *t, uint64_t slot, uint64_t value)
{
    uint64_t step = cuckoo_step(t, value >> CUCKOO_TAG_BITS), back = t->starts - step;
    uint64_t to = slot - (value & 1) + (value & 2 ? back : step);

    return cuckoo_wrap(t, to);
}

/* Whether fingerprints are narrow, of no more than 32 bits, is known to the compiler. */
CUCKOO_GROUP_INLINE cuckoo_entry cuckoo_entry_as(const cuckoo_table *t, uint64_t h, bool narrow)
{
    uint64_t first = scale64(h, t->starts);
    uint64_t fingerprint = h * t->starts >> (64 + CUCKOO_TAG_BITS - t->width);
    uint64_t second = first + (narrow ? cuckoo_step_folded(t, (uint32_t)fingerprint)
                                      : cuckoo_step(t, fingerprint));

    return (cuckoo_entry){ first, cuckoo_wrap(t, second), fingerprint };
}

static inline cuckoo_entry cuckoo_entry_of(const cuckoo_table *t, uint64_t h)
{
    return cuckoo_entry_as(t, h, false);
}

/* The entry whose value that is, in that slot. */
static inline cuckoo_entry cuckoo_entry_in(const cuckoo_table *t, uint64_t slot, uint64_t value)
{
    uint64_t start = slot - (value & 1), other = cuckoo_other_start(t, slot, value);

    return value & 2 ? (cuckoo_entry){ other, start, value >> CUCKOO_TAG_BITS }
                     : (cuckoo_entry){ start, other, value >> CUCKOO_TAG_BITS };
}

/* The keys of a group from number i on. */
static inline void cuckoo_hash_each(cuckoo_group *g, size_t i, const cuckoo_table *t,
                                    const uint64_t *keys)
{
    for (; i < g->n; i++) {
        cuckoo_entry e = cuckoo_entry_of(t, hash_key(keys[i], t->salt));
        cuckoo_group_set(g, i, e.first, e.second, e.fingerprint, t->width);
    }
}

/* Places 0 and 1 are the slots of the first window, 2 and 3 those of the second. */
static inline uint64_t cuckoo_slot_of(const cuckoo_entry *e, unsigned place)
{
    return (place & 2 ? e->second : e->first) + (place & 1);
}

static inline uint64_t cuckoo_value(const cuckoo_entry *e, unsigned place)
{
    return e->fingerprint << CUCKOO_TAG_BITS | place;
}

/* Which of the slots of a window hold `value` and `next`; bit 0 is for the first. */
static inline unsigned cuckoo_window_holds(const cuckoo_table *t, uint64_t start, uint64_t value,
                                           uint64_t next)
{
    if (t->width > CUCKOO_WIDEST_PAIR)
        return (unsigned)(cuckoo_slot(t, start) == value) |
               (unsigned)(cuckoo_slot(t, start + 1) == next) << 1;
    uint64_t bit = start * t->width, mask = cuckoo_mask(t->width);
    uint64_t x = le64(t->slots + bit / 8) >> bit % 8 ^ (value | next << t->width);
    return (unsigned)((x & mask) == 0) | (unsigned)((x >> t->width & mask) == 0) << 1;
}

/* Of a key whose fingerprint is 0, place 0 would look empty: it has three places. */
static inline unsigned cuckoo_usable(const cuckoo_entry *e)
{
    return (1u << CUCKOO_PLACES) - 1 - (e->fingerprint == 0);
}

/* Bit i: the entry is at place i. */
static inline unsigned cuckoo_holding(const cuckoo_table *t, const cuckoo_entry *e)
{
    uint64_t value = cuckoo_value(e, 0);

    return (cuckoo_window_holds(t, e->first, value, value + 1) |
            cuckoo_window_holds(t, e->second, value + 2, value + 3) << 2) &
           cuckoo_usable(e);
}

/* ---- Four places at once ----------------------------------------------- */

/* A window of slots of up to 12 bits lies within four bytes from the byte that it starts in; these
 * reach into the next cache line less often than eight. */
enum { CUCKOO_WIDEST_LANE = 16, CUCKOO_WIDEST_SHORT = 12 };

static inline cuckoo_lanes cuckoo_lanes_of(unsigned w)
{
    if (w > CUCKOO_WIDEST_LANE)
        return (cuckoo_lanes){ 0 };
    uint64_t two = 1 | UINT64_C(1) << w, ones = two | two << 2 * w;
    uint64_t tags = UINT64_C(1) << w | UINT64_C(2) << 2 * w | UINT64_C(3) << 3 * w;
    return (cuckoo_lanes){ ones, ones << (w - 1), ones << CUCKOO_TAG_BITS, tags,
                           cuckoo_mask(2 * w) };
}

/* The highest bits of lanes that are zero. The lowest is right; above it, a lane of 1 may be taken
 * for one of 0. */
static inline uint64_t cuckoo_zero_lanes(const cuckoo_lanes *l, uint64_t x)
{
    return (x - l->ones) & ~x & l->tops;
}

/* ---- The stash --------------------------------------------------------- */

/* Whatever the payload says, no more than there is room for. */
static inline unsigned cuckoo_stash_size(const cuckoo_table *t)
{
    uint64_t n = le64(t->stash);

    return n < CUCKOO_STASH_MOST ? (unsigned)n : CUCKOO_STASH_MOST;
}

static inline uint8_t *cuckoo_stash_at(const cuckoo_table *t, unsigned i)
{
    return t->stash + 8 + 8 * i;
}

/* Whether entry i of it is of the same class. */
static inline bool cuckoo_is_stashed_at(const cuckoo_table *t, const cuckoo_entry *e, unsigned i)
{
    cuckoo_entry other = cuckoo_entry_of(t, le64(cuckoo_stash_at(t, i)));

    return other.first == e->first && other.fingerprint == e->fingerprint;
}

/* Copies that are there. By value: a table whose address is taken would not stay in registers. */
unsigned tamis__cuckoo_stashed(cuckoo_table t, cuckoo_entry e);

static inline unsigned cuckoo_stashed(const cuckoo_table *t, const cuckoo_entry *e)
{
    return cuckoo_stash_size(t) ? tamis__cuckoo_stashed(*t, *e) : 0;
}

static inline unsigned cuckoo_copies(const cuckoo_table *t, const cuckoo_entry *e)
{
    unsigned n = (unsigned)__builtin_popcount(cuckoo_holding(t, e)) + cuckoo_stashed(t, e);

    return n < CUCKOO_CEILING ? n : CUCKOO_CEILING;
}

/* ---- The surplus ------------------------------------------------------- */

static inline unsigned cuckoo_class_bits(uint64_t slots, unsigned width)
{
    return 64 - (unsigned)__builtin_clzll(slots - 2) + width - CUCKOO_TAG_BITS;
}

static inline uint64_t cuckoo_surplus_entries(uint64_t slots, unsigned width)
{
    return surplus_entries(slots, CUCKOO_CEILING * width - CUCKOO_SURPLUS_SHIFT,
                           cuckoo_class_bits(slots, width));
}

static inline surplus cuckoo_surplus_of(const cuckoo_table *t)
{
    return (surplus){ t->stash + CUCKOO_STASH_BYTES,
                      cuckoo_surplus_entries(t->starts + 1, t->width),
                      cuckoo_class_bits(t->starts + 1, t->width) };
}

static inline uint64_t cuckoo_class(const cuckoo_table *t, const cuckoo_entry *e)
{
    return e->first << (t->width - CUCKOO_TAG_BITS) | e->fingerprint;
}

/* ---- Between files ----------------------------------------------------- */

/* cuckoo_moves.c: so many copies of an entry, whose hash is h. */
tamis_status tamis__cuckoo_add(tamis *f, uint64_t h, const cuckoo_entry *e, uint64_t times);
tamis_status tamis__cuckoo_remove(tamis *f, const cuckoo_entry *e, uint64_t times);
/* So many keys more of a class that is at its ceiling. */
void tamis__cuckoo_add_surplus(cuckoo_table t, cuckoo_entry e, uint64_t times);

void tamis__cuckoo_use_avx2(tamis *f);
void tamis__cuckoo_cells(const tamis *f, tamis_telling *to);
bool tamis__cuckoo_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
