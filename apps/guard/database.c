/* database.c - which engine a store is of. */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "term/message.h"

enum { HEAD_SIZE = 64 };

/* The first bytes of a file. */
static size_t read_head(const char *path, char head[HEAD_SIZE])
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || fstat(fd, &about))
        die_errno("read", path);
    if (!S_ISREG(about.st_mode))
        die(CODE_USAGE, "%s is neither a file nor a folder; give an SQLite file or an LMDB store",
            path);
    ssize_t size = read(fd, head, HEAD_SIZE);
    if (size < 0)
        die_errno("read", path);
    close(fd); /* only read */
    return (size_t)size;
}

static bool is_sqlite(const char *head, size_t size)
{
    static const char magic[] = "SQLite format 3"; /* and a NUL */

    return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* The first page has a head, whose first number is as large as a pointer, and then this. */
static bool is_lmdb(const char *head, size_t size)
{
    const uint32_t magic = 0xBEEFC0DE;
    const size_t at = sizeof(size_t) + 8;

    return size >= at + sizeof magic && memcmp(head + at, &magic, sizeof magic) == 0;
}

static void refuse_option(const char *path, const char *option, const char *value,
                          const char *engine)
{
    if (value)
        die(CODE_USAGE, "guard: %s is of %s, which knows no %s", path, engine, option);
}

static const database_engine *engine_of(const char *path, const char *file)
{
    char head[HEAD_SIZE];
    size_t size = read_head(file, head);

    if (is_sqlite(head, size))
        return &database_sqlite;
    if (is_lmdb(head, size))
        return &database_lmdb;
    if (size == 0)
        die(CODE_CORRUPT, "%s is empty: neither an SQLite file nor an LMDB store", path);
    die(CODE_CORRUPT, "%s is neither an SQLite file nor an LMDB store, or it is encrypted", path);
}

database *database_open(const char *path, const database_wish *wish)
{
    static char file[PATH_MAX]; /* the engine may keep it */
    struct stat about;

    if (stat(path, &about))
        die_errno("read", path);
    int size = snprintf(file, sizeof file, S_ISDIR(about.st_mode) ? "%s/data.mdb" : "%s", path);
    if (size < 0 || (size_t)size >= sizeof file)
        die(CODE_IO, "%s: this path is too long", path);
    if (S_ISDIR(about.st_mode) && stat(file, &about) && errno == ENOENT)
        die(CODE_CORRUPT, "%s is a folder without data.mdb: no LMDB store", path);
    const database_engine *engine = engine_of(path, file);
    if (engine == &database_sqlite)
        refuse_option(path, "--db; it has --table and --column", wish->name, "SQLite");
    else
        refuse_option(path, "--table and --column; it has --db",
                      wish->table ? wish->table : wish->column, "LMDB");
    database *d = engine->open(file, wish);
    d->engine = engine;
    d->path = path;
    return d;
}
