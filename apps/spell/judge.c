/* judge.c - is a word right?
 *
 * The filter knows forms as the dictionary writes them. A text may write them with a capital, at
 * the start of a sentence, or in capitals throughout, unless the dictionary says that they keep
 * their case. Numbers are right. What is still unknown is broken at hyphens, or whatever BREAK
 * says, and is right if its parts are. */
#include <string.h>

#include "judge.h"

/* BREAKS_MAX: places where a word may be broken; one with more is wrong. STEPS_MAX: of rules,
 * breaks and the like in all; a crafted dictionary, or a line of quotes, would need ever more. */
enum { BREAKS_MAX = 10, SHARPS_MAX = 5, STEPS_MAX = 2000 };

typedef struct judging {
    const dictionary *d;
    unsigned steps;
} judging;

typedef enum verdict { WRONG, RIGHT, FORBIDDEN } verdict;

/* ---- Rules for words put together -------------------------------------- */

static bool rule_fits(judging *j, const rule_step *step, const char *at, size_t n);

/* One word of the step, and then the rest. */
static bool rule_takes(judging *j, const rule_step *step, const char *at, size_t n)
{
    const affixes *a = &j->d->settings;
    const rule_step *next = step->repeat == '*' ? step : step + 1;

    for (size_t i = 0; i < a->n_parts; i++) {
        size_t size = strlen(a->parts[i].text);

        if (size >= a->part_least && affixes_has(a, a->parts[i].flags, step->flag) &&
            strncmp(at, a->parts[i].text, size) == 0 && rule_fits(j, next, at + size, n + 1))
            return true;
    }
    return false;
}

/* Whether the text from `at` on is what the rule says from this step on, after n parts. */
static bool rule_fits(judging *j, const rule_step *step, const char *at, size_t n)
{
    if (j->steps++ > STEPS_MAX)
        return false;
    if (!step->flag)
        return *at == 0 && n > 1;
    return (step->repeat && rule_fits(j, step + 1, at, n)) || (*at && rule_takes(j, step, at, n));
}

/* ---- Cases ------------------------------------------------------------- */

/* A form of these codes is right; bit c stands for code c. */
enum {
    LOWERED = ((1 << N_RANKS) - 1) << CODE_RANKS | 1 << CODE_WORD,
    AS_WRITTEN = LOWERED | 1 << CODE_KEEPS_CASE,
    IN_CAPITALS = LOWERED | 1 << CODE_IN_CAPITALS
};

static verdict look(judging *j, const word *w, unsigned codes)
{
    const affixes *a = &j->d->settings;
    unsigned code = dictionary_code(j->d, tamis_key(j->d->words, w->text, w->size));

    if (code == CODE_FORBIDDEN)
        return FORBIDDEN;
    if (codes >> code & 1)
        return RIGHT;
    if (!a->part_starts[(unsigned char)w->text[0]])
        return WRONG;
    for (size_t i = 0; i < a->n_steps; i++)
        if ((i == 0 || !a->steps[i - 1].flag) && rule_fits(j, &a->steps[i], w->text, 0))
            return RIGHT;
    return WRONG;
}

/* With a dot, too, if the text had one after it: an abbreviation. */
static verdict look_dotted(judging *j, const word *w, unsigned codes, bool has_dot)
{
    verdict v = look(j, w, codes);
    word dotted = *w;

    if (v == WRONG && has_dot && word_append(&dotted, ".", 1))
        return look(j, &dotted, codes);
    return v;
}

/* In capitals, what follows an elided article has its own: L'OREAL is l'Oreal or L'Oreal. */
static bool is_elided(judging *j, const word *w)
{
    const char *apostrophe = strchr(w->text, '\'');
    word small = word_small(w), name, whole;

    if (!apostrophe || !apostrophe[1])
        return false;
    apostrophe = strchr(small.text, '\'') + 1;
    size_t size = (size_t)(apostrophe - small.text);
    word_set(&name, apostrophe, small.size - size);
    name = word_initial(&name);
    word_set(&whole, small.text, size);
    if (!word_append(&whole, name.text, name.size))
        return false;
    word initial = word_initial(&whole);
    return look(j, &whole, AS_WRITTEN) == RIGHT || look(j, &initial, AS_WRITTEN) == RIGHT;
}

/* STRASSE may be Straße: each ss of the small word may be one letter. */
static bool has_sharps(judging *j, const word *w, size_t from, unsigned n)
{
    const char *at = n < SHARPS_MAX ? strstr(w->text + from, "ss") : NULL;
    word other;

    if (n && look(j, w, AS_WRITTEN) == RIGHT)
        return true;
    if (!at || j->steps++ > STEPS_MAX)
        return false;
    size_t before = (size_t)(at - w->text);
    word_set(&other, w->text, before);
    word_append(&other, "\xC3\x9F", 2);
    word_append(&other, at + 2, w->size - before - 2);
    return has_sharps(j, &other, before + 2, n + 1) || has_sharps(j, w, before + 2, n);
}

static verdict judge_capitals(judging *j, const word *w, bool has_dot)
{
    verdict v = look_dotted(j, w, AS_WRITTEN, has_dot);
    word small = word_small(w), initial = word_initial(&small);

    if (v != WRONG)
        return v;
    if (is_elided(j, w))
        return RIGHT;
    if (j->d->settings.checks_sharps && strstr(w->text, "SS") &&
        (has_sharps(j, &small, 0, 0) || has_sharps(j, &initial, 0, 0)))
        return RIGHT;
    v = look_dotted(j, &initial, IN_CAPITALS, has_dot);
    return v != WRONG ? v : look_dotted(j, &small, LOWERED, has_dot);
}

static verdict judge_initial(judging *j, const word *w, bool has_dot)
{
    verdict v = look_dotted(j, w, AS_WRITTEN, has_dot);
    word small = word_small(w);
    bool is_sharp = j->d->settings.checks_sharps && strstr(small.text, "\xC3\x9F");

    return v != WRONG ? v : look_dotted(j, &small, is_sharp ? AS_WRITTEN : LOWERED, has_dot);
}

static verdict judge_case(judging *j, const word *w, bool has_dot)
{
    switch (word_find_case(w)) {
    case CASE_INITIAL:
        return judge_initial(j, w, has_dot);
    case CASE_ALL:
        return judge_capitals(j, w, has_dot);
    default:
        return look_dotted(j, w, AS_WRITTEN, has_dot);
    }
}

bool judge_form(const dictionary *d, const word *w)
{
    judging j = { .d = d };

    return judge_case(&j, w, false) == RIGHT;
}

/* ---- Numbers ----------------------------------------------------------- */

/* Digits, with single dots, commas and hyphens between them. */
static bool is_number(const word *w)
{
    char before = '-';

    for (size_t i = 0; i < w->size; i++) {
        bool is_digit = w->text[i] >= '0' && w->text[i] <= '9';

        if (!is_digit && (!strchr(",.-", w->text[i]) || strchr(",.-", before)))
            return false;
        before = w->text[i];
    }
    return before >= '0' && before <= '9';
}

/* ---- Breaking ---------------------------------------------------------- */

static bool is_right(judging *j, word w);

static bool is_part_right(judging *j, const char *text, size_t size)
{
    word part;

    return word_set(&part, text, size) && is_right(j, part);
}

static size_t count_breaks(const pair_list *breaks, const word *w)
{
    size_t n = 0;

    for (size_t i = 0; i < breaks->n; i++) {
        const char *what = breaks->all[i].from;
        for (const char *at = w->text; (at = strstr(at, what)); at += strlen(what))
            n++;
    }
    return n;
}

/* ^x and x$ are for the start and the end of a word. */
static bool breaks_at_end(judging *j, const word *w, const char *what)
{
    size_t size = strlen(what) - 1;

    if (size == 0 || size >= w->size)
        return false;
    if (what[0] == '^' && memcmp(w->text, what + 1, size) == 0 &&
        is_part_right(j, w->text + size, w->size - size))
        return true;
    return what[size] == '$' && memcmp(w->text + w->size - size, what, size) == 0 &&
           is_part_right(j, w->text, w->size - size);
}

static bool breaks_at(judging *j, const word *w, const char *at, size_t size)
{
    const char *rest = at + size, *end = w->text + w->size;

    return at > w->text && rest < end && is_part_right(j, rest, (size_t)(end - rest)) &&
           is_part_right(j, w->text, (size_t)(at - w->text));
}

/* At the second place if there is one, because a part may itself be a word with a hyphen; then at
 * the first. A word that begins with it is not broken there, nor anywhere else. */
static bool breaks_inside(judging *j, const word *w, const char *what)
{
    const char *first = strstr(w->text, what), *second = first ? strstr(first + 1, what) : NULL;
    size_t size = strlen(what);

    if (first == w->text)
        return false;
    return (second && breaks_at(j, w, second, size)) || (first && breaks_at(j, w, first, size));
}

static bool is_broken_right(judging *j, const word *w)
{
    const pair_list *breaks = &j->d->settings.breaks;
    size_t n = count_breaks(breaks, w);

    if (n >= BREAKS_MAX)
        return false;
    for (size_t i = 0; i < breaks->n; i++)
        if (breaks_at_end(j, w, breaks->all[i].from))
            return true;
    for (size_t i = 0; i < breaks->n; i++)
        if (breaks_inside(j, w, breaks->all[i].from))
            return true;
    return false;
}

/* ---- Words ------------------------------------------------------------- */

static bool is_right(judging *j, word w)
{
    bool has_dot = false;

    if (j->steps++ > STEPS_MAX || !affixes_convert(&j->d->settings.in, &w))
        return false;
    for (; w.size && w.text[w.size - 1] == '.'; has_dot = true)
        w.text[--w.size] = 0;
    if (w.size == 0 || is_number(&w))
        return true;
    verdict v = judge_case(j, &w, has_dot);
    if (v != WRONG)
        return v == RIGHT;
    if (word_find_case(&w) == CASE_ALL) {
        w = word_small(&w);
        w = word_initial(&w);
    }
    return is_broken_right(j, &w);
}

bool judge_word(const dictionary *d, const char *text, size_t size)
{
    static text_pair curly = { "\xE2\x80\x99", "'" };
    static const pair_list straight = { .all = &curly, .n = 1, .starts = { [0xE2] = true } };
    judging j = { .d = d };
    word w;

    if (!word_set(&w, text, size))
        return false;
    if (is_right(&j, w))
        return true;
    return strstr(w.text, "\xE2\x80\x99") && affixes_convert(&straight, &w) && is_right(&j, w);
}
