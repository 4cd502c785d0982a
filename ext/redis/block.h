/* block.h - blocks of memory: zeros in large ones without touching them, and room for one item
 * more.
 *
 * To fill a gigabyte takes a third of a second, in which the server answers nobody. Pages that are
 * given back to the system read as zeros, and cost when they are used. */
#ifndef TAMIS_REDIS_BLOCK_H
#define TAMIS_REDIS_BLOCK_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tamis.h"

/* Below this, a call of the system takes longer. */
enum { ZERO_LARGE = 1 << 20 };

/* Memory from an allocator: only private pages without a file behind them read as zeros then. */
static inline void zero_block(void *block, size_t size)
{
#ifdef __linux__
    if (size >= ZERO_LARGE) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        size_t before = (page - (uintptr_t)block % page) % page;
        size_t whole = (size - before) / page * page;
        char *bytes = block;

        /* It fails on pages that are locked in memory. */
        if (madvise(bytes + before, whole, MADV_DONTNEED) == 0) {
            memset(bytes, 0, before);
            memset(bytes + before + whole, 0, size - before - whole);
            return;
        }
    }
#endif
    memset(block, 0, size);
}

/* Makes place for another item behind n of them, each of `size` bytes. NULL: no memory, and the
 * array is as it was; else the array, which may be another one. */
static inline void *block_make_room(tamis_allocator memory, void *array, uint32_t n, uint32_t *room,
                                    size_t size)
{
    uint32_t larger = *room ? 2 * *room : 1;
    void *block;

    if (n < *room)
        return array;
    block = memory.alloc(memory.ctx, larger * size);
    if (!block)
        return NULL;
    if (*room) {
        memcpy(block, array, n * size);
        memory.free(memory.ctx, array, *room * size);
    }
    *room = larger;
    return block;
}

#endif
