/* load_keys.h - keys into filters. */
#ifndef TAMIS_CLI_FILTERS_LOAD_KEYS_H
#define TAMIS_CLI_FILTERS_LOAD_KEYS_H

#include "files/pipeline.h"
#include "tamis_builder.h"

/* Adds the keys of all inputs, or only those that are not found; puts them, if the format has
 * values. `path` is for messages. Returns how many lines were read. */
uint64_t load_keys(tamis *f, const char *path, source *s, bool absent_only);
/* Gives the keys of all inputs to a builder, and their values if the format has any. Values may
 * have value_bits bits at most, 1 to 64. Returns how many keys there were. */
uint64_t load_builder(tamis_builder *b, const char *path, source *s, uint32_t value_bits);
/* The same for keys that must not be found. */
uint64_t load_excluded(tamis_builder *b, const char *path, source *s);

#endif
