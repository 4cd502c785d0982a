/* cmd_merge.c - tamis merge: the union of filters.
 *
 * There are three ways. Filters of equal shape are merged bit by bit. Filters of fingerprints are
 * read side by side from their files, from the lowest fingerprint to the highest. Exact sets can
 * list their keys: a set with room for all of them is made, and the keys are added to it. */
#include <stdlib.h>

#include "abilities.h"
#include "alike.h"
#include "commands.h"
#include "lock.h"
#include "message.h"
#include "store.h"

/* ---- Filters of equal shape -------------------------------------------- */

static tamis *merge_shapes(char **paths)
{
    tamis *f = store_load(paths[0]);

    abilities_require(tamis_plan_of(f)->kind, TAMIS_CAN_MERGE, paths[0]);
    for (char **path = paths + 1; *path; path++) {
        tamis *g = store_load(*path);
        tamis_status status = tamis_merge(f, g);

        if (status == TAMIS_MISMATCH)
            refuse_pair("merge", paths[0], tamis_plan_of(f), *path, tamis_plan_of(g));
        if (status)
            die_status("merge", *path, status);
        tamis_free(g);
    }
    return f;
}

/* ---- Filters of fingerprints ------------------------------------------- */

/* The first one that is damaged, or differs from the first of all. */
static _Noreturn void refuse_files(char **paths, tamis *const *files, size_t n, tamis_status status)
{
    uint64_t product;

    for (size_t i = 0; i < n; i++) {
        tamis_status one = tamis_dot(files[0], &product, files[i]);

        if (one == TAMIS_MISMATCH)
            refuse_pair("merge", paths[0], tamis_plan_of(files[0]), paths[i],
                        tamis_plan_of(files[i]));
        if (one)
            die_status("merge", paths[i], one);
    }
    die_status("merge", paths[0], status);
}

static tamis *merge_fingerprints(char **paths)
{
    size_t n = 0;
    tamis **files, *f;

    while (paths[n])
        n++;
    if (!(files = calloc(n, sizeof *files)))
        die(CODE_MEMORY, "out of memory for %zu files", n);
    for (size_t i = 0; i < n; i++)
        files[i] = store_map(paths[i]);
    tamis_status status = tamis_merge_many(&f, (const tamis *const *)files, n, NULL);
    if (status)
        refuse_files(paths, files, n, status);
    for (size_t i = 0; i < n; i++)
        tamis_free(files[i]);
    free(files);
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

/* Room for the keys of all sets, and at least the largest capacity. */
static void widen(tamis_spec *spec, uint64_t *held, const tamis *f)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
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
    tamis_spec spec = TAMIS_SPEC(.hasher = plan.hasher);
    tamis_status status;
    uint64_t held = 0;

    for (char **path = paths; *path; path++) {
        tamis *g = store_load(*path);

        if (tamis_plan_of(g)->kind != plan.kind ||
            !makes_same_keys(&plan.hasher, &tamis_plan_of(g)->hasher))
            refuse_pair("merge", paths[0], &plan, *path, tamis_plan_of(g));
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

static unsigned abilities_of(const char *path)
{
    tamis *f = store_map(path);
    unsigned can = tamis_kind_can(tamis_plan_of(f)->kind);

    tamis_free(f);
    return can;
}

static tamis *merge(char **paths)
{
    const unsigned listed = TAMIS_IS_EXACT | TAMIS_CAN_LIST | TAMIS_CAN_ADD;
    unsigned can = abilities_of(paths[0]);

    if (can & TAMIS_CAN_RESIZE)
        return merge_fingerprints(paths);
    return (can & listed) == listed ? merge_sets(paths) : merge_shapes(paths);
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
    f = merge(paths);
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
        "Saves to OUT a filter that holds the keys of every FILE. OUT may be one of them. In\n"
        "kinds that count, counts add up.\n"
        "\n"
        "The files must have the same kind, size, hash and seed: build them with the same --kind,\n"
        "--keys, --fpr, --hash and --seed. Exact sets may differ in size. So may filters of\n"
        "fingerprints, after 'tamis resize': their files are read side by side in one pass, and\n"
        "only the union takes memory.",
    .options = { options },
    .when_ok = "the union was saved",
    .example = "  seq 1 500 | tamis build -k bloom -n 1000 -o low.tamis\n"
               "  seq 501 1000 | tamis build -k bloom -n 1000 -o high.tamis\n"
               "  tamis merge -o all.tamis low.tamis high.tamis",
    .run = run,
};
