/* database_lmdb.c - a database of an LMDB environment.
 *
 * LMDB maps its file and trusts it. A file that is shorter than its own head says is refused here;
 * for other damage that makes the library stumble, the program ends with a message. */
#include "database.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/library.h"
#include "term/array.h"
#include "term/message.h"
#include "text/number.h"

#ifndef TAMIS_HAS_LMDB

static database *lmdb_open(const char *path, const database_wish *wish)
{
    (void)wish;
    die(CODE_USAGE,
        "%s is an LMDB store, and this tamis was built without LMDB; build it where the package "
        "liblmdb-dev is installed",
        path);
}

const database_engine database_lmdb = { .name = "LMDB", .open = lmdb_open };

#else

#include <lmdb.h>

/* ---- The library ------------------------------------------------------- */

#define FUNCTIONS(X)        \
    X(mdb_, env_create)     \
    X(mdb_, env_set_maxdbs) \
    X(mdb_, env_set_assert) \
    X(mdb_, env_open)       \
    X(mdb_, env_info)       \
    X(mdb_, env_stat)       \
    X(mdb_, env_close)      \
    X(mdb_, txn_begin)      \
    X(mdb_, txn_abort)      \
    X(mdb_, dbi_open)       \
    X(mdb_, dbi_flags)      \
    X(mdb_, cursor_open)    \
    X(mdb_, cursor_get)     \
    X(mdb_, cursor_close)   \
    X(mdb_, get)            \
    X(mdb_, strerror)

static struct {
    FUNCTIONS(LIBRARY_POINTER)
} mdb;

static void open_library(void)
{
    static const char *const files[] = { "liblmdb.so.0", "liblmdb.so", NULL };
    static const char *const names[] = { FUNCTIONS(LIBRARY_NAME) NULL };

    library_open("LMDB", "liblmdb0", files, names, &mdb);
}

/* ---- The file ---------------------------------------------------------- */

typedef struct lmdb_database {
    database base;
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    size_t integer_size; /* of keys; 0: they are text */
} lmdb_database;

static _Noreturn void fail(const char *path, int status)
{
    switch (status) {
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_PANIC:
    case MDB_VERSION_MISMATCH:
        die(CODE_CORRUPT, "%s is damaged, cut, or of another machine: %s; restore a copy", path,
            mdb.strerror(status));
    case EAGAIN:
    case EBUSY:
        die(CODE_IO, "%s is locked by another program; try again when it has finished", path);
    case ENOMEM:
        die(CODE_MEMORY, "%s: out of memory", path);
    default:
        die(CODE_IO, "cannot read %s: %s", path, mdb.strerror(status));
    }
}

static void check(const char *path, int status)
{
    if (status)
        fail(path, status);
}

static void on_assert(MDB_env *env, const char *text)
{
    (void)env;
    die(CODE_CORRUPT, "the LMDB store is damaged: %s; restore a copy", text);
}

/* Pages past the end of the file cannot be read. */
static void refuse_if_cut(MDB_env *env, const char *path)
{
    struct stat about;
    MDB_envinfo info;
    MDB_stat pages;

    check(path, mdb.env_info(env, &info));
    check(path, mdb.env_stat(env, &pages));
    if (stat(path, &about))
        die_errno("read", path);
    if ((uint64_t)about.st_size / pages.ms_psize <= info.me_last_pgno)
        die(CODE_CORRUPT, "%s is cut: it should have %" PRIu64 " bytes; restore a copy", path,
            ((uint64_t)info.me_last_pgno + 1) * pages.ms_psize);
}

enum { DATABASES_MAX = 8 };

static MDB_env *make_env(const char *path)
{
    MDB_env *env;

    check(path, mdb.env_create(&env));
    check(path, mdb.env_set_maxdbs(env, DATABASES_MAX));
    check(path, mdb.env_set_assert(env, on_assert));
    return env;
}

/* data.mdb is what LMDB calls the file in a folder, and the lock is there too. The lock of a file
 * by itself has another name. */
static bool is_in_folder(const char *path, char folder[PATH_MAX])
{
    const char *name = strrchr(path, '/');
    char lock[PATH_MAX + 8];

    name = name ? name + 1 : path;
    snprintf(lock, sizeof lock, "%s-lock", path);
    snprintf(folder, PATH_MAX, "%.*s", (int)(name - path), path);
    if (!*folder)
        snprintf(folder, PATH_MAX, ".");
    return strcmp(name, "data.mdb") == 0 && access(lock, F_OK);
}

/* Whoever may not write beside the file cannot tell writers that he reads. */
static MDB_env *open_env(const char *path)
{
    char folder[PATH_MAX];
    bool in_folder = is_in_folder(path, folder);
    const char *name = in_folder ? folder : path;
    const unsigned flags = MDB_RDONLY | MDB_NOTLS | (in_folder ? 0 : MDB_NOSUBDIR);
    MDB_env *env = make_env(path);
    int status = mdb.env_open(env, name, flags, 0644);

    if (status == EACCES || status == EROFS) {
        mdb.env_close(env);
        env = make_env(path);
        status = mdb.env_open(env, name, flags | MDB_NOLOCK, 0644);
    }
    check(path, status);
    return env;
}

/* ---- Which database ---------------------------------------------------- */

enum { NAME_SIZE = 512 };

typedef struct listing {
    char first[NAME_SIZE];
    char all[NAME_SIZE];
    size_t n;
} listing;

/* Whether a key of the main database is the name of another. */
static bool is_database(MDB_txn *txn, const MDB_val *key, char name[NAME_SIZE])
{
    MDB_dbi dbi;

    if (key->mv_size == 0 || key->mv_size >= NAME_SIZE || memchr(key->mv_data, 0, key->mv_size))
        return false;
    memcpy(name, key->mv_data, key->mv_size);
    name[key->mv_size] = 0;
    return mdb.dbi_open(txn, name, 0, &dbi) == 0;
}

/* The first databases that have names. If the first key of the main one is no name, it has keys of
 * its own. */
static void list_databases(lmdb_database *d, listing *l, const char *path)
{
    char name[NAME_SIZE];
    MDB_cursor *cursor;
    MDB_val key, value;

    check(path, mdb.dbi_open(d->txn, NULL, 0, &d->dbi));
    check(path, mdb.cursor_open(d->txn, d->dbi, &cursor));
    while (l->n < DATABASES_MAX - 1 && !mdb.cursor_get(cursor, &key, &value, MDB_NEXT) &&
           is_database(d->txn, &key, name)) {
        size_t used = strlen(l->all);

        snprintf(l->all + used, sizeof l->all - used, "%s%s", l->n ? ", " : "", name);
        if (l->n++ == 0)
            snprintf(l->first, sizeof l->first, "%s", name);
    }
    mdb.cursor_close(cursor);
}

static void choose_database(lmdb_database *d, const char *path, const char *wanted)
{
    listing l = { .n = 0 };
    int status = wanted ? mdb.dbi_open(d->txn, wanted, 0, &d->dbi) : 0;

    if (!wanted || status == MDB_NOTFOUND || status == MDB_INCOMPATIBLE)
        list_databases(d, &l, path);
    else
        check(path, status);
    if (status)
        die(CODE_USAGE, "%s has no database '%s'%s%s", path, wanted,
            l.n ? "; choose from " : ": all keys are in one without a name", l.all);
    if (l.n > 1)
        die(CODE_USAGE, "%s has several databases; choose one with --db: %s", path, l.all);
    if (l.n == 1)
        check(path, mdb.dbi_open(d->txn, l.first, 0, &d->dbi));
    const char *name = wanted ? wanted : l.first;
    snprintf(d->base.keys, sizeof d->base.keys, *name ? "database %s" : "main database", name);
}

/* ---- Keys -------------------------------------------------------------- */

static MDB_cursor *open_cursor(lmdb_database *d)
{
    MDB_cursor *cursor;

    check(d->base.path, mdb.cursor_open(d->txn, d->dbi, &cursor));
    return cursor;
}

/* Integers are as the machine has them: all of one size. */
static void measure_integers(lmdb_database *d, const char *path)
{
    MDB_val key, value;
    unsigned flags;

    check(path, mdb.dbi_flags(d->txn, d->dbi, &flags));
    if (!(flags & MDB_INTEGERKEY))
        return;
    MDB_cursor *cursor = open_cursor(d);
    int status = mdb.cursor_get(cursor, &key, &value, MDB_FIRST);
    d->integer_size = !status && key.mv_size == 4 ? 4 : 8;
    mdb.cursor_close(cursor);
}

static database *lmdb_open(const char *path, const database_wish *wish)
{
    static const int faults[] = { SIGBUS, SIGSEGV, 0 };
    lmdb_database *d = array_new(1, sizeof *d, path);

    open_library();
    die_of_faults(faults, "tamis: the LMDB store is damaged, or was shortened while it was read; "
                          "restore a copy\n");
    d->base.path = path;
    d->env = open_env(path);
    refuse_if_cut(d->env, path);
    check(path, mdb.txn_begin(d->env, NULL, MDB_RDONLY, &d->txn));
    choose_database(d, path, wish->name);
    measure_integers(d, path);
    return &d->base;
}

static uint32_t small_integer(const void *at)
{
    uint32_t number;

    memcpy(&number, at, sizeof number);
    return number;
}

static span integer_text(const lmdb_database *d, const MDB_val *key, char text[24])
{
    uint64_t number = 0;

    if (d->integer_size == 4 && key->mv_size == 4)
        number = small_integer(key->mv_data);
    else if (key->mv_size == 8)
        memcpy(&number, key->mv_data, 8);
    return (span){ text, (size_t)snprintf(text, 24, "%" PRIu64, number) };
}

/* A key with several values is visited once. */
static void lmdb_each(database *base, database_take *take, void *ctx)
{
    lmdb_database *d = (lmdb_database *)base;
    MDB_cursor *cursor = open_cursor(d);
    MDB_val key, value;
    char text[24];
    int status;

    while ((status = mdb.cursor_get(cursor, &key, &value, MDB_NEXT_NODUP)) == 0)
        take(ctx,
             d->integer_size ? integer_text(d, &key, text) : (span){ key.mv_data, key.mv_size });
    if (status != MDB_NOTFOUND)
        fail(base->path, status);
    mdb.cursor_close(cursor);
}

/* False: no key of it is written like that. */
static bool integer_of(const lmdb_database *d, uint64_t *number, span key)
{
    char text[24];
    uint32_t small;

    if (!number_integer(number, key.at, key.size))
        return false;
    size_t size = (size_t)snprintf(text, sizeof text, "%" PRIu64, *number);
    if (size != key.size || memcmp(text, key.at, size))
        return false;
    if (d->integer_size == 8)
        return true;
    small = (uint32_t)*number;
    bool fits = small == *number;
    memcpy(number, &small, sizeof small);
    return fits;
}

static bool lmdb_has(database *base, span key)
{
    lmdb_database *d = (lmdb_database *)base;
    MDB_val wanted = { key.size, (void *)(uintptr_t)key.at }, value;
    uint64_t number;

    if (d->integer_size) {
        if (!integer_of(d, &number, key))
            return false;
        wanted = (MDB_val){ d->integer_size, &number };
    }
    int status = mdb.get(d->txn, d->dbi, &wanted, &value);
    /* No key is empty, or longer than LMDB allows. */
    if (status && status != MDB_NOTFOUND && status != MDB_BAD_VALSIZE)
        fail(base->path, status);
    return status == 0;
}

static void lmdb_close(database *base)
{
    lmdb_database *d = (lmdb_database *)base;

    mdb.txn_abort(d->txn);
    mdb.env_close(d->env);
    free(d);
}

const database_engine database_lmdb = {
    .name = "LMDB",
    .open = lmdb_open,
    .each = lmdb_each,
    .has = lmdb_has,
    .close = lmdb_close,
};

#endif
