/* tamis_file.h - filters in files: save, load, map. */
#ifndef TAMIS_FILE_H
#define TAMIS_FILE_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Written beside, synced, then renamed: whatever happens, `path` names the old file or the new
 * one, whole. Symbolic links are followed and the mode is kept, but a keyed filter is private
 * unless it replaces a keyed one. If the group cannot be kept, the other group may do no more than
 * everybody may. Only regular files are replaced. */
TAMIS_API tamis_status tamis_save(const tamis *f, const char *path) TAMIS_CHECKED;
/* TAMIS_BUSY for a dirty file if any descriptor, the caller's own too, has an exclusive flock() on
 * it; TAMIS_DIRTY if none has. */
TAMIS_API tamis_status tamis_load(tamis **out, const char *path,
                                  const tamis_allocator *a) TAMIS_CHECKED;

/* Reads `size` bytes of the image that tamis_save() would write, from `offset` on: for hosts that
 * send an image in parts, at different times. `sums` has a number for each MiB of plan.bytes that
 * was begun, all 0 at first. The first part that has the header or checksums in it reads the whole
 * payload, and keeps its checksums there; every other reads what it copies. After a change of f set
 * them to 0 and begin again: parts of before and after are a damaged image. TAMIS_RANGE beyond the
 * end of the image, tamis_image_size(). TAMIS_CANNOT for views and maps, whose image is there
 * already. */
TAMIS_API tamis_status tamis_image_part(const tamis *f, uint64_t *sums, void *buf, size_t size,
                                        uint64_t offset) TAMIS_CHECKED;

/* A line of text for people, such as where the keys come from, and when it was written, in seconds
 * since 1970. It is kept in images and in all that is made of the filter; tamis_get_info() tells
 * it. An empty text removes it. TAMIS_RANGE unless it is UTF-8 without control characters, in at
 * most TAMIS_NOTE_MAX bytes. TAMIS_READONLY for views and for maps, writable ones too, whose files
 * have their sizes. */
TAMIS_API tamis_status tamis_set_note(tamis *f, const char *text, uint64_t time) TAMIS_CHECKED;

enum {
    TAMIS_MAP_WRITE = 1,   /* adds go to the file, which is verified; needs
                            * TAMIS_CAN_READ_WHILE_ADD */
    TAMIS_MAP_RECOVER = 2, /* accept and re-seal a file whose writer stopped half-way */
};
/* Borrows the file's pages; nobody may shorten the file meanwhile. In a writable map, the first add
 * marks the file dirty, and tamis_sync() makes it whole again: keys added before the last sync
 * survive whatever happens, and a crash after it is noticed by TAMIS_DIRTY. tamis_save() refuses
 * the file of a writable map, which has tamis_sync(). */
TAMIS_API tamis_status tamis_map(tamis **out, const char *path, unsigned flags,
                                 const tamis_allocator *a) TAMIS_CHECKED;
/* Does nothing but for writable maps. */
TAMIS_API tamis_status tamis_sync(tamis *f) TAMIS_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
