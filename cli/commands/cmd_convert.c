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

const command cmd_convert = {
    .name = "convert",
    .operands = "--to KIND FILE -o OUT",
    .summary = "make a filter of another kind, without its keys",
    .about =
        "Saves to OUT a filter of another KIND that gives the same answers as the one in FILE. It\n"
        "is made without the keys. These conversions exist:\n"
        "\n"
        "  counting to bloom: the bits without the counters, a quarter of the size or less\n"
        "  bloom to compressed: the same bits in less room, to be sent\n"
        "  compressed to bloom: the way back, at the receiver\n"
        "\n"
        "The Bloom filter of a counting filter is the one that its keys would have made. The\n"
        "farther a Bloom filter is from half full, the smaller it gets by compression. A filter\n"
        "that is built as a compressed one is smaller still: see 'tamis plan --wire'.",
    .options = { options },
    .when_ok = "the new filter was saved",
    .example = "  seq 1000 | tamis build -k counting -o counts.tamis\n"
               "  seq 501 1000 | tamis remove counts.tamis\n"
               "  tamis convert --to bloom counts.tamis -o plain.tamis",
    .run = run,
};
