/* draft.h - a filter that is made in its file, from the lowest fingerprint to the highest. */
#ifndef TAMIS_OS_DRAFT_H
#define TAMIS_OS_DRAFT_H

#include "os/file.h"

typedef struct draft {
    tamis filter; /* its payload is in the file */
    tamis_writer writer;
    file_save save;
    uint8_t *map;
    size_t size;
    uint64_t written, left; /* bytes of the file on their way to disk, and out of memory */
} draft;

/* An empty filter of an ordered kind, beside `path`. */
tamis_status tamis__draft_begin(draft *d, const char *path, const tamis_plan *plan);
tamis_status tamis__draft_append(draft *d, uint64_t fingerprint, uint64_t count);
/* Checksums and header, unless `status` tells of a failure, which is then the answer. After that
 * there is only d->save, to be ended. */
tamis_status tamis__draft_complete(draft *d, tamis_status status);

/* Lets go of the pages of a mapping between two offsets: they are read again if need be. */
void tamis__forget_pages(void *map, uint64_t from, uint64_t to);

#endif
