/* losing.h - a disk that loses data once, and says so by the call that the kernel would say it by.
 *
 * Takes the place of the C library's calls that can report lost data. Each is counted if it is
 * about a file in one folder. One of them fails with EIO, and what it was to bring to the disk is
 * lost:
 *
 *   write, ftruncate, fallocate, rename, link   nothing is done
 *   fsync, sync_file_range, msync, close        the file is again what it was on the disk: pages
 *                                               that could not be written are dropped, and the
 *                                               kernel tells of it once
 *
 * To know what is on the disk, a copy of each file is kept, which syncs renew.
 *
 * A program includes this file and calls losing_begin() where it starts to save. For other programs
 * losses.py makes a library of it, for LD_PRELOAD: cc -shared -DLOSING_PRELOADED. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- What is on the disk ----------------------------------------------- */

typedef struct losing_file {
    dev_t device;
    ino_t number;
    char *bytes;
    size_t size;
} losing_file;

enum { LOSING_FILES = 256 };

static losing_file losing_files[LOSING_FILES];
static int losing_n;
static char losing_folder[PATH_MAX]; /* empty: nothing is counted */
static long losing_left = -1;        /* calls until one fails; negative: none will */
static int losing_log = -1;          /* gets a line for each call */
static pthread_mutex_t losing_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noreturn)) static inline void losing_die(const char *what)
{
    dprintf(2, "losing.h: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static inline losing_file *losing_find(const struct stat *s)
{
    for (losing_file *f = losing_files; f < losing_files + losing_n; f++)
        if (f->device == s->st_dev && f->number == s->st_ino)
            return f;
    if (losing_n == LOSING_FILES)
        losing_die("too many files");
    losing_files[losing_n] = (losing_file){ .device = s->st_dev, .number = s->st_ino };
    return &losing_files[losing_n++];
}

/* Of a file, or of a descriptor by its name in /proc. */
static inline int losing_open(const char *path, int mode, struct stat *s)
{
    int fd = open(path, mode | O_CLOEXEC);

    if (fd < 0 || fstat(fd, s))
        losing_die(path);
    return fd;
}

static inline void losing_close(int fd)
{
    int (*real)(int) = __extension__(int (*)(int)) dlsym(RTLD_NEXT, "close");

    real(fd);
}

/* These bytes, at most to the end of the file, are on the disk now. */
static inline void losing_keep(const char *path, size_t from, size_t size)
{
    struct stat s;
    int fd = losing_open(path, O_RDONLY, &s);
    losing_file *f = losing_find(&s);
    size_t all = (size_t)s.st_size, end = size < all - from ? from + size : all;

    if (from < all && end > f->size) {
        f->bytes = realloc(f->bytes, end);
        if (!f->bytes)
            losing_die("no memory");
        memset(f->bytes + f->size, 0, end - f->size);
        f->size = end;
    }
    for (ssize_t got; from < all && from < end; from += (size_t)got)
        if ((got = pread(fd, f->bytes + from, end - from, (off_t)from)) <= 0)
            losing_die(path);
    losing_close(fd);
}

/* These bytes are again what is on the disk: zeros, where nothing is. */
static inline void losing_lose(const char *path, size_t from, size_t size)
{
    typedef ssize_t writer(int, const void *, size_t, off_t);
    writer *real = __extension__(writer *) dlsym(RTLD_NEXT, "pwrite");
    static const char zeros[1 << 16];
    struct stat s;
    int fd = losing_open(path, O_RDWR, &s);
    const losing_file *f = losing_find(&s);
    size_t all = (size_t)s.st_size, end = size < all - from ? from + size : all;

    for (size_t piece; from < all && from < end; from += piece) {
        bool is_there = from < f->size;
        size_t most = is_there ? f->size - from : sizeof zeros;
        piece = end - from < most ? end - from : most;
        ssize_t put = real(fd, is_there ? f->bytes + from : zeros, piece, (off_t)from);
        if (put != (ssize_t)piece)
            losing_die(path);
    }
    losing_close(fd);
}

static inline int losing_keep_one(const char *path, const struct stat *s, int type, struct FTW *w)
{
    (void)w;
    if (type == FTW_F && S_ISREG(s->st_mode))
        losing_keep(path, 0, SIZE_MAX);
    return 0;
}

/* From here on calls are counted; one fails after `left` others. */
static inline void losing_begin(const char *folder, long left, int log)
{
    losing_n = 0;
    losing_left = left;
    losing_log = log;
    if (nftw(folder, losing_keep_one, 8, FTW_PHYS))
        losing_die(folder);
    snprintf(losing_folder, sizeof losing_folder, "%s", folder);
}

/* ---- Which calls ------------------------------------------------------- */

static inline bool losing_is_inside(const char *path)
{
    size_t length = strlen(losing_folder);
    char here[PATH_MAX];

    if (length == 0)
        return false;
    if (*path != '/')
        path = getcwd(here, sizeof here) ? here : "";
    return strncmp(path, losing_folder, length) == 0 && (!path[length] || path[length] == '/');
}

/* `path` gets the descriptor's name in /proc. */
static inline bool losing_concerns(int fd, char path[32], mode_t *type)
{
    char target[PATH_MAX];
    int saved = errno;
    struct stat s;

    snprintf(path, 32, "/proc/self/fd/%d", fd);
    ssize_t size = losing_folder[0] ? readlink(path, target, sizeof target - 1) : -1;
    if (size > 0)
        target[size] = 0;
    bool is_ours = size > 0 && *target == '/' && losing_is_inside(target) && fstat(fd, &s) == 0 &&
                   (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode));
    *type = is_ours ? s.st_mode & S_IFMT : 0;
    errno = saved;
    return is_ours;
}

/* Counts the call. True: it is the one that fails. */
static inline bool losing_strikes(const char *call)
{
    int saved = errno;

    pthread_mutex_lock(&losing_lock);
    if (losing_log >= 0)
        dprintf(losing_log, "%s\n", call);
    bool fails = losing_left == 0;
    losing_left -= losing_left >= 0;
    pthread_mutex_unlock(&losing_lock);
    errno = fails ? EIO : saved;
    return fails;
}

/* Of a regular file, or of a folder where that is told apart. */
static inline bool losing_fails(const char *call, int fd)
{
    char path[32];
    mode_t type;

    return losing_concerns(fd, path, &type) && losing_strikes(call);
}

/* After a call that brings all of a file to the disk, or loses it. */
static inline void losing_settle(int fd, bool is_lost)
{
    char path[32];
    mode_t type;
    int saved = errno;

    if (losing_concerns(fd, path, &type) && type == S_IFREG)
        (is_lost ? losing_lose : losing_keep)(path, 0, SIZE_MAX);
    errno = saved;
}

/* ---- The calls --------------------------------------------------------- */

/* Each is defined under the name that the linker knows, whatever the headers make of it. */
#define LOSING_CALL(result, name, ...)                 \
    result losing__##name(__VA_ARGS__) __asm__(#name); \
    __attribute__((visibility("default"))) result losing__##name(__VA_ARGS__)
#define LOSING_REAL(name) (__extension__(__typeof(&losing__##name)) dlsym(RTLD_NEXT, #name))

LOSING_CALL(ssize_t, write, int fd, const void *buf, size_t size)
{
    return losing_fails("write", fd) ? -1 : LOSING_REAL(write)(fd, buf, size);
}

LOSING_CALL(ssize_t, pwrite, int fd, const void *buf, size_t size, off_t at)
{
    return losing_fails("pwrite", fd) ? -1 : LOSING_REAL(pwrite)(fd, buf, size, at);
}

LOSING_CALL(ssize_t, pwrite64, int fd, const void *buf, size_t size, int64_t at)
{
    return losing_fails("pwrite", fd) ? -1 : LOSING_REAL(pwrite64)(fd, buf, size, at);
}

/* The copies are the disk: nothing has to wait for another one. */
static inline int losing_sync(const char *call, int fd)
{
    bool fails = losing_fails(call, fd);

    losing_settle(fd, fails);
    return fails ? -1 : 0;
}

LOSING_CALL(int, fsync, int fd)
{
    return losing_sync("fsync", fd);
}

LOSING_CALL(int, fdatasync, int fd)
{
    return losing_sync("fdatasync", fd);
}

/* What was only begun to be written may still be lost. A length of 0 reaches to the end. */
LOSING_CALL(int, sync_file_range, int fd, off64_t from, off64_t size, unsigned flags)
{
    bool fails = losing_fails("sync_file_range", fd);
    size_t most = size ? (size_t)size : SIZE_MAX;
    char path[32];
    mode_t type;

    if (losing_concerns(fd, path, &type) && fails)
        losing_lose(path, (size_t)from, most);
    else if (type && flags & SYNC_FILE_RANGE_WAIT_AFTER)
        losing_keep(path, (size_t)from, most);
    errno = fails ? EIO : errno;
    return fails ? -1 : 0;
}

/* The file that is mapped there; false: none in the folder. */
static inline bool losing_mapped(const void *at, char path[PATH_MAX])
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 256];
    bool is_found = false;

    if (!maps)
        losing_die("/proc/self/maps");
    while (!is_found && fgets(line, sizeof line, maps)) {
        unsigned long long from, to;
        path[0] = 0;
        is_found = sscanf(line, "%llx-%llx %*s %*s %*s %*s %4095[^\n]", &from, &to, path) >= 2 &&
                   (uintptr_t)at >= from && (uintptr_t)at < to;
    }
    fclose(maps);
    return is_found && *path == '/' && losing_is_inside(path);
}

LOSING_CALL(int, msync, void *at, size_t size, int flags)
{
    char path[PATH_MAX];
    bool is_ours = losing_folder[0] && losing_mapped(at, path);
    bool fails = is_ours && losing_strikes("msync");

    (void)size;
    (void)flags;
    if (is_ours)
        (fails ? losing_lose : losing_keep)(path, 0, SIZE_MAX);
    errno = fails ? EIO : errno;
    return fails ? -1 : 0;
}

/* Of what was only read, a close tells nothing. */
LOSING_CALL(int, close, int fd)
{
    int mode = losing_folder[0] ? fcntl(fd, F_GETFL) : O_RDONLY;
    bool fails = mode > 0 && mode & (O_WRONLY | O_RDWR) && losing_fails("close", fd);

    if (fails)
        losing_settle(fd, true);
    int result = LOSING_REAL(close)(fd);
    errno = fails ? EIO : errno;
    return fails ? -1 : result;
}

LOSING_CALL(int, fflush, FILE *file)
{
    return file && losing_fails("fflush", fileno(file)) ? EOF : LOSING_REAL(fflush)(file);
}

LOSING_CALL(int, fclose, FILE *file)
{
    bool fails = losing_folder[0] && losing_fails("fclose", fileno(file));
    int copy = fails ? dup(fileno(file)) : -1;
    int result = LOSING_REAL(fclose)(file);

    if (fails) {
        losing_settle(copy, true);
        losing_close(copy);
        errno = EIO;
    }
    return fails ? EOF : result;
}

LOSING_CALL(int, ftruncate, int fd, off_t size)
{
    return losing_fails("ftruncate", fd) ? -1 : LOSING_REAL(ftruncate)(fd, size);
}

LOSING_CALL(int, ftruncate64, int fd, int64_t size)
{
    return losing_fails("ftruncate", fd) ? -1 : LOSING_REAL(ftruncate64)(fd, size);
}

LOSING_CALL(int, posix_fallocate, int fd, off_t from, off_t size)
{
    return losing_fails("posix_fallocate", fd) ? EIO : LOSING_REAL(posix_fallocate)(fd, from, size);
}

LOSING_CALL(int, posix_fallocate64, int fd, int64_t from, int64_t size)
{
    return losing_fails("posix_fallocate", fd) ? EIO
                                               : LOSING_REAL(posix_fallocate64)(fd, from, size);
}

LOSING_CALL(int, rename, const char *from, const char *to)
{
    return losing_is_inside(to) && losing_strikes("rename") ? -1 : LOSING_REAL(rename)(from, to);
}

LOSING_CALL(int, renameat2, int a, const char *from, int b, const char *to, unsigned flags)
{
    return losing_is_inside(to) && losing_strikes("renameat2")
               ? -1
               : LOSING_REAL(renameat2)(a, from, b, to, flags);
}

LOSING_CALL(int, link, const char *from, const char *to)
{
    return losing_is_inside(to) && losing_strikes("link") ? -1 : LOSING_REAL(link)(from, to);
}

LOSING_CALL(int, linkat, int a, const char *from, int b, const char *to, int flags)
{
    return losing_is_inside(to) && losing_strikes("linkat")
               ? -1
               : LOSING_REAL(linkat)(a, from, b, to, flags);
}

#ifdef LOSING_PRELOADED
/* LOSING_FOLDER, LOSING_AT and, if it is to be written, LOSING_LOG. */
__attribute__((constructor)) static void losing_start(void)
{
    const char *folder = getenv("LOSING_FOLDER"), *at = getenv("LOSING_AT");
    const char *log = getenv("LOSING_LOG");

    if (folder)
        losing_begin(folder, at ? atol(at) : -1,
                     log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1);
}
#endif
