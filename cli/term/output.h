/* output.h - standard output. Every failed write is reported. */
#ifndef TAMIS_CLI_TERM_OUTPUT_H
#define TAMIS_CLI_TERM_OUTPUT_H

#include <stdbool.h>

#include "buffer.h"

/* Writes all of it to a file. False: errno tells why not. */
bool write_all(int fd, const void *bytes, size_t size);
/* Writes all of it, without stdio. */
void output_write(const void *bytes, size_t size);
/* Writes what has gathered in the buffer, and empties it: once it is 64 KiB, or at the end. */
void output_gathered(buffer *out, bool is_end);
/* Appends text of another machine: cleaned if standard output is a terminal, but for its tabs. */
void output_put_text(buffer *out, const char *text, size_t size);
/* Call last: flushes and closes. Ends the program if something could not be written. */
void output_end(void);

#endif
