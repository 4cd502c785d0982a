#include "os/pages.h"

#include <stdint.h>
#include <sys/mman.h>

static const size_t HUGE = (size_t)2 << 20;

/* More than enough is mapped, then what sticks out of the aligned part is given back. */
static void *pages_trim(uint8_t *raw, size_t raw_size, size_t size)
{
    size_t before = (HUGE - (uintptr_t)raw % HUGE) % HUGE;
    size_t after = raw_size - before - size;

    if (before)
        munmap(raw, before);
    if (after)
        munmap(raw + before + size, after);
    return raw + before;
}

/* The system rounds to its pages; munmap() must be told the same. */
static size_t pages_round_up(size_t size)
{
    return (size + 0xffff) & ~(size_t)0xffff;
}

void *tamis__pages_new(size_t size)
{
    size_t rounded = pages_round_up(size);
    size_t raw_size = rounded + HUGE;

    if (raw_size < size)
        return NULL;
    void *raw = mmap(NULL, raw_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    void *block = pages_trim(raw, raw_size, rounded);
#ifdef MADV_HUGEPAGE
    /* A wish: without huge pages everything works, slower. */
    (void)madvise(block, rounded, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE
    /* What is behind the last huge page is filled at once: a small page that is read before it is
     * written takes two faults, and the second one holds up all threads of the program. */
    size_t huge = rounded / HUGE * HUGE;
    (void)madvise((uint8_t *)block + huge, rounded - huge, MADV_POPULATE_WRITE);
#endif
    return block;
}

void *tamis__pages_grow(void *block, size_t old_size, size_t new_size)
{
    void *grown = mremap(block, pages_round_up(old_size), pages_round_up(new_size), MREMAP_MAYMOVE);

    return grown == MAP_FAILED ? NULL : grown;
}

void tamis__pages_free(void *block, size_t size)
{
    munmap(block, pages_round_up(size));
}
