/* reader.c - inputs to chunks of whole lines. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"
#include "term/message.h"

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
        close(r->fd); /* only read */
    unpack_close(r->unpacker);
    buffer_free(&r->carry);
    buffer_free(&r->packed);
}

/* One read(), appended; -1 when it failed. */
static ssize_t read_raw(reader *r, buffer *to)
{
    ssize_t got;

    buffer_reserve(to, CHUNK_SIZE);
    do
        got = read(r->fd, to->bytes + to->size, CHUNK_SIZE);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
        to->size += (size_t)got;
        r->done += (uint64_t)got;
    }
    return got;
}

/* ---- One input after the other ----------------------------------------- */

/* Reads as much as tells whether the input is compressed. It waits in `packed`. */
static bool sniff(reader *r)
{
    bool is_open = true;
    const packing *found = NULL;

    while (is_open) {
        ssize_t got = read_raw(r, &r->packed);
        if (got < 0)
            return false;
        found = unpack_find(r->packed.bytes, r->packed.size, &is_open);
        is_open = is_open && got > 0;
    }
    if (found)
        r->unpacker = unpack_open(found, &r->why);
    return !found || r->unpacker;
}

static bool open_next(reader *r)
{
    bool is_standard = is_standard_input(*r->names);

    r->name = is_standard ? "standard input" : *r->names;
    r->fd = is_standard ? STDIN_FILENO : open(*r->names, O_RDONLY | O_CLOEXEC);
    r->names++;
    r->inputs++;
    r->packed.size = r->taken = 0;
    r->next = 0;
    return r->fd >= 0 && (r->takes_packed || sniff(r));
}

static void close_current(reader *r)
{
    if (r->fd != STDIN_FILENO)
        close(r->fd); /* only read */
    r->fd = -1;
    unpack_close(r->unpacker);
    r->unpacker = NULL;
}

/* ---- Bytes ------------------------------------------------------------- */

/* A few bytes may stand for a line without end. Where nothing is compressed, the disk is the limit.
 */
enum { PACKED_LINE_MAX = 256 << 20 };

static bool unpack_once(reader *r, buffer *text, bool is_last)
{
    unpack_step s = { .in = r->packed.bytes + r->taken,
                      .in_size = r->packed.size - r->taken,
                      .is_last = is_last,
                      .out = text->bytes + text->size,
                      .out_size = CHUNK_SIZE };

    r->why = unpack_some(r->unpacker, &s);
    r->taken = r->packed.size - s.in_size;
    text->size += CHUNK_SIZE - s.out_size;
    return !r->why;
}

/* As read_raw(). */
static ssize_t read_packed(reader *r, buffer *text)
{
    size_t before = text->size;
    bool is_last = false;

    buffer_reserve(text, CHUNK_SIZE);
    if (before > PACKED_LINE_MAX)
        r->why = "a line of more than 256 MiB is in the compressed data; decompress it first";
    while (!r->why && text->size == before) {
        if (!unpack_once(r, text, is_last) || text->size > before || is_last)
            break;
        r->packed.size = r->taken = 0;
        ssize_t got = read_raw(r, &r->packed);
        if (got < 0)
            return -1;
        is_last = got == 0;
    }
    return r->why ? -1 : (ssize_t)(text->size - before);
}

/* What was read to look at it comes first. */
static ssize_t read_sniffed(reader *r, buffer *text)
{
    size_t size = r->packed.size;

    buffer_append(text, r->packed.bytes, size);
    r->packed.size = 0;
    return (ssize_t)size;
}

static ssize_t read_some(reader *r, buffer *text)
{
    if (r->unpacker)
        return read_packed(r, text);
    return r->packed.size > 0 ? read_sniffed(r, text) : read_raw(r, text);
}

/* ---- Lines ------------------------------------------------------------- */

/* Just after the last whole record, or NULL. Where there is no quote, every line is one. */
static const char *last_record(reader *r, const char *at, const char *end)
{
    const char *last = NULL;

    if (r->state != CSV_QUOTED && !memchr(at, '"', (size_t)(end - at)) &&
        (last = memrchr(at, r->end, (size_t)(end - at)))) {
        at = ++last;
        r->state = CSV_START;
    }
    while ((at = csv_record(&r->csv, &r->state, at, end)))
        last = at;
    return last;
}

/* Leaves whole lines in `text` if a line ends within its last `fresh` bytes. */
static bool cut(reader *r, buffer *text, size_t fresh)
{
    const char *end = text->bytes + text->size, *last;
    size_t size;

    if (r->is_csv)
        last = last_record(r, end - fresh, end);
    else if ((last = memrchr(end - fresh, r->end, fresh)))
        last++;
    if (!last)
        return false;
    size = (size_t)(last - text->bytes);
    buffer_append(&r->carry, last, text->size - size);
    text->size = size;
    return true;
}

/* At least half of the chunk is new, so that a long overlap is not copied too often. */
static bool cut_bytes(reader *r, buffer *text)
{
    if (text->size / 2 < r->overlap)
        return false;
    buffer_append(&r->carry, text->bytes + text->size - r->overlap, r->overlap);
    return true;
}

/* `text` is a chunk. */
static reader_state hand_over(reader *r, const buffer *text, bool is_last)
{
    r->is_last = is_last;
    r->start = r->next;
    r->next += text->size - (is_last ? 0 : r->overlap);
    return READER_CHUNK;
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
        if (got > 0 && (r->overlap ? cut_bytes(r, text) : cut(r, text, (size_t)got)))
            return hand_over(r, text, false);
        if (got > 0 && r->line_max && text->size > r->line_max + CHUNK_SIZE) {
            r->why = "it is too long; is a quote open, or is this no text?";
            return READER_FAILED;
        }
        if (got > 0)
            continue;
        close_current(r);
        if (r->state == CSV_QUOTED) {
            r->why = "a quoted field is not closed before the end; is --csv right?";
            return READER_FAILED;
        }
        r->state = CSV_START;
        if (text->size > 0 && !r->overlap)
            buffer_append(text, &r->end, 1);
        if (text->size > 0)
            return hand_over(r, text, true);
    }
}

/* ---- Whole inputs ------------------------------------------------------ */

bool reader_has_next(reader *r, buffer *text)
{
    reader_state state = reader_next(r, text);

    if (state == READER_FAILED && r->why)
        die(CODE_IO, "%s: %s", r->name, r->why);
    if (state == READER_FAILED)
        die_errno("read", r->name);
    return state == READER_CHUNK;
}

void reader_each_line(const char *path, void (*take)(void *ctx, char *line, size_t size), void *ctx)
{
    char *names[] = { (char *)(uintptr_t)path, NULL };
    buffer text = { 0 };
    reader r;

    reader_open(&r, names, '\n');
    while (reader_has_next(&r, &text))
        for (char *line = text.bytes, *stop = line + text.size, *end; line < stop; line = end + 1) {
            end = memchr(line, '\n', (size_t)(stop - line));
            *end = 0;
            take(ctx, line, (size_t)(end - line));
        }
    reader_close(&r);
    buffer_free(&text);
}

void reader_all(buffer *to, const char *path, unsigned char end, bool takes_packed)
{
    char *names[] = { (char *)(uintptr_t)path, NULL };
    buffer text = { 0 };
    reader r;

    reader_open(&r, names, end);
    r.takes_packed = takes_packed;
    while (reader_has_next(&r, &text))
        buffer_append(to, text.bytes, text.size);
    reader_close(&r);
    buffer_free(&text);
}
