/* explain.h - how kinds tell what they hold, and why they answer as they do. */
#ifndef TAMIS_EXPLAIN_INSIDE_H
#define TAMIS_EXPLAIN_INSIDE_H

#include "base/surplus.h"
#include "filter.h"
#include "tamis_explain.h"

/* Somebody who listens. */
struct tamis_telling {
    tamis_visit_cell *visit_cell;
    tamis_visit_step *visit_step;
    void *ctx;
    bool has_ended; /* who listens has heard enough; what is told after that is not heard */
};

/* In cells(): the next one. False: nobody listens any more. */
bool tamis__tell_cell(tamis_telling *t, tamis_cell cell);

/* The end of cells() in kinds that count a surplus: what that holds. */
void tamis__tell_surplus(tamis_telling *t, const surplus *s);

/* In explain(): a number with its name, a cell that is read, and at last the answer, which is
 * returned. */
void tamis__tell_number(tamis_telling *t, const char *name, uint64_t value);
void tamis__tell_read(tamis_telling *t, const char *as_what, tamis_cell cell, bool agrees);
bool tamis__tell_answer(tamis_telling *t, bool found, const char *why);

/* The end of explain() in kinds of counters, after those of the key, the least of which is its
 * count: tells it, and the answer. */
bool tamis__tell_count(tamis_telling *t, uint64_t count);

#endif
