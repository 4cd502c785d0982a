/* lost.c - a disk that loses what was to be written, and says so once: every call that can report
 * it is heard.
 *
 * Whatever writes a file is run again and again, each time with another of its calls failing and
 * the data lost (losing.h). Then either an error was reported and the file is the old one, or
 * success and it is the new one, whole, with all keys. No kind is named: each goes the ways that
 * its abilities allow. */
#include "losing.h"

#include <sys/wait.h>

#include "../golden/golden.h"
#include "tamis_builder.h"
#include "tamis_collection.h"
#include "tamis_disk.h"

enum { OLD = 200, NEW = 300 };

static char folder[PATH_MAX - 64], path[PATH_MAX], old_path[PATH_MAX], calls_path[PATH_MAX];
static tamis_kind kind;
static tamis_plan plan;

typedef struct job {
    const char *name;
    void (*prepare)(void);        /* makes the old file, or none */
    tamis_status (*act)(void);    /* saves */
    bool (*is_whole)(uint64_t n); /* the file is undamaged and holds the keys below n */
    bool is_in_place;             /* the old file is written to */
    const char *only;             /* calls that are made to fail in a short run; NULL: all */
} job;

static bool is_long(void)
{
    return getenv("TAMIS_LONG") != NULL;
}

/* ---- One filter in a file ---------------------------------------------- */

static bool can(unsigned abilities)
{
    return (tamis_kind_can(kind) & abilities) == abilities;
}

/* Keys are numbers, so that kinds of small integers take them. */
static tamis_spec spec_of(uint64_t keys, double fpr)
{
    return (tamis_spec)TAMIS_SPEC(.keys = keys, .fpr = can(TAMIS_IS_EXACT) ? 0 : fpr,
                                  .hasher = { .hash = TAMIS_RAW });
}

static const uint64_t *numbers(void)
{
    static uint64_t n[2 * NEW];

    for (uint64_t i = 0; i < 2 * NEW; i++)
        n[i] = i;
    return n;
}

/* A filter of the old keys, as any kind can be made. */
static tamis *made_filter(uint64_t n)
{
    const uint64_t *keys = numbers();
    tamis *f = NULL;
    tamis_status status = can(TAMIS_CAN_GET) ? tamis_build_map(&f, &plan, keys, keys, n, NULL)
                          : can(TAMIS_CAN_EXCLUDE)
                              ? tamis_build_excluding(&f, &plan, keys, n, keys + NEW, 50, NULL)
                              : tamis_build(&f, &plan, keys, n, NULL);

    if (status)
        die(tamis_status_text(status), tamis_kind_name(kind));
    return f;
}

static void make_plan(uint64_t keys, double fpr)
{
    tamis_spec spec = spec_of(keys, fpr);

    if (can(TAMIS_CAN_EXCLUDE)) {
        spec.fpr = 0;
        spec.universe = keys + 50;
    }
    spec.value_bits = can(TAMIS_CAN_GET) && !can(TAMIS_CAN_PUT) ? 10 : 0;
    tamis_status status = tamis_plan_kind(&plan, kind, &spec);
    if (status)
        die(tamis_status_text(status), tamis_kind_name(kind));
}

static void save_old(void)
{
    tamis *f = made_filter(OLD);

    if (tamis_save(f, path))
        die("cannot be saved", path);
    tamis_free(f);
}

static void small_filter(void)
{
    make_plan(1000, 0.001);
    save_old();
}

static bool is_filter(uint64_t n)
{
    tamis *f = NULL;
    bool holds = true;

    if (tamis_load(&f, path, NULL))
        return false;
    for (uint64_t key = 0; key < n; key++)
        holds &= tamis_has(f, key);
    tamis_free(f);
    return holds;
}

static tamis_status save(void)
{
    tamis *f = made_filter(NEW);
    tamis_status status = tamis_save(f, path);

    tamis_free(f);
    return status;
}

/* ---- Builders ---------------------------------------------------------- */

static tamis_status build(tamis_spec spec, const tamis_build_options *o)
{
    const uint64_t *keys = numbers();
    tamis_builder *b;
    tamis_status status = tamis_builder_new(&b, kind, &spec, o);

    if (status)
        return status;
    status = can(TAMIS_CAN_GET) ? tamis_builder_add_map(b, keys, keys, NEW)
                                : tamis_builder_add_many(b, keys, NEW);
    if (!status && can(TAMIS_CAN_EXCLUDE))
        status = tamis_builder_add_excluded(b, keys + NEW, 50);
    if (!status)
        status = tamis_builder_save(b, path, NULL);
    tamis_builder_free(b);
    return status;
}

static tamis_status build_known(void)
{
    return build(spec_of(1000, can(TAMIS_CAN_EXCLUDE) ? 0 : 0.001), NULL);
}

static tamis_status build_unknown(void)
{
    return build(spec_of(0, can(TAMIS_CAN_EXCLUDE) ? 0 : 0.001), NULL);
}

/* ---- Files of several stretches ---------------------------------------- */

/* Keys of some 20 MiB, two stretches and a half: all but the last go to disk while it is written.
 */
static tamis_spec large_spec(void)
{
    tamis_spec spec = spec_of(1 << 20, 0x1p-28);

    if (tamis_plan_kind(&plan, kind, &spec))
        die("cannot be planned", tamis_kind_name(kind));
    spec.keys = spec.keys * (20 << 20) / plan.bytes;
    return spec;
}

static void large_filter(void)
{
    tamis_spec spec = large_spec();

    if (tamis_plan_kind(&plan, kind, &spec))
        die("cannot be planned", tamis_kind_name(kind));
    save_old();
}

static tamis_status build_large(void)
{
    return build(large_spec(), NULL);
}

/* ---- Filters on disk --------------------------------------------------- */

static tamis_status flush(void)
{
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = 64 << 10);
    size_t added;
    tamis_disk *d;
    tamis_status status = tamis_disk_open(&d, path, &o);

    if (status)
        return status;
    status = tamis_disk_add_many(d, &added, numbers() + OLD, NEW - OLD);
    if (!status)
        status = tamis_disk_flush(d);
    tamis_disk_free(d);
    return status;
}

/* ---- Collections ------------------------------------------------------- */

/* Filters by the number of their keys. */
static tamis_status edit(unsigned flags, uint64_t n)
{
    tamis *f = made_filter(n);
    char name[24];
    tamis_editor *e;
    tamis_status status = tamis_editor_open(&e, path, flags, NULL);

    if (!status) {
        snprintf(name, sizeof name, "%llu", (unsigned long long)n);
        status = tamis_editor_put(e, name, f);
        if (!status)
            status = tamis_editor_save(e);
        tamis_editor_free(e);
    }
    tamis_free(f);
    return status;
}

static void no_file(void)
{
    make_plan(1000, 0.001);
}

static void small_collection(void)
{
    no_file();
    if (edit(0, OLD))
        die("cannot be made", path);
}

static tamis_status append(void)
{
    return edit(0, NEW);
}

static tamis_status compact(void)
{
    return edit(TAMIS_EDIT_COMPACT, NEW);
}

static bool has_member(const tamis_collection *c, uint64_t n)
{
    bool holds = true;
    char name[24];
    tamis *f;

    snprintf(name, sizeof name, "%llu", (unsigned long long)n);
    if (tamis_collection_get(c, &f, name, NULL))
        return false;
    for (uint64_t key = 0; key < n; key++)
        holds &= tamis_has(f, key);
    tamis_free(f);
    return holds;
}

/* With the filter of the old keys, if there was a collection, or also with that of the new ones. */
static bool is_collection(uint64_t n)
{
    tamis_collection *c;

    if (tamis_collection_open(&c, path, NULL))
        return n == OLD && access(path, F_OK) != 0;
    bool holds = tamis_collection_verify(c, NULL, NULL) == TAMIS_OK && has_member(c, n);
    tamis_collection_free(c);
    return holds;
}

/* ---- Writable maps ----------------------------------------------------- */

static tamis_status add_and_sync(tamis *f)
{
    tamis_status status = TAMIS_OK;

    for (uint64_t key = OLD; key < NEW && !status; key++)
        status = tamis_add(f, key);
    return status ? status : tamis_sync(f);
}

static tamis_status map(void)
{
    tamis *f;
    tamis_status status = tamis_map(&f, path, TAMIS_MAP_WRITE, NULL);

    if (status)
        return status;
    status = add_and_sync(f);
    tamis_free(f);
    return status;
}

/* A writer that failed leaves a file that says so, and is recovered with its old keys. */
static bool is_map(uint64_t n)
{
    tamis *f = NULL;

    if (n == OLD && tamis_load(&f, path, NULL) == TAMIS_DIRTY) {
        if (tamis_map(&f, path, TAMIS_MAP_RECOVER, NULL))
            return false;
    }
    tamis_free(f);
    return is_filter(n);
}

/* ---- Striking ---------------------------------------------------------- */

/* The status, or -1 if it was killed. */
static int run(const job *j, long left, int log)
{
    int code;
    fflush(NULL);
    pid_t child = fork();

    if (child == 0) {
        losing_begin(folder, left, log);
        _exit((int)j->act());
    }
    if (child < 0 || waitpid(child, &code, 0) != child)
        die("no child", j->name);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

/* The names of all calls of an undisturbed run, line by line. */
static bytes all_calls(const job *j)
{
    int log = open(calls_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    int status = run(j, -1, log);

    close(log);
    expect(status == TAMIS_OK, "%s: %s: undisturbed, it ends with %d", tamis_kind_name(kind),
           j->name, status);
    expect(j->is_whole(NEW), "%s: %s: not all keys are found", tamis_kind_name(kind), j->name);
    return read_whole(calls_path);
}

static bool is_alone(void)
{
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort), others = 0;

    for (int i = 0; i < n; i++) {
        others += names[i]->d_name[0] != '.' && !ends_with(path, names[i]->d_name);
        others += ends_with(names[i]->d_name, ".tmp") || strstr(names[i]->d_name, ".tmp.") != NULL;
        free(names[i]);
    }
    free(names);
    return others == 0;
}

/* A copy of the old file, or the file itself where nothing writes to it. */
static void put_back(const job *j)
{
    if (unlink(path) && errno != ENOENT)
        die(strerror(errno), path);
    if (access(old_path, F_OK) != 0)
        return;
    if (!j->is_in_place) {
        if (link(old_path, path))
            die(strerror(errno), path);
        return;
    }
    bytes old = read_whole(old_path);
    write_whole(path, old);
    free(old.at);
}

static void strike(const job *j, long at, const char *call)
{
    const char *kind_name = tamis_kind_name(kind);
    int status = run(j, at, -1);
    bool is_new = j->is_whole(NEW), is_old = !is_new && j->is_whole(OLD);

    expect(status == TAMIS_OK || status == TAMIS_IO || status == TAMIS_UNSYNCED,
           "%s: %s: %s #%ld fails: it ends with %d", kind_name, j->name, call, at, status);
    expect(is_new || (status != TAMIS_OK && is_old),
           "%s: %s: %s #%ld fails: status %d, and the file is %s", kind_name, j->name, call, at,
           status, is_old ? "the old one" : "neither the old one nor the new one");
    expect(is_alone(), "%s: %s: %s #%ld fails: something is left behind", kind_name, j->name, call,
           at);
}

static void check(const job *j)
{
    bytes line;

    j->prepare();
    if (rename(path, old_path) && errno != ENOENT)
        die(strerror(errno), path);
    put_back(j);
    bytes calls = all_calls(j), rest = calls;
    for (long at = 0; next_line(&rest, &line); at++) {
        char call[32] = "";
        memcpy(call, line.at, line.size < sizeof call ? line.size : sizeof call - 1);
        if (j->only && !is_long() && strcmp(call, j->only) != 0)
            continue;
        put_back(j);
        strike(j, at, call);
    }
    free(calls.at);
    unlink(old_path);
    unlink(path);
}

/* ---- Which jobs -------------------------------------------------------- */

static void check_kind(bool is_first)
{
    static const job saving = { "save", small_filter, save, is_filter, false, NULL };
    static const job known = { "build, size known", small_filter, build_known,
                               is_filter,           false,        NULL };
    static const job unknown = { "build", small_filter, build_unknown, is_filter, false, NULL };
    static const job large = { "build a large one", small_filter, build_large,
                               is_filter,           false,        "sync_file_range" };
    static const job flushing = { "flush", small_filter, flush, is_filter, false, NULL };
    static const job merging = { "flush a large one", large_filter, flush,
                                 is_filter,           false,        "sync_file_range" };
    static const job mapping = { "map", small_filter, map, is_map, true, NULL };
    static const job collecting = { "collect", no_file, append, is_collection, true, NULL };
    static const job appending = { "append", small_collection, append, is_collection, true, NULL };
    static const job compacting = {
        "compact", small_collection, compact, is_collection, false, NULL
    };
    bool is_on_disk = can(TAMIS_CAN_RESIZE) && !can(TAMIS_CAN_ADAPT);

    check(&known);
    check(&unknown);
    if (can(TAMIS_CAN_RESIZE))
        check(&large);
    if (is_on_disk) {
        check(&flushing);
        check(&merging);
    }
    if (can(TAMIS_CAN_READ_WHILE_ADD))
        check(&mapping);
    if (is_first || is_long()) {
        check(&saving);
        check(&collecting);
        check(&appending);
        check(&compacting);
    }
}

int main(void)
{
    bool is_first = true;

    if (!getcwd(folder, sizeof folder - 32))
        die(strerror(errno), "getcwd");
    snprintf(folder + strlen(folder), 32, "/lost-%ld", (long)getpid());
    snprintf(path, sizeof path, "%s/filter", folder);
    snprintf(calls_path, sizeof calls_path, "%s.calls", folder);
    snprintf(old_path, sizeof old_path, "%s.old", folder);
    if (mkdir(folder, 0700))
        die(strerror(errno), folder);
    for (kind = tamis_kind_next(TAMIS_NO_KIND); kind; kind = tamis_kind_next(kind)) {
        check_kind(is_first);
        is_first = false;
    }
    unlink(calls_path);
    rmdir(folder);
    return verdict("fault/lost");
}
