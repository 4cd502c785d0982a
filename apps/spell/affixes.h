/* affixes.h - the .aff file of a hunspell dictionary: how its words are written, and what may stand
 * before and after them.
 *
 * Lines that are needed to check a text are kept as they came, in UTF-8. They go into the filter's
 * file, and are read from there by the same code. */
#ifndef TAMIS_APPS_SPELL_AFFIXES_H
#define TAMIS_APPS_SPELL_AFFIXES_H

#include <iconv.h>

#include "spell_word.h"
#include "text/keys.h"

/* How flags are written. */
typedef enum flag_form { FLAG_LETTER, FLAG_LONG, FLAG_NUMBER } flag_form;

/* Some of affixes.flags. */
typedef struct flag_set {
    size_t first, n;
} flag_set;

typedef struct affix {
    uint32_t flag;
    bool is_suffix;
    bool crosses; /* with prefixes, if this is a suffix, and the other way round */
    const char *strip, *append;
    const char *condition; /* what a word must have at its start or its end, */
    size_t letters;        /* of so many */
    flag_set next;         /* flags of the word that it makes */
} affix;

typedef struct text_pair {
    const char *from, *to;
} text_pair;

typedef struct pair_list {
    text_pair *all;
    size_t n;
    bool starts[256]; /* bytes that some `from` begins with */
} pair_list;

/* COMPOUNDRULE: so many words with that flag. */
typedef struct rule_step {
    uint32_t flag; /* 0: the rule ends */
    char repeat;   /* '*', '?' or 0 */
} rule_step;

/* A word that rules are about. */
typedef struct rule_part {
    const char *text;
    flag_set flags;
} rule_part;

typedef struct affixes {
    const char *path; /* for messages */
    uint64_t line;
    flag_form form;
    char encoding[32];
    iconv_t converter; /* (iconv_t)-1: the text is UTF-8 */
    buffer converted;
    char **lines; /* all texts below are in them */
    size_t n_lines;

    uint32_t need_affix, forbidden, keep_case, circumfix, no_suggest, only_in_compound;
    bool full_strip, checks_sharps;
    bool joins_apostrophes;  /* between letters, whatever WORDCHARS says */
    const char *unsupported; /* the keyword; NULL: all is supported */
    const char *compounding; /* likewise: what says how words are put together */

    uint32_t *flags;
    size_t n_flags;
    flag_set *aliases; /* AF */
    size_t n_aliases;
    bool has_aliases;
    affix *all; /* by kind and flag, after the last line */
    size_t n;
    const char *table; /* the keyword of lines that were announced; NULL: none */
    uint64_t missing;  /* so many of them */
    affix head;        /* what was announced */

    const char *word_chars, *try_letters;
    pair_list replace, in, out; /* REP, ICONV, OCONV */
    pair_list breaks;           /* BREAK, in `from` */
    bool has_breaks;
    rule_step *steps; /* of all rules */
    size_t n_steps;
    bool has_rules;
    size_t part_least; /* COMPOUNDMIN: letters */
    rule_part *parts;
    size_t n_parts;
    bool part_starts[256]; /* bytes that some part begins with */

    buffer kept; /* lines, with their ends */
} affixes;

/* Reads a file. What is wrong with it ends the program, with its exit code. */
void affixes_read(affixes *a, const char *path);
/* The same for lines that were kept. */
void affixes_parse(affixes *a, const char *path, char *text, size_t size);
/* For a plain list of words: UTF-8, without affixes. */
void affixes_none(affixes *a, const char *path);
void affixes_free(affixes *a);

_Noreturn void affixes_refuse(const affixes *a, const char *why);
/* A line of one of the files in UTF-8, valid until the next call. */
span affixes_text(affixes *a, char *line, size_t size);
/* Flags as they stand after a slash, or the number of an alias. */
flag_set affixes_flags(affixes *a, const char *text, size_t size);
bool affixes_has(const affixes *a, flag_set set, uint32_t flag);
/* A word of a rule, with its flags. */
void affixes_keep_part(affixes *a, const char *text, flag_set set);

/* Those of one kind with a flag of the set, one after the other. */
typedef struct affix_walk {
    const affixes *a;
    flag_set set; /* flags that are left */
    affix wanted;
    size_t at;
} affix_walk;

affix_walk affixes_of(const affixes *a, flag_set set, bool is_suffix);
/* NULL: there are no more. */
const affix *affixes_next(affix_walk *w);
bool affixes_allow(const affixes *a, const affix *x, const word *w);
/* The word in another form: longest matches first, once through. False: it became too long. */
bool affixes_convert(const pair_list *pairs, word *w);

#endif
