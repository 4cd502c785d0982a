/* cmd_top.c - tamis top: the most frequent lines. */
#include <stdio.h>

#include "commands.h"
#include "filters/spec.h"
#include "filters/top.h"
#include "term/message.h"
#include "term/output.h"
#include "text/json.h"

typedef struct request {
    tamis_spec spec; /* of the sketch */
    source source;
    uint64_t k;
    uint64_t memory; /* 0: as much as it takes */
    bool as_json;
} request;

/* ---- Options ----------------------------------------------------------- */

/* A sketch of 4 rows and 4 MiB. More lines are kept with their text than will be shown, so that a
 * mistake about the last of them does not matter. */
static const double DEFAULT_ERROR = 1e-5, CHANCE = 0.02;

enum { DEFAULT_K = 20, K_MAX = 1000000, SPARE = 1000, TIMES_K = 4 };

static size_t candidates_of(const request *r)
{
    return (size_t)r->k * TIMES_K + SPARE;
}

/* Memory besides the sketch: the program, what each thread reads and hashes, and the longest text
 * of all candidates. */
enum { OWN_BYTES = 6 << 20, THREAD_BYTES = 8 << 20, CANDIDATE_BYTES = TOP_TEXT_MAX + 256 };

static void give_memory(request *r)
{
    uint64_t own = OWN_BYTES + (uint64_t)r->source.threads * THREAD_BYTES +
                   (uint64_t)candidates_of(r) * CANDIDATE_BYTES;

    if (r->memory == 0)
        return;
    if (r->memory < own + (1 << 20))
        die(CODE_MEMORY,
            "top: --memory is too little for -n %" PRIu64 " and %u threads; give %" PRIu64
            "M or more",
            r->k, r->source.threads, (own >> 20) + 2);
    r->spec.max_bytes = r->memory - own;
}

static void read_options(request *r, args *a)
{
    args_read(a, r);
    source_operands(&r->source, a, NULL);
    r->source.format.hasher = r->spec.hasher;
    r->spec.fpr = CHANCE;
    if (r->spec.error == 0 && r->memory == 0)
        r->spec.error = DEFAULT_ERROR;
    give_memory(r);
}

static tamis *new_sketch(const tamis_spec *spec)
{
    tamis_plan plan;
    tamis *sketch;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_COUNTMIN, spec);

    if (status)
        die(CODE_LIMIT, "top: no sketch is as exact in so little memory; give a larger --error, or "
                        "more --memory");
    status = tamis_new(&sketch, &plan, NULL);
    if (status)
        die(CODE_MEMORY, "out of memory for a sketch of %" PRIu64 " bytes; give a larger --error",
            plan.bytes);
    return sketch;
}

/* ---- Lines ------------------------------------------------------------- */

typedef struct counting {
    top *top;
    const key_format *format;
    uint64_t lines;
    const job *job; /* at hand */
    buffer joined;
} counting;

static void take_batch(void *ctx, job *j)
{
    const batch *b = &j->batch;
    top_line lines[BATCH_LINES];
    size_t n = 0;

    (void)ctx;
    for (size_t i = 0; i < b->n; i++)
        if (!(b->keyless[i / 64] >> i % 64 & 1))
            lines[n++] = (top_line){ b->keys[i], (uint64_t)(b->start[i] - j->text.bytes) };
    buffer_append(&j->out, lines, n * sizeof *lines);
}

/* Lines without a key are not asked for. */
static span text_at(void *ctx, uint64_t at)
{
    counting *c = ctx;
    const buffer *text = &c->job->text;
    span found;

    c->joined.size = 0;
    (void)key_text(&found, c->format, text->bytes + at, text->bytes + text->size, &c->joined);
    return found;
}

static void finish_chunk(void *ctx, job *j)
{
    counting *c = ctx;
    top_chunk chunk = { .lines = (const void *)j->out.bytes,
                        .n = j->out.size / sizeof(top_line),
                        .text = text_at,
                        .ctx = c };

    c->job = j;
    c->lines += chunk.n;
    top_take(c->top, &chunk);
}

/* ---- Results ----------------------------------------------------------- */

static void print_text(const candidate *best, size_t n, unsigned char end)
{
    for (size_t i = 0; i < n; i++) {
        printf("%" PRIu64 "\t%" PRIu64 "\t", best[i].count, best[i].count - best[i].extra);
        fwrite(best[i].text, 1, best[i].size, stdout);
        putchar(end);
    }
}

static void print_json(const counting *c, const candidate *best, size_t n)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_count(&j, "lines", c->lines);
    json_count(&j, "others_at_most", top_floor(c->top));
    json_open(&j, "top", '[');
    for (size_t i = 0; i < n; i++) {
        json_open(&j, NULL, '{');
        json_count(&j, "count", best[i].count);
        json_count(&j, "at_least", best[i].count - best[i].extra);
        json_bytes(&j, "line", best[i].text, best[i].size);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static void say_doubts(const top *t, const candidate *best, size_t shown)
{
    uint64_t missing = top_doubt(t, shown);
    size_t cut = 0;

    for (size_t i = 0; i < shown; i++)
        cut += best[i].is_cut;
    if (cut > 0)
        say("%zu lines are longer than %d bytes and shown cut", cut, TOP_TEXT_MAX);
    if (missing > 0)
        say("a line that came up to %" PRIu64 " times may be missing; a smaller --error or more "
            "--memory tells more",
            missing);
}

static int run(args *a)
{
    request r = { .spec = TAMIS_SPEC(), .source = source_default(), .k = DEFAULT_K };
    counting c = { 0 };
    pipeline p = { .take_batch = take_batch, .finish_chunk = finish_chunk, .ctx = &c };
    size_t n;

    read_options(&r, a);
    tamis *sketch = new_sketch(&r.spec);
    c.top = top_new(sketch, candidates_of(&r));
    c.format = &r.source.format;
    pipeline_run(&p, &r.source);
    const candidate *best = top_rank(c.top, &n);
    size_t shown = n < r.k ? n : (size_t)r.k;
    if (r.as_json)
        print_json(&c, best, shown);
    else
        print_text(best, shown, r.source.format.end);
    say_doubts(c.top, best, shown);
    top_free(c.top);
    buffer_free(&c.joined);
    tamis_free(sketch);
    return shown > 0 ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 'n', "count", "N", "how many lines to print (default: 20)", TO_COUNT(request, k, 1, K_MAX) },
    { 0, "error", "E", "how far the sketch may be off, as a share of all lines (1e-5)",
      TO_ERROR(request, spec.error) },
    { 0, "memory", "SIZE", "memory it may take: 64M, 1G (default: what --error needs)",
      TO_SIZE(request, memory) },
    { 0, "hash", "HASH", "how lines become keys: fast (default), keyed or raw",
      TO_HASH(request, spec.hasher) },
    { 0, "json", NULL, "print JSON", TO_FLAG(request, as_json) },
    { .included = quiet_options },
    OPTIONS(key_options, request, source),
    { 0 },
};

const command cmd_top = { "top", help_top, options, .run = run };
