/* file_map.c - files as memory. Prefix: file_.
 *
 * A writable map changes the file itself, which is safe for payloads whose bits are only ever set:
 * whatever part of the changes reaches the disk, no key of the last sync is lost. The header says
 * "dirty" from before the first change until after the last. */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static void file_drop_map(tamis *f)
{
    /* A sync that fails shows in the file itself, which stays marked as dirty. */
    (void)!tamis_sync(f);
    munmap(f->block, f->block_size);
    if (f->fd >= 0)
        tamis__file_close(f->fd);
}

static tamis_status file_lock(const image_source *s)
{
    if (flock(s->fd, LOCK_EX | LOCK_NB) == 0)
        return TAMIS_OK;
    return errno == EWOULDBLOCK ? TAMIS_BUSY : TAMIS_IO;
}

tamis_status tamis__open_locked(image_source *s, const char *path)
{
    for (;;) {
        tamis_status status = tamis__file_open(s, path, O_RDWR);
        if (status)
            return status;
        status = file_lock(s);
        /* A save may have put another file under the name before this one was locked. */
        tamis_status named = status ? status : tamis__file_is_named(s->fd, path);
        if (!named)
            return TAMIS_OK;
        tamis__file_close(s->fd);
        if (status || named != TAMIS_BUSY)
            return named;
    }
}

/* Whether this header may be mapped that way. */
static tamis_status file_admit_map(const image_header *h, const image_source *s, unsigned flags)
{
    if (flags & TAMIS_MAP_WRITE) {
        if (!(tamis_kind_can(h->plan.kind) & TAMIS_CAN_READ_WHILE_ADD))
            return TAMIS_CANNOT;
        if (!tamis__header_is_ours(h))
            return TAMIS_NEWER;
        if (h->dirty && !(flags & TAMIS_MAP_RECOVER))
            return TAMIS_DIRTY;
        return tamis__file_reserve(s->fd, s->size) ? TAMIS_OK : TAMIS_IO;
    }
    return h->dirty && !tamis__file_is_being_written(s->fd) ? TAMIS_DIRTY : TAMIS_OK;
}

static tamis_status file_map_pages(tamis **out, const image_header *h, image_source s,
                                   unsigned flags, const tamis_allocator *a)
{
    int protection = flags & TAMIS_MAP_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    void *block = mmap(NULL, (size_t)s.size, protection, MAP_SHARED, s.fd, 0);
    tamis *f;

    if (block == MAP_FAILED)
        return errno == ENOMEM ? TAMIS_NOMEM : TAMIS_IO;
    s.memory = block;
    tamis_status status = tamis__image_borrow(&f, h, &s, a);
    if (status) {
        munmap(block, (size_t)s.size);
        return status;
    }
    f->block = block;
    f->block_size = (size_t)s.size;
    f->drop = file_drop_map;
    *out = f;
    return TAMIS_OK;
}

/* The payload after a crash holds every synced key; what was counted since is estimated. */
static tamis_status file_recover_map(tamis *f)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    double estimate = rint(info.cardinality);
    /* Exact kinds do not estimate. */
    if (estimate > (double)f->count || !f->ops.rate)
        f->count = (uint64_t)estimate;
    if (f->ops.verify && f->ops.verify(f))
        return TAMIS_CORRUPT;
    return tamis_sync(f);
}

/* Whatever part of a header a failed write has left in the file: it is a whole one that says
 * "dirty" then, and can be recovered. Through the map, which needs no call that may fail. */
static void file_give_up(tamis *f)
{
    uint8_t header[IMAGE_HEADER];

    tamis__image_dirty_header(header, f);
    memcpy(f->block, header, sizeof header);
    __atomic_store_n(&f->lost, errno ? errno : EIO, __ATOMIC_RELEASE);
}

/* As at the time when it happened. */
static tamis_status file_is_lost(const tamis *f)
{
    int error = __atomic_load_n(&f->lost, __ATOMIC_ACQUIRE);

    if (!error)
        return TAMIS_OK;
    errno = error;
    return TAMIS_IO;
}

/* Marks the file as dirty, on disk, before its first change. Several threads may come here at once:
 * all write the same bytes, and none goes on before they are on disk. */
static tamis_status file_unseal_map(tamis *f)
{
    uint8_t header[IMAGE_HEADER];

    if (file_is_lost(f))
        return TAMIS_IO;
    if (!__atomic_load_n(&f->sealed, __ATOMIC_ACQUIRE))
        return TAMIS_OK;
    tamis__image_dirty_header(header, f);
    if (!tamis__file_write(f->fd, 0, header, sizeof header) || fsync(f->fd) != 0) {
        file_give_up(f);
        return TAMIS_IO;
    }
    __atomic_store_n(&f->sealed, false, __ATOMIC_RELEASE);
    return TAMIS_OK;
}

/* Syncing computes every checksum anew: damage that is there already must not get one. */
static tamis_status file_make_writable(tamis *f, const image_source *s, bool dirty)
{
    tamis_status status = dirty ? TAMIS_OK : tamis_verify(f, NULL, NULL);

    if (status)
        return status;
    f->readonly = false;
    f->sealed = !dirty;
    f->fd = s->fd;
    f->unseal = file_unseal_map;
    return dirty ? file_recover_map(f) : TAMIS_OK;
}

/* The descriptor stays open in *out if that is writable. */
tamis_status tamis__map_source(tamis **out, const image_source *s, unsigned flags,
                               const tamis_allocator *a)
{
    image_header h;
    tamis *f;
    tamis_status status = tamis__header_read(&h, s);

    if (!status)
        status = file_admit_map(&h, s, flags);
    /* The writer may have gone, and left a whole file, since the header was read. */
    if (status == TAMIS_DIRTY && !tamis__header_read(&h, s) && !h.dirty)
        status = file_admit_map(&h, s, flags);
    if (!status)
        status = file_map_pages(&f, &h, *s, flags, a);
    if (!status && flags & TAMIS_MAP_WRITE) {
        status = file_make_writable(f, s, h.dirty);
        if (status) {
            f->fd = -1;
            tamis_free(f);
        }
    }
    if (!status)
        *out = f;
    return status;
}

tamis_status tamis_map(tamis **out, const char *path, unsigned flags, const tamis_allocator *a)
{
    image_source s;

    if (flags & ~(unsigned)(TAMIS_MAP_WRITE | TAMIS_MAP_RECOVER))
        return TAMIS_RANGE;
    if (flags & TAMIS_MAP_RECOVER)
        flags |= TAMIS_MAP_WRITE;
    tamis_status status = flags & TAMIS_MAP_WRITE ? tamis__open_locked(&s, path)
                                                  : tamis__file_open(&s, path, O_RDONLY);
    if (status)
        return status;
    status = tamis__map_source(out, &s, flags, a);
    if (status || !(flags & TAMIS_MAP_WRITE))
        tamis__file_close(s.fd);
    return status;
}

tamis_status tamis_sync(tamis *f)
{
    if (f->fd < 0)
        return TAMIS_OK;
    if (file_is_lost(f))
        return TAMIS_IO;
    if (f->sealed)
        return TAMIS_OK;
    /* The payload reaches the disk before the header that vouches for it. Once a sync has failed,
     * pages may be lost that a second one would find clean: the file stays, or is made, dirty. */
    tamis_status status =
        msync(f->block, f->block_size, MS_SYNC) == 0 ? tamis__file_seal(f->fd, f, NULL) : TAMIS_IO;
    if (!status && fsync(f->fd) != 0)
        status = TAMIS_IO;
    if (status == TAMIS_IO)
        file_give_up(f);
    f->sealed = !status;
    return status;
}
