/* cmd_list.c - tamis list: what a filter can name. */
#include <stdio.h>

#include "abilities.h"
#include "buffer.h"
#include "commands.h"
#include "message.h"
#include "output.h"
#include "store.h"

/* Bytes written at a time. */
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
        "Prints one number per line. For exact sets these are the keys: the integers given if the\n"
        "hash is raw, else hashes of the lines. For other kinds they are fingerprints, from the\n"
        "lowest to the highest. In kinds that count, a TAB and the count follow.\n"
        "\n"
        "Lines that a filter cannot tell apart have the same fingerprint. It is the same in every\n"
        "filter with the same hash, seed, --keys and --fpr, also after 'tamis resize'. The file\n"
        "is mapped and checked, so that long lists take no memory.",
    .options = { NULL },
    .when_ok = "something was printed",
    .when_nothing = "the filter is empty",
    .example = "  printf '%s\\n' 3 1 4 1 5 | tamis build -k cqf --hash raw -o digits.tamis\n"
               "  tamis list digits.tamis",
    .run = run,
};
