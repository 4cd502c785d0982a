/* line_hashes.h - sets of lines by their hashes, in order, in memory and beyond it on disk. */
#ifndef TAMIS_APPS_SYNC_LINE_HASHES_H
#define TAMIS_APPS_SYNC_LINE_HASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct element {
    uint64_t hash; /* by which they are in order */
    uint64_t rest; /* and by which they are if that is the same */
    uint64_t line; /* its place among the lines */
} element;

typedef struct elements elements;

/* Keeps `memory` bytes at most in memory. `tick` is called now and then while it works. */
elements *elements_new(uint64_t memory, void (*tick)(void *ctx), void *ctx);
void elements_add(elements *all, const element *e);
/* After the last one: puts them in order and keeps one of those that have hash and rest in common,
 * the one of the first line. */
void elements_sort(elements *all);
uint64_t elements_count(const elements *all);
/* Goes back to the first. */
void elements_rewind(elements *all);
/* The next one, valid until the following call; NULL: there is none. */
const element *elements_next(elements *all);
void elements_free(elements *all);

#endif
