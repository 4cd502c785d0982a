/* store.h - filters in files. A failure is reported and ends the program. */
#ifndef TAMIS_CLI_STORE_H
#define TAMIS_CLI_STORE_H

#include "tamis_builder.h"

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
/* No signal from the keyboard or from kill stops it half-way. */
void store_save(const tamis *f, const char *path);
/* Finishes into a file and tells its plan. A signal from the keyboard or from kill stops it, and
 * leaves nothing. */
tamis_status store_build(tamis_builder *b, const char *path, tamis_plan *plan);
/* For a builder that store_build() finishes; `ctx` points to how many keys there are, as uint64_t.
 */
tamis_progress store_progress;

/* It has more keys than planned and its rate is above the planned one. */
bool store_is_crowded(const tamis_info *info);
void store_warn_if_crowded(const tamis *f, const char *path);

#endif
