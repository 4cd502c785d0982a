/* runs.h - sorted runs of remainders in a circular table, found by rank and select.
 *
 * The table has S slots, a multiple of 64, and as many quotients. The remainders of quotient q, its
 * run, lie one behind the other at q or, where that is taken by runs of lower quotients, right
 * after those; at the end of the table they go around. 64 slots are a block:
 *
 *   occupieds   8 bytes   bit j: quotient j of the block has a run
 *   runends     8 bytes   bit j: slot j is the last of a run
 *   offset      1 byte    slots at its start that runs of earlier blocks take; 255 stands for more
 *   slots       8w bytes  64 remainders of w bits, packed; 0 where there is none
 *
 * Runs end in the order of their quotients. So the run of a quotient ends at the n-th runend after
 * those slots, where n is its rank among the occupied quotients of its block.
 *
 * Positions may be one round higher than slots: q .. q + S - 1 are the places where the run of q
 * could lie. Calls on a const table bound all that they read, whatever the bytes; the others need a
 * table that is whole and has an empty slot. What they leave depends on what the table holds alone.
 */
#ifndef TAMIS_QUOTIENT_RUNS_H
#define TAMIS_QUOTIENT_RUNS_H

#include "base/bits.h"
#include "base/packed.h"
#include "quotient/counter.h"
#include "quotient/select.h"

enum { BLOCK = 64, RUNENDS = 8, OFFSET = 16, SLOTS = 17, FAR = 255 };

typedef struct table {
    uint8_t *at; /* the first block; eight bytes more than the last one may be read and rewritten */
    uint64_t slots, blocks;
    unsigned width, stride;
} table;

static inline table table_at(uint8_t *at, uint64_t slots, unsigned width)
{
    return (table){ at, slots, slots / BLOCK, width, SLOTS + 8 * width };
}

static inline uint8_t *block_at(const table *t, uint64_t block)
{
    while (block >= t->blocks)
        block -= t->blocks;
    return t->at + block * t->stride;
}

static inline uint64_t occupieds(const uint8_t *block)
{
    return le64(block);
}

static inline uint64_t runends(const uint8_t *block)
{
    return le64(block + RUNENDS);
}

static inline uint32_t slot(const table *t, uint64_t i)
{
    return packed_get(block_at(t, i / BLOCK) + SLOTS, i % BLOCK, t->width);
}

static inline void put_slot(const table *t, uint64_t i, uint32_t x)
{
    packed_put(block_at(t, i / BLOCK) + SLOTS, i % BLOCK, t->width, x);
}

static inline void set_bit(uint8_t *word, unsigned i)
{
    put_le64(word, le64(word) | UINT64_C(1) << i);
}

static inline void clear_bit(uint8_t *word, unsigned i)
{
    put_le64(word, le64(word) & ~(UINT64_C(1) << i));
}

/* ---- Where runs are ---------------------------------------------------- */

/* The n-th runend, n > 0, at or after slot `from`, counted from the start of the block; if there
 * are fewer, a number beyond the table. */
static inline uint64_t nth_runend(const table *t, uint64_t block, uint64_t from, uint64_t n)
{
    uint64_t k = from / BLOCK, last = k + t->blocks;
    uint64_t ends = runends(block_at(t, block + k)) & ~below(from % BLOCK);

    for (;;) {
        unsigned here = ones(ends);
        if (n <= here)
            return k * BLOCK + select_one(ends, (unsigned)n - 1);
        if (++k > last)
            return k * BLOCK;
        n -= here;
        ends = runends(block_at(t, block + k));
    }
}

/* Where an offset is too large to be written, it is counted from the next block before that has one
 * which is not: the runs that start between the two all end after it. */
static inline uint64_t far_offset(const table *t, uint64_t block)
{
    uint64_t back = 0, runs = 0, offset;

    do {
        back++;
        const uint8_t *b = block_at(t, block + t->blocks - back);
        runs += ones(occupieds(b));
        offset = b[OFFSET];
    } while (offset == FAR && back < t->blocks);
    uint64_t first = block + t->blocks - back;
    uint64_t end = runs ? nth_runend(t, first, offset, runs) + 1 : offset;
    uint64_t beyond = end > back * BLOCK ? end - back * BLOCK : 0;
    return beyond < t->slots ? beyond : t->slots;
}

static inline uint64_t offset_of(const table *t, uint64_t block)
{
    unsigned offset = block_at(t, block)[OFFSET];

    if (offset == FAR)
        return far_offset(t, block);
    return offset < t->slots ? offset : t->slots;
}

/* Slots start .. end - 1. Of a quotient that has none: where it would start. */
typedef struct run {
    uint64_t start, end;
    bool is_there;
} run;

static inline run find_run(const table *t, uint64_t q)
{
    uint64_t block = q / BLOCK, first = block * BLOCK, occupied = occupieds(block_at(t, block));
    unsigned j = q % BLOCK, earlier = ones(occupied & below(j));
    uint64_t offset = offset_of(t, block);
    uint64_t before = earlier ? nth_runend(t, block, offset, earlier) + 1 : offset;
    run r = { first + (before > j ? before : j), 0, occupied >> j & 1 };

    if (r.start > q + t->slots)
        r.start = q + t->slots;
    r.end = r.is_there ? first + nth_runend(t, block, before, 1) + 1 : r.start;
    if (r.end > q + t->slots)
        r.end = q + t->slots;
    if (r.end < r.start)
        r.end = r.start;
    return r;
}

/* ---- What runs hold ---------------------------------------------------- */

typedef struct entry {
    uint64_t at, count;
    unsigned
        slots; /* that the remainder and its count take; 0: it is not there, and belongs here */
} entry;

/* Digits from slot i on, up to the one that is x. False: there is no such end among the n slots. */
static inline bool read_digits(const table *t, uint64_t i, uint64_t n, uint32_t x, uint64_t *value,
                               unsigned *length)
{
    uint64_t base = counter_base(x, t->width), v = 0, most = UINT64_MAX - counter_least(x);

    for (unsigned k = 0; k < n && k < COUNTER_MOST; k++) {
        uint32_t digit = slot(t, i + k);
        if (digit == x) {
            *value = v < most ? v : most;
            *length = k;
            return true;
        }
        uint64_t more = digit ? counter_value(digit, x) : 0;
        if (mul_overflows(v, base, &v) || add_overflows(v, more, &v))
            v = most;
    }
    return false;
}

/* The counter of x > 0, whose second slot, d, is lower: one copy if it has no end. */
static inline entry read_counter(const table *t, uint64_t i, uint64_t n, uint32_t x, uint32_t d)
{
    unsigned skip = 1 + (d == 0), length;
    uint64_t v;

    if (!read_digits(t, i + skip, n - skip, x, &v, &length))
        return (entry){ i, 1, 1 };
    return (entry){ i, v + counter_least(x), skip + length + 1 };
}

static inline entry read_zero(const table *t, uint64_t i, uint64_t n, uint32_t d)
{
    unsigned length;
    uint64_t v;

    if (d == 0)
        return n > 2 && slot(t, i + 2) == 0 ? (entry){ i, 3, 3 } : (entry){ i, 2, 2 };
    if (!read_digits(t, i + 1, n - 1, 0, &v, &length) || length + 2 >= n ||
        slot(t, i + 2 + length) != 0)
        return (entry){ i, 1, 1 };
    return (entry){ i, v + counter_least(0), length + 3 };
}

/* What starts at slot i of a run that ends before slot `end`. */
static inline entry read_entry(const table *t, uint64_t i, uint64_t end, uint32_t *x)
{
    *x = slot(t, i);
    if (i + 1 == end)
        return (entry){ i, 1, 1 };
    uint32_t d = slot(t, i + 1);
    if (*x == 0)
        return read_zero(t, i, end - i, d);
    if (d > *x)
        return (entry){ i, 1, 1 };
    return d == *x ? (entry){ i, 2, 2 } : read_counter(t, i, end - i, *x, d);
}

/* Where x is in the run, or belongs. */
static inline entry find_entry(const table *t, const run *r, uint32_t x)
{
    for (uint64_t i = r->start; i < r->end;) {
        uint32_t other;
        entry e = read_entry(t, i, r->end, &other);
        if (other == x)
            return e;
        if (other > x)
            return (entry){ i, 0, 0 };
        i += e.slots;
    }
    return (entry){ r->end, 0, 0 };
}

/* ---- Room -------------------------------------------------------------- */

/* The slots of a block at which no run is still to end of those that start before. */
static inline uint64_t edges(const uint8_t *b)
{
    unsigned offset = b[OFFSET];

    return offset < BLOCK ? level(occupieds(b), runends(b) & ~below(offset)) & ~below(offset) : 0;
}

/* The first slot from i on that is empty. */
static inline uint64_t find_gap(const table *t, uint64_t i)
{
    uint64_t k = i / BLOCK, gaps = edges(block_at(t, k)) & ~occupieds(block_at(t, k));

    for (gaps &= ~below(i % BLOCK); !gaps;
         gaps = edges(block_at(t, k)) & ~occupieds(block_at(t, k)))
        k++;
    return k * BLOCK + (unsigned)__builtin_ctzll(gaps);
}

/* The first slot from i on that is empty or the start of a run at home. */
static inline uint64_t find_edge(const table *t, uint64_t i)
{
    uint64_t k = i / BLOCK, rest = edges(block_at(t, k)) & ~below(i % BLOCK);

    while (!rest)
        rest = edges(block_at(t, ++k));
    return k * BLOCK + (unsigned)__builtin_ctzll(rest);
}

/* Bits first .. last - 1 of word i of an array. */
static inline uint64_t bits_of_word(unsigned i, unsigned first, unsigned last)
{
    uint64_t from = i == first / 64 ? ~below(first % 64) : ~UINT64_C(0);

    return from & (i == (last - 1) / 64 ? up_to((last - 1) % 64) : ~UINT64_C(0));
}

static inline void put_bits(uint8_t *word, uint64_t x, uint64_t mask)
{
    put_le64(word, (le64(word) & ~mask) | (x & mask));
}

/* Slots lo .. hi - 1 move up by one; what slot lo holds then is of no matter. */
static inline void slide_up(uint8_t *slots, unsigned lo, unsigned hi, unsigned width)
{
    unsigned first = lo * width, last = (hi + 1) * width;

    if (packed_is_plain(width)) {
        memmove(slots + first / 8 + width / 8, slots + first / 8, (hi - lo) * width / 8);
        return;
    }
    for (unsigned i = (last - 1) / 64 + 1; i-- > first / 64;) {
        uint64_t from = i ? le64(slots + 8 * (i - 1)) >> (64 - width) : 0;
        put_bits(slots + 8 * i, le64(slots + 8 * i) << width | from, bits_of_word(i, first, last));
    }
}

#ifdef __AVX2__
/* As below, for those of half a block that are bytes: stored at once, and by no branch. */
static inline void slide_bytes_down(uint8_t *slots, unsigned lo, unsigned top, uint32_t x, int half)
{
    const __m256i places =
        _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                         21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    __m256i *at = (__m256i *)(void *)(slots + 32 * half);
    __m256i last = _mm256_set1_epi8((char)(top - 32 * (unsigned)half));
    __m256i before = _mm256_set1_epi8((char)(lo - 32 * (unsigned)half - 1));
    __m256i stay = _mm256_loadu_si256(at);
    __m256i come = _mm256_loadu_si256((const __m256i *)(const void *)(slots + 32 * half + 1));
    __m256i is_moving =
        _mm256_andnot_si256(_mm256_cmpgt_epi8(places, last), _mm256_cmpgt_epi8(places, before));

    come = _mm256_blendv_epi8(come, _mm256_set1_epi8((char)x), _mm256_cmpeq_epi8(places, last));
    _mm256_storeu_si256(at, _mm256_blendv_epi8(stay, come, is_moving));
}
#endif

/* Bits first + width .. last - 1 move down by as many as a slot has. */
static inline void slide_bits_down(uint8_t *slots, unsigned first, unsigned last, unsigned width)
{
    for (unsigned i = first / 64; i <= (last - 1) / 64; i++) {
        uint64_t from = i + 1 < width ? le64(slots + 8 * (i + 1)) << (64 - width) : 0;
        put_bits(slots + 8 * i, le64(slots + 8 * i) >> width | from, bits_of_word(i, first, last));
    }
}

/* Slots lo + 1 .. top move down by one, and slot top becomes x. */
static inline void slide_down(uint8_t *slots, unsigned lo, unsigned top, unsigned width, uint32_t x)
{
    unsigned first = lo * width, last = (top + 1) * width;

#ifdef __AVX2__
    if (width == 8) {
        slide_bytes_down(slots, lo, top, x, 0);
        slide_bytes_down(slots, lo, top, x, 1);
        return;
    }
#endif
    if (packed_is_plain(width))
        memmove(slots + first / 8, slots + first / 8 + width / 8, (top - lo) * width / 8);
    else
        slide_bits_down(slots, first, last, width);
    packed_put(slots, top, width, x);
}

/* Slots i .. gap - 1 move up by one, with the ends of runs; the gap is empty. */
static inline void shift_up(const table *t, uint64_t i, uint64_t gap)
{
    for (uint64_t k = gap / BLOCK;; k--) {
        uint8_t *b = block_at(t, k);
        bool is_first = k == i / BLOCK;
        unsigned lo = is_first ? i % BLOCK : 0, hi = k == gap / BLOCK ? gap % BLOCK : BLOCK - 1;
        uint64_t ends = runends(b), moving = up_to(hi) & ~below(lo);

        slide_up(b + SLOTS, lo, hi, t->width);
        ends = (ends & ~moving) | (ends << 1 & moving & ~(UINT64_C(1) << lo));
        if (!is_first) {
            const uint8_t *before = block_at(t, k + t->blocks - 1);
            packed_put(b + SLOTS, 0, t->width, packed_get(before + SLOTS, BLOCK - 1, t->width));
            ends |= runends(before) >> (BLOCK - 1);
        }
        put_le64(b + RUNENDS, ends);
        if (is_first)
            return;
    }
}

/* Blocks after that of q which start up to slot `last` have one slot more from before. */
static inline void raise_offsets(const table *t, uint64_t q, uint64_t last)
{
    for (uint64_t k = q / BLOCK + 1; k <= last / BLOCK; k++) {
        uint8_t *offset = block_at(t, k) + OFFSET;
        *offset = (uint8_t)(*offset + (*offset != FAR));
    }
}

/* Offsets that were too large to be written, of the blocks after that of q which start up to slot
 * `last`, are counted anew, from the first on. */
static inline void settle_far_offsets(const table *t, uint64_t q, uint64_t last)
{
    for (uint64_t k = q / BLOCK + 1; k <= last / BLOCK; k++) {
        uint8_t *offset = block_at(t, k) + OFFSET;
        if (*offset == FAR) {
            uint64_t truth = far_offset(t, k);
            *offset = truth < FAR ? (uint8_t)truth : FAR;
        }
    }
}

/* One slot less. True: it is too large to be written, or was. */
static inline bool lower_offset(uint8_t *block)
{
    bool is_far = block[OFFSET] == FAR;

    block[OFFSET] = (uint8_t)(block[OFFSET] - !is_far);
    return is_far;
}

/* Slot i, in the run of q or at its end, becomes free for that run: what is there moves up. */
static inline void open_slot(const table *t, uint64_t q, run *r, uint64_t i)
{
    uint64_t gap = find_gap(t, i);

    shift_up(t, i, gap);
    raise_offsets(t, q, gap);
    if (i == r->end)
        set_bit(block_at(t, i / BLOCK) + RUNENDS, i % BLOCK);
    if (i == r->end && r->is_there)
        clear_bit(block_at(t, (i - 1) / BLOCK) + RUNENDS, (i - 1) % BLOCK);
    if (!r->is_there)
        set_bit(block_at(t, q / BLOCK), q % BLOCK);
    r->is_there = true;
    r->end++;
}

/* Slots lo + 1 .. top of a block move down by one, with the ends of runs; slot top becomes x, and
 * what ends there. */
static inline void close_block(uint8_t *b, unsigned width, unsigned lo, unsigned top, uint32_t x,
                               uint64_t end)
{
    uint64_t ends = runends(b), moving = up_to(top) & ~below(lo);

    slide_down(b + SLOTS, lo, top, width, x);
    ends = (ends & ~moving) | (ends >> 1 & (moving >> 1 & ~below(lo))) | end << top;
    put_le64(b + RUNENDS, ends);
}

/* Slot i goes: what is after it moves down, block by block, as far as it is not at home. Returns
 * the block where that ends; `is_far`: on the way there are offsets to be counted anew. */
static inline uint64_t shift_down(const table *t, uint64_t i, bool *is_far)
{
    uint64_t k = i / BLOCK, rest;
    uint8_t *b = block_at(t, k), *next;
    unsigned lo = i % BLOCK;

    for (rest = edges(b) & ~up_to(lo); !rest; lo = 0, b = next, k++) {
        next = block_at(t, k + 1);
        rest = edges(next);
        if (rest & 1) {
            close_block(b, t->width, lo, BLOCK - 1, 0, 0);
            return k;
        }
        close_block(b, t->width, lo, BLOCK - 1, packed_get(next + SLOTS, 0, t->width),
                    runends(next) & 1);
        *is_far |= lower_offset(next);
    }
    close_block(b, t->width, lo, (unsigned)__builtin_ctzll(rest) - 1, 0, 0);
    return k;
}

/* Slot i leaves the run of q. */
static inline void close_slot(const table *t, uint64_t q, run *r, uint64_t i)
{
    bool is_far = false;

    uint64_t last = shift_down(t, i, &is_far);
    for (uint64_t k = q / BLOCK + 1; k <= i / BLOCK; k++)
        is_far |= lower_offset(block_at(t, k));
    r->end--;
    r->is_there = r->end > r->start;
    if (!r->is_there)
        clear_bit(block_at(t, q / BLOCK), q % BLOCK);
    else if (i == r->end)
        set_bit(block_at(t, (i - 1) / BLOCK) + RUNENDS, (i - 1) % BLOCK);
    if (is_far)
        settle_far_offsets(t, q, last * BLOCK);
}

/* An entry gets these slots instead of those that it has. */
static inline void replace_entry(const table *t, uint64_t q, run *r, const entry *e,
                                 const uint32_t *code, unsigned n)
{
    for (unsigned i = e->slots; i < n; i++)
        open_slot(t, q, r, e->at + i);
    for (unsigned i = e->slots; i > n; i--)
        close_slot(t, q, r, e->at + i - 1);
    for (unsigned i = 0; i < n; i++)
        put_slot(t, e->at + i, code[i]);
}

/* ---- In order ---------------------------------------------------------- */

/* Goes through all entries from the lowest quotient and remainder on. Starts with zeros but for the
 * table. */
typedef struct walk {
    table t;
    uint64_t after; /* the quotient whose run it is in, and one; 0: not begun */
    uint64_t i, end;
    uint32_t remainder;
    uint64_t count;
} walk;

static inline uint64_t next_occupied(const table *t, uint64_t q)
{
    uint64_t k = q / BLOCK,
             rest = k < t->blocks ? occupieds(block_at(t, k)) & ~below(q % BLOCK) : 0;

    while (!rest && ++k < t->blocks)
        rest = occupieds(block_at(t, k));
    return rest ? k * BLOCK + (unsigned)__builtin_ctzll(rest) : t->slots;
}

static inline uint64_t next_runend(const table *t, uint64_t i)
{
    uint64_t ends = runends(block_at(t, i / BLOCK)) & ~below(i % BLOCK);
    table copy = *t;

    if (ends)
        return i / BLOCK * BLOCK + (unsigned)__builtin_ctzll(ends);
    return i / BLOCK * BLOCK + nth_runend(&copy, i / BLOCK, i % BLOCK, 1);
}

static inline bool walk_to_next_run(walk *w)
{
    uint64_t q = next_occupied(&w->t, w->after);

    if (q >= w->t.slots)
        return false;
    w->after = q + 1;
    w->i = w->i > q ? w->i : q;
    w->end = next_runend(&w->t, w->i) + 1;
    return w->end <= 2 * w->t.slots;
}

/* Most entries are one slot. What is longer is read from a copy of the table, so that the walk can
 * stay in registers. */
static inline entry walk_entry(const walk *w, uint32_t *x)
{
    *x = slot(&w->t, w->i);
    if (w->i + 1 == w->end || (*x && slot(&w->t, w->i + 1) > *x))
        return (entry){ w->i, 1, 1 };
    table t = w->t;
    uint32_t same;
    return read_entry(&t, w->i, w->end, &same);
}

/* False: there is no more. Ends whatever the bytes are: slots only ascend, and not beyond the
 * second round. */
static inline bool walk_on(walk *w)
{
    if (w->after == 0) {
        table t = w->t;
        w->i = w->end = offset_of(&t, 0);
    }
    if (w->i >= w->end && !walk_to_next_run(w))
        return false;
    entry e = walk_entry(w, &w->remainder);
    w->count = e.count;
    w->i += e.slots;
    return true;
}

/* Writes to an empty table from the lowest quotient and remainder on, without moving anything. The
 * words that are written to stay in hand until others are. */
typedef struct track {
    table t;
    uint64_t after; /* the quotient written last, and one */
    uint64_t i;     /* the slot after it */
    bool is_around; /* the end of the table was reached: from now on, things have to be moved */
    uint8_t *home, *block;
    uint64_t occupied, ends; /* of home, and of block */
} track;

static inline track track_of(table t, uint64_t after, uint64_t i, bool is_around)
{
    uint8_t *block = t.at + (i ? i - 1 : 0) / BLOCK * t.stride;

    return (track){ t, after, i, is_around, block, block, occupieds(block), runends(block) };
}

/* What is in hand is put where it belongs. */
static inline void track_rest(const track *w)
{
    put_le64(w->home, w->occupied);
    put_le64(w->block + RUNENDS, w->ends);
}

static inline void settle_offsets(const table *t)
{
    uint64_t offset = 0;

    for (uint64_t k = 0; k < t->blocks; k++) {
        uint8_t *b = block_at(t, k);
        unsigned runs = ones(occupieds(b));
        uint64_t end = runs ? nth_runend(t, k, offset, runs) + 1 : offset;
        b[OFFSET] = offset < FAR ? (uint8_t)offset : FAR;
        offset = end > BLOCK ? end - BLOCK : 0;
    }
}

/* The table is whole again. */
static inline void track_end(track *w)
{
    if (w->is_around)
        return;
    track_rest(w);
    settle_offsets(&w->t);
}

static inline void track_to_home(track *w, uint8_t *home)
{
    put_le64(w->home, w->occupied);
    w->home = home;
    w->occupied = occupieds(home);
}

static inline void track_to_block(track *w, uint8_t *block)
{
    put_le64(w->block + RUNENDS, w->ends);
    w->block = block;
    w->ends = runends(block);
}

/* One slot more for the run of q, without a branch on whether it is the first. */
static inline void track_slot(track *w, uint64_t q, uint32_t x)
{
    uint64_t i = w->i > q ? w->i : q, is_next = w->after == q + 1;
    uint8_t *home = w->t.at + q / BLOCK * w->t.stride, *block = w->t.at + i / BLOCK * w->t.stride;
    unsigned j = i % BLOCK;

    if (home != w->home)
        track_to_home(w, home);
    w->occupied |= UINT64_C(1) << q % BLOCK;
    /* The slot before is no end any more. */
    w->ends &= ~(is_next << (i - 1) % BLOCK);
    if (block != w->block)
        track_to_block(w, block);
    w->ends |= UINT64_C(1) << j;
    packed_put(block + SLOTS, j, w->t.width, x);
    w->after = q + 1;
    w->i = i + 1;
}

/* Runs that go around the end push those at the start aside. */
static inline void track_around(track *w, uint64_t q, const uint32_t *code, unsigned n)
{
    track_end(w);
    w->is_around = true;
    run r = find_run(&w->t, q);
    entry e = { .at = r.end };
    replace_entry(&w->t, q, &r, &e, code, n);
}

static inline bool track_fits(const track *w, uint64_t q, unsigned n)
{
    return !w->is_around && (w->i > q ? w->i : q) + n <= w->t.slots;
}

/* Appends the n slots of an entry. */
static inline void track_put(track *w, uint64_t q, const uint32_t *code, unsigned n)
{
    if (!track_fits(w, q, n)) {
        track_around(w, q, code, n);
        return;
    }
    for (unsigned k = 0; k < n; k++)
        track_slot(w, q, code[k]);
}

#endif
