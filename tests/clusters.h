/* clusters.h - rates that are seen in many filters of one plan. */
#ifndef TAMIS_TESTS_CLUSTERS_H
#define TAMIS_TESTS_CLUSTERS_H

#include "check.h"

static inline void assert_rate(uint64_t hits, uint64_t probes, double low, double high)
{
    if (!binomial_fits_between(hits, probes, low, high))
        fail_msg("%llu of %llu strangers hit, %.3g; expected between %.4g and %.4g",
                 (unsigned long long)hits, (unsigned long long)probes,
                 (double)hits / (double)probes, low, high);
}

enum { CLUSTER_PROBES = 400 };

/* Probes of one filter are not independent: all of them meet the same payload. A filter gives the
 * share x of its probes; if x varies by more than independent probes would, as many independent
 * ones as would vary like that stand for all of them. */
typedef struct clusters {
    double hits, squares; /* sums of hits of a filter, and of their squares */
    uint64_t filters;
} clusters;

/* Asks for strangers. */
static inline void clusters_add(clusters *c, const tamis *f, rng *r)
{
    uint64_t probes[CLUSTER_PROBES], hits[(CLUSTER_PROBES + 63) / 64];

    for (int i = 0; i < CLUSTER_PROBES; i++)
        probes[i] = rng_next(r);
    double found = (double)tamis_has_many(f, hits, probes, CLUSTER_PROBES);
    c->hits += found;
    c->squares += found * found;
    c->filters++;
}

static inline void assert_cluster_rate(const clusters *c, double low, double rate)
{
    double n = (double)c->filters, mean = c->hits / n, variance = c->squares / n - mean * mean;
    double binomial = CLUSTER_PROBES * rate * (1 - rate), factor = fmax(1, variance / binomial);

    assert_rate((uint64_t)(c->hits / factor), (uint64_t)(n * CLUSTER_PROBES / factor), low, rate);
}

#endif
