/* spill.h - items on their way to a filter: in memory as long as they fit, then in a file. An item
 * is a key or a hash, perhaps with a value: one word or two. */
#ifndef TAMIS_CORE_SPILL_H
#define TAMIS_CORE_SPILL_H

#include "filter.h"

enum { BUCKET_BITS = 8, BUCKETS = 1 << BUCKET_BITS };

typedef struct spill_bucket {
    uint64_t n;           /* items, in the file and in the buffer */
    uint32_t first, last; /* of its chunks in the file; each names the next */
    uint64_t *buffer;     /* the items that do not make a chunk yet */
} spill_bucket;

typedef struct spill {
    unsigned stride; /* words of an item */
    bool ordered;    /* one bucket, in the order given; else BUCKETS of them, by leading bits */
    uint64_t memory; /* bytes that may be used; 0: no limit */
    char *dir;
    uint64_t n; /* items given */

    uint64_t *words;            /* of all of them, while they fit; NULL once they are in the file */
    size_t room;                /* for items */
    size_t starts[BUCKETS + 1]; /* of the buckets in words[], after tamis__spill_group() */

    int fd;       /* of the file, or -1 */
    size_t chunk; /* items in one */
    spill_bucket *buckets;
    uint64_t *buffers; /* of all buckets */
    uint32_t *next;    /* of each chunk, the next one of its bucket */
    uint32_t chunks;
} spill;

/* `dir` may be NULL. */
tamis_status tamis__spill_open(spill *s, uint64_t memory, const char *dir, unsigned stride,
                               bool ordered);
void tamis__spill_close(spill *s);

/* n items, one after the other. */
tamis_status tamis__spill_add(spill *s, const uint64_t *words, size_t n);

/* Moves to the file what is in memory. */
tamis_status tamis__spill_to_file(spill *s);
static inline bool tamis__spill_is_in_file(const spill *s)
{
    return s->fd >= 0;
}
/* Bytes of memory taken now. */
uint64_t tamis__spill_held(const spill *s);

/* If all is in memory: puts items in buckets, which then lie one after the other. */
void tamis__spill_group(spill *s);
/* Items of a bucket; in memory, only after that. */
uint64_t tamis__spill_count(const spill *s, size_t bucket);

/* Reads a bucket, or all items if they are ordered, piece by piece: from one chunk to the next as
 * long as `left` is not 0. Several threads may read. */
typedef struct spill_cursor {
    uint64_t left;
    size_t bucket;
    size_t end;     /* of it, in memory */
    uint32_t chunk; /* in the file */
    size_t piece;   /* items that the next read gives */
} spill_cursor;

spill_cursor tamis__spill_start(const spill *s, size_t bucket);
bool tamis__spill_read(const spill *s, spill_cursor *c, uint64_t *to);

#endif
