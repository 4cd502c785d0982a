/* budget_apply.c - filters from a plan: shrunk, or built from keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "args/args.h"
#include "budget.h"
#include "budget_table.h"
#include "files/lock.h"
#include "filters/collection_member.h"
#include "filters/store.h"
#include "term/message.h"

typedef struct applying {
    const budget_job *job;
    tamis_collection *images; /* NULL: a folder, or none */
    tamis_editor *editor;     /* NULL: a folder */
    source source;            /* of keys */
    names seen;
    uint64_t built, shrunk, copied;
} applying;

enum { NAME, KEYS, KIND, BYTES };

static const char *const COLUMNS[] = { "name", "keys", "kind", "bytes" };
static const table_format PLAN = { "budget", COLUMNS, 4, 4, BUDGET_MOST };

/* ---- Paths ------------------------------------------------------------- */

static bool is_there(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0;
}

/* A name must not lead out of its folder. */
static void path_in(char path[PATH_MAX], const table_row *row, const char *folder,
                    const char *suffix)
{
    const char *name = row->fields[NAME];

    if (strchr(name, '/') || *name == '.' || *name == '\0')
        table_refuse(row, "'%s' cannot be the name of a file; use collections", name);
    if (snprintf(path, PATH_MAX, "%s/%s%s", folder, name, suffix) >= PATH_MAX)
        table_refuse(row, "the path of '%s' is too long", name);
}

/* ---- One filter -------------------------------------------------------- */

/* The image there is, or NULL. */
static tamis *find_image(const applying *ap, const table_row *row)
{
    char path[PATH_MAX];
    tamis *f = NULL;

    if (ap->images) {
        tamis_status status = tamis_collection_get(ap->images, &f, row->fields[NAME], NULL);
        if (status && status != TAMIS_ABSENT)
            die_status("read", row->fields[NAME], status);
        return f;
    }
    if (!ap->job->images)
        return NULL;
    path_in(path, row, ap->job->images, ".tamis");
    return is_there(path) ? store_load(path) : NULL;
}

/* What the image becomes in so many bytes, or NULL if that needs keys. */
static tamis *shrink(applying *ap, tamis *image, uint64_t bytes)
{
    tamis *f;

    if (tamis_plan_of(image)->bytes <= bytes) {
        ap->copied++;
        return image;
    }
    tamis_status status = tamis_shrink(&f, image, bytes, NULL);
    tamis_free(image);
    if (status == TAMIS_CANNOT || status == TAMIS_RANGE)
        return NULL;
    if (status)
        die_status("shrink", ap->job->images, status);
    ap->shrunk++;
    return f;
}

static void keep_keys(void *ctx, job *j)
{
    size_t n;
    const uint64_t *keys = pipeline_kept_keys(j, &n);

    buffer_append(ctx, keys, n * sizeof *keys);
}

static tamis *build(applying *ap, const table_row *row, uint64_t bytes)
{
    tamis_spec spec = TAMIS_SPEC(.keys = table_count(row, KEYS, 1), .max_bytes = bytes);
    char path[PATH_MAX], *inputs[] = { path, NULL };
    buffer keys = { 0 };
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = keep_keys, .ctx = &keys };
    tamis_kind kind;
    tamis_plan plan;
    tamis *f;

    path_in(path, row, ap->job->keys, "");
    if (!tamis_kind_find(&kind, row->fields[KIND]))
        table_refuse(row, "no kind is called '%s'", row->fields[KIND]);
    ap->source.names = inputs;
    pipeline_run(&p, &ap->source);
    if (tamis_plan_kind(&plan, kind, &spec))
        table_refuse(row, "no %s filter of %s keys has %s bytes", row->fields[KIND],
                     row->fields[KEYS], row->fields[BYTES]);
    tamis_status status =
        tamis_build(&f, &plan, (const void *)keys.bytes, keys.size / sizeof(uint64_t), NULL);
    if (status == TAMIS_FULL)
        table_refuse(row, "%s has more keys than the plan says", path);
    if (status)
        die_status("build", path, status);
    buffer_free(&keys);
    ap->built++;
    return f;
}

static void put(const applying *ap, const table_row *row, const tamis *f)
{
    char path[PATH_MAX];
    tamis_status status;

    if (!ap->editor) {
        path_in(path, row, ap->job->out, ".tamis");
        lock_output(path);
        store_save(f, path);
        return;
    }
    status = tamis_editor_put(ap->editor, row->fields[NAME], f);
    if (status == TAMIS_RANGE)
        table_refuse(row, "'%s' cannot be the name of a filter in a collection", row->fields[NAME]);
    if (status)
        die_status("write", ap->job->out, status);
}

static void take_row(void *ctx, const table_row *row)
{
    applying *ap = ctx;
    uint64_t bytes = table_count(row, BYTES, 0);
    tamis *image, *f = NULL;
    bool is_new;

    names_enter(&ap->seen, row->fields[NAME], &is_new);
    if (!is_new)
        table_refuse(row, "'%s' came before; each filter has one line", row->fields[NAME]);
    if (bytes == 0)
        return;
    if ((image = find_image(ap, row)))
        f = shrink(ap, image, bytes);
    if (!f && !ap->job->keys)
        table_refuse(row, "'%s' %s; give --keys", row->fields[NAME],
                     image ? "cannot be made that small without its keys" : "has no image");
    if (!f)
        f = build(ap, row, bytes);
    put(ap, row, f);
    tamis_free(f);
}

/* ---- All of them ------------------------------------------------------- */

static void open_all(applying *ap)
{
    tamis_status status = TAMIS_OK;

    ap->source = source_default();
    ap->source.threads = 1;
    if (ap->job->images && !store_is_folder(ap->job->images))
        status = tamis_collection_open(&ap->images, ap->job->images, NULL);
    if (status)
        die_status("read", ap->job->images, status);
    if (store_is_folder(ap->job->out))
        return;
    /* What an older collection of that name holds is not in the plan. */
    if (is_there(ap->job->out))
        die(CODE_USAGE, "budget: %s is there already; give another name", ap->job->out);
    status = tamis_editor_open(&ap->editor, ap->job->out, 0, NULL);
    if (status)
        die_status("write", ap->job->out, status);
}

int budget_apply(const budget_job *work)
{
    applying ap = { .job = work };

    open_all(&ap);
    table_read(&PLAN, work->plan, take_row, &ap);
    tamis_status status = ap.editor ? tamis_editor_save(ap.editor) : TAMIS_OK;
    if (status)
        die_status("write", work->out, status);
    tamis_editor_free(ap.editor);
    tamis_collection_free(ap.images);
    names_free(&ap.seen);
    say("%" PRIu64 " filters built, %" PRIu64 " shrunk, %" PRIu64 " as they were", ap.built,
        ap.shrunk, ap.copied);
    return CODE_OK;
}
