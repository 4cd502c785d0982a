/* queries.c - what a store is asked for. */
#include "queries.h"

#include <string.h>

/* ---- Reading ----------------------------------------------------------- */

typedef struct reading {
    queries *queries;
    const source *source;
} reading;

/* With the size or the end of a query: it is looked up as it is. */
#define AS_IT_IS (UINT64_C(1) << 63)

static void append_query(buffer *to, span text, uint64_t mark)
{
    uint64_t size = text.size | mark;

    buffer_append(to, &size, sizeof size);
    buffer_append(to, text.at, text.size);
}

static void append_url(job *j, span text)
{
    buffer url = { 0 };
    bool is_url = url_normalise(&url, text);

    j->selected += !is_url;
    if (is_url)
        append_query(&j->out, (span){ url.bytes, url.size }, 0);
    else
        append_query(&j->out, text, AS_IT_IS);
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
            append_query(&j->out, text, AS_IT_IS);
    }
}

static void add_texts(void *ctx, job *j)
{
    queries *q = ((reading *)ctx)->queries;
    const char *at = j->out.bytes, *end = at + j->out.size;
    uint64_t size, stop;

    for (; at < end; at += size & ~AS_IT_IS) {
        memcpy(&size, at, sizeof size);
        at += sizeof size;
        buffer_append(&q->text, at, (size_t)(size & ~AS_IT_IS));
        stop = q->text.size | (size & AS_IT_IS);
        buffer_append(&q->ends, &stop, sizeof stop);
        q->n++;
    }
    q->no_urls += j->selected;
}

void queries_read(queries *q, source *s)
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
    uint64_t start = i > 0 ? ends[i - 1] & ~AS_IT_IS : 0;
    span text = { q->text.bytes + start, (size_t)((ends[i] & ~AS_IT_IS) - start) };

    keys->parts.url = text;
    keys->parts.n_hosts = keys->parts.n_paths = 0;
    if (!(ends[i] & AS_IT_IS))
        url_split(&keys->parts, text);
    keys->n = url_count(&keys->parts);
}

span queries_key(query_keys *keys, size_t i)
{
    return url_part(&keys->parts, i, &keys->scratch);
}
