/* items.c - lines to patterns with their windows, in order. */
#include <stdlib.h>

#include "items.h"
#include "term/array.h"
#include "term/message.h"

/* ---- Lines ------------------------------------------------------------- */

static size_t count_lines(const buffer *text, unsigned char end)
{
    size_t n = 0;

    for (const char *at = text->bytes, *stop = at + text->size; at < stop; at++, n++)
        at = memchr(at, end, (size_t)(stop - at));
    return n;
}

static unsigned class_of(const match_index *x, size_t size)
{
    unsigned class = CLASSES - 1;

    while (x->classes[class].size > size)
        class --;
    return class;
}

static void take_line(item_list *l, match_index *x, const char *at, size_t size)
{
    if (size == 0) {
        x->empty++;
        return;
    }
    if (size >= UINT32_MAX)
        die(CODE_LIMIT, "match: a pattern has 4 GiB or more");
    x->longest = size > x->longest ? size : x->longest;
    l->items[l->n++] =
        (item){ .at = at, .size = (uint32_t)size, .class = (uint8_t)class_of(x, size) };
}

static void take_lines(item_list *l, match_index *x, const pattern_format *format)
{
    const char *at = x->bytes, *stop = at + x->given.size;

    while (at < stop) {
        const char *end = memchr(at, format->end, (size_t)(stop - at));
        size_t size = (size_t)(end - at);

        take_line(l, x, at, size - (format->strips_cr && size > 0 && end[-1] == '\r'));
        at = end + 1;
    }
}

/* ---- Windows ----------------------------------------------------------- */

/* How often windows and bytes come in all patterns. */
typedef struct chooser {
    unsigned shift;  /* from a hash to a counter */
    uint8_t *counts; /* which stop at 255 */
    uint64_t bytes[256];
} chooser;

/* Of a window, less is rarer: first how often it comes, then how common its bytes are. */
typedef struct rarity {
    uint8_t count;
    uint64_t bytes;
} rarity;

static size_t last_offset(const match_index *x, const item *i)
{
    size_t last = i->size - x->classes[i->class].size;

    return last < OFFSET_MAX ? last : OFFSET_MAX;
}

static void count_windows(chooser *c, const match_index *x, const item *i)
{
    for (size_t at = 0, last = last_offset(x, i); at <= last; at++) {
        uint8_t *count =
            c->counts + (window_hash(&x->classes[i->class], x->factor, i->at + at) >> c->shift);

        *count = (uint8_t)(*count + (*count < UINT8_MAX));
        c->bytes[(unsigned char)i->at[at]]++;
    }
}

static void choose_window(const chooser *c, const match_index *x, item *i)
{
    const window_class *class = &x->classes[i->class];
    const unsigned char *bytes = (const unsigned char *)i->at;
    rarity best = { UINT8_MAX, UINT64_MAX };
    uint64_t sum = 0;

    for (size_t at = 0; at < class->size; at++)
        sum += c->bytes[bytes[at]];
    for (size_t at = 0, last = last_offset(x, i);; at++) {
        uint64_t hash = window_hash(class, x->factor, i->at + at);
        uint8_t count = c->counts[hash >> c->shift];

        if (count < best.count || (count == best.count && sum < best.bytes)) {
            best = (rarity){ count, sum };
            i->hash = hash;
            i->offset = (uint8_t)at;
        }
        if (at == last)
            return;
        sum += c->bytes[bytes[at + class->size]] - c->bytes[bytes[at]];
    }
}

/* A counter for each byte of the patterns is one for each window, about. */
static void choose_windows(item_list *l, const match_index *x)
{
    chooser c = { 0 };
    unsigned bits = 12;

    while (bits < 25 && x->given.size >> bits > 0)
        bits++;
    c.shift = 64 - bits;
    c.counts = array_new((size_t)1 << bits, 1, "bytes of patterns");
    for (size_t i = 0; i < l->n; i++)
        count_windows(&c, x, &l->items[i]);
    for (size_t i = 0; i < l->n; i++)
        choose_window(&c, x, &l->items[i]);
    free(c.counts);
}

/* ---- Order ------------------------------------------------------------- */

static int compare_bytes(const item *a, const item *b)
{
    int order = memcmp(a->at, b->at, a->size < b->size ? a->size : b->size);

    if (order)
        return order;
    return a->size != b->size ? (a->size > b->size) - (a->size < b->size)
                              : (a->at > b->at) - (a->at < b->at);
}

static int compare_items(const void *left, const void *right)
{
    const item *a = left, *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->offset != b->offset ? a->offset - b->offset : compare_bytes(a, b);
}

/* Buckets of a class, as a power of two: those of eight items or so are sorted in the cache. */
static unsigned bucket_bits(size_t n)
{
    unsigned bits = 0;

    while (bits < 20 && n >> bits > 8)
        bits++;
    return bits;
}

static size_t bucket_of(const item *i, unsigned bits)
{
    return ((size_t)i->class << bits) + (bits ? (size_t)(i->hash >> (64 - bits)) : 0);
}

static void sort_items(item_list *l)
{
    unsigned bits = bucket_bits(l->n);
    size_t buckets = (size_t)CLASSES << bits;
    size_t *ends = array_new(buckets + 1, sizeof *ends, "patterns");
    item *sorted = array_new(l->n, sizeof *sorted, "patterns");

    for (size_t i = 0; i < l->n; i++)
        ends[bucket_of(&l->items[i], bits) + 1]++;
    for (size_t b = 0; b < buckets; b++)
        ends[b + 1] += ends[b];
    for (size_t i = 0; i < l->n; i++)
        sorted[ends[bucket_of(&l->items[i], bits)]++] = l->items[i];
    for (size_t b = 0, first = 0; b < buckets; first = ends[b++])
        qsort(sorted + first, ends[b] - first, sizeof *sorted, compare_items);
    for (size_t class = 0; class < CLASSES; class ++)
        l->ends[class] = ends[((class + 1) << bits) - 1];
    free(ends);
    free(l->items);
    l->items = sorted;
}

void items_make(item_list *l, match_index *x, const pattern_format *format)
{
    size_t lines = count_lines(&x->given, format->end);

    if (lines > PATTERNS_MAX)
        die(CODE_LIMIT, "match: %zu patterns are more than the limit, %d", lines, PATTERNS_MAX);
    *l = (item_list){ .items = array_new(lines, sizeof *l->items, "patterns") };
    take_lines(l, x, format);
    choose_windows(l, x);
    sort_items(l);
}
