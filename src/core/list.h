/* list.h - arrays of items of any size. */
#ifndef TAMIS_CORE_LIST_H
#define TAMIS_CORE_LIST_H

#include <string.h>

#include "tamis.h"

/* An array that grows. It starts with the size of an item, and zeros. */
typedef struct list {
    void *items;
    size_t n, room, size; /* size: of an item */
} list;

/* Room for so many more. False: there is none, and nothing has changed. */
bool tamis__list_reserve(list *l, const tamis_allocator *a, size_t more);
void tamis__list_free(list *l, const tamis_allocator *a);

/* n items more, for which room was reserved. */
static inline void list_push(list *l, const void *items, size_t n)
{
    memcpy((char *)l->items + l->n * l->size, items, n * l->size);
    l->n += n;
}

/* Puts an item in its place in an array of n, up to which none moves. Where there is room for
 * `max`, the last one falls out. */
void tamis__list_put(void *items, size_t size, size_t n, size_t max, size_t at, const void *item);

#endif
