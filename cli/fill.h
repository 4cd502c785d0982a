/* fill.h - keys into filters. */
#ifndef TAMIS_CLI_FILL_H
#define TAMIS_CLI_FILL_H

#include "buffer.h"
#include "pipeline.h"

/* Adds the keys of all inputs; `path` is for messages. Returns how many lines were read. */
uint64_t fill_from_source(tamis *f, const char *path, source *s);
/* Hashes the keys of all inputs and keeps them, in input order. */
void fill_collect(buffer *keys, source *s);
/* A filter of these keys. */
tamis *fill_from_keys(const tamis_plan *plan, const char *path, const buffer *keys);

#endif
