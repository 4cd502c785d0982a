/* database.h - keys that are in a real store: a column of an SQLite table, or an LMDB database.
 *
 * It is opened to be read, and all reads see one state of it, whatever others write meanwhile. What
 * goes wrong with it ends the program. */
#ifndef TAMIS_APPS_GUARD_DATABASE_H
#define TAMIS_APPS_GUARD_DATABASE_H

#include "text/keys.h"

/* Which keys of it; NULL: the only ones, or the most likely. */
typedef struct database_wish {
    const char *table, *column; /* SQLite */
    const char *name;           /* LMDB */
} database_wish;

typedef struct database database;

typedef void database_take(void *ctx, span key);

/* An engine. */
typedef struct database_engine {
    const char *name;
    /* `path` is of the file with the data. */
    database *(*open)(const char *path, const database_wish *wish);
    void (*each)(database *d, database_take *take, void *ctx);
    bool (*has)(database *d, span key);
    void (*close)(database *d);
} database_engine;

extern const database_engine database_sqlite, database_lmdb;

/* What each engine's own struct starts with. */
struct database {
    const database_engine *engine;
    const char *path;
    char keys[200]; /* which they are, in words */
};

/* Looks at the file, or at data.mdb in the folder, to see what it is. */
database *database_open(const char *path, const database_wish *wish);

#endif
