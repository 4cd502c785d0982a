/* budget_pour.c - one budget for filters of any size: water-filling.
 *
 *   minimise sum w exp(-a m)   with   least <= m <= most  and  sum m = bits
 *
 * At the optimum the next bit is worth the same in every filter that is at neither limit: w a
 * exp(-a m) = exp(level), so that m = (log(w a) - level) / a, as far as the limits allow. What is
 * poured in all falls as the level rises, along straight lines with a corner wherever a filter
 * meets a limit. Newton's method finds the line that meets the budget, and then the level on it
 * exactly; an interval that holds the level, and is halved when a step would leave it, keeps it
 * from going round in circles. */
#include <math.h>

#include "tamis_budget.h"

/* While the level is looked for, `bits` holds log(w a). */
static double budget_part(const tamis_vessel *v, double level)
{
    return fmin(fmax((v->bits - level) / v->decay, v->least), v->most);
}

static bool budget_is_vessel(const tamis_vessel *v)
{
    return v->weight >= 0 && v->weight < INFINITY && v->decay > 0 && v->decay < INFINITY &&
           v->least >= 0 && v->least < INFINITY && v->most >= v->least;
}

/* What is poured at a level, and by how much that falls when the level rises. */
typedef struct budget_flow {
    double bits, slope;
} budget_flow;

static budget_flow budget_flow_at(const tamis_vessel *vessels, size_t n, double level)
{
    budget_flow flow = { 0 };

    for (size_t i = 0; i < n; i++) {
        const tamis_vessel *v = &vessels[i];
        double part = budget_part(v, level);
        flow.bits += part;
        flow.slope += part > v->least && part < v->most ? 1 / v->decay : 0;
    }
    return flow;
}

/* low: more is poured than there is; high: not more. */
static double budget_level(const tamis_vessel *vessels, size_t n, double bits, double low,
                           double high)
{
    enum { MOST_STEPS = 200 };
    double level = low;

    for (int i = 0; i < MOST_STEPS && low < high; i++) {
        budget_flow flow = budget_flow_at(vessels, n, level);
        if (flow.bits > bits)
            low = level;
        else
            high = level;
        double next = level + (flow.bits - bits) / flow.slope;
        if (flow.bits == bits || next == level)
            break;
        level = next > low && next < high ? next : low + (high - low) / 2;
    }
    return level;
}

/* A level at which more is poured than there is; or, if there is none, one where all is full. */
static double budget_low_level(const tamis_vessel *vessels, size_t n, double bits, double high)
{
    double depth = 1;

    while (depth < 0x1p60 && budget_flow_at(vessels, n, high - depth).bits <= bits)
        depth *= 2;
    return high - depth;
}

/* The parts at a level. It has 53 bits, which are not enough for large filters to share a small
 * budget: what is missing or too much is dealt out as a change of the level would have done. */
static void budget_settle(tamis_vessel *vessels, size_t n, double bits, double level)
{
    budget_flow flow = budget_flow_at(vessels, n, level);
    double rest = flow.slope > 0 ? (bits - flow.bits) / flow.slope : 0;

    for (size_t i = 0; i < n; i++) {
        tamis_vessel *v = &vessels[i];
        double part = budget_part(v, level);
        if (part > v->least && part < v->most)
            part = fmin(fmax(part + rest / v->decay, v->least), v->most);
        v->bits = part;
    }
}

tamis_status tamis_budget_pour(tamis_vessel *vessels, size_t n, double bits)
{
    double least = 0, high = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        if (!budget_is_vessel(&vessels[i]))
            return TAMIS_RANGE;
        least += vessels[i].least;
    }
    if (!(bits >= least && bits < INFINITY))
        return TAMIS_RANGE;
    for (size_t i = 0; i < n; i++) {
        tamis_vessel *v = &vessels[i];
        v->bits = log(v->weight) + log(v->decay);
        high = fmax(high, v->bits - v->decay * v->least);
    }
    double level = high;
    if (high > -INFINITY)
        level = budget_level(vessels, n, bits, budget_low_level(vessels, n, bits, high), high);
    budget_settle(vessels, n, bits, level);
    return TAMIS_OK;
}
