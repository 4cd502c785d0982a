/* cascade.c - exact over a known universe: members answer yes, the others no, without error.
 *
 * Of a universe of keys, r are members and s are others, all known when the filter is made. Two
 * levels of linear equations (fuse/ribbon.c) tell them apart:
 *
 *   sieve   a filter of the members with k = floor(log2(s / r)) bits: of the others, all but s /
 * 2^k fail, and it is over rest    one bit for each key that passes, member or not: 1 for members
 *
 *             members    others             keys of the sieve cost k bits,
 *   sieve     |||||||    :::::::::::::::    those of the rest one:
 *   rest      1111111    0000   (passed)    about k + 2 bits for a member
 *
 * With one bit less in the sieve, twice as many others would pass; with one bit more, half as many:
 * either costs at least what it saves. The least possible is log2 of the number of ways to choose r
 * of r + s keys, a member then costs log2(s / r) + 1.44 bits. If there are more members than
 * others, the sieve is made of the others, and what fails is a member: the plan is inverted.
 *
 * A key from outside the universe gets some answer: yes at a rate of 2^-(k + 1), or all but that if
 * the plan is inverted.
 *
 * Payload: parts (base/parts.h). Each has a sieve of plan.width bits for plan.slots keys, unless
 * that is no bits at all, and from the next multiple of 64 bytes on the rest, for that many keys
 * and plan.hashes / 2^16 times as many others.
 *
 * Larisch, Choffnes, Levin, Maggs, Mislove, Wilson: CRLite, 2017 (a cascade of Bloom filters).
 * Schanck: Clubcards for the WebPKI, 2025 (two ribbons). */
#include <math.h>

#include "base/cpu.h"
#include "fuse/retrieval.h"

enum { RATIO_BITS = 16 };

static bool is_inverted(const tamis_plan *p)
{
    return p->flags & TAMIS_PLAN_INVERTED;
}

static shape sieve_of(const tamis_plan *p)
{
    return (shape){ p->slots, part_bits(p->capacity), p->width, 0 };
}

static shape rest_of(const tamis_plan *p)
{
    uint64_t passing = (p->slots * p->hashes >> RATIO_BITS) + (p->slots > 0);

    return (shape){ p->slots + passing, part_bits(p->capacity), 1, 1 };
}

static uint64_t sieve_end(const tamis_plan *p)
{
    shape s = sieve_of(p);

    return s.width ? last_level(&s).end : 0;
}

static uint64_t rest_at(const tamis_plan *p)
{
    return round_up(sieve_end(p), 64);
}

static uint64_t rest_end(const tamis_plan *p)
{
    shape s = rest_of(p);

    return rest_at(p) + last_level(&s).end;
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    if (p->slots > MOST_ROOM / 4 || p->flags & ~TAMIS_PLAN_INVERTED || p->load ||
        p->width > MOST_WIDTH || rest_of(p).room > MOST_ROOM)
        return 0;
    return bytes_of_parts(p->capacity, round_up(rest_end(p), 64));
}

/* Mean and six standard deviations. */
static uint64_t room_for(double mean)
{
    return (uint64_t)(mean + 6 * sqrt(mean)) + 1;
}

/* Others that pass, for each key of the sieve and in units of 2^-RATIO_BITS. */
static bool set_ratio(tamis_plan *p, uint64_t others)
{
    double share = ldexp((double)others, -(int)(p->width + part_bits(p->capacity)));
    uint64_t passing = others ? room_for(share) : 0;

    if (p->width + part_bits(p->capacity) == 0)
        passing = others;
    double ratio = p->slots ? ldexp((double)passing / (double)p->slots, RATIO_BITS) : 0;
    p->hashes = ratio < 0x1p31 ? (uint32_t)ratio + 1 : 0;
    return p->hashes != 0;
}

static uint64_t sieve_room(uint64_t capacity, uint64_t kept)
{
    unsigned bits = part_bits(capacity);

    return bits && kept ? room_for(ldexp((double)kept, -(int)bits)) : kept;
}

/* An inverted plan says yes to most strangers: not if a rate is asked for. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    uint64_t members = spec->keys, others = spec->universe - spec->keys;
    bool inverts = members > others && spec->fpr > 0.5;
    uint64_t kept = inverts ? others : members, tested = inverts ? members : others;
    uint32_t bits = 0;

    if (spec->universe < spec->keys || spec->universe == 0)
        return TAMIS_RANGE;
    while (bits < MOST_WIDTH && (tested >> bits) / 2 >= kept && kept)
        bits++;
    while (ldexp(0.5, -(int)bits) > spec->fpr)
        bits++;
    if (kept == 0)
        bits = bits ? bits : 1;
    if (bits > MOST_WIDTH)
        return TAMIS_RANGE;
    p->width = bits;
    p->flags = inverts ? TAMIS_PLAN_INVERTED : 0;
    p->slots = sieve_room(p->capacity, kept);
    return set_ratio(p, tested) ? TAMIS_OK : TAMIS_RANGE;
}

/* Of strangers: members are never missed, and others never taken for them. */
static double rate(const tamis_plan *p, double n)
{
    double passes_both = ldexp(0.5, -(int)p->width);

    if (n == 0)
        return 0;
    return is_inverted(p) ? 1 - passes_both : passes_both;
}

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    p->slots += p->slots / 16 + 8;
    return TAMIS_OK;
}

static size_t scratch(const tamis_plan *p, enum tamis_stage stage, size_t n)
{
    shape s = stage == TAMIS_STAGE_SIEVE ? sieve_of(p) : rest_of(p);

    return tamis__retrieval_scratch(&s, n);
}

static void for_cpu(tamis *f, unsigned cpu)
{
    const tamis_plan *p = &f->plan;
    const retrieval derived = { .stage = { { sieve_of(p), 0 }, { rest_of(p), rest_at(p) } } };

    memcpy(f->derived, &derived, sizeof derived);
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__retrieval_use_avx2(&f->ops);
#endif
    (void)cpu;
}

/* ---- Operations -------------------------------------------------------- */

/* Whether the key passes the sieve; if so, *value is what the rest says. */
static bool get(const tamis *f, uint64_t *value, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    if (f->plan.width && !tamis__retrieval_get(f, TAMIS_STAGE_SIEVE, value, h))
        return false;
    if (!tamis__retrieval_get(f, TAMIS_STAGE_REST, value, h))
        *value = 0;
    return true;
}

/* Where nobody is a member, the sieve of an inverted plan is empty, too. */
static bool has(const tamis *f, uint64_t key)
{
    uint64_t is_member;

    if (f->count == 0)
        return false;
    return get(f, &is_member, key) ? is_member : is_inverted(&f->plan);
}

static void touch(const tamis *f, uint64_t key)
{
    enum tamis_stage first = f->plan.width ? TAMIS_STAGE_SIEVE : TAMIS_STAGE_REST;

    tamis__retrieval_touch(f, first, hash_key(key, f->salt));
}

static const char *verify(const tamis *f)
{
    uint64_t sieve = sieve_end(&f->plan), rest = rest_end(&f->plan);

    if (sieve && !parts_have_zeros(f, sieve - LAST_STATE + 1, rest_at(&f->plan)))
        return "bytes after the sieve are set";
    if (!parts_have_zeros(f, rest - LAST_STATE + 1, part_size(f)))
        return "bytes after the last level are set";
    return NULL;
}

const tamis_ops tamis__cascade = {
    .traits = TAMIS_TRAIT_TAKES_OTHERS,
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
