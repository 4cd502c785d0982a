/* fill.h - keys into filters. */
#ifndef TAMIS_CLI_FILL_H
#define TAMIS_CLI_FILL_H

#include "pipeline.h"
#include "tamis_builder.h"

/* Adds the keys of all inputs, or only those not found; `path` is for messages. Returns how many
 * lines were read. */
uint64_t fill_from_source(tamis *f, const char *path, source *s, bool absent_only);
/* Gives the keys of all inputs to a builder, with their values if the format has some: those have
 * at most that many bits. Returns how many there were. */
uint64_t fill_builder(tamis_builder *b, const char *path, const source *s, uint32_t value_bits);
/* Gives it those that keys are to be told from. */
uint64_t fill_others(tamis_builder *b, const char *path, const source *s);

#endif
