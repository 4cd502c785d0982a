/* queries.c - what a store is asked for. */
#include "guard/queries.h"

#include <string.h>

/* ---- Reading ----------------------------------------------------------- */

typedef struct reading {
    queries *queries;
    const source *source;
} reading;

static void append_query(buffer *to, span text)
{
    uint64_t size = text.size;

    buffer_append(to, &size, sizeof size);
    buffer_append(to, text.at, text.size);
}

static void append_url(job *j, span text)
{
    buffer url = { 0 };
    bool is_url = url_normalise(&url, text);

    j->selected += !is_url;
    append_query(&j->out, is_url ? (span){ url.bytes, url.size } : text);
    buffer_free(&url);
}

/* Of each line that has a key, its size and the text. */
static void keep_texts(void *ctx, job *j)
{
    const reading *r = ctx;
    batch *b = &j->batch;
    span text;

    for (size_t i = 0; i < b->n; i++) {
        if (!key_text(&text, &r->source->format, b->start[i], b->start[i + 1], &b->joined))
            continue;
        if (r->queries->are_urls)
            append_url(j, text);
        else
            append_query(&j->out, text);
    }
}

static void add_texts(void *ctx, job *j)
{
    queries *q = ((reading *)ctx)->queries;
    const char *at = j->out.bytes, *end = at + j->out.size;
    uint64_t size, stop;

    for (; at < end; at += size) {
        memcpy(&size, at, sizeof size);
        at += sizeof size;
        buffer_append(&q->text, at, (size_t)size);
        stop = q->text.size;
        buffer_append(&q->ends, &stop, sizeof stop);
        q->n++;
    }
    q->no_urls += j->selected;
}

void queries_read(queries *q, const source *s)
{
    reading r = { .queries = q, .source = s };
    const pipeline p = { .take_batch = keep_texts, .finish_chunk = add_texts, .ctx = &r };

    pipeline_run(&p, s);
}

void queries_free(queries *q)
{
    buffer_free(&q->text);
    buffer_free(&q->ends);
}

/* ---- Asking ------------------------------------------------------------ */

void queries_open(const queries *q, uint64_t i, query_keys *keys)
{
    const uint64_t *ends = (const void *)q->ends.bytes;
    uint64_t start = i > 0 ? ends[i - 1] : 0;
    span text = { q->text.bytes + start, (size_t)(ends[i] - start) };

    if (q->are_urls)
        url_split(&keys->parts, text);
    else
        keys->parts = (url_parts){ .url = text };
    keys->n = url_count(&keys->parts);
}

span queries_key(query_keys *keys, size_t i)
{
    return url_part(&keys->parts, i, &keys->scratch);
}
