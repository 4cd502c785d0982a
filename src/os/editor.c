/* editor.c - many named filters in one file, for the one who changes it.
 *
 * Images are appended, then a new directory, and all that is synced; then the header is switched to
 * it by one write of 64 bytes, in a sector of its own. A program that is killed before leaves a
 * file with something behind its end that nobody will ever look at, and that the next editor
 * overwrites. A second copy of the slot follows the first: the two are not damaged at once by what
 * damages one.
 *
 * A new collection, and one that is compacted, are written beside and renamed, as every filter is
 * (os/file.c). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/sort.h"
#include "core/memory.h"
#include "core/note.h"
#include "os/collection.h"

/* ---- What an editor holds ---------------------------------------------- */

typedef struct editor_name {
    uint64_t offset, size; /* size 0: it was removed */
    uint64_t hash;
    size_t text; /* where it starts among the texts */
    uint8_t length;
    bool is_old; /* its image is in the file that is replaced */
} editor_name;

/* An array that grows. */
typedef struct editor_array {
    void *at;
    size_t n, room; /* items */
    size_t item;    /* size of one */
} editor_array;

enum { EDITOR_BUFFER = 1 << 18 };

struct tamis_editor {
    tamis_allocator alloc;
    tamis_collection *old; /* NULL: there was none */
    collection_slot slot;  /* to be written */
    bool is_anew;          /* all of it goes to a new file, by `save` */
    bool has_save;         /* which was begun, and not ended */
    bool is_over;
    file_save save;
    int lock;                  /* of the old file; -1: there was none */
    int fd;                    /* that is written to: of one of the two */
    editor_array names, texts; /* of editor_name, of bytes */
    uint32_t *table;           /* numbers of names, plus 1, by their hashes */
    size_t table_size;         /* a power of two, or 0 */
    uint64_t end;              /* of what was written, buffer included */
    size_t buffered;
    char path[PATH_MAX];
    uint8_t buffer[EDITOR_BUFFER];
};

static bool editor_reserve(tamis_editor *e, editor_array *a, size_t more)
{
    if (more <= a->room - a->n)
        return true;
    size_t room = a->room + a->room / 2 + more + 64;
    if (room > SIZE_MAX / 2 / a->item)
        return false;
    void *block = e->alloc.alloc(e->alloc.ctx, room * a->item);
    if (!block)
        return false;
    if (a->at) {
        memcpy(block, a->at, a->n * a->item);
        e->alloc.free(e->alloc.ctx, a->at, a->room * a->item);
    }
    a->at = block;
    a->room = room;
    return true;
}

static editor_name *editor_name_at(const tamis_editor *e, uint64_t i)
{
    return (editor_name *)e->names.at + i;
}

static const char *editor_text(const tamis_editor *e, const editor_name *n)
{
    return (const char *)e->texts.at + n->text;
}

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
    if (!editor_reserve(e, &e->names, 1) || !editor_reserve(e, &e->texts, length))
        return TAMIS_NOMEM;
    *number = e->names.n++;
    *editor_name_at(e, *number) =
        (editor_name){ .hash = hash, .text = e->texts.n, .length = (uint8_t)length };
    memcpy((char *)e->texts.at + e->texts.n, text, length);
    e->texts.n += length;
    e->table[place] = (uint32_t)*number + 1;
    return TAMIS_OK;
}

/* ---- Writing ----------------------------------------------------------- */

static bool editor_flush(tamis_editor *e)
{
    bool done = tamis__file_write(e->fd, e->end - e->buffered, e->buffer, e->buffered);

    e->buffered = 0;
    return done;
}

static bool editor_write(void *ctx, const void *bytes, size_t size)
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
        if (e->buffered == sizeof e->buffer && !editor_flush(e))
            return false;
    }
    return true;
}

/* Zeros, up to a multiple of that. */
static bool editor_align(tamis_editor *e, uint64_t to)
{
    static const uint8_t zeros[COLLECTION_PAGE];

    return editor_write(e, zeros, (size_t)(round_up(e->end, to) - e->end));
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

    if (!editor_flush(e))
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
    if (!status && !editor_align(e, editor_alignment(size)))
        status = TAMIS_IO;
    uint64_t offset = e->end;
    if (!status)
        status = tamis_image_send(f, editor_write, e);
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
    e->names.item = sizeof(editor_name);
    e->texts.item = 1;
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
    if (e->names.at)
        a.free(a.ctx, e->names.at, e->names.room * e->names.item);
    if (e->texts.at)
        a.free(a.ctx, e->texts.at, e->texts.room);
    if (e->table)
        a.free(a.ctx, e->table, e->table_size * sizeof *e->table);
    tamis_collection_free(e->old);
    if (e->lock >= 0)
        tamis__file_close(e->lock);
    a.free(a.ctx, e, sizeof *e);
    errno = saved;
}

/* ---- The directory ----------------------------------------------------- */

/* A pair of words to base/sort.h: names in order of their pages. */
typedef struct editor_order {
    uint64_t hash, number;
} editor_order;

static size_t editor_entry_size(const tamis_editor *e, const editor_order *o)
{
    return COLLECTION_ENTRY_SIZE + editor_name_at(e, o->number)->length;
}

/* All names, in order of their hashes. */
static void editor_sort(const tamis_editor *e, editor_order *order)
{
    size_t n = 0;

    for (size_t i = 0; i < e->names.n; i++) {
        const editor_name *name = editor_name_at(e, i);
        if (name->size)
            order[n++] = (editor_order){
                tamis__collection_hash(editor_text(e, name), name->length, e->slot.seed), i
            };
    }
    tamis__sort_pairs(order, n);
}

/* How many of the names from order[i] on are in its page; *fits: there is room for them. */
static size_t editor_page_names(const tamis_editor *e, const editor_order *order, size_t i,
                                bool *fits)
{
    uint64_t page = scale64(order[i].hash, e->slot.pages), size = COLLECTION_FIRST_ENTRY;
    size_t n = 0;

    for (; i + n < e->slot.count && scale64(order[i + n].hash, e->slot.pages) == page; n++)
        size += editor_entry_size(e, &order[i + n]);
    *fits = size <= COLLECTION_PAGE;
    return n;
}

static bool editor_all_fit(const tamis_editor *e, const editor_order *order)
{
    bool fits = true;

    for (size_t i = 0; i < e->slot.count && fits;)
        i += editor_page_names(e, order, i, &fits);
    return fits;
}

/* Pages that are to be seven tenths full; where one would be too full, other hashes are tried, and
 * then more pages. TAMIS_FULL: names were chosen to crowd a page. */
static tamis_status editor_lay_out(tamis_editor *e, editor_order *order)
{
    enum { SEEDS = 4, ROUNDS = 16 };
    uint64_t size = 0;

    for (size_t i = 0; i < e->names.n; i++)
        if (editor_name_at(e, i)->size)
            size += COLLECTION_ENTRY_SIZE + editor_name_at(e, i)->length;
    e->slot.pages = size / (COLLECTION_PAGE * 7 / 10) + 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (e->slot.seed = 0; e->slot.seed < SEEDS; e->slot.seed++) {
            editor_sort(e, order);
            if (editor_all_fit(e, order))
                return TAMIS_OK;
        }
        e->slot.pages += e->slot.pages / 8 + 1;
    }
    return TAMIS_FULL;
}

static int editor_compare(const tamis_editor *e, uint64_t a, uint64_t b)
{
    const editor_name *x = editor_name_at(e, a), *y = editor_name_at(e, b);
    size_t common = x->length < y->length ? x->length : y->length;
    int order = memcmp(editor_text(e, x), editor_text(e, y), common);

    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static void editor_sort_page(const tamis_editor *e, editor_order *order, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        editor_order moving = order[i];
        size_t at = i;
        for (; at > 0 && editor_compare(e, order[at - 1].number, moving.number) > 0; at--)
            order[at] = order[at - 1];
        order[at] = moving;
    }
}

static bool editor_write_page(tamis_editor *e, uint64_t number, const editor_order *order, size_t n)
{
    uint8_t page[COLLECTION_PAGE] = { 0 }, *at = page + COLLECTION_FIRST_ENTRY;

    put_le16(page + 8, (uint16_t)n);
    for (size_t i = 0; i < n; i++) {
        const editor_name *name = editor_name_at(e, order[i].number);
        put_le64(at, name->offset);
        put_le64(at + 8, name->size);
        at[16] = name->length;
        memcpy(at + COLLECTION_ENTRY_SIZE, editor_text(e, name), name->length);
        at += editor_entry_size(e, &order[i]);
    }
    put_le64(page, tamis__collection_sum(page, number));
    return editor_write(e, page, sizeof page);
}

static bool editor_write_pages(tamis_editor *e, editor_order *order)
{
    size_t i = 0;

    for (uint64_t page = 0; page < e->slot.pages; page++) {
        size_t n = 0;
        bool fits;
        if (i < e->slot.count && scale64(order[i].hash, e->slot.pages) == page)
            n = editor_page_names(e, order, i, &fits);
        editor_sort_page(e, order + i, n);
        if (!editor_write_page(e, page, order + i, n))
            return false;
        i += n;
    }
    return true;
}

static tamis_status editor_write_directory(tamis_editor *e)
{
    e->slot.count = 0;
    for (size_t i = 0; i < e->names.n; i++)
        e->slot.count += editor_name_at(e, i)->size > 0;
    size_t size = ((size_t)e->slot.count + 1) * sizeof(editor_order);
    editor_order *order = e->alloc.alloc(e->alloc.ctx, size);
    if (!order)
        return TAMIS_NOMEM;
    tamis_status status = editor_lay_out(e, order);
    if (!status && !editor_align(e, COLLECTION_PAGE))
        status = TAMIS_IO;
    e->slot.directory = e->end;
    if (!status && (!editor_write_pages(e, order) || !editor_flush(e)))
        status = TAMIS_IO;
    e->slot.end = e->end;
    e->alloc.free(e->alloc.ctx, order, size);
    return status;
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
        if (!editor_align(e, editor_alignment(n->size)))
            return false;
        n->offset = e->end;
        n->is_old = false;
        if (!editor_write(e, image, (size_t)n->size))
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
        status = editor_write_directory(e);
    if (e->is_anew)
        return editor_end_anew(e, status);
    return status ? status : editor_switch(e);
}
