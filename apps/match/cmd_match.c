/* cmd_match.c - tamis match: which of many fixed strings occur in a stream of bytes, and where. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "matcher.h"
#include "term/array.h"
#include "term/message.h"

typedef struct request {
    matcher matcher;
    source source;
} request;

/* The row's `min` is the view. -q prints nothing, whatever else is asked for. */
static void take_view(void *into, const args *a)
{
    matcher *m = &((request *)into)->matcher;
    view chosen = (view)a->option->min;

    if (m->view == VIEW_NOTHING)
        return;
    if (m->view != VIEW_LINES && m->view != chosen && chosen != VIEW_NOTHING)
        args_refuse(a, "--offsets, --count, --patterns and -l cannot be used together");
    m->view = chosen;
}

static void check_options(void *into, const args *a)
{
    const matcher *m = &((const request *)into)->matcher;

    if (m->inverted && (m->view == VIEW_OFFSETS || m->view == VIEW_COUNTS))
        args_refuse(a, "-v is for lines, --patterns, -l and -q: what is not there has no place");
    if (m->numbered && m->view != VIEW_LINES && m->view != VIEW_NOTHING)
        args_refuse(a, "-n is for lines; --offsets prints places in the text");
}

static void read_options(request *r, args *a)
{
    matcher *m = &r->matcher;

    r->source = source_default();
    args_read(a, r);
    m->format.end = r->source.format.end;
    m->format.strips_cr = r->source.format.strips_cr;
    m->format.takes_packed = r->source.takes_packed;
}

static void refuse_stdin_twice(const args *a, char *const *operands)
{
    char *const *name = operands + 1;

    if (strcmp(operands[0], "-") != 0)
        return;
    while (*name && strcmp(*name, "-") != 0)
        name++;
    if (*name || !operands[1])
        args_refuse(a, "standard input cannot be both the PATTERNS and a TEXT");
}

/* Patterns that nobody meant are told of. */
static void warn(const match_index *x, const pattern_format *format, const char *path)
{
    const char *end = x->given.size ? memchr(x->given.bytes, format->end, x->given.size) : NULL;

    if (x->n == 0)
        say("%s: there is no pattern in it", path);
    else if (x->empty > 0)
        say("%s: %" PRIu64 " empty lines are no patterns, and were passed over", path, x->empty);
    if (end && end > x->given.bytes && end[-1] == '\r' && !format->strips_cr && format->end == '\n')
        say("%s: the first pattern ends in a carriage return, which counts; --crlf leaves it out",
            path);
}

static void begin(matcher *m, const char *path)
{
    index_open(&m->index, path, &m->format);
    warn(&m->index, &m->format, path);
    m->counts = array_new(m->index.n, sizeof *m->counts, "patterns");
}

static void end(matcher *m)
{
    index_close(&m->index);
    free(m->counts);
    buffer_free(&m->out);
    buffer_free(&m->ids);
}

static int run(args *a)
{
    static request r;
    matcher *m = &r.matcher;
    pipeline p = { .take_chunk = matcher_find, .finish_chunk = matcher_print, .ctx = m };
    char **operands;

    read_options(&r, a);
    operands = args_operands(a, 1, SIZE_MAX, "a file of PATTERNS");
    refuse_stdin_twice(a, operands);
    source_inputs(&r.source, operands + 1);
    if (!args_given(a, "with-filename") && !args_given(a, "no-filename"))
        m->shows_names = r.source.names[0] && r.source.names[1];
    begin(m, operands[0]);
    if (!matcher_needs_lines(m))
        r.source.overlap = m->index.longest + 1;
    if (m->as_json && m->view != VIEW_NOTHING)
        json_open(&m->json, NULL, '[');
    pipeline_run(&p, &r.source);
    if (m->view == VIEW_COUNTS || m->view == VIEW_PATTERNS)
        matcher_print_patterns(m);
    if (m->as_json && m->view != VIEW_NOTHING)
        json_close(&m->json, ']');
    end(m);
    return m->found ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 0, "offsets", NULL, "print where each pattern begins, OFFSET:PATTERN", .take = take_view,
      .min = VIEW_OFFSETS },
    { 0, "count", NULL, "print how often each pattern occurs, if it does", .take = take_view,
      .min = VIEW_COUNTS },
    { 0, "patterns", NULL, "print the patterns that occur; with -v, the others", .take = take_view,
      .min = VIEW_PATTERNS },
    { 'l', "files-with-matches", NULL, "print only the names of TEXTs with such a line",
      .take = take_view, .min = VIEW_NAMES },
    { 'q', "quiet", NULL, "print nothing, stop at the first match", .take = take_view,
      .min = VIEW_NOTHING },
    { 'i', "ignore-case", NULL, "A to Z are the same as a to z",
      TO_FLAG(request, matcher.format.folds) },
    { 'w', "word-regexp", NULL, "no letter, digit or _ may stand before or after a match",
      TO_FLAG(request, matcher.words) },
    { 'v', "invert-match", NULL, "print the lines without a match",
      TO_FLAG(request, matcher.inverted) },
    { 'n', "line-number", NULL, "print the number of each line and a colon before it",
      TO_FLAG(request, matcher.numbered) },
    { 'H', "with-filename", NULL, "print the name of the TEXT first (default: if there are two)",
      TO_CONSTANT(request, matcher.shows_names, true) },
    { 0, "no-filename", NULL, "never print it", TO_CONSTANT(request, matcher.shows_names, false) },
    { 0, "json", NULL, "print JSON", TO_FLAG(request, matcher.as_json) },
    { 'z', "null", NULL, "lines end with a NUL byte, not with a newline",
      TO_CONSTANT(request, source.format.end, 0) },
    { 0, "crlf", NULL, "patterns end with CR and LF: the CR is no part of them",
      TO_FLAG(request, source.format.strips_cr) },
    OPTIONS(input_options, request, source),
    { .take = check_options },
};

const command cmd_match = { "match", help_match, options, .run = run };
