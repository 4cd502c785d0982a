/* explain_text.h - what filters tell of themselves, as text that a test can spell out. */
#ifndef TAMIS_TESTS_EXPLAIN_TEXT_H
#define TAMIS_TESTS_EXPLAIN_TEXT_H

#include "check.h"
#include "tamis_explain.h"

typedef struct explain_text {
    char text[16384];
    size_t size, empty; /* cells at the end, not yet told */
} explain_text;

__attribute__((format(printf, 2, 3))) static inline void explain_text_add(explain_text *t,
                                                                          const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(t->text + t->size, sizeof t->text - t->size, format, args);
    va_end(args);
    assert_in_range(n, 0, sizeof t->text - t->size - 1);
    t->size += (size_t)n;
}

static inline void explain_text_add_empty(explain_text *t)
{
    if (t->empty > 1)
        explain_text_add(t, " .%zu", t->empty);
    else if (t->empty)
        explain_text_add(t, " .");
    t->empty = 0;
}

/* Marks as letters, the value in hex. */
static inline void explain_text_add_cell(explain_text *t, const tamis_cell *cell)
{
    const char letters[] = "-ocsenxv";

    for (unsigned i = 0; letters[i]; i++)
        if (cell->marks >> i & 1)
            explain_text_add(t, "%c", letters[i]);
    explain_text_add(t, "%s%llx", cell->marks ? ":" : "", (unsigned long long)cell->value);
}

static inline bool explain_text_take_cell(void *ctx, const tamis_cell *cell)
{
    explain_text *t = ctx;

    if (cell->index == 0) {
        explain_text_add_empty(t);
        explain_text_add(t, "%s%s %llu:", t->size ? "\n" : "", cell->array,
                         (unsigned long long)cell->number);
    }
    t->empty += cell->marks == TAMIS_MARK_EMPTY;
    if (cell->marks == TAMIS_MARK_EMPTY)
        return true;
    explain_text_add_empty(t);
    explain_text_add(t, " ");
    explain_text_add_cell(t, cell);
    return true;
}

static inline bool explain_text_take_step(void *ctx, const tamis_step *step)
{
    const char *const ends[] = { "no", "yes" };
    explain_text *t = ctx;

    explain_text_add(t, "%s", t->size ? "\n" : "");
    if (step->type == TAMIS_STEP_NUMBER)
        explain_text_add(t, "%s %llx", step->text, (unsigned long long)step->value);
    if (step->type == TAMIS_STEP_ANSWER)
        explain_text_add(t, "%s: %s", ends[step->agrees], step->text);
    if (step->type == TAMIS_STEP_CELL) {
        explain_text_add(t, "%s, %s %llu/%llu ", step->text, step->cell.array,
                         (unsigned long long)step->cell.number,
                         (unsigned long long)step->cell.index);
        explain_text_add_cell(t, &step->cell);
        explain_text_add(t, " %s", ends[step->agrees]);
    }
    return true;
}

/* A line for each array: its name and number, then its cells; empty ones are a dot and how many. */
static inline void assert_cells(const tamis *f, const char *text)
{
    explain_text t = { .size = 0 };

    assert_int_equal(tamis_visit_cells(f, explain_text_take_cell, &t), TAMIS_OK);
    explain_text_add_empty(&t);
    assert_string_equal(t.text, text);
}

/* A line for each step, numbers in hex. */
static inline void assert_steps(const tamis *f, uint64_t key, const char *text)
{
    explain_text t = { .size = 0 };

    assert_int_equal(tamis_explain(f, key, explain_text_take_step, &t), tamis_has(f, key));
    assert_string_equal(t.text, text);
}

#endif
