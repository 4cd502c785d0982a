/* budget_choose.h - a knapsack with one choice for each claim. */
#ifndef TAMIS_ADVICE_BUDGET_CHOOSE_H
#define TAMIS_ADVICE_BUDGET_CHOOSE_H

#include <math.h>

#include "core/memory.h"
#include "tamis_budget.h"

/* The best size of a list, by its place there, lies between that at the high price of a byte and
 * that at the low. */
typedef struct budget_range {
    uint32_t at_high, at_low, now;
} budget_range;

/* A choice is 0: none, 1 .. n: a size, n + 1 .. n + m: a kept one. */
typedef struct budget_state {
    budget_range sizes, kept;
    uint32_t choice;          /* at the price at hand; in the end, that which counts */
    uint32_t at_high, at_low; /* at the two prices */
} budget_state;

typedef struct budget_problem {
    tamis_claim *claims;
    budget_state *states;
    size_t n;
    uint32_t *open; /* claims whose choices at the two prices differ */
    size_t n_open;
    uint64_t closed_bytes; /* of all others */
    uint64_t bytes;        /* that may be used */
    double price;          /* of a byte */
    const tamis_allocator *alloc;
} budget_problem;

static inline const tamis_size *budget_size(const tamis_claim *c, uint32_t choice)
{
    if (choice == 0)
        return NULL;
    return choice <= c->n ? &c->sizes[choice - 1] : &c->kept[choice - 1 - c->n];
}

static inline uint64_t budget_bytes(const tamis_claim *c, uint32_t choice)
{
    return choice ? budget_size(c, choice)->bytes : 0;
}

static inline double budget_cost(const tamis_claim *c, uint32_t choice)
{
    if (choice == 0)
        return c->needed ? INFINITY : c->weight;
    return c->weight * budget_size(c, choice)->rate + (choice <= c->n ? c->price : 0);
}

/* At the price of a byte. */
static inline double budget_full_cost(const budget_problem *p, const tamis_claim *c,
                                      uint32_t choice)
{
    return budget_cost(c, choice) + p->price * (double)budget_bytes(c, choice);
}

/* Changes choices so that they make the best use of what is left over. *is_proven: there are no
 * better ones at all. */
tamis_status tamis__budget_improve(budget_problem *p, uint64_t left, bool *is_proven);

#endif
