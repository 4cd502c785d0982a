/* patch_limit.h - how large a file may become that few bytes make of another one.
 *
 * A delta copies parts of an old file as often as it likes: 18 bytes of it for each time. A file
 * that somebody needs is rarely much longer than the old one and what is new together. */
#ifndef TAMIS_APPS_SYNC_PATCH_LIMIT_H
#define TAMIS_APPS_SYNC_PATCH_LIMIT_H

#include <stdint.h>

/* The most bytes that a delta may make of an old file, after so many bytes of it came, unless
 * somebody allows more: some that everybody has, and GROWTH_TIMES both. */
enum { GROWTH_FREE = 16 << 20, GROWTH_TIMES = 4 };
uint64_t growth_most(uint64_t old_size, uint64_t received);

/* The same of what was received compressed. */
enum { GROWTH_UNPACKED_FREE = 1 << 30, GROWTH_UNPACKED_TIMES = 1024 };
uint64_t growth_unpacked_most(uint64_t received);

#endif
