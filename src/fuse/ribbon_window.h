/* ribbon_window.h - reading the slots of a key, column by column. */
#ifndef TAMIS_FUSE_RIBBON_WINDOW_H
#define TAMIS_FUSE_RIBBON_WINDOW_H

#include "fuse/ribbon.h"

/* The slots from `start` on in one column, of which neighbours are `stride` words apart. */
static inline uint64_t window(const uint8_t *column, uint64_t start, uint64_t stride)
{
    const uint8_t *word = column + start / 64 * stride * 8;
    unsigned by = start % 64;

    return by ? le64(word) >> by | le64(word + stride * 8) << (64 - by) : le64(word);
}

#endif
