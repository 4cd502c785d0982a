/* proof.h - texts that are read word by word: what is wrong in them, and what may have been meant.
 */
#ifndef TAMIS_APPS_SPELL_PROOF_H
#define TAMIS_APPS_SPELL_PROOF_H

#include "dictionary.h"

typedef enum proof_form {
    PROOF_WORDS, /* one a line */
    PROOF_LINES, /* after file:line:column: */
    PROOF_JSON
} proof_form;

typedef struct proof {
    dictionary *d;
    proof_form form;
    bool suggests;
} proof;

/* Prints what is wrong in the inputs. Returns how many words are. */
uint64_t proof_read(const proof *p, char *const *names);

/* Talks with an editor, over standard input and output, as ispell -a does. Words that it adds go to
 * a file of the user, unless `personal` is NULL. */
void proof_talk(dictionary *d, const char *personal);

#endif
