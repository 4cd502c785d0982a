/* cmd_list.c - tamis list: what a filter can name. */
#include <stdio.h>

#include "abilities.h"
#include "buffer.h"
#include "commands.h"
#include "message.h"
#include "output.h"
#include "store.h"

/* What is written at a time. */
enum { PIECE = 1 << 16 };

typedef struct listing {
    buffer out;
    bool with_counts;
    uint64_t n;
} listing;

static bool print_one(void *ctx, uint64_t key, uint64_t count)
{
    listing *l = ctx;
    char text[48];
    int size = snprintf(text, sizeof text, "%" PRIu64, key);

    if (l->with_counts)
        size += snprintf(text + size, sizeof text - (size_t)size, "\t%" PRIu64, count);
    text[size++] = '\n';
    buffer_append(&l->out, text, (size_t)size);
    l->n++;
    if (l->out.size > PIECE) {
        output_write(l->out.bytes, l->out.size);
        l->out.size = 0;
    }
    return true;
}

static int run(args *a)
{
    listing l = { 0 };
    const char *path;
    tamis *f;

    while (args_next(a) != -1)
        ;
    path = args_operands(a, 1, 1, "the FILE of a filter")[0];
    f = store_map_whole(path);
    tamis_kind kind = tamis_plan_of(f)->kind;
    abilities_require(kind, TAMIS_CAN_LIST, path);
    l.with_counts = (tamis_kind_can(kind) & TAMIS_CAN_COUNT) != 0;
    tamis_status status = tamis_list(f, print_one, &l);
    if (status)
        die_status("list", path, status);
    output_write(l.out.bytes, l.out.size);
    buffer_free(&l.out);
    tamis_free(f);
    return l.n > 0 ? CODE_OK : CODE_NOTHING;
}

const command cmd_list = {
    .name = "list",
    .operands = "FILE",
    .summary = "print what a filter can name",
    .about =
        "Prints one number per line: of exact sets the keys, which are the integers given if\n"
        "the hash is raw, else hashes of the lines; of other kinds the fingerprints, from the\n"
        "lowest to the highest. Kinds that count have a TAB and the count after it. Lines that\n"
        "a filter cannot tell apart have one fingerprint, in every filter of the same hash,\n"
        "seed, --keys and --fpr, whatever 'tamis resize' made of it since. The file is mapped\n"
        "and checked: lists of any length take no memory.",
    .options = { NULL },
    .when_ok = "something was printed",
    .when_nothing = "the filter is empty",
    .example = "  printf '%s\\n' 3 1 4 1 5 | tamis build -k cqf --hash raw -o digits.tamis\n"
               "  tamis list digits.tamis",
    .run = run,
};
