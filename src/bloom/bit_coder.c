/* bit_coder.c - bits of which a known share is set, written in as many bits as that takes.
 *
 * A block of bits is cut into groups of 2^top, so long that about a third of them has a set bit,
 * and each group into halves. What is coded are answers to one question, in the order of the bits:
 * is this node all clear? It is asked of each group, of the left half of each node that is not
 * clear, and of the right half where the left one is not clear either; where it is, the right one
 * cannot be.
 *
 *   a group of 8       0 0 0 1 0 0 1 0       clear?  no
 *   its left half      0 0 0 1               clear?  no
 *     left of that     0 0                   clear?  yes: then bits 2 and 3 are not
 *       left of those      0                 clear?  yes: then bit 3 is set
 *   its right half             0 0 1 0       clear?  no, and so on
 *
 * If bits are set independently with probability p, a node of 2^j bits is clear with
 *
 *   zero[j] = (1 - p)^(2^j)       and the left half of one that is not clear, with
 *   left[j] = zero[j] / (1 + zero[j])
 *
 * so that all answers together take what the bits do, and there are a few of them for each set bit
 * however rare those are. Each answer narrows an interval of numbers, as in all arithmetic coding;
 * the block is the number in the last one that has the fewest bytes. Numbers are fractions, the
 * first byte being the highest. All of it is done in integers: every machine writes the same bytes.
 *
 * Rissanen: Generalized Kraft Inequality and Arithmetic Coding, 1976. Martin: Range Encoding, an
 * Algorithm for Removing Redundancy from a Digitised Message, 1979. */
#include "bloom/bit_coder.h"

#include "base/le.h"

/* ---- The model --------------------------------------------------------- */

static void bit_coder_add_level(bit_coder_model *m, unsigned j, uint64_t some)
{
    uint64_t clear = (UINT64_C(1) << 32) - (some >> 32), zero = clear >> 16;

    m->zero[j] = (uint16_t)(zero < 0xffff ? zero : 0xffff);
    m->left[j] = (uint16_t)((clear << 16) / ((UINT64_C(1) << 32) + clear));
}

/* Levels are added for as long as a node is rather clear than not. `bits` is below 2^48. */
bit_coder_model tamis__bit_coder_model(uint64_t ones, uint64_t bits)
{
    bit_coder_model m = { .inverted = ones > bits - ones };
    uint64_t part = m.inverted ? bits - ones : ones, some = 0; /* part / bits, of 2^64 */

    for (int i = 0; i < 4; i++) {
        part <<= 16;
        some = some << 16 | part / bits;
        part %= bits;
    }
    m.certain = some == 0;
    bit_coder_add_level(&m, 0, some);
    while (m.top < BIT_CODER_LEVELS && some <= UINT64_C(3) << 61) {
        some = 2 * some - mul_high64(some, some);
        if (some > UINT64_C(1) << 63)
            break;
        bit_coder_add_level(&m, ++m.top, some);
    }
    return m;
}

/* ---- The walk over the tree -------------------------------------------- */

/* Whether the node that ends there is clear: the writer knows, the reader finds out. */
typedef bool bit_coder_answer(void *coder, uint64_t end, uint64_t zero);

/* Goes to the next set bit; false: there is none. The block's last group may reach beyond it. */
__attribute__((always_inline)) static inline bool
bit_coder_step(bit_coder_walk *w, const bit_coder_model *m, bit_coder_answer *is_clear, void *coder)
{
    unsigned j;

    do {
        if (w->pending) {
            j = (unsigned)__builtin_ctz(w->pending);
            w->pending &= w->pending - 1;
            w->at = (w->at >> j | 1) << j;
        } else {
            if (w->group >= w->end)
                return false;
            j = m->top;
            w->at = w->group;
            w->group += UINT64_C(1) << j;
        }
    } while (is_clear(coder, w->at + (UINT64_C(1) << j), m->zero[j]));
    while (j-- > 0)
        if (is_clear(coder, w->at + (UINT64_C(1) << j), m->left[j]))
            w->at += UINT64_C(1) << j;
        else
            w->pending |= UINT32_C(1) << j;
    return true;
}

/* Of all numbers from `low` on, `range` many, that with the most zero bytes at its end. */
static uint64_t bit_coder_shortest(uint64_t low, uint64_t range)
{
    if (-low < range)
        return 0;
    for (int zeros = 56; zeros > 0; zeros -= 8) {
        uint64_t step = UINT64_C(1) << zeros, x = (low + step - 1) & -step;
        if (x - low < range)
            return x;
    }
    return low;
}

/* ---- Reading ----------------------------------------------------------- */

/* Zeros follow the last byte. */
static inline void bit_coder_read_word(bit_coder_reader *r)
{
    uint8_t last[4] = { 0 };
    const uint8_t *word = r->from;

    if (r->end - r->from >= 4) {
        r->from += 4;
    } else {
        memcpy(last, r->from, (size_t)(r->end - r->from));
        r->from = r->end;
        word = last;
    }
    r->recent = r->recent << 32 | __builtin_bswap32(le32(word));
    r->code = r->code << 32 | (uint32_t)r->recent;
}

static inline bool bit_coder_read_answer(void *coder, uint64_t end, uint64_t zero)
{
    bit_coder_reader *r = coder;
    uint64_t bound = (r->range >> 16) * zero;
    bool is_clear = r->code < bound;

    (void)end;
    if (is_clear) {
        r->range = bound;
    } else {
        r->code -= bound;
        r->range -= bound;
    }
    if (r->range >> 32 == 0) {
        r->range <<= 32;
        bit_coder_read_word(r);
    }
    return is_clear;
}

bit_coder_reader tamis__bit_coder_read(const uint8_t *from, const uint8_t *end, uint64_t n)
{
    bit_coder_reader r = {
        .walk = { .end = n }, .start = from, .from = from, .end = end, .range = UINT64_MAX
    };

    bit_coder_read_word(&r);
    bit_coder_read_word(&r);
    return r;
}

bool tamis__bit_coder_seek(bit_coder_reader *r, const bit_coder_model *m, uint64_t bit)
{
    do {
        bool found = bit_coder_step(&r->walk, m, bit_coder_read_answer, r);
        r->strayed = found && r->walk.at >= r->walk.end;
        r->done = !found || r->strayed;
    } while (!r->done && r->walk.at < bit);
    return !r->done;
}

bool tamis__bit_coder_is_whole(const bit_coder_reader *r)
{
    uint64_t low = r->recent - r->code;

    return r->from == r->end && r->code < r->range &&
           bit_coder_shortest(low, r->range) == r->recent && (r->end == r->start || r->end[-1]);
}

/* ---- Writing ----------------------------------------------------------- */

typedef struct bit_coder_writer {
    uint8_t *start, *to, *end; /* of the block; where to write; of the room for it */
    uint64_t low, range;
    bool full;
    const uint8_t *bits; /* that are coded, of `last` in all */
    uint64_t first, last;
    uint64_t next; /* set bit, from the first one of the block; far beyond if there is none */
    uint64_t flip; /* all ones if clear bits count as set */
} bit_coder_writer;

/* The first set bit from there on. */
static void bit_coder_find_next(bit_coder_writer *w, uint64_t from)
{
    w->next = UINT64_MAX;
    for (uint64_t at = w->first + from; at < w->last; at = (at / 64 + 1) * 64) {
        uint64_t word = (le64(w->bits + at / 64 * 8) ^ w->flip) >> at % 64;
        if (word) {
            at += (uint64_t)__builtin_ctzll(word);
            w->next = at < w->last ? at - w->first : UINT64_MAX;
            return;
        }
    }
}

/* The number passed the next power of two: what was written gets one more. It is less than 1, so
 * that there is a byte to take it. */
static inline void bit_coder_carry(bit_coder_writer *w)
{
    for (uint8_t *at = w->to; at > w->start && ++*--at == 0;)
        ;
}

static inline bool bit_coder_write_answer(void *coder, uint64_t end, uint64_t zero)
{
    bit_coder_writer *w = coder;
    uint64_t bound = (w->range >> 16) * zero;
    bool is_clear = w->next >= end;

    if (is_clear) {
        w->range = bound;
    } else {
        w->low += bound;
        w->range -= bound;
        if (w->low < bound)
            bit_coder_carry(w);
    }
    if (w->range >> 32 == 0) {
        w->full = w->full || w->end - w->to < 4;
        if (!w->full) {
            put_le32(w->to, __builtin_bswap32((uint32_t)(w->low >> 32)));
            w->to += 4;
        }
        w->low <<= 32;
        w->range <<= 32;
    }
    return is_clear;
}

uint8_t *tamis__bit_coder_write(uint8_t *to, uint8_t *end, const bit_coder_model *m,
                                const uint8_t *bits, uint64_t first, uint64_t last)
{
    bit_coder_walk walk = { .end = last - first };
    bit_coder_writer w = { .start = to,
                           .to = to,
                           .end = end,
                           .range = UINT64_MAX,
                           .bits = bits,
                           .first = first,
                           .last = last,
                           .flip = m->inverted ? UINT64_MAX : 0 };

    bit_coder_find_next(&w, 0);
    while (bit_coder_step(&walk, m, bit_coder_write_answer, &w))
        bit_coder_find_next(&w, walk.at + 1);
    uint64_t x = bit_coder_shortest(w.low, w.range);
    if (x < w.low)
        bit_coder_carry(&w);
    for (; x && !w.full; x <<= 8)
        if (w.to < w.end)
            *w.to++ = (uint8_t)(x >> 56);
        else
            w.full = true;
    while (w.to > w.start && w.to[-1] == 0)
        w.to--;
    return w.full ? NULL : w.to;
}
