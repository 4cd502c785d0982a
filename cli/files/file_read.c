/* file_read.c - bytes of a file. */
#include "file_read.h"

#include <errno.h>
#include <unistd.h>

#include "term/message.h"

size_t file_read(int fd, const char *path, void *bytes, size_t size, uint64_t at)
{
    ssize_t got;

    do
        got = pread(fd, bytes, size, (off_t)at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        die_errno("read", path);
    return (size_t)got;
}

bool file_read_all(int fd, const char *path, void *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0, got; done < size; done += got)
        if ((got = file_read(fd, path, (char *)bytes + done, size - done, at + done)) == 0)
            return false;
    return true;
}
