/* set.h - kinds whose builds take each key once. */
#ifndef TAMIS_CORE_SET_H
#define TAMIS_CORE_SET_H

#include "filter.h"

/* Builds add in the order of hashes with this salt. They tell nothing about places: a table that is
 * filled from one end to the other is full earlier than one that fills everywhere. */
static inline uint64_t tamis__set_salt(uint64_t salt)
{
    return ~salt;
}

/* Adds the keys of these hashes, which it spoils. */
tamis_status tamis__set_add(tamis *f, uint64_t *hashes, size_t n);
tamis_status tamis__set_build(tamis *f, const uint64_t *keys, size_t n);

#endif
