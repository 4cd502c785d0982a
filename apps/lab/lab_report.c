/* lab_report.c - the table of an experiment as text, CSV, JSON, picture and page. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args/help.h"
#include "lab_report.h"
#include "term/output.h"
#include "text/csv.h"
#include "text/json.h"

static size_t n_rows(const lab_result *t)
{
    return t->cells.size / sizeof(lab_cell) / t->n_columns;
}

static const lab_cell *cell_at(const lab_result *t, size_t row, size_t column)
{
    const lab_cell *cells = (const void *)t->cells.bytes;

    return &cells[row * t->n_columns + column];
}

static bool is_shown(const lab_result *t, size_t column)
{
    return t->with_times || !t->is_time[column];
}

/* ---- Lines ------------------------------------------------------------- */

/* What stands around the cells of a row, and how each is written. */
typedef struct line_form {
    const char *begin, *between, *end;
    void (*put)(buffer *to, const lab_result *t, size_t row, size_t column);
} line_form;

static void put_lines(buffer *to, const lab_result *t, const line_form *form)
{
    for (size_t row = 0; row < n_rows(t); row++) {
        const char *before = form->begin;
        for (size_t i = 0; i < t->n_columns; i++)
            if (is_shown(t, i)) {
                buffer_print(to, "%s", before);
                form->put(to, t, row, i);
                before = form->between;
            }
        buffer_print(to, "%s", form->end);
    }
}

static int width_of(const lab_result *t, size_t column)
{
    size_t width = 0;

    for (size_t row = 0; row < n_rows(t); row++) {
        size_t size = strlen(cell_at(t, row, column)->text);
        width = size > width ? size : width;
    }
    return (int)width;
}

/* Texts begin where their column does, numbers end there. */
static void put_text(buffer *to, const lab_result *t, size_t row, size_t column)
{
    const char *text = cell_at(t, row, column)->text;
    bool is_left = n_rows(t) > 1 && cell_at(t, 1, column)->type == CELL_TEXT;
    int width = width_of(t, column);

    if (is_left)
        buffer_print(to, "%-*s", column + 1 == t->n_columns ? 0 : width, text);
    else
        buffer_print(to, "%*s", width, text);
}

static void put_csv(buffer *to, const lab_result *t, size_t row, size_t column)
{
    static const csv_format FORMAT = { .delim = ',', .end = '\n' };
    const lab_cell *cell = cell_at(t, row, column);

    if (cell->is_none)
        return;
    if (cell->type == CELL_REAL)
        buffer_print(to, "%.10g", cell->real);
    else
        csv_quote(&FORMAT, to, cell->text, strlen(cell->text));
}

static void put_element(buffer *to, const char *tag, const char *text)
{
    buffer_print(to, "<%s>", tag);
    svg_escape(to, text);
    buffer_print(to, "</%s>", tag);
}

static void put_html(buffer *to, const lab_result *t, size_t row, size_t column)
{
    put_element(to, row == 0 ? "th" : "td", cell_at(t, row, column)->text);
}

static const line_form TEXT = { "", "  ", "\n", put_text }, CSV = { "", ",", "\n", put_csv },
                       HTML = { "<tr>", "", "</tr>\n", put_html };

/* ---- Text, CSV, JSON and picture --------------------------------------- */

/* As many words to a line as fit. */
static void put_wrapped(buffer *to, const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t size = strcspn(text, " \n");
        const char *space = column == 0 ? "" : column + 1 + size > 80 ? "\n" : " ";
        buffer_print(to, "%s%.*s", space, (int)size, text);
        column = *space == ' ' ? column + 1 + size : size;
        text += size + (text[size] != 0);
    }
    buffer_print(to, "\n");
}

void report_print(const lab_result *t)
{
    buffer out = { 0 };

    put_lines(&out, t, &TEXT);
    for (const char *note = NULL; (note = buffer_next_text(&t->notes, note));) {
        buffer_print(&out, "\n");
        put_wrapped(&out, note);
    }
    output_write(out.bytes, out.size);
    buffer_free(&out);
}

void report_csv(const lab_result *t, const char *path)
{
    buffer out = { 0 };

    put_lines(&out, t, &CSV);
    buffer_save(&out, path);
    buffer_free(&out);
}

static void json_cell(json *j, const char *name, const lab_cell *cell)
{
    if (cell->is_none)
        return;
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
    }
}

void report_json(const lab *l)
{
    const lab_result *t = l->result;
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_text(&j, "experiment", l->experiment->name);
    json_count(&j, "seed", l->seed);
    json_open(&j, "rows", '[');
    for (size_t row = 1; row < n_rows(t); row++) {
        json_open(&j, NULL, '{');
        for (size_t i = 0; i < t->n_columns; i++)
            if (is_shown(t, i))
                json_cell(&j, cell_at(t, 0, i)->text, cell_at(t, row, i));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "seen", '[');
    for (const char *note = NULL; (note = buffer_next_text(&t->notes, note));)
        json_text(&j, NULL, note);
    json_close(&j, ']');
    json_close(&j, '}');
}

void report_svg(const experiment *e, const lab_result *t, const char *path)
{
    buffer about = { 0 };
    svg picture;

    for (const char *note = NULL; (note = buffer_next_text(&t->notes, note));)
        buffer_print(&about, "%s ", note);
    chart_draw(&picture, help_summary(e->help), about.size ? about.bytes : "", t->charts,
               t->n_charts);
    svg_save(&picture, path);
    buffer_free(&about);
}

/* ---- Page -------------------------------------------------------------- */

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

static const char HEAD[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>Experiments with filters</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:16px/1.5 sans-serif;max-width:66rem;margin:auto;padding:1rem}\n"
    "img{max-width:100%}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:14px}\n"
    "td,th{padding:.15rem .6rem;border-bottom:1px solid #8888;text-align:right}\n"
    "</style>\n</head>\n<body>\n<h1>Experiments with filters</h1>\n";

void report_begin(buffer *page, uint64_t seed)
{
    const experiment *e;

    buffer_print(page, "%s<p>Made by tamis %s, seed %" PRIu64 ".</p>\n<ul>\n", HEAD,
                 tamis_version(), seed);
    for (size_t i = 0; (e = lab_at(i)); i++) {
        buffer_print(page, "<li><a href=\"#%s\">%s</a>: ", e->name, e->name);
        svg_escape(page, help_summary(e->help));
        buffer_print(page, "</li>\n");
    }
    buffer_print(page, "</ul>\n");
}

/* Empty lines are between them, and a line end follows the last. */
static void put_paragraphs(buffer *page, span text)
{
    const char *end, *stop = text.at + text.size - 1;

    for (const char *at = text.at; at < stop; at = end + 2) {
        buffer part = { 0 };
        end = memmem(at, (size_t)(stop - at), "\n\n", 2);
        end = end ? end : stop;
        buffer_print(&part, "%.*s", (int)(end - at), at);
        put_element(page, "p", part.bytes);
        buffer_print(page, "\n");
        buffer_free(&part);
    }
}

void report_section(buffer *page, const experiment *e, const lab_result *t)
{
    buffer_print(page, "<section id=\"%s\">\n<h2>%s</h2>\n", e->name, e->name);
    put_paragraphs(page, help_about(e->help));
    buffer_print(page, "<p><img src=\"%s.svg\" alt=\"", e->name);
    svg_escape(page, help_summary(e->help));
    buffer_print(page, "\"></p>\n");
    for (const char *note = NULL; (note = buffer_next_text(&t->notes, note));) {
        put_element(page, "p", note);
        buffer_print(page, "\n");
    }
    buffer_print(page, "<div class=\"scroll\"><table>\n");
    put_lines(page, t, &HTML);
    buffer_print(page,
                 "</table></div>\n<p><a href=\"%s.csv\">the table as CSV</a></p>\n</section>\n",
                 e->name);
}

void report_end(buffer *page, const char *folder)
{
    char path[LAB_PATH_MAX];

    buffer_print(page, "</body>\n</html>\n");
    report_path(path, folder, "index", ".html");
    buffer_save(page, path);
    buffer_free(page);
}
