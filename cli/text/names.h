/* names.h - many names, each with a number. */
#ifndef TAMIS_CLI_TEXT_NAMES_H
#define TAMIS_CLI_TEXT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "term/buffer.h"

typedef struct names {
    buffer text;     /* each with a NUL */
    buffer starts;   /* uint64_t: where each is */
    uint64_t *table; /* 32 bits of a hash, then a number plus 1 */
    size_t n, table_size;
} names;

/* Its number, the next one if it is new: then *is_new. */
size_t names_enter(names *all, const char *name, bool *is_new);
/* SIZE_MAX: there is none of that name. */
size_t names_find(const names *all, const char *name);
const char *names_at(const names *all, size_t i);
void names_free(names *all);

#endif
