/* budget_input.c - filters that share a budget: from a CSV, an older plan, or images and a log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "budget_table.h"
#include "filters/collection_member.h"
#include "filters/store.h"
#include "term/array.h"
#include "term/message.h"
#include "text/number.h"

/* ---- The CSV ----------------------------------------------------------- */

enum { NAME, KEYS, SHARE, COST, MIN_BYTES, MAX_BYTES };

static const char *const COLUMNS[] = { "name", "keys", "share", "cost", "min_bytes", "max_bytes" };
static const table_format ROWS = { "budget", COLUMNS, 6, 3, BUDGET_MOST };

static void check_name(const table_row *row)
{
    size_t size = strlen(row->fields[NAME]);

    if (size == 0 || size > TAMIS_NAME_MAX)
        table_refuse(row, "a name has 1 to %d bytes", TAMIS_NAME_MAX);
    for (const char *c = row->fields[NAME]; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            table_refuse(row, "a name has no control characters");
}

static _Noreturn void refuse_repeat(const table_row *row)
{
    table_refuse(row, "'%s' came before; each filter has one line", row->fields[NAME]);
}

static uint64_t optional_bytes(const table_row *row, size_t column)
{
    const char *text = row->fields[column];

    return text && *text ? table_count(row, column, 1) : 0;
}

/* As --rebuild-cost: 0.5, 500ms. */
static double cost_of(const table_row *row)
{
    double cost;
    bool is_time;

    if (!number_cost(&cost, &is_time, row->fields[COST]) || !(cost >= 0 && cost <= 1e12))
        table_refuse(row, "cost '%s' is not a number from 0 to 1e12, or a time such as 500ms",
                     row->fields[COST]);
    return cost;
}

static void take_row(void *ctx, const table_row *row)
{
    budget *b = ctx;
    budget_row r = { .cost = 1 };
    bool is_new;

    check_name(row);
    names_enter(&b->names, row->fields[NAME], &is_new);
    if (!is_new)
        refuse_repeat(row);
    r.keys = table_count(row, KEYS, 1);
    r.share = table_real(row, SHARE);
    if (row->fields[COST] && *row->fields[COST])
        r.cost = cost_of(row);
    r.min_bytes = optional_bytes(row, MIN_BYTES);
    r.max_bytes = optional_bytes(row, MAX_BYTES);
    if (r.max_bytes && r.max_bytes < r.min_bytes)
        table_refuse(row, "max_bytes is less than min_bytes");
    buffer_append(&b->rows, &r, sizeof r);
    b->n++;
}

void budget_read_csv(budget *b, const char *path)
{
    b->path = path;
    table_read(&ROWS, path, take_row, b);
    if (b->n == 0)
        die(CODE_USAGE, "budget: %s has no filters; give lines of name,keys,share,cost", path);
}

/* ---- An older plan ----------------------------------------------------- */

enum { WAS_KEYS = 1, WAS_KIND, WAS_BYTES };

static const char *const WAS_COLUMNS[] = { "name", "keys", "kind", "bytes" };
static const table_format WAS = { "budget", WAS_COLUMNS, 4, 4, BUDGET_MOST };

static void take_was(void *ctx, const table_row *row)
{
    budget *b = ctx;
    size_t i = names_find(&b->names, row->fields[NAME]);
    uint64_t bytes = table_count(row, WAS_BYTES, 0), keys = table_count(row, WAS_KEYS, 1);

    if (i == SIZE_MAX || bytes == 0)
        return;
    budget_row *r = budget_row_at(b, i);
    if (r->was_bytes)
        refuse_repeat(row);
    if (!tamis_kind_find(&r->kind, row->fields[WAS_KIND]))
        table_refuse(row, "no kind is called '%s'", row->fields[WAS_KIND]);
    r->was_keys = keys;
    r->was_bytes = bytes;
}

void budget_read_was(budget *b, const char *path)
{
    b->has_was = true;
    table_read(&WAS, path, take_was, b);
}

/* ---- Images ------------------------------------------------------------ */

/* Where they are, and what the log asks of them. */
typedef struct images {
    budget *budget;
    tamis_collection *collection; /* NULL: a folder */
    tamis **asked;                /* read when they are first asked */
    uint64_t unknown;             /* lines of the log that name no filter */
} images;

static tamis *image_of(const images *all, const char *name)
{
    char path[PATH_MAX];
    tamis *f;

    if (!all->collection) {
        if (snprintf(path, sizeof path, "%s/%s.tamis", all->budget->path, name) >= PATH_MAX)
            die(CODE_IO, "budget: the path of '%s' is too long", name);
        return store_load(path);
    }
    tamis_status status = tamis_collection_get(all->collection, &f, name, NULL);
    if (status)
        die_status("read", name, status);
    return f;
}

/* What nobody asked in a log may be asked tomorrow: each is asked once more than it was. */
static void take_image(void *ctx, const char *name)
{
    const images *all = ctx;
    tamis *f = image_of(all, name);
    budget *b = all->budget;
    tamis_size sizes[TAMIS_SIZES_MAX];
    tamis_info info = { .size = sizeof info };
    bool is_new;

    tamis_get_info(f, &info);
    budget_row r = { .keys = info.count > 0 ? info.count : 1,
                     .share = 1,
                     .cost = 1,
                     .kind = info.plan.kind,
                     .first_kept = (uint32_t)(b->kept.size / sizeof *sizes) };
    r.n_kept = (uint32_t)tamis_budget_shrunk(sizes, &info.plan, r.keys);
    for (uint32_t i = 0; i < r.n_kept; i++)
        sizes[i].bytes += b->overhead;
    buffer_append(&b->kept, sizes, r.n_kept * sizeof *sizes);
    names_enter(&b->names, name, &is_new);
    buffer_append(&b->rows, &r, sizeof r);
    if (++b->n > BUDGET_MOST)
        die(CODE_USAGE, "budget: %s has more than %d filters; divide them", b->path, BUDGET_MOST);
    tamis_free(f);
}

static bool take_member(void *ctx, const char *name, uint64_t offset, uint64_t size)
{
    (void)offset;
    (void)size;
    take_image(ctx, name);
    return true;
}

static void take_members(images *all)
{
    tamis_status status = tamis_collection_list(all->collection, take_member, all);

    if (status)
        die_status("read", all->budget->path, status);
}

/* ---- The log ----------------------------------------------------------- */

static const char *const LOG_COLUMNS[] = { "name", "key" };
static const table_format LOG = { "budget", LOG_COLUMNS, 2, 1, UINT64_MAX };

/* A filter that says no is right. If it says yes, the key is there, or is taken for one that is:
 * that one mistake of the filter as it is now is not counted. */
static bool is_absent(images *all, size_t i, const char *key)
{
    if (!all->asked[i])
        all->asked[i] = image_of(all, names_at(&all->budget->names, i));
    return !tamis_has(all->asked[i], tamis_key(all->asked[i], key, strlen(key)));
}

static void take_query(void *ctx, const table_row *row)
{
    images *all = ctx;
    size_t i = names_find(&all->budget->names, row->fields[0]);

    if (i == SIZE_MAX)
        all->unknown++;
    else if (!row->fields[1] || is_absent(all, i, row->fields[1]))
        budget_row_at(all->budget, i)->share++;
}

static void read_log(images *all, const char *log)
{
    budget *b = all->budget;

    all->asked = array_new(b->n, sizeof *all->asked, "filters");
    table_read(&LOG, log, take_query, all);
    if (all->unknown)
        say("%" PRIu64 " lines of %s name no filter of %s", all->unknown, log, b->path);
    for (size_t i = 0; i < b->n; i++)
        tamis_free(all->asked[i]);
    free(all->asked);
}

void budget_read_images(budget *b, const char *path, const char *log)
{
    images all = { .budget = b };

    b->path = path;
    b->only_shrinks = true;
    if (member_is_collection(path)) {
        tamis_status status = tamis_collection_open(&all.collection, path, NULL);
        if (status)
            die_status("read", path, status);
        take_members(&all);
    } else {
        (void)store_each(path, take_image, &all);
    }
    if (b->n == 0)
        die(CODE_USAGE, "budget: %s has no filters", path);
    read_log(&all, log);
    tamis_collection_free(all.collection);
}
