/* tamis_shared.h - one filter for any number of threads, which query and change it.
 *
 * The keys are cut by their hash into parts, and each part has a filter and a lock of its own. So
 * threads seldom meet, and a part that grows stops nobody in the others. */
#ifndef TAMIS_SHARED_H
#define TAMIS_SHARED_H

#include "tamis_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All calls but tamis_shared_free() may run at the same time, from any number of threads. Once a
 * change has returned, every thread sees it. docs/c.md has a table of what may run at the
 * same time with other headers.
 *
 * Lookups share the lock of a part, and a change has it alone, each for one key. Waiting is
 * bounded: who has to wait joins a queue, and some 256 calls that come later may pass the first of
 * it, then none. The longest time that a call holds the lock is while the part grows, as long as
 * copying it takes, or while it is saved or its numbers are read. */
typedef struct tamis_shared tamis_shared;

/* An empty filter of any TAMIS_CAN_ADD kind, which grows if spec.can asks for it. spec.keys,
 * spec.universe and spec.max_bytes are of all parts together. Each part has room for its share and
 * for what chance adds to it: that any part is full with spec.keys distinct keys in has a
 * probability below 1e-9. The room for that is 12 % where a part has 4096 keys and 3 %
 * where it has 65,536. A sketch with spec.error takes its room in each part.
 *
 * `threads` says how many will use it at a time; 0 is 16. There are at least four parts for each
 * thread, at most 1024 in all, and fewer where they would have less than 4096 keys each and do not
 * grow.
 *
 * `a` may be NULL; else it is called by several threads at a time. TAMIS_CANNOT: the kind does not
 * add, or spec has bits, quotient_bits or TAMIS_CAN_ASK_KEYS, which are for single filters. */
TAMIS_API tamis_status tamis_shared_new(tamis_shared **out, tamis_kind kind, const tamis_spec *spec,
                                        unsigned threads, const tamis_allocator *a) TAMIS_CHECKED;
/* What tamis_shared_save() wrote there, checked and copied. TAMIS_ABSENT if the collection has no
 * such parts. */
TAMIS_API tamis_status tamis_shared_load(tamis_shared **out, const char *path,
                                         const tamis_allocator *a) TAMIS_CHECKED;
/* Once no other call runs. NULL is fine. */
TAMIS_API void tamis_shared_free(tamis_shared *s);

/* Bytes to the key of this filter; see tamis_hasher_key(). */
TAMIS_API uint64_t tamis_shared_key(const tamis_shared *s, const void *data, size_t size);

/* As tamis_has(), tamis_count(), tamis_add() and tamis_remove(). */
TAMIS_API bool         tamis_shared_has(const tamis_shared *s, uint64_t key);
TAMIS_API uint64_t     tamis_shared_count(const tamis_shared *s, uint64_t key);
TAMIS_API tamis_status tamis_shared_add(tamis_shared *s, uint64_t key) TAMIS_CHECKED;
TAMIS_API tamis_status tamis_shared_remove(tamis_shared *s, uint64_t key) TAMIS_CHECKED;

/* As tamis_has_many(), but no faster than one by one. Other threads may change the filter between
 * the first key and the last. */
TAMIS_API size_t tamis_shared_has_many(const tamis_shared *s, uint64_t *hits, const uint64_t *keys,
                                       size_t n);
/* As tamis_add_many(): in order, but keys of other threads may come between. */
TAMIS_API tamis_status tamis_shared_add_many(tamis_shared *s, size_t *added, const uint64_t *keys,
                                             size_t n) TAMIS_CHECKED;

/* As tamis_get_info(), of all parts together, each as it was at some moment during the call. The
 * plan is that of a part, but for capacity, bytes and slots; the capacity is what all hold with the
 * certainty above. */
TAMIS_API void tamis_shared_get_info(const tamis_shared *s, tamis_info *info);
/* Saves the parts as filters of a collection, "part-0-of-64" and so on, as tamis_editor_save()
 * does. Other filters of a collection that was there stay. Each part is saved as it was at some
 * moment between call and return, not all at the same one. So a key that was in throughout is in
 * the file, and one that was never in is not; of keys that came or went meanwhile, the file may
 * have a later one and lack an earlier one. Takes memory for a copy of one part, and a change of
 * that part waits for the copy, never for the disk. */
TAMIS_API tamis_status tamis_shared_save(const tamis_shared *s, const char *path) TAMIS_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
