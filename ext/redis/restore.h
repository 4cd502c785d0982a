/* restore.h - a value as a RESTORE command, for the file of commands: types whose commands cannot
 * say all that is in a value are rewritten so. */
#ifndef TAMIS_REDIS_RESTORE_H
#define TAMIS_REDIS_RESTORE_H

#include "value.h"

/* Writes the value of a key as DUMP would; or says in the log that it could not. It is the method
 * `rewrite` of such a type. */
void restore_emit(redis_io *io, redis_string *key, void *v);

#endif
