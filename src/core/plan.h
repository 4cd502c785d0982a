#ifndef TAMIS_CORE_PLAN_H
#define TAMIS_CORE_PLAN_H

#include "filter.h"

/* Whether the kind itself could have made this plan: the gate for plans that callers edited and for
 * those read from images. */
bool tamis__plan_is_valid(const tamis_plan *plan);

bool tamis__same_hasher(const tamis_hasher *a, const tamis_hasher *b);

/* The rate at capacity, as plans state and images keep it. */
double tamis__plan_fpr(const tamis_plan *plan);

/* Works out bytes and rate of a geometry that a kind has changed. */
tamis_status tamis__plan_settle(tamis_plan *plan);

#endif
