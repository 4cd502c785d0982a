/* proof.c - texts that are read word by word. */
#include <string.h>

#include "judge.h"
#include "proof.h"
#include "suggest.h"
#include "term/message.h"
#include "term/output.h"
#include "term/progress.h"
#include "text/json.h"
#include "text/reader.h"
#include "token.h"

typedef struct reading {
    const proof *p;
    suggester *suggester; /* NULL: none are wanted */
    const char *input;
    uint64_t input_number, line, wrong;
    buffer out;
    json json;
} reading;

/* ---- Printing ---------------------------------------------------------- */

static void print_text(reading *r, const char *line, span token)
{
    const word *words;

    if (r->p->form == PROOF_LINES)
        buffer_print(&r->out, "%s:%" PRIu64 ":%zu: ", r->input, r->line,
                     token_place(line, token.at) + 1);
    buffer_append(&r->out, token.at, token.size);
    size_t n = r->suggester ? suggest_words(r->suggester, token.at, token.size, &words) : 0;
    buffer_append(&r->out, ": ", n ? 2 : 0);
    suggest_append(&r->out, words, n);
    buffer_append(&r->out, "\n", 1);
}

static void print_json(reading *r, const char *line, span token)
{
    const word *words;

    json_open(&r->json, NULL, '{');
    json_text(&r->json, "file", r->input);
    json_count(&r->json, "line", r->line);
    json_count(&r->json, "column", token_place(line, token.at) + 1);
    json_bytes(&r->json, "word", token.at, token.size);
    if (r->suggester) {
        size_t n = suggest_words(r->suggester, token.at, token.size, &words);
        json_open(&r->json, "suggestions", '[');
        for (size_t i = 0; i < n; i++)
            json_bytes(&r->json, NULL, words[i].text, words[i].size);
        json_close(&r->json, ']');
    }
    json_close(&r->json, '}');
}

/* ---- Reading ----------------------------------------------------------- */

static void take_line(reading *r, const char *line, size_t size)
{
    tokens t = tokens_of(r->p->d, line, size);

    r->line++;
    for (span token; token_next(&t, &token);) {
        if (judge_word(r->p->d, token.at, token.size))
            continue;
        r->wrong++;
        if (r->p->form == PROOF_JSON)
            print_json(r, line, token);
        else
            print_text(r, line, token);
    }
}

static void take_chunk(reading *r, const buffer *text)
{
    for (const char *at = text->bytes, *end = at + text->size, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        take_line(r, at, (size_t)(stop - at));
    }
    output_gathered(&r->out, true);
}

static void take_inputs(reading *r, char *const *names)
{
    reader in;
    buffer text = { 0 };

    reader_open(&in, names, '\n');
    while (reader_has_next(&in, &text)) {
        if (in.inputs != r->input_number)
            r->line = 0;
        r->input_number = in.inputs;
        r->input = in.name;
        take_chunk(r, &text);
        progress_show(in.done >> 20, in.total >> 20, "MiB");
    }
    progress_erase();
    reader_close(&in);
    buffer_free(&text);
}

uint64_t proof_read(const proof *p, char *const *names)
{
    reading r = { .p = p, .suggester = p->suggests ? suggest_begin(p->d) : NULL };

    if (p->form == PROOF_JSON)
        json_open(&r.json, NULL, '[');
    take_inputs(&r, names);
    if (p->form == PROOF_JSON)
        json_close(&r.json, ']');
    buffer_free(&r.out);
    suggest_end(r.suggester);
    return r.wrong;
}
