/* cmd_add.c - tamis add: more keys into a filter. */
#include "commands.h"
#include "filters/change_on_disk.h"
#include "filters/load_keys.h"
#include "filters/store.h"
#include "term/message.h"
#include "text/abilities.h"

typedef struct request {
    source source;
    uint64_t memory; /* 0: the filter is in memory as a whole */
    bool absent_only;
} request;

/* Kinds that put take keys with values, and others keys alone. */
static void require_ability(const tamis *f, const char *path, bool with_values)
{
    tamis_kind kind = tamis_plan_of(f)->kind;

    if (tamis_kind_can(kind) & TAMIS_CAN_PUT && !with_values)
        die(CODE_USAGE, "%s: %s filters need more than keys: give --values-field N", path,
            tamis_kind_name(kind));
    abilities_require(kind, with_values ? TAMIS_CAN_PUT : TAMIS_CAN_ADD, path);
    abilities_require_own_keys(tamis_plan_of(f), path);
}

static void check_options(void *into, const args *a)
{
    const request *r = into;

    if (r->memory && r->absent_only)
        args_refuse(a, "--absent and --memory cannot be used together");
    if (r->memory && r->source.format.value_field)
        args_refuse(a, "--values-field and --memory cannot be used together");
}

static int run(args *a)
{
    request r = { .source = source_default() };

    args_read(a, &r);
    const char *path = source_operands(&r.source, a, "the FILE to add to");
    if (r.memory) {
        disk_add(path, r.memory, &r.source);
        return CODE_OK;
    }
    tamis *f = store_load_locked(path);
    require_ability(f, path, r.source.format.value_field > 0);
    if (load_keys(f, path, &r.source, r.absent_only) > 0) {
        store_save(f, path);
        store_warn_if_crowded(f, path);
    }
    tamis_free(f);
    return CODE_OK;
}

static const option_row options[] = {
    { 0, "absent", NULL, "add only keys that a query would not find",
      TO_FLAG(request, absent_only) },
    OPTIONS(value_options, request, source),
    OPTIONS(disk_options, request, memory),
    { .included = quiet_options },
    OPTIONS(key_options, request, source),
    { .take = check_options },
};

const command cmd_add = { "add", help_add, options, .run = run };
