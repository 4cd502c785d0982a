/* scratch.h - files without a name, which are gone with the program whatever ends it. */
#ifndef TAMIS_CLI_FILES_SCRATCH_H
#define TAMIS_CLI_FILES_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* In $TMPDIR or, without it, in /var/tmp. */
const char *scratch_folder(void);
/* Open for reading and writing. A failure ends the program, here and below. */
int scratch_open(void);
/* `offset` is where the bytes begin in the file. */
void scratch_write(int fd, const void *bytes, size_t size, uint64_t offset);
void scratch_read(int fd, void *bytes, size_t size, uint64_t offset);

#endif
