/* ribbon_back.h - back substitution, portable: put_back() for ribbon_solve.h. */
#ifndef TAMIS_FUSE_RIBBON_BACK_H
#define TAMIS_FUSE_RIBBON_BACK_H

#include "fuse/ribbon_solve.h"

static void segment_back(uint8_t *slots, const pivot *pivots, uint64_t n, unsigned width)
{
    uint64_t columns[MOST_COLUMNS] = { 0 };

    for (uint64_t i = n; i-- > 0;) {
        step_back(columns, &pivots[i], width);
        for (unsigned j = 0; j < width && i % 64 == 0; j++)
            put_le64(slots + (i / 64 * width + j) * 8, columns[j]);
    }
}

/* Free slots have neither row nor sum: they become zero. */
static void put_back(uint8_t *slots, const pivot *pivots, uint64_t segment, unsigned segments,
                     unsigned width)
{
    for (unsigned i = 0; i < segments; i++)
        segment_back(slots + i * segment / 8 * width, pivots + i * segment, segment, width);
}

#endif
