/* advice.h - which filter to take, in words and numbers. */
#ifndef TAMIS_CLI_FILTERS_ADVICE_H
#define TAMIS_CLI_FILTERS_ADVICE_H

#include "tamis_advice.h"

typedef struct advice_view {
    const tamis_advice *options; /* the best first */
    size_t n;
    const tamis_spec *spec;
    const tamis_use *use;
    bool is_time; /* costs are seconds; else they have no unit */
    bool is_long; /* show what costs are made of */
} advice_view;

/* A cost for people, with so many digits and the unit that makes them short. */
typedef struct advice_text {
    char text[32];
} advice_text;

advice_text advice_cost(double value, bool is_time, int digits);
/* "more than 99.8 %", but not "more than 100 %". */
advice_text advice_share_from(double share);

void advice_print(const advice_view *v);
void advice_json(const advice_view *v);

#endif
