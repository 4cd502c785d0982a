/* answers.h - the last answers of a store, as many as there is room for. */
#ifndef TAMIS_APPS_GUARD_ANSWERS_H
#define TAMIS_APPS_GUARD_ANSWERS_H

#include "text/keys.h"

typedef struct answers answers;

/* Room for `n` of them, 1 to 2^31. */
answers *answers_new(uint64_t n);
/* Whether the answer for the key is known; if so, it is the latest now. */
bool answers_get(answers *all, span key, bool *found);
/* The answer for the key that answers_get() has just not known, in place of the one that nobody
 * wanted for longest. */
void answers_put(answers *all, bool found);
void answers_free(answers *all);

#endif
