/* cmd_merge.c - tamis merge: the union of filters.
 *
 * Filters of equal shape are merged bit by bit. Exact sets can name their keys, so they need not be
 * of equal size: a set with room for all is made, and everything listed is added to it. */
#include <stdio.h>
#include <string.h>

#include "abilities.h"
#include "commands.h"
#include "lock.h"
#include "message.h"
#include "store.h"

/* ---- Differences ------------------------------------------------------- */

static bool has_same_secret(const tamis_hasher *a, const tamis_hasher *b)
{
    return memcmp(a->secret, b->secret, sizeof a->secret) == 0;
}

static bool makes_same_keys(const tamis_hasher *a, const tamis_hasher *b)
{
    if (a->hash != b->hash)
        return false;
    return a->hash == TAMIS_RAW || (a->hash == TAMIS_FAST && a->seed == b->seed) ||
           (a->hash == TAMIS_KEYED && has_same_secret(a, b));
}

static const char *difference(const tamis_plan *a, const tamis_plan *b)
{
    if (a->kind != b->kind)
        return "kind; build both with the same --kind";
    if (a->hasher.hash != b->hasher.hash)
        return "hash; build both with the same --hash";
    if (!has_same_secret(&a->hasher, &b->hasher))
        return "secret; make both from copies of one keyed filter, with 'tamis add'";
    if (a->hasher.seed != b->hasher.seed)
        return "seed; build both with the same --seed";
    return "size; build both with the same --keys and --fpr";
}

static _Noreturn void refuse_pair(const char *first, const tamis_plan *a, const char *other,
                                  const tamis_plan *b)
{
    die(CODE_USAGE, "merge: %s and %s differ in %s", first, other, difference(a, b));
}

/* ---- Filters of equal shape -------------------------------------------- */

static tamis *merge_shapes(char **paths)
{
    tamis *f = store_load(paths[0]);

    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_MERGE, paths[0]);
    for (char **path = paths + 1; *path; path++) {
        tamis *g = store_load(*path);
        tamis_status status = tamis_merge(f, g);

        if (status == TAMIS_MISMATCH)
            refuse_pair(paths[0], tamis_plan_of(f), *path, tamis_plan_of(g));
        if (status)
            die_status("merge", *path, status);
        tamis_free(g);
    }
    return f;
}

/* ---- Exact sets -------------------------------------------------------- */

typedef struct listing {
    tamis *filter; /* where keys go */
    tamis_status status;
} listing;

static bool add_listed(void *ctx, uint64_t key, uint64_t count)
{
    listing *l = ctx;

    while (count-- > 0 && l->status == TAMIS_OK)
        l->status = tamis_add(l->filter, key);
    return l->status == TAMIS_OK;
}

/* Adding up what each holds keeps room for all, and the largest capacity room to grow. */
static void widen(tamis_spec *spec, uint64_t *held, const tamis *f)
{
    tamis_info info = tamis_describe(f);
    bool is_indexed = (tamis_kind_can(info.plan.kind) & TAMIS_IS_INDEXED) != 0;

    *held += info.count;
    if (spec->keys < info.plan.capacity)
        spec->keys = info.plan.capacity;
    if (!is_indexed && spec->keys < *held)
        spec->keys = *held;
}

static tamis *make_room(char **paths)
{
    tamis *first = store_load(paths[0]), *f;
    tamis_plan plan = *tamis_plan_of(first);
    tamis_spec spec = { .hasher = plan.hasher };
    tamis_status status;
    uint64_t held = 0;

    for (char **path = paths; *path; path++) {
        tamis *g = store_load(*path);

        if (tamis_plan_of(g)->kind != plan.kind ||
            !makes_same_keys(&plan.hasher, &tamis_plan_of(g)->hasher))
            refuse_pair(paths[0], &plan, *path, tamis_plan_of(g));
        widen(&spec, &held, g);
        tamis_free(g);
    }
    tamis_free(first);
    if ((status = tamis_plan_kind(&plan, plan.kind, &spec)) ||
        (status = tamis_new(&f, &plan, NULL)))
        die_status("merge", paths[0], status);
    return f;
}

static tamis *merge_sets(char **paths)
{
    listing l = { .filter = make_room(paths) };

    for (char **path = paths; *path; path++) {
        tamis *g = store_load(*path);
        tamis_status status = tamis_list(g, add_listed, &l);

        if (status || (status = l.status))
            die_status("merge", *path, status);
        tamis_free(g);
    }
    return l.filter;
}

/* ---- Command ----------------------------------------------------------- */

static bool is_listed_set(const char *path)
{
    unsigned needed = TAMIS_IS_EXACT | TAMIS_CAN_LIST | TAMIS_CAN_ADD;
    tamis *f = store_map(path);
    unsigned can = tamis_kind_can(tamis_plan_of(f)->kind);

    tamis_free(f);
    return (can & needed) == needed;
}

static int run(args *a)
{
    const char *out = NULL;
    char **paths;
    tamis *f;

    while (args_next(a) != -1)
        out = a->value;
    paths = args_operands(a, 2, SIZE_MAX, "two FILEs or more");
    if (!out)
        args_refuse(a, "give -o OUT");
    store_check_target(out);
    lock_output(out);
    f = is_listed_set(paths[0]) ? merge_sets(paths) : merge_shapes(paths);
    store_save(f, out);
    store_warn_if_crowded(f, out);
    tamis_free(f);
    return CODE_OK;
}

static const option_row options[] = {
    { 'o', "output", "OUT", "where to save the union" },
    { 0 },
};

const command cmd_merge = {
    .name = "merge",
    .operands = "-o OUT FILE FILE...",
    .summary = "make the union of filters",
    .about =
        "Saves to OUT a filter that holds the keys of every FILE. The files must be of the same\n"
        "kind, size, hash and seed: build them with the same --kind, --keys, --fpr, --hash and\n"
        "--seed. Exact sets may differ in size. OUT may be one of the files.",
    .options = { options },
    .when_ok = "the union was saved",
    .example = "  seq 1 500 | tamis build -k bloom -n 1000 -o low.tamis\n"
               "  seq 501 1000 | tamis build -k bloom -n 1000 -o high.tamis\n"
               "  tamis merge -o all.tamis low.tamis high.tamis",
    .run = run,
};
