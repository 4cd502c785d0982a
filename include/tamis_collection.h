/* tamis_collection.h - many named filters in one file.
 *
 * A collection is mapped as a whole and opened in no time, however many filters it holds: a filter
 * is found by its name in one page of the directory, and its own pages are read when it is asked.
 * docs/collections.md tells what it is good for, docs/format.md what is in the file. */
#ifndef TAMIS_COLLECTION_H
#define TAMIS_COLLECTION_H

#include "tamis_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Readers ----------------------------------------------------------- */

typedef struct tamis_collection tamis_collection;

/* Names are UTF-8 without control characters. */
enum { TAMIS_NAME_MAX = 255 }; /* bytes */

/* Borrows the file's pages, as tamis_map() does. It stays what it is now, whatever editors do to
 * the file or its name. Reads 4 KiB. Calls on a `const tamis_collection *` may run at the same
 * time. */
TAMIS_API tamis_status tamis_collection_open(tamis_collection **out, const char *path,
                                             const tamis_allocator *a) TAMIS_CHECKED;
/* Filters that were got from it must be freed before. NULL is fine. */
TAMIS_API void tamis_collection_free(tamis_collection *c);

/* The filter of that name, as tamis_image_view() gives it: read-only, its header checked, and the
 * rest by tamis_verify(). Reads a page of the directory. TAMIS_ABSENT if there is none of that
 * name, TAMIS_CORRUPT if it, or that page, is damaged; others are not affected. */
TAMIS_API tamis_status tamis_collection_get(const tamis_collection *c, tamis **out,
                                            const char            *name,
                                            const tamis_allocator *a) TAMIS_CHECKED;

/* Where the image of that name is in the file, for who wants its bytes: with the same answers. */
TAMIS_API tamis_status tamis_collection_find(const tamis_collection *c, uint64_t *offset,
                                             uint64_t *size, const char *name) TAMIS_CHECKED;

typedef struct tamis_collection_info {
    uint64_t filters;
    uint64_t bytes; /* of the file */
    uint64_t used;  /* of these, by filters and the directory; compacting frees the others */
} tamis_collection_info;

/* Reads the directory. TAMIS_CORRUPT: a page of it is damaged, or filters overlap. */
TAMIS_API tamis_status tamis_collection_get_info(const tamis_collection *c,
                                                 tamis_collection_info  *info) TAMIS_CHECKED;

/* What is called for each filter: its name, and where its image is in the file. False ends the
 * calls. */
typedef bool tamis_visit_name(void *ctx, const char *name, uint64_t offset, uint64_t size);
/* In an order that the names decide. TAMIS_CORRUPT, after all others, if a page of the directory is
 * damaged. */
TAMIS_API tamis_status tamis_collection_list(const tamis_collection *c, tamis_visit_name *visit,
                                             void *ctx) TAMIS_CHECKED;

/* As tamis_report, with the name of the filter and places in the file; the name is NULL where the
 * fault is in the header or the directory. */
typedef void tamis_report_name(void *ctx, const char *name, const char *why, uint64_t offset,
                               uint64_t size);
/* Checks header, directory and every filter: TAMIS_CORRUPT if there is a fault. */
TAMIS_API tamis_status tamis_collection_verify(const tamis_collection *c, tamis_report_name *report,
                                               void *ctx) TAMIS_CHECKED;

/* ---- Editors ----------------------------------------------------------- */

/* Changes a collection, which readers see all at once, when they open it after tamis_editor_save().
 * Whatever stops it before, a crash or a full disk, leaves the collection as it was. Changes are
 * appended to the file; what they replace stays in it, for those who have it open, until it is
 * compacted: written anew, without what nobody finds any more, and renamed. The first keyed filter
 * compacts it, too, to a file that is private: who has the old one open sees no secret. */
typedef struct tamis_editor tamis_editor;

enum { TAMIS_EDIT_COMPACT = 1 }; /* write all of it to a new file */

/* A collection that does not exist is made by tamis_editor_save(). TAMIS_BUSY if another editor has
 * it. Takes memory for all names. */
TAMIS_API tamis_status tamis_editor_open(tamis_editor **out, const char *path, unsigned flags,
                                         const tamis_allocator *a) TAMIS_CHECKED;
/* Puts a filter in, in place of one of the same name. TAMIS_RANGE if the name is none. */
TAMIS_API tamis_status tamis_editor_put(tamis_editor *e, const char *name,
                                        const tamis *f) TAMIS_CHECKED;
/* TAMIS_ABSENT if there is none of that name. */
TAMIS_API tamis_status tamis_editor_remove(tamis_editor *e, const char *name) TAMIS_CHECKED;
/* Once; nothing but tamis_editor_free() comes after it. TAMIS_BUSY: another file has got the name
 * meanwhile, and stays. */
TAMIS_API tamis_status tamis_editor_save(tamis_editor *e) TAMIS_CHECKED;
/* Without a save before, nothing has changed. NULL is fine. */
TAMIS_API void tamis_editor_free(tamis_editor *e);

#ifdef __cplusplus
}
#endif

#endif
