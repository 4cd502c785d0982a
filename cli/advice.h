/* advice.h - which filter to take, in words and numbers. */
#ifndef TAMIS_CLI_ADVICE_H
#define TAMIS_CLI_ADVICE_H

#include "tamis_advice.h"

typedef struct advice_view {
    const tamis_advice *options; /* the best first */
    size_t n;
    const tamis_spec *spec;
    const tamis_use *use;
    bool is_time; /* costs are seconds; else they have no unit */
    bool is_long; /* show what costs are made of */
} advice_view;

void advice_print(const advice_view *v);
void advice_json(const advice_view *v);

#endif
