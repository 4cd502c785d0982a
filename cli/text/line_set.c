/* line_set.c - a set of lines in memory, each with a key. */
#include <stdlib.h>
#include <string.h>

#include "line_set.h"
#include "reader.h"
#include "term/array.h"

void line_set_hash_by(line_set *s, const uint8_t secret[16])
{
    s->keys = s->other = (tamis_hasher){ .hash = TAMIS_KEYED };
    memcpy(s->keys.secret, secret, sizeof s->keys.secret);
    for (size_t i = 0; i < sizeof s->other.secret; i++)
        s->other.secret[i] = secret[i] ^ 0xa5;
}

void line_set_free(line_set *s)
{
    buffer_free(&s->text);
    free(s->lines);
    s->lines = NULL;
    s->n = 0;
}

void line_set_read(line_set *s, const char *path, bool takes_packed)
{
    reader_all(&s->text, path, s->end, takes_packed);
}

/* ---- Lines ------------------------------------------------------------- */

span line_set_line(const line_set *s, const line_ref *line)
{
    const char *at = s->text.bytes + line->at;
    const char *end = memchr(at, s->end, s->text.size - line->at);

    return (span){ at, (size_t)(end - at) };
}

uint64_t line_set_key(const line_set *s, span line)
{
    return tamis_hasher_key(&s->keys, line.at, line.size);
}

uint64_t line_set_other(const line_set *s, span line)
{
    return tamis_hasher_key(&s->other, line.at, line.size);
}

bool line_next(const buffer *text, unsigned char end, size_t *at, span *line)
{
    size_t left = text->size - *at;

    if (left == 0)
        return false;
    const char *start = text->bytes + *at;
    const char *stop = memchr(start, end, left);
    *line = (span){ start, (size_t)(stop - start) };
    *at += line->size + 1;
    return true;
}

int span_compare(span a, span b)
{
    int order = memcmp(a.at, b.at, a.size < b.size ? a.size : b.size);

    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* ---- Index ------------------------------------------------------------- */

static size_t count_lines(const line_set *s)
{
    const char *at = s->text.bytes, *end = s->text.size ? at + s->text.size : at;
    size_t n = 0;

    for (; at < end; n++)
        at = (const char *)memchr(at, s->end, (size_t)(end - at)) + 1;
    return n;
}

static int compare_keys(const void *a, const void *b)
{
    const line_ref *x = a, *y = b;

    return x->key == y->key ? (x->at > y->at) - (x->at < y->at) : x->key < y->key ? -1 : 1;
}

/* Drops lines that came before. */
static bool keep_first_copies(line_set *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n; i++) {
        span line = line_set_line(s, &s->lines[i]);

        if (kept > 0 && s->lines[kept - 1].key == s->lines[i].key) {
            if (span_compare(line_set_line(s, &s->lines[kept - 1]), line) != 0)
                return false;
            continue;
        }
        s->lines[kept++] = s->lines[i];
        s->sum += line_set_other(s, line);
    }
    s->n = kept;
    return true;
}

bool line_set_index(line_set *s)
{
    size_t at = 0;

    s->n = count_lines(s);
    s->sum = 0;
    free(s->lines);
    s->lines = array_new(s->n, sizeof *s->lines, "lines");
    for (size_t i = 0; i < s->n; i++) {
        s->lines[i].at = at;
        span line = line_set_line(s, &s->lines[i]);
        s->lines[i].key = line_set_key(s, line);
        at += line.size + 1;
    }
    qsort(s->lines, s->n, sizeof *s->lines, compare_keys);
    return keep_first_copies(s);
}

const line_ref *line_set_find(const line_set *s, uint64_t key)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->lines[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n && s->lines[low].key == key ? &s->lines[low] : NULL;
}

/* ---- Order ------------------------------------------------------------- */

/* A line with its first bytes, which tell the order of most. */
typedef struct sort_item {
    uint64_t first; /* the first eight, the first one on top; zeros follow the last */
    line_ref ref;
} sort_item;

static int compare_items(const void *a, const void *b, void *set)
{
    const sort_item *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return span_compare(line_set_line(set, &x->ref), line_set_line(set, &y->ref));
}

static uint64_t first_bytes(span line)
{
    uint64_t first = 0;

    for (size_t i = 0; i < 8; i++)
        first = first << 8 | (i < line.size ? (uint8_t)line.at[i] : 0);
    return first;
}

void line_set_sort(const line_set *s, line_ref *lines, size_t n)
{
    sort_item *items = array_new(n, sizeof *items, "lines to sort");

    for (size_t i = 0; i < n; i++)
        items[i] = (sort_item){ first_bytes(line_set_line(s, &lines[i])), lines[i] };
    qsort_r(items, n, sizeof *items, compare_items, (void *)(uintptr_t)s);
    for (size_t i = 0; i < n; i++)
        lines[i] = items[i].ref;
    free(items);
}

void line_set_write(const line_set *s, const line_ref *lines, size_t n, buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        span line = line_set_line(s, &lines[i]);
        buffer_append(out, line.at, line.size + 1);
    }
}
