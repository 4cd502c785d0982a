/* tamis.c - public calls: check arguments and abilities, then call the kind. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/le.h"
#include "core/batch.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/image.h"
#include "core/memory.h"
#include "core/ordered.h"
#include "core/pairs.h"
#include "core/parts.h"
#include "core/plan.h"
#include "core/set.h"

/* ---- Texts ------------------------------------------------------------- */

const char *tamis_version(void)
{
    return TAMIS_VERSION;
}

const char *tamis_status_text(tamis_status status)
{
    switch (status) {
#define TAMIS_X(constant, number, text) \
    case TAMIS_##constant:              \
        return text;
        TAMIS_STATUSES(TAMIS_X)
#undef TAMIS_X
    }
    return "unknown status";
}

/* ---- Keys -------------------------------------------------------------- */

uint64_t tamis_hasher_key(const tamis_hasher *hasher, const void *data, size_t size)
{
    uint8_t bytes[8] = { 0 };

    switch (hasher->hash) {
    case TAMIS_FAST:
        return tamis__hash_fast(data, size, hasher->seed);
    case TAMIS_KEYED:
        return tamis__hash_keyed(data, size, hasher->secret);
    case TAMIS_RAW:
        break;
    }
    memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
    return le64(bytes);
}

uint64_t tamis_key(const tamis *f, const void *data, size_t size)
{
    return tamis_hasher_key(&f->plan.hasher, data, size);
}

/* ---- Making filters ---------------------------------------------------- */

void tamis__use_cpu(tamis *f, unsigned cpu)
{
    static const tamis_batch NONE = { .has = NULL };

    f->batch = f->ops->batch ? f->ops->batch(cpu) : &NONE;
    f->has = f->batch->has ? f->batch->has : f->ops->has;
    if (f->ops->prepare)
        f->ops->prepare(f, cpu);
}

tamis_status tamis_new(tamis **out, const tamis_plan *plan, const tamis_allocator *a)
{
    tamis *f;

    if (!tamis__plan_is_valid(plan))
        return TAMIS_RANGE;
    tamis_status status = tamis__struct_new(&f, plan, a);
    if (status)
        return status;
    status = tamis__payload_new(f);
    if (status) {
        tamis_free(f);
        return status;
    }
    if (f->ops->init)
        f->ops->init(f);
    *out = f;
    return TAMIS_OK;
}

static tamis_status fill(tamis *f, const uint64_t *keys, size_t n)
{
    size_t added;

    if (f->ops->solver)
        return tamis__parts_build(f, keys, n, 1);
    if (f->ops->builds_sets)
        return tamis__set_build(f, keys, n);
    return f->ops->build ? f->ops->build(f, keys, n) : tamis_add_many(f, &added, keys, n);
}

static tamis_status hand_out_filled(tamis **out, tamis *f, tamis_status status)
{
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}

/* More keys than planned, at once: the room they take is not known before they are in. */
static tamis_status build_growing(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                  size_t n, const tamis_allocator *a)
{
    tamis *f;
    size_t added;
    tamis_status status = tamis_new(&f, plan, a);

    if (status)
        return status;
    return hand_out_filled(out, f, tamis_add_many(f, &added, keys, n));
}

tamis_status tamis_build(tamis **out, const tamis_plan *plan, const uint64_t *keys, size_t n,
                         const tamis_allocator *a)
{
    tamis *f;
    tamis_status status = tamis_new(&f, plan, a);

    if (status)
        return status;
    status = fill(f, keys, n);
    if (status == TAMIS_FULL && tamis__grows(f)) {
        tamis_free(f);
        return build_growing(out, plan, keys, n, a);
    }
    return hand_out_filled(out, f, status);
}

static bool values_fit(const tamis *f, const uint64_t *values, size_t n)
{
    unsigned bits = f->ops->mapper->value_bits(&f->plan);
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all |= values[i];
    return all >> bits == 0;
}

tamis_status tamis_build_map(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                             const uint64_t *values, size_t n, const tamis_allocator *a)
{
    tamis *f;
    tamis_status status = tamis_new(&f, plan, a);

    if (status)
        return status;
    if (!f->ops->mapper)
        status = TAMIS_CANNOT;
    else if (!values_fit(f, values, n))
        status = TAMIS_RANGE;
    else
        status = tamis__pairs_map(f, keys, values, n);
    return hand_out_filled(out, f, status);
}

tamis_status tamis_build_excluding(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                 size_t n, const uint64_t *others, size_t m,
                                 const tamis_allocator *a)
{
    tamis *f;
    tamis_status status = tamis_new(&f, plan, a);

    if (status)
        return status;
    status = f->ops->splitter ? tamis__pairs_split(f, keys, n, others, m) : TAMIS_CANNOT;
    return hand_out_filled(out, f, status);
}

/* What was made of a snapshot, unless that has changed meanwhile. */
static tamis_status hand_out(tamis **out, tamis *made, const image_snapshot *s)
{
    if (!tamis__snapshot_holds(s)) {
        tamis_free(made);
        return TAMIS_BUSY;
    }
    made->count = s->now.count;
    *out = made;
    return TAMIS_OK;
}

tamis_status tamis_clone(tamis **out, const tamis *f, const tamis_allocator *a)
{
    tamis *copy;
    image_snapshot s;
    tamis_status status = tamis__snapshot(&s, f);

    if (!status)
        status = tamis_new(&copy, &f->plan, a);
    if (status)
        return status;
    memcpy(copy->payload, f->payload, (size_t)f->plan.bytes);
    return hand_out(out, copy, &s);
}

static tamis_plan folded_plan(const tamis *f, uint64_t by)
{
    tamis_plan p = f->plan;

    p.slots /= by;
    p.bytes = f->ops->bytes(&p);
    p.fpr = tamis__plan_fpr(&p);
    return p;
}

tamis_status tamis_fold(tamis **out, const tamis *f, uint64_t by, const tamis_allocator *a)
{
    tamis *folded;

    if (!f->ops->fold)
        return TAMIS_CANNOT;
    if (by == 0 || f->plan.slots % by != 0)
        return TAMIS_RANGE;
    tamis_plan plan = folded_plan(f, by);
    image_snapshot s;
    tamis_status status = tamis__snapshot(&s, f);
    if (!status)
        status = tamis_new(&folded, &plan, a);
    if (status)
        return status;
    f->ops->fold(folded, f, by);
    return hand_out(out, folded, &s);
}

static tamis_plan reduced_plan(const tamis *f)
{
    tamis_plan p = f->plan;

    p.kind = tamis__reduced_kind(p.kind);
    p.width = 0;
    p.bytes = tamis__ops(p.kind)->bytes(&p);
    return p;
}

tamis_status tamis_reduce(tamis **out, const tamis *f, const tamis_allocator *a)
{
    tamis *reduced;

    if (!f->ops->reduce)
        return TAMIS_CANNOT;
    tamis_plan plan = reduced_plan(f);
    image_snapshot s;
    tamis_status status = tamis__snapshot(&s, f);
    if (!status)
        status = tamis_new(&reduced, &plan, a);
    if (status)
        return status;
    f->ops->reduce(reduced, f);
    return hand_out(out, reduced, &s);
}

static tamis_status packed_plan(tamis_plan *p, const tamis *f)
{
    tamis_kind kind = tamis__packed_kind(f->plan.kind);

    if (kind == TAMIS_NO_KIND)
        return TAMIS_CANNOT;
    *p = f->plan;
    p->kind = kind;
    return tamis__ops(kind)->fit(p, f);
}

static tamis_status pack(tamis **out, tamis_plan *plan, const tamis *f, const tamis_allocator *a)
{
    const tamis_ops *ops = tamis__ops(plan->kind);

    for (;; ops->solver->enlarge(plan)) {
        plan->bytes = ops->bytes(plan);
        tamis_status status = tamis_new(out, plan, a);
        if (status)
            return status;
        status = ops->pack(*out, f);
        if (!status)
            return TAMIS_OK;
        tamis_free(*out);
        if (status != TAMIS_FULL)
            return status;
    }
}

tamis_status tamis_compress(tamis **out, const tamis *f, const tamis_allocator *a)
{
    tamis *packed;
    tamis_plan plan;
    image_snapshot s;
    tamis_status status = tamis__packed_kind(f->plan.kind) ? tamis__snapshot(&s, f) : TAMIS_CANNOT;

    if (!status)
        status = packed_plan(&plan, f);
    if (!status)
        status = pack(&packed, &plan, f, a);
    return status ? status : hand_out(out, packed, &s);
}

/* ---- One key ----------------------------------------------------------- */

/* Whether f may change; a writable map is marked dirty before it does. */
static tamis_status open_for_change(tamis *f)
{
    if (f->readonly)
        return TAMIS_READONLY;
    return f->fd < 0 ? TAMIS_OK : tamis__map_unseal(f);
}

/* As above, for changes that clear bits: a crash in the middle of one could lose keys, so that
 * writable maps refuse them. */
static tamis_status open_for_clearing(tamis *f)
{
    if (f->readonly)
        return TAMIS_READONLY;
    return f->fd < 0 ? TAMIS_OK : TAMIS_CANNOT;
}

/* As open_for_change(), for that many keys: no count, which is at most that of all, passes 2^64. */
static tamis_status open_for_adding(tamis *f, uint64_t n)
{
    if (f->ops->count && n > UINT64_MAX - __atomic_load_n(&f->count, __ATOMIC_RELAXED))
        return TAMIS_RANGE;
    return open_for_change(f);
}

bool tamis_has(const tamis *f, uint64_t key)
{
    return f->has(f, key);
}

tamis_status tamis_add(tamis *f, uint64_t key)
{
    if (!f->ops->add)
        return TAMIS_CANNOT;
    tamis_status status = open_for_adding(f, 1);
    if (!status)
        status = f->ops->add(f, key);
    return status == TAMIS_FULL ? tamis__grow(f, key, 1) : status;
}

tamis_status tamis_add_times(tamis *f, uint64_t key, uint64_t times)
{
    if (!f->ops->add_times)
        return TAMIS_CANNOT;
    tamis_status status = open_for_adding(f, times);
    if (!status && times)
        status = f->ops->add_times(f, key, times);
    return status == TAMIS_FULL ? tamis__grow(f, key, times) : status;
}

tamis_status tamis_add_absent(tamis *f, bool *added, uint64_t key)
{
    *added = false;
    if (!f->ops->add)
        return TAMIS_CANNOT;
    if (f->readonly)
        return TAMIS_READONLY;
    if (f->has(f, key))
        return TAMIS_OK;
    tamis_status status = tamis_add(f, key);
    *added = !status;
    return status;
}

tamis_status tamis_remove(tamis *f, uint64_t key)
{
    if (!f->ops->remove)
        return TAMIS_CANNOT;
    tamis_status status = open_for_clearing(f);
    return status ? status : f->ops->remove(f, key);
}

tamis_status tamis_remove_times(tamis *f, uint64_t key, uint64_t times)
{
    if (!f->ops->remove_times)
        return TAMIS_CANNOT;
    tamis_status status = open_for_clearing(f);
    return status || !times ? status : f->ops->remove_times(f, key, times);
}

uint64_t tamis_count(const tamis *f, uint64_t key)
{
    return f->ops->count ? f->ops->count(f, key) : (uint64_t)f->has(f, key);
}

bool tamis_get(const tamis *f, uint64_t *value, uint64_t key)
{
    *value = 0;
    return f->ops->mapper ? f->ops->mapper->get(f, value, key) : f->has(f, key);
}

/* ---- Many keys --------------------------------------------------------- */

size_t tamis_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    if (n <= TAMIS_FEW)
        return tamis__batch_has_few(f, hits, keys, n);
    return (f->batch->has_many ? f->batch->has_many : tamis__batch_has)(f, hits, keys, n);
}

size_t tamis_get_many(const tamis *f, uint64_t *values, uint64_t *hits, const uint64_t *keys,
                      size_t n)
{
    if (f->ops->mapper)
        return tamis__batch_get(f, values, hits, keys, n);
    memset(values, 0, n * sizeof *values);
    return tamis_has_many(f, hits, keys, n);
}

tamis_status tamis_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    *added = 0;
    if (!f->ops->add)
        return TAMIS_CANNOT;
    tamis_status status = open_for_adding(f, n);
    if (status)
        return status;
    if (f->batch->add_many) {
        f->batch->add_many(f, keys, n);
        *added = n;
        return TAMIS_OK;
    }
    status = tamis__batch_add(f, added, keys, n);
    while (status == TAMIS_FULL && !(status = tamis__grow(f, keys[*added], 1))) {
        size_t more;
        ++*added;
        status = tamis__batch_add(f, &more, keys + *added, n - *added);
        *added += more;
    }
    return status;
}

tamis_status tamis_add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    *added = 0;
    if (!f->ops->add_concurrent)
        return TAMIS_CANNOT;
    tamis_status status = open_for_adding(f, n);
    return status ? status : f->ops->add_concurrent(f, added, keys, n);
}

tamis_status tamis_remove_many(tamis *f, size_t *removed, const uint64_t *keys, size_t n)
{
    *removed = 0;
    if (!f->ops->remove)
        return TAMIS_CANNOT;
    tamis_status status = open_for_clearing(f);
    if (status)
        return status;
    *removed = (f->batch->remove_many ? f->batch->remove_many : tamis__batch_remove)(f, keys, n);
    return *removed == n ? TAMIS_OK : TAMIS_ABSENT;
}

void tamis_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    (f->batch->count_many ? f->batch->count_many : tamis__batch_count)(f, counts, keys, n);
}

tamis_status tamis_rotate(tamis *f)
{
    if (!f->ops->rotate)
        return TAMIS_CANNOT;
    tamis_status status = open_for_clearing(f);
    if (!status)
        f->ops->rotate(f);
    return status;
}

/* ---- Two filters ------------------------------------------------------- */

/* Capacity and rate may differ: they say what was planned, not where keys go. But of an indexed
 * kind the capacity says which keys there are. */
static bool same_geometry(const tamis_plan *a, const tamis_plan *b)
{
    if (tamis__ops(a->kind)->indexed && a->capacity != b->capacity)
        return false;
    if (tamis__ops(a->kind)->ordered)
        return tamis__ordered_fit(a, b);
    if (a->kind != b->kind || !tamis__same_hasher(&a->hasher, &b->hasher))
        return false;
    const tamis_grower *grower = tamis__ops(a->kind)->grower;
    if (grower && grower->are_alike)
        return grower->are_alike(a, b);
    return a->bytes == b->bytes && a->slots == b->slots && a->width == b->width &&
           a->hashes == b->hashes;
}

typedef tamis_status change(tamis *f, const tamis *g);

static tamis_status combine(tamis *f, const tamis *g, change *op, tamis_status (*open)(tamis *f))
{
    image_snapshot s;

    if (!op)
        return TAMIS_CANNOT;
    if (!same_geometry(&f->plan, &g->plan))
        return TAMIS_MISMATCH;
    tamis_status status = tamis__snapshot(&s, g);
    if (!status)
        status = open(f);
    return status ? status : op(f, &s.now);
}

tamis_status tamis_merge(tamis *f, const tamis *g)
{
    return f->ops->ordered
               ? combine(f, g, tamis__ordered_merge, open_for_clearing)
               : combine(f, g, f->ops->merge ? tamis__grow_merge : NULL, open_for_change);
}

tamis_status tamis_intersect(tamis *f, const tamis *g)
{
    return combine(f, g, f->ops->intersect, open_for_clearing);
}

/* Views and maps among them are checked whole before. */
static tamis_status check_alike(const tamis *const *filters, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        image_snapshot s;

        if (!same_geometry(&filters[0]->plan, &filters[i]->plan))
            return TAMIS_MISMATCH;
        tamis_status status = tamis__snapshot(&s, filters[i]);
        if (status)
            return status;
    }
    return TAMIS_OK;
}

tamis_status tamis_merge_many(tamis **out, const tamis *const *filters, size_t n,
                              const tamis_allocator *a)
{
    if (!filters[0]->ops->ordered)
        return TAMIS_CANNOT;
    tamis_status status = check_alike(filters, n);
    return status ? status : tamis__ordered_merge_many(out, filters, n, a);
}

tamis_status tamis_dot(const tamis *f, uint64_t *product, const tamis *g)
{
    const tamis *both[] = { f, g };

    if (!f->ops->ordered && !f->ops->dot)
        return TAMIS_CANNOT;
    tamis_status status = check_alike(both, 2);
    if (!status && f->ops->dot)
        return f->ops->dot(f, product, g);
    if (!status)
        *product = tamis__ordered_dot(f, g);
    return status;
}

/* ---- The whole filter -------------------------------------------------- */

tamis_status tamis_resize(tamis *f, uint64_t keys)
{
    if (!f->ops->ordered)
        return TAMIS_CANNOT;
    tamis_status status = open_for_clearing(f);
    return status ? status : tamis__ordered_resize(f, keys);
}

tamis_status tamis_list(const tamis *f, tamis_visit *visit, void *ctx)
{
    if (f->ops->ordered)
        return tamis__ordered_list(f, visit, ctx);
    return f->ops->list ? f->ops->list(f, visit, ctx) : TAMIS_CANNOT;
}

const tamis_plan *tamis_plan_of(const tamis *f)
{
    return &f->plan;
}

tamis_info tamis_describe(const tamis *f)
{
    uint64_t count = __atomic_load_n(&f->count, __ATOMIC_RELAXED);
    uint64_t capacity = f->plan.capacity ? f->plan.capacity : 1;
    tamis_info info = { .plan = f->plan,
                        .count = count,
                        .cardinality = (double)count,
                        .fill = (double)count / (double)capacity,
                        .readonly = f->readonly };

    if (f->ops->measure)
        f->ops->measure(f, &info);
    else
        info.fpr = tamis_plan_rate(&f->plan, count);
    /* The count of a damaged view may say anything. */
    info.fill = fmin(info.fill, 1);
    return info;
}
