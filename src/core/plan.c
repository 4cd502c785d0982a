/* plan.c - from what is wanted to what it will take.
 *
 * Kinds answer one question: the geometry for that many keys at that rate. The core turns every
 * other question (how many keys, or which rate, fit in these bytes?) into that one by bisection. */
#include "core/plan.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"

/* 2^48 bits: no product of sizes below it overflows, and no machine has more. */
static const uint64_t MAX_BYTES = UINT64_C(1) << 45;

static const double DEFAULT_FPR = 0.01, LOWEST_FPR = 0x1p-64, HIGHEST_FPR = 0.5;

/* ---- Validity ---------------------------------------------------------- */

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

/* A keyed hash whose secret was forgotten protects nobody; a secret without use leaks. */
static bool hasher_is_valid(const tamis_hasher *hasher)
{
    bool no_secret = is_zero(hasher->secret, sizeof hasher->secret);

    if (hasher->hash == TAMIS_KEYED)
        return !no_secret;
    return no_secret && (hasher->hash == TAMIS_FAST || hasher->hash == TAMIS_RAW);
}

bool tamis__same_hasher(const tamis_hasher *a, const tamis_hasher *b)
{
    return a->hash == b->hash && a->seed == b->seed &&
           memcmp(a->secret, b->secret, sizeof a->secret) == 0;
}

static bool bytes_are_possible(uint64_t bytes)
{
    return bytes > 0 && bytes <= MAX_BYTES && bytes <= SIZE_MAX / 2;
}

bool tamis__plan_is_valid(const tamis_plan *p)
{
    const tamis_ops *ops = tamis__ops(p->kind);

    if (!ops || !hasher_is_valid(&p->hasher))
        return false;
    if (ops->indexed && p->hasher.hash != TAMIS_RAW)
        return false;
    /* Written so that a NaN fails. */
    if (!(p->fpr >= 0 && p->fpr <= 1))
        return false;
    return bytes_are_possible(p->bytes) && p->bytes == ops->bytes(p);
}

/* ---- Rates ------------------------------------------------------------- */

/* The share of strangers whose 64-bit key equals that of one of n others. */
static double collision_rate(const tamis_hasher *hasher, double n)
{
    return hasher->hash == TAMIS_RAW ? 0 : n * 0x1p-64;
}

/* As above, as far as a plan takes notice of it. Who asks for 2^-8 wants eight bits, not a ninth
 * because one stranger in 10^12 has the key of another; and is told of less than a thousandth of
 * the rate by tamis_plan_rate() alone. */
static double collisions_that_count(const tamis_spec *spec)
{
    double rate = collision_rate(&spec->hasher, (double)spec->keys);

    return rate > spec->fpr * 0x1p-10 ? rate : 0;
}

static double rate_of_kind(const tamis_plan *p, double n)
{
    const tamis_ops *ops = tamis__ops(p->kind);

    return ops->rate ? ops->rate(p, n) : 0;
}

double tamis_plan_rate(const tamis_plan *p, uint64_t keys)
{
    double n = (double)keys;

    return fmin(1, rate_of_kind(p, n) + collision_rate(&p->hasher, n));
}

/* Rounded to 32 bits: the last ones differ between processors, whose mathematical functions round
 * in their own ways, and the same plan must give the same image everywhere. */
double tamis__plan_fpr(const tamis_plan *p)
{
    int exponent;
    double mantissa = frexp(tamis_plan_rate(p, p->capacity), &exponent);

    return ldexp(rint(ldexp(mantissa, 32)), exponent - 32);
}

tamis_status tamis__plan_settle(tamis_plan *p)
{
    p->bytes = tamis__ops(p->kind)->bytes(p);
    p->fpr = tamis__plan_fpr(p);
    return tamis__plan_is_valid(p) ? TAMIS_OK : TAMIS_RANGE;
}

uint64_t tamis_plan_ceiling(const tamis_plan *p)
{
    const tamis_ops *ops = tamis__ops(p->kind);

    return ops->ceiling ? ops->ceiling(p) : UINT64_MAX;
}

/* ---- One kind ---------------------------------------------------------- */

/* `fpr` and `keys` are decided; max_bytes is only checked. */
static tamis_status plan_exactly(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
{
    const tamis_ops *ops = tamis__ops(kind);
    tamis_spec inner = *spec;
    tamis_plan p = { .kind = kind, .hasher = spec->hasher, .capacity = spec->keys };
    double collisions = collisions_that_count(spec);

    inner.fpr -= collisions;
    if (!(inner.fpr > 0))
        return TAMIS_RANGE;
    tamis_status status = ops->plan(&p, &inner);
    if (status)
        return status;
    p.bytes = ops->bytes(&p);
    if (!bytes_are_possible(p.bytes) || (spec->max_bytes && p.bytes > spec->max_bytes))
        return TAMIS_RANGE;
    if (rate_of_kind(&p, (double)p.capacity) + collisions > spec->fpr)
        return TAMIS_RANGE;
    p.fpr = fmin(tamis__plan_fpr(&p), spec->fpr);
    *plan = p;
    return TAMIS_OK;
}

/* Bytes fall as the rate rises: halve the interval of log2(fpr) until the plan stops changing. */
static tamis_status best_rate(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
{
    double low = log2(LOWEST_FPR), high = log2(HIGHEST_FPR);
    tamis_spec s = *spec;

    s.fpr = HIGHEST_FPR;
    if (plan_exactly(plan, kind, &s))
        return TAMIS_RANGE;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        s.fpr = exp2(middle);
        if (plan_exactly(plan, kind, &s) == TAMIS_OK)
            high = middle;
        else
            low = middle;
    }
    return TAMIS_OK;
}

static tamis_status most_keys(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
{
    uint64_t low = 0, high = MAX_BYTES * 8;
    tamis_spec s = *spec;

    if (plan_exactly(plan, kind, &s))
        return TAMIS_RANGE;
    while (low < high) {
        s.keys = low + (high - low) / 2 + 1;
        if (plan_exactly(plan, kind, &s) == TAMIS_OK)
            low = s.keys;
        else
            high = s.keys - 1;
    }
    return TAMIS_OK;
}

tamis_status tamis_plan_kind(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
{
    const tamis_ops *ops = tamis__ops(kind);
    tamis_spec s = *spec;

    if (!ops || !hasher_is_valid(&s.hasher))
        return TAMIS_RANGE;
    if (s.can & ~tamis_kind_can(kind) || (s.value_bits && !ops->mapper) ||
        (s.universe && !ops->splitter) || (s.counter_bits && !ops->counter_bits))
        return TAMIS_CANNOT;
    if (!(s.load >= 0 && s.load <= 1))
        return TAMIS_RANGE;
    if (s.fpr != 0 && !(s.fpr >= LOWEST_FPR && s.fpr <= HIGHEST_FPR))
        return TAMIS_RANGE;
    if (ops->indexed && s.hasher.hash != TAMIS_RAW)
        return TAMIS_RANGE;
    if (s.fpr == 0 && s.keys && s.max_bytes)
        return best_rate(plan, kind, &s);
    if (s.fpr == 0)
        s.fpr = ops->splitter ? 1 : DEFAULT_FPR;
    if (s.keys == 0 && s.max_bytes)
        return most_keys(plan, kind, &s);
    return plan_exactly(plan, kind, &s);
}

/* ---- All kinds --------------------------------------------------------- */

/* Keeps `plans` sorted by size; of equal ones the first stays first. */
static void insert(tamis_plan *plans, size_t n, size_t max, const tamis_plan *p)
{
    size_t at = n < max ? n : max;

    while (at > 0 && plans[at - 1].bytes > p->bytes)
        at--;
    if (at == max)
        return;
    size_t kept = (n < max ? n : max - 1) - at;
    memmove(&plans[at + 1], &plans[at], kept * sizeof *plans);
    plans[at] = *p;
}

size_t tamis_plan_all(tamis_plan *plans, size_t max, const tamis_spec *spec)
{
    size_t n = 0;

    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND;) {
        tamis_plan p;
        if (tamis_plan_kind(&p, k, spec) == TAMIS_OK)
            insert(plans, n++, max, &p);
    }
    return n;
}
