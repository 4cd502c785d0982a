/* tamis_builder.h - filters of sets of unknown size, or larger than memory. */
#ifndef TAMIS_BUILDER_H
#define TAMIS_BUILDER_H

#include "tamis_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As tamis_build(), on at most that many threads, 64 at most: the same bytes. The keys of
 * static kinds are hashed and dealt out by all threads. Of several parts, of at most 2^24 keys,
 * each is solved by one thread, in memory of its own; a single part by two threads in the fuse
 * kinds, by all in ribbon, and by the caller's thread in others. Kinds that add are built by that
 * alone, and it alone calls `a`. */
TAMIS_API tamis_status tamis_build_threads(tamis **out, const tamis_plan *plan,
                                           const uint64_t *keys, size_t n, unsigned threads,
                                           const tamis_allocator *a) TAMIS_CHECKED;

/* Keys come in pieces, from any number of threads. Keys that do not fit in memory wait in a file
 * without a name, 8 bytes each, that is gone with the program whatever ends it. */
typedef struct tamis_builder tamis_builder;

/* How much is done, of how much in all. Neither falls until the work ends, and both rise if some of
 * it must be done again. False stops the work: TAMIS_STOPPED. */
typedef bool tamis_progress(void *ctx, uint64_t done, uint64_t total);

/* Made by TAMIS_BUILD_OPTIONS(). A field that is zero asks for nothing. */
typedef struct tamis_build_options {
    size_t                 size;     /* of this struct: later versions may add fields */
    uint64_t               memory;   /* bytes for everything, the finished filter too */
    unsigned               threads;  /* to finish with, and that add at a time; 0 is 1 */
    const char            *dir;      /* of that file; NULL: $TMPDIR or, without it, /var/tmp */
    tamis_progress        *progress; /* called by one thread at a time */
    void                  *ctx;      /* for progress */
    const tamis_allocator *alloc;    /* of the builder and the filter; NULL: the C library */
} tamis_build_options;

/* An initializer: tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = 2); */
#define TAMIS_BUILD_OPTIONS(...)                         \
    {                                                    \
        .size = sizeof(tamis_build_options), __VA_ARGS__ \
    }

/* Kinds that add are planned for spec.keys or, if that is 0, for the distinct keys that come;
 * TAMIS_QUOTIENT and TAMIS_ALEPH, which keep every copy of a key, for all that come, and TAMIS_CQF
 * for as many more as counts take room. Others are planned for the distinct keys, or for spec.keys
 * if that is more. `o` may be NULL.
 *
 * TAMIS_NOMEM: o.memory is too little. The least is 4 MiB, and
 *  kinds that add       the filter and 1 MiB
 *  TAMIS_CAN_RESIZE     8/7 of the filter and 2 MiB
 *  the cuckoo family    the same, and 10 bytes for each key of the largest of 256 groups
 *  static kinds         8/7 of what it takes to solve a part of at most 2^24 keys
 * (docs/architecture.md), however often keys are repeated. While a filter of a TAMIS_CAN_RESIZE
 * kind is saved, no more than one 256th of the keys is in memory. */
TAMIS_API tamis_status tamis_builder_new(tamis_builder **out, tamis_kind kind,
                                         const tamis_spec          *spec,
                                         const tamis_build_options *o) TAMIS_CHECKED;
/* May run at the same time as itself. After a failure, only tamis_builder_free() is left. */
TAMIS_API tamis_status tamis_builder_add_many(tamis_builder *b, const uint64_t *keys,
                                              size_t n) TAMIS_CHECKED;
/* For TAMIS_CAN_GET kinds, which take keys with their values only: 16 bytes a key in the file.
 * Without spec.value_bits, values get as many bits as the largest needs, at most 32. TAMIS_RANGE:
 * a value has more, and none was taken. A key with two values is found when the filter is finished.
 * In TAMIS_CAN_PUT kinds, values have 64 bits and the last one of a key counts. */
TAMIS_API tamis_status tamis_builder_add_map(tamis_builder *b, const uint64_t *keys,
                                             const uint64_t *values, size_t n) TAMIS_CHECKED;
/* For TAMIS_CAN_EXCLUDE and TAMIS_CAN_ADAPT kinds: the keys to be told from those of
 * tamis_builder_add_many(). The plan is for as many as come, or for spec.universe if that is more.
 */
TAMIS_API tamis_status tamis_builder_add_excluded(tamis_builder *b, const uint64_t *excluded,
                                                  size_t n) TAMIS_CHECKED;
/* The filter that tamis_build() would make, byte for byte; of TAMIS_CUCKOO, one with the same
 * answers. After a failure more keys may come, and finish or save be tried again. After success,
 * only tamis_builder_free() is left. */
TAMIS_API tamis_status tamis_builder_finish(tamis **out, tamis_builder *b) TAMIS_CHECKED;
/* As tamis_save() of that filter. *plan, unless it is NULL, is what was planned for it. Filters of
 * TAMIS_CAN_RESIZE kinds, and of those that neither add nor exclude, are never in memory as a
 * whole. */
TAMIS_API tamis_status tamis_builder_save(tamis_builder *b, const char *path,
                                          tamis_plan *plan) TAMIS_CHECKED;
TAMIS_API void         tamis_builder_free(tamis_builder *b); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
