/* collection.h - many named filters in one file: its format (docs/format.md). */
#ifndef TAMIS_OS_COLLECTION_H
#define TAMIS_OS_COLLECTION_H

#include "os/file.h"
#include "tamis_collection.h"

/* The first page is the header, which has two pairs of slots. The generation of a slot, odd or
 * even, tells its pair; both slots of a pair are the same. */
enum { COLLECTION_PAGE = 4096, COLLECTION_SLOTS = 4, COLLECTION_SLOT_SIZE = 64 };

enum { COLLECTION_SECRET = 1 }; /* flag of a slot: some filter is keyed */

/* Which directory holds, and how far the file is used. */
typedef struct collection_slot {
    uint64_t generation, end, directory, pages, count, seed;
    uint32_t flags;
} collection_slot;

/* A filter, by an entry of a page of the directory. */
typedef struct collection_entry {
    uint64_t offset, size;
    char name[TAMIS_NAME_MAX + 1];
    size_t length;
} collection_entry;

/* Where entries start in a page, and what one takes besides its name. */
enum { COLLECTION_FIRST_ENTRY = 16, COLLECTION_ENTRY_SIZE = 17 };

struct tamis_collection {
    const uint8_t *map; /* slot.end bytes */
    collection_slot slot;
    tamis_allocator alloc;
};

/* What stands at the start of every collection. */
void tamis__collection_put_magic(uint8_t page[COLLECTION_PAGE]);

/* The slot of the highest generation, of a file of that size. */
tamis_status tamis__collection_read_slot(collection_slot *s, const uint8_t page[COLLECTION_PAGE],
                                         uint64_t file_size);
void tamis__collection_put_slot(uint8_t bytes[COLLECTION_SLOT_SIZE], const collection_slot *s);
/* Where the i-th slot of its pair, 0 or 1, is in the file. */
uint64_t tamis__collection_slot_offset(const collection_slot *s, unsigned i);

uint64_t tamis__collection_hash(const char *name, size_t length, uint64_t seed);
uint64_t tamis__collection_sum(const uint8_t page[COLLECTION_PAGE], uint64_t number);

/* Maps what is open there; the descriptor stays the caller's. */
tamis_status tamis__collection_map(tamis_collection **out, const image_source *s,
                                   const tamis_allocator *a);

/* Bytes of the file that its names reach. TAMIS_CORRUPT: a page is damaged, or filters overlap. */
tamis_status tamis__collection_used(const tamis_collection *c, uint64_t *used);

/* What is called for each entry. False ends the calls. */
typedef bool collection_visit(void *ctx, const collection_entry *e);
/* TAMIS_CORRUPT, after all others, if a page is damaged. */
tamis_status tamis__collection_each(const tamis_collection *c, collection_visit *visit, void *ctx);

#endif
