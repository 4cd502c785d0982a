/* spill.h - items on their way to a filter: in memory as long as they fit, then in a file. An item
 * is a key, or what core/make.h says: one word or two. */
#ifndef TAMIS_OS_SPILL_H
#define TAMIS_OS_SPILL_H

#include "core/make.h"

enum { SPILL_BUCKET_BITS = 8, SPILL_BUCKETS = 1 << SPILL_BUCKET_BITS };

typedef struct spill_bucket {
    uint64_t n;           /* items, in the file and in the buffer */
    uint32_t first, last; /* of its chunks in the file; each names the next */
} spill_bucket;

typedef struct spill {
    unsigned words;   /* of an item */
    bool keeps_order; /* one bucket, in the order given; else SPILL_BUCKETS, by leading bits */
    uint64_t memory;  /* bytes that may be used; 0: no limit */
    const char *dir;  /* of the file; NULL: the default */
    const tamis *memory_of; /* whose allocator it uses */
    uint64_t n;             /* items given */

    uint64_t *items; /* all of them, while they fit; NULL once they are in the file */
    size_t room;     /* for items */

    int fd;                /* of the file, or -1 */
    size_t chunk;          /* items in one */
    spill_bucket *buckets; /* then, in the same block, what makes no chunk yet of each bucket */
    uint32_t *next;        /* of each chunk, the next one of its bucket */
    uint32_t chunks, next_room;

    uint64_t starts[SPILL_BUCKETS + 1]; /* of the buckets among all items, in a list */
} spill;

/* `dir` may be NULL. Nothing is taken before the first item comes. */
void tamis__spill_open(spill *s, const tamis *memory_of, uint64_t memory, const char *dir,
                       unsigned words, bool keeps_order);
void tamis__spill_close(spill *s);

/* n items, one after the other. */
tamis_status tamis__spill_add(spill *s, const uint64_t *items, size_t n);

/* Moves to the file what is in memory. */
tamis_status tamis__spill_to_file(spill *s);
/* Bytes of memory taken now. */
uint64_t tamis__spill_held(const spill *s);

/* All items, by bucket. It holds until items are added or moved; several threads may read it. */
make_list tamis__spill_list(spill *s);

#endif
