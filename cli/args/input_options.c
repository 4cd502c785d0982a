/* input_options.c - the options of commands that read keys. */
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "term/message.h"
#include "term/progress.h"
#include "text/number.h"

/* ---- Values ------------------------------------------------------------ */

void option_byte(void *into, const args *a)
{
    bool is_tab = strcmp(a->value, "\\t") == 0;

    if (!is_tab && strlen(a->value) != 1)
        args_refuse_value(a, "one byte, or \\t for TAB");
    *(unsigned char *)into = is_tab ? '\t' : (unsigned char)a->value[0];
}

/* A number from 1 on; 0: a name. */
static uint64_t column_from(const args *a, const char *at, size_t size)
{
    uint64_t column = 0;
    bool is_number = number_integer(&column, at, size);
    bool is_negative = size > 1 && at[0] == '-' && number_integer(&column, at + 1, size - 1);

    if (size == 0 || is_negative || (is_number && (column == 0 || column > UINT32_MAX)))
        args_refuse_value(a,
                          "a column from 1 to 4294967295 or the name of one, or several: 3 or 1,3");
    return column;
}

static void choose_fields(void *into, const args *a)
{
    source *s = into;
    key_format *format = &s->format;
    const char *at = a->value;

    format->n_fields = 0;
    s->field_names = NULL;
    do {
        size_t size = strcspn(at, ",");
        if ((format->fields[format->n_fields++] = column_from(a, at, size)) == 0)
            s->field_names = a->value;
        at += size;
    } while (*at++ && format->n_fields < KEY_FIELDS_MAX);
    if (at[-1])
        args_refuse_value(a, "so few columns that they make a key: give 16 at most");
}

static void choose_value_field(void *into, const args *a)
{
    source *s = into;
    uint64_t column = column_from(a, a->value, strlen(a->value));

    s->value_name = column ? NULL : a->value;
    s->format.value_field = column ? column : UINT32_MAX;
}

static void show_progress(void *into, const args *a)
{
    (void)into;
    (void)a;
    progress_choose(true);
}

static void hide_progress(void *into, const args *a)
{
    (void)into;
    (void)a;
    progress_choose(false);
}

static void be_quiet(void *into, const args *a)
{
    hide_progress(into, a);
    say_errors_only();
}

/* ---- What follows from all of them ------------------------------------- */

static void check_columns(void *into, const args *a)
{
    key_format *f = &((source *)into)->format;
    bool has_delim = args_given(a, "delim");

    /* Where there are values, the key is a column. */
    if (f->value_field > 0 && f->n_fields == 0)
        f->fields[f->n_fields++] = 1;
    if (has_delim && f->n_fields == 0)
        args_refuse(a, "--delim means nothing without --field");
    if (f->columns && f->n_fields == 0)
        args_refuse(a, "--csv and --fields-by mean nothing without --field");
    if (has_delim && f->columns == COLUMNS_BY_BLANKS)
        args_refuse(a, "--delim and --fields-by blanks cannot be used together");
    if (f->columns == COLUMNS_BY_BLANKS)
        f->delim = ' ';
    if (f->columns == COLUMNS_BY_CSV && !has_delim)
        f->delim = ',';
    if (f->columns == COLUMNS_BY_CSV)
        f->strips_cr = true;
}

/* ---- Tables ------------------------------------------------------------ */

const option_row progress_options[] = {
    { 0, "progress", NULL, "show how far it is, wherever standard error goes",
      .take = show_progress },
    { 0, "no-progress", NULL, "never show it (default: on a terminal)", .take = hide_progress },
    { 0 },
};

const option_row quiet_options[] = {
    { 0, "quiet", NULL, "say nothing but errors", .take = be_quiet },
    { 0 },
};

static const word_row separators[] = {
    { "delim", COLUMNS_BY_DELIM, "one byte between columns" },
    { "blanks", COLUMNS_BY_BLANKS, "blanks and tabs, as many as there are" },
    { "csv", COLUMNS_BY_CSV, "columns may be quoted" },
    { 0 },
};

const option_row input_options[] = {
    { 0, "no-decompress", NULL,
      "take compressed inputs as they are (default: read gzip, zstd and xz)",
      TO_FLAG(source, takes_packed) },
    { 'j', "threads", "N", "threads to work with (default: one per CPU, at most 8)",
      TO_COUNT(source, threads, 1, THREADS_MAX) },
    { .included = progress_options },
    { 0 },
};

const option_row value_options[] = {
    { 0, "values-field", "N", "the value of a key is column N of its line, or the one called N",
      .take = choose_value_field },
    { 0 },
};

const option_row key_options[] = {
    { 'z', "null", NULL, "lines end with a NUL byte, not with a newline",
      TO_CONSTANT(source, format.end, 0) },
    { 0, "crlf", NULL, "lines end with CR and LF: the CR is not part of the key",
      TO_FLAG(source, format.strips_cr) },
    { 'f', "field", "COLUMNS", "the key is column 3, or the column called email, or 3,1 joined",
      .take = choose_fields },
    { 'd', "delim", "C", "columns are separated by the byte C (default: TAB)",
      TO_BYTE(source, format.delim) },
    { 0, "fields-by", "HOW", "columns are separated by delim (default), blanks or csv",
      TO_WORD(source, format.columns, separators) },
    { 0, "csv", NULL, "as --fields-by csv: columns may be quoted, C is a comma",
      TO_CONSTANT(source, format.columns, COLUMNS_BY_CSV) },
    { .included = input_options },
    { .take = check_columns },
};

/* ---- Sources ----------------------------------------------------------- */

/* One per CPU, at most 8. */
static unsigned threads_default(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online < 1 ? 1 : online > 8 ? 8 : (unsigned)online;
}

source source_default(void)
{
    return (source){ .format = { .end = '\n', .delim = '\t' }, .threads = threads_default() };
}

void source_inputs(source *s, char **names)
{
    static char dash[] = "-", *standard_input[] = { dash, NULL };

    s->names = names[0] ? names : standard_input;
}

const char *source_operands(source *s, const args *a, const char *what)
{
    char **operands = args_operands(a, what != NULL, SIZE_MAX, what);

    source_inputs(s, operands + (what != NULL));
    return what ? operands[0] : NULL;
}
