/* dictionary.c - a dictionary as a collection of filters. */
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dictionary.h"
#include "filters/store.h"
#include "tamis_values.h"
#include "term/array.h"
#include "term/message.h"
#include "term/unicode.h"

enum { SETTINGS_MAX = 1 << 20 };

/* The filter of suggestions takes the keys of the other one, and places them by this seed: what
 * passes one of them by chance is a stranger to the other. */
static const tamis_hasher SECOND = { .hash = TAMIS_RAW, .seed = 1 };

/* ---- Making ------------------------------------------------------------ */

/* The count of a form is above the bits that say what it is. */
enum { COUNT_SHIFT = 8 };

struct gathering {
    tamis *forms; /* exact: key of a form, what is known of it */
    tamis_hasher hasher;
    uint64_t most; /* highest count */
    uint64_t *keys, *values, *suggested;
    uint64_t n, n_suggested, highest;
};

static void must(tamis_status status, const char *verb, const char *path)
{
    if (status)
        die_status(verb, path, status);
}

static tamis_plan planned(tamis_kind kind, const tamis_spec *spec, const char *path)
{
    tamis_plan plan;

    must(tamis_plan_kind(&plan, kind, spec), "plan", path);
    return plan;
}

tamis *dictionary_map(uint64_t keys)
{
    tamis_spec spec = TAMIS_SPEC(.keys = keys, .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan = planned(TAMIS_HASHMAP, &spec, "a map of words");
    tamis *f;

    must(tamis_new(&f, &plan, NULL), "make", "a map of words");
    return f;
}

gathering *gather_begin(void)
{
    gathering *g = array_new(1, sizeof *g, "the words of a dictionary");

    g->forms = dictionary_map(1 << 16);
    return g;
}

void gather_form(void *ctx, const word *form, unsigned what)
{
    gathering *g = ctx;
    uint64_t key = tamis_hasher_key(&g->hasher, form->text, form->size), seen = 0;

    tamis_get(g->forms, &seen, key);
    if ((seen | what) != seen)
        must(tamis_put(g->forms, key, seen | what), "make", "a map of words");
}

static bool count_key(gathering *g, const word *w)
{
    uint64_t key = tamis_hasher_key(&g->hasher, w->text, w->size), seen;

    if (!tamis_get(g->forms, &seen, key) || !(seen & FORM_WORD))
        return false;
    seen += UINT64_C(1) << COUNT_SHIFT;
    if (seen >> COUNT_SHIFT > g->most)
        g->most = seen >> COUNT_SHIFT;
    must(tamis_put(g->forms, key, seen), "make", "a map of words");
    return true;
}

void gather_count(gathering *g, const word *w)
{
    word small;

    if (count_key(g, w))
        return;
    small = word_small(w);
    count_key(g, &small);
}

static uint64_t code_of(const gathering *g, uint64_t seen)
{
    uint64_t count = seen >> COUNT_SHIFT;

    if (seen & FORM_FORBIDDEN)
        return CODE_FORBIDDEN;
    if (!(seen & FORM_WORD))
        return seen & FORM_KEEPS_CASE ? CODE_KEEPS_CASE : CODE_IN_CAPITALS;
    if (count == 0)
        return CODE_WORD;
    return CODE_RANKS + (uint64_t)((N_RANKS - 1) * log((double)count) / log((double)g->most + 1));
}

static bool take_key(void *ctx, uint64_t key, uint64_t seen)
{
    gathering *g = ctx;
    uint64_t code = code_of(g, seen);

    g->keys[g->n] = key;
    g->values[g->n++] = code;
    g->highest = code > g->highest ? code : g->highest;
    if (!(seen & (FORM_FORBIDDEN | FORM_NO_SUGGESTION)) && code != CODE_IN_CAPITALS)
        g->suggested[g->n_suggested++] = key;
    return true;
}

static void list_keys(gathering *g)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(g->forms, &info);
    g->keys = array_new((size_t)info.count, sizeof *g->keys, "words");
    g->values = array_new((size_t)info.count, sizeof *g->values, "words");
    g->suggested = array_new((size_t)info.count, sizeof *g->suggested, "words");
    must(tamis_list_values(g->forms, take_key, g), "list", "a map of words");
    tamis_free(g->forms);
}

static tamis *make_words(const gathering *g, const making *m, const char *path)
{
    tamis_spec spec = TAMIS_SPEC(.keys = g->n, .fpr = m->fpr, .hasher = g->hasher,
                                 .value_bits = g->highest >= CODE_RANKS ? 4
                                               : g->highest >= 2        ? 2
                                                                        : 1);
    tamis_plan plan = planned(TAMIS_MAP, &spec, path);
    tamis *f;

    must(tamis_build_map(&f, &plan, g->keys, g->values, (size_t)g->n, NULL), "build", path);
    return f;
}

static tamis *make_suggestions(const gathering *g, const making *m, const char *path)
{
    tamis_spec spec = TAMIS_SPEC(.keys = g->n_suggested ? g->n_suggested : 1, .fpr = m->suggest_fpr,
                                 .hasher = SECOND);
    tamis_plan plan = planned(TAMIS_RIBBON, &spec, path);
    tamis *f;

    must(tamis_build(&f, &plan, g->suggested, (size_t)g->n_suggested, NULL), "build", path);
    return f;
}

static tamis *make_settings(const buffer *text, const char *path)
{
    uint64_t n = text->size / 8 + 1;
    tamis *f = dictionary_map(n);

    if (text->size >= SETTINGS_MAX)
        die(CODE_LIMIT, "the tables of %s have more than a mebibyte", path);
    for (uint64_t i = 0; i < n; i++) {
        size_t left = text->size - 8 * (size_t)i;
        uint64_t value = 0;

        if (left)
            memcpy(&value, text->bytes + 8 * i, left < 8 ? left : 8);
        must(tamis_put(f, i, le64toh(value)), "make", path);
    }
    return f;
}

static const char *const NAMES[3] = { "words", "suggestions", "settings" };

static void save(tamis *const filters[3], const char *path)
{
    tamis_editor *e;
    tamis_status status = tamis_editor_open(&e, path, TAMIS_EDIT_COMPACT, NULL);

    if (status == TAMIS_FOREIGN)
        die(CODE_CORRUPT, "%s is something else than a dictionary, and is left as it was", path);
    must(status, "open", path);
    for (size_t i = 0; i < 3; i++)
        must(tamis_editor_put(e, NAMES[i], filters[i]), "write", path);
    must(tamis_editor_save(e), "write", path);
    tamis_editor_free(e);
}

void gather_save(gathering *g, making *m, const affixes *a, const char *path)
{
    struct stat s;

    list_keys(g);
    tamis *filters[3] = { make_words(g, m, path), make_suggestions(g, m, path),
                          make_settings(&a->kept, path) };
    save(filters, path);
    m->words = g->n;
    m->suggested = g->n_suggested;
    m->fpr = tamis_plan_of(filters[0])->fpr;
    m->suggest_fpr = tamis_plan_of(filters[1])->fpr;
    for (size_t i = 0; i < 3; i++) {
        m->bytes[i] = tamis_plan_of(filters[i])->bytes;
        tamis_free(filters[i]);
    }
    m->file = stat(path, &s) == 0 ? (uint64_t)s.st_size : 0;
    free(g->keys);
    free(g->values);
    free(g->suggested);
    free(g);
}

/* ---- Asking ------------------------------------------------------------ */

static _Noreturn void refuse_file(const char *path)
{
    die(CODE_CORRUPT, "%s is no dictionary; 'tamis spell build' makes one", path);
}

/* Pages of the file are read when they are asked: those of suggestions only where some are wanted.
 */
static tamis *open_part(const dictionary *d, size_t i)
{
    tamis *f;
    tamis_status status = tamis_collection_get(d->file, &f, NAMES[i], NULL);

    if (status == TAMIS_ABSENT)
        refuse_file(d->path);
    must(status, "read", d->path);
    return f;
}

static void read_settings(dictionary *d, const tamis *f)
{
    buffer text = { 0 };
    uint64_t value;

    for (uint64_t i = 0; tamis_get(f, &value, i) && text.size < SETTINGS_MAX; i++) {
        value = htole64(value);
        buffer_append(&text, &value, sizeof value);
    }
    while (text.size && text.bytes[text.size - 1] == 0)
        text.size--;
    affixes_parse(&d->settings, d->path, text.bytes, text.size);
    buffer_free(&text);
}

static void find_word_chars(dictionary *d)
{
    const char *chars = d->settings.word_chars ? d->settings.word_chars : "";

    for (uint32_t i = 0; i < 128; i++)
        d->word_chars[i] = unicode_is_letter(i) || (i && strchr(chars, (int)i));
    d->joins_apostrophes =
        d->settings.joins_apostrophes || strchr(chars, '\'') || strstr(chars, "\xE2\x80\x99");
}

void dictionary_set(dictionary *d, const buffer *kept)
{
    buffer text = { 0 };

    *d = (dictionary){ 0 };
    buffer_append(&text, kept->bytes, kept->size);
    affixes_parse(&d->settings, "settings", text.bytes, text.size);
    buffer_free(&text);
    find_word_chars(d);
}

void dictionary_open(dictionary *d, const char *path)
{
    *d = (dictionary){ .path = path };
    tamis_status status = tamis_collection_open(&d->file, path, NULL);
    if (status == TAMIS_FOREIGN)
        refuse_file(path);
    must(status, "read", path);
    store_catch_truncation();
    d->words = open_part(d, 0);
    d->suggestions = open_part(d, 1);
    tamis *settings = open_part(d, 2);
    if (tamis_plan_of(d->words)->kind != TAMIS_MAP ||
        tamis_plan_of(settings)->kind != TAMIS_HASHMAP ||
        tamis_plan_of(d->suggestions)->hasher.hash != TAMIS_RAW)
        refuse_file(path);
    read_settings(d, settings);
    tamis_free(settings);
    find_word_chars(d);
}

void dictionary_close(dictionary *d)
{
    tamis_free(d->words);
    tamis_free(d->suggestions);
    tamis_free(d->personal);
    tamis_collection_free(d->file);
    affixes_free(&d->settings);
}

unsigned dictionary_code(const dictionary *d, uint64_t key)
{
    uint64_t code;

    if (d->personal && tamis_get(d->personal, &code, key))
        return (unsigned)code;
    return tamis_get(d->words, &code, key) && code < CODE_NONE ? (unsigned)code : CODE_NONE;
}
