/* cmd_resize.c - tamis resize: another size for a filter, without its keys. */
#include "commands.h"
#include "filters/store.h"
#include "term/message.h"
#include "text/abilities.h"

static _Noreturn void refuse(const char *path, uint64_t keys, tamis_status status)
{
    if (status == TAMIS_FULL)
        die(CODE_LIMIT, "%s: it holds more than %" PRIu64 " keys; give a larger --keys", path,
            keys);
    if (status == TAMIS_RANGE)
        die(CODE_LIMIT,
            "%s: its fingerprints have no bits left for %" PRIu64
            " keys; build it with a lower --fpr",
            path, keys);
    die_status("resize", path, status);
}

typedef struct request {
    uint64_t keys;
    const char *out; /* NULL: the file itself */
} request;

static int run(args *a)
{
    request r = { 0 };
    tamis_status status;

    args_read(a, &r);
    const char *path = args_operands(a, 1, 1, "the FILE to resize")[0];
    if (!r.keys)
        args_refuse(a, "give --keys N");
    if (r.out)
        store_lock_target(r.out);
    tamis *f = r.out ? store_load(path) : store_load_locked(path);
    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_RESIZE, path);
    if ((status = tamis_resize(f, r.keys)))
        refuse(path, r.keys, status);
    store_save(f, r.out ? r.out : path);
    tamis_free(f);
    return CODE_OK;
}

static const option_row options[] = {
    { 'n', "keys", "N", "how many keys it will hold: 1000, 1e9, 10M",
      TO_COUNT(request, keys, 1, UINT64_MAX) },
    { 'o', "output", "OUT", "where to save the filter (default: FILE)", TO_TEXT(request, out) },
    { 0 },
};

const command cmd_resize = { "resize", help_resize, options, .run = run };
