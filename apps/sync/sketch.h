/* sketch.h - a few numbers of a set, of which two tell how much the sets differ. */
#ifndef TAMIS_APPS_SYNC_SKETCH_H
#define TAMIS_APPS_SYNC_SKETCH_H

#include "wire/coded.h"

enum { SKETCH_MOST = 128 }; /* numbers */

/* numbers[j]: 1 for each key whose j-th random bit is set, -1 for each other; n is a multiple of
 * 64 or less than that. Keys that both sets have take no part in the difference of two numbers. Its
 * square is the number of the others on average, whose deviation is a share of sqrt(2 / n). */
void sketch_make(int64_t *numbers, size_t n, const uint64_t *keys, size_t n_keys);
/* As bytes, with the number of keys. */
void sketch_write(buffer *out, const int64_t *numbers, size_t n, uint64_t n_keys);
/* False: there is no sketch of n numbers. */
bool sketch_read(coded *c, int64_t *numbers, size_t n, uint64_t *n_keys);

/* Bytes of a sketch of n numbers, at most. */
size_t sketch_most(size_t n);

double sketch_distance(const int64_t *a, const int64_t *b, size_t n);

#endif
