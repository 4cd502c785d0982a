/* cmd_build.c - tamis build: a filter from keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "filters/load_keys.h"
#include "filters/spec.h"
#include "filters/store.h"
#include "term/message.h"
#include "term/progress.h"
#include "text/json.h"

typedef struct request {
    tamis_spec spec;
    tamis_kind kind; /* TAMIS_NO_KIND: choose one */
    source source;
    const char *out;
    uint64_t memory; /* 0: as much as it takes */
    const char *tmp;
    const char *universe;
    const char *like, *secret_file; /* or NULL */
    tamis_plan plan;                /* of `like` */
    uint64_t queries;               /* to tell the mistakes of; 0: not asked */
    bool may_be_empty;
    uint64_t keys; /* read */
    bool as_json;  /* tell what was made */
} request;

/* ---- Options ----------------------------------------------------------- */

static bool is_indexed(tamis_kind kind)
{
    return (tamis_kind_can(kind) & TAMIS_IS_INDEXED) != 0;
}

static void choose_hash(request *r, const args *a)
{
    tamis_hasher *hasher = &r->spec.hasher;

    if (is_indexed(r->kind) && !args_given(a, "hash"))
        hasher->hash = TAMIS_RAW;
    if (is_indexed(r->kind) && hasher->hash != TAMIS_RAW)
        die(CODE_USAGE, "build: %s filters hold small integers; use --hash raw",
            tamis_kind_name(r->kind));
    r->source.format.hasher = *hasher;
}

/* Whether it takes keys one by one, and is in memory as a whole. */
static bool takes_one_by_one(tamis_kind kind)
{
    return (tamis_kind_can(kind) & (TAMIS_CAN_ADD | TAMIS_CAN_PUT)) != 0;
}

/* Bits that a value may have. */
static uint32_t most_value_bits(const request *r)
{
    if (tamis_kind_can(r->kind) & TAMIS_CAN_PUT)
        return 64;
    return r->spec.value_bits ? r->spec.value_bits : 32;
}

static tamis_kind kind_that(unsigned can)
{
    tamis_kind kind = TAMIS_NO_KIND;

    while ((kind = tamis_kind_next(kind)) && !(tamis_kind_can(kind) & can))
        ;
    return kind;
}

/* An option and the ability that it is for: both or neither. */
static void need_both(request *r, bool is_given, unsigned bit, const char *option)
{
    if (is_given && !r->kind)
        r->kind = kind_that(bit);
    bool can = (tamis_kind_can(r->kind) & bit) != 0;
    if (is_given && !can)
        die(CODE_USAGE,
            "build: %s filters have no use for %s; 'tamis kinds' tells what each can do",
            tamis_kind_name(r->kind), option);
    if (can && !is_given)
        die(CODE_USAGE, "build: %s filters need more than keys: give %s", tamis_kind_name(r->kind),
            option);
}

/* Kinds that adapt may be given a universe, and need none. */
static bool may_have_universe(const request *r)
{
    unsigned can = r->kind ? tamis_kind_can(r->kind) : r->spec.can;

    return (can & TAMIS_CAN_ADAPT) != 0;
}

static void check_extras(request *r)
{
    if (r->spec.can & TAMIS_CAN_ASK_KEYS)
        die(CODE_USAGE, "build: a filter that asks for its keys needs a program that answers: see "
                        "tamis_adapt.h; without --can ask-keys, it holds them itself");
    need_both(r, r->source.format.value_field > 0, TAMIS_CAN_GET, "--values-field N");
    if (!may_have_universe(r))
        need_both(r, r->universe != NULL, TAMIS_CAN_EXCLUDE, "--universe FILE");
    if (r->spec.value_bits && !r->source.format.value_field)
        die(CODE_USAGE, "build: --value-bits means nothing without --values-field");
    if (r->spec.value_bits && tamis_kind_can(r->kind) & TAMIS_CAN_PUT)
        die(CODE_USAGE, "build: values of a %s have 64 bits; --value-bits is for a static map",
            tamis_kind_name(r->kind));
}

/* Kinds that are made from all keys at once have a plan for as many as there are. */
static void take_like(request *r)
{
    tamis *f = store_map(r->like);
    unsigned can;

    r->plan = *tamis_plan_of(f);
    tamis_free(f);
    r->kind = r->plan.kind;
    can = tamis_kind_can(r->kind);
    r->spec.hasher = r->plan.hasher;
    r->spec.fpr = can & TAMIS_IS_EXACT ? 0 : r->plan.fpr;
    if (can & TAMIS_CAN_GET && !(can & TAMIS_CAN_PUT))
        r->spec.value_bits = r->plan.width;
    if (r->plan.flags & TAMIS_PLAN_ASKS_KEYS)
        r->spec.can |= TAMIS_CAN_ASK_KEYS;
}

static void take_models(request *r, const args *a)
{
    bool has_hash = args_given(a, "hash");

    if (r->like && (args_given_any(a, spec_options) || args_given(a, "kind") ||
                    args_given(a, "seed") || r->secret_file))
        args_refuse(a, "--like has all of the plan, its hash and secret too: leave out other "
                       "options of a plan, --kind, --seed and --secret-file");
    if (r->secret_file && has_hash && r->spec.hasher.hash != TAMIS_KEYED)
        args_refuse(a, "--secret-file is for --hash keyed");
    if (r->like)
        take_like(r);
    if (r->like && r->universe && takes_one_by_one(r->kind))
        args_refuse(a, "--like and --universe cannot be used together in kinds that add");
    if (r->secret_file) {
        r->spec.hasher.hash = TAMIS_KEYED;
        read_secret(r->spec.hasher.secret, r->secret_file);
    }
}

static void read_options(request *r, args *a)
{
    args_read(a, r);
    source_operands(&r->source, a, NULL);
    if (!r->out)
        args_refuse(a, "give -o FILE, or -o - for standard output");
    if (r->as_json && strcmp(r->out, "-") == 0)
        args_refuse(a, "--json and -o - cannot both have standard output");
    take_models(r, a);
    store_check_target(r->out);
    store_spare_inputs("build", r->out, r->source.names);
    check_extras(r);
    choose_hash(r, a);
}

/* ---- Choosing a kind --------------------------------------------------- */

/* `keys` may be unknown: 0. */
static _Noreturn void refuse_plan(const request *r, uint64_t keys)
{
    char who[80] = "no kind of filter can", what[40] = "these";

    if (is_indexed(r->kind))
        die(CODE_LIMIT, "build: a key is too large for %s filters at that size",
            tamis_kind_name(r->kind));
    if (r->kind)
        snprintf(who, sizeof who, "%s filters cannot", tamis_kind_name(r->kind));
    if (keys)
        snprintf(what, sizeof what, "%" PRIu64, keys);
    die(CODE_LIMIT, "build: %s hold %s keys at that rate and size; 'tamis plan' shows what can",
        who, what);
}

/* Which kind is best hardly depends on the number of keys, but only few have very low rates. */
enum { TYPICAL_KEYS = 1000000 };

static tamis_kind choose_kind(const request *r)
{
    tamis_spec spec = r->spec;
    tamis_plan plan;
    bool is_counted = spec.keys == 0 && !spec_has_room(&spec);

    if (is_counted)
        spec.keys = TYPICAL_KEYS;
    while (tamis_plan_kind(&plan, TAMIS_NO_KIND, &spec))
        if (!is_counted || (spec.keys /= 10) == 0)
            refuse_plan(r, r->spec.keys);
    return plan.kind;
}

static void say_choice(const tamis_plan *plan)
{
    say("%s chosen, %.2f bits per key, false positive rate %.3g; -k KIND takes another, 'tamis "
        "plan' compares them",
        tamis_kind_name(plan->kind), bits_per_key(plan), plan->fpr);
}

/* A repeated key is counted again here, so that they may be fewer. */
static double expected_wrong(const request *r, const tamis_plan *plan)
{
    uint64_t keys = r->keys < plan->capacity ? r->keys : plan->capacity;

    return (double)r->queries * tamis_plan_rate(plan, keys);
}

static void print_json(const request *r, const tamis_plan *plan)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_text(&j, "file", r->out);
    json_text(&j, "kind", tamis_kind_name(plan->kind));
    json_count(&j, "keys_read", r->keys);
    json_count(&j, "keys", plan->capacity);
    json_real(&j, "fpr", plan->fpr);
    json_count(&j, "bytes", plan->bytes);
    json_real(&j, "bits_per_key", bits_per_key(plan));
    if (r->queries)
        json_real(&j, "expected_wrong", expected_wrong(r, plan));
    json_close(&j, '}');
}

/* ---- Building ---------------------------------------------------------- */

enum { BUILDER_BYTES = 4 << 20 };

static uint64_t memory_for_builder(const request *r)
{
    return source_memory(&r->source, r->memory, BUILDER_BYTES);
}
/* Whether a builder has enough memory for that many keys, all different. Where the library cannot
 * tell before they come, it takes the filter, and 8 bytes for each key of a 256th of them; twice
 * that, as some are larger. */
static bool is_enough(const request *r, uint64_t memory, uint64_t keys)
{
    const tamis_build_options options = TAMIS_BUILD_OPTIONS(.memory = memory, .dir = r->tmp);
    tamis_spec spec = r->spec;
    tamis_plan plan;
    tamis_builder *b;

    spec.keys = keys;
    if (takes_one_by_one(r->kind))
        return tamis_plan_kind(&plan, r->kind, &spec) ||
               memory >= plan.bytes + plan.bytes / 16 + keys / 16 + BUILDER_BYTES;
    if (tamis_builder_new(&b, r->kind, &spec, &options) == TAMIS_NOMEM)
        return false;
    tamis_builder_free(b);
    return true;
}

/* Excluded keys take what depends on the keys themselves: nothing is promised there. */
static _Noreturn void refuse_memory(const request *r, uint64_t keys)
{
    uint64_t memory = BUILDER_BYTES;

    if (keys == 0 || r->universe)
        die(CODE_MEMORY, "%s: cannot be built in so little memory; give more with --memory",
            r->out);
    while (memory < UINT64_MAX / 2 && !is_enough(r, memory, keys))
        memory += memory / 16;
    die(CODE_MEMORY, "%s: cannot be built in so little memory; --memory %" PRIu64 "M is enough",
        r->out, ((source_own_memory(&r->source) + memory) >> 20) + 1);
}

static _Noreturn void refuse(const request *r, tamis_status status, uint64_t keys)
{
    if (status == TAMIS_CANNOT)
        die(CODE_USAGE,
            "build: %s filters lack an ability asked for by --can, --load, --grow, --grow-to, "
            "--error, --hashes or one of the --...bits; see 'tamis kinds'",
            tamis_kind_name(r->kind));
    if (status == TAMIS_RANGE)
        refuse_plan(r, keys);
    if (status == TAMIS_NOMEM && r->memory)
        refuse_memory(r, keys);
    if (status == TAMIS_FULL && r->spec.keys)
        refuse_full(r->out, r->kind, r->spec.keys, r->spec.can & TAMIS_CAN_GROW, false);
    die_status("build", r->out, status);
}

/* Kinds that add have the filter in memory as a whole, but for those that are written in order. */
static bool has_room(const request *r, uint64_t memory)
{
    unsigned can = tamis_kind_can(r->kind);
    tamis_plan plan;

    if (memory == 0 || r->spec.keys == 0 || !takes_one_by_one(r->kind) || can & TAMIS_CAN_RESIZE)
        return true;
    return tamis_plan_kind(&plan, r->kind, &r->spec) || plan.bytes <= memory;
}

static tamis_builder *start(request *r)
{
    const tamis_build_options options =
        TAMIS_BUILD_OPTIONS(.memory = memory_for_builder(r), .threads = r->source.threads,
                            .dir = r->tmp, .progress = store_progress, .ctx = &r->keys);
    tamis_builder *b;
    tamis_status status = tamis_builder_new(&b, r->kind, &r->spec, &options);

    if (!status && !has_room(r, options.memory))
        status = TAMIS_NOMEM;
    if (status)
        refuse(r, status, r->spec.keys);
    return b;
}

/* The filter is in memory anyway, and can tell how full it is. */
static void save_added(const request *r, tamis *f, tamis_plan *plan)
{
    progress_erase();
    store_save(f, r->out);
    store_warn_if_crowded(f, r->out);
    *plan = *tamis_plan_of(f);
    tamis_free(f);
}

static tamis_status finish_added(const request *r, tamis_builder *b, tamis_plan *plan)
{
    tamis *f;
    tamis_status status = tamis_builder_finish(&f, b);

    if (!status)
        save_added(r, f, plan);
    return status;
}

/* False: there is no key, which is hardly what was meant, and no reason to lose a good filter. */
static bool load_all(request *r, tamis_builder *b)
{
    char *universe[] = { (char *)(uintptr_t)r->universe, NULL };
    source others = r->source;
    const load_target to = { b, r->out, r->kind, &r->spec, most_value_bits(r) };

    r->keys = load_builder(&to, &r->source);
    if (r->keys == 0 && !r->may_be_empty)
        return false;
    if (!r->universe)
        return true;
    others.names = universe;
    r->keys += load_excluded(&to, &others);
    return true;
}

/* These two return false if there was no key. */
static bool build(request *r, tamis_plan *plan)
{
    tamis_builder *b = start(r);
    bool has_keys = load_all(r, b);
    tamis_status status = TAMIS_OK;

    if (has_keys)
        status =
            takes_one_by_one(r->kind) ? finish_added(r, b, plan) : store_build(b, r->out, plan);
    if (status)
        refuse(r, status, r->keys);
    tamis_builder_free(b);
    return has_keys;
}

/* An empty filter of the same plan takes the keys. */
static bool build_like(request *r, tamis_plan *plan)
{
    tamis *f;
    tamis_status status;

    if (r->memory && memory_for_builder(r) < r->plan.bytes)
        status = TAMIS_NOMEM;
    else
        status = tamis_new(&f, &r->plan, NULL);
    if (status)
        die_status("build", r->out, status);
    r->keys = load_keys(f, r->out, &r->source, false);
    if (r->keys == 0 && !r->may_be_empty) {
        tamis_free(f);
        return false;
    }
    save_added(r, f, plan);
    return true;
}

static int run(args *a)
{
    request r = { .spec = TAMIS_SPEC(), .source = source_default() };
    tamis_plan plan;

    read_options(&r, a);
    bool is_chosen = !r.kind;
    if (is_chosen)
        r.kind = choose_kind(&r);
    /* A message can then name the line. */
    if (is_indexed(r.kind))
        r.source.format.below = r.spec.keys;
    if (!(r.like && takes_one_by_one(r.kind) ? build_like : build)(&r, &plan)) {
        say("%s was not written: there is no key in the input; --allow-empty makes an empty filter",
            r.out);
        return CODE_NOTHING;
    }
    if (r.as_json)
        print_json(&r, &plan);
    else if (is_chosen)
        say_choice(&plan);
    if (r.queries && !r.as_json)
        say("of %" PRIu64 " queries for keys that are not in it, expect %.0f wrong answers",
            r.queries, expected_wrong(&r, &plan));
    return CODE_OK;
}

static const option_row options[] = {
    { 'o', "output", "FILE", "where to save the filter", TO_TEXT(request, out) },
    { 'k', "kind", "KIND", "kind of filter; 'tamis kinds' lists them", TO_KIND(request, kind) },
    { 0, "like", "FILE", "take the plan, the hash and the secret of that filter",
      TO_TEXT(request, like) },
    { 0, "secret-file", "FILE", "hash with this secret: 16 bytes, or 32 hexadecimal digits",
      TO_TEXT(request, secret_file) },
    { 0, "queries", "N", "say how many of N queries for absent keys will be answered wrongly",
      TO_COUNT(request, queries, 1, UINT64_MAX) },
    { 0, "seed", "S", "integer that changes the hash (default: 0)",
      TO_INTEGER(request, spec.hasher.seed) },
    { 0, "memory", "SIZE", "memory it may take: 512M, 4G (default: what it needs)",
      TO_SIZE(request, memory) },
    { 0, "tmp", "DIR", "folder for keys that do not fit (default: $TMPDIR or /var/tmp)",
      TO_TEXT(request, tmp) },
    OPTIONS(value_options, request, source),
    { 0, "universe", "FILE", "keys that must not be found, one per line",
      TO_TEXT(request, universe) },
    { 0, "allow-empty", NULL, "save the filter even if there is no key",
      TO_FLAG(request, may_be_empty) },
    { 0, "json", NULL, "print as JSON what was made", TO_FLAG(request, as_json) },
    OPTIONS(spec_options, request, spec),
    { .included = quiet_options },
    OPTIONS(key_options, request, source),
    { 0 },
};

const command cmd_build = { "build", help_build, options, .run = run };
