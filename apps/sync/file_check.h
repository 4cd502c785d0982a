/* file_check.h - files that are read, on either side. A failure ends the program. */
#ifndef TAMIS_APPS_SYNC_FILE_CHECK_H
#define TAMIS_APPS_SYNC_FILE_CHECK_H

#include "files/file_read.h"
#include "signature.h"

/* The bytes of a file up to `end`, one after the other. */
typedef struct file_input {
    int fd;
    const char *path;
    uint64_t at, end;
} file_input;

size_t file_next(void *file, void *bytes, size_t size); /* a byte_source */

/* Tells files apart: BLAKE2b of the blocks of the first `size` bytes, and of these hashes; of that,
 * a keyed hash. */
uint64_t file_check(int fd, const char *path, uint64_t size, const tamis_hasher *by);

#endif
