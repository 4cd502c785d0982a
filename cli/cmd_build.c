/* cmd_build.c - tamis build: a filter from keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "fill.h"
#include "message.h"
#include "spec.h"
#include "store.h"

typedef struct request {
    wish wish;
    tamis_kind kind; /* TAMIS_NO_KIND: choose one */
    source source;
    const char *out;
} request;

/* ---- Options ----------------------------------------------------------- */

enum { OPTION_SEED = OPTION_AFTER_SPEC };

static tamis_kind find_kind(const args *a)
{
    tamis_kind kind;

    if (!tamis_kind_find(&kind, a->value))
        die(CODE_USAGE, "build: no kind is called '%s'; 'tamis kinds' lists them", a->value);
    return kind;
}

static void take_option(request *r, const args *a)
{
    switch (a->letter) {
    case 'k':
        r->kind = find_kind(a);
        break;
    case 'o':
        r->out = a->value;
        break;
    case OPTION_SEED:
        r->wish.spec.hasher.seed = args_integer(a);
        break;
    default:
        wish_option(&r->wish, a);
        source_option(&r->source, a);
    }
}

static bool is_indexed(tamis_kind kind)
{
    return (tamis_kind_can(kind) & TAMIS_IS_INDEXED) != 0;
}

static void settle_hash(request *r)
{
    tamis_hasher *hasher = &r->wish.spec.hasher;

    if (is_indexed(r->kind) && !r->wish.has_hash)
        hasher->hash = TAMIS_RAW;
    if (is_indexed(r->kind) && hasher->hash != TAMIS_RAW)
        die(CODE_USAGE, "build: %s filters hold small integers; use --hash raw",
            tamis_kind_name(r->kind));
    r->source.format.hasher = *hasher;
}

/* A slip of the hand must not cost a list of keys. */
static void spare_inputs(const request *r)
{
    struct stat out, in;

    if (stat(r->out, &out))
        return;
    for (char *const *name = r->source.names; *name; name++)
        if (stat(*name, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            die(CODE_USAGE, "build: %s is both an INPUT and the FILE to save to", *name);
}

static void read_options(request *r, args *a)
{
    source_init(&r->source);
    while (args_next(a) != -1)
        take_option(r, a);
    source_inputs(&r->source, a, args_operands(a, 0, SIZE_MAX, ""));
    if (!r->out || strcmp(r->out, "-") == 0)
        args_refuse(a, "give -o FILE; a filter is saved to a file, not to standard output");
    store_check_target(r->out);
    spare_inputs(r);
    settle_hash(r);
}

/* ---- Choosing a kind --------------------------------------------------- */

static _Noreturn void refuse_plan(const request *r, tamis_status status)
{
    const tamis_spec *spec = &r->wish.spec;
    char can_not[80] = "no kind of filter can";

    if (status == TAMIS_CANNOT)
        die(CODE_USAGE, "build: %s filters lack an ability asked for by --can; see 'tamis kinds'",
            tamis_kind_name(r->kind));
    if (status != TAMIS_RANGE)
        die_status("plan", r->out, status);
    if (r->kind)
        snprintf(can_not, sizeof can_not, "%s filters cannot", tamis_kind_name(r->kind));
    die(CODE_LIMIT,
        "build: %s hold %" PRIu64 " keys at that rate and size; 'tamis plan' shows what can",
        can_not, spec->keys);
}

/* Indexed kinds are left out: whether keys are small integers is for the user to say. */
static bool plan_smallest(tamis_plan *plan, const tamis_spec *spec)
{
    size_t n = tamis_plan_all(NULL, 0, spec);
    tamis_plan *plans = calloc(n + 1, sizeof *plans), *p = plans;

    if (!plans)
        die(CODE_MEMORY, "out of memory for %zu plans", n);
    tamis_plan_all(plans, n, spec);
    while (p < plans + n && is_indexed(p->kind))
        p++;
    *plan = *p;
    free(plans);
    return plan->kind != TAMIS_NO_KIND;
}

static tamis_plan choose_plan(const request *r)
{
    tamis_plan plan;

    if (tamis_plan_kind(&plan, TAMIS_BLOCKED, &r->wish.spec) &&
        !plan_smallest(&plan, &r->wish.spec))
        refuse_plan(r, TAMIS_RANGE);
    say("%s chosen, %.2f bits per key, false positive rate %.3g; -k KIND takes another, 'tamis "
        "plan' "
        "compares them",
        tamis_kind_name(plan.kind), bits_per_key(&plan), plan.fpr);
    return plan;
}

static tamis_plan make_plan(const request *r)
{
    tamis_plan plan;
    tamis_status status;

    if (!r->kind)
        return choose_plan(r);
    if ((status = tamis_plan_kind(&plan, r->kind, &r->wish.spec)))
        refuse_plan(r, status);
    return plan;
}

/* ---- Building ---------------------------------------------------------- */

static uint64_t largest(const buffer *keys)
{
    const uint64_t *key = (const void *)keys->bytes;
    uint64_t max = 0;

    for (size_t n = keys->size / sizeof *key; n > 0; n--, key++)
        if (*key > max)
            max = *key;
    return max;
}

static uint64_t capacity_needed(const request *r, const buffer *keys)
{
    uint64_t n = keys->size / sizeof(uint64_t), max;

    if (!is_indexed(r->kind))
        return n > 0 ? n : 1;
    if ((max = largest(keys)) == UINT64_MAX)
        die(CODE_LIMIT, "build: key %" PRIu64 " is too large for %s filters", max,
            tamis_kind_name(r->kind));
    return max + 1;
}

static tamis *build_counted(request *r)
{
    buffer keys = { 0 };
    uint64_t needed;
    tamis_plan plan;
    tamis *f;

    fill_collect(&keys, &r->source);
    needed = capacity_needed(r, &keys);
    if (r->wish.spec.keys < needed)
        r->wish.spec.keys = needed;
    plan = make_plan(r);
    f = fill_from_keys(&plan, r->out, &keys);
    buffer_free(&keys);
    return f;
}

static tamis *build_streamed(request *r, const tamis_plan *plan)
{
    tamis *f;
    tamis_status status = tamis_new(&f, plan, NULL);

    if (status)
        die_status("make", r->out, status);
    fill_from_source(f, r->out, &r->source);
    return f;
}

static tamis *build(request *r)
{
    tamis_plan plan;

    if (r->wish.spec.keys == 0)
        return build_counted(r);
    plan = make_plan(r);
    if (tamis_kind_can(plan.kind) & TAMIS_CAN_ADD)
        return build_streamed(r, &plan);
    r->kind = plan.kind;
    return build_counted(r);
}

static int run(args *a)
{
    request r = { 0 };
    tamis *f;

    read_options(&r, a);
    f = build(&r);
    store_save(f, r.out);
    store_warn_if_crowded(f, r.out);
    tamis_free(f);
    return CODE_OK;
}

static const option_row options[] = {
    { 'o', "output", "FILE", "where to save the filter" },
    { 'k', "kind", "KIND", "kind of filter; 'tamis kinds' lists them" },
    { OPTION_SEED, "seed", "S", "integer that changes the hash (default: 0)" },
    { 0 },
};

const command cmd_build = {
    .name = "build",
    .operands = "[OPTION]... -o FILE [INPUT]...",
    .summary = "make a filter from keys",
    .about =
        "Reads keys from the INPUTs, or from standard input, and saves a filter of them to\n"
        "FILE. A key is a line, byte for byte, without its end.\n"
        "\n"
        "Without --keys, the keys are hashed and counted first, which takes 8 bytes of memory\n"
        "for each. With it, they are added as they come; more keys than announced raise the\n"
        "false positive rate, with a warning, or end the command if the kind has a fixed\n"
        "capacity. Without --kind, one is chosen and named on standard error.\n"
        "\n"
        "The hash is stored in the file. 'fast' is for keys from trusted hands; 'keyed' draws\n"
        "a secret, so that outsiders cannot choose keys that collide: the file is then\n"
        "private. 'raw' takes integers from 0 to 2^64 - 1, decimal or hexadecimal after 0x.\n"
        "The same keys and options give the same file on every machine and with any number\n"
        "of threads, unless the hash is keyed.",
    .options = { options, spec_options, key_options },
    .when_ok = "the filter was saved",
    .example = "  printf '%s\\n' red green blue | tamis build -k bloom -p 0.001 -o colours.tamis",
    .run = run,
};
