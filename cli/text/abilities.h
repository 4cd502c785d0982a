/* abilities.h - TAMIS_CAN_ and TAMIS_IS_ flags by name. */
#ifndef TAMIS_CLI_TEXT_ABILITIES_H
#define TAMIS_CLI_TEXT_ABILITIES_H

#include "tamis.h"

typedef struct ability {
    unsigned bit;
    const char *name, *meaning;
} ability;

/* Ends with a row without a name. */
extern const ability abilities[];

/* "add,remove" to flags; false if one is unknown. */
bool abilities_parse(unsigned *out, const char *names);
/* Flags to "add,remove". */
void abilities_print(unsigned can);
/* Ends the program, naming the kinds that can, unless `kind` has all these abilities. */
void abilities_require(tamis_kind kind, unsigned bits, const char *path);
/* Ends the program if the keys of the filter are elsewhere: only its own program can ask there. */
void abilities_require_own_keys(const tamis_plan *plan, const char *path);

#endif
