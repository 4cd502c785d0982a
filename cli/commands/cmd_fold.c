/* cmd_fold.c - tamis fold: a smaller filter with the same keys. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "filters/store.h"
#include "term/message.h"
#include "text/abilities.h"

typedef struct request {
    const char *out;
    uint64_t by, max_bytes;
} request;

enum { FACTOR_MAX = 16 };

static _Noreturn void refuse_factor(const tamis_plan *plan, const char *path, uint64_t by)
{
    char factors[80] = "";
    size_t size = 0;

    for (uint64_t n = 2; n <= FACTOR_MAX; n++)
        if (plan->slots % n == 0)
            size += (size_t)snprintf(factors + size, sizeof factors - size, " %" PRIu64, n);
    die(CODE_USAGE, "%s: %" PRIu64 " does not divide its %" PRIu64 " slots; up to %d these do:%s",
        path, by, plan->slots, FACTOR_MAX, size ? factors : " none");
}

static _Noreturn void refuse_size(const char *path, uint64_t max_bytes)
{
    die(CODE_USAGE, "%s: it cannot be made as small as %" PRIu64 " bytes without its keys", path,
        max_bytes);
}

static int run(args *a)
{
    request r = { 0 };
    tamis *folded;

    args_read(a, &r);
    const char *path = args_operands(a, 1, 1, "the FILE to fold")[0];
    if (!r.out || !r.by == !r.max_bytes)
        args_refuse(a, "give -o OUT and either --by N or --max-bytes SIZE");
    store_lock_target(r.out);

    tamis *f = store_load(path);
    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_FOLD, path);
    tamis_status status =
        r.by ? tamis_fold(&folded, f, r.by, NULL) : tamis_shrink(&folded, f, r.max_bytes, NULL);
    if (status == TAMIS_RANGE && r.by)
        refuse_factor(tamis_plan_of(f), path, r.by);
    if (status == TAMIS_RANGE)
        refuse_size(path, r.max_bytes);
    if (status)
        die_status("fold", path, status);
    store_save(folded, r.out);
    tamis_free(folded);
    tamis_free(f);
    return CODE_OK;
}

static const option_row options[] = {
    { 'o', "output", "OUT", "where to save the smaller filter", TO_TEXT(request, out) },
    { 0, "by", "N", "how many times smaller", TO_COUNT(request, by, 2, UINT64_MAX) },
    { 0, "max-bytes", "SIZE", "how large it may be, without the header of the file",
      TO_SIZE(request, max_bytes) },
    { 0 },
};

const command cmd_fold = { "fold", help_fold, options, .run = run };
