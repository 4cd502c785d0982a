/* verdict.h - is a filter worth its memory? */
#ifndef TAMIS_APPS_GUARD_VERDICT_H
#define TAMIS_APPS_GUARD_VERDICT_H

#include "guard.h"
#include "tamis_advice.h"

/* What is not measured. */
typedef struct verdict_price {
    uint64_t queries; /* that a filter will be asked before it is built anew; 0: as many as came */
    double memory_cost; /* seconds that a GiB costs */
    double fpr;         /* that was asked for */
} verdict_price;

typedef struct verdict {
    tamis_use use;       /* counted in lookups */
    tamis_advice advice; /* what the filter costs, by the model of `tamis plan` */
    double without;      /* what no filter costs */
    double from_queries; /* it is worth it from so many on; infinite: never */
    bool is_known;       /* the model knows filters of that kind */
    bool is_worth;       /* by the model and by the clock */
} verdict;

/* `none` is the round without a filter. */
verdict verdict_of(const guard_round *none, const guard_round *r, const verdict_price *price);

#endif
