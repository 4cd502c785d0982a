/* disk.h - changes to filters that are larger than memory. */
#ifndef TAMIS_CLI_DISK_H
#define TAMIS_CLI_DISK_H

#include "args.h"

enum { OPTION_DISK_MEMORY = OPTION_OWN };

extern const option_row disk_options[];

/* Adds or removes the keys of all inputs, in at most `memory` bytes. Returns how many keys there
 * were. */
uint64_t disk_add(const char *path, uint64_t memory, source *s);
uint64_t disk_remove(const char *path, uint64_t memory, source *s);

#endif
