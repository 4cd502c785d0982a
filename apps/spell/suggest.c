/* suggest.c - what a misspelled word may have meant.
 *
 * Words that are one change away are tried: letters swapped, left out, doubled, put in or taken for
 * another, what the REP table of the dictionary knows of, and two words written as one. If none of
 * them is in the dictionary, all words that are two changes away. They are looked up in batches, in
 * two filters one after the other: of the hundreds of thousands that are tried, one in 16 million
 * is taken for a word and is none.
 *
 * A suggestion has a cost: what the change is, and how rare the word. */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "suggest.h"
#include "term/array.h"
#include "term/unicode.h"

/* LETTERS_MAX: of a word that is changed at two places; the number of tries grows with its square.
 */
enum {
    BATCH = 512,
    POOL_MAX = 64,
    ALPHABET_MAX = 80,
    ALPHABET_TWICE = 30, /* frequent letters, for the second change */
    LETTERS_MAX = 20,
    TRIES_MAX = 1 << 19
};

/* What changes cost, in ranks of frequency. */
enum {
    COST_CASE = 0,
    COST_TABLE = 1,
    COST_SWAP = 2,
    COST_DOUBLE = 2,
    COST_LETTER = 4, /* put in, left out or another; up to 3 more by how rare the letter is */
    COST_FIRST = 3,  /* added if the first letter changes */
    COST_SPLIT = 7
};

typedef struct candidate {
    word text;
    unsigned cost;
} candidate;

struct suggester {
    const dictionary *d;
    uint32_t alphabet[ALPHABET_MAX]; /* frequent letters first */
    size_t n_alphabet;

    word_case how; /* the word is written */
    word wrong;    /* in small letters, unless its case is mixed */
    candidate batch[BATCH];
    uint64_t keys[BATCH];
    size_t n;
    size_t tries;
    bool is_second;           /* two changes are made */
    candidate pool[POOL_MAX]; /* found */
    size_t found;
    word shown[SUGGESTIONS_MAX];
};

/* ---- Looking up -------------------------------------------------------- */

static bool is_found(const suggester *s, const word *w, unsigned cost)
{
    for (size_t i = 0; i < s->found; i++)
        if (s->pool[i].text.size == w->size && memcmp(s->pool[i].text.text, w->text, w->size) == 0)
            return s->pool[i].cost <= cost;
    return false;
}

/* Keeps the cheapest. */
static void keep(suggester *s, const word *w, unsigned cost)
{
    size_t worst = 0;

    if (is_found(s, w, cost))
        return;
    if (s->found < POOL_MAX)
        worst = s->found++;
    else
        for (size_t i = 1; i < POOL_MAX; i++)
            if (s->pool[i].cost > s->pool[worst].cost)
                worst = i;
    if (worst + 1 == s->found || s->pool[worst].cost > cost)
        s->pool[worst] = (candidate){ *w, cost };
}

/* How rare a word is; one that only the user knows is not rare. */
static unsigned rareness(unsigned code)
{
    return code >= CODE_RANKS ? (unsigned)(CODE_RANKS + N_RANKS - 1 - code) : N_RANKS;
}

static bool is_personal(const suggester *s, uint64_t key)
{
    return s->d->personal && tamis_has(s->d->personal, key);
}

/* The first filter takes all, the second what passes. */
static void look_up(suggester *s)
{
    uint64_t hits[BATCH / 64];

    tamis_has_many(s->d->suggestions, hits, s->keys, s->n);
    for (size_t i = 0; i < s->n; i++) {
        bool is_own = is_personal(s, s->keys[i]);
        unsigned code = CODE_NONE;

        if (is_own || (hits[i / 64] >> i % 64 & 1))
            code = dictionary_code(s->d, s->keys[i]);
        if (code != CODE_NONE && code != CODE_FORBIDDEN && code != CODE_IN_CAPITALS)
            keep(s, &s->batch[i].text, 2 * s->batch[i].cost + (is_own ? 0 : rareness(code)));
    }
    s->n = 0;
}

/* In small letters, and with a capital, as names are written. */
static void try_form(suggester *s, const word *w, unsigned cost)
{
    if (s->n == BATCH)
        look_up(s);
    s->batch[s->n] = (candidate){ *w, cost };
    s->keys[s->n++] = tamis_key(s->d->words, w->text, w->size);
    s->tries++;
}

static void try_word(suggester *s, const word *w, unsigned cost)
{
    if (w->size == 0)
        return;
    try_form(s, w, cost);
    if (s->how == CASE_INITIAL || (s->how != CASE_MIXED && !s->is_second)) {
        word name = word_initial(w);
        try_form(s, &name, s->how == CASE_SMALL ? cost + 1 : cost);
    }
}

/* ---- Changes ----------------------------------------------------------- */

/* A word as letters. */
typedef struct letters {
    uint32_t at[WORD_MAX];
    size_t n;
} letters;

/* What a change makes of a word; `at` is where it was made. */
typedef void take_change(suggester *s, const letters *l, size_t at, unsigned cost);

static letters letters_of(const word *w)
{
    letters l = { 0 };

    for (size_t at = 0, size; at < w->size; at += size)
        l.at[l.n++] = unicode_at(w->text + at, w->text + w->size, &size);
    return l;
}

static void take_letters(suggester *s, const letters *l, size_t at, unsigned cost)
{
    word w;

    (void)at;
    w.size = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (w.size + 4 > WORD_MAX)
            return;
        w.size += unicode_write(w.text + w.size, l->at[i]);
    }
    w.text[w.size] = 0;
    try_word(s, &w, cost);
}

static unsigned cost_at(size_t i, unsigned cost)
{
    return i == 0 ? cost + COST_FIRST : cost;
}

/* `dropped` letters from `at` on become so many others, which are still to be set. */
static letters with_hole(const letters *l, size_t at, size_t dropped, size_t others)
{
    letters out = { .n = l->n - dropped + others };

    memcpy(out.at, l->at, at * sizeof *l->at);
    memcpy(out.at + at + others, l->at + at + dropped, (l->n - at - dropped) * sizeof *l->at);
    return out;
}

static bool is_doubled(const letters *l, size_t i)
{
    return (i > 0 && l->at[i - 1] == l->at[i]) || (i + 1 < l->n && l->at[i + 1] == l->at[i]);
}

/* An apostrophe is left out more easily than a letter: dont. */
static unsigned letter_cost(const suggester *s, size_t k)
{
    if (s->alphabet[k] == '\'')
        return COST_LETTER - 1;
    return COST_LETTER + (unsigned)(3 * k / (s->n_alphabet + 1));
}

/* Each letter of the alphabet in the place of another, or before it. */
static void put_letters(suggester *s, const letters *l, size_t at, bool is_more, unsigned cost,
                        take_change *take)
{
    letters other = with_hole(l, at, !is_more, 1);

    for (size_t k = 0; k < s->n_alphabet; k++) {
        bool doubles = is_more && at > 0 && l->at[at - 1] == s->alphabet[k];

        other.at[at] = s->alphabet[k];
        if (is_more || other.at[at] != l->at[at])
            take(s, &other, at, cost_at(at, cost + (doubles ? COST_DOUBLE : letter_cost(s, k))));
    }
}

static void change_once(suggester *s, const letters *l, size_t from, unsigned cost,
                        take_change *take)
{
    for (size_t i = from; i + 1 < l->n; i++) {
        letters other = with_hole(l, i, 2, 2);
        other.at[i] = l->at[i + 1];
        other.at[i + 1] = l->at[i];
        if (l->at[i] != l->at[i + 1])
            take(s, &other, i, cost_at(i, cost + COST_SWAP));
    }
    for (size_t i = from; i < l->n && l->n > 1; i++) {
        letters other = with_hole(l, i, 1, 0);
        take(s, &other, i, cost_at(i, cost + (is_doubled(l, i) ? COST_DOUBLE : COST_LETTER)));
    }
    for (size_t i = from; i < l->n; i++)
        put_letters(s, l, i, false, cost, take);
    for (size_t i = from; i <= l->n && l->n < WORD_MAX; i++)
        put_letters(s, l, i, true, cost, take);
}

/* The second change, at the place of the first one or after it: the other order makes the same. */
static void change_again(suggester *s, const letters *l, size_t at, unsigned cost)
{
    if (s->tries < TRIES_MAX)
        change_once(s, l, at, cost, take_letters);
}

static void change_twice(suggester *s, const letters *l)
{
    size_t n = s->n_alphabet;

    s->n_alphabet = n < ALPHABET_TWICE ? n : ALPHABET_TWICE;
    s->is_second = true;
    change_once(s, l, 0, 0, change_again);
    look_up(s);
    s->n_alphabet = n;
}

/* ---- Tables and splits ------------------------------------------------- */

/* Whether these are words, all right, with blanks between them; and how rare the rarest is. */
static bool are_words(const suggester *s, const word *w, unsigned *rarest)
{
    *rarest = 0;
    for (const char *at = w->text, *end; *at; at = *end ? end + 1 : end) {
        word part;

        end = at + strcspn(at, " ");
        if (end == at || !word_set(&part, at, (size_t)(end - at)) || !judge_form(s->d, &part))
            return false;
        uint64_t key = tamis_key(s->d->words, part.text, part.size);
        unsigned rare = rareness(dictionary_code(s->d, key));
        if (!tamis_has(s->d->suggestions, key) && !is_personal(s, key))
            return false;
        *rarest = rare > *rarest ? rare : *rarest;
    }
    return true;
}

static void try_words(suggester *s, const word *w, unsigned cost)
{
    unsigned rarest;

    if (!strchr(w->text, ' '))
        try_word(s, w, cost);
    else if (are_words(s, w, &rarest))
        keep(s, w, 2 * cost + rarest);
}

/* `from` may be tied to the start or the end of the word by ^ and $; _ is a blank. */
static void replace_at(suggester *s, const text_pair *p, const char *at, size_t size)
{
    const word *w = &s->wrong;
    size_t before = (size_t)(at - w->text);
    word other;

    word_set(&other, w->text, before);
    if (!word_append(&other, p->to, strlen(p->to)) ||
        !word_append(&other, at + size, w->size - before - size))
        return;
    for (size_t i = before; i < before + strlen(p->to); i++)
        if (other.text[i] == '_')
            other.text[i] = ' ';
    try_words(s, &other, COST_TABLE);
}

static void replace_by_table(suggester *s)
{
    const pair_list *table = &s->d->settings.replace;
    const word *w = &s->wrong;

    for (size_t i = 0; i < table->n; i++) {
        const text_pair *p = &table->all[i];
        bool is_start = p->from[0] == '^';
        const char *from = p->from + is_start;
        size_t size = strlen(from);
        bool is_end = size > 0 && from[size - 1] == '$';
        word what;

        if (!word_set(&what, from, size - is_end) || what.size == 0)
            continue;
        for (const char *at = w->text; (at = strstr(at, what.text)); at++)
            if ((!is_start || at == w->text) && (!is_end || at[what.size] == 0))
                replace_at(s, p, at, what.size);
    }
}

static void split(suggester *s)
{
    const word *w = &s->wrong;
    const char *end = w->text + w->size;
    unsigned rarest;

    for (size_t at = 0, size; at < w->size; at += size) {
        word other;

        unicode_at(w->text + at, end, &size);
        if (at > 0 && word_set(&other, w->text, at) && word_append(&other, " ", 1) &&
            word_append(&other, w->text + at, w->size - at) && are_words(s, &other, &rarest))
            keep(s, &other, 2 * COST_SPLIT + rarest);
    }
}

/* ---- Results ----------------------------------------------------------- */

static int compare_candidates(const void *left, const void *right)
{
    const candidate *a = left, *b = right;

    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return strcmp(a->text.text, b->text.text);
}

/* As the wrong word was written; a word with capitals of its own keeps them. */
static word in_case(const suggester *s, const word *w)
{
    if (s->how == CASE_ALL)
        return word_capitals(w);
    return s->how == CASE_INITIAL ? word_initial(w) : *w;
}

static bool is_shown(const suggester *s, const word *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(s->shown[i].text, w->text) == 0)
            return true;
    return false;
}

static size_t show(suggester *s)
{
    size_t n = 0;

    if (s->found)
        qsort(s->pool, s->found, sizeof *s->pool, compare_candidates);
    for (size_t i = 0; i < s->found && n < SUGGESTIONS_MAX; i++) {
        word w = in_case(s, &s->pool[i].text);

        if (!affixes_convert(&s->d->settings.out, &w) || is_shown(s, &w, n))
            continue;
        s->shown[n++] = w;
    }
    return n;
}

static void try_cases(suggester *s, const word *original)
{
    word small = word_small(original), capitals = word_capitals(original);

    try_word(s, &small, COST_CASE);
    try_word(s, &capitals, COST_CASE);
}

size_t suggest_words(suggester *s, const char *text, size_t size, const word **out)
{
    word original;

    *out = s->shown;
    if (!word_set(&original, text, size) || !affixes_convert(&s->d->settings.in, &original))
        return 0;
    s->how = word_find_case(&original);
    s->wrong = s->how == CASE_MIXED ? original : word_small(&original);
    s->n = s->tries = s->found = 0;
    s->is_second = false;
    letters l = letters_of(&s->wrong);
    try_cases(s, &original);
    replace_by_table(s);
    change_once(s, &l, 0, 0, take_letters);
    look_up(s);
    if (s->found == 0 && l.n <= LETTERS_MAX)
        change_twice(s, &l);
    split(s);
    return show(s);
}

/* ---- Beginning and end ------------------------------------------------- */

static void add_letter(suggester *s, uint32_t letter)
{
    for (size_t i = 0; i < s->n_alphabet; i++)
        if (s->alphabet[i] == letter)
            return;
    if (s->n_alphabet < ALPHABET_MAX)
        s->alphabet[s->n_alphabet++] = letter;
}

/* Letters of TRY, which has the frequent ones first; capitals are tried by cases. */
suggester *suggest_begin(const dictionary *d)
{
    const char *at = d->settings.try_letters;
    suggester *s = array_new(1, sizeof *s, "suggestions");

    s->d = d;
    if (!at)
        at = "esianrtolcdugmphbyfvkwzxjq'";
    for (const char *end = at + strlen(at); at < end;) {
        size_t size;
        uint32_t letter = unicode_at(at, end, &size);

        if (unicode_lower(letter) == letter)
            add_letter(s, letter);
        at += size;
    }
    return s;
}

void suggest_append(buffer *to, const word *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buffer_append(to, ", ", i ? 2 : 0);
        buffer_append(to, words[i].text, words[i].size);
    }
}

void suggest_end(suggester *s)
{
    free(s);
}
