/* file_read.h - bytes of a file, from any place in it. A failure ends the program. */
#ifndef TAMIS_CLI_FILES_FILE_READ_H
#define TAMIS_CLI_FILES_FILE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Up to `size` bytes from offset `at` on; 0 at the end. */
size_t file_read(int fd, const char *path, void *bytes, size_t size, uint64_t at);
/* All of them; false if the file ends before. */
bool file_read_all(int fd, const char *path, void *bytes, size_t size, uint64_t at);

#endif
