/* draft.c - a filter that is made in its file, from the lowest fingerprint to the highest.
 *
 * The file is mapped and written through. Since fingerprints ascend, so do the pages that are
 * written: those behind are sent to disk and dropped from memory, of which a draft takes no more
 * than a few stretches however large the filter is. */
#include "os/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "core/memory.h"

/* Long enough that a disk writes it at full speed. */
static const uint64_t STRETCH = 8 << 20;

static tamis_status map_draft(draft *d)
{
    if (ftruncate(d->save.fd, (off_t)d->size) != 0 || !tamis__file_reserve(d->save.fd, d->size))
        return TAMIS_IO;
    d->map = mmap(NULL, d->size, PROT_READ | PROT_WRITE, MAP_SHARED, d->save.fd, 0);
    if (d->map != MAP_FAILED)
        return TAMIS_OK;
    d->map = NULL;
    return errno == ENOMEM ? TAMIS_NOMEM : TAMIS_IO;
}

tamis_status tamis__draft_begin(draft *d, const char *path, const tamis_plan *plan)
{
    *d = (draft){ .size = (size_t)tamis__image_size(plan) };
    tamis__filter_init(&d->filter, plan, NULL);
    d->writer.f = &d->filter;
    tamis_status status = tamis__save_begin(&d->save, path, plan->hasher.hash == TAMIS_KEYED);
    if (status)
        return status;
    status = map_draft(d);
    if (status)
        return tamis__save_end(&d->save, status);
    d->filter.payload = d->map + tamis__image_offset(plan);
    return TAMIS_OK;
}

void tamis__forget_pages(void *map, uint64_t from, uint64_t to)
{
    from = round_up(from, 1 << 16);
    to &= ~UINT64_C(0xffff);
    if (from < to)
        (void)madvise((uint8_t *)map + from, (size_t)(to - from), MADV_DONTNEED);
}

/* What lies two stretches back is on disk, or nearly so: waiting for it keeps the pages that wait
 * to be written few. */
static void let_go(draft *d, uint64_t offset)
{
    int fd = d->save.fd;

    (void)sync_file_range(fd, (off_t)d->written, (off_t)(offset - d->written),
                          SYNC_FILE_RANGE_WRITE);
    (void)sync_file_range(fd, (off_t)d->left, (off_t)(d->written - d->left),
                          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                              SYNC_FILE_RANGE_WAIT_AFTER);
    tamis__forget_pages(d->map, d->left, d->written);
    (void)posix_fadvise(fd, (off_t)d->left, (off_t)(d->written - d->left), POSIX_FADV_DONTNEED);
    d->left = d->written;
    d->written = offset;
}

tamis_status tamis__draft_append(draft *d, uint64_t fingerprint, uint64_t count)
{
    const tamis_plan *p = &d->filter.plan;
    uint64_t quotient = fingerprint >> p->width;
    uint64_t offset = (uint64_t)((double)quotient / (double)p->slots * (double)p->bytes);

    if (offset > d->written + STRETCH)
        let_go(d, offset);
    return d->filter.ops.append(&d->writer, fingerprint, count);
}

static tamis_status write_rest(draft *d)
{
    image_sink sink = tamis__save_sink(&d->save);
    image_source written = tamis__save_source(&d->save);

    return tamis__image_encode(&d->filter, &written, &sink) ? TAMIS_OK : TAMIS_IO;
}

tamis_status tamis__draft_complete(draft *d, tamis_status status)
{
    (void)d->filter.ops.append(&d->writer, 0, 0);
    munmap(d->map, d->size);
    return status ? status : write_rest(d);
}
