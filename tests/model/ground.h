/* ground.h - laws about filters of any capacity: each is checked on a plan, keys that fit it and as
 * many strangers, at capacities from nothing to some ten thousand. */
#ifndef TAMIS_TESTS_GROUND_H
#define TAMIS_TESTS_GROUND_H

#include "kinds.h"

typedef struct ground {
    tamis_plan plan;
    double fpr;                 /* asked */
    uint64_t *keys, *strangers; /* one array: strangers follow the keys */
    size_t n, n_strangers;
    rng r;
} ground;

typedef struct ground_law {
    const char *says;
    void (*check)(ground *g);
    unsigned can;
} ground_law;

static const uint64_t CAPACITIES[] = { 0, 1, 2, 3, 10, 100, 1000 };
static const double FPRS[] = { 0.01, 0.3, 0.1, 0.001, 0.0001, 0.05, 0.01, 0.01 };

enum { N_CAPACITIES = sizeof CAPACITIES / sizeof *CAPACITIES + 1 };

static inline ground ground_for(tamis_kind kind, int i)
{
    ground g = { .fpr = FPRS[i], .r = rng_for(100 + (uint64_t)kind, (uint64_t)i) };
    const uint64_t many = run_size(30000, 10000, 100000);
    const uint64_t capacity = i == N_CAPACITIES - 1 ? many : CAPACITIES[i];
    size_t wanted = 2 * (size_t)capacity;

    snprintf(law_at, sizeof law_at, "capacity %llu", (unsigned long long)capacity);
    g.plan = plan_of_sums(kind, capacity, FPRS[i], rng_next(&g.r));
    assert_true(g.plan.capacity >= capacity);
    g.keys = universe_of(&g.plan, &g.r, &wanted);
    g.n = wanted / 2;
    g.strangers = g.keys + g.n;
    g.n_strangers = wanted - g.n;
    return g;
}

static inline void check_ground_law(tamis_kind kind, const void *arg)
{
    const ground_law *l = arg;

    for (int i = 0; i < N_CAPACITIES; i++) {
        ground g = ground_for(kind, i);

        l->check(&g);
        free(g.keys);
    }
}

typedef int check_laws_of_some(const law *laws, size_t n);

/* Of the kinds that check_laws() or check_laws_of_all() goes through. */
static inline int check_ground_laws_of(check_laws_of_some *check, const ground_law *laws, size_t n)
{
    law general[64];

    assert_true(n <= 64);
    for (size_t i = 0; i < n; i++)
        general[i] = (law){ .says = laws[i].says,
                            .check_with = check_ground_law,
                            .arg = &laws[i],
                            .can = laws[i].can };
    return check(general, n);
}

static inline int check_ground_laws(const ground_law *laws, size_t n)
{
    return check_ground_laws_of(check_laws, laws, n);
}

/* How many of the keys may be added twice: in kinds that count, each time takes room, and where
 * counts stop, there are only so many places for both times. */
static inline size_t half_of_keys(const ground *g)
{
    if (g->plan.ceiling != UINT64_MAX)
        return g->n / 4;
    return tamis_kind_can(g->plan.kind) & TAMIS_CAN_COUNT ? g->n / 2 : g->n;
}

/* Kinds whose payload tells what was added, and not in which order. */
static inline bool forgets_order(tamis_kind kind)
{
    return tamis_kind_can(kind) & (TAMIS_IS_EXACT | TAMIS_CAN_READ_WHILE_ADD | TAMIS_CAN_RESIZE);
}

static inline void assert_holds(const tamis *f, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(tamis_has(f, keys[i]));
        assert_true(tamis_count(f, keys[i]) >= 1);
    }
}

static inline uint64_t *hits_of_keys(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits);

    tamis_has_many(f, hits, keys, n);
    return hits;
}

/* Of slow kinds, not all keys of the largest filters are asked for. */
static inline void assert_same_hits(const tamis *f, const tamis *g, const uint64_t *keys, size_t n)
{
    if (n > 20000 && (is_slow(f->plan.kind) || is_slow(g->plan.kind)))
        n = 20000;
    uint64_t *hits = hits_of_keys(f, keys, n), *same = hits_of_keys(g, keys, n);
    assert_memory_equal(hits, same, (n / 64 + 1) * sizeof *hits);
    free(hits);
    free(same);
}

/* Counts of some kinds are bounds, and which ones depends on the order of adds; of some, counts
 * alone do not. Few keys of the largest filters are asked for one by one. */
static inline void assert_same_answers(const tamis *f, const tamis *g, const uint64_t *keys,
                                       size_t n)
{
    size_t most = is_slow(f->plan.kind) ? 500 : 20000;
    bool may_differ = counts_very_keys(f->plan.kind) && !same_payload(f, g);

    if (!may_differ)
        assert_same_hits(f, g, keys, n);
    for (size_t i = 0; i < (n < most ? n : most); i++) {
        assert_true(may_differ || tamis_has(f, keys[i]) == tamis_has(g, keys[i]));
        if (!counts_vary(f->plan.kind) && (n <= 2000 || !keeps_marks(f->plan.kind)))
            assert_int_equal(tamis_count(f, keys[i]), tamis_count(g, keys[i]));
    }
}

static inline void assert_no_fewer_answers(const tamis *f, const tamis *g, const uint64_t *keys,
                                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(tamis_has(f, keys[i]) <= tamis_has(g, keys[i]));
        assert_true(tamis_count(f, keys[i]) <= tamis_count(g, keys[i]));
    }
}

#endif
