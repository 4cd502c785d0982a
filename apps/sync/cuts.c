/* cuts.c - a file as chunks.
 *
 * A larger chunk ends where one of the smallest ends whose hash says so, or after four times as
 * many as on average: it is found by content as well. */
#include <stdlib.h>
#include <string.h>

#include "cuts.h"
#include "term/array.h"

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

static void add_chunk(cuts *to, const cutter *c, const uint8_t *bytes, size_t size)
{
    uint64_t hash = tamis_hasher_key(&c->hasher, bytes, size);
    uint32_t short_size = (uint32_t)size;

    buffer_append(&to->hashes, &hash, sizeof hash);
    buffer_append(&to->sizes, &short_size, sizeof short_size);
}

cuts cuts_of(const cutter *c, file_input *in)
{
    cuts all = { 0 };
    size_t held = 0, looked = 0, room = PIECE + c->most;
    uint8_t *bytes = array_new(room, 1, "bytes");
    chunk now = { 0 };

    for (size_t got; (got = file_next(in, bytes + held, PIECE)) > 0;) {
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
    buffer_free(&c->hashes);
    buffer_free(&c->sizes);
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
    twin *twins = array_new(l->n, sizeof *twins, "chunks");

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
    uint64_t *hashes = array_new(l->n + 1, sizeof *hashes, "chunks"); /* 0 before the first */

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
    const uint64_t *hashes = (const void *)of->hashes.bytes;
    const uint32_t *sizes = (const void *)of->sizes.bytes;
    size_t n = of->sizes.size / sizeof *sizes;
    chunk_list l = { .keys = array_new(n, sizeof *l.keys, "chunks"),
                     .sizes = array_new(n, sizeof *l.sizes, "chunks") };

    for (size_t i = 0; i < n;) {
        size_t first = i;
        uint64_t size = 0;
        do
            size += sizes[i];
        while ((hashes[i++] & mask) != 0 && i < n && i - first < 4 * (mask + 1));
        l.sizes[l.n] = size;
        l.keys[l.n++] = tamis_hasher_key(&c->hasher, hashes + first, (i - first) * sizeof *hashes);
    }
    tell_by_neighbour(c, &l);
    tell_by_number(c, &l, file);
    return l;
}

void chunk_list_keys(const chunk_list *l, buffer *keys)
{
    buffer_append(keys, l->keys, l->n * sizeof *l->keys);
}

void chunk_list_free(chunk_list *l)
{
    free(l->keys);
    free(l->sizes);
    *l = (chunk_list){ 0 };
}
