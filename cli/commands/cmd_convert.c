/* cmd_convert.c - tamis convert: another kind of filter, without the keys. */
#include "commands.h"
#include "filters/spec.h"
#include "filters/store.h"
#include "term/message.h"
#include "text/abilities.h"

typedef struct request {
    const char *out;
    tamis_kind to;
} request;

static tamis *converted(const tamis *f, tamis_kind to, const char *path)
{
    tamis_kind from = tamis_plan_of(f)->kind;
    tamis *made;

    abilities_require(from, TAMIS_CAN_CONVERT, path);
    tamis_status status = tamis_convert(&made, to, f, NULL);
    if (status == TAMIS_CANNOT)
        die(CODE_USAGE, "%s: %s filters do not become %s", path, tamis_kind_name(from),
            tamis_kind_name(to));
    if (status)
        die_status("convert", path, status);
    return made;
}

static int run(args *a)
{
    request r = { 0 };

    args_read(a, &r);
    const char *path = args_operands(a, 1, 1, "the FILE to convert")[0];
    if (!r.out || !r.to)
        args_refuse(a, "give -o OUT and --to KIND");
    store_lock_target(r.out);

    tamis *f = store_load(path), *made = converted(f, r.to, path);
    tamis_free(f);
    store_save(made, r.out);
    tamis_free(made);
    return CODE_OK;
}

static const option_row options[] = {
    { 'o', "output", "OUT", "where to save the new filter", TO_TEXT(request, out) },
    { 0, "to", "KIND", "kind of the new filter", TO_KIND(request, to) },
    { 0 },
};

const command cmd_convert = { "convert", help_convert, options, .run = run };
