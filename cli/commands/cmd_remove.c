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

const command cmd_remove = {
    .name = "remove",
    .operands = "[OPTION]... FILE [INPUT]...",
    .summary = "remove keys from the filter in FILE",
    .about =
        "Reads keys from the INPUTs, or from standard input, and removes them from the filter\n"
        "in FILE, if its kind can. A warning tells how many keys were seen not to be in it. The\n"
        "file is replaced in one step at the end: whatever happens, it has lost all of the keys\n"
        "or none. Other runs of add and remove on it wait until this one ends.\n"
        "\n"
        "Only remove keys that were added. Removing another key may delete one that was added,\n"
        "with the probability of a false positive, unless the filter was built with\n"
        "--can exact-delete.\n"
        "\n"
        "With --memory, the filter may be larger than memory, if its kind can resize. Keys wait\n"
        "in memory. Whenever they fill it, and at the end, they are left out of a new file. Keys\n"
        "that are not in the filter are then ignored without a warning, and the exit code is 0\n"
        "if any key was given.",
    .options = { options },
    .when_ok = "at least one key was removed",
    .when_nothing = "no key was removed",
    .example = "  printf '%s\\n' red green blue | tamis build -k hashset -o colours.tamis\n"
               "  echo green | tamis remove colours.tamis",
    .run = run,
};
