/* cmd_query.c - tamis query: the lines that are in a filter. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "filters/key_list.h"
#include "filters/mistakes.h"
#include "filters/store.h"
#include "term/array.h"
#include "term/message.h"
#include "term/output.h"
#include "text/json.h"

typedef struct query {
    source source;
    const tamis *filter;
    const char *check_in; /* a list of all keys of the filter, or NULL */
    key_list *list;       /* what is in it */
    const key_format *format;
    bool inverted, counting, quiet, mapped;
    bool any_case;    /* keys are found in lower and in upper case too */
    bool numbered;    /* lines are printed with their numbers */
    bool only_names;  /* of inputs with a selected line */
    bool as_json;     /* with counting */
    uint64_t at_most; /* so many lines of each input; 0: all */
    buffer keys;      /* -e: lines to look up before those of the inputs */
    uint64_t inputs;  /* how many there are */
    uint64_t selected;
    _Atomic uint64_t found, not_found; /* keys, by all threads */

    uint64_t input;   /* whose chunks are being finished */
    uint64_t lines;   /* of it, before the current chunk */
    uint64_t from_it; /* lines selected */
} query;

/* ---- Selecting --------------------------------------------------------- */

static bool is_set(const uint64_t *bits, size_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* Consecutive lines are copied together. */
static void append_selected(buffer *out, const batch *b, const uint64_t *selected)
{
    for (size_t i = 0, first; i < b->n; i++) {
        for (first = i; i < b->n && is_set(selected, i);)
            i++;
        if (i > first)
            buffer_append(out, b->start[first], (size_t)(b->start[i] - b->start[first]));
    }
}

/* A bit for each key that is in the filter and, if there is one, in the list. */
static void find(const query *q, uint64_t *hits, const batch *b)
{
    buffer joined = { 0 };
    span text;

    tamis_has_many(q->filter, hits, b->keys, b->n);
    for (size_t i = 0; i < (b->n + 63) / 64; i++)
        hits[i] &= ~b->keyless[i];
    for (size_t i = 0; i < b->n && q->list; i++)
        if (is_set(hits, i) && key_text(&text, q->format, b->start[i], b->start[i + 1], &joined) &&
            !key_list_has(q->list, b->keys[i], text))
            hits[i / 64] &= ~(UINT64_C(1) << i % 64);
    buffer_free(&joined);
}

/* The hits of the same lines, with letters from `first` on in the other case, are added to those
 * that are there. Returns how many keys were looked up that are not those of the lines. */
static size_t look_in_other_case(const query *q, uint64_t *hits, const batch *b, char first)
{
    size_t size = (size_t)(b->start[b->n] - b->start[0]);
    batch *other = array_new(1, sizeof *other, "a thread; use fewer (-j)");
    uint64_t found[BATCH_LINES / 64];
    buffer text = { 0 };
    size_t others = 0;

    buffer_append(&text, b->start[0], size);
    for (char *c = text.bytes; c < text.bytes + size; c++)
        *c ^= *c >= first && *c <= first + 'Z' - 'A' ? 'a' ^ 'A' : 0;
    batch_take(other, q->format, text.bytes, text.bytes + size);
    find(q, found, other);
    for (size_t i = 0; i < (other->n + 63) / 64; i++)
        hits[i] |= found[i];
    for (size_t i = 0; i < other->n; i++)
        others += other->keys[i] != b->keys[i];
    buffer_free(&text);
    buffer_free(&other->joined);
    free(other);
    return others;
}

/* Returns how many lines are selected. */
static size_t select_lines(query *q, uint64_t *selected, const batch *b)
{
    size_t n = 0, asked = b->n - b->n_keyless;

    find(q, selected, b);
    if (q->any_case)
        asked += look_in_other_case(q, selected, b, 'A') + look_in_other_case(q, selected, b, 'a');
    for (size_t i = 0; i < (b->n + 63) / 64; i++)
        n += (size_t)__builtin_popcountll(selected[i]);
    q->found += n;
    q->not_found += asked - n;
    if (!q->inverted)
        return n;
    for (size_t i = 0; i < (b->n + 63) / 64; i++)
        selected[i] = ~selected[i];
    if (b->n % 64)
        selected[b->n / 64] &= (UINT64_C(1) << b->n % 64) - 1;
    return b->n - n;
}

static bool prints_lines(const query *q)
{
    return !q->counting && !q->quiet && !q->only_names;
}

/* Lines whose numbers and places are known only when those before them are finished. */
static bool keeps_records(const query *q)
{
    return q->numbered || q->at_most;
}

/* A selected line: where it is in its chunk, its size, its bytes. */
typedef struct record {
    uint64_t line, size;
} record;

static void append_records(job *j, const uint64_t *selected)
{
    const batch *b = &j->batch;

    for (size_t i = 0; i < b->n; i++)
        if (is_set(selected, i)) {
            record r = { j->lines - b->n + i + 1, (uint64_t)(b->start[i + 1] - b->start[i]) };

            buffer_append(&j->out, &r, sizeof r);
            buffer_append(&j->out, b->start[i], (size_t)r.size);
        }
}

static void take_batch(void *ctx, job *j)
{
    query *q = ctx;
    uint64_t selected[BATCH_LINES / 64];

    j->selected += select_lines(q, selected, &j->batch);
    if (!prints_lines(q))
        return;
    if (keeps_records(q))
        append_records(j, selected);
    else
        append_selected(&j->out, &j->batch, selected);
}

/* ---- Printing ---------------------------------------------------------- */

static void print_records(const query *q, const job *j, uint64_t n)
{
    const char *at = j->out.bytes;
    buffer out = { 0 };

    for (; n > 0; n--) {
        char number[24];
        record r;

        memcpy(&r, at, sizeof r);
        at += sizeof r;
        if (q->numbered)
            buffer_append(
                &out, number,
                (size_t)snprintf(number, sizeof number, "%" PRIu64 ":", q->lines + r.line));
        buffer_append(&out, at, (size_t)r.size);
        at += r.size;
    }
    output_write(out.bytes, out.size);
    buffer_free(&out);
}

static void print_name(const job *j)
{
    output_write(j->input, strlen(j->input));
    output_write("\n", 1);
}

/* Lines beyond the limit were looked up too. Those printed with -v are right: of the others, so
 * many are missing. */
static mistakes mistakes_so_far(const query *q)
{
    mistakes m = mistakes_of(q->filter, q->mapped, q->found, q->list ? 0 : q->not_found);

    if (q->inverted || m.found == 0)
        return m;
    m.wrong *= (double)q->selected / (double)m.found;
    m.found = q->selected;
    return m;
}

static void say_mistakes(const query *q)
{
    mistakes m = mistakes_so_far(q);

    if (!q->inverted && !q->quiet)
        mistakes_say(&m, q->filter, q->counting);
}

/* Of those selected in this chunk, how many are within the limit of the input. */
static uint64_t within_limit(const query *q, const job *j)
{
    uint64_t left = q->at_most - q->from_it;

    return q->at_most && left < j->selected ? left : j->selected;
}

static void finish_chunk(void *ctx, job *j)
{
    query *q = ctx;

    if (j->input_number != q->input)
        q->lines = q->from_it = 0;
    q->input = j->input_number;
    uint64_t n = within_limit(q, j);
    if (q->quiet && n > 0)
        leave(CODE_OK);
    if (q->only_names && n > 0 && q->from_it == 0)
        print_name(j);
    if (prints_lines(q) && keeps_records(q))
        print_records(q, j, n);
    else
        output_write(j->out.bytes, j->out.size);
    q->selected += n;
    q->from_it += n;
    q->lines += j->lines;
    if (q->at_most && q->from_it == q->at_most && q->input == q->inputs && prints_lines(q)) {
        say_mistakes(q);
        output_end();
        leave(CODE_OK);
    }
}

/* ---- Keys of the command line ------------------------------------------ */

/* No argument has a NUL in it, so that it can end each. */
static void take_key(void *into, const args *a)
{
    query *q = into;

    buffer_append(&q->keys, a->value, strlen(a->value) + 1);
}

static void make_lines(buffer *keys, char end)
{
    if (end && memchr(keys->bytes, end, keys->size))
        die(CODE_USAGE, "query: a KEY of -e has a line end in it; give --null too");
    for (char *c = keys->bytes; c < keys->bytes + keys->size; c++)
        *c = *c ? *c : end;
}

/* As lines of an input without a name, which are keys whatever the columns of the others are. */
static uint64_t look_up_keys(query *q, const key_format *format)
{
    const key_format whole = { .end = format->end, .hasher = format->hasher };
    const char *at = q->keys.bytes, *end = at + q->keys.size;
    job *j = array_new(1, sizeof *j, "the keys of -e");

    make_lines(&q->keys, (char)format->end);
    q->format = &whole;
    j->input = "-e";
    while (at < end) {
        at = batch_take(&j->batch, &whole, at, end);
        j->lines += j->batch.n;
        take_batch(q, j);
        if (j->batch.fault)
            die(CODE_USAGE,
                "query: a KEY of -e is not an integer from 0 to 18446744073709551615; this filter "
                "takes raw keys");
    }
    finish_chunk(q, j);
    uint64_t lines = j->lines;
    buffer_free(&j->out);
    buffer_free(&j->batch.joined);
    free(j);
    return lines;
}

/* So that what is printed is a table again. */
static void print_header(void *ctx, const char *line, size_t size)
{
    const query *q = ctx;

    if (prints_lines(q) && !q->numbered)
        output_write(line, size);
}

/* ---- Command ----------------------------------------------------------- */

static void print_count(const query *q, uint64_t lines)
{
    json j = { 0 };

    if (!q->as_json) {
        printf("%" PRIu64 "\n", q->selected);
        return;
    }
    json_open(&j, NULL, '{');
    json_count(&j, "lines", lines);
    json_count(&j, "selected", q->selected);
    json_real(&j, q->inverted ? "expected_missing" : "expected_wrong", mistakes_so_far(q).wrong);
    json_close(&j, '}');
}

/* The keys of -e, then the inputs; standard input is read only if there is neither. */
static uint64_t look_up_all(query *q, bool has_inputs)
{
    pipeline p = { .take_batch = take_batch,
                   .finish_chunk = finish_chunk,
                   .take_header = print_header,
                   .ctx = q };
    uint64_t lines = q->keys.size ? look_up_keys(q, &q->source.format) : 0;

    q->format = &q->source.format;
    if (has_inputs || q->keys.size == 0)
        lines += pipeline_run(&p, &q->source);
    return lines;
}

static int run(args *a)
{
    query q = { .source = source_default() };
    tamis *f;

    args_read(a, &q);
    q.counting |= q.as_json;
    char **operands = args_operands(a, 1, SIZE_MAX, "the FILE of a filter");
    source_inputs(&q.source, operands + 1);
    for (char *const *name = q.source.names; *name; name++, q.inputs++)
        if (q.check_in && strcmp(q.check_in, "-") == 0 && strcmp(*name, "-") == 0)
            args_refuse(a, "standard input cannot be both KEYS and an INPUT");

    q.filter = f = (q.mapped ? store_map : store_load)(operands[0]);
    q.source.format.hasher = tamis_plan_of(f)->hasher;
    if (q.check_in)
        q.list = key_list_read(q.check_in, &q.source, f);
    uint64_t lines = look_up_all(&q, operands[1] != NULL);
    if (q.counting && !q.quiet && !q.only_names)
        print_count(&q, lines);
    say_mistakes(&q);
    if (q.list)
        key_list_free(q.list);
    buffer_free(&q.keys);
    tamis_free(f);
    return q.selected > 0 ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 'e', "key", "KEY", "look up KEY; reads INPUTs only if some are named", .take = take_key },
    { 'i', "ignore-case", NULL, "look keys up in lower and in upper case too",
      TO_FLAG(query, any_case) },
    { 'v', "invert-match", NULL, "print the lines that are not in the filter",
      TO_FLAG(query, inverted) },
    { 'n', "line-number", NULL, "print the number of each line and a colon before it",
      TO_FLAG(query, numbered) },
    { 'm', "max-count", "N", "print no more than N lines of each INPUT",
      TO_COUNT(query, at_most, 1, UINT64_MAX) },
    { 'l', "files-with-matches", NULL, "print only the names of INPUTs with such a line",
      TO_FLAG(query, only_names) },
    { 'c', "count", NULL, "print only how many lines there are", TO_FLAG(query, counting) },
    { 'q', "quiet", NULL, "print nothing, stop at the first line found", TO_FLAG(query, quiet) },
    { 0, "json", NULL, "as --count, in JSON", TO_FLAG(query, as_json) },
    { 0, "check-in", "KEYS", "look up in the list KEYS what is found: nothing printed is wrong",
      TO_TEXT(query, check_in) },
    { 0, "map", NULL, "map the filter instead of reading it", TO_FLAG(query, mapped) },
    OPTIONS(key_options, query, source),
    { 0 },
};

const command cmd_query = { "query", help_query, options, .run = run };
