/* tamis_pair.h - a filter that counts, and the plain filter of its keys for others to read. */
#ifndef TAMIS_PAIR_H
#define TAMIS_PAIR_H

#include "tamis_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For sets that change now and then and are asked all the time: a filter that counts, in slow
 * memory, and the plain filter that tamis_convert() makes of it, in fast memory, kept in step. One
 * thread at a time adds and removes keys. Meanwhile others may ask the plain filter, by tamis_has()
 * and tamis_has_many(). A key present throughout a lookup is always found. A removed key is found
 * no more often than one that was never added. */
typedef struct tamis_pair tamis_pair;

/* The two have an allocator each: that of the counters may give memory that is a file, or far.
 * Either may be NULL. TAMIS_CANNOT if there is no plain filter of that kind. */
TAMIS_API tamis_status tamis_pair_new(tamis_pair **out, const tamis_plan *plan,
                                      const tamis_allocator *slow,
                                      const tamis_allocator *fast) TAMIS_CHECKED;
/* With the filter that tamis_pair_save() or tamis_save() wrote there. */
TAMIS_API tamis_status tamis_pair_open(tamis_pair **out, const char *path,
                                       const tamis_allocator *slow,
                                       const tamis_allocator *fast) TAMIS_CHECKED;
/* As tamis_add_many() and tamis_remove_many(). */
TAMIS_API tamis_status tamis_pair_add_many(tamis_pair *p, size_t *added, const uint64_t *keys,
                                           size_t n) TAMIS_CHECKED;
TAMIS_API tamis_status tamis_pair_remove_many(tamis_pair *p, size_t *removed, const uint64_t *keys,
                                              size_t n) TAMIS_CHECKED;
/* For readers; it lives as long as the pair, at one address. */
TAMIS_API const tamis *tamis_pair_plain(const tamis_pair *p);
/* For counts, while no key comes or goes. */
TAMIS_API const tamis *tamis_pair_counting(const tamis_pair *p);
/* Saves the one that counts, while no key comes or goes; tamis_save() saves the plain one. */
TAMIS_API tamis_status tamis_pair_save(const tamis_pair *p, const char *path) TAMIS_CHECKED;
TAMIS_API void         tamis_pair_free(tamis_pair *p); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
