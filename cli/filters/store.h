/* store.h - filters in files. A failure is reported and ends the program. */
#ifndef TAMIS_CLI_FILTERS_STORE_H
#define TAMIS_CLI_FILTERS_STORE_H

#include <limits.h>

#include "tamis_builder.h"

/* Where the library finds a filter, and what messages call it. */
typedef struct stored {
    char path[PATH_MAX];
    const char *name;
} stored;

/* COLLECTION:NAME is a filter of a collection, here and below. A filter in a file is left there.
 * One that comes through a pipe, or "-", standard input, is read and kept in memory, no more of it
 * than its header announces. */
stored store_open(const char *path);
/* Whether a damaged file is shorter or longer than its header says, which is itself whole. */
bool store_has_other_size(const stored *from, uint64_t *is, uint64_t *should);
/* Says what went wrong with it, and returns the exit code for it. */
int store_report(const char *verb, const stored *from, tamis_status status);

/* These take a filter from a pipe too. */
tamis *store_load(const char *path);
/* Also locks the file until the program ends, and waits for other programs that have locked it. */
tamis *store_load_locked(const char *path);
/* Maps it. If someone shortens the file meanwhile, the program ends with a message. */
tamis *store_map(const char *path);
/* The same, and checks all of it first. */
tamis *store_map_whole(const char *path);
void store_catch_truncation(void);
/* Ends the program if no filter can be saved there: called before the work begins. */
void store_check_target(const char *path);
/* The same, and other runs that write it wait until this one ends. */
void store_lock_target(const char *path);
/* The same if the file is one of the inputs, a list that ends with NULL, of this command: a typing
 * error must not cost a list of keys. */
void store_spare_inputs(const char *command, const char *path, char *const *inputs);
/* No signal from the keyboard or from kill stops it half-way. "-" is standard output, for this and
 * the next. */
void store_save(const tamis *f, const char *path);
/* Finishes into a file and tells its plan. A signal from the keyboard or from kill stops it, and
 * leaves nothing. */
tamis_status store_build(tamis_builder *b, const char *path, tamis_plan *plan);
/* For a builder that store_build() finishes; `ctx` points to how many keys there are, as uint64_t.
 */
tamis_progress store_progress;

bool store_is_folder(const char *path);
/* Calls `take` for each file of a folder that ends with ".tamis", in order, with its name without
 * that. Returns how many there are. */
size_t store_each(const char *folder, void (*take)(void *ctx, const char *name), void *ctx);

/* It has more keys than planned and its rate is above the planned one. */
bool store_is_crowded(const tamis_info *info);
void store_warn_if_crowded(const tamis *f, const char *path);

#endif
