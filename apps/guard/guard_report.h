/* guard_report.h - what guard found out, as text and as JSON. */
#ifndef TAMIS_APPS_GUARD_GUARD_REPORT_H
#define TAMIS_APPS_GUARD_GUARD_REPORT_H

#include "verdict.h"

typedef struct tell_view {
    const guard *guard;
    const guard_round *rounds; /* the first is without a filter */
    size_t n;
    verdict_price price;
} tell_view;

void tell_print(const tell_view *v);
void tell_json(const tell_view *v);

#endif
