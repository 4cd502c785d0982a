/* filter.c - public calls: check arguments and abilities, then call the kind. */
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "core/batch.h"
#include "core/grow.h"
#include "core/image.h"
#include "core/order.h"
#include "core/plan.h"

/* ---- One key ----------------------------------------------------------- */

/* Whether f may change; a writable map is marked dirty before it does. */
static tamis_status filter_open_for_change(tamis *f)
{
    if (f->readonly)
        return TAMIS_READONLY;
    return f->unseal ? f->unseal(f) : TAMIS_OK;
}

/* As above, for changes that clear bits: a crash in the middle of one could lose keys, so that
 * writable maps refuse them. */
static tamis_status filter_open_for_clearing(tamis *f)
{
    if (f->readonly)
        return TAMIS_READONLY;
    return f->unseal ? TAMIS_CANNOT : TAMIS_OK;
}

/* As filter_open_for_change(), for that many keys: no count, neither of all nor of one, passes
 * 2^64. */
static tamis_status filter_open_for_adding(tamis *f, uint64_t n)
{
    if (n > UINT64_MAX - __atomic_load_n(&f->count, __ATOMIC_RELAXED))
        return TAMIS_RANGE;
    return filter_open_for_change(f);
}

/* The definition in tamis.h, for callers that do not see it. */
extern inline bool tamis_has(const tamis *f, uint64_t key);
_Static_assert(offsetof(struct tamis, has) == 0, "tamis_has() finds it there");

static bool filter_adds(const tamis *f)
{
    return f->ops.add && !ops_put(&f->ops);
}

__attribute__((noinline)) static tamis_status filter_add_with_care(tamis *f, uint64_t key)
{
    if (!filter_adds(f))
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_adding(f, 1);
    if (!status)
        status = f->ops.add(f, key, 1);
    return status == TAMIS_FULL ? tamis__grow(f, key, 1) : status;
}

/* A filter that is no view and no map may always change. */
tamis_status tamis_add(tamis *f, uint64_t key)
{
    if (f->can_only_add && !f->image && f->count < UINT64_MAX)
        return f->ops.add(f, key, 1);
    return filter_add_with_care(f, key);
}

tamis_status tamis_add_times(tamis *f, uint64_t key, uint64_t times)
{
    if (!filter_adds(f) || !f->ops.count)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_adding(f, times);
    if (!status && times)
        status = f->ops.add(f, key, times);
    return status == TAMIS_FULL ? tamis__grow(f, key, times) : status;
}

tamis_status tamis_put(tamis *f, uint64_t key, uint64_t value)
{
    if (!ops_put(&f->ops))
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    if (!status)
        status = f->ops.add(f, key, value);
    return status == TAMIS_FULL ? tamis__grow(f, key, value) : status;
}

tamis_status tamis_remove(tamis *f, uint64_t key)
{
    if (!f->ops.remove)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    return status ? status : f->ops.remove(f, key, 1);
}

tamis_status tamis_remove_times(tamis *f, uint64_t key, uint64_t times)
{
    if (!f->ops.remove || !f->ops.count)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    return status || !times ? status : f->ops.remove(f, key, times);
}

uint64_t tamis_count(const tamis *f, uint64_t key)
{
    return f->ops.count ? f->ops.count(f, key) : (uint64_t)f->ops.has(f, key);
}

bool tamis_get(const tamis *f, uint64_t *value, uint64_t key)
{
    *value = 0;
    if (f->ops.traits & TAMIS_TRAIT_TAKES_VALUES)
        return f->ops.get(f, value, key);
    return f->ops.has(f, key);
}

/* ---- Many keys --------------------------------------------------------- */

size_t tamis_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    if (n <= TAMIS_FEW)
        return tamis__batch_has_few(f, hits, keys, n);
    return f->ops.has_many(f, hits, keys, n);
}

size_t tamis_get_many(const tamis *f, uint64_t *values, uint64_t *hits, const uint64_t *keys,
                      size_t n)
{
    if (f->ops.traits & TAMIS_TRAIT_TAKES_VALUES)
        return tamis__batch_get(f, values, hits, keys, n);
    memset(values, 0, n * sizeof *values);
    return tamis_has_many(f, hits, keys, n);
}

void tamis_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    f->ops.count_many(f, counts, keys, n);
}

/* Keys with their values or, if these are NULL, once each. */
static tamis_status filter_add_batch(tamis *f, size_t *done, const uint64_t *keys,
                                     const uint64_t *values, size_t n)
{
    return values ? tamis__batch_put(f, done, keys, values, n) : f->ops.add_many(f, done, keys, n);
}

static tamis_status filter_add_all(tamis *f, size_t *done, const uint64_t *keys,
                                   const uint64_t *values, size_t n)
{
    tamis_status status = filter_add_batch(f, done, keys, values, n);

    while (status == TAMIS_FULL &&
           !(status = tamis__grow(f, keys[*done], values ? values[*done] : 1))) {
        size_t more, at = ++*done;
        status = filter_add_batch(f, &more, keys + at, values ? values + at : NULL, n - at);
        *done += more;
    }
    return status;
}

tamis_status tamis_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    *added = 0;
    if (!filter_adds(f))
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_adding(f, n);
    return status ? status : filter_add_all(f, added, keys, NULL, n);
}

tamis_status tamis_put_many(tamis *f, size_t *done, const uint64_t *keys, const uint64_t *values,
                            size_t n)
{
    *done = 0;
    if (!ops_put(&f->ops))
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    return status ? status : filter_add_all(f, done, keys, values, n);
}

tamis_status tamis_add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    *added = 0;
    if (!f->ops.add_concurrent)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_adding(f, n);
    return status ? status : f->ops.add_concurrent(f, added, keys, n);
}

tamis_status tamis_remove_many(tamis *f, size_t *removed, const uint64_t *keys, size_t n)
{
    *removed = 0;
    if (!f->ops.remove)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    if (status)
        return status;
    *removed = f->ops.remove_many(f, keys, n);
    return *removed == n ? TAMIS_OK : TAMIS_ABSENT;
}

tamis_status tamis_rotate(tamis *f)
{
    if (!f->ops.forget || f->ops.adapt)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    return status ? status : f->ops.forget(f);
}

/* ---- Adaptive kinds ---------------------------------------------------- */

tamis_status tamis_adapt(tamis *f, uint64_t key)
{
    if (!f->ops.adapt)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    if (!status)
        status = f->ops.adapt(f, key);
    return status == TAMIS_FULL ? tamis__grow(f, key, 0) : status;
}

tamis_status tamis_forget_adaptations(tamis *f)
{
    if (!f->ops.adapt)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    return status ? status : f->ops.forget(f);
}

/* A key of the set whose 64 bits are those of another's is nobody's mistake: TAMIS_PRESENT. */
tamis_status tamis_lookup(tamis *f, bool *found, uint64_t key, tamis_store *store, void *ctx)
{
    bool is_there = tamis_has(f, key);
    tamis_status status = is_there ? store(ctx, &is_there, key) : TAMIS_OK;

    if (status)
        return status;
    if (!is_there && f->ops.adapt && tamis_has(f, key))
        status = tamis_adapt(f, key);
    *found = is_there;
    return status == TAMIS_PRESENT ? TAMIS_OK : status;
}

tamis_status tamis_queried(const tamis *f, double *keys, double *error)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    if (info.error == 0)
        return TAMIS_CANNOT;
    *keys = info.queried;
    *error = info.error;
    return TAMIS_OK;
}

/* What the filter holds of a key that no adaptation has told from others. */
uint64_t tamis_group(const tamis *f, uint64_t key)
{
    bool asks = f->plan.flags & TAMIS_PLAN_ASKS_KEYS;

    return asks ? scale64(hash_key(key, f->salt), f->plan.slots << f->plan.width) : 0;
}

void tamis_set_keys(tamis *f, tamis_keys *keys, void *ctx)
{
    f->keys = keys;
    f->keys_ctx = ctx;
}

/* ---- Two filters ------------------------------------------------------- */

static bool filter_can(const tamis *f, tamis_operation op)
{
    static const unsigned NEEDED[] = {
        [TAMIS_MERGE] = TAMIS_CAN_MERGE,
        [TAMIS_INTERSECT] = TAMIS_CAN_INTERSECT,
        [TAMIS_SUBTRACT] = TAMIS_CAN_INTERSECT | TAMIS_CAN_REMOVE,
    };

    return op < sizeof NEEDED / sizeof *NEEDED && (NEEDED[op] & ~tamis_plan_can(&f->plan)) == 0;
}

/* A merge of kinds in order makes a new table, and all others only set bits. */
static tamis_status filter_open_for(tamis *f, tamis_operation op)
{
    return op == TAMIS_MERGE && !f->ops.append ? filter_open_for_change(f)
                                               : filter_open_for_clearing(f);
}

static tamis_status filter_put_together(tamis *f, tamis_operation op, const tamis *g)
{
    if (f->ops.append)
        return op == TAMIS_MERGE ? tamis__order_merge(f, g) : tamis__order_reduce(f, g, op);
    return op == TAMIS_MERGE ? tamis__grow_merge(f, g) : f->ops.reduce(f, g, op);
}

tamis_status tamis_combine(tamis *f, tamis_operation op, const tamis *g)
{
    image_snapshot s;

    if (!filter_can(f, op))
        return TAMIS_CANNOT;
    if (!tamis__plans_merge(&f->plan, &g->plan))
        return TAMIS_MISMATCH;
    tamis_status status = tamis__snapshot(&s, g, &f->alloc);
    if (!status)
        status = filter_open_for(f, op);
    if (!status)
        status = filter_put_together(f, op, s.f);
    tamis_free(s.copy);
    return status;
}

/* Views and maps among them are checked whole before. They may change after that, as they are not
 * copied: who reads them trusts nothing, and what is written is in order by itself. */
static tamis_status filter_check_alike(const tamis *const *filters, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!tamis__plans_merge(&filters[0]->plan, &filters[i]->plan))
            return TAMIS_MISMATCH;
        tamis_status status = filters[i]->image ? tamis_verify(filters[i], NULL, NULL) : TAMIS_OK;
        if (status)
            return status;
    }
    return TAMIS_OK;
}

tamis_status tamis_merge_many(tamis **out, const tamis *const *filters, size_t n,
                              const tamis_allocator *a)
{
    if (!filters[0]->ops.append || !filter_can(filters[0], TAMIS_MERGE))
        return TAMIS_CANNOT;
    tamis_status status = filter_check_alike(filters, n);
    if (!status)
        status = tamis__order_merge_many(out, filters, n, a);
    if (!status)
        (*out)->note = filters[0]->note;
    return status;
}

tamis_status tamis_dot(const tamis *f, uint64_t *product, const tamis *g)
{
    const tamis *both[] = { f, g };

    if ((!f->ops.append || !filter_can(f, TAMIS_INTERSECT)) && !f->ops.dot)
        return TAMIS_CANNOT;
    tamis_status status = filter_check_alike(both, 2);
    if (status)
        return status;
    return f->ops.dot ? f->ops.dot(f, product, g) : tamis__order_dot(f, product, g);
}

/* ---- The whole filter -------------------------------------------------- */

tamis_status tamis_resize(tamis *f, uint64_t keys)
{
    if (!f->ops.append)
        return TAMIS_CANNOT;
    tamis_status status = filter_open_for_clearing(f);
    return status ? status : tamis__order_resize(f, keys);
}
