/* map.c - static map: a key gives back the value that came with it, a stranger is turned away.
 *
 * The equations are those of the ribbon filter (ribbon.c): of the 64 slots from its start on,
 * those that the row of a key picks add up to a number of plan.width + hashes bits. The low
 * plan.width bits of it are the value of the key, the high ones its fingerprint. plan.hashes is the
 * number of these and, above it, the first hash (ribbon.h).
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
 * Payload: parts (base/parts.h) of one chain of levels each (ribbon.h). Zeros are the empty
 * map.
 *
 * Chazelle, Kilian, Rubinfeld, Tal: The Bloomier Filter, 2004.
 * Dillinger, Huebschle-Schneider, Sanders, Walzer: Fast Succinct Retrieval and Approximate
 * Membership Using Ribbon, 2022. */
#include "fuse/levels.h"

static unsigned map_fingerprint_bits(const tamis_plan *p)
{
    return p->hashes & RIBBON_BELOW_FIRST_HASH;
}

static ribbon_shape map_shape_of(const tamis_plan *p)
{
    return (ribbon_shape){ p->slots, part_bits(p->capacity), p->width + map_fingerprint_bits(p),
                           p->width, p->hashes >> RIBBON_FIRST_HASH_AT };
}

/* ---- Sizing ------------------------------------------------------------ */

static bool map_has_bits(const tamis_plan *p)
{
    unsigned bits = map_fingerprint_bits(p);

    return p->width >= 1 && p->width <= RIBBON_MOST_WIDTH && bits >= 1 && bits <= RIBBON_MOST_WIDTH;
}

static uint64_t map_bytes(const tamis_plan *p)
{
    ribbon_shape s = map_shape_of(p);

    if (p->slots > RIBBON_MOST_ROOM || !map_has_bits(p) || s.first_hash > RIBBON_MOST_FIRST_HASH ||
        p->flags || p->load)
        return 0;
    return bytes_of_parts(p->capacity, round_up(ribbon_last_level(&s).end, 64));
}

static tamis_status map_plan(tamis_plan *p, const tamis_spec *spec)
{
    p->slots = part_room(spec->keys);
    p->width = spec->value_bits;
    p->hashes = fingerprint_width(spec);
    return map_has_bits(p) ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_status map_resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    return ribbon_step(&p->hashes, &p->slots);
}

static double map_rate(const tamis_plan *p, double n)
{
    return fingerprint_rate_of(p, n, map_fingerprint_bits(p));
}

static uint64_t map_scratch(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                            unsigned workers)
{
    ribbon_shape s = map_shape_of(p);

    (void)stage;
    return tamis__retrieval_scratch(&s, n, workers);
}

static void map_for_cpu(tamis *f, unsigned cpu)
{
    const retrieval_derived derived = { { { map_shape_of(&f->plan), 0 } } };

    tamis__retrieval_for_cpu(f, &derived, cpu);
}

/* ---- Operations -------------------------------------------------------- */

static bool map_get(const tamis *f, uint64_t *value, uint64_t key)
{
    return tamis__retrieval_get(f, TAMIS_STAGE_SIEVE, value, hash_key(key, f->salt));
}

static bool map_has(const tamis *f, uint64_t key)
{
    uint64_t value;

    return map_get(f, &value, key);
}

static void map_touch(const tamis *f, uint64_t key)
{
    tamis__retrieval_touch(f, TAMIS_STAGE_SIEVE, hash_key(key, f->salt));
}

static const char *map_verify(const tamis *f)
{
    const ribbon_shape *s = &retrieval_in(f, TAMIS_STAGE_SIEVE)->shape;
    bool is_whole = ribbon_ends_in_zeros(f, s, 0, f->plan.bytes >> s->part_bits);

    return is_whole ? NULL : "bytes after the last level are set";
}

/* ---- Pictures and words ------------------------------------------------ */

static const levels_names MAP_NAMES = { "level", "level thresholds", "seeds tried", false };

static void map_cells(const tamis *f, tamis_telling *t)
{
    tamis__levels_cells(f, retrieval_in(f, TAMIS_STAGE_SIEVE), &MAP_NAMES, t);
}

static bool map_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    const retrieval *r = retrieval_in(f, TAMIS_STAGE_SIEVE);
    uint64_t value, h = hash_key(key, f->salt);
    const char *why_not = tamis__levels_explain(f, r, &MAP_NAMES, h, &value, t);

    if (why_not)
        return tamis__tell_answer(t, false, why_not);
    tamis__tell_number(t, "value", value);
    return tamis__tell_answer(t, true, "the xor of its slots is its fingerprint above its value");
}

const tamis_ops tamis__map = {
    .traits = TAMIS_TRAIT_TAKES_VALUES | TAMIS_TRAIT_TAG_BITS,
    .plan = map_plan,
    .bytes = map_bytes,
    .rate = map_rate,
    .resize = map_resize,
    .for_cpu = map_for_cpu,
    .verify = map_verify,
    .has = map_has,
    .get = map_get,
    .touch = map_touch,
    .solve = tamis__retrieval_solve,
    .scratch = map_scratch,
    .cells = map_cells,
    .explain = map_explain,
};
