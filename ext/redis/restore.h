/* restore.h - a value as a RESTORE command, for the file of commands: types whose commands cannot
 * say all that is in a value are rewritten so. */
#ifndef TAMIS_REDIS_RESTORE_H
#define TAMIS_REDIS_RESTORE_H

#include "redis_api.h"

/* Writes the value of a key as DUMP would; or says in the log that it could not. `name` and
 * `encoding` are those that the type was made with. */
void restore_emit(redis_io *io, redis_string *key, const redis_type *type, const char name[9],
                  int encoding, void *value);

#endif
