/* entry.c - what a folder holds, as a list. */
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "term/array.h"

void entry_add(entry_list *l, entry e)
{
    l->all = array_grown(l->all, l->n, sizeof *l->all, "files");
    l->all[l->n++] = e;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

void entry_sort(entry_list *l)
{
    if (l->n > 0)
        qsort(l->all, l->n, sizeof *l->all, compare_names);
}

entry *entry_find(const entry_list *l, const char *name)
{
    const entry wanted = { .name = (char *)(uintptr_t)name };

    return l->n ? bsearch(&wanted, l->all, l->n, sizeof *l->all, compare_names) : NULL;
}

void entry_free(entry_list *l)
{
    for (size_t i = 0; i < l->n && !l->text; i++) {
        free(l->all[i].name);
        free(l->all[i].target);
    }
    free(l->text);
    free(l->all);
    *l = (entry_list){ 0 };
}
