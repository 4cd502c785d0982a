/* make.c - filters from all their keys at once: a simple stand-in, replaced by the engine. */
#include "core/make.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/parts.h"
#include "base/sort.h"
#include "core/memory.h"
#include "core/plan.h"

static unsigned make_part_bits(const tamis *f)
{
    return f->ops.traits & TAMIS_TRAIT_ONE_PART ? 0 : part_bits(f->plan.capacity);
}

static tamis_status make_stage(tamis *f, enum tamis_stage stage, tamis_entry *e, size_t n,
                               size_t *distinct, bool plain)
{
    unsigned bits = make_part_bits(f);
    size_t parts = (size_t)1 << bits, at = 0;
    tamis_status status = TAMIS_OK;

    *distinct = 0;
    for (size_t part = 0; part < parts && !status; part++) {
        size_t end = at;
        while (end < n && part_of(e[end].hash, bits) == part)
            end++;
        size_t m = end - at;
        void *scratch = malloc(f->ops.scratch(&f->plan, stage, m) + 64);
        uint64_t *copy = malloc((m + 1) * 16);
        for (size_t i = 0; i < m; i++)
            if (plain)
                copy[i] = e[at + i].hash;
            else
                ((tamis_entry *)(void *)copy)[i] = e[at + i];
        uint8_t *to = (uint8_t *)f->payload + part * (size_t)(f->plan.bytes >> bits);
        status =
            f->ops.solve(f, stage, to, copy, &m, (uint8_t *)scratch + (-(uintptr_t)scratch & 63));
        *distinct += m;
        free(copy);
        free(scratch);
        at = end;
    }
    return status;
}

static size_t make_unique(tamis_entry *e, size_t n)
{
    size_t kept = n > 0;

    tamis__sort_pairs(e, n);
    for (size_t i = 1; i < n; i++)
        if (e[i].hash != e[kept - 1].hash)
            e[kept++] = e[i];
        else
            e[kept - 1].value |= e[i].value;
    return kept;
}

static tamis_status make_once(tamis *f, const make_keys *k)
{
    bool others = f->ops.traits & TAMIS_TRAIT_TAKES_OTHERS,
         inverted = f->plan.flags & TAMIS_PLAN_INVERTED;
    tamis_entry *e = malloc((k->n + k->m + 1) * sizeof *e);
    size_t n = 0, distinct;
    tamis_status status;

    for (size_t i = 0; i < k->n; i++)
        e[n++] = (tamis_entry){ hash_key(k->keys[i], f->salt), k->values ? k->values[i] : 1 };
    if (!others) {
        tamis__sort_pairs(e, n);
        size_t u = n > 0;
        for (size_t i = 1; i < n; i++)
            u += e[i].hash != e[i - 1].hash;
        status = u > f->plan.capacity
                     ? TAMIS_NOMEM
                     : make_stage(f, TAMIS_STAGE_SIEVE, e, n, &distinct, !k->values);
        if (u > f->plan.capacity) {
            free(e);
            return TAMIS_CONFLICT + 100;
        }
        if (!status)
            f->count = distinct;
        free(e);
        return status;
    }
    for (size_t i = 0; i < k->m; i++)
        e[n++] = (tamis_entry){ hash_key(k->excluded[i], f->salt), 0 };
    n = make_unique(e, n);
    tamis_entry *s = malloc((n + 1) * sizeof *s);
    size_t m = 0, members = 0;
    for (size_t i = 0; i < n; i++) {
        members += e[i].value;
        if ((e[i].value == 1) != inverted)
            s[m++] = e[i];
    }
    if (members > f->plan.capacity) {
        free(s);
        free(e);
        return TAMIS_CONFLICT + 100;
    }
    status = make_stage(f, TAMIS_STAGE_SIEVE, s, m, &distinct, false);
    m = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t v;
        if ((e[i].value == 1) != inverted || f->ops.get(f, &v, unhash_key(e[i].hash, f->salt)))
            s[m++] = e[i];
    }
    if (!status)
        status = make_stage(f, TAMIS_STAGE_REST, s, m, &distinct, false);
    if (!status)
        f->count = members;
    free(s);
    free(e);
    return status;
}

tamis_status tamis__make(tamis *f, const make_keys *k)
{
    tamis_status status;
    size_t added;

    if (f->ops.traits & TAMIS_TRAIT_BUILDS_SETS) {
        uint64_t *h = malloc((k->n + 1) * 8);
        for (size_t i = 0; i < k->n; i++)
            h[i] = hash_key(k->keys[i], ~f->salt);
        size_t n = tamis__sort_unique(h, k->n);
        for (size_t i = 0; i < n; i++)
            h[i] = unhash_key(h[i], ~f->salt);
        status = tamis_add_many(f, &added, h, n);
        free(h);
        return status;
    }
    if (!f->ops.solve)
        return tamis_add_many(f, &added, k->keys, k->n);
    while ((status = make_once(f, k)) == TAMIS_FULL) {
        tamis_plan p = f->plan;
        if (tamis__plan_enlarge(&p))
            return TAMIS_FULL;
        if ((status = tamis__payload_replace(f, &p)))
            return status;
    }
    return (int)status > 100 ? TAMIS_FULL : status;
}
