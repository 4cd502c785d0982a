/* budget_table.c - CSV files with named columns. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "budget_table.h"
#include "term/message.h"
#include "text/number.h"
#include "text/reader.h"

/* A quote that is not closed makes one record of all that follows. */
enum { RECORD_MAX = 1 << 16, FIELDS_MAX = 64 };

static const csv_format FORMAT = { .delim = ',', .end = '\n' };

typedef struct reading {
    table_row row;
    table_take *take;
    void *ctx;
    uint64_t records;             /* taken */
    size_t at[TABLE_COLUMNS_MAX]; /* which field a column is; FIELDS_MAX: none */
    buffer text;                  /* of the fields of a record, each with a NUL */
    size_t n, starts[FIELDS_MAX]; /* of these */
} reading;

/* ---- Refusals ---------------------------------------------------------- */

void table_refuse(const table_row *row, const char *format, ...)
{
    char why[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    die(CODE_USAGE, "%s: %s, line %" PRIu64 ": %s", row->format->command, row->path, row->line,
        why);
}

uint64_t table_count(const table_row *row, size_t column, uint64_t least)
{
    const char *text = row->fields[column];
    uint64_t value;

    if (!number_count(&value, text) || value < least)
        table_refuse(row, "%s '%s' is not a whole number from %" PRIu64 " up",
                     row->format->columns[column], text, least);
    return value;
}

double table_real(const table_row *row, size_t column)
{
    const char *text = row->fields[column];
    double value;

    if (!number_share(&value, text) || value > 1e200)
        table_refuse(row, "%s '%s' is not a number from 0 up", row->format->columns[column], text);
    return value;
}

/* ---- Records ----------------------------------------------------------- */

static void take_field(reading *t, const char *field, size_t size)
{
    if (t->n == FIELDS_MAX)
        table_refuse(&t->row, "more than %d columns", FIELDS_MAX);
    t->starts[t->n++] = t->text.size;
    if (memchr(field, 0, size))
        table_refuse(&t->row, "a NUL byte");
    if (size > 0 && *field == '"')
        csv_unquote(&t->text, field, size);
    else
        buffer_append(&t->text, field, size);
    buffer_append(&t->text, "", 1);
}

static void split(reading *t, const char *at, const char *end)
{
    t->n = t->text.size = 0;
    for (const char *stop;; at = stop + 1) {
        stop = csv_field(&FORMAT, at, end);
        take_field(t, at, (size_t)(stop - at));
        if (stop == end)
            return;
    }
}

/* Which field each column is. */
static void take_header(reading *t)
{
    const table_format *f = t->row.format;

    for (size_t i = 0; i < f->n; i++) {
        t->at[i] = FIELDS_MAX;
        for (size_t j = t->n; j-- > 0;)
            if (strcmp(t->text.bytes + t->starts[j], f->columns[i]) == 0)
                t->at[i] = j;
        if (i < f->required && t->at[i] == FIELDS_MAX)
            table_refuse(&t->row, "there is no column '%s'", f->columns[i]);
    }
}

static void take_record(reading *t)
{
    const table_format *f = t->row.format;

    if (t->records++ == f->most)
        table_refuse(&t->row, "more than %" PRIu64 " records; divide them", f->most);
    for (size_t i = 0; i < f->n; i++) {
        bool is_there = t->at[i] < t->n;
        t->row.fields[i] = is_there ? t->text.bytes + t->starts[t->at[i]] : NULL;
        if (!is_there && i < f->required)
            table_refuse(&t->row, "there is no %s; columns are separated by commas", f->columns[i]);
    }
    t->take(t->ctx, &t->row);
}

static void take_line(reading *t, const char *at, const char *end)
{
    if (end > at && end[-1] == '\r')
        end--;
    if (at == end)
        return;
    split(t, at, end);
    if (t->records == 0 && strcmp(t->text.bytes, t->row.format->columns[0]) == 0)
        take_header(t);
    else
        take_record(t);
}

/* Whole records, which may have line ends in quotes. */
static void take_chunk(reading *t, const buffer *chunk)
{
    const char *at = chunk->bytes, *end = at + chunk->size, *next;
    csv_state state = CSV_START;

    for (; at < end && (next = csv_record(&FORMAT, &state, at, end)); at = next) {
        take_line(t, at, next - 1);
        for (; (at = memchr(at, '\n', (size_t)(next - at))); at++)
            t->row.line++;
    }
}

static _Noreturn void refuse_input(const reading *t, const reader *r)
{
    if (r->why)
        table_refuse(&t->row, "%s", r->why);
    die_errno("read", t->row.path);
}

void table_read(const table_format *format, const char *path, table_take *take, void *ctx)
{
    char *const names[] = { (char *)(uintptr_t)path, NULL };
    const char *shown = strcmp(path, "-") == 0 ? "standard input" : path;
    reading t = { .row = { .format = format, .path = shown, .line = 1 }, .take = take, .ctx = ctx };
    buffer chunk = { 0 };
    reader_state state;
    reader r;

    for (size_t i = 0; i < format->n; i++)
        t.at[i] = i;
    reader_open(&r, names, '\n');
    r.is_csv = true;
    r.csv = FORMAT;
    r.line_max = RECORD_MAX;
    while ((state = reader_next(&r, &chunk)) == READER_CHUNK)
        take_chunk(&t, &chunk);
    if (state == READER_FAILED)
        refuse_input(&t, &r);
    reader_close(&r);
    buffer_free(&chunk);
    buffer_free(&t.text);
}
