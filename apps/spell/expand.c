/* expand.c - every form of every word of a dictionary.
 *
 * A form is a root with at most one prefix and two suffixes. The second suffix, or the prefix, may
 * come from the flags of the first suffix, and a suffix from those of the prefix. The condition of
 * a suffix is about what it is appended to, that of a prefix about all that follows it. */
#include <string.h>

#include "expand.h"
#include "term/message.h"
#include "term/progress.h"
#include "text/number.h"
#include "text/reader.h"

/* Real dictionaries have some thousands of forms for a word, and some millions in all. */
enum { FORMS_OF_ROOT_MAX = 1 << 20, TRIES_OF_ROOT_MAX = 1 << 24, FORMS_MAX = 1 << 25 };

typedef struct expansion {
    affixes *a;
    expand_take *take;
    void *ctx;
    uint64_t announced; /* roots */
    expand_totals totals;
    flag_set flags; /* of the root at hand */
    unsigned what;  /* it is */
    uint64_t forms, tries;
} expansion;

static void emit(expansion *e, const word *form)
{
    if (++e->forms > FORMS_OF_ROOT_MAX)
        die(CODE_LIMIT, "%s, line %" PRIu64 ": this word has more than %d forms", e->a->path,
            e->a->line, FORMS_OF_ROOT_MAX);
    if (++e->totals.forms > FORMS_MAX)
        die(CODE_LIMIT, "%s, line %" PRIu64 ": the dictionary has more than %d forms", e->a->path,
            e->a->line, FORMS_MAX);
    e->take(e->ctx, form, e->what);
}

/* ---- Affixes ----------------------------------------------------------- */

static bool says(const expansion *e, const affix *x, uint32_t flag)
{
    return x && affixes_has(e->a, x->next, flag);
}

/* The word with the affix; false: it has none such. */
static bool apply(expansion *e, const affix *x, const word *w, word *out)
{
    if (++e->tries > TRIES_OF_ROOT_MAX)
        die(CODE_LIMIT, "%s, line %" PRIu64 ": there are more than %d ways to change this word",
            e->a->path, e->a->line, TRIES_OF_ROOT_MAX);
    if (!affixes_allow(e->a, x, w))
        return false;
    size_t strip = strlen(x->strip), size = strlen(x->append);
    if (x->is_suffix)
        return word_set(out, w->text, w->size - strip) && word_append(out, x->append, size);
    return word_set(out, x->append, size) && word_append(out, w->text + strip, w->size - strip);
}

/* A word with its suffixes, one or two, or none. */
typedef struct stem {
    const affix *first, *second;
    word text;
} stem;

/* A prefix and a suffix that surround a word come together or not at all, and one that needs
 * another affix does not stand alone. */
static bool fits(const expansion *e, const affix *prefix, const stem *s)
{
    const affixes *a = e->a;

    if (says(e, prefix, a->only_in_compound) || says(e, s->first, a->only_in_compound) ||
        says(e, s->second, a->only_in_compound))
        return false;
    if (!s->first)
        return !says(e, prefix, a->need_affix) && !says(e, prefix, a->circumfix);
    if (says(e, prefix, a->circumfix) != says(e, s->first, a->circumfix))
        return false;
    return s->second || !says(e, s->first, a->need_affix) ||
           (prefix && !says(e, prefix, a->need_affix));
}

static void try_prefix(expansion *e, const affix *prefix, const stem *s)
{
    word form;

    if (s->first && !prefix->crosses)
        return;
    if (fits(e, prefix, s) && apply(e, prefix, &s->text, &form))
        emit(e, &form);
}

/* Prefixes of these flags, but not of those that had their turn. */
static void try_prefixes(expansion *e, const stem *s, flag_set flags, flag_set before)
{
    affix_walk prefixes = affixes_of(e->a, flags, false);

    for (const affix *x; (x = affixes_next(&prefixes));)
        if (!affixes_has(e->a, before, x->flag))
            try_prefix(e, x, s);
}

/* With each prefix that the root, or one of the suffixes, allows. */
static void take_stem(expansion *e, const stem *s)
{
    const flag_set none = { 0 };

    if (s->first && fits(e, NULL, s))
        emit(e, &s->text);
    if ((s->first && !s->first->crosses) || (s->second && !s->second->crosses))
        return;
    try_prefixes(e, s, e->flags, none);
    if (s->first)
        try_prefixes(e, s, s->first->next, e->flags);
    if (s->second)
        try_prefixes(e, s, s->second->next, e->flags);
}

/* One more suffix, and then a second that the first one allows. */
static void take_suffixes(expansion *e, const stem *s, flag_set flags)
{
    affix_walk suffixes = affixes_of(e->a, flags, true);

    for (const affix *x; (x = affixes_next(&suffixes));) {
        stem longer = { s->first ? s->first : x, s->first ? x : NULL, { 0 } };
        if (!apply(e, x, &s->text, &longer.text))
            continue;
        take_stem(e, &longer);
        if (!s->first)
            take_suffixes(e, &longer, x->next);
    }
}

/* Suffixes that a prefix allows go with that prefix only. */
static void take_prefix_flags(expansion *e, const word *root)
{
    affix_walk prefixes = affixes_of(e->a, e->flags, false);

    for (const affix *prefix; (prefix = affixes_next(&prefixes));) {
        affix_walk suffixes = affixes_of(e->a, prefix->next, true);
        for (const affix *x; prefix->crosses && (x = affixes_next(&suffixes));) {
            stem s = { .first = x };
            if (x->crosses && apply(e, x, root, &s.text))
                try_prefix(e, prefix, &s);
        }
    }
}

static void take_forms(expansion *e, const word *root)
{
    const stem bare = { .text = *root };

    e->forms = e->tries = 0;
    if (!affixes_has(e->a, e->flags, e->a->need_affix))
        emit(e, root);
    take_stem(e, &bare);
    take_suffixes(e, &bare, e->flags);
    take_prefix_flags(e, root);
}

/* ---- Roots ------------------------------------------------------------- */

/* A word with capitals inside is found in a text of capitals by its form with one: the case of
 * NASA's in there is not the one of its root. */
static void take_capitals(expansion *e, const word *root)
{
    word_case how = word_find_case(root);

    if (e->what & FORM_KEEPS_CASE || (how != CASE_MIXED && !(how == CASE_ALL && e->flags.n)))
        return;
    word other = word_small(root);
    other = word_initial(&other);
    e->what ^= FORM_WORD | FORM_IN_CAPITALS;
    take_forms(e, &other);
}

static void take_root(expansion *e, const word *root, flag_set flags)
{
    const affixes *a = e->a;

    e->totals.roots++;
    e->flags = flags;
    e->what = (affixes_has(a, flags, a->keep_case) ? FORM_KEEPS_CASE : FORM_WORD) |
              (affixes_has(a, flags, a->no_suggest) ? FORM_NO_SUGGESTION : 0);
    if (affixes_has(a, flags, a->forbidden)) {
        e->what = FORM_FORBIDDEN;
        e->forms = 0;
        emit(e, root);
        return;
    }
    affixes_keep_part(e->a, root->text, flags);
    if (affixes_has(a, flags, a->only_in_compound))
        return;
    take_forms(e, root);
    take_capitals(e, root);
}

/* ---- Lines ------------------------------------------------------------- */

/* Where what is told about a word begins: after a tab, or a blank before "xx:". */
static size_t size_of_entry(span line)
{
    for (size_t i = 1; i < line.size; i++)
        if (line.at[i] == '\t' || (line.at[i] == ' ' && i + 3 < line.size && line.at[i + 3] == ':'))
            return i;
    return line.size;
}

/* The word before the slash that is not escaped; *flags is what follows it. */
static bool split_entry(word *w, span *flags, span line)
{
    size_t at = 0;

    w->size = 0;
    *flags = (span){ 0 };
    for (; at < line.size; at++) {
        if (line.at[at] == '/' && at > 0)
            break;
        if (line.at[at] == '\\' && at + 1 < line.size && line.at[at + 1] == '/')
            at++;
        if (!word_append(w, line.at + at, 1))
            return false;
    }
    if (at < line.size)
        *flags = (span){ line.at + at + 1, line.size - at - 1 };
    return true;
}

static void take_count(expansion *e, span line)
{
    size_t size = line.size;

    while (size && (line.at[size - 1] == ' ' || line.at[size - 1] == '\t'))
        size--;
    if (!number_integer(&e->announced, line.at, size))
        affixes_refuse(e->a,
                       "the first line is not the number of words; give a plain list of words "
                       "without a .aff file");
}

static void take_entry(void *ctx, char *line, size_t size)
{
    expansion *e = ctx;
    affixes *a = e->a;
    span flags;
    word w;

    a->line++;
    span text = affixes_text(a, line, size);
    if (a->line == 1) {
        take_count(e, text);
        return;
    }
    if (text.size == 0 || text.at[0] == '\t')
        return;
    text.size = size_of_entry(text);
    while (text.size && text.at[text.size - 1] == ' ')
        text.size--;
    if (!split_entry(&w, &flags, text))
        affixes_refuse(a, "this word is longer than 255 bytes");
    if (w.size == 0)
        return;
    size_t n = a->n_flags;
    take_root(e, &w, flags.size ? affixes_flags(a, flags.at, flags.size) : (flag_set){ 0 });
    a->n_flags = n;
    progress_show(e->totals.roots, e->announced, "words");
}

expand_totals expand_dictionary(affixes *a, const char *path, expand_take *take, void *ctx)
{
    expansion e = { .a = a, .take = take, .ctx = ctx };

    a->path = path;
    a->line = 0;
    reader_each_line(path, take_entry, &e);
    progress_erase();
    if (a->line == 0)
        die(CODE_CORRUPT, "%s is empty; its first line is the number of words", path);
    if (e.totals.roots < e.announced - e.announced / 20)
        die(CODE_CORRUPT,
            "%s has %" PRIu64 " words, and its first line announces %" PRIu64 "; is it cut?", path,
            e.totals.roots, e.announced);
    return e.totals;
}

static void take_listed(void *ctx, char *line, size_t size)
{
    expansion *e = ctx;
    word w;

    e->a->line++;
    span text = affixes_text(e->a, line, size);
    if (text.size == 0)
        return;
    if (!word_set(&w, text.at, text.size))
        affixes_refuse(e->a, "this word is longer than 255 bytes; a list has one word a line");
    take_root(e, &w, (flag_set){ 0 });
}

expand_totals expand_list(affixes *a, const char *path, expand_take *take, void *ctx)
{
    expansion e = { .a = a, .take = take, .ctx = ctx };

    a->path = path;
    a->line = 0;
    reader_each_line(path, take_listed, &e);
    if (e.totals.roots == 0)
        die(CODE_CORRUPT, "%s has no words", path);
    return e.totals;
}
