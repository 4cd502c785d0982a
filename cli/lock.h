/* lock.h - one writer at a time. */
#ifndef TAMIS_CLI_LOCK_H
#define TAMIS_CLI_LOCK_H

/* Waits until no other tamis changes the filter at `path`, and locks it until the program ends. */
void lock_filter(const char *path);
/* The same, if there is a file at `path`. */
void lock_output(const char *path);

#endif
