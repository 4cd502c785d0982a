/* memory.c - a filter is two blocks: the struct, and the payload it owns or borrows. */
#include "core/memory.h"

#include <string.h>

#include "base/ahead.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "core/batch.h"
#include "core/plan.h"

void tamis__use_cpu(tamis *f, unsigned cpu)
{
    f->ops = *tamis__ops(f->plan.kind);
    f->cpu = cpu;
    f->is_far = cpu & TAMIS_CPU_FAR && f->plan.bytes > AHEAD_FAR_BYTES;
    if (f->ops.for_cpu)
        f->ops.for_cpu(f, cpu);
    tamis__batch_fill(&f->ops);
    f->has = f->ops.has;
    f->can_only_add = f->ops.add && !ops_put(&f->ops) && !tamis__plan_grows(&f->plan);
}

void tamis__filter_init(tamis *f, const tamis_plan *plan, const tamis_allocator *a)
{
    *f = (tamis){ .plan = *plan,
                  .salt = salt_of_seed(plan->hasher.seed),
                  .fd = -1,
                  .alloc = a ? *a : tamis__default_allocator };
    tamis__use_cpu(f, tamis__cpu());
}

tamis_status tamis__struct_new(tamis **out, const tamis_plan *plan, const tamis_allocator *a)
{
    const tamis_allocator *from = a ? a : &tamis__default_allocator;
    tamis *f = from->alloc(from->ctx, sizeof *f);

    if (!f)
        return TAMIS_NOMEM;
    tamis__filter_init(f, plan, a);
    *out = f;
    return TAMIS_OK;
}

/* ---- Payloads ---------------------------------------------------------- */

static bool memory_is_zeroed(const tamis *f, size_t size)
{
    return f->alloc.alloc == tamis__default_allocator.alloc && size >= TAMIS_ZEROED_SIZE;
}

static void memory_drop(tamis *f)
{
    f->alloc.free(f->alloc.ctx, f->block, f->block_size);
}

/* An allocator promises no alignment beyond malloc's: 63 bytes more make room for ours. Large
 * blocks of the default one are aligned to pages. */
tamis_status tamis__payload_new(tamis *f)
{
    size_t size = (size_t)f->plan.bytes;
    bool is_zeroed = memory_is_zeroed(f, size);

    f->block_size = is_zeroed ? size : size + 63;
    f->block = f->alloc.alloc(f->alloc.ctx, f->block_size);
    if (!f->block)
        return TAMIS_NOMEM;
    f->payload = (uint8_t *)f->block + (-(uintptr_t)f->block & 63);
    f->drop = memory_drop;
    if (!is_zeroed)
        memset(f->payload, 0, size);
    return TAMIS_OK;
}

void tamis__payload_clear(tamis *f)
{
    memset(f->payload, 0, (size_t)f->plan.bytes);
    f->count = 0;
}

tamis_status tamis__payload_replace(tamis *f, const tamis_plan *plan)
{
    f->drop(f);
    f->block = f->payload = NULL;
    f->plan = *plan;
    tamis__use_cpu(f, f->cpu);
    return tamis__payload_new(f);
}

void tamis__take_over(tamis *f, tamis *made)
{
    tamis old = *f;

    f->plan = made->plan;
    f->count = made->count;
    f->payload = made->payload;
    f->block = made->block;
    f->block_size = made->block_size;
    f->drop = made->drop;
    tamis__use_cpu(f, f->cpu);
    made->payload = old.payload;
    made->block = old.block;
    made->block_size = old.block_size;
    made->drop = old.drop;
    tamis_free(made);
}

void *tamis__scratch_new(const tamis *f, uint64_t size)
{
    return size <= PTRDIFF_MAX ? f->alloc.alloc(f->alloc.ctx, (size_t)size) : NULL;
}

void tamis__scratch_free(const tamis *f, void *block, uint64_t size)
{
    f->alloc.free(f->alloc.ctx, block, (size_t)size);
}

void tamis_free(tamis *f)
{
    if (!f)
        return;
    if (f->block && f->drop)
        f->drop(f);
    f->alloc.free(f->alloc.ctx, f, sizeof *f);
}
