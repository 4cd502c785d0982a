/* cmd_dot.c - tamis dot: how much two multisets have in common. */
#include <stdio.h>

#include "commands.h"
#include "filters/compatible.h"
#include "filters/store.h"
#include "term/message.h"
#include "text/abilities.h"

static int run(args *a)
{
    char **paths;
    tamis *f, *g;
    uint64_t product = 0;

    args_read(a, NULL);
    paths = args_operands(a, 2, 2, "two FILEs");
    f = store_map(paths[0]);
    g = store_map(paths[1]);
    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_DOT, paths[0]);
    tamis_status status = tamis_dot(f, &product, g);
    if (status == TAMIS_MISMATCH)
        refuse_pair("dot", paths[0], tamis_plan_of(f), paths[1], tamis_plan_of(g));
    if (status == TAMIS_CANNOT)
        die(CODE_USAGE, "%s: it keeps no sums to multiply; build it with --can dot", paths[0]);
    const char *faulty = paths[status && tamis_verify(f, NULL, NULL) == TAMIS_OK];
    tamis_free(f);
    tamis_free(g);
    if (status)
        die_status("multiply", faulty, status);
    printf("%" PRIu64 "\n", product);
    return product > 0 ? CODE_OK : CODE_NOTHING;
}

const command cmd_dot = { "dot", help_dot, .run = run };
