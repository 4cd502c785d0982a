/* robin_hood.h - the table of hashset and hashmap: hashes of keys in Robin Hood order, where
 * plan.width is 128 each with a value. */
#ifndef TAMIS_EXACT_ROBIN_HOOD_H
#define TAMIS_EXACT_ROBIN_HOOD_H

#include "filter.h"

/* Of payload; 0 if this is no geometry of such a table. The width is for the kind to check. */
uint64_t tamis__robin_hood_bytes(const tamis_plan *p);
/* Room for that many keys; the width is 64, or 128 with values. */
tamis_status tamis__robin_hood_plan(tamis_plan *p, uint64_t keys, uint32_t width);

/* What is in the tables of the two kinds, or makes up what is. */
bool tamis__robin_hood_has(const tamis *f, uint64_t key);
bool tamis__robin_hood_get(const tamis *f, uint64_t *value, uint64_t key);
tamis_status tamis__robin_hood_put(tamis *f, uint64_t key, uint64_t value);
tamis_status tamis__robin_hood_remove(tamis *f, uint64_t key, uint64_t times);
void tamis__robin_hood_touch(const tamis *f, uint64_t key);
size_t tamis__robin_hood_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);
/* Puts all that g holds into f, whatever their sizes. */
tamis_status tamis__robin_hood_merge(tamis *f, const tamis *g);
tamis_status tamis__robin_hood_reduce(tamis *f, const tamis *g, tamis_operation op);
bool tamis__robin_hood_next(tamis_cursor *c);
const char *tamis__robin_hood_verify(const tamis *f);
void tamis__robin_hood_cells(const tamis *f, tamis_telling *t);
bool tamis__robin_hood_explain(const tamis *f, uint64_t key, tamis_telling *t);

/* What the tables of the two kinds have in common. */
#define ROBIN_HOOD_OPS                                                        \
    .verify = tamis__robin_hood_verify, .has = tamis__robin_hood_has,         \
    .remove = tamis__robin_hood_remove, .touch = tamis__robin_hood_touch,     \
    .has_many = tamis__robin_hood_has_many, .merge = tamis__robin_hood_merge, \
    .reduce = tamis__robin_hood_reduce, .next = tamis__robin_hood_next,       \
    .cells = tamis__robin_hood_cells, .explain = tamis__robin_hood_explain

#endif
