/* cmd_query.c - tamis query: the lines that are in a filter. */
#include <stdio.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "store.h"

typedef struct query {
    const tamis *filter;
    bool inverted, counting, quiet, mapped;
    uint64_t selected;
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

/* Returns how many lines are selected. */
static size_t select_lines(const query *q, uint64_t *selected, const batch *b)
{
    size_t words = (b->n + 63) / 64, n = 0;

    tamis_has_many(q->filter, selected, b->keys, b->n);
    for (size_t i = 0; i < words; i++) {
        uint64_t lines =
            i + 1 < words || b->n % 64 == 0 ? UINT64_MAX : (UINT64_C(1) << b->n % 64) - 1;

        selected[i] &= ~b->keyless[i];
        if (q->inverted)
            selected[i] = ~selected[i] & lines;
        n += (size_t)__builtin_popcountll(selected[i]);
    }
    return n;
}

static void take_batch(void *ctx, job *j)
{
    const query *q = ctx;
    uint64_t selected[BATCH_LINES / 64];

    j->selected += select_lines(q, selected, &j->batch);
    if (!q->counting && !q->quiet)
        append_selected(&j->out, &j->batch, selected);
}

static void finish_chunk(void *ctx, job *j)
{
    query *q = ctx;

    q->selected += j->selected;
    if (q->quiet && q->selected > 0)
        leave(CODE_OK);
    output_write(j->out.bytes, j->out.size);
}

/* ---- Command ----------------------------------------------------------- */

enum { OPTION_MAP = OPTION_OWN };

static void take_option(query *q, source *s, const args *a)
{
    switch (a->letter) {
    case 'v':
        q->inverted = true;
        break;
    case 'c':
        q->counting = true;
        break;
    case 'q':
        q->quiet = true;
        break;
    case OPTION_MAP:
        q->mapped = true;
        break;
    default:
        source_option(s, a);
    }
}

static int run(args *a)
{
    query q = { 0 };
    pipeline p = { .take_batch = take_batch, .finish_chunk = finish_chunk, .ctx = &q };
    source s;
    char **operands;
    tamis *f;

    source_init(&s);
    while (args_next(a) != -1)
        take_option(&q, &s, a);
    operands = args_operands(a, 1, SIZE_MAX, "the FILE of a filter");
    source_inputs(&s, a, operands + 1);

    q.filter = f = (q.mapped ? store_map : store_load)(operands[0]);
    s.format.hasher = tamis_plan_of(f)->hasher;
    pipeline_run(&p, &s);
    if (q.counting && !q.quiet)
        printf("%" PRIu64 "\n", q.selected);
    tamis_free(f);
    return q.selected > 0 ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 'v', "invert-match", NULL, "print the lines that are not in the filter" },
    { 'c', "count", NULL, "print only how many lines there are" },
    { 'q', "quiet", NULL, "print nothing, stop at the first line found" },
    { OPTION_MAP, "map", NULL, "map the filter instead of reading it" },
    { 0 },
};

const command cmd_query = {
    .name = "query",
    .operands = "[OPTION]... FILE [INPUT]...",
    .summary = "print the lines that are in a filter",
    .about =
        "Reads lines from the INPUTs, or from standard input, and prints those whose key is in\n"
        "the filter in FILE, in order. A line that is not printed is certainly not in it. A\n"
        "printed line may be there by mistake, at the filter's false positive rate.\n"
        "\n"
        "The whole filter is read and checked before the first line. With --map, it is mapped,\n"
        "and only its header is checked. It then starts at once, but a damaged filter may give\n"
        "wrong answers.",
    .options = { options, key_options },
    .when_ok = "a line was selected",
    .when_nothing = "no line was selected",
    .example = "  printf '%s\\n' red green blue | tamis build -k bloom -o colours.tamis\n"
               "  printf '%s\\n' green grey | tamis query colours.tamis",
    .run = run,
};
