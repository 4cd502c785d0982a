/* builder.c - filters of sets whose size is unknown, or that do not fit in memory.
 *
 * Keys of kinds that are solved, written in order or built as sets wait as items, in buckets, for
 * the engine (core/make.h), to which the builder is the host: with their values, or in two lists,
 * if the kind needs more than keys. Other kinds take keys, or pairs, at once if the size is known;
 * if not, or if they adapt, keys wait in the order given, and as items while they are counted. */
#include "tamis_builder.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "core/grow.h"
#include "core/memory.h"
#include "core/plan.h"
#include "core/sized.h"
#include "os/ordered_file.h"
#include "os/spill.h"
#include "os/workers.h"

/* With less, the buffers of the file would be more than a quarter of it. */
static const uint64_t MEMORY_MIN = 4 << 20;

/* The first size: see core/sized.h. */
enum { BUILDER_OPTIONS = SIZED_UP_TO(tamis_build_options, alloc) };

/* A filter that takes keys at once, by one thread at a time. */
typedef struct builder_lane {
    tamis *f;
    bool is_taken;
} builder_lane;

struct tamis_builder {
    tamis stub; /* has functions, salt and allocator, but no payload */
    tamis_spec spec;
    tamis_build_options options;
    make_host host;
    file_save *save; /* where parts go, while they do */
    int error;       /* errno of the engine's last failure, or of what broke it */

    pthread_mutex_t lock; /* guards all that follows while keys come */
    tamis_status broken;  /* nothing can be done any more */
    uint64_t largest;     /* key: the capacity of indexed kinds */
    uint64_t values;      /* all of them, or-ed: the bits that they need */
    tamis *filter;        /* that takes keys at once, of the first lane; else NULL */
    builder_lane lanes[WORKERS_MAX];
    unsigned n_lanes;
    pthread_cond_t freed; /* a lane was */
    spill given;          /* keys as they come, of kinds that add; pairs, of kinds that put */
    spill keys;           /* as items */
    spill others;         /* of kinds that exclude */

    uint64_t counts[3][SPILL_BUCKETS]; /* for the engine */
    size_t size;                       /* of this block */
    char dir[];
};

/* ---- Facts ------------------------------------------------------------- */

static bool builder_has(const tamis_builder *b, unsigned traits)
{
    return b->stub.ops.traits & traits;
}

/* Whether keys wait as items. */
static bool builder_takes_items(const tamis_builder *b)
{
    return b->stub.ops.solve || b->stub.ops.append || builder_has(b, TAMIS_TRAIT_BUILDS_SETS);
}

/* Whether it takes keys to be told from the others. */
static bool builder_takes_others(const tamis_builder *b)
{
    return builder_has(b, TAMIS_TRAIT_TAKES_OTHERS) || b->stub.ops.adapt;
}

/* Whether the filter can be planned before keys come. One that adapts is planned for the excluded
 * keys that come, too, and these may come last, and be more than were announced. */
static bool builder_takes_at_once(const tamis_builder *b)
{
    bool is_known = b->spec.keys || b->spec.error > 0;

    return !builder_takes_items(b) && is_known && !b->stub.ops.adapt;
}

/* Bytes that may still be taken beside these. */
static uint64_t builder_memory_left(const tamis_builder *b, uint64_t taken)
{
    uint64_t memory = b->options.memory;

    if (memory == 0)
        return UINT64_MAX;
    return taken < memory ? memory - taken : 0;
}

static uint64_t builder_held(const tamis_builder *b)
{
    return tamis__spill_held(&b->given) + tamis__spill_held(&b->keys) +
           tamis__spill_held(&b->others);
}

static uint32_t builder_bits(uint64_t x)
{
    return x ? 64 - (uint32_t)__builtin_clzll(x) : 0;
}

/* ---- Life -------------------------------------------------------------- */

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
    if (ops->traits & TAMIS_TRAIT_TAKES_OTHERS && spec.universe == 0)
        spec.universe = spec.keys + 1;
    tamis_status status = tamis_plan_kind(plan, kind, &spec);
    if (status || memory == 0)
        return status;
    if (memory < MEMORY_MIN)
        return TAMIS_NOMEM;
    if (!ops->solve || ops->traits & TAMIS_TRAIT_TAKES_OTHERS || spec.keys == 0)
        return TAMIS_OK;
    return tamis__make_needs(plan) > memory - memory / 8 ? TAMIS_NOMEM : TAMIS_OK;
}

static tamis_status builder_new_filter(const tamis_builder *b, tamis **out, const tamis_plan *plan,
                                       uint64_t held)
{
    if (plan->bytes > builder_memory_left(b, held))
        return TAMIS_NOMEM;
    return tamis_new(out, plan, &b->stub.alloc);
}

static void builder_set_plan(tamis_builder *b, const tamis_plan *plan)
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

    if (!status && m->others.items)
        status = tamis__spill_to_file(&b->others);
    b->error = status == TAMIS_IO ? errno : 0;
    m->keys = tamis__spill_list(&b->keys);
    if (m->others.starts)
        m->others = tamis__spill_list(&b->others);
    return status;
}

static tamis_status builder_put(const make *m, uint64_t offset, const void *part, size_t size)
{
    const tamis_builder *b = m->host->ctx;

    offset += tamis__image_offset(&m->f->plan);
    return tamis__file_write(b->save->fd, offset, part, size) ? TAMIS_OK : TAMIS_IO;
}

/* Two lists at a time share the memory. */
static void builder_open_keys(tamis_builder *b)
{
    bool is_alone = builder_takes_items(b) && !builder_takes_others(b);
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
    builder_open_keys(b);
    tamis__spill_open(&b->others, &b->stub, o->memory / 2, o->dir, 1, false);
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
        status = builder_new_filter(b, &b->filter, &plan, 0);
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
    tamis__spill_close(&b->others);
    tamis_free(b->filter);
    for (unsigned i = 1; i < b->n_lanes; i++)
        tamis_free(b->lanes[i].f);
    pthread_cond_destroy(&b->freed);
    pthread_mutex_destroy(&b->lock);
    const tamis_allocator a = b->stub.alloc;
    a.free(a.ctx, b, b->size);
}

/* ---- Adding ------------------------------------------------------------ */

/* What broke it is what every later call fails by. */
static tamis_status builder_break(tamis_builder *b, tamis_status status)
{
    if (!b->broken && status) {
        b->broken = status;
        b->error = errno;
    }
    return status;
}

static tamis_status builder_broken(const tamis_builder *b)
{
    if (b->broken == TAMIS_IO)
        errno = b->error;
    return b->broken;
}

/* Keys become items before the lock is taken: threads wait for each other only while items are
 * copied. */
static tamis_status builder_add_items(tamis_builder *b, spill *to, const uint64_t *keys,
                                      const uint64_t *values, size_t n)
{
    uint64_t items[MAKE_BUFFER];
    size_t at = 0, most = MAKE_BUFFER / to->words;
    tamis_status status;

    do {
        size_t piece = n - at < most ? n - at : most;
        tamis__make_items(items, &b->stub, keys + at, values ? values + at : NULL, piece);
        pthread_mutex_lock(&b->lock);
        status = b->broken ? builder_broken(b) : tamis__spill_add(to, items, piece);
        status = builder_break(b, status);
        pthread_mutex_unlock(&b->lock);
        at += piece;
    } while (at < n && !status);
    return status;
}

/* Where they wait in the order given. */
static tamis_status builder_keep_keys(tamis_builder *b, const uint64_t *keys, size_t n)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < n; i++)
        largest = keys[i] > largest ? keys[i] : largest;
    pthread_mutex_lock(&b->lock);
    b->largest = largest > b->largest ? largest : b->largest;
    tamis_status status = b->broken ? builder_broken(b) : tamis__spill_add(&b->given, keys, n);
    status = builder_break(b, status);
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* ---- Adding at once ---------------------------------------------------- */

/* Threads that would wait for each other get filters of their own, if the kind only sets bits: all
 * are merged in the end, and it does not matter which one had a key. NULL: there can be no more. */
static builder_lane *builder_new_lane(tamis_builder *b)
{
    const tamis_plan *plan = &b->filter->plan;
    builder_lane *lane = &b->lanes[b->n_lanes];

    if (!builder_has(b, TAMIS_TRAIT_ONLY_SETS_BITS) || b->n_lanes >= b->host.threads ||
        builder_new_filter(b, &lane->f, plan, b->n_lanes * plan->bytes))
        return NULL;
    b->n_lanes++;
    return lane;
}

static builder_lane *builder_take_lane(tamis_builder *b)
{
    builder_lane *lane;

    for (;;) {
        for (lane = b->lanes; lane < b->lanes + b->n_lanes && lane->is_taken; lane++)
            ;
        if (lane == b->lanes + b->n_lanes)
            lane = builder_new_lane(b);
        if (lane)
            break;
        pthread_cond_wait(&b->freed, &b->lock);
    }
    lane->is_taken = true;
    return lane;
}

static tamis_status builder_add_at_once(tamis_builder *b, const uint64_t *keys, size_t n)
{
    size_t added;

    pthread_mutex_lock(&b->lock);
    tamis_status status = builder_broken(b);
    if (!status) {
        builder_lane *lane = builder_take_lane(b);
        pthread_mutex_unlock(&b->lock);
        status = tamis_add_many(lane->f, &added, keys, n);
        pthread_mutex_lock(&b->lock);
        lane->is_taken = false;
        pthread_cond_signal(&b->freed);
        status = builder_break(b, status);
    }
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* Into the first filter, all that the others hold. */
static tamis_status builder_join_lanes(tamis_builder *b)
{
    tamis_status status = TAMIS_OK;

    while (b->n_lanes > 1 && !status) {
        tamis *f = b->lanes[b->n_lanes - 1].f;
        status = tamis_combine(b->filter, TAMIS_MERGE, f);
        if (!status) {
            tamis_free(f);
            b->n_lanes--;
        }
    }
    return status;
}

tamis_status tamis_builder_add_many(tamis_builder *b, const uint64_t *keys, size_t n)
{
    if (builder_has(b, TAMIS_TRAIT_TAKES_VALUES))
        return TAMIS_CANNOT;
    if (builder_takes_items(b))
        return builder_add_items(b, &b->keys, keys, NULL, n);
    return b->filter ? builder_add_at_once(b, keys, n) : builder_keep_keys(b, keys, n);
}

/* The same for pairs, each a key and its value. */
static tamis_status builder_add_pairs(tamis_builder *b, const uint64_t *keys,
                                      const uint64_t *values, size_t n)
{
    uint64_t pairs[MAKE_BUFFER];
    tamis_status status = TAMIS_OK;
    size_t done, piece;

    pthread_mutex_lock(&b->lock);
    for (size_t at = 0; at < n && !status; at += piece) {
        piece = n - at < MAKE_BUFFER / 2 ? n - at : MAKE_BUFFER / 2;
        for (size_t i = 0; i < piece && !b->filter; i++) {
            pairs[2 * i] = keys[at + i];
            pairs[2 * i + 1] = values[at + i];
        }
        status = b->broken   ? builder_broken(b)
                 : b->filter ? tamis_put_many(b->filter, &done, keys + at, values + at, piece)
                             : tamis__spill_add(&b->given, pairs, piece);
        status = builder_break(b, status);
    }
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* Values are checked before any is taken: what was refused can be left out. */
tamis_status tamis_builder_add_map(tamis_builder *b, const uint64_t *keys, const uint64_t *values,
                                   size_t n)
{
    uint64_t all = 0;

    if (!builder_has(b, TAMIS_TRAIT_TAKES_VALUES))
        return TAMIS_CANNOT;
    if (ops_put(&b->stub.ops))
        return builder_add_pairs(b, keys, values, n);
    for (size_t i = 0; i < n; i++)
        all |= values[i];
    if (builder_bits(all) > (b->spec.value_bits ? b->spec.value_bits : 32))
        return TAMIS_RANGE;
    pthread_mutex_lock(&b->lock);
    b->values |= all;
    pthread_mutex_unlock(&b->lock);
    return builder_add_items(b, &b->keys, keys, values, n);
}

tamis_status tamis_builder_add_excluded(tamis_builder *b, const uint64_t *excluded, size_t n)
{
    if (!builder_takes_others(b))
        return TAMIS_CANNOT;
    return builder_add_items(b, &b->others, excluded, NULL, n);
}

/* ---- The engine -------------------------------------------------------- */

static make builder_make(tamis_builder *b)
{
    make m = { .f = &b->stub,
               .host = &b->host,
               .keys = tamis__spill_list(&b->keys),
               .distinct = b->counts[0],
               .both = b->counts[1],
               .rest = b->counts[2] };

    if (builder_has(b, TAMIS_TRAIT_TAKES_OTHERS))
        m.others = tamis__spill_list(&b->others);
    memset(b->counts, 0, sizeof b->counts);
    m.total = m.keys.n + m.others.n;
    return m;
}

/* ---- Kinds that add ---------------------------------------------------- */

/* Some of what was given: keys, and their values if they have any. */
typedef tamis_status builder_take(tamis_builder *b, tamis *f, const uint64_t *keys,
                                  const uint64_t *values, size_t n);

static tamis_status builder_take_into_filter(tamis_builder *b, tamis *f, const uint64_t *keys,
                                             const uint64_t *values, size_t n)
{
    size_t done;

    (void)b;
    return values ? tamis_put_many(f, &done, keys, values, n) : tamis_add_many(f, &done, keys, n);
}

static tamis_status builder_take_as_items(tamis_builder *b, tamis *f, const uint64_t *keys,
                                          const uint64_t *values, size_t n)
{
    (void)f;
    (void)values;
    return builder_add_items(b, &b->keys, keys, NULL, n);
}

/* Pairs, as keys and values. */
static tamis_status builder_take_pairs(tamis_builder *b, tamis *f, builder_take *take,
                                       const uint64_t *pairs, size_t n)
{
    uint64_t keys[MAKE_BUFFER / 2], values[MAKE_BUFFER / 2];
    tamis_status status = TAMIS_OK;

    for (size_t at = 0, piece; at < n && !status; at += piece) {
        piece = n - at < MAKE_BUFFER / 2 ? n - at : MAKE_BUFFER / 2;
        for (size_t i = 0; i < piece; i++) {
            keys[i] = pairs[2 * (at + i)];
            values[i] = pairs[2 * (at + i) + 1];
        }
        status = take(b, f, keys, values, piece);
    }
    return status;
}

/* So many items of what was given. */
static tamis_status builder_take_given(tamis_builder *b, tamis *f, builder_take *take,
                                       const uint64_t *items, size_t n)
{
    return b->given.words == 2 ? builder_take_pairs(b, f, take, items, n)
                               : take(b, f, items, NULL, n);
}

/* What was given, in its order and in pieces. `before` and what follows is what progress is told
 * of. */
static tamis_status builder_for_all(tamis_builder *b, tamis *f, builder_take *take, uint64_t before,
                                    uint64_t total)
{
    const tamis_build_options *o = &b->options;
    size_t size = b->given.chunk * b->given.words * sizeof(uint64_t), n;
    const make_list l = tamis__spill_list(&b->given);
    make_cursor c = { .end = 1 };
    tamis_status status = TAMIS_OK;
    const uint64_t *items;
    uint64_t *buffer = tamis__scratch_new(&b->stub, size);

    if (!buffer)
        return TAMIS_NOMEM;
    while (!status && (items = tamis__make_read(&l, &c, buffer, &n)))
        for (size_t at = 0, piece; at < n && !status; at += piece) {
            piece = n - at < b->given.chunk ? n - at : b->given.chunk;
            before += piece;
            status = o->progress && !o->progress(o->ctx, before, total)
                         ? TAMIS_STOPPED
                         : builder_take_given(b, f, take, items + at * l.words, piece);
        }
    status = c.has_failed ? TAMIS_IO : status;
    b->error = status == TAMIS_IO ? errno : 0;
    tamis__scratch_free(&b->stub, buffer, size);
    return status;
}

/* The plan for so many keys and for all others that came. */
static tamis_status builder_plan_for(const tamis_builder *b, tamis_plan *plan, tamis_spec *spec)
{
    spec->keys = spec->keys ? spec->keys : 1;
    if (b->others.n && spec->universe < spec->keys + b->others.n)
        spec->universe = spec->keys + b->others.n;
    return tamis_plan_kind(plan, b->stub.plan.kind, spec);
}

/* Each key goes through three times: as an item, counted, and into the filter. */
static tamis_status builder_count_given(tamis_builder *b, uint64_t *distinct)
{
    uint64_t n = b->given.n, others;
    tamis_status status = builder_for_all(b, NULL, builder_take_as_items, 0, 3 * n);

    if (!status) {
        make m = builder_make(b);
        m.done = n;
        m.total = 3 * n;
        status = tamis__make_count(&m, false, distinct, &others);
    }
    tamis__spill_close(&b->keys);
    builder_open_keys(b);
    b->broken = TAMIS_OK; /* the keys that were given are all there */
    return status;
}

/* How many keys to plan for: those announced, or those that came. */
static tamis_status builder_size_given(tamis_builder *b, uint64_t *keys)
{
    if (*keys)
        return TAMIS_OK;
    if (b->stub.ops.item && b->largest == UINT64_MAX)
        return TAMIS_RANGE;
    *keys = b->stub.ops.item && b->given.n ? b->largest + 1 : b->given.n;
    if (b->stub.ops.item || builder_has(b, TAMIS_TRAIT_KEEPS_COPIES) || b->given.n < 2)
        return TAMIS_OK;
    return builder_count_given(b, keys);
}

/* Keys go to the file if there is no room for the filter beside them. */
static tamis_status builder_add_all(tamis_builder *b, tamis **out)
{
    tamis_spec spec = b->spec;
    tamis_plan plan;
    tamis *f;
    tamis_status status = builder_size_given(b, &spec.keys);

    if (status)
        return status;
    status = builder_plan_for(b, &plan, &spec);
    if (!status && b->given.items && plan.bytes > builder_memory_left(b, builder_held(b)))
        status = tamis__spill_to_file(&b->given);
    if (!status)
        status = builder_new_filter(b, &f, &plan, builder_held(b));
    if (status)
        return status;
    status = builder_for_all(b, f, builder_take_into_filter, 2 * b->given.n, 3 * b->given.n);
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}

/* ---- Kinds that are solved --------------------------------------------- */

/* Whether there may be more keys than planned for, or so many repeated ones that a part is too
 * large to be read as it is. */
static bool builder_must_count(const tamis_builder *b, const make *m)
{
    const tamis_plan planned = { .kind = b->stub.plan.kind, .capacity = b->spec.keys };
    unsigned bits = tamis__make_part_bits(&planned);
    unsigned above = bits > SPILL_BUCKET_BITS ? bits - SPILL_BUCKET_BITS : 0;
    uint64_t most = tamis__make_largest(&m->keys, NULL, NULL, (size_t)1 << (bits - above));

    return builder_has(b, TAMIS_TRAIT_TAKES_OTHERS) || m->keys.n > planned.capacity ||
           most > tamis__make_part_room(&planned) << above;
}

/* Counts keys, if need be, and plans for them. Kinds that exclude go through all items four times:
 * counting, and the three passes of core/make_excluding.c. */
static tamis_status builder_plan(tamis_builder *b, make *m, tamis_plan *plan)
{
    const bool excludes = builder_has(b, TAMIS_TRAIT_TAKES_OTHERS);
    tamis_spec spec = b->spec;
    uint64_t keys = 0, others = 0;
    tamis_status status = TAMIS_OK;

    if (builder_must_count(b, m)) {
        m->total *= excludes ? 4 : 2;
        status = tamis__make_count(m, excludes, &keys, &others);
    }
    if (status)
        return status;
    m->is_clean = excludes;
    spec.keys = spec.keys > keys ? spec.keys : keys;
    spec.keys = spec.keys ? spec.keys : 1;
    if (builder_has(b, TAMIS_TRAIT_TAKES_VALUES) && spec.value_bits == 0)
        spec.value_bits = builder_bits(b->values | 1);
    if (excludes && spec.universe < spec.keys + others)
        spec.universe = spec.keys + others;
    return tamis_plan_kind(plan, b->stub.plan.kind, &spec);
}

static tamis_status builder_solve(tamis_builder *b, tamis **out)
{
    make m = builder_make(b);
    tamis_plan plan;
    tamis_status status = builder_plan(b, &m, &plan);

    if (!status)
        status = builder_new_filter(b, &m.f, &plan, 0);
    if (status)
        return status;
    status = tamis__make_solve(&m);
    if (status)
        tamis_free(m.f);
    else
        *out = m.f;
    return status;
}

/* The stub takes the plan; parts go to the file. */
static tamis_status builder_solve_to(tamis_builder *b, file_save *save)
{
    make m = builder_make(b);
    tamis_plan plan;
    tamis_status status = builder_plan(b, &m, &plan);

    if (status)
        return status;
    builder_set_plan(b, &plan);
    b->save = save;
    b->host.put = builder_put;
    status = tamis__make_solve(&m);
    b->host.put = NULL;
    return status ? status : tamis__save_seal(save, &b->stub);
}

static tamis_status builder_solve_file(tamis_builder *b, const char *path)
{
    file_save *save = tamis__scratch_new(&b->stub, sizeof *save);

    if (!save)
        return TAMIS_NOMEM;
    tamis_status status = tamis__save_begin(save, path, b->spec.hasher.hash == TAMIS_KEYED);
    if (!status)
        status = tamis__save_end(save, builder_solve_to(b, save));
    tamis__scratch_free(&b->stub, save, sizeof *save);
    return status;
}

/* ---- Kinds in order, and kinds that build sets ------------------------- */

static tamis_status builder_append(void *ctx, uint64_t fingerprint, uint64_t count)
{
    tamis_writer *w = ctx;

    return w->f->ops.append(w, fingerprint, count);
}

static tamis_status builder_write(make *m, tamis **out, const tamis_plan *plan)
{
    tamis_builder *b = m->host->ctx;
    tamis_writer w = { 0 };
    tamis_status status = builder_new_filter(b, &m->f, plan, 0);

    if (status)
        return status;
    w.f = m->f;
    if (builder_has(b, TAMIS_TRAIT_BUILDS_SETS)) {
        status = tamis__make_set(m);
    } else {
        status = tamis__make_ordered(m, builder_append, &w);
        (void)w.f->ops.append(&w, 0, 0);
    }
    if (status)
        tamis_free(m->f);
    else
        *out = m->f;
    return status;
}

static tamis_status builder_append_to_file(void *ctx, uint64_t fingerprint, uint64_t count)
{
    return tamis__ordered_file_append(ctx, fingerprint, count);
}

static tamis_status builder_write_file(make *m, const char *path, const tamis_plan *plan)
{
    tamis_builder *b = m->host->ctx;
    ordered_file *o = tamis__scratch_new(&b->stub, sizeof *o);

    if (!o)
        return TAMIS_NOMEM;
    builder_set_plan(b, plan);
    m->f = &b->stub;
    tamis_status status = tamis__ordered_file_begin(o, path, plan);
    if (!status) {
        status = tamis__make_ordered(m, builder_append_to_file, o);
        status = tamis__save_end(&o->save, tamis__ordered_file_complete(o, status));
    }
    tamis__scratch_free(&b->stub, o, sizeof *o);
    return status;
}

/* How many keys to plan for: those announced, or those that came. */
static tamis_status builder_size_items(const tamis_builder *b, make *m, uint64_t *keys)
{
    uint64_t others;

    if (*keys)
        return TAMIS_OK;
    *keys = m->keys.n;
    if (builder_has(b, TAMIS_TRAIT_KEEPS_COPIES) || m->keys.n < 2)
        return TAMIS_OK;
    m->total *= 2;
    return tamis__make_count(m, false, keys, &others);
}

/* A plan with more room, for copies of keys that were not announced; or for more keys than were, if
 * the filter may grow. Counts take less room than copies would: it is found in steps. */
static tamis_status builder_enlarge(const tamis_builder *b, tamis_plan *plan, tamis_spec *spec)
{
    uint64_t more = spec->keys + spec->keys / 4 + 1;

    if (tamis__plan_grows(plan))
        return tamis__plan_grow(plan, b->keys.n);
    if (b->spec.keys || spec->keys >= b->keys.n)
        return TAMIS_FULL;
    spec->keys = more < b->keys.n ? more : b->keys.n;
    return builder_plan_for(b, plan, spec);
}

/* Fingerprints of a larger filter are the same, so that growing is starting again: what was done in
 * vain is more work in all. */
static tamis_status builder_write_all(tamis_builder *b, tamis **out, const char *path)
{
    make m = builder_make(b);
    tamis_spec spec = b->spec;
    tamis_plan plan;
    tamis_status status = builder_size_items(b, &m, &spec.keys);

    if (status)
        return status;
    status = builder_plan_for(b, &plan, &spec);
    while (!status) {
        const uint64_t done = m.done;
        status = path ? builder_write_file(&m, path, &plan) : builder_write(&m, out, &plan);
        if (status != TAMIS_FULL || !b->stub.ops.append)
            break;
        m.total += m.done - done;
        status = builder_enlarge(b, &plan, &spec);
    }
    return status;
}

/* ---- Kinds that adapt -------------------------------------------------- */

/* One round over all others. */
static tamis_status builder_exclude_round(tamis_builder *b, tamis *f, uint64_t *buffer,
                                          bool *is_done)
{
    const make_list l = tamis__spill_list(&b->others);
    make_cursor c = { .end = SPILL_BUCKETS };
    tamis_status status = TAMIS_OK;
    uint64_t keys[MAKE_BUFFER];
    const uint64_t *items;
    size_t n;

    while (!status && (items = tamis__make_read(&l, &c, buffer, &n)))
        for (size_t at = 0, piece; at < n && !status; at += piece) {
            piece = n - at < MAKE_BUFFER ? n - at : MAKE_BUFFER;
            for (size_t i = 0; i < piece; i++)
                keys[i] = tamis__make_key(f, items[at + i]);
            status = tamis__exclude(f, keys, piece, is_done);
        }
    return c.has_failed ? TAMIS_IO : status;
}

static tamis_status builder_exclude(tamis_builder *b, tamis *f)
{
    size_t size = b->others.chunk * sizeof(uint64_t);
    tamis_status status = TAMIS_OK;
    bool is_done = false;
    uint64_t *buffer = tamis__scratch_new(&b->stub, size);

    if (!buffer)
        return TAMIS_NOMEM;
    for (int round = 0; round < EXCLUDE_ROUNDS && !status && !is_done; round++) {
        is_done = true;
        status = builder_exclude_round(b, f, buffer, &is_done);
    }
    b->error = status == TAMIS_IO ? errno : 0;
    tamis__scratch_free(&b->stub, buffer, size);
    return !status && !is_done ? TAMIS_FULL : status;
}

/* ---- Finishing --------------------------------------------------------- */

static tamis_status builder_fill(tamis_builder *b, tamis **out)
{
    if (b->stub.ops.solve)
        return builder_solve(b, out);
    if (builder_takes_items(b))
        return builder_write_all(b, out, NULL);
    if (!b->filter)
        return builder_add_all(b, out);
    *out = b->filter;
    b->filter = NULL;
    return TAMIS_OK;
}

/* Kinds that adapt do not take keys at once: after a failure, the keys still wait. */
static tamis_status builder_finish(tamis_builder *b, tamis **out)
{
    tamis *f;
    tamis_status status = builder_fill(b, &f);

    if (status)
        return status;
    if (b->stub.ops.adapt && b->others.n)
        status = builder_exclude(b, f);
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}

/* There is nothing left in it. */
static void builder_spend(tamis_builder *b)
{
    tamis__spill_close(&b->given);
    tamis__spill_close(&b->keys);
    tamis__spill_close(&b->others);
    b->broken = TAMIS_CANNOT;
}

/* Gives errno what the engine met, whatever was called since. */
static tamis_status builder_end(tamis_builder *b, tamis_status status)
{
    if (!status || status == TAMIS_UNSYNCED)
        builder_spend(b);
    if (status == TAMIS_IO && b->error)
        errno = b->error;
    return status;
}

tamis_status tamis_builder_finish(tamis **out, tamis_builder *b)
{
    tamis_status status = b->broken ? builder_broken(b) : builder_join_lanes(b);

    if (status)
        return status;
    b->error = 0;
    return builder_end(b, builder_finish(b, out));
}

/* In memory first. */
static tamis_status builder_save(tamis_builder *b, const char *path, tamis_plan *plan)
{
    tamis *f = b->filter;
    tamis_status status = f ? TAMIS_OK : builder_finish(b, &f);

    if (!status)
        status = tamis_save(f, path);
    if (!status || status == TAMIS_UNSYNCED)
        *plan = f->plan;
    if (f != b->filter)
        tamis_free(f);
    return status;
}

tamis_status tamis_builder_save(tamis_builder *b, const char *path, tamis_plan *plan)
{
    tamis_plan made;
    tamis_status status;

    status = b->broken ? builder_broken(b) : builder_join_lanes(b);
    if (status)
        return status;
    b->error = 0;
    if (b->stub.ops.append && b->others.n == 0)
        status = builder_write_all(b, NULL, path);
    else if (b->stub.ops.solve && !builder_has(b, TAMIS_TRAIT_TAKES_OTHERS))
        status = builder_solve_file(b, path);
    else
        status = builder_save(b, path, &b->stub.plan);
    made = b->stub.plan;
    if (plan && (!status || status == TAMIS_UNSYNCED))
        *plan = made;
    return builder_end(b, status);
}
