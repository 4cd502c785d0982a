/* change_on_disk.c - changes to filters that are larger than memory. */
#include <time.h>

#include "change_on_disk.h"
#include "tamis_disk.h"
#include "term/message.h"
#include "term/progress.h"

const option_row disk_options[] = {
    { 0, "memory", "SIZE", "memory to use, for filters larger than that", .take = option_size },
    { 0 },
};

typedef struct change {
    tamis_disk *disk;
    const char *path;
    bool removes;
    uint64_t keys;
} change;

static bool show_merge(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    progress_show(done, total, "slots merged");
    return true;
}

/* Waits while another program changes it. */
static tamis_disk *open_when_free(const char *path, uint64_t memory)
{
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = memory, .progress = show_merge);
    const struct timespec pause = { 0, 20 * 1000 * 1000 };
    tamis_disk *d;
    tamis_status status;

    while ((status = tamis_disk_open(&d, path, &o)) == TAMIS_BUSY)
        nanosleep(&pause, NULL);
    if (status == TAMIS_CANNOT)
        die(CODE_USAGE, "%s: its kind cannot be changed in limited memory; run it without --memory",
            path);
    if (status)
        die_status("open", path, status);
    return d;
}

static void check(const change *c, tamis_status status)
{
    if (status)
        die_status("change", c->path, status);
}

static void take_chunk(void *ctx, job *j)
{
    change *c = ctx;
    size_t n, done;
    const uint64_t *keys = pipeline_kept_keys(j, &n);

    if (c->removes)
        check(c, tamis_disk_remove_keys(c->disk, &done, keys, n));
    else
        check(c, tamis_disk_add_many(c->disk, &done, keys, n));
    c->keys += n;
}

static uint64_t run(change *c, uint64_t memory, source *s)
{
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = take_chunk, .ctx = c };

    c->disk = open_when_free(c->path, source_memory(s, memory, 1 << 20));
    s->format.hasher = tamis_plan_of(tamis_disk_file(c->disk))->hasher;
    pipeline_run(&p, s);
    check(c, tamis_disk_flush(c->disk));
    progress_erase();
    tamis_disk_free(c->disk);
    return c->keys;
}

uint64_t disk_add(const char *path, uint64_t memory, source *s)
{
    change c = { .path = path };

    return run(&c, memory, s);
}

uint64_t disk_remove(const char *path, uint64_t memory, source *s)
{
    change c = { .path = path, .removes = true };

    return run(&c, memory, s);
}
