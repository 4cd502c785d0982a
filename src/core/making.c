/* making.c - filters that are made: empty, from keys, from other filters; and keys from bytes. */
#include <string.h>

#include "base/hash.h"
#include "base/le.h"
#include "core/grow.h"
#include "core/image.h"
#include "core/make.h"
#include "core/memory.h"
#include "core/plan.h"

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
    *out = f;
    return TAMIS_OK;
}

tamis_status tamis_build(tamis **out, const tamis_plan *plan, const uint64_t *keys, size_t n,
                         const tamis_allocator *a)
{
    const make_keys k = { .keys = keys, .n = n };

    return tamis__make(out, plan, &k, 0, a);
}

tamis_status tamis_build_map(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                             const uint64_t *values, size_t n, const tamis_allocator *a)
{
    const make_keys k = { .keys = keys, .values = values, .n = n };

    return tamis__make(out, plan, &k, TAMIS_TRAIT_TAKES_VALUES, a);
}

static tamis_status making_exclude(tamis *f, const uint64_t *excluded, size_t m)
{
    for (int round = 0; round < EXCLUDE_ROUNDS; round++) {
        bool is_done = true;
        tamis_status status = tamis__exclude(f, excluded, m, &is_done);
        if (status || is_done)
            return status;
    }
    return TAMIS_FULL;
}

tamis_status tamis_build_excluding(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                   size_t n, const uint64_t *excluded, size_t m,
                                   const tamis_allocator *a)
{
    const make_keys k = { .keys = keys, .n = n, .excluded = excluded, .m = m };
    tamis *f;

    if (!(tamis_kind_can(plan->kind) & TAMIS_CAN_ADAPT))
        return tamis__make(out, plan, &k, TAMIS_TRAIT_TAKES_EXCLUDED, a);
    tamis_status status = tamis_build(&f, plan, keys, n, a);
    if (status)
        return status;
    status = making_exclude(f, excluded, m);
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}

tamis_status tamis_clone(tamis **out, const tamis *f, const tamis_allocator *a)
{
    return tamis__image_copy(out, f, a);
}

/* A filter that was made of the snapshot, unless the status says that it was not. */
static tamis_status making_hand_out(tamis **out, tamis *made, image_snapshot *s,
                                    tamis_status status)
{
    if (!status) {
        made->count = s->f->count;
        made->note = s->f->note;
        *out = made;
    }
    tamis_free(s->copy);
    return status;
}

/* What f holds, in a filter of a smaller plan. */
static tamis_status making_make_smaller(tamis **out, const tamis *f, const tamis_plan *plan,
                                        const tamis_allocator *a)
{
    image_snapshot s;
    tamis *small = NULL;
    tamis_status status = tamis__snapshot(&s, f, a);

    if (!status)
        status = tamis_new(&small, plan, a);
    if (!status)
        status = small->ops.move(small, s.f);
    if (status) {
        tamis_free(small);
        small = NULL;
    }
    return making_hand_out(out, small, &s, status);
}

tamis_status tamis_fold(tamis **out, const tamis *f, uint64_t by, const tamis_allocator *a)
{
    tamis_plan plan = f->plan;

    if (!(tamis_kind_can(plan.kind) & TAMIS_CAN_FOLD))
        return TAMIS_CANNOT;
    if (by == 0 || plan.slots % by != 0)
        return TAMIS_RANGE;
    plan.slots /= by;
    tamis_status status = tamis__plan_settle(&plan);
    return status ? status : making_make_smaller(out, f, &plan, a);
}

tamis_status tamis_shrink(tamis **out, const tamis *f, uint64_t max_bytes, const tamis_allocator *a)
{
    tamis_plan plan = f->plan;
    tamis_status status = tamis__plan_shrink(&plan, max_bytes, f->count);

    return status ? status : making_make_smaller(out, f, &plan, a);
}

tamis_status tamis_convert(tamis **out, tamis_kind to, const tamis *f, const tamis_allocator *a)
{
    const tamis_conversion *row = tamis__conversion(f->plan.kind, to);
    image_snapshot s;
    tamis *made = NULL;

    if (!row)
        return TAMIS_CANNOT;
    tamis_status status = tamis__snapshot(&s, f, a);
    if (!status)
        status = row->convert(&made, to, s.f, a);
    return making_hand_out(out, made, &s, status);
}
