/* toy_filter.h - tiny filters whose keys have given hashes, for worked examples. They are filters
 * of the library: a key is looked for that it hashes as the example wants. */
#ifndef TAMIS_APPS_SHOW_TOY_FILTER_H
#define TAMIS_APPS_SHOW_TOY_FILTER_H

#include "tamis_explain.h"
#include "text/keys.h"
#include "text/names.h"

typedef struct toy {
    const tamis_spec *spec; /* of the filter */
    tamis *empty;           /* such a filter, which the keys are tried on */
    uint64_t first;         /* what the first cell is called */
    bool is_signed;         /* a number below 0 was given */
    names names;
    buffer keys; /* uint64_t, of these names */
} toy;

/* A filter of these keys, added in order or, in kinds that do not add, built from them. */
tamis *toy_filter(const tamis_plan *plan, const uint64_t *keys, size_t n);

/* Where a word gives numbers, behind its "=": "TTA=1,10,9". NULL: it does not. */
const char *toy_numbers(const char *word);
/* Takes a name and its numbers, which may be parted by commas or blanks. */
void toy_define(toy *t, const char *name, const char *numbers);
/* Takes those of a file, a name and its numbers in each line; "-" is standard input. */
void toy_read(toy *t, const char *path);
/* The key of a name. A name that was not given ends the program. */
uint64_t toy_key(const toy *t, const char *name);
void toy_free(toy *t);

#endif
