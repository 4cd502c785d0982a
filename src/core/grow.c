/* grow.c - filters that make room by themselves.
 *
 * What they hold goes into a larger one, and then what found no room: until that is in, the filter
 * is as it was. */
#include "core/grow.h"

#include "base/bits.h"
#include "core/memory.h"
#include "core/order.h"
#include "core/plan.h"

/* What found no room: copies of a key, or a key with a value, n as in add(); 0: what tells the key
 * from one that is there. Or all that another filter holds. */
typedef struct grow_load {
    uint64_t key, n;
    const tamis *other;
} grow_load;

static tamis_status grow_put(tamis *f, const grow_load *l)
{
    if (l->other)
        return f->ops.merge(f, l->other);
    return l->n || !f->ops.adapt ? f->ops.add(f, l->key, l->n) : f->ops.adapt(f, l->key);
}

/* Slots in use; where each key takes one, the keys. */
static uint64_t grow_used(const tamis *f)
{
    return f->ops.room ? tamis__order_used(f) : f->count;
}

/* Slots that the filter needs with the load. */
static uint64_t grow_needed(const tamis *f, const grow_load *l)
{
    uint64_t copies = l->n < f->plan.ceiling ? l->n : f->plan.ceiling, needed;
    uint64_t more = l->other           ? grow_used(l->other)
                    : f->ops.room      ? f->ops.room(f, 0, copies + !copies).needed
                    : ops_put(&f->ops) ? 1
                                       : copies;

    return add_overflows(grow_used(f), more, &needed) ? UINT64_MAX : needed;
}

static tamis_status grow_copy(tamis **out, const tamis_plan *plan, const tamis *f)
{
    if (f->ops.append)
        return tamis__order_copy(out, plan, f);
    tamis_status status = tamis_new(out, plan, &f->alloc);
    if (status)
        return status;
    status = f->ops.move(*out, f);
    if (status)
        tamis_free(*out);
    return status;
}

static tamis_status grow_until_it_fits(tamis *f, const grow_load *l)
{
    tamis_plan plan = f->plan;
    uint64_t needed = grow_needed(f, l);
    tamis *made;
    tamis_status status = TAMIS_FULL;

    if (!tamis__plan_grows(&plan))
        return TAMIS_FULL;
    while (status == TAMIS_FULL) {
        if (tamis__plan_grow(&plan, needed))
            return TAMIS_FULL;
        status = grow_copy(&made, &plan, f);
        if (status)
            continue;
        made->keys = f->keys;
        made->keys_ctx = f->keys_ctx;
        status = grow_put(made, l);
        if (status)
            tamis_free(made);
        else
            tamis__take_over(f, made);
    }
    return status;
}

tamis_status tamis__grow(tamis *f, uint64_t key, uint64_t n)
{
    const grow_load l = { .key = key, .n = n };

    return grow_until_it_fits(f, &l);
}

tamis_status tamis__exclude(tamis *f, const uint64_t *excluded, size_t m, bool *is_done)
{
    for (size_t i = 0; i < m; i++) {
        tamis_status status =
            tamis_has(f, excluded[i]) ? tamis_adapt(f, excluded[i]) : TAMIS_PRESENT;
        if (status && status != TAMIS_PRESENT)
            return status;
        *is_done &= status == TAMIS_PRESENT;
    }
    return TAMIS_OK;
}

tamis_status tamis__grow_merge(tamis *f, const tamis *g)
{
    const grow_load l = { .other = g };
    uint64_t total;

    if (add_overflows(f->count, g->count, &total))
        return TAMIS_RANGE;
    tamis_status status = f->ops.merge(f, g);

    return status == TAMIS_FULL ? grow_until_it_fits(f, &l) : status;
}
