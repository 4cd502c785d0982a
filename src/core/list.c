#include "core/list.h"

bool tamis__list_reserve(list *l, const tamis_allocator *a, size_t more)
{
    size_t room = l->room ? l->room : 64;

    if (more > SIZE_MAX / 4 / l->size - l->n)
        return false;
    while (room < l->n + more)
        room *= 2;
    if (room == l->room)
        return true;
    void *items = a->alloc(a->ctx, room * l->size);
    if (!items)
        return false;
    if (l->items)
        memcpy(items, l->items, l->n * l->size);
    tamis__list_free(l, a);
    l->items = items;
    l->room = room;
    return true;
}

void tamis__list_free(list *l, const tamis_allocator *a)
{
    if (l->items)
        a->free(a->ctx, l->items, l->room * l->size);
}

void tamis__list_put(void *items, size_t size, size_t n, size_t max, size_t at, const void *item)
{
    uint8_t *place = (uint8_t *)items + at * size;

    if (at == max)
        return;
    memmove(place + size, place, ((n < max ? n : max - 1) - at) * size);
    memcpy(place, item, size);
}
