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

/* Between the highest rate and 1, doubles are too few for the arithmetic: it is planned instead. */
static const double DEFAULT_FPR = 0.01, LOWEST_FPR = 0x1p-64, HIGHEST_FPR = 1 - 0x1p-20;

/* ---- Validity ---------------------------------------------------------- */

/* A keyed hash whose secret was forgotten protects nobody; a secret without use leaks. */
static bool plan_hasher_is_valid(const tamis_hasher *hasher)
{
    bool no_secret = bytes_are_zero(hasher->secret, hasher->secret + sizeof hasher->secret);

    if (hasher->hash == TAMIS_KEYED)
        return !no_secret;
    return no_secret && (hasher->hash == TAMIS_FAST || hasher->hash == TAMIS_RAW);
}

bool tamis__same_hasher(const tamis_hasher *a, const tamis_hasher *b)
{
    return a->hash == b->hash && a->seed == b->seed &&
           memcmp(a->secret, b->secret, sizeof a->secret) == 0;
}

static bool plan_bytes_are_possible(uint64_t bytes)
{
    return bytes > 0 && bytes <= MAX_BYTES && bytes <= SIZE_MAX / 2;
}

/* Options that plans of a kind may have. */
static unsigned plan_options(const tamis_ops *ops)
{
    return (ops->traits & TAMIS_TRAIT_CAN_GROW ? TAMIS_PLAN_GROWS : 0u) |
           (ops->traits & TAMIS_TRAIT_CAN_DELETE_EXACTLY ? TAMIS_PLAN_EXACT_DELETE : 0u) |
           (ops->dot ? TAMIS_PLAN_SUMS : 0u) |
           (ops->traits & TAMIS_TRAIT_TAKES_EXCLUDED ? TAMIS_PLAN_INVERTED : 0u) |
           (ops_have_whole_hashes(ops) ? TAMIS_PLAN_ASKS_KEYS : 0u);
}

bool tamis__plan_is_valid(const tamis_plan *p)
{
    const tamis_ops *ops = tamis__ops(p->kind);

    if (!ops || !plan_hasher_is_valid(&p->hasher))
        return false;
    if (ops->item && p->hasher.hash != TAMIS_RAW)
        return false;
    if (p->flags & ~plan_options(ops) || p->load > 1000 ||
        (p->load == 0) == !!(ops->traits & TAMIS_TRAIT_KEEPS_LOAD))
        return false;
    /* Written so that a NaN fails. */
    if (!(p->fpr >= 0 && p->fpr <= 1))
        return false;
    return plan_bytes_are_possible(p->bytes) && p->bytes == ops->bytes(p);
}

bool tamis__plan_is_in_slots(const tamis_plan *p)
{
    return ops_have_whole_hashes(tamis__ops(p->kind));
}

/* Whether one is the other, doubled some times or never. */
static bool plan_is_doubled(uint64_t a, uint64_t b)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;

    while (low && low < high && low <= UINT64_MAX / 2)
        low *= 2;
    return low == high;
}

/* Capacity and rate may differ: they say what was planned, not where keys go. But in an indexed
 * kind the capacity says which keys there are. Fingerprints of kinds in order depend on the product
 * of slots and 2^width alone, and growth of kinds that merge by themselves changes the width
 * alone. Exact kinds that grow have whole hashes in tables of any size. A filter that asks for its
 * keys lists hashes that are not theirs, and goes with no other. */
bool tamis__plans_merge(const tamis_plan *a, const tamis_plan *b)
{
    const tamis_ops *ops = tamis__ops(a->kind);

    if (a->kind != b->kind || !tamis__same_hasher(&a->hasher, &b->hasher))
        return false;
    if (tamis__plan_is_in_slots(a))
        return !((a->flags ^ b->flags) & TAMIS_PLAN_ASKS_KEYS) && a->width == b->width &&
               plan_is_doubled(a->slots, b->slots);
    if (ops->append)
        return a->slots << a->width == b->slots << b->width;
    if (ops->item && a->capacity != b->capacity)
        return false;
    if (!ops->rate && ops->resize)
        return true;
    return a->slots == b->slots && a->hashes == b->hashes &&
           (ops->resize || (a->width == b->width && a->flags == b->flags && a->bytes == b->bytes));
}

/* ---- Abilities --------------------------------------------------------- */

bool tamis__plan_grows(const tamis_plan *p)
{
    return p->flags & TAMIS_PLAN_GROWS ||
           tamis__ops(p->kind)->traits & (TAMIS_TRAIT_GROWS | TAMIS_TRAIT_GROWS_COUNTS);
}

unsigned tamis_plan_can(const tamis_plan *p)
{
    /* What a filter cannot do whose keys are elsewhere. */
    const unsigned NEEDS_KEYS =
        TAMIS_CAN_MERGE | TAMIS_CAN_INTERSECT | TAMIS_CAN_DOT | TAMIS_CAN_EXACT_DELETE;
    const tamis_ops *ops = tamis__ops(p->kind);

    if (!ops)
        return 0;
    unsigned missing = plan_options(ops) & ~(unsigned)p->flags;
    return tamis_kind_can(p->kind) &
           ~((missing & TAMIS_PLAN_GROWS ? TAMIS_CAN_GROW : 0u) |
             (missing & TAMIS_PLAN_EXACT_DELETE ? TAMIS_CAN_EXACT_DELETE : 0u) |
             (missing & TAMIS_PLAN_SUMS ? TAMIS_CAN_DOT : 0u) |
             (missing & TAMIS_PLAN_ASKS_KEYS ? TAMIS_CAN_ASK_KEYS : 0u) |
             (p->flags & TAMIS_PLAN_ASKS_KEYS ? NEEDS_KEYS : 0u));
}

/* ---- Growth ------------------------------------------------------------ */

static bool plan_kind_keeps_rate(const tamis_ops *ops, bool asks_keys)
{
    return ops->traits & TAMIS_TRAIT_KEEPS_RATE && !asks_keys;
}

bool tamis__plan_keeps_rate(const tamis_plan *p)
{
    return plan_kind_keeps_rate(tamis__ops(p->kind), p->flags & TAMIS_PLAN_ASKS_KEYS);
}

/* ---- Rates ------------------------------------------------------------- */

/* The share of strangers whose 64-bit key equals that of one of n others. */
static double plan_collision_rate(const tamis_hasher *hasher, double n)
{
    return hasher->hash == TAMIS_RAW ? 0 : n * 0x1p-64;
}

/* As above, as far as a plan takes notice of it. Who asks for 2^-8 wants eight bits, not a ninth
 * because one stranger in 10^12 has the key of another; and is told of less than a thousandth of
 * the rate by tamis_plan_rate() alone. */
static double plan_collisions(const tamis_spec *spec)
{
    uint64_t keys = spec->keys > spec->grow_to ? spec->keys : spec->grow_to;
    double rate = plan_collision_rate(&spec->hasher, (double)keys);

    return rate > spec->fpr * 0x1p-10 ? rate : 0;
}

static double plan_kind_rate(const tamis_plan *p, double n)
{
    const tamis_ops *ops = tamis__ops(p->kind);

    return ops->rate ? ops->rate(p, n) : 0;
}

double tamis_plan_rate(const tamis_plan *p, uint64_t keys)
{
    double n = (double)keys;
    tamis_plan then = *p;

    if (!tamis__ops(p->kind))
        return 1;
    if (tamis_plan_can(p) & TAMIS_CAN_GROW)
        (void)!tamis__plan_reach(&then, keys);
    return fmin(1, plan_kind_rate(&then, n) + plan_collision_rate(&p->hasher, n));
}

/* Rounded to 32 bits: the last ones differ between processors, whose mathematical functions round
 * in their own ways, and the same plan must give the same image everywhere. */
static double plan_fpr(const tamis_plan *p)
{
    int exponent;
    double mantissa = frexp(tamis_plan_rate(p, p->capacity), &exponent);

    return ldexp(rint(ldexp(mantissa, 32)), exponent - 32);
}

void tamis__plan_set_limits(tamis_plan *p)
{
    const tamis_ops *ops = tamis__ops(p->kind);
    uint64_t highest = (UINT64_C(2) << (p->width - 1) % 64) - 1;
    uint64_t ceiling = ops->traits & TAMIS_TRAIT_COUNTER_BITS ? highest : ops->limits.ceiling;

    p->ceiling = ceiling ? ceiling : UINT64_MAX;
    p->error = ops->limits.error > 0 ? ops->limits.error / (double)p->slots : 0;
}

tamis_status tamis__plan_settle(tamis_plan *p)
{
    p->bytes = tamis__ops(p->kind)->bytes(p);
    p->fpr = plan_fpr(p);
    tamis__plan_set_limits(p);
    return tamis__plan_is_valid(p) ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- One kind ---------------------------------------------------------- */

/* `fpr` and `keys` are decided; max_bytes is only checked. The kind is asked for a rate that is
 * `bits` bits lower. */
static tamis_status plan_longer(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec,
                                unsigned bits)
{
    const tamis_ops *ops = tamis__ops(kind);
    tamis_spec inner = *spec;
    tamis_plan p = { .kind = kind, .hasher = spec->hasher, .capacity = spec->keys };
    double collisions = plan_collisions(spec);

    inner.fpr = ldexp(inner.fpr - collisions, -(int)bits);
    if (!(inner.fpr > 0))
        return TAMIS_RANGE;
    tamis_status status = ops->plan(&p, &inner);
    if (status)
        return status;
    tamis__plan_set_limits(&p);
    p.bytes = ops->bytes(&p);
    if (!plan_bytes_are_possible(p.bytes) || (spec->max_bytes && p.bytes > spec->max_bytes))
        return TAMIS_RANGE;
    p.fpr = plan_fpr(&p);
    /* Who asks for an error says how far counts may be off, and not which keys may be mistaken. */
    if (spec->error == 0) {
        if (plan_kind_rate(&p, (double)p.capacity) + collisions > spec->fpr)
            return TAMIS_RANGE;
        p.fpr = fmin(p.fpr, spec->fpr);
    }
    *plan = p;
    return TAMIS_OK;
}

/* How many bits fingerprints lack, at least, to be long enough for all growth that was asked for;
 * 0: none. A filter that grows doubles once, whatever becomes of its rate. One that is not in order
 * is full where its last size is. */
static unsigned plan_missing_bits(const tamis_plan *p, const tamis_spec *spec)
{
    const bool is_in_order = tamis__ops(p->kind)->append;
    tamis_plan grown = *p;

    if (!tamis__plan_reach(&grown, spec->grow_to ? spec->grow_to : p->capacity + 1))
        return 1;
    uint64_t most = is_in_order ? spec->grow_to : grown.capacity;
    double rate = spec->grow_to ? tamis_plan_rate(&grown, most) : 0;
    return rate > spec->fpr ? (unsigned)fmax(1, floor(log2(rate / spec->fpr))) : 0;
}

/* Where growth takes bits from fingerprints, they are planned as much longer. */
static tamis_status plan_exactly(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
{
    tamis_status status;
    tamis_plan p;

    if (spec->grow_to && spec->grow_to < spec->keys)
        return TAMIS_RANGE;
    for (unsigned bits = 0, more;; bits += more) {
        status = plan_longer(&p, kind, spec, bits);
        if (status)
            return status;
        if (!(spec->can & TAMIS_CAN_GROW) || tamis__plan_keeps_rate(&p))
            break;
        more = plan_missing_bits(&p, spec);
        p.grow_to = spec->grow_to;
        if (!more)
            break;
        if (spec->tag_bits)
            return TAMIS_RANGE;
    }
    *plan = p;
    return TAMIS_OK;
}

/* Plans for the rate 2^exponent, and keeps it in *best if it fits and is better; false if it does
 * not fit. */
static bool plan_try_rate(tamis_plan *best, bool *is_found, tamis_kind kind, const tamis_spec *spec,
                          double exponent)
{
    tamis_spec s = *spec;
    tamis_plan p;

    s.fpr = exp2(exponent);
    if (plan_exactly(&p, kind, &s))
        return false;
    if (!*is_found || p.fpr < best->fpr)
        *best = p;
    return *is_found = true;
}

/* Rates between a half and 1, for what hardly fits: an exponent that fits, of 0.999 at most, and
 * one that does not. */
static void plan_try_high_rates(tamis_plan *best, bool *is_found, tamis_kind kind,
                                const tamis_spec *spec, double *low, double *high)
{
    for (*high = -1; !*is_found && *high < -0x1p-10;) {
        *low = *high;
        *high /= 2;
        plan_try_rate(best, is_found, kind, spec, *high);
    }
}

/* Bytes fall as the rate rises, but not with every bit: slots of eight bits may take less room than
 * those of seven, and what is planned for a lower rate may be no larger. So all powers of two are
 * tried, then quarters of four bits below the lowest that fits; and from the lowest of these the
 * interval is halved until the plan stops changing. */
static tamis_status plan_best_rate(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
{
    double low = log2(LOWEST_FPR), high;
    bool is_found = false;

    while (low <= -1 && !plan_try_rate(plan, &is_found, kind, spec, low))
        low++;
    for (double e = low + 1; e <= -1; e++)
        plan_try_rate(plan, &is_found, kind, spec, e);
    high = low;
    for (double e = low - 0.25; is_found && e >= fmax(low - 4, log2(LOWEST_FPR)); e -= 0.25)
        if (plan_try_rate(plan, &is_found, kind, spec, e))
            high = e;
    low = high - 0.25;
    if (!is_found)
        plan_try_high_rates(plan, &is_found, kind, spec, &low, &high);
    for (int i = 0; i < 32 && is_found; i++) {
        double middle = (low + high) / 2;
        if (plan_try_rate(plan, &is_found, kind, spec, middle))
            high = middle;
        else
            low = middle;
    }
    return is_found ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_status plan_most_keys(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
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

/* Fields of a spec that only some kinds obey. */
static bool plan_obeys(const tamis_ops *ops, const tamis_spec *s)
{
    return (!s->value_bits || ops->traits & TAMIS_TRAIT_TAKES_VALUES) &&
           (!s->universe || ops->traits & TAMIS_TRAIT_TAKES_EXCLUDED || ops->adapt) &&
           (!s->counter_bits || ops->traits & TAMIS_TRAIT_COUNTER_BITS) &&
           (!(s->bits || s->hashes) || ops->traits & TAMIS_TRAIT_BITS) &&
           (!s->quotient_bits || ops->traits & TAMIS_TRAIT_QUOTIENT_BITS) &&
           (!s->tag_bits || ops->traits & TAMIS_TRAIT_TAG_BITS) &&
           (s->error == 0 || ops->limits.error > 0);
}

/* The rate that is planned if none is asked for. 1: any that geometry, or nothing, leads to. */
static double plan_default_rate(const tamis_ops *ops, const tamis_spec *s)
{
    bool is_any = ops->traits & TAMIS_TRAIT_TAKES_EXCLUDED || s->tag_bits || (s->bits && s->keys);

    return is_any ? 1 : DEFAULT_FPR;
}

/* Keys that a filter begins with which grows from nothing, and gives a bit for each doubling. */
enum { FEW_KEYS = 1024 };

tamis_status tamis__plan_one(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
{
    const tamis_ops *ops = tamis__ops(kind);
    tamis_spec s = *spec;

    if (!ops || !plan_hasher_is_valid(&s.hasher))
        return TAMIS_RANGE;
    if (s.grow_to)
        s.can |= TAMIS_CAN_GROW;
    if (s.can & ~tamis_kind_can(kind) || !plan_obeys(ops, &s))
        return TAMIS_CANNOT;
    if (!(s.load >= 0 && s.load <= 1) || !(s.error >= 0 && s.error < 1))
        return TAMIS_RANGE;
    if (s.fpr != 0 && !(s.fpr >= LOWEST_FPR && s.fpr < 1))
        return TAMIS_RANGE;
    s.fpr = fmin(s.fpr, HIGHEST_FPR);
    if (ops->item && s.hasher.hash != TAMIS_RAW)
        return TAMIS_RANGE;
    bool is_sized = s.max_bytes || s.bits || s.quotient_bits;
    if (s.fpr == 0 && s.keys && s.max_bytes && !s.bits && !s.tag_bits)
        return plan_best_rate(plan, kind, &s);
    if (s.fpr == 0)
        s.fpr = plan_default_rate(ops, &s);
    if (s.keys == 0 && is_sized && s.error == 0)
        return plan_most_keys(plan, kind, &s);
    if (s.keys == 0 && s.can & TAMIS_CAN_GROW &&
        !plan_kind_keeps_rate(ops, s.can & TAMIS_CAN_ASK_KEYS))
        s.keys = s.grow_to && s.grow_to < FEW_KEYS ? s.grow_to : FEW_KEYS;
    return plan_exactly(plan, kind, &s);
}
