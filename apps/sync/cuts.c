/* cuts.c - a file as chunks.
 *
 * A larger chunk ends where one of the smallest ends whose hash says so, or after four times as
 * many as on average: it is found by content as well. */
#include <stdlib.h>
#include <string.h>

#include "cuts.h"
#include "files/file_read.h"
#include "term/message.h"

enum { PIECE = 1 << 17 };

cutter cutter_new(const uint8_t secret[16], unsigned scale)
{
    uint32_t mean = (uint32_t)CUTS_MEAN << scale;
    const chunks_spec spec = { .least = mean / 4, .mean = mean, .most = mean * 4 };
    cutter c = { .hasher = { .hash = TAMIS_KEYED }, .most = spec.most };

    memcpy(c.hasher.secret, secret, sizeof c.hasher.secret);
    (void)chunks_begin(&c.chunks, &spec, secret); /* there are such chunks for each scale */
    return c;
}

/* ---- The smallest ------------------------------------------------------ */

static void *grown(void *array, size_t n, size_t size)
{
    void *p = reallocarray(array, n, size);

    if (!p)
        die(CODE_MEMORY, "out of memory for %zu chunks", n);
    return p;
}

static void add_chunk(cuts *to, const cutter *c, const uint8_t *bytes, size_t size)
{
    if (to->n == to->room) {
        to->room = to->room * 3 / 2 + 64;
        to->hashes = grown(to->hashes, to->room, sizeof *to->hashes);
        to->sizes = grown(to->sizes, to->room, sizeof *to->sizes);
    }
    to->hashes[to->n] = tamis_hasher_key(&c->hasher, bytes, size);
    to->sizes[to->n++] = (uint32_t)size;
}

cuts cuts_of(const cutter *c, int fd, const char *path, uint64_t size)
{
    cuts all = { 0 };
    size_t held = 0, looked = 0, room = PIECE + c->most;
    uint8_t *bytes = grown(NULL, room, 1);
    chunk now = { 0 };

    for (uint64_t at = 0; at < size;) {
        size_t piece = size - at < PIECE ? (size_t)(size - at) : PIECE;
        size_t got = file_read(fd, path, bytes + held, piece, at);
        if (got == 0)
            break;
        at += got;
        held += got;
        size_t first = 0;
        while (looked < held) {
            bool is_cut;
            looked += chunks_take(&c->chunks, &now, bytes + looked, held - looked, &is_cut);
            if (!is_cut)
                break;
            add_chunk(&all, c, bytes + first, looked - first);
            first = looked;
        }
        held -= first;
        looked -= first;
        memmove(bytes, bytes + first, held);
    }
    if (held > 0)
        add_chunk(&all, c, bytes, held);
    free(bytes);
    return all;
}

void cuts_free(cuts *c)
{
    free(c->hashes);
    free(c->sizes);
    *c = (cuts){ 0 };
}

/* ---- Larger ones ------------------------------------------------------- */

typedef struct twin {
    uint64_t hash;
    size_t i;
} twin;

static int compare_twins(const void *a, const void *b)
{
    const twin *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

static twin *sorted_twins(const chunk_list *l)
{
    twin *twins = grown(NULL, l->n + 1, sizeof *twins);

    for (size_t i = 0; i < l->n; i++)
        twins[i] = (twin){ l->keys[i], i };
    qsort(twins, l->n, sizeof *twins, compare_twins);
    return twins;
}

static bool are_twins(const twin *twins, size_t n, size_t i, size_t j)
{
    return i < n && j < n && twins[i].hash == twins[j].hash;
}

/* Chunks that are equal are told apart by the ones before them. If they were counted only, one that
 * is taken out would change the numbers of those after it. */
static void tell_by_neighbour(const cutter *c, chunk_list *l)
{
    twin *twins = sorted_twins(l);
    uint64_t *hashes = grown(NULL, l->n + 1, sizeof *hashes);

    hashes[0] = 0; /* before the first */
    for (size_t i = 0; i < l->n; i++)
        hashes[i + 1] = l->keys[i];
    for (size_t i = 0; i < l->n; i++)
        if (are_twins(twins, l->n, i, i + 1) || (i > 0 && are_twins(twins, l->n, i, i - 1)))
            l->keys[twins[i].i] =
                tamis_hasher_key(&c->hasher, &hashes[twins[i].i], 2 * sizeof *hashes);
    free(hashes);
    free(twins);
}

/* Those that are still equal are counted. */
static void tell_by_number(const cutter *c, chunk_list *l, uint64_t file)
{
    twin *twins = sorted_twins(l);
    uint64_t before = 0;

    for (size_t i = 0; i < l->n; i++) {
        before = i > 0 && are_twins(twins, l->n, i, i - 1) ? before + 1 : 0;
        const uint64_t whole[3] = { twins[i].hash, before, file };
        l->keys[twins[i].i] = tamis_hasher_key(&c->hasher, whole, sizeof whole);
    }
    free(twins);
}

chunk_list cuts_level(const cutter *c, const cuts *of, unsigned level, uint64_t file)
{
    uint64_t mask = (UINT64_C(1) << 2 * level) - 1;
    chunk_list l = { .keys = grown(NULL, of->n + 1, sizeof *l.keys),
                     .sizes = grown(NULL, of->n + 1, sizeof *l.sizes) };

    for (size_t i = 0; i < of->n;) {
        size_t first = i;
        uint64_t size = 0;
        do
            size += of->sizes[i];
        while ((of->hashes[i++] & mask) != 0 && i < of->n && i - first < 4 * (mask + 1));
        l.sizes[l.n] = size;
        l.keys[l.n++] =
            tamis_hasher_key(&c->hasher, of->hashes + first, (i - first) * sizeof *of->hashes);
    }
    tell_by_neighbour(c, &l);
    tell_by_number(c, &l, file);
    return l;
}

void chunk_list_free(chunk_list *l)
{
    free(l->keys);
    free(l->sizes);
    *l = (chunk_list){ 0 };
}
