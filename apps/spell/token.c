/* token.c - the words of a line.
 *
 * A word is a run of letters and of what the dictionary's WORDCHARS adds. An apostrophe, straight
 * or curly, belongs to it if a letter follows; where neither is among WORDCHARS, it does not. So
 * hunspell cuts a text, and so do programs that talk to it.
 *
 * Mail addresses, URLs and paths of files are no words: a run of letters, digits and -_\.:/~%*$[]?!
 * that begins with a slash, or holds an @, :// or :\. */
#include <string.h>

#include "term/unicode.h"
#include "token.h"

tokens tokens_of(const dictionary *d, const char *line, size_t size)
{
    return (tokens){ .d = d, .at = line, .end = line + size, .piece = line, .piece_end = line };
}

static bool is_in(const char *chars, const char *at, size_t size)
{
    for (; chars && (chars = strchr(chars, *at)); chars++)
        if (strncmp(chars, at, size) == 0)
            return true;
    return false;
}

static bool is_word_char(const dictionary *d, const char *at, const char *end, size_t *size)
{
    unsigned char byte = (unsigned char)*at;

    if (byte < 128) {
        *size = 1;
        return d->word_chars[byte];
    }
    return unicode_is_letter(unicode_at(at, end, size)) ||
           (*size > 1 && is_in(d->settings.word_chars, at, *size));
}

/* Bytes of an apostrophe with a word's letter after it; 0: there is none. */
static size_t apostrophe(const dictionary *d, const char *at, const char *end)
{
    static const char curly[] = "\xE2\x80\x99";
    size_t size = *at == '\'' ? 1 : end - at > 3 && memcmp(at, curly, 3) == 0 ? 3 : 0, next;

    if (!size || !d->joins_apostrophes || at + size == end)
        return 0;
    return is_word_char(d, at + size, end, &next) ? size : 0;
}

/* ---- Addresses --------------------------------------------------------- */

static bool starts(const char *at, const char *end, const char *what)
{
    size_t size = strlen(what);

    return (size_t)(end - at) >= size && memcmp(at, what, size) == 0;
}

static bool is_of_address(const dictionary *d, const char *at, const char *end, size_t *size)
{
    if (is_word_char(d, at, end, size))
        return true;
    return *at && strchr("@-_\\.:/~%*$[]?!0123456789", *at);
}

/* The next run that may be an address. */
static void find_piece(tokens *t)
{
    const char *at = t->piece_end;
    size_t size;

    while (at < t->end && *at != '/' && !is_word_char(t->d, at, t->end, &size))
        at += size;
    t->piece = at;
    t->is_address = at < t->end && *at == '/';
    while (at < t->end && is_of_address(t->d, at, t->end, &size)) {
        t->is_address |=
            *at == '@' || (*at == ':' && (starts(at, t->end, ":\\") || starts(at, t->end, "://")));
        at += size;
    }
    t->piece_end = at;
}

static bool is_in_address(tokens *t, const char *at)
{
    while (t->piece_end <= at)
        find_piece(t);
    return t->is_address && at >= t->piece;
}

/* ---- Words ------------------------------------------------------------- */

size_t token_place(const char *line, const char *at)
{
    size_t n = 0;

    for (; line < at; line++)
        n += ((unsigned char)*line & 0xC0) != 0x80;
    return n;
}

bool token_next(tokens *t, span *token)
{
    size_t size;

    while (t->at < t->end) {
        const char *start = t->at;

        if (!is_word_char(t->d, start, t->end, &size)) {
            t->at += size;
            continue;
        }
        do
            t->at += size;
        while (t->at < t->end && (is_word_char(t->d, t->at, t->end, &size) ||
                                  (size = apostrophe(t->d, t->at, t->end))));
        if (is_in_address(t, start))
            continue;
        *token = (span){ start, (size_t)(t->at - start) };
        return true;
    }
    return false;
}
