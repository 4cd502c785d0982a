/* coder.h - bits of which a known share is set, written in as many bits as that takes.
 *
 * A block of bits is cut into groups of 2^top, so long that about a third of them has a set bit,
 * and each group into halves. What is coded are answers to one question, in the order of the bits:
 * is this node all clear? It is asked of each group, of the left half of each node that is not
 * clear, and of the right half where the left one is not clear either; where it is, the right one
 * cannot be. If bits are set independently with probability p, a node of 2^j bits is clear with
 *
 *   zero[j] = (1 - p)^(2^j)       and the left half of one that is not clear, with
 *   left[j] = zero[j] / (1 + zero[j])
 *
 * so that all answers together take what the bits do, and there are a few of them for each set bit
 * however rare those are. Each answer narrows an interval of numbers, as in all arithmetic coding;
 * the block is the number in the last one that has the fewest bytes. All of it is done in integers:
 * every machine writes the same bytes.
 *
 * Rissanen: Generalized Kraft Inequality and Arithmetic Coding, 1976. Martin: Range Encoding, an
 * Algorithm for Removing Redundancy from a Digitised Message, 1979. */
#ifndef TAMIS_BLOOM_CODER_H
#define TAMIS_BLOOM_CODER_H

#include "base/bits.h"
#include "base/le.h"

/* ---- The model --------------------------------------------------------- */

/* A block has at most 2^MOST_LEVEL bits: an answer that is as good as certain costs 2^-16 bits. */
enum { MOST_LEVEL = 24 };

typedef struct model {
    bool inverted; /* more bits are set than clear: it is the clear ones that are coded */
    bool certain;  /* all bits are the same, and nothing is coded */
    unsigned top;
    uint16_t zero[MOST_LEVEL + 1], left[MOST_LEVEL + 1]; /* of 2^16 */
} model;

/* part / whole, of 2^64; part is less than whole, and that less than 2^48. */
static inline uint64_t share_of(uint64_t part, uint64_t whole)
{
    uint64_t share = 0;

    for (int i = 0; i < 4; i++) {
        part <<= 16;
        share = share << 16 | part / whole;
        part %= whole;
    }
    return share;
}

static inline void add_level(model *m, unsigned j, uint64_t some)
{
    uint64_t clear = (UINT64_C(1) << 32) - (some >> 32), zero = clear >> 16;

    m->zero[j] = (uint16_t)(zero < 0xffff ? zero : 0xffff);
    m->left[j] = (uint16_t)((clear << 16) / ((UINT64_C(1) << 32) + clear));
}

/* Levels are added for as long as a node is rather clear than not. */
static inline model model_of(uint64_t ones, uint64_t bits)
{
    model m = { .inverted = ones > bits - ones };
    uint64_t some = share_of(m.inverted ? bits - ones : ones, bits);

    m.certain = some == 0;
    add_level(&m, 0, some);
    while (m.top < MOST_LEVEL && some <= UINT64_C(3) << 61) {
        some = 2 * some - mul_high64(some, some);
        if (some > UINT64_C(1) << 63)
            break;
        add_level(&m, ++m.top, some);
    }
    return m;
}

/* ---- The walk over the tree -------------------------------------------- */

typedef struct walk {
    uint64_t at;      /* the set bit that was found last */
    uint64_t group;   /* where the next group starts */
    uint64_t end;     /* of the block */
    uint32_t pending; /* bit j: the right half of 2^j bits, of a node around `at`, comes yet */
} walk;

/* Whether the node that ends there is clear: the writer knows, the reader finds out. */
typedef bool answer(void *coder, uint64_t end, uint64_t zero);

/* Goes to the next set bit; false: there is none. The block's last group may reach beyond it. */
__attribute__((always_inline)) static inline bool walk_on(walk *w, const model *m, answer *is_clear,
                                                          void *coder)
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

/* ---- Reading ----------------------------------------------------------- */

/* Numbers are fractions, the first byte being the highest; zeros follow the last. */
typedef struct decoder {
    const uint8_t *from, *end; /* what was not read yet */
    uint64_t code, range;      /* above the start of the interval; its length */
    uint64_t window;           /* the last 64 bits read */
} decoder;

static inline uint32_t be32(const uint8_t *p)
{
    return __builtin_bswap32(le32(p));
}

static inline uint32_t read_rest(decoder *d)
{
    uint8_t last[4] = { 0 };
    size_t n = (size_t)(d->end - d->from);

    memcpy(last, d->from, n);
    d->from = d->end;
    return be32(last);
}

static inline void read_word(decoder *d)
{
    uint32_t word;

    if (d->end - d->from >= 4) {
        word = be32(d->from);
        d->from += 4;
    } else {
        word = read_rest(d);
    }
    d->code = d->code << 32 | word;
    d->window = d->window << 32 | word;
}

static inline decoder decoder_of(const uint8_t *from, const uint8_t *end)
{
    decoder d = { .from = from, .end = end, .range = UINT64_MAX };

    read_word(&d);
    read_word(&d);
    return d;
}

static inline bool read_answer(void *coder, uint64_t end, uint64_t zero)
{
    decoder *d = coder;
    uint64_t bound = (d->range >> 16) * zero;
    bool is_clear = d->code < bound;

    (void)end;
    if (is_clear) {
        d->range = bound;
    } else {
        d->code -= bound;
        d->range -= bound;
    }
    if (d->range >> 32 == 0) {
        d->range <<= 32;
        read_word(d);
    }
    return is_clear;
}

/* Of all numbers from `low` on, `range` many, that with the most zero bytes at its end. */
static inline uint64_t shortest_number(uint64_t low, uint64_t range)
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

/* Whether what was read is what would be written: the shortest number, and not a byte of zeros
 * behind it. */
static inline bool is_read_to_end(const decoder *d, const uint8_t *start)
{
    uint64_t low = d->window - d->code;

    return d->from == d->end && d->code < d->range && shortest_number(low, d->range) == d->window &&
           (d->end == start || d->end[-1]);
}

/* ---- Writing ----------------------------------------------------------- */

typedef struct encoder {
    uint8_t *start, *to, *end; /* of the block; where to write; of the room for it */
    uint64_t low, range;
    bool full;
    const uint8_t *bits; /* that are coded, of `last` in all */
    uint64_t first, last;
    uint64_t next; /* set bit, from the first one of the block; far beyond if there is none */
    uint64_t flip; /* all ones if clear bits count as set */
} encoder;

/* The first set bit from there on. */
static inline void find_next(encoder *e, uint64_t from)
{
    uint64_t at = e->first + from;

    e->next = UINT64_MAX;
    while (at < e->last) {
        uint64_t word = (le64(e->bits + at / 64 * 8) ^ e->flip) >> at % 64;
        if (word) {
            at += (uint64_t)__builtin_ctzll(word);
            e->next = at < e->last ? at - e->first : UINT64_MAX;
            return;
        }
        at = (at / 64 + 1) * 64;
    }
}

/* The number passed the next power of two: what was written gets one more. It is less than 1, so
 * that there is a byte to take it. */
static inline void carry(encoder *e)
{
    for (uint8_t *at = e->to; at > e->start && ++*--at == 0;)
        ;
}

static inline void write_word(encoder *e)
{
    if (e->end - e->to < 4) {
        e->full = true;
    } else {
        put_le32(e->to, __builtin_bswap32((uint32_t)(e->low >> 32)));
        e->to += 4;
    }
    e->low <<= 32;
    e->range <<= 32;
}

static inline bool write_answer(void *coder, uint64_t end, uint64_t zero)
{
    encoder *e = coder;
    uint64_t bound = (e->range >> 16) * zero;
    bool is_clear = e->next >= end;

    if (is_clear) {
        e->range = bound;
    } else {
        e->low += bound;
        e->range -= bound;
        if (e->low < bound)
            carry(e);
    }
    if (e->range >> 32 == 0)
        write_word(e);
    return is_clear;
}

/* The last number, as far as it is not zeros. */
static inline void write_end(encoder *e)
{
    uint64_t x = shortest_number(e->low, e->range);

    if (x < e->low)
        carry(e);
    for (; x && !e->full; x <<= 8)
        if (e->to < e->end)
            *e->to++ = (uint8_t)(x >> 56);
        else
            e->full = true;
    while (e->to > e->start && e->to[-1] == 0)
        e->to--;
}

#endif
