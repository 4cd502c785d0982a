/* cmd_list.c - tamis list: what a filter can name. */
#include <stdio.h>

#include "commands.h"
#include "filters/store.h"
#include "tamis_values.h"
#include "term/buffer.h"
#include "term/message.h"
#include "term/output.h"
#include "text/abilities.h"

typedef struct listing {
    buffer out;
    bool with_numbers; /* counts, or values */
    uint64_t n;
} listing;

static bool print_one(void *ctx, uint64_t key, uint64_t number)
{
    listing *l = ctx;
    char text[48];
    int size = snprintf(text, sizeof text, "%" PRIu64, key);

    if (l->with_numbers)
        size += snprintf(text + size, sizeof text - (size_t)size, "\t%" PRIu64, number);
    text[size++] = '\n';
    buffer_append(&l->out, text, (size_t)size);
    l->n++;
    output_gathered(&l->out, false);
    return true;
}

/* Only integers can be had back as they were given. */
static void say_what(const tamis_plan *plan)
{
    if (!(tamis_kind_can(plan->kind) & TAMIS_IS_EXACT))
        say("these are fingerprints: %s filters do not keep keys", tamis_kind_name(plan->kind));
    else if (plan->hasher.hash != TAMIS_RAW)
        say("these are hashes of lines; a filter built with --hash raw gives back its integers");
}

static int run(args *a)
{
    listing l = { 0 };
    const char *path;
    tamis *f;

    args_read(a, NULL);
    path = args_operands(a, 1, 1, "the FILE of a filter")[0];
    f = store_map_whole(path);
    unsigned can = tamis_kind_can(tamis_plan_of(f)->kind);
    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_LIST, path);
    l.with_numbers = (can & (TAMIS_CAN_COUNT | TAMIS_CAN_GET)) != 0;
    tamis_status status =
        can & TAMIS_CAN_GET ? tamis_list_values(f, print_one, &l) : tamis_list(f, print_one, &l);
    if (status)
        die_status("list", path, status);
    output_gathered(&l.out, true);
    if (l.n > 0)
        say_what(tamis_plan_of(f));
    buffer_free(&l.out);
    tamis_free(f);
    return l.n > 0 ? CODE_OK : CODE_NOTHING;
}

const command cmd_list = { "list", help_list, .run = run };
