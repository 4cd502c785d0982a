/* lock.h - one writer at a time. */
#ifndef TAMIS_CLI_FILES_LOCK_H
#define TAMIS_CLI_FILES_LOCK_H

/* Waits until no other tamis changes the filter at `path`, and locks it until the program ends, or
 * until the lock is released. */
int lock_filter(const char *path);
/* The same, if there is a file at `path`; else -1. */
int lock_output(const char *path);
void lock_release(int lock); /* -1 is fine */

#endif
