/* scratch.c - files without a name. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_read.h"
#include "scratch.h"
#include "term/buffer.h"
#include "term/message.h"

const char *scratch_folder(void)
{
    const char *given = secure_getenv("TMPDIR");

    return given && *given ? given : "/var/tmp";
}

/* Where a file without a name cannot be made, one loses its name at once. */
int scratch_open(void)
{
    int fd = open(scratch_folder(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    buffer path = { 0 };

    if (fd < 0) {
        buffer_append(&path, scratch_folder(), strlen(scratch_folder()));
        buffer_append(&path, "/tamis-XXXXXX", sizeof "/tamis-XXXXXX");
        if ((fd = mkostemp(path.bytes, O_CLOEXEC)) >= 0)
            unlink(path.bytes);
        buffer_free(&path);
    }
    if (fd < 0)
        die_errno("make a file in", scratch_folder());
    return fd;
}

void scratch_write(int fd, const void *bytes, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done));

        if (put < 0 && errno != EINTR)
            die_errno("write to a file in", scratch_folder());
        done += put > 0 ? (size_t)put : 0;
    }
}

void scratch_read(int fd, void *bytes, size_t size, uint64_t offset)
{
    if (!file_read_all(fd, scratch_folder(), bytes, size, offset))
        die(CODE_IO, "a file in %s is shorter than what was written", scratch_folder());
}
