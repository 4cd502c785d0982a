/* file.h - files that are written beside their target, and maps. */
#ifndef TAMIS_OS_FILE_H
#define TAMIS_OS_FILE_H

#include <limits.h>
#include <sys/types.h>

#include "core/image.h"
#include "tamis_file.h"

/* A file on its way to replace another: begin, write to `fd`, end. */
typedef struct {
    char target[PATH_MAX]; /* links followed */
    char temp[PATH_MAX];
    size_t dir; /* length of the directory part of both, slash included */
    bool replaces;
    bool unnamed;     /* it gets its temporary name at the end: until then a crash leaves nothing */
    bool must_be_new; /* set after the begin: it replaces nothing that has come since */
    mode_t mode;
    uid_t owner;
    gid_t group;
    int fd;
} file_save;

tamis_status tamis__save_begin(file_save *s, const char *path, bool is_secret);
/* Completes an image whose payload, of the plan of f, has been written. */
tamis_status tamis__save_seal(const file_save *s, const tamis *f);
/* Gives the file its name unless `status` tells of a failure, which is then the answer; whatever
 * fails, nothing is left. TAMIS_BUSY: it must be new, and another file has the name. */
tamis_status tamis__save_end(file_save *s, tamis_status status);

/* Writes all but the payload of an image of f, the header last. The payload is there: `written`, or
 * in a map that was synced, and then the header waits until the rest is on disk. */
tamis_status tamis__file_seal(int fd, const tamis *f, const image_source *written);

/* Whether a program has it mapped for writing: such hold a lock as long as they live. */
bool tamis__file_is_being_written(int fd);

/* Opens a file with the mode of open(). */
tamis_status tamis__file_open(image_source *s, const char *path, int mode);
/* Opens a file and locks it for writing: TAMIS_BUSY if another has. */
tamis_status tamis__open_locked(image_source *s, const char *path);
/* TAMIS_BUSY: the name is that of another file by now, or of none. */
tamis_status tamis__file_is_named(int fd, const char *path);
/* As tamis_map() of a source; the descriptor stays the caller's unless it is mapped to write. */
tamis_status tamis__map_source(tamis **out, const image_source *s, unsigned flags,
                               const tamis_allocator *a);
/* What is open there, and its read(). */
tamis_status tamis__file_source(image_source *s, int fd);
bool tamis__file_read_source(const image_source *s, uint64_t offset, void *buf, size_t size);

/* Whole buffers, at an offset. False: errno tells why. */
bool tamis__file_read(int fd, uint64_t offset, void *buf, size_t size);
bool tamis__file_write(int fd, uint64_t offset, const void *buf, size_t size);

/* Room on disk for a file of that size: a mapped write to a hole in the file would be a signal when
 * the disk is full. */
bool tamis__file_reserve(int fd, uint64_t size);

/* Closes without disturbing the errno that tells what went wrong before. */
void tamis__file_close(int fd);

#endif
