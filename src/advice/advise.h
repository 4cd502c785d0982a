/* advise.h - what a plan costs in use. */
#ifndef TAMIS_ADVICE_ADVISE_H
#define TAMIS_ADVICE_ADVISE_H

#include "core/sized.h"
#include "tamis_advice.h"

/* tamis_machine.reads[i] is of tables of 2^(FIRST_READ_BITS + i * READ_BITS_STEP) bytes. */
enum { FIRST_READ_BITS = 15, READ_BITS_STEP = 2 };

/* First sizes: see core/sized.h. */
enum {
    ADVISE_MACHINE = SIZED_UP_TO(tamis_machine, speeds),
    ADVISE_USE = SIZED_UP_TO(tamis_use, machine),
};

/* Whether every number makes sense. */
bool tamis__advise_is_valid(const tamis_use *use);

/* No filter, if the plan has no kind. False: the machine has not measured it. */
bool tamis__advise_cost(tamis_advice *advice, const tamis_plan *plan, const tamis_use *use);

/* Seconds that a lookup of a key takes, and the building for each key; false: not measured. */
bool tamis__advise_times(const tamis_machine *machine, const tamis_plan *plan, double *absent,
                         double *present, double *build);

#endif
