/* cmd_get.c - tamis get: the values that came with keys. */
#include <stdio.h>

#include "commands.h"
#include "filters/store.h"
#include "term/message.h"
#include "term/output.h"
#include "text/abilities.h"

typedef struct getting {
    source source;
    const tamis *filter;
    bool mapped, found;
} getting;

static void append_line(buffer *out, const batch *b, size_t i, uint64_t value, unsigned char end)
{
    char text[24];
    int size = snprintf(text, sizeof text, "\t%" PRIu64, value);

    buffer_append(out, b->start[i], (size_t)(b->start[i + 1] - b->start[i]) - 1);
    buffer_append(out, text, (size_t)size);
    buffer_append(out, &end, 1);
}

static void take_batch(void *ctx, job *j)
{
    const getting *g = ctx;
    const batch *b = &j->batch;
    uint64_t hits[BATCH_LINES / 64], values[BATCH_LINES];

    tamis_get_many(g->filter, values, hits, b->keys, b->n);
    for (size_t i = 0; i < b->n; i++)
        if ((hits[i / 64] & ~b->keyless[i / 64]) >> i % 64 & 1) {
            append_line(&j->out, b, i, values[i], g->source.format.end);
            j->selected++;
        }
}

static void finish_chunk(void *ctx, job *j)
{
    getting *g = ctx;

    g->found |= j->selected > 0;
    output_write(j->out.bytes, j->out.size);
}

static int run(args *a)
{
    getting g = { .source = source_default() };
    pipeline p = { .take_batch = take_batch, .finish_chunk = finish_chunk, .ctx = &g };
    tamis *f;

    args_read(a, &g);
    const char *path = source_operands(&g.source, a, "the FILE of a filter");
    g.filter = f = (g.mapped ? store_map : store_load)(path);
    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_GET, path);
    g.source.format.hasher = tamis_plan_of(f)->hasher;
    pipeline_run(&p, &g.source);
    tamis_free(f);
    return g.found ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 0, "map", NULL, "map the filter instead of reading it", TO_FLAG(getting, mapped) },
    { .included = quiet_options },
    OPTIONS(key_options, getting, source),
    { 0 },
};

const command cmd_get = { "get", help_get, options, .run = run };
