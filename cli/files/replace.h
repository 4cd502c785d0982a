/* replace.h - a file that is written beside another and takes its place when it is whole. A program
 * that is killed leaves the old file as it was. A failure is reported and ends the program. */
#ifndef TAMIS_CLI_FILES_REPLACE_H
#define TAMIS_CLI_FILES_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct replacement replacement;

/* "-" is standard output, which is written at once. A new file has the mode of the old one. */
replacement *replace_begin(const char *path);
/* As a tamis_sink, for a replacement. */
bool replace_write(void *r, const void *bytes, size_t size);
/* What was written so far can be read from here; -1 of standard output. */
int replace_fd(replacement *r);
/* On the disk, and under its name. */
void replace_end(replacement *r);
/* Under its name; it will be on the disk when the system likes, or the caller calls syncfs(). */
void replace_end_soon(replacement *r);
/* As if it had not begun. */
void replace_forget(replacement *r);

#endif
