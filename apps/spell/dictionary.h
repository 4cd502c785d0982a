/* dictionary.h - a dictionary as a collection of filters.
 *
 *  words        a map of every form: what kind of word it is and how frequent, in a few bits
 *  suggestions  a second filter of the forms that may be suggested: thousands of words are tried,
 *               and few of those that pass the first filter by chance pass this one too
 *  settings     lines of the .aff file that are needed to check a text, eight bytes under each
 *               number */
#ifndef TAMIS_APPS_SPELL_DICTIONARY_H
#define TAMIS_APPS_SPELL_DICTIONARY_H

#include "affixes.h"
#include "expand.h"
#include "tamis_collection.h"

/* What the map says of a form. */
enum {
    CODE_WORD = 0,
    CODE_KEEPS_CASE = 1,
    CODE_IN_CAPITALS = 2,
    CODE_FORBIDDEN = 3,
    CODE_RANKS = 4, /* a word with a frequency, from rare to frequent */
    N_RANKS = 12,
    CODE_NONE = CODE_RANKS + N_RANKS /* not in the map */
};

/* ---- Making ------------------------------------------------------------ */

/* An exact map of raw keys, with room for so many. */
tamis *dictionary_map(uint64_t keys);

typedef struct gathering gathering;

gathering *gather_begin(void);
/* An expand_take. */
void gather_form(void *ctx, const word *form, unsigned what);
/* The word is in a text once more. */
void gather_count(gathering *g, const word *w);

typedef struct making {
    double fpr, suggest_fpr; /* of the two filters */
    uint64_t words, suggested;
    uint64_t bytes[3]; /* of the three filters */
    uint64_t file;
} making;

/* Writes the file and ends the gathering. */
void gather_save(gathering *g, making *m, const affixes *a, const char *path);

/* ---- Asking ------------------------------------------------------------ */

typedef struct dictionary {
    const char *path;
    tamis_collection *file;
    tamis *words, *suggestions;
    tamis *personal; /* words of the user: their codes; NULL: none */
    affixes settings;
    bool word_chars[128];
    bool joins_apostrophes;
} dictionary;

void dictionary_open(dictionary *d, const char *path);
/* One that knows how words are written, but no words. */
void dictionary_set(dictionary *d, const buffer *kept);
void dictionary_close(dictionary *d);
/* Of the word with that key; what the user says goes first. */
unsigned dictionary_code(const dictionary *d, uint64_t key);

#endif
