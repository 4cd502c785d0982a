/* memory.h - a filter is two blocks: the struct, and the payload it owns or borrows. */
#ifndef TAMIS_CORE_MEMORY_H
#define TAMIS_CORE_MEMORY_H

#include "filter.h"

/* The struct alone, with no payload yet. `a` may be NULL. */
tamis_status tamis__struct_new(tamis **out, const tamis_plan *plan, const tamis_allocator *a);

/* A zeroed payload of its own. */
tamis_status tamis__payload_new(tamis *f);

/* f gets plan, payload and count of `made`, which was made by f's allocator and is freed. */
void tamis__take_over(tamis *f, tamis *made);

#endif
