/* xor.c - xor filter: three slots a key, one in each of three blocks.
 *
 * The fingerprint of a key is the xor of its slots. They are found by peeling: see blocks.h for the
 * layout and peel_blocks.h for how they are filled. A set of random keys can be peeled if there are
 * more than 1.222 slots a key.
 *
 * Payload: parts of one size (base/parts.h), each with a head and its slots. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Xor Filters: Faster and Smaller Than Bloom and Cuckoo Filters, 2020. Botelho, Pagh,
 * Ziviani: Simple and Space-Efficient Minimal Perfect Hash Functions, 2007. */
#define THIRD 1

#include "fuse/peel_blocks.h"

/* ---- Sizing ------------------------------------------------------------ */

static inline uint64_t part_bytes_of(const tamis_plan *p)
{
    return round_up(HEAD_BYTES + packed_bytes(p->slots, p->width), 64);
}

static uint64_t bytes(const tamis_plan *p)
{
    return is_shape(p) ? bytes_of_parts(p->capacity, part_bytes_of(p)) : 0;
}

/* 1.2218 slots a key are the threshold; the rest was found by trial. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return plan_by(p, spec, &(sizing){ .threshold = 80072, .luck = 24, .least = 2 });
}

/* ---- Layout ------------------------------------------------------------ */

BLOCK_INLINE shape shape_of(const tamis_plan *p)
{
    unsigned bits = part_bits(p->capacity);

    return (shape){ .length = p->slots / LENGTHS,
                    .part_bytes = part_bytes_of(p),
                    .part_bits = bits,
                    .mark_shift = mark_shift_of(bits),
                    .width = p->width };
}

/* A slot of the third block is where it is. */
typedef struct third {
    uint32_t slot, mask;
} third;

BLOCK_INLINE void fetch_third(const uint8_t *part, const shape *s, uint32_t slot, unsigned plain)
{
    fetch(part + HEAD_BYTES, slot, s->width, plain);
}

BLOCK_INLINE third find_third(const uint8_t *part, const shape *s, uint32_t slot)
{
    (void)part;
    (void)s;
    return (third){ slot, UINT32_MAX };
}

#include "fuse/many_blocks.h"

static void for_cpu(tamis *f, unsigned cpu)
{
    (void)cpu;
    prepare(f);
}

/* ---- Building ---------------------------------------------------------- */

static bool is_third(const uint8_t *part, const tamis_plan *p)
{
    (void)part;
    (void)p;
    return true;
}

static uint64_t store_bytes(const tamis_plan *p)
{
    (void)p;
    return 0;
}

static bool store(const peeling *q, uint8_t *part)
{
    fill(q, part + HEAD_BYTES);
    return true;
}

const tamis_ops tamis__xor = {
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
