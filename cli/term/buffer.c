/* buffer.c - bytes that grow.
 *
 * One array can hold all keys of a large input: the C library gives large blocks mappings of their
 * own. realloc() moves these without copying, and the part that was never touched takes no memory.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"

void buffer_reserve(buffer *b, size_t extra)
{
    size_t need, room = b->room + b->room / 2;
    char *bytes;

    if (__builtin_add_overflow(b->size, extra, &need))
        die(CODE_MEMORY, "out of memory: the input does not fit in the address space");
    if (need <= b->room)
        return;
    if (room < need)
        room = need;
    if (!(bytes = realloc(b->bytes, room)))
        die(CODE_MEMORY, "out of memory: %zu bytes more are needed for the input", room);
    b->bytes = bytes;
    b->room = room;
}

void buffer_append(buffer *b, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    buffer_reserve(b, size);
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

void buffer_print(buffer *b, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    buffer_reserve(b, (size_t)size + 1);
    va_start(list, format);
    vsnprintf(b->bytes + b->size, (size_t)size + 1, format, list);
    va_end(list);
    b->size += (size_t)size;
}

void *buffer_next(const buffer *b, const void *item, size_t size)
{
    size_t at = item ? (size_t)((const char *)item - b->bytes) + size : 0;

    return at < b->size ? b->bytes + at : NULL;
}

const char *buffer_next_text(const buffer *b, const char *text)
{
    return buffer_next(b, text, text ? strlen(text) + 1 : 0);
}

void buffer_free(buffer *b)
{
    free(b->bytes);
    *b = (buffer){ 0 };
}

void buffer_save(const buffer *b, const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        die_errno("write", path);
    fwrite(b->bytes, 1, b->size, file);
    if (ferror(file) | fclose(file))
        die_errno("write", path);
}
