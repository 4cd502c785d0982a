/* cmd_convert.c - tamis convert: another kind of filter, without the keys. */
#include "abilities.h"
#include "commands.h"
#include "lock.h"
#include "message.h"
#include "store.h"

enum { OPTION_TO = OPTION_OWN };

/* What a kind is made by, and of which kinds. */
typedef struct conversion {
    tamis_kind to;
    unsigned needs; /* ability of the kind that it is made of; 0: make() knows */
    tamis_status (*make)(tamis **out, const tamis *f, const tamis_allocator *a);
} conversion;

static const conversion conversions[] = {
    { TAMIS_BLOOM, TAMIS_CAN_CONVERT, tamis_reduce },
    { TAMIS_COMPRESSED, 0, tamis_compress },
};

enum { N_CONVERSIONS = sizeof conversions / sizeof *conversions };

static tamis_kind kind_named(const args *a)
{
    tamis_kind kind;

    if (!tamis_kind_find(&kind, a->value))
        die(CODE_USAGE, "convert: no kind is called '%s'; 'tamis kinds' lists them", a->value);
    return kind;
}

static const conversion *conversion_to(tamis_kind kind)
{
    for (size_t i = 0; i < N_CONVERSIONS; i++)
        if (conversions[i].to == kind)
            return &conversions[i];
    die(CODE_USAGE, "convert: no filter becomes %s without its keys", tamis_kind_name(kind));
}

static tamis *converted(const tamis *f, const conversion *c, const char *path)
{
    tamis *made;

    if (c->needs)
        abilities_require(tamis_plan_of(f)->kind, c->needs, path);
    tamis_status status = c->make(&made, f, NULL);
    if (status == TAMIS_CANNOT)
        die(CODE_USAGE, "%s: %s filters do not become %s", path,
            tamis_kind_name(tamis_plan_of(f)->kind), tamis_kind_name(c->to));
    if (status)
        die_status("convert", path, status);
    tamis_kind kind = tamis_plan_of(made)->kind;
    if (kind != c->to)
        die(CODE_USAGE, "%s: %s filters become %s, not %s", path,
            tamis_kind_name(tamis_plan_of(f)->kind), tamis_kind_name(kind), tamis_kind_name(c->to));
    return made;
}

static int run(args *a)
{
    const char *out = NULL, *path;
    const conversion *c = NULL;

    for (int letter; (letter = args_next(a)) != -1;)
        if (letter == 'o')
            out = a->value;
        else
            c = conversion_to(kind_named(a));
    path = args_operands(a, 1, 1, "the FILE to convert")[0];
    if (!out || !c)
        args_refuse(a, "give -o OUT and --to KIND");
    store_check_target(out);
    lock_output(out);

    tamis *f = store_load(path), *made = converted(f, c, path);
    tamis_free(f);
    store_save(made, out);
    tamis_free(made);
    return CODE_OK;
}

static const option_row options[] = {
    { 'o', "output", "OUT", "where to save the new filter" },
    { OPTION_TO, "to", "KIND", "kind of the new filter" },
    { 0 },
};

const command cmd_convert = {
    .name = "convert",
    .operands = "--to KIND FILE -o OUT",
    .summary = "make a filter of another kind, without its keys",
    .about = "Saves to OUT a filter of another KIND with the keys of the one in FILE. A filter of\n"
             "counters becomes the plain one of the same slots, as if it had been built from the\n"
             "keys: --to bloom makes that of a counting filter, a quarter of its size or less.\n"
             "\n"
             "To send a Bloom filter, --to compressed codes its bits, in less room the farther it\n"
             "is from half full; --to bloom gives it back where it is asked. Filters that are\n"
             "built as compressed ones are shorter still: see 'tamis plan --wire'.",
    .options = { options },
    .when_ok = "the new filter was saved",
    .example = "  seq 1000 | tamis build -k counting -o counts.tamis\n"
               "  seq 501 1000 | tamis remove counts.tamis\n"
               "  tamis convert --to bloom counts.tamis -o plain.tamis",
    .run = run,
};
