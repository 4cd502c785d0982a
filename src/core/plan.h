/* plan.h - what the core knows about plans. */
#ifndef TAMIS_CORE_PLAN_H
#define TAMIS_CORE_PLAN_H

#include "filter.h"

/* Whether it may be taken by who names no kind: not one that has to be asked for, and where growth
 * has no bound, only one that keeps its rate. */
bool tamis__plan_may_be_chosen(const tamis_plan *plan, const tamis_spec *spec);

/* A plan of that kind for a spec that was checked for its size. */
tamis_status tamis__plan_one(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec);

/* Whether the kind itself could have made this plan: the gate for plans that callers edited and for
 * those read from images. */
bool tamis__plan_is_valid(const tamis_plan *plan);

bool tamis__same_hasher(const tamis_hasher *a, const tamis_hasher *b);

/* Whether filters of the two plans can be merged. */
bool tamis__plans_merge(const tamis_plan *a, const tamis_plan *b);

/* Whether its slots are its room, and not its capacity: keys take more than one where whole hashes
 * are told apart. */
bool tamis__plan_is_in_slots(const tamis_plan *plan);

/* Whether a filter of that plan makes room by itself. */
bool tamis__plan_grows(const tamis_plan *plan);

/* Whether such a filter keeps the rate that it is planned for, however far it grows. */
bool tamis__plan_keeps_rate(const tamis_plan *plan);
/* Slots, width, hashes and capacity of a filter that has grown to so many keys; false: it is full
 * before that, and the plan is the last that it had. */
bool tamis__plan_reach(tamis_plan *plan, uint64_t keys);

/* A kind changes slots, width, hashes and capacity; then the core sets the rest here: bytes, fpr
 * and the limits of counts. TAMIS_RANGE: it is no plan. */
tamis_status tamis__plan_settle(tamis_plan *plan);
/* The limits of counts alone, which are not in images. */
void tamis__plan_set_limits(tamis_plan *plan);

/* Another size, by the kind's resize() and tamis__plan_settle(). */
tamis_status tamis__plan_resize(tamis_plan *plan, uint64_t keys);
/* More room than now. Kinds in order: twice as much. */
tamis_status tamis__plan_enlarge(tamis_plan *plan);
/* As above, for what found no room and takes so many slots in all. TAMIS_FULL: there is no larger
 * size, or it would not help. */
tamis_status tamis__plan_grow(tamis_plan *plan, uint64_t needed);

/* What a filter of that plan, with so many keys, shrinks to: of the plans of at most max_bytes that
 * it can be folded to, or gets by leaving out rows, the one with the lowest rate. TAMIS_RANGE:
 * there is none. */
tamis_status tamis__plan_shrink(tamis_plan *plan, uint64_t max_bytes, uint64_t keys);

#endif
