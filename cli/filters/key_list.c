/* key_list.c - a list of keys on disk, which tells for certain what is in it.
 *
 * Of each key there are two hashes, with secrets that nobody knows, as in 'tamis dedup --exact':
 * two of a billion keys have the same once in 10^20 runs. A raw key is kept as it is. They go to a
 * file without a name, which is mapped and sorted in place. Only what is in use has to be in
 * memory, however long the list is. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/scratch.h"
#include "key_list.h"
#include "spec.h"
#include "term/array.h"
#include "term/message.h"

enum { MARK_SIZE = 16 };

typedef struct mark {
    uint8_t bytes[MARK_SIZE]; /* in the order of memcmp() */
} mark;

struct key_list {
    const tamis *filter;
    key_format format;
    tamis_hasher hashers[2];
    int fd;
    mark *marks;
    uint64_t n, known; /* lines, and those that the filter knows */
};

static mark mark_of(const key_list *l, uint64_t key, span text)
{
    uint64_t words[2] = { key, 0 };
    mark m;

    for (size_t i = 0; i < 2 && l->format.hasher.hash != TAMIS_RAW; i++)
        words[i] = tamis_hasher_key(&l->hashers[i], text.at, text.size);
    memcpy(m.bytes, words, sizeof m.bytes);
    return m;
}

/* ---- Reading ----------------------------------------------------------- */

static void take_batch(void *ctx, job *j)
{
    const key_list *l = ctx;
    const batch *b = &j->batch;
    uint64_t hits[BATCH_LINES / 64];

    j->selected += tamis_has_many(l->filter, hits, b->keys, b->n);
    for (size_t i = 0; i < b->n; i++) {
        span text;

        /* A whole line is a key: there is always one, and nothing to join. */
        (void)key_text(&text, &l->format, b->start[i], b->start[i + 1], NULL);
        mark m = mark_of(l, b->keys[i], text);
        buffer_append(&j->out, &m, sizeof m);
    }
}

static void finish_chunk(void *ctx, job *j)
{
    key_list *l = ctx;

    scratch_write(l->fd, j->out.bytes, j->out.size, l->n * MARK_SIZE);
    l->n += j->out.size / MARK_SIZE;
    l->known += j->selected;
}

/* ---- Order ------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, MARK_SIZE);
}

/* Moves marks, the first `depth` bytes of which are the same, to those with the same next byte. */
static void deal(mark *marks, size_t n, size_t depth, size_t ends[256])
{
    size_t next[256] = { 0 };

    for (size_t i = 0; i < n; i++)
        next[marks[i].bytes[depth]]++;
    for (size_t byte = 0, sum = 0; byte < 256; byte++) {
        size_t count = next[byte];

        next[byte] = sum;
        ends[byte] = sum += count;
    }
    for (size_t byte = 0; byte < 256; byte++)
        while (next[byte] < ends[byte]) {
            mark *m = &marks[next[byte]], *to = &marks[next[m->bytes[depth]]++], moved = *m;

            *m = *to;
            *to = moved;
        }
}

/* Large lists are split until the parts fit in the cache: what is read from disk is read in order.
 */
static void sort(mark *marks, size_t n, size_t depth)
{
    enum { SMALL = 4096 };
    size_t ends[256];

    if (n <= SMALL && n > 0)
        qsort(marks, n, sizeof *marks, compare);
    if (n <= SMALL || depth == MARK_SIZE)
        return;
    deal(marks, n, depth, ends);
    for (size_t byte = 0, first = 0; byte < 256; first = ends[byte++])
        sort(marks + first, ends[byte] - first, depth + 1);
}

/* ---- Lists ------------------------------------------------------------- */

static void sort_on_disk(key_list *l)
{
    if (l->n == 0)
        return;
    l->marks = mmap(NULL, (size_t)l->n * MARK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
    if (l->marks == MAP_FAILED)
        die_errno("map a file in", scratch_folder());
    sort(l->marks, (size_t)l->n, 0);
}

key_list *key_list_read(const char *path, const source *like, const tamis *filter)
{
    key_list *l = array_new(1, sizeof *l, "a list");
    pipeline p = { .take_batch = take_batch, .finish_chunk = finish_chunk, .ctx = l };
    char *names[] = { (char *)(uintptr_t)path, NULL };
    source from = { .format = { .end = like->format.end,
                                .strips_cr = like->format.strips_cr,
                                .hasher = tamis_plan_of(filter)->hasher },
                    .names = names,
                    .threads = like->threads,
                    .takes_packed = like->takes_packed };

    l->filter = filter;
    l->format = from.format;
    for (size_t i = 0; i < 2; i++) {
        l->hashers[i].hash = TAMIS_KEYED;
        draw_secret(l->hashers[i].secret);
    }
    l->fd = scratch_open();
    pipeline_run(&p, &from);
    if (l->known < l->n)
        say("%s: %" PRIu64 " of %" PRIu64 " keys are not in the filter, which was made from "
            "another list; build it again",
            path, l->n - l->known, l->n);
    sort_on_disk(l);
    return l;
}

bool key_list_has(const key_list *l, uint64_t key, span text)
{
    mark m = mark_of(l, key, text);

    return l->n > 0 && bsearch(&m, l->marks, (size_t)l->n, sizeof m, compare);
}

void key_list_free(key_list *l)
{
    if (l->n > 0)
        munmap(l->marks, (size_t)l->n * MARK_SIZE);
    close(l->fd); /* nobody will read it again */
    free(l);
}
