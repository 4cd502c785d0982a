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

#include "base/cpu.h"
#include "fuse/retrieval.h"

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

    if (p->slots > MOST_ROOM || !is_bits(p->width) || !is_bits(p->hashes) || p->flags || p->load)
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

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    p->slots += p->slots / 16 + 8;
    return TAMIS_OK;
}

static size_t scratch(const tamis_plan *p, enum tamis_stage stage, size_t n)
{
    shape s = shape_of_map(p);

    (void)stage;
    return tamis__retrieval_scratch(&s, n);
}

static void for_cpu(tamis *f, unsigned cpu)
{
    const retrieval derived = { .stage = { { shape_of_map(&f->plan), 0 } } };

    memcpy(f->derived, &derived, sizeof derived);
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__retrieval_use_avx2(&f->ops);
#endif
    (void)cpu;
}

/* ---- Operations -------------------------------------------------------- */

static bool get(const tamis *f, uint64_t *value, uint64_t key)
{
    return tamis__retrieval_get(f, TAMIS_STAGE_SIEVE, value, hash_key(key, f->salt));
}

static bool has(const tamis *f, uint64_t key)
{
    uint64_t value;

    return get(f, &value, key);
}

static void touch(const tamis *f, uint64_t key)
{
    tamis__retrieval_touch(f, TAMIS_STAGE_SIEVE, hash_key(key, f->salt));
}

static const char *verify(const tamis *f)
{
    shape s = shape_of_map(&f->plan);
    uint64_t used = last_level(&s).end - LAST_STATE + 1;

    return parts_have_zeros(f, used, part_size(f)) ? NULL : "bytes after the last level are set";
}

const tamis_ops tamis__map = {
    .traits = TAMIS_TRAIT_TAKES_VALUES,
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .has = has,
    .get = get,
    .touch = touch,
    .solve = tamis__retrieval_solve,
    .scratch = scratch,
};
