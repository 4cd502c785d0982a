/* telling.h - what filters tell of themselves, as text that a test can spell out. */
#ifndef TAMIS_TESTS_TELLING_H
#define TAMIS_TESTS_TELLING_H

#include "check.h"
#include "tamis_explain.h"

typedef struct telling {
    char text[16384];
    size_t size, empty; /* cells at the end, not yet told */
} telling;

__attribute__((format(printf, 2, 3))) static inline void telling_add(telling *t, const char *format,
                                                                     ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(t->text + t->size, sizeof t->text - t->size, format, args);
    va_end(args);
    assert_in_range(n, 0, sizeof t->text - t->size - 1);
    t->size += (size_t)n;
}

static inline void telling_add_empty(telling *t)
{
    if (t->empty > 1)
        telling_add(t, " .%zu", t->empty);
    else if (t->empty)
        telling_add(t, " .");
    t->empty = 0;
}

/* Marks as letters, the value in hex. */
static inline void telling_add_cell(telling *t, const tamis_cell *cell)
{
    const char letters[] = "-ocsenxv";

    for (unsigned i = 0; letters[i]; i++)
        if (cell->marks >> i & 1)
            telling_add(t, "%c", letters[i]);
    telling_add(t, "%s%llx", cell->marks ? ":" : "", (unsigned long long)cell->value);
}

static inline bool telling_take_cell(void *ctx, const tamis_cell *cell)
{
    telling *t = ctx;

    if (cell->index == 0) {
        telling_add_empty(t);
        telling_add(t, "%s%s %llu:", t->size ? "\n" : "", cell->array,
                    (unsigned long long)cell->number);
    }
    t->empty += cell->marks == TAMIS_MARK_EMPTY;
    if (cell->marks == TAMIS_MARK_EMPTY)
        return true;
    telling_add_empty(t);
    telling_add(t, " ");
    telling_add_cell(t, cell);
    return true;
}

static inline bool telling_take_step(void *ctx, const tamis_step *step)
{
    const char *const ends[] = { "no", "yes" };
    telling *t = ctx;

    telling_add(t, "%s", t->size ? "\n" : "");
    if (step->type == TAMIS_STEP_NUMBER)
        telling_add(t, "%s %llx", step->text, (unsigned long long)step->value);
    if (step->type == TAMIS_STEP_ANSWER)
        telling_add(t, "%s: %s", ends[step->agrees], step->text);
    if (step->type == TAMIS_STEP_CELL) {
        telling_add(t, "%s, %s %llu/%llu ", step->text, step->cell.array,
                    (unsigned long long)step->cell.number, (unsigned long long)step->cell.index);
        telling_add_cell(t, &step->cell);
        telling_add(t, " %s", ends[step->agrees]);
    }
    return true;
}

/* A line for each array: its name and number, then its cells; empty ones are a dot and how many. */
static inline void assert_cells(const tamis *f, const char *text)
{
    telling t = { .size = 0 };

    assert_int_equal(tamis_visit_cells(f, telling_take_cell, &t), TAMIS_OK);
    telling_add_empty(&t);
    assert_string_equal(t.text, text);
}

/* A line for each step, numbers in hex. */
static inline void assert_steps(const tamis *f, uint64_t key, const char *text)
{
    telling t = { .size = 0 };

    assert_int_equal(tamis_explain(f, key, telling_take_step, &t), tamis_has(f, key));
    assert_string_equal(t.text, text);
}

#endif
