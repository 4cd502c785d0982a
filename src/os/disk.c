/* disk.c - filters larger than memory: a file, and what is to be merged into it.
 *
 * Two small filters of the same fingerprints wait in memory: of keys added, and of keys to be
 * removed from the file. (A key that is removed while it waits just leaves the first of them.)
 * What is held of a fingerprint is therefore
 *
 *   added + max(0, file - removed)
 *
 * and a removal of what was never there takes nothing away from later adds. Fewer slots make for
 * longer remainders, of the same fingerprints: so all three are read in order, side by side, and
 * the result is a new file, written from its beginning to its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/hash.h"
#include "core/memory.h"
#include "core/order.h"
#include "core/plan.h"
#include "core/sized.h"
#include "os/ordered_file.h"
#include "tamis_disk.h"

/* See "Room" below. Found out when the first key comes. */
typedef struct disk_rooms {
    uint64_t *free, *left;
    unsigned bits;
    uint64_t counted; /* copies that waited when what they take was last looked at */
} disk_rooms;

struct tamis_disk {
    tamis *file;      /* mapped */
    int fd;           /* of it, locked */
    bool trusted;     /* checked, or written by us */
    bool is_unsynced; /* written by us, and a power cut may bring the one before back */
    tamis *added, *removed;
    disk_rooms rooms;
    tamis_disk_options options;
    tamis_allocator alloc;
    char path[PATH_MAX];
};

static size_t disk_rooms_size(unsigned bits)
{
    return 2 * sizeof(uint64_t) << bits;
}

static const uint64_t DEFAULT_MEMORY = 64 << 20, LEAST_MEMORY = 64 << 10;

/* The first size: see core/sized.h. */
enum { DISK_OPTIONS = SIZED_UP_TO(tamis_disk_options, alloc) };

/* ---- Life -------------------------------------------------------------- */

/* An empty filter of the file's fingerprints: the largest plan within `bytes`, and no larger than
 * the file can grow. */
static tamis_status disk_make_waiting(tamis **out, const tamis_plan *file, uint64_t bytes,
                                      const tamis_allocator *a)
{
    tamis_plan plan = *file, next = *file;

    for (uint64_t keys = plan.capacity / 2; plan.bytes > bytes && keys > 0; keys /= 2) {
        if (tamis__plan_resize(&next, keys))
            break;
        if (next.bytes < plan.bytes)
            plan = next;
    }
    next = plan;
    while (tamis__plan_grows(file) && tamis__plan_enlarge(&next) == TAMIS_OK && next.bytes <= bytes)
        plan = next;
    return tamis_new(out, &plan, a);
}

/* A query wants one page and none of its neighbours. */
static tamis_status disk_map_file(tamis **out, const image_source *s)
{
    tamis_status status = tamis__map_source(out, s, 0, NULL);

    if (!status)
        (void)madvise((*out)->block, (*out)->block_size, MADV_RANDOM);
    return status;
}

static tamis_status disk_open_file(tamis_disk *d, const char *path)
{
    image_source s;
    tamis_status status = tamis__open_locked(&s, path);

    if (status)
        return status;
    d->fd = s.fd;
    if (!realpath(path, d->path))
        return TAMIS_IO;
    status = disk_map_file(&d->file, &s);
    if (status)
        return status;
    if (!d->file->ops.append || ops_have_whole_hashes(&d->file->ops))
        return TAMIS_CANNOT;
    /* Most programs remove less than they add. */
    const tamis_plan *plan = &d->file->plan;
    status = disk_make_waiting(&d->added, plan, d->options.memory / 4 * 3, &d->alloc);
    return status ? status : disk_make_waiting(&d->removed, plan, d->options.memory / 4, &d->alloc);
}

tamis_status tamis_disk_open(tamis_disk **out, const char *path, const tamis_disk_options *o)
{
    tamis_disk_options options = TAMIS_DISK_OPTIONS();

    if (o && !tamis__sized_take(&options, sizeof options, DISK_OPTIONS, o))
        return TAMIS_RANGE;
    if (options.memory == 0)
        options.memory = DEFAULT_MEMORY;
    if (options.memory < LEAST_MEMORY)
        return TAMIS_NOMEM;
    tamis_allocator alloc = options.alloc ? *options.alloc : tamis__default_allocator;
    tamis_disk *d = alloc.alloc(alloc.ctx, sizeof *d);
    if (!d)
        return TAMIS_NOMEM;
    *d = (tamis_disk){ .fd = -1, .options = options, .alloc = alloc };
    tamis_status status = disk_open_file(d, path);
    if (status)
        tamis_disk_free(d);
    else
        *out = d;
    return status;
}

static void disk_close_rooms(tamis_disk *d)
{
    if (d->rooms.free)
        d->alloc.free(d->alloc.ctx, d->rooms.free, disk_rooms_size(d->rooms.bits));
    d->rooms = (disk_rooms){ .free = NULL };
}

void tamis_disk_free(tamis_disk *d)
{
    int error = errno;

    if (!d)
        return;
    tamis_free(d->file);
    tamis_free(d->added);
    tamis_free(d->removed);
    disk_close_rooms(d);
    if (d->fd >= 0)
        close(d->fd); /* it was only locked: what was written was synced */
    d->alloc.free(d->alloc.ctx, d, sizeof *d);
    errno = error;
}

const tamis *tamis_disk_file(const tamis_disk *d)
{
    return d->file;
}

/* ---- Merging ----------------------------------------------------------- */

enum { DISK_FILE, DISK_ADDED, DISK_REMOVED, DISK_SIDES };

typedef struct disk_merge {
    tamis_disk *d;
    ordered_file *out;
    order_side sides[DISK_SIDES];
    uint64_t passed; /* bytes of the old file */
} disk_merge;

/* Now and then: how far it is, and pages of the old file that are done with. */
static tamis_status disk_report(disk_merge *m, uint64_t fingerprint)
{
    const tamis *f = m->d->file;
    const tamis_disk_options *o = &m->d->options;
    uint64_t at = fingerprint >> f->plan.width, total = f->plan.slots;
    uint64_t offset = (uint64_t)((double)at / (double)total * (double)f->plan.bytes);

    if (offset > m->passed + (8 << 20)) {
        tamis__forget_pages(f->block, m->passed, offset);
        m->passed = offset;
    }
    return o->progress && !o->progress(o->ctx, at, total) ? TAMIS_STOPPED : TAMIS_OK;
}

/* What is left of a fingerprint. */
static tamis_status disk_merge_one(disk_merge *m, uint64_t fingerprint)
{
    uint64_t count = m->sides[DISK_FILE].count, gone = m->sides[DISK_REMOVED].count, held;

    if (add_overflows(count > gone ? count - gone : 0, m->sides[DISK_ADDED].count, &held))
        return TAMIS_CORRUPT;
    return held ? tamis__ordered_file_append(m->out, fingerprint, held) : TAMIS_OK;
}

enum { REPORT_EVERY = 1 << 16 };

/* The file may have been changed by others after it was verified: writers rely on the order, so it
 * is looked at. */
static tamis_status disk_merge_all(disk_merge *m)
{
    const tamis_plan *plan = &m->d->file->plan;
    uint64_t low = 0, end = plan->slots << plan->width, fingerprint;
    tamis_status status = TAMIS_OK;

    for (uint64_t i = 0; !status && tamis__order_next(m->sides, DISK_SIDES, &fingerprint); i++) {
        status = fingerprint < low || fingerprint >= end ? TAMIS_CORRUPT
                                                         : disk_merge_one(m, fingerprint);
        low = fingerprint + 1;
        if (!status && i % REPORT_EVERY == 0)
            status = disk_report(m, fingerprint);
    }
    return status ? status : tamis__order_failure(m->sides, DISK_SIDES);
}

/* ---- Changing over ----------------------------------------------------- */

/* A file that is whole and has no name yet, mapped and locked: when it has one, nothing can fail
 * any more. */
typedef struct disk_successor {
    tamis *file;
    int fd;
} disk_successor;

static tamis_status disk_map_successor(disk_successor *n, const file_save *save)
{
    image_source s;

    n->fd = fcntl(save->fd, F_DUPFD_CLOEXEC, 0);
    if (n->fd < 0 || flock(n->fd, LOCK_EX | LOCK_NB) != 0)
        return TAMIS_IO;
    tamis_status status = tamis__file_source(&s, n->fd);
    return status ? status : disk_map_file(&n->file, &s);
}

static void disk_drop_successor(disk_successor *n)
{
    int error = errno;

    tamis_free(n->file);
    if (n->fd >= 0)
        close(n->fd); /* only locked: one that has the name was synced */
    errno = error;
}

/* That the folder could not be synced is for tamis_disk_flush() to tell. */
static tamis_status disk_write_to(ordered_file *next, tamis_disk *d, const tamis_plan *plan)
{
    disk_successor n = { NULL, -1 };
    tamis_status status = tamis__ordered_file_begin(next, d->path, plan);

    if (status)
        return status;
    next->filter.note = d->file->note;
    (void)madvise(d->file->block, d->file->block_size, MADV_SEQUENTIAL);
    disk_merge m = { .d = d,
                     .out = next,
                     .sides = { [DISK_FILE] = tamis__order_side(d->file),
                                [DISK_ADDED] = tamis__order_side(d->added),
                                [DISK_REMOVED] = tamis__order_side(d->removed) } };
    status = tamis__ordered_file_complete(next, disk_merge_all(&m));
    (void)madvise(d->file->block, d->file->block_size, MADV_RANDOM);
    if (!status)
        status = disk_map_successor(&n, &next->save);
    status = tamis__save_end(&next->save, status);
    bool has_changed = !status || status == TAMIS_UNSYNCED;
    disk_successor old = has_changed ? (disk_successor){ d->file, d->fd } : n;
    if (has_changed) {
        d->file = n.file;
        d->fd = n.fd;
        d->is_unsynced = status == TAMIS_UNSYNCED;
        disk_close_rooms(d);
        tamis__payload_clear(d->added);
        tamis__payload_clear(d->removed);
    }
    disk_drop_successor(&old);
    return has_changed ? TAMIS_OK : status;
}

static tamis_status disk_write_anew(tamis_disk *d, const tamis_plan *plan)
{
    ordered_file *next = d->alloc.alloc(d->alloc.ctx, sizeof *next); /* too large for a stack */

    if (!next)
        return TAMIS_NOMEM;
    tamis_status status = disk_write_to(next, d, plan);
    d->alloc.free(d->alloc.ctx, next, sizeof *next);
    return status;
}

/* ---- Flushing ---------------------------------------------------------- */

/* What is copied from a file that others made is checked whole, once. */
static tamis_status disk_check_file(tamis_disk *d)
{
    tamis_status status = tamis__file_is_named(d->fd, d->path);

    if (status)
        return status;
    status = d->trusted ? TAMIS_OK : tamis_verify(d->file, NULL, NULL);
    d->trusted = !status;
    return status;
}

static bool disk_is_waiting(const tamis_disk *d)
{
    return d->added->count || d->removed->count;
}

/* What waits fits: a file that has no room for it is not what it was. */
static tamis_status disk_merge_waiting(tamis_disk *d)
{
    tamis_status status = disk_check_file(d);

    if (!status)
        status = disk_write_anew(d, &d->file->plan);
    return status == TAMIS_FULL ? TAMIS_CORRUPT : status;
}

/* A sync that failed is not tried again: what it was to write may be lost. So the file is written
 * once more, and gets its name once more. */
tamis_status tamis_disk_flush(tamis_disk *d)
{
    tamis_status status = TAMIS_OK;

    if (disk_is_waiting(d) || d->is_unsynced)
        status = disk_merge_waiting(d);
    return !status && d->is_unsynced ? TAMIS_UNSYNCED : status;
}

/* Twice the room in the file, if that helps. In there counts may take more slots: TAMIS_FULL, if
 * they do not fit in twice as many. */
static tamis_status disk_grow(tamis_disk *d)
{
    tamis_plan plan = d->file->plan;
    uint64_t needed = tamis__order_used(d->file) + tamis__order_used(d->added);

    if (!tamis__plan_grows(&plan) || tamis__plan_grow(&plan, needed))
        return TAMIS_FULL;
    tamis_status status = disk_check_file(d);
    return status ? status : disk_write_anew(d, &plan);
}

/* ---- Room -------------------------------------------------------------- */

/* Keys wait only if they are known to fit in the file as it is, with all that waits: so it is when
 * keys are added that a file is full, and never when they are merged.
 *
 * For each range of fingerprints, `free` is the number of free slots in the file, and `left` how
 * many more keys may wait. Each key takes one from `left`; copies of one fingerprint may take fewer
 * slots than that, which a recount finds out. What is done with a key:
 *
 *   left of its range       what waits       done
 *   1 or more               has room         the key waits
 *   1 or more               is full          flush: merge what waits into the file
 *   0                       nothing          grow the file; TAMIS_FULL if it cannot
 *   0, recount not due      something        flush: keys that were removed may leave room
 *   0, recount due          something        recount; if it is still 0, grow, or else flush
 *
 * A recount reads all that waits: it is due when an eighth of that is new. */

static tamis_status disk_open_rooms(tamis_disk *d)
{
    disk_rooms r = { .bits = d->file->ops.room(d->file, 0, 0).range_bits };
    size_t n = (size_t)1 << r.bits;

    r.free = d->alloc.alloc(d->alloc.ctx, disk_rooms_size(r.bits));
    if (!r.free)
        return TAMIS_NOMEM;
    r.left = r.free + n;
    for (size_t i = 0; i < n; i++)
        r.left[i] = r.free[i] = d->file->ops.room(d->file, i, 0).free;
    d->rooms = r;
    return TAMIS_OK;
}

static uint64_t *disk_left_for(const tamis_disk *d, uint64_t key)
{
    unsigned bits = d->rooms.bits;

    return d->rooms.left + (bits ? hash_key(key, d->file->salt) >> (64 - bits) : 0);
}

/* Copies that wait side by side may take less than a slot each. */
static tamis_status disk_recount(tamis_disk *d)
{
    disk_rooms *r = &d->rooms;
    const tamis_plan *plan = &d->file->plan;
    uint64_t range = plan->slots << plan->width >> r->bits;
    tamis_cursor c = { .f = d->added };

    memcpy(r->left, r->free, sizeof *r->left << r->bits);
    while (c.f->ops.next(&c)) {
        uint64_t at = c.fingerprint / range;
        r->left[at] -= d->file->ops.room(d->file, at, c.count).needed;
    }
    r->counted = d->added->count;
    return c.status;
}

/* ---- Changes ----------------------------------------------------------- */

/* How many of the keys fit, up to the first that may not. */
static size_t disk_take_room(tamis_disk *d, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t *left = disk_left_for(d, keys[i]);
        if (!*left)
            return i;
        --*left;
    }
    return n;
}

/* TAMIS_FULL: there is no more room in what waits, or else none for the next key. */
static tamis_status disk_add_some(tamis_disk *d, size_t *added, const uint64_t *keys, size_t n)
{
    tamis_status status = d->rooms.free ? TAMIS_OK : disk_open_rooms(d);

    if (status)
        return status;
    size_t some = disk_take_room(d, keys, n);
    status = d->added->ops.add_many(d->added, added, keys, some);
    for (size_t i = *added; i < some; i++)
        ++*disk_left_for(d, keys[i]);
    return status || some == n ? status : TAMIS_FULL;
}

static tamis_status disk_make_room(tamis_disk *d, uint64_t key)
{
    bool waits = disk_is_waiting(d), is_crowded = !*disk_left_for(d, key), is_exact = !waits;
    tamis_status status = TAMIS_FULL;
    /* Where each copy takes a slot, a recount would find nothing. */
    bool may_share = d->file->ops.room(d->file, 0, UINT64_MAX).needed < UINT64_MAX;

    if (is_crowded && waits && may_share &&
        d->added->count > d->rooms.counted + tamis__order_used(d->added) / 8) {
        status = disk_recount(d);
        if (status || *disk_left_for(d, key))
            return status;
        is_exact = true;
        status = TAMIS_FULL;
    }
    if (is_crowded && is_exact)
        status = disk_grow(d);
    return status == TAMIS_FULL && waits ? disk_merge_waiting(d) : status;
}

tamis_status tamis_disk_add_many(tamis_disk *d, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t total;

    *added = 0;
    /* No count, which is at most that of all, passes 2^64. */
    if (add_overflows(d->file->count, d->added->count, &total) || add_overflows(total, n, &total))
        return TAMIS_RANGE;
    while (*added < n) {
        size_t more = 0, left = n - *added, most = (size_t)d->added->plan.capacity + 1;
        tamis_status status = disk_add_some(d, &more, keys + *added, left < most ? left : most);
        *added += more;
        if (status == TAMIS_FULL)
            status = disk_make_room(d, keys[*added]);
        if (status)
            return status;
    }
    return TAMIS_OK;
}

static tamis_status disk_remove_one(tamis_disk *d, uint64_t key)
{
    if (tamis_remove(d->added, key) == TAMIS_OK)
        return TAMIS_OK;
    tamis_status status = d->removed->ops.add(d->removed, key, 1);
    if (status != TAMIS_FULL)
        return status;
    status = disk_merge_waiting(d);
    return status ? status : d->removed->ops.add(d->removed, key, 1);
}

tamis_status tamis_disk_remove_keys(tamis_disk *d, size_t *removed, const uint64_t *keys, size_t n)
{
    for (*removed = 0; *removed < n; ++*removed) {
        tamis_status status = disk_remove_one(d, keys[*removed]);
        if (status)
            return status;
    }
    return TAMIS_OK;
}

tamis_status tamis_disk_remove_many(tamis_disk *d, const uint64_t *keys, size_t n)
{
    size_t removed;

    return tamis_disk_remove_keys(d, &removed, keys, n);
}

/* ---- Queries ----------------------------------------------------------- */

/* On the stack, below what a lookup takes. */
enum { PIECE = 128 };

static uint64_t disk_left_in_file(const tamis_disk *d, uint64_t key)
{
    uint64_t count = tamis_count(d->file, key), gone = tamis_count(d->removed, key);

    return count > gone ? count - gone : 0;
}

/* Keys that do not wait in memory are looked up in the file. */
static size_t disk_has_piece(const tamis_disk *d, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t others[PIECE], found[PIECE / 64];
    uint16_t index[PIECE];
    size_t total = tamis_has_many(d->added, hits, keys, n);
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
        if (!(hits[i / 64] >> i % 64 & 1)) {
            others[m] = keys[i];
            index[m++] = (uint16_t)i;
        }
    tamis_has_many(d->file, found, others, m);
    for (size_t i = 0; i < m; i++)
        if (found[i / 64] >> i % 64 & 1 &&
            (!d->removed->count || disk_left_in_file(d, others[i]))) {
            hits[index[i] / 64] |= UINT64_C(1) << index[i] % 64;
            total++;
        }
    return total;
}

size_t tamis_disk_has_many(const tamis_disk *d, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i += PIECE)
        found += disk_has_piece(d, hits + i / 64, keys + i, n - i < PIECE ? n - i : PIECE);
    return found;
}

void tamis_disk_count_many(const tamis_disk *d, uint64_t *counts, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        counts[i] = tamis_count(d->added, keys[i]) + disk_left_in_file(d, keys[i]);
}
