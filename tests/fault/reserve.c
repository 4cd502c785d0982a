/* reserve.c - room on a file system that cannot reserve it: a mapped write to a hole in a file
 * would end the program when the disk is full, so that holes are filled before.
 *
 * posix_fallocate() is replaced by one that cannot, as on such a file system without the C
 * library's help, and pwrite() by one that finds the disk full at some point. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../golden/golden.h"
#include "os/file.h"

static int answer;
static long writes_left = -1; /* negative: the disk is never full */

int cannot_reserve(int fd, off_t from, off_t size) __asm__("posix_fallocate");
int cannot_reserve64(int fd, int64_t from, int64_t size) __asm__("posix_fallocate64");
ssize_t limited_write(int fd, const void *buf, size_t size, off_t at) __asm__("pwrite");
ssize_t limited_write64(int fd, const void *buf, size_t size, int64_t at) __asm__("pwrite64");

int cannot_reserve64(int fd, int64_t from, int64_t size)
{
    (void)fd;
    (void)from;
    (void)size;
    return answer;
}

int cannot_reserve(int fd, off_t from, off_t size)
{
    return cannot_reserve64(fd, from, size);
}

ssize_t limited_write64(int fd, const void *buf, size_t size, int64_t at)
{
    if (writes_left >= 0 && writes_left-- == 0) {
        errno = ENOSPC;
        return -1;
    }
    return (ssize_t)syscall(SYS_pwrite64, fd, buf, size, at);
}

ssize_t limited_write(int fd, const void *buf, size_t size, off_t at)
{
    return limited_write64(fd, buf, size, at);
}

enum { SIZE = (1 << 20) + 100 };

static const char *const PATH = "reserve.tmp";

/* A hole with a few bytes in it. */
static int sparse_file(void)
{
    int fd = open(PATH, O_RDWR | O_CREAT | O_TRUNC, 0600);

    writes_left = -1;
    if (fd < 0 || ftruncate(fd, SIZE) || pwrite(fd, "some", 4, 300000) != 4 ||
        pwrite(fd, "end", 3, SIZE - 3) != 3)
        die(strerror(errno), PATH);
    return fd;
}

static void check_holes(void)
{
    int fd = sparse_file();
    struct stat s;

    expect(tamis__file_reserve(fd, SIZE), "no room: %s", strerror(errno));
    if (fstat(fd, &s))
        die(strerror(errno), PATH);
    expect(s.st_blocks * 512 >= SIZE, "holes are left: %lld bytes on disk", s.st_blocks * 512LL);
    expect(s.st_size == SIZE, "the file has another size");
    close(fd);
    bytes all = read_whole(PATH);
    expect(memcmp(all.at + 300000, "some", 4) == 0 && memcmp(all.at + SIZE - 3, "end", 3) == 0,
           "bytes were changed");
    all.at[300000] = all.at[300001] = all.at[300002] = all.at[300003] = 0;
    for (size_t i = 0; i < SIZE - 3; i++)
        if (all.at[i])
            die("bytes were added", PATH);
    free(all.at);
}

static void check_full_disk(void)
{
    int fd = sparse_file();

    writes_left = 5;
    errno = 0;
    expect(!tamis__file_reserve(fd, SIZE) && errno == ENOSPC, "a full disk has room");
    writes_left = -1;
    close(fd);
}

/* As other errors go. */
static void check_error(int error)
{
    int fd = sparse_file();

    answer = error;
    errno = 0;
    expect(!tamis__file_reserve(fd, SIZE) && errno == error, "%s is not told", strerror(error));
    close(fd);
}

int main(void)
{
    static const int cannot[] = { EOPNOTSUPP, EINVAL };

    for (size_t i = 0; i < sizeof cannot / sizeof *cannot; i++) {
        answer = cannot[i];
        check_holes();
        check_full_disk();
    }
    check_error(ENOSPC);
    check_error(EIO);
    unlink(PATH);
    return verdict("fault/reserve");
}
