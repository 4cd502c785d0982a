/* load_keys.h - keys into filters. */
#ifndef TAMIS_CLI_FILTERS_LOAD_KEYS_H
#define TAMIS_CLI_FILTERS_LOAD_KEYS_H

#include "files/pipeline.h"
#include "tamis_builder.h"

/* Adds the keys of all inputs, or only those that are not found; puts them, if the format has
 * values. `path` is for messages. Returns how many lines were read. */
uint64_t load_keys(tamis *f, const char *path, source *s, bool absent_only);

/* What a builder makes, and where. Values may have value_bits bits at most, 1 to 64. */
typedef struct load_target {
    tamis_builder *builder;
    const char *path;
    tamis_kind kind;
    const tamis_spec *spec;
    uint32_t value_bits;
} load_target;

/* Gives the keys of all inputs to a builder, and their values if the format has any. Returns how
 * many keys there were. */
uint64_t load_builder(const load_target *to, source *s);
/* The same for keys that must not be found. */
uint64_t load_excluded(const load_target *to, source *s);

/* Says that a filter planned for so many keys has no room, and what to do. `is_made`: it is there,
 * and can be resized. */
_Noreturn void refuse_full(const char *path, tamis_kind kind, uint64_t planned, bool grows,
                           bool is_made);

#endif
