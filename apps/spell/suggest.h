/* suggest.h - what a misspelled word may have meant. */
#ifndef TAMIS_APPS_SPELL_SUGGEST_H
#define TAMIS_APPS_SPELL_SUGGEST_H

#include "dictionary.h"

enum { SUGGESTIONS_MAX = 15 };

typedef struct suggester suggester;

suggester *suggest_begin(const dictionary *d);
/* The best first. Returns how many there are; they are valid until the next call. */
size_t suggest_words(suggester *s, const char *text, size_t size, const word **out);
/* With commas between them. */
void suggest_append(buffer *to, const word *words, size_t n);
void suggest_end(suggester *s);

#endif
