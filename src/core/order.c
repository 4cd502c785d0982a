/* order.c - what can be done to kinds that are read and written in order of fingerprints.
 *
 * Everything here is one pass: cursors walk through the filters, the one with the lowest
 * fingerprint is taken, and what goes into a filter is appended to a new one that then takes the
 * place of the old. So a failure changes nothing. */
#include "core/order.h"

#include <string.h>

#include "base/bits.h"
#include "core/memory.h"
#include "core/plan.h"

/* ---- Many cursors ------------------------------------------------------ */

/* A heap: none is lower than the one at half its index, counted from 1. */
typedef struct order_heap {
    tamis_cursor **at;
    size_t n;
    tamis_status status; /* why a cursor ended before its end */
} order_heap;

static bool order_advance(tamis_cursor *c)
{
    return c->f->ops.next(c);
}

static void order_sink(order_heap *h, size_t i)
{
    tamis_cursor *c = h->at[i];

    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        child += child + 1 < h->n && h->at[child + 1]->fingerprint < h->at[child]->fingerprint;
        if (c->fingerprint <= h->at[child]->fingerprint)
            break;
        h->at[i] = h->at[child];
    }
    h->at[i] = c;
}

static void order_step(order_heap *h)
{
    if (!order_advance(h->at[0])) {
        h->status = h->at[0]->status ? h->at[0]->status : h->status;
        h->at[0] = h->at[--h->n];
    }
    if (h->n)
        order_sink(h, 0);
}

static uint64_t order_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return add_overflows(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t order_product(uint64_t a, uint64_t b)
{
    uint64_t product;

    return mul_overflows(a, b, &product) ? UINT64_MAX : product;
}

/* The lowest fingerprint, and how often it is in all of them; the most bits of it that any tells.
 */
static uint64_t order_take_lowest(order_heap *h, uint64_t *count, unsigned *bits)
{
    uint64_t fingerprint = h->at[0]->fingerprint;

    for (*count = *bits = 0; h->n && h->at[0]->fingerprint == fingerprint; order_step(h)) {
        *count = order_sum(*count, h->at[0]->count);
        *bits = h->at[0]->bits > *bits ? h->at[0]->bits : *bits;
    }
    return fingerprint;
}

/* Files may change after they were verified: writers rely on the order, so it is looked at. */
static tamis_status order_append_all(tamis *to, order_heap *h)
{
    uint64_t last = 0, end = to->plan.slots << to->plan.width;
    bool is_whole = ops_have_whole_hashes(&to->ops), is_first = true;
    tamis_writer w = { .f = to };
    tamis_status status = TAMIS_OK;

    for (size_t i = h->n; i-- > 0;)
        order_sink(h, i);
    while (h->n && !h->status && !status) {
        uint64_t count, fingerprint = order_take_lowest(h, &count, &w.bits);
        bool is_in_order = (is_first || fingerprint > last) && (is_whole || fingerprint < end);
        status = is_in_order ? to->ops.append(&w, fingerprint, count) : TAMIS_CORRUPT;
        last = fingerprint;
        is_first = false;
    }
    (void)to->ops.append(&w, 0, 0);
    return h->status ? h->status : status;
}

/* ---- Unions ------------------------------------------------------------ */

static tamis_status order_union(tamis **out, const tamis_plan *plan, const tamis *const *filters,
                                size_t n, const tamis_allocator *a)
{
    tamis *to;
    tamis_status status = tamis_new(&to, plan, a);

    if (status)
        return status;
    uint64_t size = (uint64_t)n * (sizeof(tamis_cursor) + sizeof(tamis_cursor *));
    tamis_cursor *all = tamis__scratch_new(to, size);
    if (all) {
        order_heap h = { (tamis_cursor **)(all + n), 0, TAMIS_OK };
        memset(all, 0, (size_t)size);
        for (size_t i = 0; i < n; i++) {
            all[i].f = filters[i];
            if (order_advance(&all[i]))
                h.at[h.n++] = &all[i];
            else if (all[i].status)
                h.status = all[i].status;
        }
        status = order_append_all(to, &h);
        tamis__scratch_free(to, all, size);
    }
    if (!all || status) {
        tamis_free(to);
        return status ? status : TAMIS_NOMEM;
    }
    *out = to;
    return TAMIS_OK;
}

/* Also those that tell keys from others, of which there may be many for a key. */
static uint64_t order_slots(const tamis *f)
{
    uint64_t ranges = UINT64_C(1) << f->ops.room(f, 0, 0).range_bits, used = 0;

    for (uint64_t i = 0; i < ranges; i++)
        used += f->ops.room(f, i, 0).used;
    return used;
}

/* As order_union(), with twice the room while that helps. Fingerprints are spread evenly, so that a
 * filter half as large is full half-way: all attempts that fail take less than two passes. If the
 * slots in use are less than a quarter of its room, keys crowd one place: tamis__plan_grow(). */
static tamis_status order_roomy_union(tamis **out, tamis_plan plan, const tamis *const *filters,
                                      size_t n, const tamis_allocator *a)
{
    uint64_t needed = 0;
    tamis_status status;

    for (size_t i = 0; i < n; i++)
        needed = order_sum(needed, order_slots(filters[i]));
    while ((status = order_union(out, &plan, filters, n, a)) == TAMIS_FULL)
        if (needed < (tamis__plan_is_in_slots(&plan) ? plan.slots : plan.capacity) / 4 ||
            tamis__plan_enlarge(&plan))
            return TAMIS_FULL;
    return status;
}

tamis_status tamis__order_merge(tamis *f, const tamis *g)
{
    const tamis *both[] = { f, g };
    uint64_t total;
    tamis *made;

    if (add_overflows(f->count, g->count, &total))
        return TAMIS_RANGE;
    tamis_status status = tamis__plan_grows(&f->plan)
                              ? order_roomy_union(&made, f->plan, both, 2, &f->alloc)
                              : order_union(&made, &f->plan, both, 2, &f->alloc);
    if (!status)
        tamis__take_over(f, made);
    return status;
}

/* Past its capacity a union is whole as well, but at a higher rate: this may fail. It never becomes
 * smaller. */
static void order_set_capacity(tamis *f)
{
    uint64_t used = tamis__order_used(f);
    tamis_plan as_it_is = f->plan, larger = f->plan;

    as_it_is.capacity = used;
    if (used <= f->plan.capacity || tamis__plan_resize(&larger, used))
        return;
    if (larger.slots > f->plan.slots) {
        (void)!tamis__order_resize(f, used);
    } else if (!tamis__plan_settle(&as_it_is)) {
        f->plan = as_it_is;
        tamis__use_cpu(f, f->cpu);
    }
}

/* It starts with the size of the largest: the same keys may be in all of them. */
tamis_status tamis__order_merge_many(tamis **out, const tamis *const *filters, size_t n,
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
    tamis_status status = order_roomy_union(out, plan, filters, n, a);
    if (!status)
        order_set_capacity(*out);
    return status;
}

/* ---- Side by side ------------------------------------------------------ */

order_side tamis__order_side(const tamis *f)
{
    order_side s = { .next = { .f = f } };

    s.more = order_advance(&s.next);
    return s;
}

bool tamis__order_next(order_side *sides, size_t n, uint64_t *fingerprint)
{
    bool more = false;

    for (size_t i = 0; i < n; i++)
        if (sides[i].more && (!more || sides[i].next.fingerprint < *fingerprint)) {
            *fingerprint = sides[i].next.fingerprint;
            more = true;
        }
    for (order_side *s = sides; s < sides + n; s++) {
        bool has_it = more && s->more && s->next.fingerprint == *fingerprint;
        s->count = has_it ? s->next.count : 0;
        s->bits = s->next.bits;
        s->told = s->next.told;
        if (has_it)
            s->more = order_advance(&s->next);
    }
    return more;
}

tamis_status tamis__order_failure(const order_side *sides, size_t n)
{
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < n && !status; i++)
        status = sides[i].next.status;
    return status;
}

/* ---- Intersections and differences --------------------------------------- */

/* Where nothing was adapted, what is left is as if the rest had never been there. */
static tamis_status order_append_reduced(tamis *to, const tamis *f, const tamis *g,
                                         tamis_operation op)
{
    order_side both[] = { tamis__order_side(f), tamis__order_side(g) };
    tamis_writer w = { .f = to };
    tamis_info info = { .size = sizeof info };
    tamis_status status = TAMIS_OK;
    uint64_t fingerprint;

    if (f->ops.adapt)
        tamis_get_info(f, &info);
    while (!status && tamis__order_next(both, 2, &fingerprint)) {
        uint64_t a = both[0].count, b = both[1].count, common = a < b ? a : b;
        uint64_t left = op == TAMIS_INTERSECT ? common : a - common;
        w.bits = both[0].bits;
        w.told = info.adaptations ? both[0].told : 0;
        if (op == TAMIS_SUBTRACT && a < b)
            status = TAMIS_ABSENT;
        else if (left)
            status = to->ops.append(&w, fingerprint, left);
    }
    (void)to->ops.append(&w, 0, 0);
    return status ? status : tamis__order_failure(both, 2);
}

/* What is left of f fits where f fits: fewer copies take no more slots. */
tamis_status tamis__order_reduce(tamis *f, const tamis *g, tamis_operation op)
{
    tamis *made;
    tamis_status status = tamis_new(&made, &f->plan, &f->alloc);

    if (status)
        return status;
    status = order_append_reduced(made, f, g, op);
    if (status)
        tamis_free(made);
    else
        tamis__take_over(f, made);
    return status;
}

/* ---- Products ---------------------------------------------------------- */

tamis_status tamis__order_dot(const tamis *f, uint64_t *product, const tamis *g)
{
    order_side both[] = { tamis__order_side(f), tamis__order_side(g) };
    uint64_t sum = 0, fingerprint;

    while (tamis__order_next(both, 2, &fingerprint))
        sum = order_sum(sum, order_product(both[0].count, both[1].count));
    tamis_status status = tamis__order_failure(both, 2);
    if (!status)
        *product = sum;
    return status;
}

/* ---- Sizes ------------------------------------------------------------- */

uint64_t tamis__order_used(const tamis *f)
{
    uint64_t used = order_slots(f);

    return used < f->count ? used : f->count;
}

tamis_status tamis__order_copy(tamis **out, const tamis_plan *plan, const tamis *f)
{
    return order_union(out, plan, &f, 1, &f->alloc);
}

tamis_status tamis__order_resize(tamis *f, uint64_t keys)
{
    tamis_plan plan = f->plan;
    tamis *made;

    if (tamis__order_used(f) > keys)
        return TAMIS_FULL;
    tamis_status status = tamis__plan_resize(&plan, keys);
    if (!status)
        status = tamis__order_copy(&made, &plan, f);
    if (!status)
        tamis__take_over(f, made);
    return status;
}
