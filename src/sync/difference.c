/* difference.c - what differs between two sets, found by peeling.
 *
 * Symbols of the other set minus those of this one hold only keys that differ. A symbol that holds
 * one key is pure: its check is the hash of its sum. That key is known then, and is taken out of
 * all its other symbols, of which some become pure. When symbol 0, which holds all, is empty,
 * nothing is left.
 *
 * How many there are is told by the counts, before any key is known. Of d keys that differ, u more
 * on the other side, symbol i holds each with probability p = 1 / (1 + i / 2): its count is u p on
 * average, with a variance of about d p (1 - p). Symbol 0 tells u.
 *
 * No set has more keys that differ than it takes symbols to find them. Symbols of somebody who
 * knows the secret and lies could make a key come and go for ever: that bound ends it. */
#include <math.h>
#include <string.h>

#include "core/list.h"
#include "core/memory.h"
#include "sync/symbols.h"
#include "sync/walk.h"

struct tamis_difference {
    tamis_symbols *own;
    list symbols; /* tamis_symbol: theirs minus own minus what was found */
    list pure;    /* uint64_t: symbols that seemed so, to be looked at */
    list walks;   /* walk of each key that was found */
    list signs;   /* int8_t: 1 if only the other side has it, -1 if only this one */
    list here, there;
    int64_t surplus;   /* of keys on the other side */
    double deviations; /* squares of those of the counts from what is expected, each of which is the
                          number of keys that differ on average */
    uint64_t n_deviations;
    bool is_corrupt;
    tamis_allocator alloc;
};

void tamis_difference_free(tamis_difference *d)
{
    if (!d)
        return;
    tamis_allocator a = d->alloc;
    list *lists[] = { &d->symbols, &d->pure, &d->walks, &d->signs, &d->here, &d->there };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        tamis__list_free(lists[i], &a);
    tamis_symbols_free(d->own);
    a.free(a.ctx, d, sizeof *d);
}

tamis_status tamis_difference_new(tamis_difference **out, tamis_symbols *here,
                                  const tamis_allocator *a)
{
    const tamis_allocator *by = a ? a : &tamis__default_allocator;
    tamis_difference *d = by->alloc(by->ctx, sizeof *d);

    if (!d) {
        tamis_symbols_free(here);
        return TAMIS_NOMEM;
    }
    *d = (tamis_difference){ .own = here,
                             .symbols = { .size = sizeof(tamis_symbol) },
                             .pure = { .size = sizeof(uint64_t) },
                             .walks = { .size = sizeof(walk) },
                             .signs = { .size = sizeof(int8_t) },
                             .here = { .size = sizeof(uint64_t) },
                             .there = { .size = sizeof(uint64_t) },
                             .alloc = *by };
    *out = d;
    return TAMIS_OK;
}

/* ---- Peeling ----------------------------------------------------------- */

/* 1 or -1: it may be pure. */
static int difference_count(const tamis_symbol *s)
{
    return (int8_t)(uint8_t)s->count;
}

static bool difference_is_single(const tamis_symbol *s)
{
    return difference_count(s) == 1 || difference_count(s) == -1;
}

static bool difference_is_empty(const tamis_symbol *s)
{
    return s->sum == 0 && s->check == 0 && s->count == 0;
}

/* Takes a key out of all symbols; those that may be pure then are put on the list. */
static tamis_status difference_take_out(tamis_difference *d, walk *w, int sign)
{
    tamis_symbol *symbols = d->symbols.items;

    for (; w->next < d->symbols.n; walk_on(w)) {
        tamis_symbol *s = &symbols[w->next];
        walk_apply(w, s, -sign);
        if (!difference_is_single(s))
            continue;
        if (!tamis__list_reserve(&d->pure, &d->alloc, 1))
            return TAMIS_NOMEM;
        list_push(&d->pure, &w->next, 1);
    }
    return TAMIS_OK;
}

static tamis_status difference_found(tamis_difference *d, uint64_t key, uint64_t hash, int sign)
{
    list *side = sign > 0 ? &d->there : &d->here;
    walk w = walk_start(key, hash);
    int8_t as_stored = (int8_t)sign;

    if (d->walks.n == d->symbols.n)
        return TAMIS_CORRUPT;
    if (!tamis__list_reserve(&d->walks, &d->alloc, 1) ||
        !tamis__list_reserve(&d->signs, &d->alloc, 1) || !tamis__list_reserve(side, &d->alloc, 1))
        return TAMIS_NOMEM;
    tamis_status status = difference_take_out(d, &w, sign);
    list_push(&d->walks, &w, 1);
    list_push(&d->signs, &as_stored, 1);
    list_push(side, &key, 1);
    return status;
}

static tamis_status difference_peel(tamis_difference *d)
{
    const uint8_t *secret = tamis__symbols_secret(d->own);
    tamis_status status = TAMIS_OK;

    while (!status && d->pure.n > 0) {
        uint64_t at = ((const uint64_t *)d->pure.items)[--d->pure.n];
        tamis_symbol s = ((const tamis_symbol *)d->symbols.items)[at];
        if (!difference_is_single(&s))
            continue;
        uint64_t hash = walk_hash(s.sum, secret);
        if ((hash & WALK_CHECK) == s.check)
            status = difference_found(d, s.sum, hash, difference_count(&s));
    }
    return status;
}

/* ---- Symbols ----------------------------------------------------------- */

double tamis_difference_estimate(const tamis_difference *d)
{
    double least = fabs((double)d->surplus) > (double)d->walks.n ? fabs((double)d->surplus)
                                                                 : (double)d->walks.n;
    double by_counts = d->n_deviations ? d->deviations / (double)d->n_deviations : 0;

    return by_counts > least ? by_counts : least;
}

/* Where counts deviate by more, 8 bits do not tell by how much: a quarter of what they hold. */
enum { DIFFERENCE_MOST = 32 };

static void difference_weigh(tamis_difference *d, uint64_t i, int64_t count)
{
    double whole = (double)i + 2, expected = (double)d->surplus * 2 / whole;
    /* Near it, and within the integers whatever the surplus is. */
    int64_t near = d->surplus / ((int64_t)i + 2) * 2;
    double off = (double)(int64_t)((uint64_t)count - (uint64_t)near);

    if (i >= TAMIS_SYMBOLS_FIRST) {
        if (tamis_difference_estimate(d) * 2 / whole > DIFFERENCE_MOST * DIFFERENCE_MOST)
            return;
        off = (int8_t)(uint8_t)((uint64_t)count - (uint64_t)near);
    }
    off += (double)near - expected;
    d->deviations += off * off * whole * whole / (2 * (double)i);
    d->n_deviations++;
}

/* Theirs minus own minus what was found before. */
static void difference_subtract(tamis_difference *d, const tamis_symbol *there, size_t n)
{
    tamis_symbol *fresh = (tamis_symbol *)d->symbols.items + d->symbols.n;
    walk *walks = d->walks.items;
    const int8_t *signs = d->signs.items;
    uint64_t first = d->symbols.n;

    tamis_symbols_next(d->own, fresh, n);
    for (size_t i = 0; i < n; i++) {
        fresh[i].sum ^= there[i].sum;
        fresh[i].check ^= there[i].check & WALK_CHECK;
        fresh[i].count = (int64_t)((uint64_t)there[i].count - (uint64_t)fresh[i].count);
        if (first + i == 0)
            d->surplus = fresh[i].count;
        else
            difference_weigh(d, first + i, fresh[i].count);
    }
    for (size_t i = 0; i < d->walks.n; i++)
        walk_through(&walks[i], fresh, first, first + n, -signs[i]);
    d->symbols.n += n;
}

tamis_status tamis_difference_take(tamis_difference *d, const tamis_symbol *there, size_t n,
                                   bool *is_done)
{
    uint64_t first = d->symbols.n;

    if (d->is_corrupt)
        return TAMIS_CORRUPT;
    if (!tamis__list_reserve(&d->symbols, &d->alloc, n) ||
        !tamis__list_reserve(&d->pure, &d->alloc, n))
        return TAMIS_NOMEM;
    difference_subtract(d, there, n);
    for (uint64_t at = first; at < d->symbols.n; at++)
        list_push(&d->pure, &at, 1);
    tamis_status status = difference_peel(d);
    d->is_corrupt = status != TAMIS_OK;
    *is_done = d->symbols.n > 0 && difference_is_empty(d->symbols.items);
    return status;
}

const uint64_t *tamis_difference_here(const tamis_difference *d, size_t *n)
{
    *n = d->here.n;
    return d->here.items;
}

const uint64_t *tamis_difference_there(const tamis_difference *d, size_t *n)
{
    *n = d->there.n;
    return d->there.items;
}
