/* database_sqlite.c - a column of an SQLite table.
 *
 * A key is the text of the column, byte for byte, so that a filter and the table mean the same by
 * it. SQL has other ideas of what is equal: 7 is '07' in a column of integers, and 'A' is 'a' in
 * one without case. So the text of each row that SQL finds is compared. */
#include "database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/library.h"
#include "term/array.h"
#include "term/message.h"

#ifndef TAMIS_HAS_SQLITE3

static database *sqlite_open(const char *path, const database_wish *wish)
{
    (void)wish;
    die(CODE_USAGE,
        "%s is an SQLite file, and this tamis was built without SQLite; build it where the package "
        "libsqlite3-dev is installed",
        path);
}

const database_engine database_sqlite = { .name = "SQLite", .open = sqlite_open };

#else

#include <sqlite3.h>

/* ---- The library ------------------------------------------------------- */

#define FUNCTIONS(X)          \
    X(sqlite3_, open_v2)      \
    X(sqlite3_, close)        \
    X(sqlite3_, busy_timeout) \
    X(sqlite3_, errcode)      \
    X(sqlite3_, errmsg)       \
    X(sqlite3_, exec)         \
    X(sqlite3_, prepare_v2)   \
    X(sqlite3_, step)         \
    X(sqlite3_, reset)        \
    X(sqlite3_, finalize)     \
    X(sqlite3_, bind_text)    \
    X(sqlite3_, bind_blob)    \
    X(sqlite3_, bind_int64)   \
    X(sqlite3_, column_type)  \
    X(sqlite3_, column_text)  \
    X(sqlite3_, column_blob)  \
    X(sqlite3_, column_bytes)

static struct {
    FUNCTIONS(LIBRARY_POINTER)
} sql;

static void open_library(void)
{
    static const char *const files[] = { "libsqlite3.so.0", "libsqlite3.so", NULL };
    static const char *const names[] = { FUNCTIONS(LIBRARY_NAME) NULL };

    library_open("SQLite", "libsqlite3-0", files, names, &sql);
}

/* ---- The file ---------------------------------------------------------- */

typedef struct sqlite_database {
    database base;
    sqlite3 *db;
    sqlite3_stmt *all, *find;
    bool has_text, has_number, has_blob; /* among the keys */
} sqlite_database;

static _Noreturn void fail(sqlite3 *db, const char *path)
{
    switch (sql.errcode(db) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        die(CODE_IO, "%s is locked by another program; try again when it has finished", path);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        die(CODE_CORRUPT, "%s is damaged, cut or encrypted: %s; restore a copy", path,
            sql.errmsg(db));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        die(CODE_IO,
            "cannot read %s: its write-ahead log needs a folder that may be written to; copy both "
            "to one",
            path);
    case SQLITE_NOMEM:
        die(CODE_MEMORY, "%s: out of memory", path);
    default:
        die(CODE_IO, "cannot read %s: %s", path, sql.errmsg(db));
    }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *path, const char *text)
{
    sqlite3_stmt *statement;

    if (sql.prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
        fail(db, path);
    return statement;
}

static bool step(sqlite3 *db, const char *path, sqlite3_stmt *statement)
{
    int row = sql.step(statement);

    if (row != SQLITE_ROW && row != SQLITE_DONE)
        fail(db, path);
    return row == SQLITE_ROW;
}

/* The transaction lasts until the end: a state that no writer changes. What a hostile file may do
 * when it is read is little. */
static sqlite3 *open_file(const char *path)
{
    enum { PATIENCE = 250 }; /* milliseconds for a writer to finish */
    buffer name = { 0 };
    sqlite3 *db;

    /* Names such as ":memory:" are no files to SQLite. */
    if (path[0] != '/')
        buffer_append(&name, "./", 2);
    buffer_append(&name, path, strlen(path) + 1);
    int status = sql.open_v2(name.bytes, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (!db)
        die(CODE_MEMORY, "%s: out of memory", path);
    if (status != SQLITE_OK || sql.busy_timeout(db, PATIENCE) != SQLITE_OK ||
        sql.exec(db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; BEGIN", NULL, NULL,
                 NULL) != SQLITE_OK)
        fail(db, path);
    buffer_free(&name);
    return db;
}

/* ---- Which table and column -------------------------------------------- */

/* The first value of the first row, to be freed; NULL: there is none. */
static char *ask(sqlite3 *db, const char *path, const char *text, const char *a, const char *b)
{
    sqlite3_stmt *statement = prepare(db, path, text);
    char *answer = NULL;

    sql.bind_text(statement, 1, a, -1, SQLITE_STATIC);
    sql.bind_text(statement, 2, b, -1, SQLITE_STATIC);
    if (step(db, path, statement) && sql.column_text(statement, 0)) {
        const char *found = (const char *)sql.column_text(statement, 0);
        answer = array_text(found, strlen(found));
    }
    sql.finalize(statement);
    return answer;
}

#define TABLES "(SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' "
#define NAMES "SELECT group_concat(name, ', ') FROM (SELECT name FROM "

static char *choose_table(sqlite3 *db, const char *path, const char *wanted)
{
    char *name = wanted ? ask(db, path,
                              "SELECT name FROM " TABLES "AND type IN ('table', 'view')) "
                              "WHERE name = ?1 COLLATE NOCASE",
                              wanted, NULL)
                        : ask(db, path,
                              "SELECT CASE WHEN count(*) = 1 THEN max(name) END FROM " TABLES
                              "AND type = 'table')",
                              NULL, NULL);

    if (name)
        return name;
    char *all =
        ask(db, path, NAMES TABLES "AND type = 'table') ORDER BY name LIMIT 20)", NULL, NULL);
    if (!all)
        die(CODE_USAGE, "%s has no tables", path);
    if (wanted)
        die(CODE_USAGE, "%s has no table '%s'; choose from %s", path, wanted, all);
    die(CODE_USAGE, "%s has several tables; choose one with --table: %s", path, all);
}

/* The first of the primary key, or of all. */
static char *choose_column(sqlite3 *db, const char *path, const char *table, const char *wanted)
{
    char *name = ask(db, path,
                     "SELECT name FROM pragma_table_info(?2) WHERE ?1 IS NULL "
                     "OR name = ?1 COLLATE NOCASE ORDER BY pk = 0, pk, cid",
                     wanted, table);

    if (name)
        return name;
    char *all = ask(db, path, NAMES "pragma_table_info(?2) LIMIT 20)", NULL, table);
    die(CODE_USAGE, "%s: table %s has no column '%s'; choose from %s", path, table,
        wanted ? wanted : "", all ? all : "nothing");
}

/* Appends a name in quotes. */
static void append_name(buffer *to, const char *name)
{
    buffer_append(to, "\"", 1);
    for (; *name; name++)
        buffer_append(to, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    buffer_append(to, "\"", 1);
}

static buffer select_text(const char *before, const char *table, const char *column,
                          const char *condition)
{
    buffer text = { 0 };

    buffer_append(&text, before, strlen(before));
    append_name(&text, column);
    buffer_append(&text, " FROM ", 6);
    append_name(&text, table);
    buffer_append(&text, " WHERE ", 7);
    append_name(&text, column);
    buffer_append(&text, condition, strlen(condition) + 1);
    return text;
}

static void warn_of_scans(sqlite3 *db, const char *path, const char *table, const char *column)
{
    buffer text = select_text("EXPLAIN QUERY PLAN SELECT ", table, column, " = ?");
    sqlite3_stmt *plan = prepare(db, path, text.bytes);
    bool scans = false;

    while (step(db, path, plan)) {
        const char *detail = (const char *)sql.column_text(plan, 3);
        scans |= detail && strncmp(detail, "SCAN", 4) == 0;
    }
    if (scans)
        say("%s: column %s of table %s has no index: each read goes through the whole table", path,
            column, table);
    sql.finalize(plan);
    buffer_free(&text);
}

static database *sqlite_open(const char *path, const database_wish *wish)
{
    sqlite_database *d = array_new(1, sizeof *d, path);

    open_library();
    d->db = open_file(path);
    char *table = choose_table(d->db, path, wish->table);
    char *column = choose_column(d->db, path, table, wish->column);
    buffer all = select_text("SELECT ", table, column, " IS NOT NULL");
    buffer find = select_text("SELECT ", table, column, " = ?");
    d->all = prepare(d->db, path, all.bytes);
    d->find = prepare(d->db, path, find.bytes);
    warn_of_scans(d->db, path, table, column);
    snprintf(d->base.keys, sizeof d->base.keys, "table %s, column %s", table, column);
    buffer_free(&all);
    buffer_free(&find);
    free(table);
    free(column);
    return &d->base;
}

/* ---- Keys -------------------------------------------------------------- */

/* Numbers as text, too. */
static span column_key(sqlite3_stmt *row)
{
    bool is_blob = sql.column_type(row, 0) == SQLITE_BLOB;
    const void *at = is_blob ? sql.column_blob(row, 0) : (const void *)sql.column_text(row, 0);

    return (span){ at ? at : "", (size_t)sql.column_bytes(row, 0) };
}

static void sqlite_each(database *base, database_take *take, void *ctx)
{
    sqlite_database *d = (sqlite_database *)base;

    while (step(d->db, base->path, d->all)) {
        int type = sql.column_type(d->all, 0);

        d->has_text |= type == SQLITE_TEXT;
        d->has_blob |= type == SQLITE_BLOB;
        d->has_number |= type == SQLITE_INTEGER || type == SQLITE_FLOAT;
        take(ctx, column_key(d->all));
    }
    sql.reset(d->all);
}

/* Whether a row that SQL finds has the very key. */
static bool is_in_rows(const sqlite_database *d, span key)
{
    bool found = false;

    while (!found && step(d->db, d->base.path, d->find)) {
        span is = column_key(d->find);
        found = is.size == key.size && memcmp(is.at, key.at, key.size) == 0;
    }
    sql.reset(d->find);
    return found;
}

/* As SQLite writes it: no sign but a minus, no zeros before it. */
static bool is_integer(int64_t *out, span key)
{
    char text[24], again[24];

    if (key.size == 0 || key.size >= sizeof text)
        return false;
    memcpy(text, key.at, key.size);
    text[key.size] = 0;
    *out = strtoll(text, NULL, 10);
    snprintf(again, sizeof again, "%" PRId64, *out);
    return strcmp(text, again) == 0 && strlen(text) == key.size;
}

/* Values of different types are different to SQL, and each is asked for if there is any. */
static bool sqlite_has(database *base, span key)
{
    const sqlite_database *d = (const sqlite_database *)base;
    int64_t number;

    if (key.size > INT32_MAX)
        return false;
    bool may_be_number = d->has_number && is_integer(&number, key);
    if (may_be_number && sql.bind_int64(d->find, 1, number) == SQLITE_OK && is_in_rows(d, key))
        return true;
    if ((d->has_text || (d->has_number && !may_be_number)) &&
        sql.bind_text(d->find, 1, key.at, (int)key.size, SQLITE_STATIC) == SQLITE_OK &&
        is_in_rows(d, key))
        return true;
    return d->has_blob &&
           sql.bind_blob(d->find, 1, key.at, (int)key.size, SQLITE_STATIC) == SQLITE_OK &&
           is_in_rows(d, key);
}

static void sqlite_close(database *base)
{
    sqlite_database *d = (sqlite_database *)base;

    sql.finalize(d->all);
    sql.finalize(d->find);
    sql.close(d->db);
    free(d);
}

const database_engine database_sqlite = {
    .name = "SQLite",
    .open = sqlite_open,
    .each = sqlite_each,
    .has = sqlite_has,
    .close = sqlite_close,
};

#endif
