/* editor.c - many named filters in one file, for the one who changes it.
 *
 * Images are appended, then a new directory, and all that is synced; then the header is switched to
 * it by one write of 64 bytes, in a sector of its own. A program that is killed before leaves a
 * file with something behind its end that nobody will ever look at, and that the next editor
 * overwrites. A second copy of the slot follows the first: the two are not damaged at once by what
 * damages one.
 *
 * A new collection, and one that is compacted, are written beside and renamed, as every filter is
 * (os/file_save.c). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "core/memory.h"
#include "core/note.h"
#include "os/editor.h"

/* ---- Names ------------------------------------------------------------- */

/* The place of a name in the table, or the empty one where it would be. */
static size_t editor_place(const tamis_editor *e, const char *text, size_t length, uint64_t hash)
{
    size_t place = (size_t)hash & (e->table_size - 1);

    for (; e->table[place]; place = (place + 1) & (e->table_size - 1)) {
        const editor_name *n = editor_name_at(e, e->table[place] - 1);
        if (n->hash == hash && n->length == length && memcmp(editor_text(e, n), text, length) == 0)
            break;
    }
    return place;
}

static tamis_status editor_grow_table(tamis_editor *e)
{
    size_t before = e->table_size, size = before ? 2 * before : 256;
    uint32_t *old = e->table;

    if (e->names.n >= UINT32_MAX / 2)
        return TAMIS_FULL;
    uint32_t *table = e->alloc.alloc(e->alloc.ctx, size * sizeof *table);
    if (!table)
        return TAMIS_NOMEM;
    memset(table, 0, size * sizeof *table);
    e->table = table;
    e->table_size = size;
    for (size_t i = 0; i < e->names.n; i++) {
        const editor_name *n = editor_name_at(e, i);
        table[editor_place(e, editor_text(e, n), n->length, n->hash)] = (uint32_t)i + 1;
    }
    if (old)
        e->alloc.free(e->alloc.ctx, old, before * sizeof *old);
    return TAMIS_OK;
}

/* The number of a name, which is new if it was not there. */
static tamis_status editor_enter(tamis_editor *e, size_t *number, const char *text, size_t length)
{
    uint64_t hash = tamis__collection_hash(text, length, 0);

    if (4 * (e->names.n + 1) > 3 * e->table_size) {
        tamis_status status = editor_grow_table(e);
        if (status)
            return status;
    }
    size_t place = editor_place(e, text, length, hash);
    *number = e->table[place] - (size_t)1;
    if (e->table[place])
        return TAMIS_OK;
    if (!tamis__list_reserve(&e->names, &e->alloc, 1) ||
        !tamis__list_reserve(&e->texts, &e->alloc, length))
        return TAMIS_NOMEM;
    const editor_name n = { .hash = hash, .text = e->texts.n, .length = (uint8_t)length };
    *number = e->names.n;
    list_push(&e->names, &n, 1);
    list_push(&e->texts, text, length);
    e->table[place] = (uint32_t)*number + 1;
    return TAMIS_OK;
}

/* ---- Writing ----------------------------------------------------------- */

bool tamis__editor_flush(tamis_editor *e)
{
    bool done = tamis__file_write(e->fd, e->end - e->buffered, e->buffer, e->buffered);

    e->buffered = 0;
    return done;
}

bool tamis__editor_write(void *ctx, const void *bytes, size_t size)
{
    tamis_editor *e = ctx;
    const uint8_t *at = bytes;

    while (size > 0) {
        size_t room = sizeof e->buffer - e->buffered, piece = size < room ? size : room;
        memcpy(e->buffer + e->buffered, at, piece);
        e->buffered += piece;
        e->end += piece;
        at += piece;
        size -= piece;
        if (e->buffered == sizeof e->buffer && !tamis__editor_flush(e))
            return false;
    }
    return true;
}

bool tamis__editor_align(tamis_editor *e, uint64_t to)
{
    static const uint8_t zeros[COLLECTION_PAGE];

    return tamis__editor_write(e, zeros, (size_t)(round_up(e->end, to) - e->end));
}

/* Where an image of that size starts: those whose payload starts on a page of its own do too. */
static uint64_t editor_alignment(uint64_t size)
{
    return size > 16 * COLLECTION_PAGE ? COLLECTION_PAGE : 64;
}

static tamis_status editor_begin_anew(tamis_editor *e, bool is_secret)
{
    tamis_status status = tamis__save_begin(&e->save, e->path, is_secret);

    if (status)
        return status;
    e->is_anew = e->has_save = true;
    e->fd = e->save.fd;
    e->end = COLLECTION_PAGE;
    e->slot.generation = 1;
    return TAMIS_OK;
}

/* From a file that is appended to, to a new one: what was appended is old by then. */
static tamis_status editor_leave_old(tamis_editor *e)
{
    tamis_collection *old = e->old;

    if (!tamis__editor_flush(e))
        return TAMIS_IO;
    void *map =
        mremap((void *)(uintptr_t)old->map, (size_t)old->slot.end, (size_t)e->end, MREMAP_MAYMOVE);
    if (map == MAP_FAILED)
        return TAMIS_NOMEM;
    old->map = map;
    old->slot.end = e->end;
    for (size_t i = 0; i < e->names.n; i++)
        editor_name_at(e, i)->is_old = true;
    return editor_begin_anew(e, true);
}

/* Before the first secret gets there. The mode of a collection that others read does not change
 * before it is saved, and some may have it open: a secret goes to a file of its own. */
static tamis_status editor_keep_secret(tamis_editor *e, const tamis *f)
{
    tamis_status status = TAMIS_OK;
    struct stat st;

    if (f->plan.hasher.hash != TAMIS_KEYED || e->slot.flags & COLLECTION_SECRET)
        return TAMIS_OK;
    if (!e->is_anew)
        status = editor_leave_old(e);
    else if (fstat(e->fd, &st) != 0 || fchmod(e->fd, st.st_mode & 07700) != 0)
        status = TAMIS_IO;
    if (!status)
        e->slot.flags |= COLLECTION_SECRET;
    return status;
}

/* ---- Changes ----------------------------------------------------------- */

tamis_status tamis_editor_put(tamis_editor *e, const char *name, const tamis *f)
{
    size_t length = strlen(name), size = tamis_image_size(f), number;

    if (!tamis__note_is_text(name, length))
        return TAMIS_RANGE;
    if (e->is_over)
        return TAMIS_CANNOT;
    tamis_status status = editor_enter(e, &number, name, length);
    if (!status)
        status = editor_keep_secret(e, f);
    if (!status && !tamis__editor_align(e, editor_alignment(size)))
        status = TAMIS_IO;
    uint64_t offset = e->end;
    if (!status)
        status = tamis_image_send(f, tamis__editor_write, e);
    /* What could not be written is not tried again: the file may have lost something before it. */
    if (status == TAMIS_IO)
        e->is_over = true;
    if (status)
        return status;
    editor_name *n = editor_name_at(e, number);
    n->offset = offset;
    n->size = size;
    n->is_old = false;
    return TAMIS_OK;
}

tamis_status tamis_editor_remove(tamis_editor *e, const char *name)
{
    size_t length = strlen(name);

    if (e->is_over)
        return TAMIS_CANNOT;
    if (e->table_size == 0 || length > TAMIS_NAME_MAX)
        return TAMIS_ABSENT;
    size_t place = editor_place(e, name, length, tamis__collection_hash(name, length, 0));
    editor_name *n = e->table[place] ? editor_name_at(e, e->table[place] - 1) : NULL;
    if (!n || n->size == 0)
        return TAMIS_ABSENT;
    n->size = 0;
    return TAMIS_OK;
}

/* ---- Opening ----------------------------------------------------------- */

typedef struct editor_taking {
    tamis_editor *editor;
    tamis_status status;
} editor_taking;

static bool editor_take(void *ctx, const collection_entry *entry)
{
    editor_taking *t = ctx;
    size_t number;

    t->status = editor_enter(t->editor, &number, entry->name, entry->length);
    if (t->status)
        return false;
    editor_name *n = editor_name_at(t->editor, number);
    n->offset = entry->offset;
    n->size = entry->size;
    n->is_old = t->editor->is_anew;
    return true;
}

static tamis_status editor_open_old(tamis_editor *e, const image_source *s)
{
    editor_taking t = { .editor = e };
    tamis_status status = tamis__collection_map(&e->old, s, &e->alloc);
    uint64_t used;

    if (!status)
        status = tamis__collection_used(e->old, &used);
    if (status)
        return status;
    status = tamis__collection_each(e->old, editor_take, &t);
    if (status || t.status)
        return status ? status : t.status;
    if (e->old->slot.generation == UINT64_MAX)
        return TAMIS_FULL;
    e->slot.flags = e->old->slot.flags;
    if (e->is_anew)
        return editor_begin_anew(e, false);
    e->fd = s->fd;
    e->end = e->old->slot.end;
    e->slot.generation = e->old->slot.generation + 1;
    return TAMIS_OK;
}

static tamis_status editor_open_editor(tamis_editor *e, const char *path)
{
    image_source s;

    if (strlen(path) >= sizeof e->path) {
        errno = ENAMETOOLONG;
        return TAMIS_IO;
    }
    strcpy(e->path, path);
    tamis_status status = tamis__open_locked(&s, path);
    if (status == TAMIS_IO && errno == ENOENT)
        return editor_begin_anew(e, false);
    if (status)
        return status;
    e->lock = s.fd;
    return editor_open_old(e, &s);
}

tamis_status tamis_editor_open(tamis_editor **out, const char *path, unsigned flags,
                               const tamis_allocator *a)
{
    const tamis_allocator *from = a ? a : &tamis__default_allocator;

    if (flags & ~(unsigned)TAMIS_EDIT_COMPACT)
        return TAMIS_RANGE;
    tamis_editor *e = from->alloc(from->ctx, sizeof *e);
    if (!e)
        return TAMIS_NOMEM;
    memset(e, 0, offsetof(tamis_editor, buffer));
    e->alloc = *from;
    e->is_anew = flags & TAMIS_EDIT_COMPACT;
    e->names.size = sizeof(editor_name);
    e->texts.size = 1;
    e->lock = e->fd = -1;
    tamis_status status = editor_open_editor(e, path);
    if (status)
        tamis_editor_free(e);
    else
        *out = e;
    return status;
}

void tamis_editor_free(tamis_editor *e)
{
    if (!e)
        return;
    tamis_allocator a = e->alloc;
    int saved = errno;
    if (e->has_save)
        (void)!tamis__save_end(&e->save, TAMIS_STOPPED); /* nothing of it stays */
    tamis__list_free(&e->names, &a);
    tamis__list_free(&e->texts, &a);
    if (e->table)
        a.free(a.ctx, e->table, e->table_size * sizeof *e->table);
    tamis_collection_free(e->old);
    if (e->lock >= 0)
        tamis__file_close(e->lock);
    a.free(a.ctx, e, sizeof *e);
    errno = saved;
}

/* ---- Saving ------------------------------------------------------------ */

/* Copies what stays from the file that is replaced; as it is, damaged or not. */
static bool editor_copy_old(tamis_editor *e)
{
    for (size_t i = 0; i < e->names.n; i++) {
        editor_name *n = editor_name_at(e, i);
        if (!n->is_old || n->size == 0)
            continue;
        const uint8_t *image = e->old->map + n->offset;
        if (!tamis__editor_align(e, editor_alignment(n->size)))
            return false;
        n->offset = e->end;
        n->is_old = false;
        if (!tamis__editor_write(e, image, (size_t)n->size))
            return false;
    }
    return true;
}

static bool editor_write_slot(const tamis_editor *e, const collection_slot *slot, unsigned i)
{
    uint8_t bytes[COLLECTION_SLOT_SIZE];

    tamis__collection_put_slot(bytes, slot);
    return tamis__file_write(e->fd, tamis__collection_slot_offset(slot, i), bytes, sizeof bytes);
}

/* The slots that hold now are written again: one of them may be damaged, or missing if its writer
 * was stopped before. */
static bool editor_mend_header(const tamis_editor *e)
{
    return editor_write_slot(e, &e->old->slot, 0) && editor_write_slot(e, &e->old->slot, 1);
}

/* From the first slot on, readers see the new directory; until it is synced, a power cut may bring
 * the old one back. */
static tamis_status editor_switch(tamis_editor *e)
{
    if (!editor_mend_header(e) || fsync(e->fd) != 0 || !editor_write_slot(e, &e->slot, 0))
        return TAMIS_IO;
    if (fsync(e->fd) != 0 || !editor_write_slot(e, &e->slot, 1) || fsync(e->fd) != 0)
        return TAMIS_UNSYNCED;
    return tamis__file_is_named(e->fd, e->path);
}

static tamis_status editor_end_anew(tamis_editor *e, tamis_status status)
{
    uint8_t page[COLLECTION_PAGE] = { 0 };

    tamis__collection_put_magic(page);
    for (unsigned i = 0; i < 2; i++)
        tamis__collection_put_slot(page + tamis__collection_slot_offset(&e->slot, i), &e->slot);
    if (!status && !tamis__file_write(e->fd, 0, page, sizeof page))
        status = TAMIS_IO;
    e->save.must_be_new = e->lock < 0;
    e->has_save = false;
    return tamis__save_end(&e->save, status);
}

tamis_status tamis_editor_save(tamis_editor *e)
{
    tamis_status status = e->is_over ? TAMIS_CANNOT : TAMIS_OK;

    if (status)
        return status;
    e->is_over = true;
    if (e->is_anew && !editor_copy_old(e))
        status = TAMIS_IO;
    if (!status)
        status = tamis__editor_write_directory(e);
    if (e->is_anew)
        return editor_end_anew(e, status);
    return status ? status : editor_switch(e);
}
