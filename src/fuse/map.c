/* map.c - static map: a key gives back the value that came with it, a stranger is turned away.
 *
 * The equations are those of the ribbon filter (fuse/ribbon.c): of the 64 slots from its start on,
 * those that the row of a key picks add up to a number of plan.width + plan.hashes bits. The low
 * plan.width bits of it are the value of the key, the high plan.hashes bits its fingerprint.
 *
 *   bit     0              width          width + hashes
 *           +--------------+--------------+
 *           |    value     | fingerprint  |   for keys
 *           +--------------+--------------+
 *           |   anything   |   anything   |   for strangers: 2^-hashes of them pass
 *           +--------------+--------------+
 *
 * No key is stored. A key costs the bits of its value and of its fingerprint and about half a
 * percent more, whatever the length of the key.
 *
 * Keys that come twice with one value are one key. With two values their equations contradict each
 * other, which is found out while solving: the second one is left without a row.
 *
 * Payload: parts (base/parts.h) of one chain of levels each (fuse/ribbon.h). Zeros are the empty
 * map.
 *
 * Chazelle, Kilian, Rubinfeld, Tal: The Bloomier Filter, 2004.
 * Dillinger, Huebschle-Schneider, Sanders, Walzer: Fast Succinct Retrieval and Approximate
 * Membership Using Ribbon, 2022. */
#include <math.h>

#include "fuse/pairs.h"

static inline shape shape_of_map(const tamis_plan *p)
{
    return (shape){ p->slots, part_bits(p->capacity), p->width + p->hashes, p->width };
}

/* ---- Sizing ------------------------------------------------------------ */

static bool is_bits(uint32_t bits)
{
    return bits >= 1 && bits <= MOST_WIDTH;
}

static uint64_t bytes(const tamis_plan *p)
{
    shape s = shape_of_map(p);

    if (p->slots > MOST_ROOM || !is_bits(p->width) || !is_bits(p->hashes))
        return 0;
    return bytes_of_parts(p->capacity, round_up(last_level(&s).end, 64));
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    p->slots = part_room(spec->keys);
    p->width = spec->value_bits;
    p->hashes = fingerprint_bits(spec->fpr);
    return is_bits(p->width) && is_bits(p->hashes) ? TAMIS_OK : TAMIS_RANGE;
}

static double rate(const tamis_plan *p, double n)
{
    return fingerprint_rate(p, n, p->hashes);
}

/* ---- Operations -------------------------------------------------------- */

static bool get(const tamis *f, uint64_t *value, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);
    shape s = shape_of_map(&f->plan);

    return tamis__pairs_get(value, &s, part_at(f, h, s.part_bits), h);
}

static bool has(const tamis *f, uint64_t key)
{
    uint64_t value;

    return get(f, &value, key);
}

static void touch(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);
    shape s = shape_of_map(&f->plan);

    tamis__pairs_touch(&s, part_at(f, h, s.part_bits), h);
}

static unsigned value_bits(const tamis_plan *p)
{
    return p->width;
}

/* ---- Building ---------------------------------------------------------- */

static size_t scratch(const tamis_plan *p, size_t n)
{
    shape s = shape_of_map(p);

    return tamis__pairs_scratch(&s, n);
}

static tamis_status solve(const tamis_plan *p, void *part, tamis_entry *pairs, size_t *n,
                          void *room)
{
    shape s = shape_of_map(p);

    return tamis__pairs_solve(&s, part, pairs, n, room);
}

static void enlarge(tamis_plan *p)
{
    p->slots += p->slots / 16 + 8;
    p->bytes = bytes(p);
}

static const tamis_pair_solver SOLVER = { scratch, solve };

static const tamis_mapper MAPPER = { &SOLVER, get, value_bits, enlarge };

static const char *verify(const tamis *f)
{
    shape s = shape_of_map(&f->plan);
    uint64_t used = last_level(&s).end - LAST_STATE + 1;

    return parts_have_zeros(f, used, part_size(f)) ? NULL : "bytes after the last level are set";
}

const tamis_ops tamis__map = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .mapper = &MAPPER,
    .touch = touch,
};
