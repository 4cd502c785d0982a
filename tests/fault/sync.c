/* sync.c - a disk that fails under a writable map: nothing is claimed that is not so.
 *
 * fsync() is replaced by one that fails at a chosen call, pwrite() by one that writes a part of
 * what it is given, then nothing. After any failure the map refuses to go on, and the file is
 * neither taken for whole nor damaged: it is dirty, and recovered with every key of the last sync
 * that worked. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../golden/golden.h"
#include "tamis_disk.h"

static int calls_until_failure = -1; /* negative: never */

int fsync(int fd)
{
    if (calls_until_failure >= 0 && calls_until_failure-- == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

static int stats_until_failure = -1; /* negative: never */

int fstat(int fd, struct stat *st)
{
    if (stats_until_failure >= 0 && stats_until_failure-- == 0) {
        errno = EIO;
        return -1;
    }
    return fstatat(fd, "", st, AT_EMPTY_PATH);
}

static int writes_until_torn = -1; /* negative: never */
static size_t torn_at;             /* bytes of that write */

/* Of 32-bit systems too, where the library asks for the other name. */
static ssize_t torn_write(int fd, const void *buf, size_t size, int64_t offset)
{
    if (writes_until_torn > 0)
        writes_until_torn--;
    else if (writes_until_torn == 0) {
        size = torn_at < size ? torn_at : size;
        torn_at = 0;
        errno = EIO;
        if (size == 0)
            return -1;
    }
    return (ssize_t)syscall(SYS_pwrite64, fd, buf, size, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
{
    return torn_write(fd, buf, size, offset);
}

ssize_t pwrite64(int fd, const void *buf, size_t size, off64_t offset)
{
    return torn_write(fd, buf, size, offset);
}

static char path[64];

static tamis *map_new_file(tamis_kind kind)
{
    bool indexed = tamis_kind_can(kind) & TAMIS_IS_INDEXED;
    tamis_spec spec = TAMIS_SPEC(.keys = 1000, .hasher.hash = indexed ? TAMIS_RAW : TAMIS_FAST);
    tamis_plan plan;
    tamis *f;

    calls_until_failure = writes_until_torn = -1;
    if (tamis_plan_kind(&plan, kind, &spec) || tamis_new(&f, &plan, NULL) || tamis_save(f, path))
        die("cannot make", path);
    tamis_free(f);
    if (tamis_map(&f, path, TAMIS_MAP_WRITE, NULL))
        die("cannot map", path);
    return f;
}

/* Keys 0 .. 99 are synced, 100 .. 199 are on their way. */
static void check_file(tamis_kind kind, const char *when)
{
    const char *name = tamis_kind_name(kind);
    tamis *f = NULL;

    calls_until_failure = writes_until_torn = -1;
    tamis_status status = tamis_load(&f, path, NULL);

    expect(status == TAMIS_DIRTY, "%s: %s: load says %s", name, when, tamis_status_text(status));
    status = tamis_map(&f, path, TAMIS_MAP_RECOVER, NULL);
    expect(status == TAMIS_OK, "%s: %s: recovery says %s", name, when, tamis_status_text(status));
    if (status)
        return;
    for (uint64_t key = 0; key < 100; key++)
        expect(tamis_has(f, key), "%s: %s: a synced key is lost", name, when);
    expect(tamis_verify(f, NULL, NULL) == TAMIS_OK, "%s: %s: not whole after all", name, when);
    tamis_free(f);
}

static void add_keys(tamis *f, uint64_t from, uint64_t to)
{
    for (uint64_t key = from; key < to; key++)
        if (tamis_add(f, key))
            die("cannot add to", path);
}

static void check_failed_sync(tamis_kind kind, int which)
{
    tamis *f = map_new_file(kind);

    add_keys(f, 0, 100);
    expect(tamis_sync(f) == TAMIS_OK, "%s: sync fails by itself", tamis_kind_name(kind));
    add_keys(f, 100, 200);
    calls_until_failure = which;
    expect(tamis_sync(f) == TAMIS_IO && errno == EIO, "a sync that failed says nothing");
    errno = 0;
    expect(tamis_sync(f) == TAMIS_IO, "a sync that failed is tried again");
    expect(errno == EIO, "a sync that was not tried again says why: %s", strerror(errno));
    errno = 0;
    expect(tamis_add(f, 300) == TAMIS_IO, "a map that failed takes keys");
    expect(errno == EIO, "a map that failed says why: %s", strerror(errno));
    tamis_free(f);
    check_file(kind, "after a failed sync");
}

static void check_failed_mark(tamis_kind kind)
{
    tamis *f = map_new_file(kind);

    add_keys(f, 0, 100);
    expect(tamis_sync(f) == TAMIS_OK, "%s: sync fails by itself", tamis_kind_name(kind));
    calls_until_failure = 0;
    expect(tamis_add(f, 300) == TAMIS_IO, "a key was added to a file not marked dirty");
    expect(tamis_sync(f) == TAMIS_IO, "a map that failed is synced");
    tamis_free(f);
    check_file(kind, "after a failed mark");
}

/* The header is written in one piece, of which any part may arrive. */
static void check_torn_header(tamis_kind kind, bool in_sync, int which, size_t part)
{
    tamis *f = map_new_file(kind);

    add_keys(f, 0, 100);
    expect(tamis_sync(f) == TAMIS_OK, "%s: sync fails by itself", tamis_kind_name(kind));
    if (in_sync)
        add_keys(f, 100, 200);
    writes_until_torn = which;
    torn_at = part;
    if (in_sync)
        expect(tamis_sync(f) == TAMIS_IO, "a sync that was torn says nothing");
    else
        expect(tamis_add(f, 300) == TAMIS_IO, "a key was added to a file not marked dirty");
    tamis_free(f);
    check_file(kind, in_sync ? "after a torn sync" : "after a torn mark");
}

static void check_torn_headers(tamis_kind kind)
{
    static const size_t parts[] = { 0, 1, 90, 97, 100, 130, 250, 255 };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        check_torn_header(kind, false, 0, parts[i]);
        check_torn_header(kind, true, 0, parts[i]);
        check_torn_header(kind, true, 1, parts[i]);
    }
}

/* A file that cannot be asked about is not one that another has taken. */
static void check_failed_stat(tamis_kind kind)
{
    tamis *f = map_new_file(kind);

    tamis_free(f);
    for (int i = 0; i < 2; i++) {
        stats_until_failure = i;
        expect(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL) == TAMIS_IO, "fstat %d fails: no error",
               i);
        stats_until_failure = -1;
    }
}

static void check_failed_stat_of_disk(tamis_kind kind)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 1000, .can = TAMIS_CAN_RESIZE);
    const uint64_t key = 7;
    tamis_plan plan;
    tamis_disk *d;
    size_t added;
    tamis *f;

    if (tamis_plan_kind(&plan, kind, &spec) || tamis_new(&f, &plan, NULL) || tamis_save(f, path))
        die("cannot make", path);
    tamis_free(f);
    if (tamis_disk_open(&d, path, NULL) || tamis_disk_add_many(d, &added, &key, 1))
        die("cannot open", path);
    stats_until_failure = 0;
    expect(tamis_disk_flush(d) == TAMIS_IO, "a file that cannot be asked about is no error");
    stats_until_failure = -1;
    expect(tamis_disk_flush(d) == TAMIS_OK, "a disk filter does not go on");
    tamis_disk_free(d);
}

/* One map looks on while another adds, syncs and goes: what is made of it is true of the file. */
static void check_onlooker(tamis_kind kind)
{
    const char *name = tamis_kind_name(kind);
    tamis *writer = map_new_file(kind), *reader, *copy = NULL;

    if (tamis_map(&reader, path, 0, NULL))
        die("cannot map", path);
    add_keys(writer, 0, 50);
    expect(tamis_verify(reader, NULL, NULL) == TAMIS_BUSY, "%s: a file being written is judged",
           name);
    expect(tamis_clone(&copy, reader, NULL) == TAMIS_BUSY, "%s: a file being written is copied",
           name);
    tamis_free(writer);
    expect(tamis_verify(reader, NULL, NULL) == TAMIS_OK, "%s: a whole file is refused", name);
    expect(tamis_clone(&copy, reader, NULL) == TAMIS_OK, "%s: a whole file is not copied", name);
    if (copy) {
        expect(info_of(copy).count == 50, "%s: the copy has an old count", name);
        expect(tamis_verify(copy, NULL, NULL) == TAMIS_OK, "%s: the copy is broken", name);
        tamis_free(copy);
    }
    tamis_free(reader);
}

/* A save onto its own file would leave the map on one without a name. */
static void check_own_file(tamis_kind kind)
{
    tamis *f = map_new_file(kind);

    add_keys(f, 0, 10);
    errno = 0;
    expect(tamis_save(f, path) == TAMIS_IO && errno == EBUSY, "a map was saved onto itself");
    add_keys(f, 10, 20);
    tamis_free(f);
    if (tamis_load(&f, path, NULL))
        die("cannot load", path);
    for (uint64_t key = 0; key < 20; key++)
        expect(tamis_has(f, key), "%s: a key is lost", tamis_kind_name(kind));
    tamis_free(f);
}

int main(void)
{
    snprintf(path, sizeof path, "sync-%ld.tamis", (long)getpid());
    for (tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND); kind; kind = tamis_kind_next(kind)) {
        if (tamis_kind_can(kind) & TAMIS_CAN_RESIZE && !(tamis_kind_can(kind) & TAMIS_CAN_ADAPT))
            check_failed_stat_of_disk(kind);
        if (!(tamis_kind_can(kind) & TAMIS_CAN_READ_WHILE_ADD))
            continue;
        check_failed_sync(kind, 0);
        check_failed_sync(kind, 1);
        check_failed_mark(kind);
        check_torn_headers(kind);
        check_failed_stat(kind);
        check_onlooker(kind);
        check_own_file(kind);
    }
    unlink(path);
    return verdict("fault/sync");
}
