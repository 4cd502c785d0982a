/* overlap.h - bits that are set in two rows, counted for many pairs of rows. */
#ifndef TAMIS_APPS_SIMILAR_OVERLAP_H
#define TAMIS_APPS_SIMILAR_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

/* Rows are whole lines of 64 bytes, so that no kernel has a rest to see to. */
enum { OVERLAP_LINE = 8 };

/* Of `row` with each of n rows that follow each other at `rows`, all of them of so many words, a
 * multiple of OVERLAP_LINE. */
typedef void overlap_kernel(uint32_t *both, const uint64_t *row, const uint64_t *rows, size_t n,
                            size_t words);

/* The one that runs everywhere, and the fastest one here. All count the same. */
overlap_kernel overlap_portable;
overlap_kernel *overlap_choose(void);

#endif
