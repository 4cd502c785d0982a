/* xor_template.h - TEMPLATE, compiled once for each kind of xor filter: its sizes and its table.
 * The includer defines THIRD (see xor_layout_template.h), and
 *
 *   XOR_OPS            name of the table
 *   XOR_USE_AVX2       name of the function for AVX2, if there is one
 *   XOR_USE_AVX512     and of that for AVX-512
 *   SLOTS_FOR_2_16     slots for 2^16 keys
 *   SLOTS_FOR_LUCK     more slots for each 16 of the root of the number of keys
 *
 * With fewer slots a key than a threshold, a large set cannot be peeled; with more, it can. The
 * smaller the set, the more luck it has, good or bad: in proportion to the root of its size. */
#include "base/cpu.h"
#include "fuse/xor_explain_template.h"
#include "fuse/xor_lookup_template.h"
#include "fuse/xor_peel_template.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Beyond this, too few bits of a hash are left to tell keys of a part apart. */
#define MOST_KEYS (UINT64_C(1) << 48)

/* Slots are numbered in 32 bits. */
static uint64_t xor_bytes(const tamis_plan *p)
{
    if (p->width < 1 || p->width > PACKED_WIDEST || p->hashes != ARITY ||
        p->slots >= UINT64_C(1) << 31 || p->slots < LENGTHS || p->slots % LENGTHS ||
        p->capacity >= MOST_KEYS || p->flags || p->load)
        return 0;
    return bytes_of_parts(p->capacity, xor_shape_of(p).part_bytes);
}

static tamis_status xor_plan(tamis_plan *p, const tamis_spec *spec)
{
    uint64_t n = part_room(spec->keys), slots;

    p->width = fingerprint_width(spec);
    p->hashes = ARITY;
    if (p->width > PACKED_WIDEST || spec->keys >= MOST_KEYS)
        return TAMIS_RANGE;
    slots = (n * SLOTS_FOR_2_16 >> 16) + ((uint64_t)sqrt((double)n) * SLOTS_FOR_LUCK >> 4) + 2;
    p->slots = (slots + LENGTHS - 1) / LENGTHS * LENGTHS;
    return TAMIS_OK;
}

/* One slot in sixteen more. */
static tamis_status xor_resize(tamis_plan *p, uint64_t keys)
{
    uint64_t length = p->slots / LENGTHS;

    (void)keys;
    p->slots = (length + length / 16 + 1) * LENGTHS;
    return TAMIS_OK;
}

/* ---- The table --------------------------------------------------------- */

#if THIRD == 1
static bool xor_is_counted(const uint8_t *part, const tamis *f)
{
    (void)part, (void)f;
    return true;
}
#else
/* Whether the counts are right, and every one has its slot. */
static bool xor_is_counted(const uint8_t *part, const tamis *f)
{
    const xor_shape *s = xor_shape_in(f);
    uint64_t ones = 0, left = THIRD * s->length;

    for (const uint8_t *line = part; line < part + s->head; line += LINE_BYTES) {
        unsigned bits = left < LINE_BITS ? (unsigned)left : LINE_BITS, words = (bits + 63) / 64;
        if (le64(line) != xor_counts_of(line, words, ones))
            return false;
        if (bits % 64 && le64(line + 8 * words) >> bits % 64)
            return false;
        ones += count_ones(line + 8, 8 * words);
        left -= bits;
    }
    return 2 * s->length + ones <= s->last + 1;
}
#endif

static const char *xor_verify(const tamis *f)
{
    const xor_shape *s = xor_shape_in(f);
    uint64_t keys = 0;

    for (uint64_t at = 0; at < f->plan.bytes; at += s->part_bytes) {
        const uint8_t *part = (const uint8_t *)f->payload + at, *head = part + s->head;
        if (head[HEAD_STASHED] > STASH)
            return "a stash of more keys than fit";
        if (!xor_is_counted(part, f))
            return "slots that are not zero are counted wrong";
        keys += le32(head);
    }
    return keys == f->count ? NULL : "the keys of the parts are not the count";
}

static void xor_for_cpu(tamis *f, unsigned cpu)
{
    const xor_shape s = xor_shape_of(&f->plan);

    memcpy(f->derived, &s, sizeof s);
    xor_use(f);
#if defined(__x86_64__) && defined(XOR_USE_AVX2)
    if (cpu & TAMIS_CPU_AVX2)
        XOR_USE_AVX2(f);
#endif
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX512)
        XOR_USE_AVX512(f);
#endif
    (void)cpu;
}

const tamis_ops XOR_OPS = {
    .traits = TAMIS_TRAIT_TAG_BITS | TAMIS_TRAIT_IS_PEELED | TAMIS_TRAIT_TO_STUDY,
    .plan = xor_plan,
    .bytes = xor_bytes,
    .rate = fingerprint_rate,
    .resize = xor_resize,
    .for_cpu = xor_for_cpu,
    .verify = xor_verify,
    .has = xor_has,
    .has_many = xor_has_many,
    .solve = xor_solve,
    .scratch = xor_scratch,
    .cells = xor_cells,
    .explain = xor_explain,
};
