/* advise_cost.c - what a plan costs in use: the model of tamis_advice.h. */
#include <math.h>

#include "advice/advise.h"

/* ---- Times of a machine ------------------------------------------------ */

/* A random line in a table of that size, between those that were measured. */
static double advise_read(const tamis_machine *m, double bytes)
{
    double at = (log2(fmax(bytes, 1)) - FIRST_READ_BITS) / READ_BITS_STEP;
    double low = floor(fmax(0, fmin(at, TAMIS_READS - 2)));
    double share = fmax(0, fmin(at - low, 1));

    return m->reads[(int)low] * (1 - share) + m->reads[(int)low + 1] * share;
}

/* How far from the cache a filter is: 0 as far as the one that was measured in it, 1 in memory. */
static double advise_coldness(const tamis_machine *m, double measured, double bytes)
{
    double warm = advise_read(m, measured), cold = m->reads[TAMIS_READS - 1];

    return cold > warm ? fmax(0, fmin((advise_read(m, bytes) - warm) / (cold - warm), 1)) : 0;
}

typedef struct advise_times {
    double absent, present, build;
} advise_times;

/* As the filter of that timing would take, had it another size. Builds hardly suffer from that:
 * they go through the filter in order, or fetch ahead. */
static advise_times advise_sized(const tamis_machine *m, const tamis_timing *t, double bytes)
{
    double coldness = advise_coldness(m, t->bytes, bytes);

    return (advise_times){ t->absent + fmax(0, t->absent_cold - t->absent) * coldness,
                           t->present + fmax(0, t->present_cold - t->present) * coldness,
                           t->build };
}

/* Along the line through two rates, but not to less than half of the lower. */
static double advise_between(double a, double b, double share)
{
    return fmax(a + (b - a) * share, fmin(a, b) / 2);
}

bool tamis__advise_times(const tamis_machine *machine, const tamis_plan *plan, double *absent,
                         double *present, double *build)
{
    const tamis_speed *s = machine->speeds, *end = s + machine->kinds;

    while (s < end && s->kind != plan->kind)
        s++;
    if (s == end)
        return false;
    double bits = -log2(fmax(plan->fpr, 0x1p-64)), apart = s->at[1].bits - s->at[0].bits;
    double share = apart > 0 ? (bits - s->at[0].bits) / apart : 0;
    advise_times a = advise_sized(machine, &s->at[0], (double)plan->bytes);
    advise_times b = advise_sized(machine, &s->at[1], (double)plan->bytes);
    *absent = advise_between(a.absent, b.absent, share);
    *present = advise_between(a.present, b.present, share);
    *build = advise_between(a.build, b.build, share);
    return true;
}

/* ---- Costs ------------------------------------------------------------- */

/* Written so that a NaN is none. */
static bool advise_is_number(double x)
{
    return x >= 0 && x <= 1e18;
}

static bool advise_is_timing(const tamis_timing *t)
{
    return advise_is_number(t->bits) && advise_is_number(t->bytes) && advise_is_number(t->build) &&
           advise_is_number(t->absent) && advise_is_number(t->present) &&
           advise_is_number(t->absent_cold) && advise_is_number(t->present_cold);
}

static bool advise_is_machine(const tamis_machine *m)
{
    bool ok = m->kinds <= TAMIS_SPEEDS_MAX && advise_is_number(m->hash);

    for (int i = 0; ok && i < TAMIS_READS; i++)
        ok = advise_is_number(m->reads[i]);
    for (uint64_t i = 0; ok && i < m->kinds; i++)
        ok = advise_is_timing(&m->speeds[i].at[0]) && advise_is_timing(&m->speeds[i].at[1]);
    return ok;
}

bool tamis__advise_is_valid(const tamis_use *u)
{
    return advise_is_number(u->queries) && u->member_share >= 0 && u->member_share <= 1 &&
           advise_is_number(u->store_cost) && advise_is_number(u->memory_cost) &&
           advise_is_number(u->builds) && advise_is_number(u->probe_cost) &&
           advise_is_number(u->build_cost) && (!u->machine || advise_is_machine(u->machine));
}

/* Without a filter, it is as if that cost nothing and let all pass. */
static void advise_store(tamis_advice *a, double fpr, const tamis_use *u)
{
    a->found = u->queries * u->member_share * u->store_cost;
    a->wrong = u->queries * (1 - u->member_share) * fpr * u->store_cost;
    a->total = a->probes + a->found + a->wrong + a->builds + a->memory;
}

/* The two equations "what the filter costs is what it saves". */
static void advise_worth(tamis_advice *a, const tamis_use *u)
{
    double costs = a->probes + a->builds + a->memory;
    double strangers = u->queries * (1 - u->member_share) * (1 - a->plan.fpr);
    double all = u->queries * (1 - a->plan.fpr) * u->store_cost;

    a->worth_from = strangers > 0 ? costs / strangers : INFINITY;
    a->worth_below = all > 0 ? fmax(0, 1 - costs / all) : 0;
}

bool tamis__advise_cost(tamis_advice *advice, const tamis_plan *plan, const tamis_use *u)
{
    double absent = u->probe_cost, present = absent, build = u->build_cost;
    bool is_measured = u->machine && u->probe_cost == 0 && u->build_cost == 0;
    tamis_advice a = { .plan = *plan };

    if (plan->kind == TAMIS_NO_KIND) {
        advise_store(&a, 1, u);
        a.found = a.total;
        a.wrong = 0;
        *advice = a;
        return true;
    }
    if (is_measured && !tamis__advise_times(u->machine, plan, &absent, &present, &build))
        return false;
    double hash = is_measured && plan->hasher.hash != TAMIS_RAW ? u->machine->hash : 0;
    a.probes = u->queries * (hash + u->member_share * present + (1 - u->member_share) * absent);
    a.builds = u->builds * (double)plan->capacity * (hash + build);
    a.memory = ldexp((double)plan->bytes, -30) * u->memory_cost;
    advise_store(&a, plan->fpr, u);
    advise_worth(&a, u);
    *advice = a;
    return true;
}
