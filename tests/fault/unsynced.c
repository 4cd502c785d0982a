/* unsynced.c - a folder or a file that cannot be synced under a filter on disk: what a flush calls
 * safe is on the disk, and no key is dropped half-way.
 *
 * fsync() is replaced by one that fails for folders, or for files, so many times. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../golden/golden.h"
#include "tamis_disk.h"

static int folder_faults, file_faults; /* still to come */
static int folder_syncs;               /* that succeeded */

int fsync(int fd)
{
    struct stat s;
    bool is_folder = fstat(fd, &s) == 0 && S_ISDIR(s.st_mode);
    int *faults = is_folder ? &folder_faults : &file_faults;

    if (*faults > 0) {
        --*faults;
        errno = EIO;
        return -1;
    }
    folder_syncs += is_folder;
    return (int)syscall(SYS_fsync, fd);
}

enum { MANY = 30000 }; /* more than may wait */

static char path[64];
static uint64_t keys[MANY];

static tamis_disk *open_disk(void)
{
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = 64 << 10);
    tamis_disk *d;

    if (tamis_disk_open(&d, path, &o))
        die("cannot be opened", path);
    return d;
}

/* A file of the first n keys, grown to their number: so its fingerprints fit in smaller filters. */
static tamis_disk *disk_of(tamis_kind kind, size_t n)
{
    const tamis_spec spec = TAMIS_SPEC(.keys = 1000, .fpr = 0x1p-26, .can = TAMIS_CAN_GROW);
    tamis_plan plan;
    size_t added;
    tamis *f;

    folder_faults = file_faults = 0;
    if (tamis_plan_kind(&plan, kind, &spec) || tamis_new(&f, &plan, NULL) ||
        tamis_add_many(f, &added, keys, n) || tamis_save(f, path))
        die("cannot be made", path);
    tamis_free(f);
    return open_disk();
}

static uint64_t count_in_file(const tamis_disk *d)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(tamis_disk_file(d), &info);
    return info.count;
}

static void check_flush(tamis_kind kind)
{
    const char *name = tamis_kind_name(kind);
    tamis_disk *d = disk_of(kind, 0);
    size_t added;

    folder_syncs = 0;
    folder_faults = 2;
    expect(tamis_disk_add_many(d, &added, keys, 10) == TAMIS_OK, "%s: cannot be added to", name);
    for (int i = 0; i < 2; i++) {
        tamis_status status = tamis_disk_flush(d);
        expect(status == TAMIS_UNSYNCED && errno == EIO, "%s: unsynced flush %d says \"%s\"", name,
               i, tamis_status_text(status));
        expect(count_in_file(d) == 10, "%s: unsynced flush %d: no new file", name, i);
    }
    tamis_status status = tamis_disk_flush(d);
    expect(status == TAMIS_OK && folder_syncs == 1, "%s: a flush says \"%s\" after %d syncs", name,
           tamis_status_text(status), folder_syncs);
    expect(tamis_disk_flush(d) == TAMIS_OK && folder_syncs == 1, "%s: nothing waits", name);
    tamis_disk_free(d);
}

/* What must be merged to make room is no news to who adds: the next flush tells. */
static void check_add(tamis_kind kind)
{
    const char *name = tamis_kind_name(kind);
    tamis_disk *d = disk_of(kind, 0);
    static uint64_t hits[MANY / 64 + 1];
    size_t added = 0;

    folder_faults = 1;
    tamis_status status = tamis_disk_add_many(d, &added, keys, MANY);
    expect(status == TAMIS_OK && added == MANY, "%s: %zu keys were added, then \"%s\"", name, added,
           tamis_status_text(status));
    expect(folder_faults == 0, "%s: nothing was merged", name);
    folder_syncs = 0;
    expect(tamis_disk_flush(d) == TAMIS_OK && folder_syncs == 1, "%s: a flush after adds", name);
    expect(tamis_disk_has_many(d, hits, keys, MANY) == MANY, "%s: keys are lost", name);
    tamis_disk_free(d);
}

static void check_remove(tamis_kind kind)
{
    const char *name = tamis_kind_name(kind);
    tamis_disk *d = disk_of(kind, MANY);
    size_t removed = 0;

    folder_faults = 1;
    tamis_status status = tamis_disk_remove_keys(d, &removed, keys, MANY);
    expect(status == TAMIS_OK && removed == MANY, "%s: %zu keys were removed, then \"%s\"", name,
           removed, tamis_status_text(status));
    expect(folder_faults == 0, "%s: nothing was merged", name);
    expect(tamis_disk_flush(d) == TAMIS_OK, "%s: a flush after removals", name);
    expect(count_in_file(d) == 0, "%s: %llu keys are left of none", name,
           (unsigned long long)count_in_file(d));
    tamis_disk_free(d);
}

/* The old function, too, whose callers see no number. */
static void check_remove_many(tamis_kind kind)
{
    tamis_disk *d = disk_of(kind, MANY);

    folder_faults = 1;
    tamis_status status = tamis_disk_remove_many(d, keys, MANY);
    expect(status == TAMIS_OK || status == TAMIS_UNSYNCED, "%s: removal says \"%s\"",
           tamis_kind_name(kind), tamis_status_text(status));
    expect(tamis_disk_flush(d) == TAMIS_OK, "%s: a flush", tamis_kind_name(kind));
    expect(count_in_file(d) == 0, "%s: %llu keys are left of none that were removed",
           tamis_kind_name(kind), (unsigned long long)count_in_file(d));
    tamis_disk_free(d);
}

/* Stopped half-way, it says where, and can go on from there. */
static void check_count(tamis_kind kind)
{
    const char *name = tamis_kind_name(kind);
    tamis_disk *d = disk_of(kind, MANY);
    size_t removed = 0, more = 0;

    file_faults = 1;
    tamis_status status = tamis_disk_remove_keys(d, &removed, keys, MANY);
    expect(status == TAMIS_IO && 0 < removed && removed < MANY,
           "%s: %zu keys were removed, then \"%s\"", name, removed, tamis_status_text(status));
    status = tamis_disk_remove_keys(d, &more, keys + removed, MANY - removed);
    expect(status == TAMIS_OK && removed + more == MANY, "%s: the rest is not removed: \"%s\"",
           name, tamis_status_text(status));
    expect(tamis_disk_flush(d) == TAMIS_OK && count_in_file(d) == 0, "%s: %llu keys are left", name,
           (unsigned long long)count_in_file(d));
    tamis_disk_free(d);
}

int main(void)
{
    snprintf(path, sizeof path, "unsynced-%ld.tamis", (long)getpid());
    for (size_t i = 0; i < MANY; i++)
        keys[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    for (tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND); kind; kind = tamis_kind_next(kind)) {
        if (!(tamis_kind_can(kind) & TAMIS_CAN_RESIZE) || tamis_kind_can(kind) & TAMIS_CAN_ADAPT)
            continue;
        check_flush(kind);
        check_add(kind);
        check_remove(kind);
        check_remove_many(kind);
        check_count(kind);
    }
    unlink(path);
    return verdict("fault/unsynced");
}
