/* budget_table.h - CSV files with named columns. What is wrong with one ends the program, with the
 * line.
 */
#ifndef TAMIS_APPS_BUDGET_BUDGET_TABLE_H
#define TAMIS_APPS_BUDGET_BUDGET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TABLE_COLUMNS_MAX = 12 };

/* What is wanted of a file. */
typedef struct table_format {
    const char *command; /* for messages */
    const char *const *columns;
    size_t n;        /* columns; a file without a header has them in this order */
    size_t required; /* the first ones; others may be missing */
    uint64_t most;   /* records */
} table_format;

typedef struct table_row {
    const table_format *format;
    const char *path;
    uint64_t line;
    const char *fields[TABLE_COLUMNS_MAX]; /* of the columns that are wanted; NULL: missing */
} table_row;

typedef void table_take(void *ctx, const table_row *row);

/* Calls `take` for each record. The first one is a header if it begins with the name of the first
 * column; columns of other names are skipped. "-" is standard input. */
void table_read(const table_format *format, const char *path, table_take *take, void *ctx);

/* "budget: plan.csv, line 3: keys 'x' is not a whole number from 1 up" */
_Noreturn void table_refuse(const table_row *row, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Numbers of a column, within the range that its name and `what` tell. */
uint64_t table_count(const table_row *row, size_t column, uint64_t least);
double table_real(const table_row *row, size_t column);

#endif
