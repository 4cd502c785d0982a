/* file.h - files that are written beside their target, and maps. */
#ifndef TAMIS_CORE_FILE_H
#define TAMIS_CORE_FILE_H

#include <limits.h>
#include <sys/types.h>

#include "core/image.h"

/* A file on its way to replace another: begin, write to the sink, end. */
typedef struct {
    char target[PATH_MAX]; /* links followed */
    char temp[PATH_MAX];
    size_t dir; /* length of the directory part of both, slash included */
    bool replaces;
    mode_t mode;
    uid_t owner;
    gid_t group;
    int fd;
} file_save;

tamis_status tamis__save_begin(file_save *s, const char *path, bool is_secret);
image_sink tamis__save_sink(const file_save *s);
/* What has been written so far. */
image_source tamis__save_source(const file_save *s);
/* Gives the file its name unless `status` tells of a failure, which is then the answer; whatever
 * fails, nothing is left. */
tamis_status tamis__save_end(file_save *s, tamis_status status);

/* Marks the file under a writable map as dirty, on disk, before its first change. Safe to call from
 * several threads. */
tamis_status tamis__map_unseal(tamis *f);

#endif
