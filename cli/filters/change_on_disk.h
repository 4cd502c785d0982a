/* change_on_disk.h - changes to filters that are larger than memory. */
#ifndef TAMIS_CLI_FILTERS_CHANGE_ON_DISK_H
#define TAMIS_CLI_FILTERS_CHANGE_ON_DISK_H

#include "args/args.h"

extern const option_row disk_options[]; /* for a uint64_t: --memory */

/* Adds or removes the keys of all inputs, in at most `memory` bytes. Returns how many keys there
 * were. */
uint64_t disk_add(const char *path, uint64_t memory, source *s);
uint64_t disk_remove(const char *path, uint64_t memory, source *s);

#endif
