/* ordered.c - what can be done to kinds that are read and written in order of fingerprints.
 *
 * Everything here is one pass: cursors walk through the filters, the one with the lowest
 * fingerprint is taken, and what goes into a filter is appended to a new one that then takes the
 * place of the old. So a failure changes nothing. */
#include "core/ordered.h"

#include <string.h>

#include "base/bits.h"
#include "core/grow.h"
#include "core/memory.h"
#include "core/plan.h"

bool tamis__ordered_fit(const tamis_plan *a, const tamis_plan *b)
{
    return a->kind == b->kind && a->slots << a->width == b->slots << b->width &&
           tamis__same_hasher(&a->hasher, &b->hasher);
}

tamis_status tamis__ordered_list(const tamis *f, tamis_visit *visit, void *ctx)
{
    tamis_cursor c = { .f = f };

    while (f->ops->ordered->next(&c))
        if (!visit(ctx, c.print, c.count))
            break;
    return TAMIS_OK;
}

/* ---- Many cursors ------------------------------------------------------ */

/* A heap: none is lower than the one at half its index, counted from 1. */
typedef struct cursors {
    tamis_cursor **at;
    size_t n;
} cursors;

static bool advance(tamis_cursor *c)
{
    return c->f->ops->ordered->next(c);
}

static void sink(cursors *h, size_t i)
{
    tamis_cursor *c = h->at[i];

    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        child += child + 1 < h->n && h->at[child + 1]->print < h->at[child]->print;
        if (c->print <= h->at[child]->print)
            break;
        h->at[i] = h->at[child];
    }
    h->at[i] = c;
}

static void step(cursors *h)
{
    if (!advance(h->at[0]))
        h->at[0] = h->at[--h->n];
    if (h->n)
        sink(h, 0);
}

static uint64_t sum_or_most(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return add_overflows(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t product_or_most(uint64_t a, uint64_t b)
{
    uint64_t product;

    return mul_overflows(a, b, &product) ? UINT64_MAX : product;
}

/* The lowest fingerprint, and how often it is in all of them. */
static uint64_t take_lowest(cursors *h, uint64_t *count)
{
    uint64_t print = h->at[0]->print;

    for (*count = 0; h->n && h->at[0]->print == print; step(h))
        *count = sum_or_most(*count, h->at[0]->count);
    return print;
}

/* Files may change after they were verified: writers rely on the order, so it is looked at. */
static tamis_status append_all(tamis *to, cursors *h)
{
    const tamis_ordered *o = to->ops->ordered;
    uint64_t low = 0, end = to->plan.slots << to->plan.width;
    tamis_writer w = { .f = to };
    tamis_status status = TAMIS_OK;

    for (size_t i = h->n; i-- > 0;)
        sink(h, i);
    while (h->n && !status) {
        uint64_t count, print = take_lowest(h, &count);
        status = print < low || print >= end ? TAMIS_CORRUPT : o->append(&w, print, count);
        low = print + 1;
    }
    o->finish(&w);
    return status;
}

/* ---- Unions ------------------------------------------------------------ */

static tamis_status union_of(tamis **out, const tamis_plan *plan, const tamis *const *filters,
                             size_t n, const tamis_allocator *a)
{
    tamis *to;
    tamis_status status = tamis_new(&to, plan, a);

    if (status)
        return status;
    size_t size = n * (sizeof(tamis_cursor) + sizeof(tamis_cursor *));
    tamis_cursor *all = tamis__scratch_new(to, size);
    if (all) {
        cursors h = { (tamis_cursor **)(all + n), 0 };
        memset(all, 0, size);
        for (size_t i = 0; i < n; i++) {
            all[i].f = filters[i];
            if (advance(&all[i]))
                h.at[h.n++] = &all[i];
        }
        status = append_all(to, &h);
        tamis__scratch_free(to, all, size);
    }
    if (!all || status) {
        tamis_free(to);
        return status ? status : TAMIS_NOMEM;
    }
    *out = to;
    return TAMIS_OK;
}

tamis_status tamis__plan_resized(tamis_plan *p, uint64_t keys)
{
    tamis_status status = tamis__ops(p->kind)->ordered->resize(p, keys);

    return status ? status : tamis__plan_settle(p);
}

tamis_status tamis__plan_doubled(tamis_plan *p)
{
    return tamis__plan_resized(p, sum_or_most(p->capacity, sum_or_most(p->capacity, 1)));
}

/* As union_of(), with twice the room until it is enough. Fingerprints are spread evenly, so that a
 * filter half as large is full half-way: all attempts that fail take less than two passes. */
static tamis_status roomy_union(tamis **out, tamis_plan plan, const tamis *const *filters, size_t n,
                                const tamis_allocator *a)
{
    tamis_status status;

    while ((status = union_of(out, &plan, filters, n, a)) == TAMIS_FULL)
        if (tamis__plan_doubled(&plan))
            return TAMIS_FULL;
    return status;
}

tamis_status tamis__ordered_merge(tamis *f, const tamis *g)
{
    const tamis *both[] = { f, g };
    uint64_t total;
    tamis *made;

    if (add_overflows(f->count, g->count, &total))
        return TAMIS_RANGE;
    tamis_status status = tamis__grows(f) ? roomy_union(&made, f->plan, both, 2, &f->alloc)
                                          : union_of(&made, &f->plan, both, 2, &f->alloc);
    if (!status)
        tamis__take_over(f, made);
    return status;
}

/* It starts with the size of the largest: the same keys may be in all of them. */
tamis_status tamis__ordered_merge_many(tamis **out, const tamis *const *filters, size_t n,
                                       const tamis_allocator *a)
{
    tamis_plan plan = filters[0]->plan;
    uint64_t total = 0;

    for (size_t i = 0; i < n; i++) {
        if (add_overflows(total, filters[i]->count, &total))
            return TAMIS_RANGE;
        if (filters[i]->plan.slots > plan.slots)
            plan = filters[i]->plan;
    }
    tamis_status status = roomy_union(out, plan, filters, n, a);
    if (status)
        return status;
    /* Past its capacity it is whole as well, but at a higher rate: this may fail. */
    uint64_t used = (*out)->ops->ordered->used(*out);
    if (used > (*out)->plan.capacity)
        (void)!tamis__ordered_resize(*out, used);
    return TAMIS_OK;
}

/* ---- Products ---------------------------------------------------------- */

uint64_t tamis__ordered_dot(const tamis *f, const tamis *g)
{
    tamis_cursor a = { .f = f }, b = { .f = g };
    bool more = advance(&a) && advance(&b);
    uint64_t product = 0;

    while (more) {
        if (a.print == b.print)
            product = sum_or_most(product, product_or_most(a.count, b.count));
        more = a.print <= b.print ? advance(&a) : advance(&b);
    }
    return product;
}

/* ---- Sizes ------------------------------------------------------------- */

tamis_status tamis__ordered_copy(tamis **out, const tamis_plan *plan, const tamis *f)
{
    return union_of(out, plan, &f, 1, &f->alloc);
}

tamis_status tamis__ordered_resize(tamis *f, uint64_t keys)
{
    tamis_plan plan = f->plan;
    tamis *made;

    if (f->ops->ordered->used(f) > keys)
        return TAMIS_FULL;
    tamis_status status = tamis__plan_resized(&plan, keys);
    if (!status)
        status = tamis__ordered_copy(&made, &plan, f);
    if (!status)
        tamis__take_over(f, made);
    return status;
}
