/* scene_subsets.c - every set of a few keys. Small sets come first. */
#include <stdio.h>
#include <string.h>

#include "scene.h"
#include "toy_filter.h"

typedef struct subsets {
    const tamis_plan *plan;
    const named_key *keys;
    size_t n;
    int set_width, cells_width;
    unsigned false_positives;
} subsets;

static buffer set_text(const subsets *s, unsigned set)
{
    const char *before = "{";
    buffer text = { 0 };

    for (size_t i = 0; i < s->n; i++)
        if (set >> i & 1) {
            buffer_print(&text, "%s%s", before, s->keys[i].label);
            before = ",";
        }
    buffer_print(&text, set ? "}" : "{}");
    return text;
}

/* 0110, 0 3 1 2: bits stand together, arrays apart. */
static buffer cells_text(const tamis *f)
{
    picture p = picture_of(f, 0, &(buffer){ 0 });
    buffer text = { 0 };
    char cell[CELL_TEXT_SIZE];

    for (size_t i = 0; i < p.n; i++) {
        bool starts = i > 0 && p.cells[i].index == 0;
        picture_cell_text(&p, &p.cells[i], cell);
        buffer_print(&text, "%s%s", starts || (i > 0 && p.cells[i].bits > 1) ? " " : "", cell);
    }
    picture_free(&p);
    return text;
}

static tamis *filter_of(const subsets *s, unsigned set)
{
    uint64_t keys[SUBSETS_KEYS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (set >> i & 1)
            keys[n++] = s->keys[i].key;
    return toy_filter(s->plan, keys, n);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int column_width(const char *label)
{
    return larger((int)strlen(label), 4);
}

static void print_answers(subsets *s, const tamis *f, unsigned set)
{
    for (size_t i = 0; i < s->n; i++) {
        bool found = tamis_has(f, s->keys[i].key), is_false = found && !(set >> i & 1);
        printf("  %-*s", i + 1 < s->n ? column_width(s->keys[i].label) : 0,
               is_false ? "yes*"
               : found  ? "yes"
                        : "no");
        s->false_positives += is_false;
    }
    printf("\n");
}

/* Measures how wide its texts are, or prints them. */
static void take_set(subsets *s, unsigned set, bool prints)
{
    tamis *f = filter_of(s, set);
    buffer name = set_text(s, set), cells = cells_text(f);

    if (prints) {
        printf("%-*s  %-*s", s->set_width, name.bytes, s->cells_width, cells.bytes);
        print_answers(s, f, set);
    } else {
        s->set_width = larger(s->set_width, (int)name.size);
        s->cells_width = larger(s->cells_width, (int)cells.size);
    }
    buffer_free(&name);
    buffer_free(&cells);
    tamis_free(f);
}

static void print_head(const subsets *s)
{
    printf("%-*s  %-*s", s->set_width, "set", s->cells_width, "cells");
    for (size_t i = 0; i < s->n; i++)
        printf("  %-*s", i + 1 < s->n ? column_width(s->keys[i].label) : 0, s->keys[i].label);
    printf("\n");
}

void scene_print_subsets(const tamis_plan *plan, const named_key *keys, size_t n)
{
    subsets s = { .plan = plan, .keys = keys, .n = n, .set_width = 3, .cells_width = 5 };

    for (unsigned set = 0; set < 1u << n; set++)
        take_set(&s, set, false);
    print_head(&s);
    for (int size = 0; size <= (int)n; size++)
        for (unsigned set = 0; set < 1u << n; set++)
            if (__builtin_popcount(set) == size)
                take_set(&s, set, true);
    printf("\n* %u false positive%s\n", s.false_positives, s.false_positives == 1 ? "" : "s");
}
