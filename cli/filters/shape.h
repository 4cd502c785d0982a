/* shape.h - what the numbers of a plan are called. */
#ifndef TAMIS_CLI_FILTERS_SHAPE_H
#define TAMIS_CLI_FILTERS_SHAPE_H

#include "tamis.h"
#include "text/json.h"

/* "10112 slots, 9 bits per remainder" */
void shape_print(const tamis_plan *plan);
/* The same as an object, whose members are called "slots", "bits_per_remainder". */
void shape_json(json *j, const char *name, const tamis_plan *plan);

#endif
