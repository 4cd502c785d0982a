/* output.c - standard output. Every failed write is reported. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "message.h"
#include "output.h"
#include "progress.h"

void output_write(const void *bytes, size_t size)
{
    const char *at = bytes;

    if (size > 0)
        progress_make_way();
    while (size > 0) {
        ssize_t put = write(STDOUT_FILENO, at, size);

        if (put < 0 && errno != EINTR)
            die_errno("write", "standard output");
        if (put > 0) {
            at += put;
            size -= (size_t)put;
        }
    }
}

void output_end(void)
{
    /* Some file systems report a failed write only when the file is closed. */
    if (ferror(stdout) || fflush(stdout) || close(STDOUT_FILENO))
        die_errno("write", "standard output");
}
