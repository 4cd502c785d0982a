/* lab_report.c - the table of an experiment as text, CSV, JSON, picture and page. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab_report.h"
#include "text/csv.h"
#include "text/json.h"

static size_t n_rows(const lab_result *t)
{
    return t->n_columns ? t->cells.size / sizeof(lab_cell) / t->n_columns : 0;
}

static const lab_cell *cell_at(const lab_result *t, size_t row, size_t column)
{
    const lab_cell *cells = (const void *)t->cells.bytes;

    return &cells[row * t->n_columns + column];
}

static bool is_shown(const lab_result *t, size_t column)
{
    return t->with_times || !t->columns[column].is_time;
}

/* The note after this one, NULL after the last; NULL gives the first. */
static const char *next_note(const lab_result *t, const char *note)
{
    const char *next = note ? note + strlen(note) + 1 : t->notes.bytes;

    return t->notes.size && next < t->notes.bytes + t->notes.size ? next : NULL;
}

static void append(buffer *to, const char *text)
{
    buffer_append(to, text, strlen(text));
}

/* ---- Text -------------------------------------------------------------- */

static int width_of(const lab_result *t, size_t column)
{
    size_t width = strlen(t->columns[column].name);

    for (size_t row = 0; row < n_rows(t); row++) {
        size_t size = strlen(cell_at(t, row, column)->text);
        width = size > width ? size : width;
    }
    return (int)width;
}

static bool is_left(const lab_result *t, size_t column)
{
    return n_rows(t) > 0 && cell_at(t, 0, column)->type == CELL_TEXT;
}

static void print_cell(const lab_result *t, size_t column, const char *text)
{
    int width = width_of(t, column);

    if (is_left(t, column))
        printf("%-*s", column + 1 == t->n_columns ? 0 : width, text);
    else
        printf("%*s", width, text);
}

static void print_line(const lab_result *t, size_t row, bool is_head)
{
    const char *space = "";

    for (size_t i = 0; i < t->n_columns; i++)
        if (is_shown(t, i)) {
            printf("%s", space);
            print_cell(t, i, is_head ? t->columns[i].name : cell_at(t, row, i)->text);
            space = "  ";
        }
    putchar('\n');
}

/* As many words to a line as fit. */
static void print_wrapped(const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t size = strcspn(text, " \n");
        if (column > 0 && column + 1 + size > 80) {
            putchar('\n');
            column = 0;
        }
        printf("%s%.*s", column ? " " : "", (int)size, text);
        column += size + (column > 0);
        text += size + (text[size] != 0);
    }
    putchar('\n');
}

void report_print(const lab_result *t)
{
    print_line(t, 0, true);
    for (size_t row = 0; row < n_rows(t); row++)
        print_line(t, row, false);
    for (const char *note = NULL; (note = next_note(t, note));) {
        putchar('\n');
        print_wrapped(note);
    }
}

/* ---- JSON and CSV ------------------------------------------------------ */

static void json_cell(json *j, const char *name, const lab_cell *cell)
{
    switch (cell->type) {
    case CELL_TEXT:
        json_text(j, name, cell->text);
        break;
    case CELL_COUNT:
        json_count(j, name, cell->count);
        break;
    case CELL_REAL:
        json_real(j, name, cell->real);
        break;
    case CELL_INSIDE:
        json_bool(j, name, cell->count);
        break;
    case CELL_NONE:
        break;
    }
}

void report_json(const experiment *e, const lab_result *t, uint64_t seed)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_text(&j, "experiment", e->name);
    json_count(&j, "seed", seed);
    json_open(&j, "rows", '[');
    for (size_t row = 0; row < n_rows(t); row++) {
        json_open(&j, NULL, '{');
        for (size_t i = 0; i < t->n_columns; i++)
            if (is_shown(t, i))
                json_cell(&j, t->columns[i].name, cell_at(t, row, i));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "seen", '[');
    for (const char *note = NULL; (note = next_note(t, note));)
        json_text(&j, NULL, note);
    json_close(&j, ']');
    json_close(&j, '}');
}

static void csv_cell(buffer *to, const lab_cell *cell)
{
    static const csv_format FORMAT = { .delim = ',', .end = '\n' };
    char digits[32];

    if (cell->type == CELL_NONE)
        return;
    if (cell->type == CELL_REAL) {
        snprintf(digits, sizeof digits, "%.10g", cell->real);
        append(to, digits);
    } else
        csv_quote(&FORMAT, to, cell->text, strlen(cell->text));
}

static void csv_line(buffer *to, const lab_result *t, size_t row, bool is_head)
{
    const char *comma = "";

    for (size_t i = 0; i < t->n_columns; i++)
        if (is_shown(t, i)) {
            append(to, comma);
            if (is_head)
                append(to, t->columns[i].name);
            else
                csv_cell(to, cell_at(t, row, i));
            comma = ",";
        }
    append(to, "\n");
}

void report_csv(const lab_result *t, const char *path)
{
    buffer out = { 0 };

    csv_line(&out, t, 0, true);
    for (size_t row = 0; row < n_rows(t); row++)
        csv_line(&out, t, row, false);
    buffer_save(&out, path);
    buffer_free(&out);
}

/* ---- Picture and page -------------------------------------------------- */

static void all_notes(buffer *to, const lab_result *t)
{
    for (const char *note = NULL; (note = next_note(t, note));) {
        append(to, note);
        append(to, " ");
    }
    buffer_append(to, "", 1);
}

void report_svg(const experiment *e, const lab_result *t, const char *path)
{
    buffer about = { 0 };
    svg picture;

    all_notes(&about, t);
    chart_draw(&picture, e->summary, about.bytes, t->charts, t->n_charts);
    svg_save(&picture, path);
    buffer_free(&about);
}

void report_folder(const char *folder)
{
    char inside[LAB_PATH_MAX];

    if (mkdir(folder, 0777) && errno != EEXIST)
        die_errno("make the folder", folder);
    report_path(inside, folder, ".", "");
    if (access(inside, W_OK | X_OK))
        die_errno("write to the folder", folder);
}

void report_path(char path[LAB_PATH_MAX], const char *folder, const char *name, const char *ending)
{
    if (snprintf(path, LAB_PATH_MAX, "%s/%s%s", folder, name, ending) >= LAB_PATH_MAX)
        die(CODE_USAGE, "lab: the name of the folder is too long");
}

static void element(buffer *to, const char *tag, const char *text)
{
    append(to, "<");
    append(to, tag);
    append(to, ">");
    svg_escape(to, text);
    append(to, "</");
    append(to, tag);
    append(to, ">");
}

void report_begin(buffer *page, uint64_t seed)
{
    char text[120];
    const experiment *e;

    append(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width\">\n"
                 "<title>Experiments with filters</title>\n<style>\n"
                 ":root{color-scheme:light dark}\n"
                 "body{font:16px/1.5 sans-serif;max-width:66rem;margin:auto;padding:1rem}\n"
                 "img{max-width:100%}\n"
                 ".scroll{overflow-x:auto}\n"
                 "table{border-collapse:collapse;font-size:14px}\n"
                 "td,th{padding:.15rem .6rem;border-bottom:1px solid #8888;text-align:right}\n"
                 "</style>\n</head>\n<body>\n<h1>Experiments with filters</h1>\n");
    snprintf(text, sizeof text, "Made by tamis %s, seed %" PRIu64 ".", tamis_version(), seed);
    element(page, "p", text);
    append(page, "\n<ul>\n");
    for (size_t i = 0; (e = lab_at(i)); i++) {
        append(page, "<li><a href=\"#");
        append(page, e->name);
        append(page, "\">");
        append(page, e->name);
        append(page, "</a>: ");
        svg_escape(page, e->summary);
        append(page, "</li>\n");
    }
    append(page, "</ul>\n");
}

/* Paragraphs are parted by empty lines. */
static void paragraphs(buffer *page, const char *text)
{
    for (const char *end; *text; text = end + strspn(end, "\n")) {
        buffer part = { 0 };
        end = strstr(text, "\n\n");
        end = end ? end : text + strlen(text);
        buffer_append(&part, text, (size_t)(end - text));
        buffer_append(&part, "", 1);
        element(page, "p", part.bytes);
        append(page, "\n");
        buffer_free(&part);
    }
}

static void table_line(buffer *page, const lab_result *t, size_t row, bool is_head)
{
    append(page, "<tr>");
    for (size_t i = 0; i < t->n_columns; i++)
        if (is_shown(t, i))
            element(page, is_head ? "th" : "td",
                    is_head ? t->columns[i].name : cell_at(t, row, i)->text);
    append(page, "</tr>\n");
}

static void figure(buffer *page, const experiment *e)
{
    append(page, "<p><img src=\"");
    append(page, e->name);
    append(page, ".svg\" alt=\"");
    svg_escape(page, e->summary);
    append(page, "\"></p>\n");
}

void report_section(buffer *page, const experiment *e, const lab_result *t)
{
    append(page, "<section id=\"");
    append(page, e->name);
    append(page, "\">\n");
    element(page, "h2", e->name);
    append(page, "\n");
    paragraphs(page, e->about);
    figure(page, e);
    for (const char *note = NULL; (note = next_note(t, note));) {
        element(page, "p", note);
        append(page, "\n");
    }
    append(page, "<div class=\"scroll\"><table>\n");
    table_line(page, t, 0, true);
    for (size_t row = 0; row < n_rows(t); row++)
        table_line(page, t, row, false);
    append(page, "</table></div>\n<p><a href=\"");
    append(page, e->name);
    append(page, ".csv\">the table as CSV</a></p>\n</section>\n");
}

void report_end(buffer *page, const char *folder)
{
    char path[LAB_PATH_MAX];

    append(page, "</body>\n</html>\n");
    report_path(path, folder, "index", ".html");
    buffer_save(page, path);
    buffer_free(page);
}
