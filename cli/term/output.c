/* output.c - standard output. Every failed write is reported. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "output.h"
#include "progress.h"
#include "unicode.h"

bool write_all(int fd, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        ssize_t put = write(fd, at, size);

        if (put < 0 && errno != EINTR)
            return false;
        at += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

void output_write(const void *bytes, size_t size)
{
    if (size > 0)
        progress_make_way();
    if (!write_all(STDOUT_FILENO, bytes, size))
        die_errno("write", "standard output");
}
void output_gathered(buffer *out, bool is_end)
{
    if (out->size < 1 << 16 && !is_end)
        return;
    output_write(out->bytes, out->size);
    out->size = 0;
}

void output_put_text(buffer *out, const char *text, size_t size)
{
    size_t at = out->size;

    buffer_append(out, text, size);
    if (!isatty(STDOUT_FILENO))
        return;
    out->size = at;
    for (const char *end = text + size; text < end;) {
        const char *tab = memchr(text, '\t', (size_t)(end - text));
        size_t piece = (size_t)((tab ? tab : end) - text);

        memmove(out->bytes + out->size, text, piece);
        out->size += unicode_clean(out->bytes + out->size, piece);
        buffer_append(out, "\t", tab ? 1 : 0);
        text += piece + (tab ? 1 : 0);
    }
}

void output_end(void)
{
    /* Some file systems report a failed write only when the file is closed. */
    if (ferror(stdout) || fflush(stdout) || close(STDOUT_FILENO))
        die_errno("write", "standard output");
}
