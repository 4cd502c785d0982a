/* builder.c - filters of sets whose size is unknown, or that do not fit in memory.
 *
 * Keys of kinds that are solved, written in order or built as sets wait as items, in buckets, for
 * the engine (core/make.h), to which the builder is the host: with their values, or in two lists,
 * if the kind needs more than keys. Other kinds take keys, or pairs, at once if the size is known;
 * if not, or if they adapt, keys wait in the order given, and as items while they are counted. */
#include "os/builder.h"

#include <errno.h>
#include <string.h>

#include "core/memory.h"
#include "core/plan.h"
#include "core/sized.h"

/* With less, the buffers of the file would be more than a quarter of it. */
static const uint64_t MEMORY_MIN = 4 << 20;

/* The first size: see core/sized.h. */
enum { BUILDER_OPTIONS = SIZED_UP_TO(tamis_build_options, alloc) };

/* A plan for what is known before keys come. What no number of keys can change is refused here, and
 * so is a number of them that would not fit. */
static tamis_status builder_check(tamis_plan *plan, tamis_kind kind, tamis_spec spec,
                                  uint64_t memory)
{
    const tamis_ops *ops = tamis__ops(kind);

    if (!ops)
        return TAMIS_RANGE;
    if (ops->traits & TAMIS_TRAIT_TAKES_VALUES && spec.value_bits == 0)
        spec.value_bits = 1;
    if (ops->traits & TAMIS_TRAIT_TAKES_EXCLUDED && spec.universe == 0)
        spec.universe = spec.keys + 1;
    tamis_status status = tamis_plan_kind(plan, kind, &spec);
    if (status || memory == 0)
        return status;
    if (memory < MEMORY_MIN)
        return TAMIS_NOMEM;
    if (!ops->solve || ops->traits & TAMIS_TRAIT_TAKES_EXCLUDED || spec.keys == 0)
        return TAMIS_OK;
    return tamis__make_needs(plan) > memory - memory / 8 ? TAMIS_NOMEM : TAMIS_OK;
}

tamis_status tamis__builder_new_filter(const tamis_builder *b, tamis **out, const tamis_plan *plan,
                                       uint64_t held)
{
    if (plan->bytes > builder_memory_left(b, held))
        return TAMIS_NOMEM;
    return tamis_new(out, plan, &b->stub.alloc);
}

void tamis__builder_set_plan(tamis_builder *b, const tamis_plan *plan)
{
    const tamis_allocator a = b->stub.alloc;

    tamis__filter_init(&b->stub, plan, &a);
}

static tamis_status builder_run(make_work *w, unsigned workers)
{
    tamis_builder *b = w->m->host->ctx;
    tamis_status status = tamis__workers_run(w, workers, b->options.progress, b->options.ctx);

    b->error = status == TAMIS_IO ? errno : 0;
    return status;
}

static uint64_t builder_memory(const make *m)
{
    const tamis_builder *b = m->host->ctx;

    return builder_memory_left(b, builder_held(b));
}

static tamis_status builder_unload(make *m)
{
    tamis_builder *b = m->host->ctx;
    tamis_status status = m->keys.items ? tamis__spill_to_file(&b->keys) : TAMIS_OK;

    if (!status && m->excluded.items)
        status = tamis__spill_to_file(&b->excluded);
    b->error = status == TAMIS_IO ? errno : 0;
    m->keys = tamis__spill_list(&b->keys);
    if (m->excluded.starts)
        m->excluded = tamis__spill_list(&b->excluded);
    return status;
}

/* Two lists at a time share the memory. */
void tamis__builder_open_keys(tamis_builder *b)
{
    bool is_alone = builder_takes_items(b) && !builder_takes_excluded(b);
    unsigned words = builder_has(b, TAMIS_TRAIT_TAKES_VALUES) && builder_takes_items(b) ? 2 : 1;

    tamis__spill_open(&b->keys, &b->stub, b->options.memory / (is_alone ? 1 : 2), b->options.dir,
                      words, false);
}

static void builder_init(tamis_builder *b)
{
    tamis_build_options *o = &b->options;

    if (o->dir)
        o->dir = strcpy(b->dir, o->dir);

    b->host = (make_host){ .ctx = b,
                           .threads = o->threads < WORKERS_MAX ? o->threads : WORKERS_MAX,
                           .run = builder_run,
                           .memory = builder_memory,
                           .unload = builder_unload };
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->freed, NULL);
    tamis__spill_open(&b->given, &b->stub, o->memory, o->dir, ops_put(&b->stub.ops) ? 2 : 1, true);
    tamis__builder_open_keys(b);
    tamis__spill_open(&b->excluded, &b->stub, o->memory / 2, o->dir, 1, false);
}

tamis_status tamis_builder_new(tamis_builder **out, tamis_kind kind, const tamis_spec *spec,
                               const tamis_build_options *o)
{
    tamis_build_options options = { 0 };
    tamis_spec wanted;
    tamis_plan plan;
    tamis stub;

    if (!tamis__sized_take_spec(&wanted, spec) ||
        (o && !tamis__sized_take(&options, sizeof options, BUILDER_OPTIONS, o)))
        return TAMIS_RANGE;
    tamis_status status = builder_check(&plan, kind, wanted, options.memory);
    if (status)
        return status;
    tamis__filter_init(&stub, &plan, options.alloc);
    size_t size = sizeof(tamis_builder) + (options.dir ? strlen(options.dir) : 0) + 1;
    tamis_builder *b = tamis__scratch_new(&stub, size);
    if (!b)
        return TAMIS_NOMEM;
    memset(b, 0, sizeof *b);
    b->stub = stub;
    b->spec = wanted;
    b->options = options;
    b->size = size;
    builder_init(b);
    if (builder_takes_at_once(b))
        status = tamis__builder_new_filter(b, &b->filter, &plan, 0);
    if (b->filter)
        b->lanes[b->n_lanes++].f = b->filter;
    if (status)
        tamis_builder_free(b);
    else
        *out = b;
    return status;
}

void tamis_builder_free(tamis_builder *b)
{
    if (!b)
        return;
    tamis__spill_close(&b->given);
    tamis__spill_close(&b->keys);
    tamis__spill_close(&b->excluded);
    tamis_free(b->filter);
    for (unsigned i = 1; i < b->n_lanes; i++)
        tamis_free(b->lanes[i].f);
    pthread_cond_destroy(&b->freed);
    pthread_mutex_destroy(&b->lock);
    const tamis_allocator a = b->stub.alloc;
    a.free(a.ctx, b, b->size);
}
