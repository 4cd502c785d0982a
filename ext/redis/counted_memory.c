/* counted_memory.c - counted memory. Values are freed by a thread of the server's own at times, so
 * that the counters of all values together are atomic. */
#include "counted_memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "settings.h"

static _Atomic uint64_t memory_used, memory_values, memory_refused;
static _Thread_local bool memory_obeys;

void memory_begin(redis_ctx *ctx)
{
    int flags = redis.GetContextFlags(ctx);

    memory_obeys = flags & (REDIS_CTX_REPLICATED | REDIS_CTX_REPLICA | REDIS_CTX_LOADING);
}

bool memory_must_obey(void)
{
    return memory_obeys;
}

/* ---- What the machine has left ------------------------------------------ */

/* Blocks below this are not worth reading a file for. */
enum { MEMORY_LARGE = 16 << 20 };

/* The number in a file after these words, or UINT64_MAX if it says none. */
static uint64_t memory_read(const char *path, const char *after)
{
    char line[128], format[32];
    unsigned long long n;
    uint64_t found = UINT64_MAX;
    FILE *file = fopen(path, "re");

    if (!file)
        return found;
    snprintf(format, sizeof format, "%s%%llu", after);
    while (found == UINT64_MAX && fgets(line, sizeof line, file))
        if (sscanf(line, format, &n) == 1)
            found = n;
    fclose(file); /* only read */
    return found;
}

/* Whether so many bytes can be filled: of the machine, and of the control group the server may be
 * in. What was given out before may not be filled yet, so that all of it is compared with all there
 * is. */
static bool memory_is_there(uint64_t more)
{
    uint64_t free_kib = memory_read("/proc/meminfo", "MemAvailable: ");
    uint64_t all_kib = memory_read("/proc/meminfo", "MemTotal: ");
    uint64_t most = memory_read("/sys/fs/cgroup/memory.max", "");
    uint64_t now = memory_read("/sys/fs/cgroup/memory.current", "");
    uint64_t wanted;

    if (__builtin_add_overflow((uint64_t)memory_used, more, &wanted))
        return false;
    if (more / 1024 > free_kib || wanted / 1024 > all_kib || wanted > most)
        return false;
    return most == UINT64_MAX || now == UINT64_MAX || (now <= most && more <= most - now);
}

/* ---- Limits ------------------------------------------------------------ */

static bool memory_fits(uint64_t used, size_t more, uint64_t limit)
{
    return limit == 0 || (used <= limit && more <= limit - used);
}

static bool memory_allows(size_t used, size_t more)
{
    if (more >= MEMORY_LARGE && !memory_is_there(more))
        return false;
    return memory_obeys || (memory_fits(used, more, settings.max_object_bytes) &&
                            memory_fits(memory_used, more, settings.max_bytes));
}

static void *memory_take(size_t used, size_t size)
{
    void *block = memory_allows(used, size) ? redis.TryAlloc(size) : NULL;

    if (block)
        memory_used += size;
    else
        memory_refused++;
    return block;
}

static void *memory_alloc(void *ctx, size_t size)
{
    memory *m = ctx;
    void *block = memory_take(m->used, size);

    if (block)
        m->used += size;
    return block;
}

static void memory_free(void *ctx, void *block, size_t size)
{
    memory *m = ctx;

    redis.Free(block);
    memory_used -= size;
    m->used -= size;
}

tamis_allocator memory_allocator(memory *m)
{
    return (tamis_allocator){ .alloc = memory_alloc, .free = memory_free, .ctx = m };
}

/* ---- Values ------------------------------------------------------------ */

void *memory_new_value(size_t size)
{
    memory *value = memory_take(0, size);

    if (!value)
        return NULL;
    memset(value, 0, size);
    value->used = size;
    memory_values++;
    return value;
}

void memory_free_value(void *value, size_t size)
{
    redis.Free(value);
    memory_used -= size;
    memory_values--;
}

memory_total memory_in_use(void)
{
    return (memory_total){ memory_used, memory_values, memory_refused };
}
