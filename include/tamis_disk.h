/* tamis_disk.h - filters larger than memory. */
#ifndef TAMIS_DISK_H
#define TAMIS_DISK_H

#include "tamis_builder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter in a file. Keys that were added and removed since it was last written wait in memory.
 * When there are many, or at a flush, they are merged into a new file in one pass, which takes the
 * name of the old one: whatever happens, the file is whole, and has all that came before the last
 * flush that succeeded. A query reads one page of the file, in a few cases two. Nobody may shorten
 * the file meanwhile, and only one program at a time may have it open so: TAMIS_BUSY. A disk filter
 * is for one thread. TAMIS_CAN_RESIZE kinds only, without TAMIS_CAN_ADAPT. */
typedef struct tamis_disk tamis_disk;

/* Made by TAMIS_DISK_OPTIONS(). A field that is zero asks for nothing. */
typedef struct tamis_disk_options {
    size_t                 size;     /* of this struct: later versions may add fields */
    uint64_t               memory;   /* bytes for what waits: 64 MiB if 0, and at least 64 KiB */
    tamis_progress        *progress; /* of merging; false: TAMIS_STOPPED, the file is as it was */
    void                  *ctx;      /* for progress */
    const tamis_allocator *alloc;    /* of what waits; NULL: the C library */
} tamis_disk_options;

/* An initializer: tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = 1 << 20); */
#define TAMIS_DISK_OPTIONS(...)                         \
    {                                                   \
        .size = sizeof(tamis_disk_options), __VA_ARGS__ \
    }

/* The filter that tamis_save() or a builder wrote there. `o` may be NULL. */
TAMIS_API tamis_status tamis_disk_open(tamis_disk **out, const char *path,
                                       const tamis_disk_options *o) TAMIS_CHECKED;
/* TAMIS_FULL: the filter has no more room, and does not grow, or not for such keys: see
 * tamis_add(). *added tells how many went in. */
TAMIS_API tamis_status tamis_disk_add_many(tamis_disk *d, size_t *added, const uint64_t *keys,
                                           size_t n) TAMIS_CHECKED;
/* Only remove what was added. Keys that are not in the file are ignored when it is merged. After a
 * failure, *removed tells how many are removed: the first ones, and no other. */
TAMIS_API tamis_status tamis_disk_remove_keys(tamis_disk *d, size_t *removed, const uint64_t *keys,
                                              size_t n) TAMIS_CHECKED;
/* The same for programs that were written before it: a failure does not tell where it stopped. */
TAMIS_API tamis_status tamis_disk_remove_many(tamis_disk *d, const uint64_t *keys,
                                              size_t n) TAMIS_CHECKED;
/* As tamis_has_many() and tamis_count_many(), with all that waits. */
TAMIS_API size_t tamis_disk_has_many(const tamis_disk *d, uint64_t *hits, const uint64_t *keys,
                                     size_t n);
TAMIS_API void   tamis_disk_count_many(const tamis_disk *d, uint64_t *counts, const uint64_t *keys,
                                       size_t n);
/* The filter as it is in the file, without what waits. It lives until the next change. */
TAMIS_API const tamis *tamis_disk_file(const tamis_disk *d);
/* After a failure everything waits as before, and it may be tried again. TAMIS_UNSYNCED tells of a
 * new file, as in tamis_save(), or that one written since the last flush was not synced either: the
 * next flush writes it once more. */
TAMIS_API tamis_status tamis_disk_flush(tamis_disk *d) TAMIS_CHECKED;
/* Does not flush. NULL is fine. */
TAMIS_API void tamis_disk_free(tamis_disk *d);

#ifdef __cplusplus
}
#endif

#endif
