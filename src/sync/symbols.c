/* symbols.c - the endless sequence of symbols of a set.
 *
 * Where the next symbol of each key is stands in an array of its own: most keys are in none of the
 * symbols that are asked for, and are passed by.
 *
 * Yang, Gilad, Alizadeh: Practical Rateless Set Reconciliation, 2024. */
#include <string.h>

#include "core/memory.h"
#include "sync/symbols.h"
#include "sync/walk.h"

struct tamis_symbols {
    uint64_t *next; /* of each key */
    walk *walks;
    size_t n;
    uint64_t made; /* symbols so far */
    uint8_t secret[16];
    tamis_allocator alloc;
};

static void *symbols_array(const tamis_allocator *a, size_t n, size_t size)
{
    size_t room = n ? n : 1;

    return room <= SIZE_MAX / size ? a->alloc(a->ctx, room * size) : NULL;
}

static void symbols_array_free(const tamis_allocator *a, void *array, size_t n, size_t size)
{
    if (array)
        a->free(a->ctx, array, (n ? n : 1) * size);
}

void tamis_symbols_free(tamis_symbols *s)
{
    if (!s)
        return;
    tamis_allocator a = s->alloc;
    symbols_array_free(&a, s->next, s->n, sizeof *s->next);
    symbols_array_free(&a, s->walks, s->n, sizeof *s->walks);
    a.free(a.ctx, s, sizeof *s);
}

tamis_status tamis_symbols_new(tamis_symbols **out, const uint64_t *keys, size_t n,
                               const uint8_t secret[16], const tamis_allocator *a)
{
    const tamis_allocator *by = a ? a : &tamis__default_allocator;
    tamis_symbols *s = by->alloc(by->ctx, sizeof *s);

    if (!s)
        return TAMIS_NOMEM;
    *s = (tamis_symbols){ .n = n, .alloc = *by };
    memcpy(s->secret, secret, sizeof s->secret);
    s->next = symbols_array(by, n, sizeof *s->next);
    s->walks = symbols_array(by, n, sizeof *s->walks);
    if (!s->next || !s->walks) {
        tamis_symbols_free(s);
        return TAMIS_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        s->walks[i] = walk_start(keys[i], walk_hash(keys[i], secret));
        s->next[i] = 0;
    }
    *out = s;
    return TAMIS_OK;
}

void tamis_symbols_next(tamis_symbols *s, tamis_symbol *out, size_t n)
{
    uint64_t end = s->made + n;

    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < s->n; i++) {
        if (s->next[i] >= end)
            continue;
        walk_through(&s->walks[i], out, s->made, end, 1);
        s->next[i] = s->walks[i].next;
    }
    s->made = end;
}

const uint8_t *tamis__symbols_secret(const tamis_symbols *s)
{
    return s->secret;
}
