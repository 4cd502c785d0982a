/* cmd_count.c - tamis count: how often each line was added to a filter. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "filters/store.h"
#include "term/message.h"
#include "term/output.h"
#include "text/json.h"

typedef struct counting {
    source source;
    const tamis *filter;
    uint64_t ceiling; /* of counts; 2^64 - 1: none */
    bool as_json, found;
    json json;
} counting;

/* A line and its count, for JSON, which is printed in turn. */
typedef struct record {
    uint64_t count, size;
} record;

static void append_text(buffer *out, const counting *c, uint64_t count)
{
    char text[24];

    buffer_append(out, text,
                  (size_t)snprintf(text, sizeof text, "%" PRIu64 "%s\t", count,
                                   count >= c->ceiling ? "+" : ""));
}

static void take_batch(void *ctx, job *j)
{
    const counting *c = ctx;
    const batch *b = &j->batch;
    uint64_t counts[BATCH_LINES];

    tamis_count_many(c->filter, counts, b->keys, b->n);
    for (size_t i = 0; i < b->n; i++) {
        bool is_keyless = b->keyless[i / 64] >> i % 64 & 1;
        record r = { is_keyless ? 0 : counts[i], (uint64_t)(b->start[i + 1] - b->start[i]) };

        j->selected += r.count > 0;
        if (c->as_json)
            buffer_append(&j->out, &r, sizeof r);
        else
            append_text(&j->out, c, r.count);
        buffer_append(&j->out, b->start[i], (size_t)r.size);
    }
}

static void print_json(counting *c, const buffer *records)
{
    const char *at = records->bytes, *end = at + records->size;

    for (record r; at < end; at += r.size) {
        memcpy(&r, at, sizeof r);
        at += sizeof r;
        json_open(&c->json, NULL, '{');
        /* The line end follows the text, and is no part of a character. */
        json_bytes(&c->json, "line", at, (size_t)r.size - 1);
        json_count(&c->json, "count", r.count);
        json_bool(&c->json, "at_ceiling", r.count >= c->ceiling);
        json_close(&c->json, '}');
    }
}

static void finish_chunk(void *ctx, job *j)
{
    counting *c = ctx;

    c->found |= j->selected > 0;
    if (c->as_json)
        print_json(c, &j->out);
    else
        output_write(j->out.bytes, j->out.size);
}

static int run(args *a)
{
    counting c = { .source = source_default() };
    pipeline p = { .take_batch = take_batch, .finish_chunk = finish_chunk, .ctx = &c };
    tamis *f;

    args_read(a, &c);
    const char *path = source_operands(&c.source, a, "the FILE of a filter");
    c.filter = f = store_load(path);
    c.ceiling = tamis_plan_of(f)->ceiling;
    c.source.format.hasher = tamis_plan_of(f)->hasher;
    if (c.as_json)
        json_open(&c.json, NULL, '[');
    pipeline_run(&p, &c.source);
    if (c.as_json)
        json_close(&c.json, ']');
    tamis_free(f);
    return c.found ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 0, "json", NULL, "print JSON: an array with one object per line",
      TO_FLAG(counting, as_json) },
    OPTIONS(key_options, counting, source),
    { 0 },
};

const command cmd_count = { "count", help_count, options, .run = run };
