/* judge.h - is a word right? */
#ifndef TAMIS_APPS_SPELL_JUDGE_H
#define TAMIS_APPS_SPELL_JUDGE_H

#include "dictionary.h"

bool judge_word(const dictionary *d, const char *text, size_t size);
/* As it is written, in any of its cases, without breaking it: for words that are suggested. */
bool judge_form(const dictionary *d, const word *w);

#endif
