/* intersect_plan.c - the filter with which the fewest bytes cross the line.
 *
 *   bytes = filter(|A|, rate) + (|A n B| + |B \ A| rate) u
 *
 * where u is what an element of the answer takes. Every kind is asked what it takes at each rate:
 * there is no formula of a kind here. */
#include <math.h>

#include "intersect.h"

/* A filter as it travels: header, checksums. */
enum { IMAGE_BYTES = 256 + 16, BUILDER_BYTES = 4 << 20 };

bool intersect_takes(tamis_kind kind, bool is_raw)
{
    unsigned can = tamis_kind_can(kind);

    return can & (TAMIS_CAN_ADD | TAMIS_CAN_BUILD) &&
           !(can & (TAMIS_CAN_GET | TAMIS_CAN_EXCLUDE | TAMIS_CAN_ROTATE)) &&
           (is_raw || !(can & TAMIS_IS_INDEXED));
}

tamis_spec intersect_spec(const intersect_plan *p, const intersect_set *first)
{
    bool is_indexed = tamis_kind_can(p->kind) & TAMIS_IS_INDEXED;
    tamis_spec spec = TAMIS_SPEC(.keys = is_indexed ? first->largest + 1 : first->n,
                                 .fpr = is_indexed ? 0 : p->fpr, .hasher.hash = TAMIS_RAW);

    return spec;
}

/* A number of the answer is one of the first side's by chance with probability first / range, and
 * its group of 64 has to be sent again, 64 bits each. To halve the range saves a bit for each of q
 * numbers; the least sum of both is at q / (64 * 64 ln 2) wrong ones. A group cannot be larger than
 * the answer. */
uint64_t intersect_range(uint64_t first, uint64_t answer)
{
    uint64_t group = answer < INTERSECT_GROUP ? answer : INTERSECT_GROUP;
    uint64_t range;

    return __builtin_mul_overflow(first, 44 * group, &range) ? UINT64_MAX : range + 1;
}

/* Bits of a yes or no. */
static double entropy(double p)
{
    return p <= 0 || p >= 1 ? 0 : -p * log2(p) - (1 - p) * log2(1 - p);
}

/* Bytes of an answer of q elements, of which so many are in common, and of what follows it. */
static double answer_bytes(const intersect_wish *w, double first, double q, double common)
{
    double verdict = q * entropy(q > 0 ? common / q : 0), group = fmin(q, INTERSECT_GROUP);

    if (q < 1)
        return 0;
    if (w->form == INTERSECT_UNCODED)
        return q * (w->is_raw ? 8 : 16) + verdict / 8;
    double range = first * 44 * group, wrong = (first - common) * q / range;
    double number = log2(fmax(range / q, 1)) + 1.5 + 64 / group;
    return (q * number + verdict + wrong * 64 * (group * common / q + 1)) / 8;
}

/* A builder that takes all keys at once can tell whether it has enough memory. Others take the
 * filter, and 8 bytes for each key of a 256th of them; twice that, as some are larger. */
static bool fits(const intersect_wish *w, const tamis_plan *plan, const tamis_spec *spec)
{
    const tamis_build_options options = TAMIS_BUILD_OPTIONS(.memory = w->memory);
    tamis_builder *b = NULL;

    if (w->memory == 0)
        return true;
    if (tamis_kind_can(plan->kind) & TAMIS_CAN_ADD)
        return plan->bytes + plan->bytes / 16 + spec->keys / 16 + BUILDER_BYTES <= w->memory;
    if (tamis_builder_new(&b, plan->kind, spec, &options))
        return false;
    tamis_builder_free(b);
    return true;
}

/* Whether the best plan so far takes more than this one, whose answer is worked out. */
static bool is_better(intersect_plan *p, const intersect_plan *best, const intersect_wish *w,
                      double first, double second, double common)
{
    double rate = p->kind ? p->fpr : 1;

    p->form = w->form;
    p->answer = answer_bytes(w, first, common + (second - common) * rate, common);
    return best->filter < 0 || p->filter + p->answer < best->filter + best->answer;
}

static void consider_kind(intersect_plan *best, const intersect_wish *w, tamis_kind kind,
                          const intersect_set *first, double second, double common,
                          bool asker_is_first)
{
    bool is_indexed = tamis_kind_can(kind) & TAMIS_IS_INDEXED;
    tamis_spec spec = TAMIS_SPEC(.hasher.hash = TAMIS_RAW);
    tamis_plan plan;

    spec.keys = is_indexed ? first->largest + 1 : first->n;
    for (double bits = 0.5; bits < 32; bits += 0.25) {
        spec.fpr = is_indexed ? 0 : w->fpr > 0 ? w->fpr : exp2(-bits);
        if (tamis_plan_kind(&plan, kind, &spec))
            continue;
        /* Lower rates take more yet. */
        if (best->filter >= 0 && (double)plan.bytes > best->filter + best->answer)
            return;
        intersect_plan p = { .asker_is_first = asker_is_first,
                             .kind = kind,
                             .fpr = plan.fpr,
                             .filter = (double)plan.bytes + IMAGE_BYTES };
        if (is_better(&p, best, w, (double)first->n, second, common) && fits(w, &plan, &spec))
            *best = p;
        if (is_indexed || w->fpr > 0)
            return;
    }
}

/* Kinds to study are taken by their names alone. */
static bool may_be_chosen(const intersect_wish *w, tamis_kind kind)
{
    return w->kind ? kind == w->kind : !(tamis_kind_can(kind) & TAMIS_IS_TO_STUDY);
}

static void consider_side(intersect_plan *best, const intersect_wish *w, const intersect_set *first,
                          const intersect_set *second, double common, bool asker_is_first)
{
    intersect_plan none = { .asker_is_first = asker_is_first };
    double n = (double)second->n;

    if (!w->kind && w->fpr == 0 && is_better(&none, best, w, (double)first->n, n, common))
        *best = none;
    for (tamis_kind kind = TAMIS_NO_KIND; first->n && (kind = tamis_kind_next(kind));)
        if (may_be_chosen(w, kind) && intersect_takes(kind, w->is_raw))
            consider_kind(best, w, kind, first, n, common, asker_is_first);
}

bool intersect_choose(intersect_plan *p, const intersect_wish *w, const intersect_set *asker,
                      const intersect_set *server, double common)
{
    intersect_plan best = { .filter = -1, .asker_is_first = true };

    consider_side(&best, w, asker, server, common, true);
    consider_side(&best, w, server, asker, common, false);
    *p = best;
    return best.filter >= 0;
}

/* Elements travel in 16 bytes. A bitmap has one bit for each number up to the largest. */
enum { WORTH_FREE = 64 << 20, WORTH_TIMES = 64 };

bool intersect_is_worth(const intersect_plan *p, const intersect_set *first)
{
    tamis_plan plan;
    tamis_spec spec = intersect_spec(p, first);

    return tamis_plan_kind(&plan, p->kind, &spec) == TAMIS_OK &&
           plan.bytes / WORTH_TIMES <= first->n + WORTH_FREE / WORTH_TIMES;
}
