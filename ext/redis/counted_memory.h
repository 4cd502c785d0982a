/* counted_memory.h - where all memory of filters comes from: Redis' allocator, counted, and refused
 * above a limit.
 *
 * There are three limits. max-object-bytes holds for one value and max-bytes for all of them; both
 * are settings, and 0 is none. And a block that is larger than what the machine has left is
 * refused: the system would hand it out, and kill the server when it is filled.
 *
 * The first two hold for clients only. What a primary did, a replica does as well, and what is in a
 * file is loaded, or they would lose data. */
#ifndef TAMIS_REDIS_COUNTED_MEMORY_H
#define TAMIS_REDIS_COUNTED_MEMORY_H

#include "redis_api.h"
#include "tamis.h"

/* The bytes of one value; part of it, and zero at first. */
typedef struct memory {
    size_t used;
} memory;

/* Begins a command or a callback that may allocate, on this thread: do limits hold for it?
 * key_write() calls it. Callbacks of data types have no context, and pass NULL. */
void memory_begin(redis_ctx *ctx);
/* Whether this thread does what a primary or a file says: no limit of ours may stop it then. */
bool memory_must_obey(void);

/* Memory of one value; `m` stays where it is as long as there is any. */
tamis_allocator memory_allocator(memory *m);

/* The block that a value itself is in: zeros, or NULL; it begins with its `memory`. */
void *memory_new_value(size_t size);
void memory_free_value(void *value, size_t size);

/* Bytes of all values, the number of values, and how often one was refused. */
typedef struct memory_total {
    uint64_t used, values, refused;
} memory_total;
memory_total memory_in_use(void);

#endif
