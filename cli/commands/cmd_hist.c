/* cmd_hist.c - tamis hist: how many keys came how often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "filters/store.h"
#include "term/array.h"
#include "term/buffer.h"
#include "term/message.h"
#include "text/abilities.h"
#include "text/json.h"

/* Counts up to this have a place of their own, and the few above are kept one by one. */
enum { LOW_COUNTS = 1 << 16 };

typedef struct histogram {
    uint64_t *low; /* keys with that count */
    buffer high;   /* other counts, as uint64_t */
    uint64_t keys;
    bool as_json;
    json json;
} histogram;

static bool take_one(void *ctx, uint64_t key, uint64_t count)
{
    histogram *h = ctx;

    (void)key;
    h->keys++;
    if (count < LOW_COUNTS)
        h->low[count]++;
    else
        buffer_append(&h->high, &count, sizeof count);
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void print_bar(histogram *h, uint64_t count, uint64_t keys)
{
    if (!h->as_json) {
        printf("%" PRIu64 "\t%" PRIu64 "\n", count, keys);
        return;
    }
    json_open(&h->json, NULL, '{');
    json_count(&h->json, "count", count);
    json_count(&h->json, "keys", keys);
    json_close(&h->json, '}');
}

static void print_all(histogram *h)
{
    uint64_t *high = (void *)h->high.bytes;
    size_t n = h->high.size / sizeof *high;

    for (uint64_t count = 0; count < LOW_COUNTS; count++)
        if (h->low[count])
            print_bar(h, count, h->low[count]);
    if (n > 0)
        qsort(high, n, sizeof *high, compare);
    for (size_t i = 0, first; i < n;) {
        for (first = i; i < n && high[i] == high[first];)
            i++;
        print_bar(h, high[first], i - first);
    }
}

static int run(args *a)
{
    histogram h = { .low = array_new(LOW_COUNTS, sizeof *h.low, "counts") };
    const char *path;
    tamis *f;

    args_read(a, &h);
    path = args_operands(a, 1, 1, "the FILE of a filter")[0];
    f = store_map_whole(path);
    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_LIST, path);
    tamis_status status = tamis_list(f, take_one, &h);
    if (status)
        die_status("list", path, status);
    if (h.as_json)
        json_open(&h.json, NULL, '[');
    print_all(&h);
    if (h.as_json)
        json_close(&h.json, ']');
    buffer_free(&h.high);
    free(h.low);
    tamis_free(f);
    return h.keys > 0 ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 0, "json", NULL, "print JSON: an array of counts and keys", TO_FLAG(histogram, as_json) },
    { 0 },
};

const command cmd_hist = { "hist", help_hist, options, .run = run };
