/* items.h - patterns on their way into an index. */
#ifndef TAMIS_APPS_MATCH_ITEMS_H
#define TAMIS_APPS_MATCH_ITEMS_H

#include "index.h"

typedef struct item {
    uint64_t hash; /* of its window */
    const char *at;
    uint32_t size;
    uint8_t class, offset;
} item;

/* Where the items of each class end, in order. */
typedef struct item_list {
    item *items;
    size_t n;
    size_t ends[CLASSES];
} item_list;

/* The lines of x->bytes that are not empty, each with its window; sorted by class, hash, offset,
 * bytes and place. */
void items_make(item_list *l, match_index *x, const pattern_format *format);

#endif
