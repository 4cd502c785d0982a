/* xorplus.c - xor filter whose third block is mostly zeros, of which only the others are kept.
 *
 * As in xor.c, a key has a slot in each of three blocks, and the xor of them is its fingerprint.
 * Which of its slots is the key's own is a matter of choice: here, one of the third block is, only
 * if none of another block can be. The first two blocks are almost all used then, and the third has
 * slots that no key owns, which stay zero. A bit for each slot tells whether it is zero; those that
 * are not lie side by side, and ones among the bits before are counted to find them.
 *
 * A slot of the third block that stays zero costs a bit or so instead of plan.width. So the third
 * block is twice as long as each of the others, which are shorter than those of a xor filter: that
 * takes 1.27 slots a key to peel, of which 0.32 are bits.
 *
 * Payload: parts of one size (base/parts.h). A part has
 *
 *   lines    of 64 bytes, for 448 slots of the third block each, the last one cut short
 *   head     as in blocks.h
 *   slots    of the first block, of the second, then those of the third that are not zero
 *
 * A line has seven words of bits behind a word of counts: in its bits 0 .. 31, the ones in the
 * lines before; from bit 32 on, three times nine bits, the ones in the first 2, 4 and 6 words.
 * Zeros are the empty filter; every payload is valid, and a slot that would lie beyond the end is
 * the last.
 *
 * Graf, Lemire: Xor Filters: Faster and Smaller Than Bloom and Cuckoo Filters, 2020. */
#include "fuse/xorplus.h"

#include "base/cpu.h"
#include "fuse/peel_blocks.h"

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    return is_shape(p) ? bytes_of_parts(p->capacity, part_bytes_of(p)) : 0;
}

/* 1.2715 slots a key are the threshold; the rest was found by trial. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return plan_by(p, spec, &(sizing){ .threshold = 83328, .luck = 28, .least = 2 });
}

/* ---- Kernels ----------------------------------------------------------- */

static void for_cpu(tamis *f, unsigned cpu)
{
    (void)cpu;
    prepare(f);
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__xorplus_use_avx2(f);
#endif
}

/* ---- Checking ---------------------------------------------------------- */

/* The word of counts of a line, after `ones` ones. */
static uint64_t counts_of(const uint8_t *line, unsigned words, uint64_t ones)
{
    uint64_t counts = ones, in_line = 0;

    for (unsigned i = 0; i < words; i++) {
        if (i && i % 2 == 0)
            counts |= in_line << (32 + COUNT_BITS * (i / 2 - 1));
        in_line += ones_of(le64(line + 8 + 8 * i), 0);
    }
    return counts;
}

/* Whether the counts are right, and every one has its slot. */
static bool is_third(const uint8_t *part, const tamis_plan *p)
{
    const uint8_t *end = part + line_bytes_of(p);
    uint64_t ones = 0, left = third_of(p);

    for (const uint8_t *line = part; line < end; line += LINE_BYTES) {
        unsigned bits = left < LINE_BITS ? (unsigned)left : LINE_BITS, words = (bits + 63) / 64;
        if (le64(line) != counts_of(line, words, ones))
            return false;
        if (bits % 64 && le64(line + 8 * words) >> bits % 64)
            return false;
        ones += count_ones(line + 8, 8 * words);
        left -= bits;
    }
    return ones <= kept_of(p);
}

/* ---- Building ---------------------------------------------------------- */

static uint64_t store_bytes(const tamis_plan *p)
{
    return packed_bytes(p->slots, p->width);
}

/* Slots of the first two blocks: whole bytes, then what is left of one. */
static void store_first(const peeling *q, uint8_t *array)
{
    uint64_t bits = 2 * q->s.length * q->s.width;

    memcpy(array, q->spare, bits / 8);
    if (bits % 8)
        array[bits / 8] = (uint8_t)(q->spare[bits / 8] & ((1u << bits % 8) - 1));
}

static void set_bit(uint8_t *line, unsigned bit)
{
    line[8 + bit / 8] = (uint8_t)(line[8 + bit / 8] | 1u << bit % 8);
}

/* Slots of a line, from `slot` on; returns where in the array the next line goes on. */
static uint64_t store_line(const peeling *q, uint8_t *line, uint8_t *array, uint64_t slot,
                           uint64_t at)
{
    uint64_t ones = at - 2 * q->s.length, left = q->slots - slot;
    unsigned bits = left < LINE_BITS ? (unsigned)left : LINE_BITS;

    for (unsigned bit = 0; bit < bits; bit++) {
        uint32_t x = packed_get(q->spare, slot + bit, q->s.width);
        if (!x)
            continue;
        set_bit(line, bit);
        packed_put(array, at++, q->s.width, x);
    }
    put_le64(line, counts_of(line, (bits + 63) / 64, ones));
    return at;
}

static uint64_t count_kept(const peeling *q)
{
    uint64_t n = 0;

    for (uint64_t i = 2 * q->s.length; i < q->slots; i++)
        n += packed_get(q->spare, i, q->s.width) != 0;
    return n;
}

static bool store(const peeling *q, uint8_t *part)
{
    uint8_t *array = part + q->s.head + HEAD_BYTES;
    uint64_t at = 2 * q->s.length;

    memset(q->spare, 0, packed_bytes(q->slots, q->s.width));
    fill(q, q->spare);
    if (at + count_kept(q) > q->s.last + 1)
        return false;
    store_first(q, array);
    for (uint64_t slot = at; slot < q->slots; slot += LINE_BITS, part += LINE_BYTES)
        at = store_line(q, part, array, slot, at);
    return true;
}

const tamis_ops tamis__xorplus = {
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .has = has,
    .has_many = has_many,
    .solve = solve,
    .scratch = scratch,
};
