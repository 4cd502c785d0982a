/* personal.c - the words of a user. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/lock.h"
#include "files/replace.h"
#include "personal.h"
#include "tamis_values.h"
#include "term/message.h"
#include "term/unicode.h"
#include "text/reader.h"

static void make_room(dictionary *d)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 64, .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_HASHMAP, &spec);

    if (status || (status = tamis_new(&d->personal, &plan, NULL)))
        die_status("make", "a map of words", status);
}

void personal_put(dictionary *d, const word *w, unsigned code)
{
    if (!d->personal)
        make_room(d);
    tamis_status status = tamis_put(d->personal, tamis_key(d->words, w->text, w->size), code);
    if (status)
        die_status("add to", "the words of the user", status);
}

/* ---- Reading ----------------------------------------------------------- */

typedef struct reading {
    const char *path;
    dictionary *to;
} reading;

/* A dictionary, say, must not be taken for such a list: it would be written anew without most of
 * its bytes. */
static size_t check_line(const char *path, char *line, size_t size)
{
    if (memchr(line, 0, size))
        die(CODE_CORRUPT, "%s has NUL bytes: it is no list of words, and is left as it was", path);
    if (size && line[size - 1] == '\r')
        line[--size] = 0;
    return size;
}

static void take_line(void *ctx, char *line, size_t size)
{
    const reading *r = ctx;
    bool is_removed = *line == '*';
    word w;

    size = check_line(r->path, line, size);
    /* What is too long for a word is in no text. */
    if (size > is_removed && word_set(&w, line + is_removed, size - is_removed))
        personal_put(r->to, &w, is_removed ? CODE_FORBIDDEN : CODE_WORD);
}

void personal_open(dictionary *d, const char *path)
{
    reading r = { path, d };

    if (access(path, F_OK) == 0)
        reader_each_line(path, take_line, &r);
}

/* ---- Changing ---------------------------------------------------------- */

typedef struct edit {
    const char *path;
    char *const *words;
    personal_change how;
    replacement *out;
    size_t changes;
    bool *is_there; /* for each word: as a line of its own, or with * before it */
    bool *is_removed;
} edit;

static void write_line(edit *e, const char *mark, const char *text)
{
    replace_write(e->out, mark, strlen(mark));
    replace_write(e->out, text, strlen(text));
    replace_write(e->out, "\n", 1);
}

/* Copies the lines that stay. */
static void take_old(void *ctx, char *line, size_t size)
{
    edit *e = ctx;
    bool is_removed = *line == '*';

    check_line(e->path, line, size);
    for (size_t i = 0; e->words[i]; i++) {
        if (strcmp(line + is_removed, e->words[i]) != 0)
            continue;
        e->is_there[i] |= !is_removed;
        e->is_removed[i] |= is_removed;
        if (is_removed != (e->how == PERSONAL_REMOVE)) {
            e->changes++;
            return;
        }
    }
    write_line(e, "", line);
}

bool personal_is_word(const char *text, size_t size)
{
    if (size == 0 || size > WORD_MAX || *text == '*')
        return false;
    for (size_t at = 0; at < size; at += utf8_size(text + at))
        if (utf8_size(text + at) == 0 || (unsigned char)text[at] <= ' ')
            return false;
    return true;
}

static void check_word(const char *text)
{
    if (!personal_is_word(text, strlen(text)))
        die(CODE_USAGE,
            "spell: '%s' is no word: 1 to %d bytes of UTF-8 without blanks, and no * first", text,
            WORD_MAX);
}

static bool is_repeated(char *const *words, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(words[k], words[i]) == 0)
            return true;
    return false;
}

/* A word that was in the file is not any more: that is all that removing it has to do. */
static void write_new(edit *e)
{
    for (size_t i = 0; e->words[i]; i++) {
        bool is_done = e->is_there[i] || (e->how == PERSONAL_REMOVE && e->is_removed[i]);

        if (is_done || is_repeated(e->words, i))
            continue;
        write_line(e, e->how == PERSONAL_ADD ? "" : "*", e->words[i]);
        e->changes++;
    }
}

size_t personal_edit(const char *path, char *const *words, personal_change how)
{
    buffer marks = { 0 };
    size_t n = 0;

    for (; words[n]; n++)
        check_word(words[n]);
    buffer_reserve(&marks, 2 * n);
    memset(marks.bytes, 0, 2 * n);
    int lock = lock_output(path);
    edit e = { .path = path,
               .words = words,
               .how = how,
               .out = replace_begin(path),
               .is_there = (bool *)marks.bytes,
               .is_removed = (bool *)marks.bytes + n };
    if (access(path, F_OK) == 0)
        reader_each_line(path, take_old, &e);
    write_new(&e);
    if (e.changes)
        replace_end(e.out);
    else
        replace_forget(e.out);
    lock_release(lock);
    buffer_free(&marks);
    return e.changes;
}
