#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/pages.h"

static void *resize_with_libc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size)
        return malloc(new_size);
    free(ptr);
    return NULL;
}

tamis_status tamis__struct_new(tamis **out, const tamis_plan *plan, const tamis_allocator *a)
{
    tamis_allocator alloc = a ? *a : (tamis_allocator){ resize_with_libc, NULL };
    tamis *f = alloc.resize(alloc.ctx, NULL, 0, sizeof *f);

    if (!f)
        return TAMIS_NOMEM;
    *f = (tamis){ .ops = tamis__ops(plan->kind),
                  .plan = *plan,
                  .salt = salt_of_seed(plan->hasher.seed),
                  .fd = -1,
                  .alloc = alloc };
    tamis__use_cpu(f, tamis__cpu());
    *out = f;
    return TAMIS_OK;
}

static void drop_pages(tamis *f)
{
    tamis__pages_free(f->block, f->block_size);
}

static void drop_heap(tamis *f)
{
    f->alloc.resize(f->alloc.ctx, f->block, f->block_size, 0);
}

static tamis_status own_pages(tamis *f)
{
    f->block_size = (size_t)f->plan.bytes;
    f->block = tamis__pages_new(f->block_size);
    f->payload = f->block;
    f->drop = drop_pages;
    return f->block ? TAMIS_OK : TAMIS_NOMEM;
}

/* An allocator promises no alignment beyond malloc's: 63 bytes more make room for ours. */
static tamis_status own_heap(tamis *f)
{
    f->block_size = (size_t)f->plan.bytes + 63;
    f->block = f->alloc.resize(f->alloc.ctx, NULL, 0, f->block_size);
    if (!f->block)
        return TAMIS_NOMEM;
    memset(f->block, 0, f->block_size);
    f->payload = (uint8_t *)f->block + (-(uintptr_t)f->block & 63);
    f->drop = drop_heap;
    return TAMIS_OK;
}

static bool deserves_pages(const tamis *f, uint64_t size)
{
    return f->alloc.resize == resize_with_libc && size >= PAGES_WORTHWHILE;
}

tamis_status tamis__payload_new(tamis *f)
{
    return deserves_pages(f, f->plan.bytes) ? own_pages(f) : own_heap(f);
}

void tamis__take_over(tamis *f, tamis *made)
{
    tamis old = *f;

    f->has = made->has;
    memcpy(f->numbers, made->numbers, sizeof f->numbers);
    f->plan = made->plan;
    f->count = made->count;
    f->payload = made->payload;
    f->block = made->block;
    f->block_size = made->block_size;
    f->drop = made->drop;
    made->payload = old.payload;
    made->block = old.block;
    made->block_size = old.block_size;
    made->drop = old.drop;
    tamis_free(made);
}

void *tamis__scratch_new(const tamis *f, size_t size)
{
    if (deserves_pages(f, size))
        return tamis__pages_new(size);
    return f->alloc.resize(f->alloc.ctx, NULL, 0, size);
}

void tamis__scratch_free(const tamis *f, void *block, size_t size)
{
    if (deserves_pages(f, size))
        tamis__pages_free(block, size);
    else
        f->alloc.resize(f->alloc.ctx, block, size, 0);
}

void tamis_free(tamis *f)
{
    if (!f)
        return;
    /* A failure shows in the file itself, which stays marked as dirty. */
    if (f->fd >= 0)
        (void)!tamis_sync(f);
    if (f->block && f->drop)
        f->drop(f);
    f->alloc.resize(f->alloc.ctx, f, sizeof *f, 0);
}
