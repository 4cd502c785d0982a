/* lock.h - one writer at a time. */
#ifndef TAMIS_CLI_LOCK_H
#define TAMIS_CLI_LOCK_H

/* Waits until no other tamis is changing the filter at `path`, and keeps them off until the program
 * ends. */
void lock_filter(const char *path);
/* Likewise, if there is a filter at `path`: it is about to be replaced by what is made of it. */
void lock_output(const char *path);

#endif
