/* tamis_values.h - keys with values that may change: maps that are put to, key by key.
 *
 * tamis_get() and tamis_get_many() of tamis.h tell values, tamis_build_map() makes a map of many
 * pairs at once, and tamis_remove() forgets a key with its value. info.count of tamis_get_info() is
 * the number of keys: 0, and the map is empty. */
#ifndef TAMIS_VALUES_H
#define TAMIS_VALUES_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The key has this value from now on, whatever it had before. The map makes room for a new key by
 * itself; TAMIS_FULL: there is no larger size. TAMIS_CAN_PUT kinds only. */
TAMIS_API tamis_status tamis_put(tamis *f, uint64_t key, uint64_t value) TAMIS_CHECKED;
/* In order, so that the last value of a repeated key is its value; *done tells how many pairs went
 * in, also on failure. */
TAMIS_API tamis_status tamis_put_many(tamis *f, size_t *done, const uint64_t *keys,
                                      const uint64_t *values, size_t n) TAMIS_CHECKED;

/* What is called for each key and its value; false ends the calls. */
typedef bool tamis_visit_value(void *ctx, uint64_t key, uint64_t value);
/* As tamis_list(), with values: 0 for each key in kinds without TAMIS_CAN_GET. The order is that of
 * the table, and of no use. */
TAMIS_API tamis_status tamis_list_values(const tamis *f, tamis_visit_value *visit,
                                         void *ctx) TAMIS_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
