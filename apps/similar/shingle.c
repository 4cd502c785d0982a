/* shingle.c - a text as the set of its shingles.
 *
 * A shingle is hashed as text: words with one blank between them, or characters. So the filter of a
 * document is the one that 'tamis build' makes of its shingles as lines. */
#include "shingle.h"

#include <string.h>

#include "term/unicode.h"
#include "word_breaks.h"

static void fill_ascii(shingler *s)
{
    for (uint32_t c = 0; c < sizeof s->ascii; c++)
        if (between_is_word(c))
            s->ascii[c] = (char)(s->format->keeps_case ? c : unicode_lower(c));
}

void shingle_begin(shingler *s)
{
    if (!s->ascii['0'])
        fill_ascii(s);
    s->text.size = 0;
    s->n = 0;
    s->is_open = false;
}

static void send_keys(shingler *s)
{
    if (s->waiting > 0)
        s->take(s->ctx, s->keys, s->waiting);
    s->waiting = 0;
}

void shingle_key(shingler *s, uint64_t key)
{
    s->keys[s->waiting++] = key;
    if (s->waiting == SHINGLE_KEYS)
        send_keys(s);
}

/* Where the i-th latest word or character starts; the latest is 1. */
static size_t *start_of(shingler *s, unsigned i)
{
    return &s->starts[(s->n - i) % s->format->k];
}

static void take_from(shingler *s, size_t start)
{
    shingle_key(s,
                tamis_hasher_key(&s->format->hasher, s->text.bytes + start, s->text.size - start));
}

enum { TEXT_MAX = 1 << 14 };

/* Drops what no later shingle has a part in. */
static void forget_text(shingler *s)
{
    unsigned kept = s->n < s->format->k ? (unsigned)s->n : s->format->k;
    size_t start = *start_of(s, kept);

    s->text.size -= start;
    memmove(s->text.bytes, s->text.bytes + start, s->text.size);
    for (unsigned i = 1; i <= kept; i++)
        *start_of(s, i) -= start;
}

/* A word or character is complete. */
static void end_unit(shingler *s)
{
    s->n++;
    if (s->n >= s->format->k)
        take_from(s, *start_of(s, s->format->k));
    if (s->text.size > TEXT_MAX)
        forget_text(s);
}

static void begin_unit(shingler *s)
{
    s->starts[s->n % s->format->k] = s->text.size;
}

/* ---- Words ------------------------------------------------------------- */

static void end_word(shingler *s)
{
    if (s->is_open)
        end_unit(s);
    s->is_open = false;
}

/* Bytes that the word has room for. */
static size_t room_in_word(const shingler *s)
{
    size_t used = s->is_open ? s->text.size - s->starts[s->n % s->format->k] : 0;

    return SHINGLE_WORD_MAX - used;
}

static void add_to_word(shingler *s, const char *bytes, size_t size)
{
    if (size > room_in_word(s))
        end_word(s);
    if (!s->is_open) {
        if (s->n > 0)
            buffer_append(&s->text, " ", 1);
        begin_unit(s);
        s->is_open = true;
    }
    buffer_append(&s->text, bytes, size);
}

enum { RUN_MAX = 32 };

/* Most text is ASCII, and its letters go in runs. Returns how many bytes were taken; none if the
 * next character is not of that sort. */
static size_t take_run(shingler *s, const char *at, const char *end)
{
    size_t room = room_in_word(s), n = 0;
    char run[RUN_MAX];

    while (n < RUN_MAX && n < room && at + n < end && (unsigned char)at[n] < sizeof s->ascii &&
           (run[n] = s->ascii[(unsigned char)at[n]]))
        n++;
    if (n > 0)
        add_to_word(s, run, n);
    return n;
}

/* ---- Characters -------------------------------------------------------- */

static void add_character(shingler *s, const char *bytes, size_t size)
{
    begin_unit(s);
    buffer_append(&s->text, bytes, size);
    end_unit(s);
}

/* A run of blanks is one, and none at either end of a document. */
static void end_blank(shingler *s)
{
    if (s->is_open && s->n > 0)
        add_character(s, " ", 1);
    s->is_open = false;
}

/* ---- Text -------------------------------------------------------------- */

static void take_character(shingler *s, uint32_t c)
{
    char bytes[4];
    size_t size = unicode_write(bytes, s->format->keeps_case ? c : unicode_lower(c));

    if (s->format->of_words && between_is_word(c))
        add_to_word(s, bytes, size);
    else if (s->format->of_words)
        end_word(s);
    else if (between_is_blank(c))
        s->is_open = true;
    else {
        end_blank(s);
        add_character(s, bytes, size);
    }
}

void shingle_text(shingler *s, span text)
{
    const char *end = text.at + text.size;
    size_t size;

    for (const char *at = text.at; at < end; at += size) {
        size = s->format->of_words ? take_run(s, at, end) : 0;
        if (size == 0)
            take_character(s, unicode_at(at, end, &size));
    }
}

void shingle_end(shingler *s)
{
    if (s->format->of_words)
        end_word(s);
    if (s->n > 0 && s->n < s->format->k)
        take_from(s, 0);
    send_keys(s);
}
