/* flows_report.h - what was counted, as text, CSV or JSON on standard output. */
#ifndef TAMIS_APPS_FLOWS_FLOWS_REPORT_H
#define TAMIS_APPS_FLOWS_FLOWS_REPORT_H

#include "tally.h"
#include "text/json.h"

typedef enum report_form { REPORT_TEXT, REPORT_CSV, REPORT_JSON } report_form;

typedef struct flow_report {
    report_form form;
    const tally_wish *wish;
    size_t shown;     /* lines of each list */
    bool has_printed; /* something is on standard output */
    json json;
} flow_report;

extern const char *const WAY_NAMES[WAYS];

/* Intervals come first, as soon as each of them has ended. */
void report_interval(void *ctx, const interval *i);
/* All else, once the last packet was taken. */
void report_all(flow_report *r, tally *t);

#endif
