/* memory.h - a filter is two blocks: the struct, and the payload it owns or borrows. */
#ifndef TAMIS_CORE_MEMORY_H
#define TAMIS_CORE_MEMORY_H

#include "filter.h"

/* What a NULL allocator stands for: os/host.c, or bare/no_host.c where the core is all there is. */
extern const tamis_allocator tamis__default_allocator;

/* Blocks of the default allocator that have at least this size are zero. */
enum { TAMIS_ZEROED_SIZE = 1 << 20 };

/* Everything but the payload, in a struct of the caller's. */
void tamis__filter_init(tamis *f, const tamis_plan *plan, const tamis_allocator *a);

/* The struct alone, with no payload yet. `a` may be NULL. */
tamis_status tamis__struct_new(tamis **out, const tamis_plan *plan, const tamis_allocator *a);

/* A zeroed payload of its own. */
tamis_status tamis__payload_new(tamis *f);
void tamis__payload_clear(tamis *f);

/* The same filter, empty and of another plan. On failure it has no payload. */
tamis_status tamis__payload_replace(tamis *f, const tamis_plan *plan);

/* f gets plan, payload and count of `made`, which was made by f's allocator and is freed. The CPU
 * level stays that of f. */
void tamis__take_over(tamis *f, tamis *made);

#endif
