/* file_input.h - files that are read, on either side. A failure ends the program. */
#ifndef TAMIS_CLI_FILES_FILE_INPUT_H
#define TAMIS_CLI_FILES_FILE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_sync.h"

/* Up to `size` bytes from there; 0 at the end. */
size_t file_read(int fd, const char *path, void *bytes, size_t size, uint64_t at);

/* The bytes of a file up to `end`, one after the other. */
typedef struct file_input {
    int fd;
    const char *path;
    uint64_t at, end;
} file_input;

size_t file_next(void *file, void *bytes, size_t size); /* a tamis_input */

/* Tells files apart: BLAKE2b of the blocks of the first `size` bytes, and of these hashes; of that,
 * a keyed hash. */
uint64_t file_check(int fd, const char *path, uint64_t size, const tamis_hasher *by);

#endif
