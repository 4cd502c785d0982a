/* mistakes.c - how many answers of a filter are expected to be wrong.
 *
 * Of n keys that are not in a filter of rate f, n f are found by mistake, and n (1 - f) are not
 * found. Those that were not found are known: times f / (1 - f), they tell how many were found by
 * mistake, without knowing n.
 *
 * A filter that excludes keys, or has adapted to some, makes no mistake about these, and nobody
 * knows how many of them were asked. */
#include <math.h>
#include <stdio.h>

#include "mistakes.h"
#include "term/message.h"

mistakes mistakes_of(const tamis *f, bool is_mapped, uint64_t found, uint64_t not_found)
{
    const tamis_plan *plan = tamis_plan_of(f);
    tamis_info info = { .size = sizeof info, .fpr = plan->fpr };
    mistakes m = { .found = found, .keys = (double)plan->capacity };

    if (tamis_kind_can(plan->kind) & TAMIS_IS_EXACT || not_found == 0)
        return m;
    if (!is_mapped)
        tamis_get_info(f, &info);
    m.wrong = NAN;
    if (tamis_kind_can(plan->kind) & TAMIS_CAN_EXCLUDE || info.adaptations > 0)
        return m;
    m.keys = fmax(m.keys, fmin(info.cardinality, (double)info.count));
    m.fpr = info.fpr;
    m.wrong = fmin((double)not_found * m.fpr / (1 - fmin(m.fpr, 0.999999)), (double)found);
    return m;
}

/* A power of ten at which a tenth would be wrong at most. */
static double better_rate(const mistakes *m)
{
    double right = (double)m->found - m->wrong;

    return pow(10, floor(log10(m->fpr * fmax(right / 9, 1) / m->wrong)));
}

/* "; or build it with -p 1e-05, in 43000 bytes in place of 24000": if its kind can. */
static void describe_better(char *text, size_t room, const mistakes *m, const tamis_plan *now)
{
    tamis_spec spec =
        TAMIS_SPEC(.keys = (uint64_t)m->keys, .fpr = better_rate(m), .hasher = now->hasher);
    tamis_plan plan;

    *text = 0;
    if (!tamis_plan_kind(&plan, now->kind, &spec))
        snprintf(text, room,
                 "; or build it with -p %.0e, in %" PRIu64 " bytes in place of %" PRIu64, spec.fpr,
                 plan.bytes, now->bytes);
}

void mistakes_say(const mistakes *m, const tamis *f, bool always)
{
    /* Fewer are soon looked through. */
    bool are_many = m->wrong >= 10 && m->wrong > (double)m->found / 10;
    char better[100];

    if (!are_many && !(always && m->wrong >= 1))
        return;
    describe_better(better, sizeof better, m, tamis_plan_of(f));
    say("expect %.0f of the %" PRIu64 " lines found to be wrong, at a rate of %.3g%s%s", m->wrong,
        m->found, m->fpr, are_many ? "; --check-in KEYS leaves them out" : "",
        are_many ? better : "");
}
