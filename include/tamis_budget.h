/* tamis_budget.h - many filters that share one budget of memory. Needs no operating system.
 *
 * A filter without bytes answers yes to everything. Each byte lowers its rate, and by less than the
 * byte before: so there is one best way to share a budget, in which the next byte would bring the
 * same gain wherever it went. apps/budget/budget.md has the theory, `tamis budget` the command. */
#ifndef TAMIS_BUDGET_H
#define TAMIS_BUDGET_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Budgets ----------------------------------------------------------- */

/* `weight` is what a filter costs while its rate is 1: the share of queries that ask it for keys it
 * does not hold, times the price of a wrong yes. Its cost is weight * rate. */

/* A filter that may have any size: of m bits, its rate is exp(-decay * m). For a Bloom filter of n
 * keys, decay is ln(2)^2 / n; for a static kind that takes c bits per key and bit of its rate, it
 * is ln(2) / (c n). */
typedef struct tamis_vessel {
    double weight, decay;
    double least, most; /* bits; most may be INFINITY */
    double bits;        /* its part of the budget, which is what is worked out */
} tamis_vessel;

/* Shares bits so that the costs add up to the least possible: water-filling, in time proportional
 * to n, and without memory. All is shared, unless every vessel of some weight has its most.
 * TAMIS_RANGE: a number is negative or not finite, a decay is 0, or the least are more than bits.
 */
TAMIS_API tamis_status tamis_budget_pour(tamis_vessel *vessels, size_t n,
                                         double bits) TAMIS_CHECKED;

/* A size that a filter may have, and its rate there. */
typedef struct tamis_size {
    uint64_t bytes;
    double   rate;
} tamis_size;

/* A filter that may have some sizes only, or none at all. Lists are in order of their bytes, which
 * rise and are not 0, while rates fall; several filters may have one list. */
typedef struct tamis_claim {
    double            weight;
    const tamis_size *sizes;   /* that it can be built with */
    size_t            n;       /* of these; below 2^31, as m */
    double            price;   /* of building it, in the unit of costs */
    const tamis_size *kept;    /* that it has already, or shrinks to: free */
    size_t            m;       /* of these */
    bool              needed;  /* it may not be left out */
    bool              is_kept; /* what was chosen: a size of kept, */
    const tamis_size *size;    /* which one; NULL: none, it is left out */
} tamis_claim;

typedef struct tamis_budget {
    uint64_t bytes; /* of all that was chosen */
    double   cost;  /* of it, with the prices of what is built */
    double   least; /* that any choice within the budget costs; `cost` itself, if that is proven */
} tamis_budget;

/* Chooses a size for each claim, of at most that many bytes in all: the choice of the least cost,
 * to within the cost of the last step that does not fit. The best of all choices is then searched
 * for; of a few dozen claims, it is found. Takes time in proportion to n and to the sizes, 40 bytes
 * for each claim, and 8 MiB. TAMIS_RANGE: a number is negative or not finite, or what is needed is
 * too much. */
TAMIS_API tamis_status tamis_budget_choose(tamis_budget *result, tamis_claim *claims, size_t n,
                                           uint64_t bytes, const tamis_allocator *a) TAMIS_CHECKED;

enum { TAMIS_SIZES_MAX = 128 };

/* Sizes that filters of a kind may have, for tamis_claim: one for each quarter of a bit of the
 * rate, or for each bit in kinds of whole bits, as far as spec.max_bytes allows and down to 2^-32.
 * spec.fpr means nothing. Returns how many there are. */
TAMIS_API size_t tamis_budget_sizes(tamis_size sizes[TAMIS_SIZES_MAX], tamis_kind kind,
                                    const tamis_spec *spec);
/* Sizes that tamis_shrink() gives a filter of that plan and so many keys, its own too, up to a rate
 * of 0.99; those of the lowest rates if there are more. */
TAMIS_API size_t tamis_budget_shrunk(tamis_size sizes[TAMIS_SIZES_MAX], const tamis_plan *plan,
                                     uint64_t keys);

#ifdef __cplusplus
}
#endif

#endif
