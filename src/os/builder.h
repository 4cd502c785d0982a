/* builder.h - what the parts of a builder share: what it knows and holds, and what each part does
 * for the others. Prefix: builder_. */
#ifndef TAMIS_OS_BUILDER_H
#define TAMIS_OS_BUILDER_H

#include "tamis_builder.h"

#include <pthread.h>

#include "core/make.h"
#include "os/file.h"
#include "os/spill.h"
#include "os/workers.h"

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
    spill excluded;       /* of kinds that exclude */

    uint64_t counts[3][SPILL_BUCKETS]; /* for the engine */
    size_t size;                       /* of this block */
    char dir[];
};

/* ---- Facts ------------------------------------------------------------- */

static inline bool builder_has(const tamis_builder *b, unsigned traits)
{
    return b->stub.ops.traits & traits;
}

/* Whether keys wait as items. */
static inline bool builder_takes_items(const tamis_builder *b)
{
    return b->stub.ops.solve || b->stub.ops.append || builder_has(b, TAMIS_TRAIT_BUILDS_SETS);
}

/* Whether it takes keys that are excluded. */
static inline bool builder_takes_excluded(const tamis_builder *b)
{
    return builder_has(b, TAMIS_TRAIT_TAKES_EXCLUDED) || b->stub.ops.adapt;
}

/* Whether the filter can be planned before keys come. One that adapts is planned for the excluded
 * keys that come, too, and these may come last, and be more than were announced. */
static inline bool builder_takes_at_once(const tamis_builder *b)
{
    bool is_known = b->spec.keys || b->spec.error > 0;

    return !builder_takes_items(b) && is_known && !b->stub.ops.adapt;
}

/* Bytes that may still be taken beside these. */
static inline uint64_t builder_memory_left(const tamis_builder *b, uint64_t taken)
{
    uint64_t memory = b->options.memory;

    if (memory == 0)
        return UINT64_MAX;
    return taken < memory ? memory - taken : 0;
}

static inline uint64_t builder_held(const tamis_builder *b)
{
    return tamis__spill_held(&b->given) + tamis__spill_held(&b->keys) +
           tamis__spill_held(&b->excluded);
}

static inline uint32_t builder_bits(uint64_t x)
{
    return x ? 64 - (uint32_t)__builtin_clzll(x) : 0;
}

/* ---- builder.c: life --------------------------------------------------- */

/* An empty filter, if there is memory for it beside what is held. */
tamis_status tamis__builder_new_filter(const tamis_builder *b, tamis **out, const tamis_plan *plan,
                                       uint64_t held);
void tamis__builder_set_plan(tamis_builder *b, const tamis_plan *plan);
void tamis__builder_open_keys(tamis_builder *b);

/* ---- builder_take.c: what comes in -------------------------------------- */

/* The status that every call returns after one that broke the builder. */
tamis_status tamis__builder_broken(const tamis_builder *b);
tamis_status tamis__builder_take_items(tamis_builder *b, spill *to, const uint64_t *keys,
                                       const uint64_t *values, size_t n);
/* Into the first filter, all that the others hold. */
tamis_status tamis__builder_join_lanes(tamis_builder *b);

/* ---- builder_plan.c: how large the filter must be ------------------------ */

/* The work of the engine, from its beginning. */
make tamis__builder_make(tamis_builder *b);
/* The plan for so many keys and for all excluded keys that came. */
tamis_status tamis__builder_plan_for(const tamis_builder *b, tamis_plan *plan, tamis_spec *spec);
/* The plan of a kind that is solved. */
tamis_status tamis__builder_plan_solved(tamis_builder *b, make *m, tamis_plan *plan);
/* How many keys to plan for, of kinds whose keys wait as items. */
tamis_status tamis__builder_size_items(const tamis_builder *b, make *m, uint64_t *keys);
tamis_status tamis__builder_enlarge(const tamis_builder *b, tamis_plan *plan, tamis_spec *spec);

/* ---- builder_fill.c: into the filter ------------------------------------- */

/* All that came, into a new filter in memory or, if `path` is given, into a file. */
tamis_status tamis__builder_fill_given(tamis_builder *b, tamis **out);
tamis_status tamis__builder_fill_solved(tamis_builder *b, tamis **out, const char *path);
tamis_status tamis__builder_fill_ordered(tamis_builder *b, tamis **out, const char *path);

#endif
