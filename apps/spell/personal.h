/* personal.h - the words of a user, in a file of lines as hunspell has it: a word that is right, or
 * one that is not, with * before it. */
#ifndef TAMIS_APPS_SPELL_PERSONAL_H
#define TAMIS_APPS_SPELL_PERSONAL_H

#include "dictionary.h"

/* From now on the dictionary knows them. No file is an empty one. */
void personal_open(dictionary *d, const char *path);
/* For this session only. */
void personal_put(dictionary *d, const word *w, unsigned code);

/* Whether it can be in the file. A NUL follows, or a newline. */
bool personal_is_word(const char *text, size_t size);

typedef enum personal_change { PERSONAL_ADD, PERSONAL_REMOVE } personal_change;

/* Writes the file anew, in one step. A word that is removed and is not in the file is wrong from
 * now on. Returns how many lines changed. Words that are none end the program. */
size_t personal_edit(const char *path, char *const *words, personal_change how);

#endif
