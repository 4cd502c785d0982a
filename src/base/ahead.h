/* ahead.h - asking memory for a line before it is read.
 *
 * All kinds ask in this way. A near line goes to the first cache of the core. A far one stops at
 * the second: on the way there, the processors that were measured keep two to three times as many
 * requests open, and the last step from there is short. Nanoseconds to read a random line that was
 * asked for so many lines before, on an AMD EPYC with a third cache of 32 MiB, huge pages:
 *
 *   table      near: 16    32    64   128      far: 16    32    64   128
 *     2 MB          1.8   1.8   1.9   1.9          2.0   2.0   2.0   2.0
 *     8 MB          2.5   2.3   2.1   2.0          2.8   2.6   2.2   2.0
 *    16 MB          6.0   4.2   3.0   2.8          6.3   4.2   2.9   2.6
 *    24 MB          7.4   6.5   7.3   7.2          7.3   4.9   3.3   2.9
 *   110 MB          9.6   9.6   9.7   9.9          8.1   5.5   3.8   3.6
 *   400 MB         10.4  10.5  10.7  10.7          8.5   5.8   4.2   4.0
 *
 * Where the third cache is larger, less is gained: on an Intel Xeon with 260 MiB of it, near and
 * far lines, 64 ahead, take 2.3 and 2.3 ns at 8 MB, 4.1 and 4.1 at 64 MB, 5.4 and 4.8 at 110
 * MB, 9.8 and 7.8 at 400 MB.
 *
 * So a large payload is far, and lines are best asked for 64 to 128 ahead, in steps and not in
 * bursts. Whether a filter is far is decided once, when it gets its plan: tamis.is_far; a kind that
 * asks faster may decide otherwise (blocked.c). Without TAMIS_CPU_FAR it never is. */
#ifndef TAMIS_BASE_AHEAD_H
#define TAMIS_BASE_AHEAD_H

#include <stdbool.h>

/* What is smaller is likely to be in the third cache, where near lines come a tenth faster. */
enum { AHEAD_FAR_BYTES = 8 << 20 };

/* gcc 12 takes a function that only prefetches for one that does nothing, and drops calls of it, as
 * of one that is passed by name: an empty asm is something. */
__attribute__((always_inline)) static inline void ahead_read(const void *line, bool is_far)
{
    is_far ? __builtin_prefetch(line, 0, 2) : __builtin_prefetch(line, 0, 3);
    __asm__ volatile("");
}

__attribute__((always_inline)) static inline void ahead_write(const void *line, bool is_far)
{
    is_far ? __builtin_prefetch(line, 1, 2) : __builtin_prefetch(line, 1, 3);
    __asm__ volatile("");
}

#endif
