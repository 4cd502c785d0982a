/* cmd_fold.c - tamis fold: a smaller filter with the same keys. */
#include <stdio.h>
#include <string.h>

#include "abilities.h"
#include "commands.h"
#include "lock.h"
#include "message.h"
#include "store.h"

enum { OPTION_BY = OPTION_OWN, FACTOR_MAX = 16 };

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

static int run(args *a)
{
    const char *out = NULL, *path;
    uint64_t by = 0;
    tamis *f, *folded;
    tamis_status status;

    for (int letter; (letter = args_next(a)) != -1;)
        if (letter == 'o')
            out = a->value;
        else
            by = args_count(a, 2, UINT64_MAX);
    path = args_operands(a, 1, 1, "the FILE to fold")[0];
    if (!out || !by)
        args_refuse(a, "give -o OUT and --by N");
    store_check_target(out);
    lock_output(out);

    f = store_load(path);
    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_FOLD, path);
    status = tamis_fold(&folded, f, by, NULL);
    if (status == TAMIS_RANGE)
        refuse_factor(tamis_plan_of(f), path, by);
    if (status)
        die_status("fold", path, status);
    store_save(folded, out);
    tamis_free(folded);
    tamis_free(f);
    return CODE_OK;
}

static const option_row options[] = {
    { 'o', "output", "OUT", "where to save the smaller filter" },
    { OPTION_BY, "by", "N", "how many times smaller" },
    { 0 },
};

const command cmd_fold = {
    .name = "fold",
    .operands = "-o OUT --by N FILE",
    .summary = "shrink a filter by an integer factor",
    .about =
        "Saves to OUT a filter N times smaller than the one in FILE. It still holds every key,\n"
        "at a higher false positive rate, as if it had been built at that size. N must divide\n"
        "the number of slots that 'tamis info' shows.",
    .options = { options },
    .when_ok = "the smaller filter was saved",
    .example = "  seq 1000 | tamis build -k blocked -n 1024 --max-bytes 4K -o numbers.tamis\n"
               "  tamis fold -o small.tamis --by 2 numbers.tamis",
    .run = run,
};
