/* cascade.c - exact over a known universe: members answer yes, the others no, without error.
 *
 * Of a universe of keys, r are members and s are others, all known when the filter is made. Two
 * ribbons (ribbon.c) tell them apart:
 *
 *   sieve   a filter of the members with k = floor(log2(s / r)) bits: all but s / 2^k of the others
 *           fail, and that is the answer for them
 *   rest    one bit for each key that passes: 1 for members, 0 for others, and a bit of the hash
 *           added to it, so that strangers get either answer as often as the other
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
 * Payload: parts (base/parts.h). Each has a sieve of k bits for plan.slots keys, unless that is no
 * bits at all, and from the next multiple of 64 bytes on the rest, for that many keys and
 * plan.hashes / 2^16 times as many others. plan.width is k and, above it, the first hash of both
 * (ribbon.h).
 *
 * Larisch, Choffnes, Levin, Maggs, Mislove, Wilson: CRLite, 2017 (a cascade of Bloom filters).
 * Schanck: Clubcards for the WebPKI, 2025 (two ribbons). */
#include <math.h>

#include "fuse/levels.h"

enum { RATIO_BITS = 16 };

/* ---- Layout ------------------------------------------------------------ */

static bool cascade_is_inverted(const tamis_plan *p)
{
    return p->flags & TAMIS_PLAN_INVERTED;
}

static unsigned cascade_sieve_bits(const tamis_plan *p)
{
    return p->width & RIBBON_BELOW_FIRST_HASH;
}

static ribbon_shape cascade_shape_of(const tamis_plan *p, enum tamis_stage stage)
{
    uint64_t passing = (p->slots * p->hashes >> RATIO_BITS) + (p->slots > 0);
    unsigned bits = part_bits(p->capacity), first = p->width >> RIBBON_FIRST_HASH_AT;

    if (stage == TAMIS_STAGE_SIEVE)
        return (ribbon_shape){ p->slots, bits, cascade_sieve_bits(p), 0, first };
    return (ribbon_shape){ p->slots + passing, bits, 1, 1, first };
}

static retrieval_derived cascade_derived_of(const tamis_plan *p)
{
    ribbon_shape sieve = cascade_shape_of(p, TAMIS_STAGE_SIEVE);
    uint64_t end = sieve.width ? round_up(ribbon_last_level(&sieve).end, 64) : 0;

    return (retrieval_derived){ { { sieve, 0 }, { cascade_shape_of(p, TAMIS_STAGE_REST), end } } };
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t cascade_bytes(const tamis_plan *p)
{
    if (p->slots > RIBBON_MOST_ROOM / 4 || cascade_sieve_bits(p) > RIBBON_MOST_WIDTH ||
        p->width >> RIBBON_FIRST_HASH_AT > RIBBON_MOST_FIRST_HASH ||
        p->flags & ~TAMIS_PLAN_INVERTED || p->load ||
        cascade_shape_of(p, TAMIS_STAGE_REST).room > RIBBON_MOST_ROOM)
        return 0;
    const retrieval_derived d = cascade_derived_of(p);
    const retrieval *rest = &d.stage[TAMIS_STAGE_REST];
    return bytes_of_parts(p->capacity,
                          round_up(rest->at + ribbon_last_level(&rest->shape).end, 64));
}

/* Mean and six standard deviations. */
static uint64_t cascade_room(double mean)
{
    return (uint64_t)(mean + 6 * sqrt(mean)) + 1;
}

/* Room for a share of n keys, one in 2^bits. */
static uint64_t cascade_share(uint64_t n, unsigned bits)
{
    return bits && n ? cascade_room(ldexp((double)n, -(int)bits)) : n;
}

/* An inverted plan says yes to most strangers: not if a rate is asked for. */
static tamis_status cascade_plan(tamis_plan *p, const tamis_spec *spec)
{
    uint64_t members = spec->keys, others = spec->universe - spec->keys;
    bool inverts = members > others && spec->fpr >= 1;
    uint64_t kept = inverts ? others : members, tested = inverts ? members : others;
    uint32_t bits = 0;

    if (spec->universe < spec->keys || spec->universe == 0)
        return TAMIS_RANGE;
    while (bits < RIBBON_MOST_WIDTH && (tested >> bits) / 2 >= kept && kept)
        bits++;
    while (ldexp(0.5, -(int)bits) > spec->fpr)
        bits++;
    if (kept == 0)
        bits = bits ? bits : 1;
    if (bits > RIBBON_MOST_WIDTH)
        return TAMIS_RANGE;
    p->width = bits;
    p->flags = inverts ? TAMIS_PLAN_INVERTED : 0;
    p->slots = cascade_share(kept, part_bits(p->capacity));
    /* Others that pass, for each key of the sieve and in units of 2^-RATIO_BITS. */
    uint64_t passing = cascade_share(tested, bits + part_bits(p->capacity));
    double ratio = p->slots ? ldexp((double)passing / (double)p->slots, RATIO_BITS) : 0;
    p->hashes = ratio < 0x1p31 ? (uint32_t)ratio + 1 : 0;
    return p->hashes ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_status cascade_resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    return ribbon_step(&p->width, &p->slots);
}

/* Of strangers: members are never missed, and others never taken for them. A sieve of no keys lets
 * nobody pass. */
static double cascade_rate(const tamis_plan *p, double n)
{
    unsigned bits = cascade_sieve_bits(p) + 1;

    if (n == 0 || !cascade_is_inverted(p))
        return fingerprint_rate_of(p, n, bits);
    return p->slots ? 1 - ldexp(1, -(int)bits) : 1;
}

static uint64_t cascade_scratch(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                                unsigned workers)
{
    ribbon_shape s = cascade_shape_of(p, stage);

    return tamis__retrieval_scratch(&s, n, workers);
}

static void cascade_for_cpu(tamis *f, unsigned cpu)
{
    const retrieval_derived derived = cascade_derived_of(&f->plan);

    tamis__retrieval_for_cpu(f, &derived, cpu);
}

/* ---- Operations -------------------------------------------------------- */

/* Whether the key passes the sieve; if so, *value is what the rest says. */
static bool cascade_get(const tamis *f, uint64_t *value, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    if (cascade_sieve_bits(&f->plan) && !tamis__retrieval_get(f, TAMIS_STAGE_SIEVE, value, h))
        return false;
    if (!tamis__retrieval_get(f, TAMIS_STAGE_REST, value, h))
        *value = 0;
    return true;
}

/* Where nobody is a member, the sieve of an inverted plan is empty, too. */
static bool cascade_has(const tamis *f, uint64_t key)
{
    uint64_t is_member;

    if (f->count == 0)
        return false;
    return cascade_get(f, &is_member, key) ? is_member : cascade_is_inverted(&f->plan);
}

static void cascade_touch(const tamis *f, uint64_t key)
{
    enum tamis_stage first = cascade_sieve_bits(&f->plan) ? TAMIS_STAGE_SIEVE : TAMIS_STAGE_REST;

    tamis__retrieval_touch(f, first, hash_key(key, f->salt));
}

static const char *cascade_verify(const tamis *f)
{
    const retrieval *sieve = retrieval_in(f, TAMIS_STAGE_SIEVE);
    const retrieval *rest = retrieval_in(f, TAMIS_STAGE_REST);
    uint64_t end = f->plan.bytes >> rest->shape.part_bits;

    if (sieve->shape.width && !ribbon_ends_in_zeros(f, &sieve->shape, 0, rest->at))
        return "bytes after the sieve are set";
    if (!ribbon_ends_in_zeros(f, &rest->shape, rest->at, end))
        return "bytes after the last level are set";
    return NULL;
}

/* ---- Pictures and words ------------------------------------------------ */

static const levels_names CASCADE_NAMES[] = {
    [TAMIS_STAGE_SIEVE] = { "sieve", "sieve thresholds", "sieve seeds", false },
    [TAMIS_STAGE_REST] = { "rest", "rest thresholds", "rest seeds", false },
};
static const levels_names SIEVE_OF_OTHERS = { "sieve of others", "sieve thresholds", "sieve seeds",
                                              true };

static const levels_names *cascade_names(const tamis *f, enum tamis_stage stage)
{
    bool is_of_others = stage == TAMIS_STAGE_SIEVE && cascade_is_inverted(&f->plan);

    return is_of_others ? &SIEVE_OF_OTHERS : &CASCADE_NAMES[stage];
}

static void cascade_cells(const tamis *f, tamis_telling *t)
{
    for (enum tamis_stage i = TAMIS_STAGE_SIEVE; i <= TAMIS_STAGE_REST; i++)
        if (retrieval_in(f, i)->shape.width)
            tamis__levels_cells(f, retrieval_in(f, i), cascade_names(f, i), t);
}

static bool cascade_explain_stage(const tamis *f, enum tamis_stage stage, uint64_t *value,
                                  uint64_t h, tamis_telling *t)
{
    const retrieval *r = retrieval_in(f, stage);

    return !tamis__levels_explain(f, r, cascade_names(f, stage), h, value, t);
}

static bool cascade_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t is_member, h = hash_key(key, f->salt);
    bool is_inverted = cascade_is_inverted(&f->plan);

    if (f->count == 0)
        return tamis__tell_answer(t, false, "there are no members");
    if (cascade_sieve_bits(&f->plan) &&
        !cascade_explain_stage(f, TAMIS_STAGE_SIEVE, &is_member, h, t))
        return tamis__tell_answer(t, is_inverted,
                                  is_inverted ? "the sieve of all others does not let it pass"
                                              : "the sieve of the members does not let it pass");
    cascade_explain_stage(f, TAMIS_STAGE_REST, &is_member, h, t);
    tamis__tell_number(t, "value", is_member);
    return tamis__tell_answer(t, is_member != 0,
                              is_member ? "the rest has a 1 for it: a member"
                                        : "the rest has a 0 for it: no member");
}

const tamis_ops tamis__cascade = {
    .traits = TAMIS_TRAIT_TAKES_EXCLUDED,
    .plan = cascade_plan,
    .bytes = cascade_bytes,
    .rate = cascade_rate,
    .resize = cascade_resize,
    .for_cpu = cascade_for_cpu,
    .verify = cascade_verify,
    .has = cascade_has,
    .get = cascade_get,
    .touch = cascade_touch,
    .solve = tamis__retrieval_solve,
    .scratch = cascade_scratch,
    .cells = cascade_cells,
    .explain = cascade_explain,
};
