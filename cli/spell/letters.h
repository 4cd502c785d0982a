/* letters.h - words as letters: UTF-8, capitals and small letters. */
#ifndef TAMIS_CLI_SPELL_LETTERS_H
#define TAMIS_CLI_SPELL_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest word, in UTF-8. Longer ones are no words. */
enum { WORD_MAX = 255 };

typedef struct word {
    size_t size;
    char text[WORD_MAX + 1]; /* a NUL follows */
} word;

/* False: it is too long. */
bool word_set(word *w, const char *text, size_t size);
bool word_append(word *w, const char *text, size_t size);

/* The letter at `at`, and how many bytes it has. A byte that is not UTF-8 is U+FFFD. */
uint32_t letter_at(const char *at, const char *end, size_t *size);
/* Where the letter before `at` starts. */
const char *letter_before(const char *at, const char *start);
size_t letter_write(char out[4], uint32_t letter);

bool letter_is_alphabetic(uint32_t letter);
uint32_t letter_small(uint32_t letter);
uint32_t letter_capital(uint32_t letter);

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
