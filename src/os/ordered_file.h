/* ordered_file.h - a filter of a kind in order, written straight into its file. */
#ifndef TAMIS_OS_ORDERED_FILE_H
#define TAMIS_OS_ORDERED_FILE_H

#include "os/file.h"

/* Too large for a stack: see tamis__scratch_new(). */
typedef struct ordered_file {
    tamis filter; /* its payload is in the file */
    tamis_writer writer;
    file_save save;
    uint8_t *map;
    size_t size;
    uint64_t written, left; /* bytes of the file on their way to disk, and out of memory */
} ordered_file;

/* An empty filter beside `path`. */
tamis_status tamis__ordered_file_begin(ordered_file *o, const char *path, const tamis_plan *plan);
/* Ascending. */
tamis_status tamis__ordered_file_append(ordered_file *o, uint64_t fingerprint, uint64_t count);
/* Checksums and header, unless `status` tells of a failure, which is then the answer. After that
 * there is only o->save, to be ended. */
tamis_status tamis__ordered_file_complete(ordered_file *o, tamis_status status);

/* Lets go of the pages of a mapping between two offsets: they are read again if need be. */
void tamis__forget_pages(void *map, uint64_t from, uint64_t to);

#endif
