/* cmd_remove.c - tamis remove: keys out of a filter. */
#include "commands.h"
#include "filters/change_on_disk.h"
#include "filters/store.h"
#include "term/message.h"
#include "text/abilities.h"

typedef struct removal {
    source source;
    uint64_t memory; /* 0: the filter is in memory as a whole */
    tamis *filter;
    const char *path;
    uint64_t removed, absent;
} removal;

static void remove_chunk(void *ctx, job *j)
{
    removal *r = ctx;
    size_t n, removed = 0;
    const uint64_t *keys = pipeline_kept_keys(j, &n);
    tamis_status status = n > 0 ? tamis_remove_many(r->filter, &removed, keys, n) : TAMIS_OK;

    if (status && status != TAMIS_ABSENT)
        die_status("change", r->path, status);
    r->removed += removed;
    r->absent += n - removed;
}

static void remove_all(removal *r)
{
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = remove_chunk, .ctx = r };

    r->source.format.hasher = tamis_plan_of(r->filter)->hasher;
    pipeline_run(&p, &r->source);
    if (r->removed > 0)
        store_save(r->filter, r->path);
    if (r->absent > 0)
        say("%s: %" PRIu64 " of %" PRIu64
            " keys were not in it; only what was added can be removed",
            r->path, r->absent, r->absent + r->removed);
}

static int run(args *a)
{
    removal r = { .source = source_default() };

    args_read(a, &r);
    r.path = source_operands(&r.source, a, "the FILE to remove from");
    if (r.memory)
        return disk_remove(r.path, r.memory, &r.source) > 0 ? CODE_OK : CODE_NOTHING;
    r.filter = store_load_locked(r.path);
    abilities_require(tamis_plan_of(r.filter)->kind, TAMIS_CAN_REMOVE, r.path);
    remove_all(&r);
    tamis_free(r.filter);
    return r.removed > 0 ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    OPTIONS(disk_options, removal, memory),
    { .included = quiet_options },
    OPTIONS(key_options, removal, source),
    { 0 },
};

const command cmd_remove = { "remove", help_remove, options, .run = run };
