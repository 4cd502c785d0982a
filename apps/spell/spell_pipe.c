/* spell_pipe.c - what an editor and a spelling checker say to each other.
 *
 * A line of the editor is text to be checked, unless it begins with the sign of a command. For each
 * word there is a line: * if it is right, & and what may have been meant, or # if there is no idea.
 * An empty line ends the answer. Places are letters from the start of the line, 0 being the first.
 */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "personal.h"
#include "proof.h"
#include "suggest.h"
#include "term/array.h"
#include "term/message.h"
#include "term/output.h"
#include "text/reader.h"
#include "token.h"

typedef struct talk {
    dictionary *d;
    suggester *suggester;
    const char *personal; /* NULL: nowhere */
    bool is_terse;        /* nothing is said of words that are right */
    bool is_verbose;      /* but the word itself */
    char **added;         /* to be saved; NULL follows the last */
    size_t n_added;
    buffer out;
} talk;

/* ---- Text -------------------------------------------------------------- */

static void answer_wrong(talk *t, span token, size_t place)
{
    const word *words;
    size_t n = suggest_words(t->suggester, token.at, token.size, &words);

    buffer_print(&t->out, n ? "& %.*s " : "# %.*s ", (int)token.size, token.at);
    if (n)
        buffer_print(&t->out, "%zu %zu: ", n, place);
    else
        buffer_print(&t->out, "%zu", place);
    suggest_append(&t->out, words, n);
    buffer_append(&t->out, "\n", 1);
}

static void answer_right(talk *t, span token)
{
    if (!t->is_terse && t->is_verbose)
        buffer_print(&t->out, "* %.*s\n", (int)token.size, token.at);
    else if (!t->is_terse)
        buffer_append(&t->out, "*\n", 2);
}

static void take_text(talk *t, const char *line, const char *text, const char *end)
{
    tokens words = tokens_of(t->d, text, (size_t)(end - text));

    for (span token; token_next(&words, &token);)
        if (judge_word(t->d, token.at, token.size))
            answer_right(t, token);
        else
            answer_wrong(t, token, token_place(line, token.at));
    buffer_append(&t->out, "\n", 1);
}

/* ---- Commands ---------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A word that the user takes for right: until the end, and in the file if it is to be saved. What
 * is none is passed over: the words beside it must not be lost. */
static void take_word(talk *t, const char *text, size_t size, bool is_small, bool is_kept)
{
    word w;

    for (; size && is_blank(*text); text++)
        size--;
    while (size && is_blank(text[size - 1]))
        size--;
    if (!personal_is_word(text, size)) {
        say("'%.*s' is no word, and is not added", (int)(size < 200 ? size : 200), text);
        return;
    }
    word_set(&w, text, size);
    if (is_small)
        w = word_small(&w);
    personal_put(t->d, &w, CODE_WORD);
    if (!is_kept)
        return;
    t->added = array_grown(t->added, t->n_added + 1, sizeof *t->added, "words of the user");
    t->added[t->n_added] = array_new(w.size + 1, 1, "bytes of a word");
    memcpy(t->added[t->n_added++], w.text, w.size);
    t->added[t->n_added] = NULL;
}

static void forget_added(talk *t)
{
    for (size_t i = 0; i < t->n_added; i++)
        free(t->added[i]);
    free(t->added);
    t->added = NULL;
    t->n_added = 0;
}

static void save_added(talk *t)
{
    if (t->n_added && !t->personal)
        say("words that were added are not saved: give --personal FILE");
    else if (t->n_added)
        personal_edit(t->personal, t->added, PERSONAL_ADD);
    forget_added(t);
}

static void take_line(talk *t, const char *line, const char *end)
{
    size_t size = (size_t)(end - line);

    switch (size ? *line : ' ') {
    case '*':
    case '&':
    case '@':
        take_word(t, line + 1, size - 1, *line == '&', *line != '@');
        break;
    case '#':
        save_added(t);
        break;
    case '!':
        t->is_terse = true;
        break;
    case '%':
        t->is_terse = t->is_verbose = false;
        break;
    case '`':
        t->is_verbose = true;
        break;
    case '~': /* a type of letters, or of text: there is one of each */
    case '+':
    case '-':
        break;
    default:
        take_text(t, line, size && *line == '^' ? line + 1 : line, end);
    }
}

/* ---- Lines ------------------------------------------------------------- */

void proof_talk(dictionary *d, const char *personal)
{
    talk t = { .d = d, .suggester = suggest_begin(d), .personal = personal };
    char *names[] = { "-", NULL };
    buffer text = { 0 };
    reader in;

    buffer_print(&t.out, "@(#) International Ispell Version 3.1.20 (but really tamis %s)\n",
                 TAMIS_VERSION);
    output_gathered(&t.out, true);
    reader_open(&in, names, '\n');
    in.takes_packed = true; /* what an editor sends is text, and the first line must not wait */
    while (reader_has_next(&in, &text)) {
        for (const char *at = text.bytes, *end = at + text.size, *stop; at < end; at = stop + 1) {
            stop = memchr(at, '\n', (size_t)(end - at));
            take_line(&t, at, stop > at && stop[-1] == '\r' ? stop - 1 : stop);
        }
        output_gathered(&t.out, true);
    }
    reader_close(&in);
    buffer_free(&text);
    buffer_free(&t.out);
    forget_added(&t);
    suggest_end(t.suggester);
}
