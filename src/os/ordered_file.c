/* ordered_file.c - a filter of a kind in order, written straight into its file.
 *
 * The file is mapped and written through. Since fingerprints ascend, so do the pages that are
 * written: those behind are sent to disk and dropped from memory, of which no more than a few
 * stretches are taken however large the filter is. */
#include "os/ordered_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "core/memory.h"

/* Long enough that a disk writes it at full speed. */
static const uint64_t STRETCH = 8 << 20;

static tamis_status ordered_file_map(ordered_file *o)
{
    if (ftruncate(o->save.fd, (off_t)o->size) != 0 || !tamis__file_reserve(o->save.fd, o->size))
        return TAMIS_IO;
    o->map = mmap(NULL, o->size, PROT_READ | PROT_WRITE, MAP_SHARED, o->save.fd, 0);
    if (o->map != MAP_FAILED)
        return TAMIS_OK;
    o->map = NULL;
    return errno == ENOMEM ? TAMIS_NOMEM : TAMIS_IO;
}

tamis_status tamis__ordered_file_begin(ordered_file *o, const char *path, const tamis_plan *plan)
{
    *o = (ordered_file){ .size = (size_t)tamis__image_size(plan) };
    tamis__filter_init(&o->filter, plan, NULL);
    o->writer.f = &o->filter;
    tamis_status status = tamis__save_begin(&o->save, path, plan->hasher.hash == TAMIS_KEYED);
    if (status)
        return status;
    status = ordered_file_map(o);
    if (status)
        return tamis__save_end(&o->save, status);
    o->filter.payload = o->map + tamis__image_offset(plan);
    return TAMIS_OK;
}

void tamis__forget_pages(void *map, uint64_t from, uint64_t to)
{
    from = round_up(from, 1 << 16);
    to &= ~UINT64_C(0xffff);
    if (from < to)
        (void)madvise((uint8_t *)map + from, (size_t)(to - from), MADV_DONTNEED);
}

/* The kernel tells of a page that it could not write by the first call that waits for it, and by no
 * later one: an fsync() that follows succeeds. False: something is lost. */
static bool ordered_file_write_back(int fd, uint64_t from, uint64_t to, unsigned flags)
{
    /* A length of 0 would reach to the end of the file. */
    if (from == to || sync_file_range(fd, (off_t)from, (off_t)(to - from), flags) == 0)
        return true;
    /* Not every file system and emulator knows the call, which says nothing of the data then. */
    return errno == ENOSYS || errno == EINVAL || errno == ESPIPE;
}

/* What lies two stretches back is on disk, or nearly so: waiting for it keeps the pages that wait
 * to be written few. What could not be written must not be read again for its checksums. */
static bool ordered_file_let_go(ordered_file *o, uint64_t offset)
{
    int fd = o->save.fd;

    if (!ordered_file_write_back(fd, o->written, offset, SYNC_FILE_RANGE_WRITE) ||
        !ordered_file_write_back(fd, o->left, o->written,
                                 SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                     SYNC_FILE_RANGE_WAIT_AFTER))
        return false;
    tamis__forget_pages(o->map, o->left, o->written);
    (void)posix_fadvise(fd, (off_t)o->left, (off_t)(o->written - o->left), POSIX_FADV_DONTNEED);
    o->left = o->written;
    o->written = offset;
    return true;
}

tamis_status tamis__ordered_file_append(ordered_file *o, uint64_t fingerprint, uint64_t count)
{
    const tamis_plan *p = &o->filter.plan;
    bool is_whole = ops_have_whole_hashes(&o->filter.ops);
    double all = is_whole ? 0x1p64 : (double)(p->slots << p->width);
    uint64_t offset = (uint64_t)((double)fingerprint / all * (double)p->bytes);

    if (offset > o->written + STRETCH && !ordered_file_let_go(o, offset))
        return TAMIS_IO;
    return o->filter.ops.append(&o->writer, fingerprint, count);
}

tamis_status tamis__ordered_file_complete(ordered_file *o, tamis_status status)
{
    (void)o->filter.ops.append(&o->writer, 0, 0);
    munmap(o->map, o->size);
    return status ? status : tamis__save_seal(&o->save, &o->filter);
}
