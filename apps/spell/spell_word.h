/* spell_word.h - words, and how they are written. */
#ifndef TAMIS_APPS_SPELL_SPELL_WORD_H
#define TAMIS_APPS_SPELL_SPELL_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest word, in UTF-8. Longer ones are no words. */
enum { WORD_MAX = 255 };

typedef struct word {
    size_t size;
    char text[WORD_MAX + 1]; /* a NUL follows */
} word;

/* False: it is too long. */
bool word_set(word *w, const char *text, size_t size);
bool word_append(word *w, const char *text, size_t size);

/* How a word is written. */
typedef enum word_case {
    CASE_SMALL,   /* no capital */
    CASE_INITIAL, /* the first letter is the only capital */
    CASE_ALL,     /* all letters that have a case are capitals, and there are two or more */
    CASE_MIXED
} word_case;

word_case word_find_case(const word *w);
word word_small(const word *w);
/* The first letter as a capital, all others as they are. */
word word_initial(const word *w);
word word_capitals(const word *w);

#endif
