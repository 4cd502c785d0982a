/* compatible.h - filters that should be alike and are not. */
#ifndef TAMIS_CLI_FILTERS_COMPATIBLE_H
#define TAMIS_CLI_FILTERS_COMPATIBLE_H

#include "tamis.h"

/* Whether the same bytes become the same keys in both. */
bool makes_same_keys(const tamis_hasher *a, const tamis_hasher *b);
/* Says in what they differ, and ends the program. */
_Noreturn void refuse_pair(const char *command, const char *first, const tamis_plan *a,
                           const char *other, const tamis_plan *b);

#endif
