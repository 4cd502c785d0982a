/* pages.h - large zeroed blocks from the operating system, on huge pages where it grants them.
 *
 * A random read in a gigabyte of 4 KiB pages misses the TLB as well as the cache; on 2 MiB pages it
 * costs half. */
#ifndef TAMIS_OS_PAGES_H
#define TAMIS_OS_PAGES_H

#include <stddef.h>

/* NULL if there is no memory. Aligned to 2 MiB. */
void *tamis__pages_new(size_t size);
/* The same bytes, and zeros after them, perhaps elsewhere; NULL changes nothing. */
void *tamis__pages_grow(void *block, size_t old_size, size_t new_size);
void tamis__pages_free(void *block, size_t size);

#endif
