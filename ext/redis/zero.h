/* zero.h - zeros for large blocks, without touching them.
 *
 * To fill a gigabyte takes a third of a second, in which the server answers nobody. Pages that are
 * given back to the system read as zeros, and cost when they are used. */
#ifndef TAMIS_REDIS_ZERO_H
#define TAMIS_REDIS_ZERO_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

#endif
