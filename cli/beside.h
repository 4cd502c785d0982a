/* beside.h - filters from keys and what stands beside them: values, or the rest of a universe. */
#ifndef TAMIS_CLI_BESIDE_H
#define TAMIS_CLI_BESIDE_H

#include "pipeline.h"

/* Both plan for the keys that come, or for spec.keys if that is more; `path` is for messages. */

/* The source has a value field. Without spec.value_bits, there are as many as the largest needs. */
tamis *beside_values(tamis_kind kind, const tamis_spec *spec, const source *s, const char *path);
/* `universe` names the file of all keys, in the format of the source. */
tamis *beside_universe(tamis_kind kind, const tamis_spec *spec, const source *s, char *universe,
                       const char *path);

#endif
