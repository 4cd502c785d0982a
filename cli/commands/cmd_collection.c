/* cmd_collection.c - tamis collection: many named filters in one file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "commands.h"
#include "filters/collection_member.h"
#include "filters/store.h"
#include "term/array.h"
#include "term/buffer.h"
#include "term/message.h"
#include "term/output.h"
#include "text/json.h"
#include "text/names.h"

typedef struct request {
    const char *collection;
    char **operands;  /* after it; NULL follows the last */
    const char *name; /* of --name, or NULL */
    bool as_json;
} request;

/* ---- Editors ----------------------------------------------------------- */

static tamis_editor *edit(const request *r, unsigned flags)
{
    const struct timespec pause = { 0, 20 * 1000 * 1000 };
    tamis_editor *e;
    tamis_status status;

    while ((status = tamis_editor_open(&e, r->collection, flags, NULL)) == TAMIS_BUSY)
        nanosleep(&pause, NULL);
    if (status == TAMIS_FOREIGN)
        die(CODE_CORRUPT, "%s is no collection of filters; give the name of one, or a new name",
            r->collection);
    if (status)
        die_status("open", r->collection, status);
    return e;
}

static void save(tamis_editor *e, const request *r)
{
    tamis_status status = tamis_editor_save(e);

    if (status == TAMIS_FULL)
        die(CODE_LIMIT, "%s: too many of its names have one hash; give some of them other names",
            r->collection);
    if (status)
        die_status("write", r->collection, status);
    tamis_editor_free(e);
}

static void must_exist(const request *r)
{
    struct stat s;

    if (stat(r->collection, &s))
        die_errno("open", r->collection);
}

/* ---- Adding ------------------------------------------------------------ */

/* Files to be added, with their names in the collection. */
typedef struct listing {
    char **paths; /* what malloc() gave, like each of them */
    size_t n;
} listing;

static void take_path(listing *l, const char *folder, const char *path)
{
    size_t size = strlen(folder) + strlen(path) + 2;

    l->paths = array_grown(l->paths, l->n, sizeof *l->paths, "files");
    l->paths[l->n] = array_new(size, 1, "bytes of a name");
    snprintf(l->paths[l->n++], size, "%s%s%s", folder, *folder ? "/" : "", path);
}

static const char SUFFIX[] = ".tamis";

static size_t without_suffix(const char *name)
{
    size_t size = strlen(name), end = sizeof SUFFIX - 1;

    return size > end && strcmp(name + size - end, SUFFIX) == 0 ? size - end : size;
}

/* Files of a folder are added. */
typedef struct folder {
    listing *listing;
    const char *path;
} folder;

static void take_file(void *ctx, const char *name)
{
    const folder *f = ctx;
    char file[NAME_MAX + 1];

    snprintf(file, sizeof file, "%s%s", name, SUFFIX);
    take_path(f->listing, f->path, file);
}

static void take_operand(listing *l, const char *path)
{
    folder f = { l, path };

    if (!store_is_folder(path))
        take_path(l, "", path);
    else if (store_each(path, take_file, &f) == 0)
        say("%s has no files that end with %s", path, SUFFIX);
}

/* The file without its folder and suffix; of a filter of another collection, its own. */
static void name_of(char name[PATH_MAX], const request *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    member m;

    if (r->name)
        snprintf(name, PATH_MAX, "%s", r->name);
    else if (member_split(&m, path))
        snprintf(name, PATH_MAX, "%s", m.name);
    else
        snprintf(name, PATH_MAX, "%.*s", (int)without_suffix(slash ? slash + 1 : path),
                 slash ? slash + 1 : path);
}

static void put(tamis_editor *e, const request *r, const char *path)
{
    tamis *f = store_load(path);
    char name[PATH_MAX];

    name_of(name, r, path);
    tamis_status status = tamis_editor_put(e, name, f);
    if (status == TAMIS_RANGE)
        die(CODE_USAGE,
            "%s: its name, '%s', is not UTF-8 of 1 to %d bytes without control characters; give "
            "another with --name",
            path, name, TAMIS_NAME_MAX);
    if (status)
        die_status("write", r->collection, status);
    tamis_free(f);
}

static void refuse_repeats(const listing *l, const request *r)
{
    char name[PATH_MAX] = "";
    bool is_new = true;
    names all = { 0 };

    for (size_t i = 0; i < l->n && is_new; i++) {
        name_of(name, r, l->paths[i]);
        names_enter(&all, name, &is_new);
    }
    if (!is_new)
        die(CODE_USAGE,
            "collection: two files would be called '%s'; add them one by one, with --name", name);
    names_free(&all);
}

static int run_add(const request *r)
{
    listing l = { 0 };

    for (char **path = r->operands; *path; path++)
        take_operand(&l, *path);
    refuse_repeats(&l, r);
    tamis_editor *e = edit(r, 0);
    for (size_t i = 0; i < l.n; i++) {
        put(e, r, l.paths[i]);
        free(l.paths[i]);
    }
    free(l.paths);
    save(e, r);
    return CODE_OK;
}

/* ---- Removing and compacting ------------------------------------------- */

static int run_remove(const request *r)
{
    int code = CODE_OK;

    must_exist(r);
    tamis_editor *e = edit(r, 0);
    for (char **name = r->operands; *name; name++)
        if (tamis_editor_remove(e, *name)) {
            say("%s: there is no filter called '%s'", r->collection, *name);
            code = CODE_NOTHING;
        }
    save(e, r);
    return code;
}

static int run_compact(const request *r)
{
    must_exist(r);
    save(edit(r, TAMIS_EDIT_COMPACT), r);
    return CODE_OK;
}

/* ---- Listing ----------------------------------------------------------- */

static bool take_name(void *ctx, const char *name, uint64_t offset, uint64_t size)
{
    (void)offset;
    (void)size;
    take_path(ctx, "", name);
    return true;
}

static void print_name(const char *name)
{
    output_write(name, strlen(name));
    output_write("\n", 1);
}

static void print_json(json *j, const tamis_collection *c, const char *name)
{
    tamis *f;

    json_open(j, NULL, '{');
    json_text(j, "name", name);
    tamis_status status = tamis_collection_get(c, &f, name, NULL);
    if (status) {
        json_text(j, "error", tamis_status_text(status));
    } else {
        const tamis_plan *p = tamis_plan_of(f);
        json_text(j, "kind", tamis_kind_name(p->kind));
        json_count(j, "keys", p->capacity);
        json_real(j, "fpr", p->fpr);
        json_count(j, "bytes", p->bytes);
        tamis_free(f);
    }
    json_close(j, '}');
}

static void print_names(const request *r, const tamis_collection *c, const listing *l)
{
    json j = { 0 };

    if (r->as_json)
        json_open(&j, NULL, '[');
    for (size_t i = 0; i < l->n; i++) {
        if (r->as_json)
            print_json(&j, c, l->paths[i]);
        else
            print_name(l->paths[i]);
        free(l->paths[i]);
    }
    if (r->as_json)
        json_close(&j, ']');
    free(l->paths);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int run_list(const request *r)
{
    tamis_collection *c;
    listing l = { 0 };
    tamis_status status = tamis_collection_open(&c, r->collection, NULL);

    if (status == TAMIS_FOREIGN)
        die(CODE_CORRUPT, "%s is no collection of filters", r->collection);
    if (status)
        die_status("read", r->collection, status);
    store_catch_truncation();
    status = tamis_collection_list(c, take_name, &l);
    bool is_empty = l.n == 0;
    if (!is_empty)
        qsort(l.paths, l.n, sizeof *l.paths, compare_texts);
    print_names(r, c, &l);
    tamis_collection_free(c);
    if (status)
        return report("read", r->collection, status);
    return is_empty ? CODE_NOTHING : CODE_OK;
}

/* ---- Command ----------------------------------------------------------- */

/* In the order of the command's verbs. */
static const struct verb {
    const char *name;
    int (*run)(const request *r);
    bool takes_operands;
} VERBS[] = {
    { "add", run_add, true },
    { "remove", run_remove, true },
    { "list", run_list, false },
    { "compact", run_compact, false },
};

static int run(args *a)
{
    request r = { 0 };

    args_read(a, &r);
    char **words = args_operands(a, 1, SIZE_MAX, "add, remove, list or compact");
    const struct verb *verb = &VERBS[args_verb(a, words[0])];
    if (!words[1] || (verb->takes_operands && !words[2]))
        args_refuse(a, verb->takes_operands ? "give a COLLECTION, and what to add or remove"
                                            : "give a COLLECTION");
    r.collection = words[1];
    r.operands = words + 2;
    if (!verb->takes_operands && words[2])
        args_refuse(a, "give one COLLECTION, and nothing else");
    if (r.name && words[3])
        args_refuse(a, "--name is for one FILE that is added");
    return verb->run(&r);
}

static const option_row options[] = {
    { 0, "name", "NAME", "what to call the one FILE that is added", TO_TEXT(request, name),
      .verbs = "add" },
    { 0, "json", NULL, "print JSON, an array with one object per filter", TO_FLAG(request, as_json),
      .verbs = "list" },
    { 0 },
};

const command cmd_collection = {
    .name = "collection",
    .help = help_collection,
    .options = options,
    .verbs = "add remove list compact",
    .run = run,
};
