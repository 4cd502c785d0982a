/* file_check.h - files that are read, on either side. A failure ends the program. */
#ifndef TAMIS_APPS_SYNC_FILE_CHECK_H
#define TAMIS_APPS_SYNC_FILE_CHECK_H

#include "files/file_read.h"
#include "signature.h"
#include "wire/coded.h"

/* The bytes of a file up to `end`, one after the other. */
typedef struct file_input {
    int fd;
    const char *path;
    uint64_t at, end;
} file_input;

/* Sources of bytes, and a tamis_sink. */
size_t file_next(void *file, void *bytes, size_t size);
size_t coded_next(void *coded, void *bytes, size_t size);
bool buffer_sink(void *buffer, const void *bytes, size_t size);

/* Tells files apart: BLAKE2b of the blocks of all these bytes, and of these hashes; of that, a
 * keyed hash. */
uint64_t file_check(file_input in, const tamis_hasher *by);

#endif
