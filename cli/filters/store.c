/* store.c - filters in files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection_member.h"
#include "files/lock.h"
#include "store.h"
#include "term/message.h"
#include "term/output.h"
#include "term/progress.h"

/* ---- The start of an image --------------------------------------------- */

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* An image that is read from its first byte on. */
typedef struct inflow {
    int fd, copy;         /* -1: no copy is kept */
    uint64_t size;        /* read so far */
    uint8_t announced[8]; /* the image size, as docs/format.md has it */
} inflow;

enum { AT_IMAGE_SIZE = 16 };

static uint64_t announced_size(const inflow *in)
{
    uint64_t size = 0;

    for (size_t i = sizeof in->announced; i-- > 0;)
        size = size << 8 | in->announced[i];
    return size;
}

/* One read(); false at the end. */
static bool take_some(inflow *in, uint8_t *piece, size_t *size)
{
    ssize_t got;

    do
        got = read(in->fd, piece, *size);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    *size = (size_t)got;
    for (size_t i = 0; i < *size; i++)
        if (in->size + i - AT_IMAGE_SIZE < sizeof in->announced)
            in->announced[in->size + i - AT_IMAGE_SIZE] = piece[i];
    in->size += *size;
    if (in->copy >= 0 && !write_all(in->copy, piece, *size))
        die(CODE_MEMORY, "out of memory for a filter from a pipe; save it to a file first");
    return true;
}

static bool take_all(void *ctx, void *piece, size_t size)
{
    for (size_t got; size > 0; size -= got) {
        got = size;
        if (!take_some(ctx, piece, &got))
            return false;
        piece = (uint8_t *)piece + got;
    }
    return true;
}

/* A header is good if nothing but the size of its image is wrong with it: none may have 0 bytes. */
static bool has_header(inflow *in)
{
    tamis *none;

    return tamis_image_receive(&none, take_all, in, 0, NULL) == TAMIS_RANGE;
}

/* ---- Failures ---------------------------------------------------------- */

bool store_has_other_size(const stored *from, uint64_t *is, uint64_t *should)
{
    inflow in = { .fd = open(from->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
                  .copy = -1 };
    struct stat s;
    bool differs = in.fd >= 0 && fstat(in.fd, &s) == 0 && has_header(&in);

    if (in.fd >= 0)
        close(in.fd); /* only read */
    if (!differs)
        return false;
    *is = (uint64_t)s.st_size;
    *should = announced_size(&in);
    return *is != *should;
}

int store_report(const char *verb, const stored *from, tamis_status status)
{
    uint64_t is, should;

    if (status == TAMIS_FOREIGN && store_is_folder(from->path)) {
        say("cannot %s %s: it is a directory; name the file of a filter", verb, from->name);
        return CODE_IO;
    }
    if (status == TAMIS_FOREIGN && member_is_collection(from->path)) {
        say("%s is a collection of filters; name one of them as %s:NAME", from->name, from->name);
        return CODE_USAGE;
    }
    if (status != TAMIS_CORRUPT || !store_has_other_size(from, &is, &should))
        return report(verb, from->name, status);
    say("%s: %" PRIu64 " bytes, should be %" PRIu64 ": it was %s; copy it again or build it again",
        from->name, is, should, is < should ? "cut short" : "added to");
    return CODE_CORRUPT;
}

/* ---- Loading ----------------------------------------------------------- */

static bool is_stream(const char *path)
{
    struct stat s;

    return is_standard(path) ||
           (stat(path, &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode)));
}

/* The image and, if there is more, one byte of that. Without a good header, what came of it is
 * enough to tell what is wrong. */
static void copy_image(inflow *in)
{
    uint8_t piece[1 << 16];

    if (!has_header(in))
        return;
    for (uint64_t end = announced_size(in) + 1; in->size < end;) {
        size_t size = end - in->size < sizeof piece ? (size_t)(end - in->size) : sizeof piece;

        if (!take_some(in, piece, &size))
            return;
    }
}

static stored named(const char *path)
{
    stored from = { .name = is_standard(path) ? "standard input" : path };

    if (strlen(path) < sizeof from.path) {
        strcpy(from.path, path);
        return from;
    }
    errno = ENAMETOOLONG;
    die_errno("read", path);
}

stored store_open(const char *path)
{
    stored from = named(path);
    inflow in;
    member m;

    if (member_split(&m, path))
        snprintf(from.path, sizeof from.path, "/proc/self/fd/%d", member_copy(&m, path));
    if (!is_stream(path))
        return from;
    in = (inflow){ .fd = is_standard(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
                   .copy = memfd_create("tamis", MFD_CLOEXEC) };
    if (in.fd < 0)
        die_errno("read", path);
    if (in.copy < 0)
        die_errno("keep", "a filter from a pipe");
    copy_image(&in);
    if (in.fd != STDIN_FILENO)
        close(in.fd); /* only read */
    snprintf(from.path, sizeof from.path, "/proc/self/fd/%d", in.copy);
    return from;
}

static _Noreturn void refuse(const char *verb, const stored *from, tamis_status status)
{
    leave(store_report(verb, from, status));
}

/* A collection is changed as a whole. */
static void refuse_member(const char *path)
{
    member m;

    if (member_split(&m, path) && member_is_collection(m.file))
        die(CODE_USAGE,
            "%s: filters in a collection are not changed but replaced; change a file, and put that "
            "in with 'tamis collection add'",
            path);
}

static tamis *load_member(const member *m, const char *path)
{
    tamis *view = member_view(m, path), *f;
    tamis_status status = tamis_clone(&f, view, NULL);

    if (status)
        die_status("read", path, status);
    tamis_free(view);
    return f;
}

tamis *store_load(const char *path)
{
    member m;

    if (member_split(&m, path))
        return load_member(&m, path);
    stored from = store_open(path);
    tamis *f;
    tamis_status status = tamis_load(&f, from.path, NULL);

    if (status)
        refuse("read", &from, status);
    return f;
}

tamis *store_load_locked(const char *path)
{
    stored from = named(path);
    tamis *f;
    tamis_status status;

    if (store_is_folder(path))
        refuse("read", &from, TAMIS_FOREIGN);
    refuse_member(path);
    lock_filter(path);
    status = tamis_load(&f, path, NULL);
    /* The lock that the library sees is the one taken here. */
    if (status == TAMIS_BUSY)
        status = TAMIS_DIRTY;
    if (status)
        refuse("read", &from, status);
    return f;
}

/* ---- Maps -------------------------------------------------------------- */

void store_catch_truncation(void)
{
    static const int bus[] = { SIGBUS, 0 };

    die_of_faults(bus, "tamis: the filter's file was shortened or cannot be read while it was "
                       "mapped; restore it and do not use --map\n");
}

static tamis *map_file(const char *path)
{
    stored from = store_open(path);
    tamis *f;
    tamis_status status = tamis_map(&f, from.path, 0, NULL);

    if (status)
        refuse("map", &from, status);
    return f;
}

tamis *store_map(const char *path)
{
    member m;

    store_catch_truncation();
    return member_split(&m, path) ? member_view(&m, path) : map_file(path);
}

tamis *store_map_whole(const char *path)
{
    tamis *f = store_map(path);
    tamis_status status = tamis_verify(f, NULL, NULL);

    if (status)
        die_status("read", path, status);
    return f;
}

/* ---- Saving ------------------------------------------------------------ */

static void check_folder(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : 0;

    if (size >= sizeof folder)
        return;
    if (slash) {
        memcpy(folder, path, size);
        folder[size] = 0;
    }
    if (access(folder, W_OK | X_OK))
        die_errno("write to the folder of", path);
}

void store_check_target(const char *path)
{
    struct stat s;

    if (is_standard(path) && isatty(STDOUT_FILENO))
        die(CODE_USAGE, "a filter is no text for a terminal; name a file, or use a pipe");
    if (is_standard(path))
        return;
    refuse_member(path);
    if (stat(path, &s))
        check_folder(path);
    else if (!S_ISREG(s.st_mode))
        die(CODE_IO, "%s is not a regular file; name one to save the filter to", path);
}

void store_lock_target(const char *path)
{
    store_check_target(path);
    lock_output(path);
}

void store_spare_inputs(const char *command, const char *path, char *const *inputs)
{
    struct stat out, in;

    if (stat(path, &out))
        return;
    for (; *inputs; inputs++)
        if (stat(*inputs, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            die(CODE_USAGE, "%s: %s is both an INPUT and the FILE to save to", command, *inputs);
}

static bool send_piece(void *ctx, const void *piece, size_t size)
{
    (void)ctx;
    output_write(piece, size);
    return true;
}

void store_save(const tamis *f, const char *path)
{
    tamis_status status;
    sigset_t stops, before;

    if (is_standard(path)) {
        if ((status = tamis_image_send(f, send_piece, NULL)))
            die_status("write", "standard output", status);
        return;
    }
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGHUP);
    sigprocmask(SIG_BLOCK, &stops, &before);
    if ((status = tamis_save(f, path)))
        die_status("write", path, status);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- Building ---------------------------------------------------------- */

static volatile sig_atomic_t stopped_by; /* a signal; 0: none */

static void on_stop(int signal)
{
    stopped_by = signal;
}

/* A signal that is ignored, after nohup for example, stays ignored. */
static void catch (int signal)
{
    struct sigaction action = { .sa_handler = on_stop, .sa_flags = SA_RESTART }, before;

    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(signal, &action, NULL);
}

bool store_progress(void *ctx, uint64_t done, uint64_t total)
{
    const uint64_t *keys = ctx;
    double share = total ? (double)done / (double)total : 1;

    progress_show((uint64_t)(share * (double)*keys), *keys, "keys");
    return stopped_by == 0;
}

/* Through memory: checksums are sent before what they are of. */
static tamis_status build_in_memory(tamis_builder *b, const char *path, tamis_plan *plan)
{
    tamis *f;
    tamis_status status = tamis_builder_finish(&f, b);

    if (status)
        return status;
    *plan = *tamis_plan_of(f);
    progress_erase();
    store_save(f, path);
    tamis_free(f);
    return TAMIS_OK;
}

tamis_status store_build(tamis_builder *b, const char *path, tamis_plan *plan)
{
    tamis_status status;

    catch (SIGINT);
    catch (SIGTERM);
    catch (SIGHUP);
    status = is_standard(path) ? build_in_memory(b, path, plan) : tamis_builder_save(b, path, plan);
    progress_erase();
    /* The parent process must see that the signal ended this program. */
    if (stopped_by) {
        signal(stopped_by, SIG_DFL);
        raise(stopped_by);
    }
    return status;
}

/* ---- Folders ----------------------------------------------------------- */

bool store_is_folder(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int is_filter_file(const struct dirent *d)
{
    const char *end = strrchr(d->d_name, '.');

    return end && end != d->d_name && strcmp(end, ".tamis") == 0;
}

size_t store_each(const char *folder, void (*take)(void *ctx, const char *name), void *ctx)
{
    struct dirent **found;
    int n = scandir(folder, &found, is_filter_file, alphasort);

    if (n < 0)
        die_errno("read", folder);
    for (int i = 0; i < n; i++) {
        *strrchr(found[i]->d_name, '.') = '\0';
        take(ctx, found[i]->d_name);
        free(found[i]);
    }
    free(found);
    return (size_t)n;
}

/* ---- Load -------------------------------------------------------------- */

bool store_is_crowded(const tamis_info *info)
{
    /* Sketches take any number of keys, and windows forget. */
    if (info->plan.error > 0 || tamis_kind_can(info->plan.kind) & TAMIS_CAN_ROTATE)
        return false;
    /* A repeated key is counted again but does no harm, so the rate decides. That of a filter with
     * as many keys as planned is a few percent off, either way. */
    return info->count > info->plan.capacity && info->fpr > 1.1 * info->plan.fpr;
}

void store_warn_if_crowded(const tamis *f, const char *path)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    if (store_is_crowded(&info))
        say("%s holds %" PRIu64 " keys and was planned for %" PRIu64 ": its false positive rate is "
            "now %.3g, not %.3g; build it with a larger -n",
            path, info.count, info.plan.capacity, info.fpr, info.plan.fpr);
}
