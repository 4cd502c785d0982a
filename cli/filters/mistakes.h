/* mistakes.h - how many answers of a filter are expected to be wrong. */
#ifndef TAMIS_CLI_FILTERS_MISTAKES_H
#define TAMIS_CLI_FILTERS_MISTAKES_H

#include <stdbool.h>

#include "tamis.h"

typedef struct mistakes {
    uint64_t found;
    double wrong;     /* expected among these; NAN: nobody knows */
    double fpr, keys; /* of the filter, as it is */
} mistakes;

/* The rate of a filter that is mapped is the planned one: to know better, all of it would have to
 * be read. */
mistakes mistakes_of(const tamis *f, bool is_mapped, uint64_t found, uint64_t not_found);
/* Says how many there are, if they are more than a tenth, or `always` if there are any; and what
 * helps if they are so many. */
void mistakes_say(const mistakes *m, const tamis *f, bool always);

#endif
