/* buffer.h - bytes that grow. Out of memory ends the program with its exit code. */
#ifndef TAMIS_CLI_TERM_BUFFER_H
#define TAMIS_CLI_TERM_BUFFER_H

#include <stddef.h>

#include "message.h"

typedef struct buffer {
    char *bytes;
    size_t size, room;
} buffer;

/* Makes room for `extra` bytes after those in use. */
void buffer_reserve(buffer *b, size_t extra);
void buffer_append(buffer *b, const void *bytes, size_t size);
/* Appends text as printf() does. A NUL follows it, and is not counted. */
void buffer_print(buffer *b, const char *format, ...) LIKE_PRINTF(2, 3);
void buffer_free(buffer *b);
/* Writes all of it to a file. A failure ends the program. */
void buffer_save(const buffer *b, const char *path);

#endif
