/* purse.h - an allocator that knows how much it gives out, and refuses what is beyond a limit. */
#ifndef TAMIS_TESTS_PURSE_H
#define TAMIS_TESTS_PURSE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tamis.h"

typedef struct purse {
    uint64_t limit, live, most; /* bytes: allowed, given out, and given out at most */
    bool is_overdrawn;          /* something was refused */
} purse;

static inline void *purse_alloc(void *ctx, size_t size)
{
    purse *p = ctx;

    if (size > p->limit || p->live > p->limit - size) {
        p->is_overdrawn = true;
        return NULL;
    }
    p->live += size;
    p->most = p->live > p->most ? p->live : p->most;
    return malloc(size);
}

static inline void purse_free(void *ctx, void *block, size_t size)
{
    ((purse *)ctx)->live -= size;
    free(block);
}

static inline tamis_allocator allocator_of(purse *p)
{
    return (tamis_allocator){ purse_alloc, purse_free, p };
}

#endif
