/* cost.c - counts memory and bytes written: malloc() and its like by hooks of the sanitizer or in
 * place of those of the C library, pages of the library and calls that write by the linker's
 * --wrap. */
#include "cost.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/pages.h"

static atomic_int_fast64_t live, peak;
static atomic_uint_fast64_t written;

static void take(size_t size)
{
    int64_t now = atomic_fetch_add(&live, (int64_t)size) + (int64_t)size;
    int64_t before = atomic_load(&peak);

    while (now > before && !atomic_compare_exchange_weak(&peak, &before, now))
        continue;
}

static void give_back(size_t size)
{
    atomic_fetch_sub(&live, (int64_t)size);
}

/* ---- Blocks ------------------------------------------------------------ */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#ifdef IS_SANITIZED
/* Of <sanitizer/allocator_interface.h>, which gcc does not bring along. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *block);

static void on_malloc(const volatile void *block, size_t size)
{
    (void)block;
    take(size);
}

static void on_free(const volatile void *block)
{
    if (block)
        give_back(__sanitizer_get_allocated_size(block));
}

__attribute__((constructor)) static void install(void)
{
    if (!__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
        abort();
}
#else
/* Of the GNU C library, under malloc() and the others. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static void *taken(void *block)
{
    take(block ? malloc_usable_size(block) : 0);
    return block;
}

/* Also those that the C library and others call. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return taken(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return taken(__libc_calloc(n, size));
}

void *realloc(void *block, size_t size)
{
    size_t before = block ? malloc_usable_size(block) : 0;
    void *moved = __libc_realloc(block, size);

    if (moved || size == 0)
        give_back(before);
    return taken(moved);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return taken(__libc_memalign(alignment, size));
}

void *memalign(size_t alignment, size_t size)
{
    return taken(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = taken(__libc_memalign(alignment, size));

    *out = block ? block : *out;
    return block ? 0 : 12; /* ENOMEM */
}

void free(void *block)
{
    give_back(block ? malloc_usable_size(block) : 0);
    __libc_free(block);
}

#pragma GCC visibility pop
#endif

/* ---- Pages and files --------------------------------------------------- */

void *__real_tamis__pages_new(size_t size);
void *__real_tamis__pages_grow(void *block, size_t old_size, size_t new_size);
void __real_tamis__pages_free(void *block, size_t size);
ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);

void *__wrap_tamis__pages_new(size_t size);
void *__wrap_tamis__pages_grow(void *block, size_t old_size, size_t new_size);
void __wrap_tamis__pages_free(void *block, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);

void *__wrap_tamis__pages_new(size_t size)
{
    void *block = __real_tamis__pages_new(size);

    take(block ? size : 0);
    return block;
}

void *__wrap_tamis__pages_grow(void *block, size_t old_size, size_t new_size)
{
    void *moved = __real_tamis__pages_grow(block, old_size, new_size);

    give_back(moved ? old_size : 0);
    take(moved ? new_size : 0);
    return moved;
}

void __wrap_tamis__pages_free(void *block, size_t size)
{
    give_back(size);
    __real_tamis__pages_free(block, size);
}

static ssize_t count_written(int fd, ssize_t size)
{
    if (size > 0 && fd != STDERR_FILENO)
        atomic_fetch_add(&written, (uint64_t)size);
    return size;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    return count_written(fd, __real_write(fd, bytes, size));
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return count_written(fd, __real_pwrite(fd, bytes, size, offset));
}

/* ---- The law ----------------------------------------------------------- */

const cost_law COST_OF_TALK = {
    .memory = UINT64_C(42) << 20,
    .memory_times = 40,
    .written = UINT64_C(4) * COST_WRITTEN,
    .written_times = 40,
};

static int64_t live_before;
static int says; /* standard error, whatever becomes of it */

__attribute__((constructor)) static void keep_standard_error(void)
{
    says = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
}

void cost_begin(void)
{
    live_before = atomic_load(&live);
    atomic_store(&peak, live_before);
    atomic_store(&written, 0);
}

uint64_t cost_memory(void)
{
    return (uint64_t)(atomic_load(&peak) - live_before);
}

uint64_t cost_written(void)
{
    return atomic_load(&written);
}

static void check(const char *what, const char *name, uint64_t cost, uint64_t own, uint64_t times,
                  uint64_t received)
{
    if (cost <= own + times * received)
        return;
    dprintf(says,
            "%s: %" PRIu64 " bytes received, %" PRIu64 " %s; at most %" PRIu64 " and %" PRIu64
            " times what was received\n",
            what, received, cost, name, own, times);
    abort();
}

void cost_check(const char *what, const cost_law *law, uint64_t received)
{
    check(what, "of memory", cost_memory(), law->memory, law->memory_times, received);
    check(what, "written", cost_written(), law->written, law->written_times, received);
}
