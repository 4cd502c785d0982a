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
/* The item after that one, NULL after the last; NULL gives the first:
 *
 *     for (const span *line = NULL; (line = buffer_next(&lines, line, sizeof *line));)
 */
void *buffer_next(const buffer *b, const void *item, size_t size);
/* The same of texts that end with a NUL each. */
const char *buffer_next_text(const buffer *b, const char *text);
void buffer_free(buffer *b);
/* Writes all of it to a file. A failure ends the program. */
void buffer_save(const buffer *b, const char *path);

#endif
