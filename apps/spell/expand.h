/* expand.h - every form of every word of a dictionary. */
#ifndef TAMIS_APPS_SPELL_EXPAND_H
#define TAMIS_APPS_SPELL_EXPAND_H

#include "affixes.h"

/* What a form is. */
enum {
    FORM_WORD = 1,        /* right in any case */
    FORM_KEEPS_CASE = 2,  /* right only as it is written */
    FORM_IN_CAPITALS = 4, /* of a word like NASA, found when a text is in capitals: Nasa's */
    FORM_FORBIDDEN = 8,
    FORM_NO_SUGGESTION = 16
};

/* What is called for each form; a form may come more than once. */
typedef void expand_take(void *ctx, const word *form, unsigned what);

typedef struct expand_totals {
    uint64_t roots, forms; /* lines of the dictionary, and what was made of them */
} expand_totals;

/* Forms of a .dic file. What is wrong with it ends the program, with its exit code. */
expand_totals expand_dictionary(affixes *a, const char *path, expand_take *take, void *ctx);
/* Words of a plain list, one a line. */
expand_totals expand_list(affixes *a, const char *path, expand_take *take, void *ctx);

#endif
