/* personal.c - the words of a user. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/lock.h"
#include "files/replace.h"
#include "personal.h"
#include "tamis_values.h"
#include "term/array.h"
#include "term/message.h"
#include "term/unicode.h"
#include "text/reader.h"

void personal_put(dictionary *d, const word *w, unsigned code)
{
    if (!d->personal)
        d->personal = dictionary_map(64);
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

/* How a word is in the file. */
enum { AS_RIGHT = 1, AS_WRONG = 2 };

typedef struct edit {
    const char *path;
    char *const *words;
    unsigned char *found; /* for each of the words, how it is there */
    personal_change how;
    replacement *out;
    size_t changes;
} edit;

static void write_line(edit *e, bool is_wrong, const char *text)
{
    replace_write(e->out, "*", is_wrong);
    replace_write(e->out, text, strlen(text));
    replace_write(e->out, "\n", 1);
}

/* Whether it is one of the words. */
static bool mark(edit *e, const char *text, bool is_wrong)
{
    bool is_found = false;

    for (size_t i = 0; e->words[i]; i++)
        if (strcmp(text, e->words[i]) == 0) {
            e->found[i] |= is_wrong ? AS_WRONG : AS_RIGHT;
            is_found = true;
        }
    return is_found;
}

/* Copies the lines that stay. */
static void take_old(void *ctx, char *line, size_t size)
{
    edit *e = ctx;
    bool is_wrong = *line == '*';

    check_line(e->path, line, size);
    if (mark(e, line + is_wrong, is_wrong) && is_wrong != (e->how == PERSONAL_REMOVE))
        e->changes++;
    else
        write_line(e, false, line);
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

/* A word that was in the file is not any more: that is all that removing it has to do. */
static void write_new(edit *e)
{
    int done = e->how == PERSONAL_REMOVE ? AS_RIGHT | AS_WRONG : AS_RIGHT;

    for (size_t i = 0; e->words[i]; i++)
        if (!(e->found[i] & done)) {
            mark(e, e->words[i], false);
            write_line(e, e->how == PERSONAL_REMOVE, e->words[i]);
            e->changes++;
        }
}

size_t personal_edit(const char *path, char *const *words, personal_change how)
{
    size_t n = 0;

    for (; words[n]; n++)
        check_word(words[n]);
    int lock = lock_output(path);
    edit e = { path, words, array_new(n, 1, "words"), how, replace_begin(path), 0 };
    if (access(path, F_OK) == 0)
        reader_each_line(path, take_old, &e);
    write_new(&e);
    if (e.changes)
        replace_end(e.out);
    else
        replace_forget(e.out);
    lock_release(lock);
    free(e.found);
    return e.changes;
}
