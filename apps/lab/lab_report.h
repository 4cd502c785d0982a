/* lab_report.h - the table of an experiment as text, CSV, JSON, picture and page. */
#ifndef TAMIS_APPS_LAB_LAB_REPORT_H
#define TAMIS_APPS_LAB_LAB_REPORT_H

#include "lab.h"

enum { LAB_COLUMNS_MAX = 16 };

struct lab_result {
    size_t n_columns;
    bool is_time[LAB_COLUMNS_MAX];
    buffer cells; /* of lab_cell, row by row; the first row has the names of columns */
    buffer notes; /* each with a NUL */
    chart charts[LAB_CHARTS_MAX];
    size_t n_charts;
    size_t inside, tested;
    bool with_times;
};

void report_print(const lab_result *t);
void report_json(const lab *l);
void report_csv(const lab_result *t, const char *path);
void report_svg(const experiment *e, const lab_result *t, const char *path);

/* A page with a section for each experiment, in a folder. */
enum { LAB_PATH_MAX = 4096 };

void report_folder(const char *folder);
void report_path(char path[LAB_PATH_MAX], const char *folder, const char *name, const char *ending);
void report_begin(buffer *page, uint64_t seed);
void report_section(buffer *page, const experiment *e, const lab_result *t);
void report_end(buffer *page, const char *folder);

#endif
