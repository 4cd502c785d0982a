/* reader.c - inputs to chunks of whole lines. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

static bool is_standard_input(const char *name)
{
    return strcmp(name, "-") == 0;
}

static uint64_t size_of(const char *name)
{
    struct stat s;
    int failed = is_standard_input(name) ? fstat(STDIN_FILENO, &s) : stat(name, &s);

    return !failed && S_ISREG(s.st_mode) ? (uint64_t)s.st_size : 0;
}

/* 0 if the size of one input is not known: a bar that passes its end is worse than none. */
static uint64_t size_of_all(char *const *names)
{
    uint64_t total = 0;

    for (; *names; names++) {
        uint64_t size = size_of(*names);

        if (size == 0)
            return 0;
        total += size;
    }
    return total;
}

void reader_open(reader *r, char *const *names, unsigned char end)
{
    *r = (reader){ .names = names, .end = end, .fd = -1, .total = size_of_all(names) };
}

void reader_close(reader *r)
{
    if (r->fd > STDERR_FILENO)
        close(r->fd);
    buffer_free(&r->carry);
}

static bool open_next(reader *r)
{
    bool is_standard = is_standard_input(*r->names);

    r->name = is_standard ? "standard input" : *r->names;
    r->fd = is_standard ? STDIN_FILENO : open(*r->names, O_RDONLY | O_CLOEXEC);
    r->names++;
    r->inputs++;
    return r->fd >= 0;
}

static void close_current(reader *r)
{
    if (r->fd != STDIN_FILENO)
        close(r->fd);
    r->fd = -1;
}

/* One read(), appended; -1 when it failed. */
static ssize_t read_some(reader *r, buffer *text)
{
    ssize_t got;

    buffer_reserve(text, CHUNK_SIZE);
    do
        got = read(r->fd, text->bytes + text->size, CHUNK_SIZE);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
        text->size += (size_t)got;
        r->done += (uint64_t)got;
    }
    return got;
}

/* Leaves whole lines in `text` if a line ends within its last `fresh` bytes. */
static bool cut(reader *r, buffer *text, size_t fresh)
{
    const char *from = text->bytes + text->size - fresh;
    const char *last = memrchr(from, r->end, fresh);
    size_t size;

    if (!last)
        return false;
    size = (size_t)(last - text->bytes) + 1;
    buffer_append(&r->carry, last + 1, text->size - size);
    text->size = size;
    return true;
}

reader_state reader_next(reader *r, buffer *text)
{
    text->size = 0;
    buffer_append(text, r->carry.bytes, r->carry.size);
    r->carry.size = 0;
    for (;;) {
        ssize_t got;

        if (r->fd < 0 && !*r->names)
            return READER_END;
        if (r->fd < 0 && !open_next(r))
            return READER_FAILED;
        if ((got = read_some(r, text)) < 0)
            return READER_FAILED;
        if (got > 0 && cut(r, text, (size_t)got))
            return READER_CHUNK;
        if (got > 0)
            continue;
        close_current(r);
        if (text->size > 0) {
            buffer_append(text, &r->end, 1);
            return READER_CHUNK;
        }
    }
}
