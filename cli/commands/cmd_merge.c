/* cmd_merge.c - tamis merge: the union of filters, their intersection, their difference.
 *
 * There are three ways. Filters of equal shape are combined bit by bit. For a union, filters of
 * fingerprints are read side by side from their files, from the lowest fingerprint to the highest.
 * Exact sets can list their keys: a set with room for all of them is made, and the keys are added
 * to it. */
#include <stdlib.h>

#include "commands.h"
#include "filters/compatible.h"
#include "filters/store.h"
#include "term/array.h"
#include "term/message.h"
#include "text/abilities.h"

typedef struct mixing {
    tamis_operation op;
    const char *out;
    char **paths;
} mixing;

/* ---- Filters of equal shape -------------------------------------------- */

static _Noreturn void refuse_rest(const char *first, const char *other)
{
    die(CODE_USAGE,
        "merge: %s holds what %s does not; without the keys, only what was added can be "
        "subtracted",
        other, first);
}

static void require_abilities(const mixing *m, const tamis *f)
{
    static const unsigned needed[] = {
        [TAMIS_MERGE] = TAMIS_CAN_MERGE,
        [TAMIS_INTERSECT] = TAMIS_CAN_INTERSECT,
        [TAMIS_SUBTRACT] = TAMIS_CAN_INTERSECT | TAMIS_CAN_REMOVE,
    };

    abilities_require(tamis_plan_of(f)->kind, needed[m->op], m->paths[0]);
}

static tamis *combine_shapes(const mixing *m)
{
    tamis *f = store_load(m->paths[0]);

    require_abilities(m, f);
    for (char **path = m->paths + 1; *path; path++) {
        tamis *g = store_load(*path);
        tamis_status status = tamis_combine(f, m->op, g);

        if (status == TAMIS_MISMATCH)
            refuse_pair("merge", m->paths[0], tamis_plan_of(f), *path, tamis_plan_of(g));
        if (status == TAMIS_ABSENT)
            refuse_rest(m->paths[0], *path);
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
    files = array_new(n, sizeof *files, "files");
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
    tamis *filter;      /* where keys go */
    const tamis *other; /* or NULL: all go */
    bool stays;         /* what is in the other; else what is not */
    tamis_status status;
} listing;

static bool add_listed(void *ctx, uint64_t key, uint64_t count)
{
    listing *l = ctx;

    if (l->other && tamis_has(l->other, key) != l->stays)
        return true;
    while (count-- > 0 && l->status == TAMIS_OK)
        l->status = tamis_add(l->filter, key);
    return l->status == TAMIS_OK;
}

static void list_into(listing *l, const tamis *f, const char *path)
{
    tamis_status status = tamis_list(f, add_listed, l);

    if (status || (status = l->status))
        die_status("merge", path, status);
}

static tamis *load_compatible(char **paths, const tamis_plan *plan, const char *path)
{
    tamis *g = store_load(path);

    if (tamis_plan_of(g)->kind != plan->kind ||
        !makes_same_keys(&plan->hasher, &tamis_plan_of(g)->hasher))
        refuse_pair("merge", paths[0], plan, path, tamis_plan_of(g));
    return g;
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

static tamis_status keep_note(tamis *to, const tamis *from)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(from, &info);
    return tamis_set_note(to, info.note, info.noted);
}

static tamis *make_room(char **paths)
{
    tamis *first = store_load(paths[0]), *f;
    tamis_plan plan = *tamis_plan_of(first);
    tamis_spec spec = TAMIS_SPEC(.hasher = plan.hasher);
    tamis_status status;
    uint64_t held = 0;

    for (char **path = paths; *path; path++) {
        tamis *g = load_compatible(paths, &plan, *path);

        widen(&spec, &held, g);
        tamis_free(g);
    }
    if ((status = tamis_plan_kind(&plan, plan.kind, &spec)) ||
        (status = tamis_new(&f, &plan, NULL)) || (status = keep_note(f, first)))
        die_status("merge", paths[0], status);
    tamis_free(first);
    return f;
}

static tamis *merge_sets(char **paths)
{
    listing l = { .filter = make_room(paths) };

    for (char **path = paths; *path; path++) {
        tamis *g = store_load(*path);

        list_into(&l, g, *path);
        tamis_free(g);
    }
    return l.filter;
}

static tamis *reduce_set(tamis *f, const tamis *g, const mixing *m)
{
    listing l = { .other = g, .stays = m->op == TAMIS_INTERSECT };
    tamis_status status = tamis_new(&l.filter, tamis_plan_of(f), NULL);

    if (status || (status = keep_note(l.filter, f)))
        die_status("merge", m->paths[0], status);
    list_into(&l, f, m->paths[0]);
    tamis_free(f);
    return l.filter;
}

static tamis *combine_sets(const mixing *m)
{
    if (m->op == TAMIS_MERGE)
        return merge_sets(m->paths);
    tamis *f = store_load(m->paths[0]);
    for (char **path = m->paths + 1; *path; path++) {
        tamis *g = load_compatible(m->paths, tamis_plan_of(f), *path);

        f = reduce_set(f, g, m);
        tamis_free(g);
    }
    return f;
}

/* ---- Command ----------------------------------------------------------- */

static unsigned abilities_of(const char *path)
{
    tamis *f = store_map(path);
    unsigned can = tamis_kind_can(tamis_plan_of(f)->kind);

    tamis_free(f);
    return can;
}

static tamis *combine(const mixing *m)
{
    const unsigned listed = TAMIS_IS_EXACT | TAMIS_CAN_LIST | TAMIS_CAN_ADD;
    unsigned can = abilities_of(m->paths[0]);

    if (can & TAMIS_CAN_RESIZE && m->op == TAMIS_MERGE)
        return merge_fingerprints(m->paths);
    return (can & listed) == listed ? combine_sets(m) : combine_shapes(m);
}

static void check_options(void *into, const args *a)
{
    const mixing *m = into;

    if (args_given(a, "intersect") && args_given(a, "subtract"))
        args_refuse(a, "give --intersect or --subtract, once");
    if (!m->out)
        args_refuse(a, "give -o OUT");
}

static int run(args *a)
{
    mixing m = { .op = TAMIS_MERGE };

    args_read(a, &m);
    m.paths = args_operands(a, 2, SIZE_MAX, "two FILEs or more");
    store_lock_target(m.out);
    tamis *f = combine(&m);
    store_save(f, m.out);
    store_warn_if_crowded(f, m.out);
    tamis_free(f);
    return CODE_OK;
}

static const option_row options[] = {
    { 'o', "output", "OUT", "where to save the result", TO_TEXT(mixing, out) },
    { 0, "intersect", NULL, "keep the keys that are in every FILE",
      TO_CONSTANT(mixing, op, TAMIS_INTERSECT) },
    { 0, "subtract", NULL, "keep what is in the first FILE and in no other",
      TO_CONSTANT(mixing, op, TAMIS_SUBTRACT) },
    { .take = check_options },
};

const command cmd_merge = { "merge", help_merge, options, .run = run };
