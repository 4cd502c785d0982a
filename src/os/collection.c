/* collection.c - many named filters in one file, for readers.
 *
 *   header | images ... | directory | images ... | directory | ...
 *
 * The header says which directory holds. That is a hash table of pages: the hash of a name tells
 * the page, which has the name with the place of its image. So a name is found by reading one page,
 * and each page has a checksum of its own. An image is an ordinary one (core/image.h), which is
 * viewed where it lies.
 *
 * Nothing that a reader can reach is ever changed in place but the header, of which a reader takes
 * a copy. So a collection that was opened stays what it was, while others append to the file. */
#include "os/collection.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "core/memory.h"
#include "core/note.h"

/* ---- The header -------------------------------------------------------- */

/* As that of images, but for one letter. */
static const uint8_t MAGIC[8] = { 0x89, 'T', 'M', 'C', '\r', '\n', 0x1a, '\n' };

/* A later minor version may write what is zero now. */
enum { MAJOR = 1, AT_MAJOR = 8, AT_MINOR = 10, PREAMBLE_SIZE = 12 };

/* Offsets in a slot. Each is in a sector of its own, which disks write whole or not at all. */
enum {
    AT_GENERATION = 0,
    AT_END = 8,
    AT_DIRECTORY = 16,
    AT_PAGES = 24,
    AT_COUNT = 32,
    AT_SEED = 40,
    AT_FLAGS = 48,
    AT_SUM = 56,
    SECTOR = 512,
};

void tamis__collection_put_magic(uint8_t page[COLLECTION_PAGE])
{
    memcpy(page, MAGIC, sizeof MAGIC);
    put_le16(page + AT_MAJOR, MAJOR);
}

void tamis__collection_put_slot(uint8_t bytes[COLLECTION_SLOT_SIZE], const collection_slot *s)
{
    memset(bytes, 0, COLLECTION_SLOT_SIZE);
    put_le64(bytes + AT_GENERATION, s->generation);
    put_le64(bytes + AT_END, s->end);
    put_le64(bytes + AT_DIRECTORY, s->directory);
    put_le64(bytes + AT_PAGES, s->pages);
    put_le64(bytes + AT_COUNT, s->count);
    put_le64(bytes + AT_SEED, s->seed);
    put_le32(bytes + AT_FLAGS, s->flags);
    put_le64(bytes + AT_SUM, tamis__hash_fast(bytes, AT_SUM, 0));
}

static uint64_t collection_slot_at(unsigned number)
{
    return SECTOR * (1 + (uint64_t)number);
}

uint64_t tamis__collection_slot_offset(const collection_slot *s, unsigned i)
{
    return collection_slot_at((unsigned)(s->generation % 2) * 2 + i);
}

/* False: it was never written, or is damaged. */
static bool collection_get_slot(collection_slot *s, const uint8_t *page, unsigned number)
{
    const uint8_t *bytes = page + collection_slot_at(number);

    *s = (collection_slot){ .generation = le64(bytes + AT_GENERATION),
                            .end = le64(bytes + AT_END),
                            .directory = le64(bytes + AT_DIRECTORY),
                            .pages = le64(bytes + AT_PAGES),
                            .count = le64(bytes + AT_COUNT),
                            .seed = le64(bytes + AT_SEED),
                            .flags = le32(bytes + AT_FLAGS) };
    return tamis__hash_fast(bytes, AT_SUM, 0) == le64(bytes + AT_SUM) && s->generation > 0 &&
           s->generation % 2 == number / 2;
}

static bool collection_slot_is_possible(const collection_slot *s, uint64_t file_size)
{
    return s->end <= file_size && s->directory % COLLECTION_PAGE == 0 &&
           s->directory >= COLLECTION_PAGE && s->directory < s->end && s->pages > 0 &&
           s->pages <= (s->end - s->directory) / COLLECTION_PAGE;
}

tamis_status tamis__collection_read_slot(collection_slot *s, const uint8_t page[COLLECTION_PAGE],
                                         uint64_t file_size)
{
    collection_slot other;

    if (memcmp(page, MAGIC, 4) != 0)
        return TAMIS_FOREIGN;
    if (memcmp(page, MAGIC, sizeof MAGIC) != 0 || le16(page + AT_MAJOR) == 0)
        return TAMIS_CORRUPT;
    if (le16(page + AT_MAJOR) > MAJOR)
        return TAMIS_NEWER;
    *s = (collection_slot){ 0 };
    for (unsigned i = 0; i < COLLECTION_SLOTS; i++)
        if (collection_get_slot(&other, page, i) && other.generation > s->generation)
            *s = other;
    if (!collection_slot_is_possible(s, file_size))
        return TAMIS_CORRUPT;
    return s->flags & ~(uint32_t)COLLECTION_SECRET ? TAMIS_NEWER : TAMIS_OK;
}

/* ---- Pages of the directory -------------------------------------------- */

enum { AT_PAGE_SUM = 0, AT_ENTRIES = 8 };

uint64_t tamis__collection_hash(const char *name, size_t length, uint64_t seed)
{
    return tamis__hash_fast(name, length, seed);
}

uint64_t tamis__collection_sum(const uint8_t page[COLLECTION_PAGE], uint64_t number)
{
    return tamis__hash_fast(page + AT_ENTRIES, COLLECTION_PAGE - AT_ENTRIES, number);
}

/* What has been read of a page. */
typedef struct collection_cursor {
    const uint8_t *page;
    size_t at;
    unsigned left; /* entries */
} collection_cursor;

/* False: it is damaged. */
static bool collection_open_page(collection_cursor *cursor, const tamis_collection *c, uint64_t i)
{
    const uint8_t *page = c->map + c->slot.directory + i * COLLECTION_PAGE;

    *cursor = (collection_cursor){ page, COLLECTION_FIRST_ENTRY, le16(page + AT_ENTRIES) };
    return tamis__collection_sum(page, i) == le64(page + AT_PAGE_SUM);
}

/* False: there is none, or what is there cannot be one. A page whose checksum is right may be
 * hostile. */
static bool collection_next(collection_cursor *cursor, const tamis_collection *c,
                            collection_entry *e)
{
    const uint8_t *at = cursor->page + cursor->at;
    size_t room = COLLECTION_PAGE - cursor->at;

    if (cursor->left == 0 || room < COLLECTION_ENTRY_SIZE)
        return false;
    e->offset = le64(at);
    e->size = le64(at + 8);
    e->length = at[16];
    if (e->length > room - COLLECTION_ENTRY_SIZE)
        return false;
    memcpy(e->name, at + COLLECTION_ENTRY_SIZE, e->length);
    e->name[e->length] = '\0';
    cursor->at += COLLECTION_ENTRY_SIZE + e->length;
    cursor->left--;
    return tamis__note_is_text(e->name, e->length) && e->offset % 64 == 0 &&
           e->offset >= COLLECTION_PAGE && e->offset <= c->slot.end &&
           e->size <= c->slot.end - e->offset;
}

/* True: each entry was one. *stopped: a call was false. */
static bool collection_each_in_page(const tamis_collection *c, uint64_t i, collection_visit *visit,
                                    void *ctx, bool *stopped)
{
    collection_cursor cursor;
    collection_entry e;

    if (!collection_open_page(&cursor, c, i))
        return false;
    while (!*stopped && collection_next(&cursor, c, &e))
        *stopped = !visit(ctx, &e);
    return *stopped || cursor.left == 0;
}

tamis_status tamis__collection_each(const tamis_collection *c, collection_visit *visit, void *ctx)
{
    bool stopped = false, is_whole = true;

    for (uint64_t i = 0; i < c->slot.pages && !stopped; i++)
        is_whole &= collection_each_in_page(c, i, visit, ctx, &stopped);
    return is_whole ? TAMIS_OK : TAMIS_CORRUPT;
}

tamis_status tamis_collection_find(const tamis_collection *c, uint64_t *offset, uint64_t *size,
                                   const char *name)
{
    size_t length = strlen(name);
    uint64_t hash = tamis__collection_hash(name, length, c->slot.seed);
    collection_cursor cursor;
    collection_entry e;

    if (!collection_open_page(&cursor, c, scale64(hash, c->slot.pages)))
        return TAMIS_CORRUPT;
    while (collection_next(&cursor, c, &e))
        if (e.length == length && memcmp(e.name, name, length) == 0) {
            *offset = e.offset;
            *size = e.size;
            return TAMIS_OK;
        }
    return cursor.left ? TAMIS_CORRUPT : TAMIS_ABSENT;
}

/* ---- Life -------------------------------------------------------------- */

/* A writer may be changing a slot of the header: then the other pair holds. It may also have made
 * the file longer since its size was asked for. */
static tamis_status collection_read_header(collection_slot *slot, const image_source *s)
{
    uint8_t page[COLLECTION_PAGE] = { 0 };
    size_t size = s->size < sizeof page ? (size_t)s->size : sizeof page;
    image_source now;

    /* The system would read some pages more, for those who go on reading. */
    (void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_RANDOM);
    if (!s->read(s, 0, page, size))
        return TAMIS_IO;
    tamis_status status = tamis__file_source(&now, s->fd);
    return status ? status : tamis__collection_read_slot(slot, page, now.size);
}

tamis_status tamis__collection_map(tamis_collection **out, const image_source *s,
                                   const tamis_allocator *a)
{
    const tamis_allocator *from = a ? a : &tamis__default_allocator;
    collection_slot slot;
    tamis_status status = collection_read_header(&slot, s);

    if (status)
        return status;
    tamis_collection *c = from->alloc(from->ctx, sizeof *c);
    if (!c)
        return TAMIS_NOMEM;
    void *map = mmap(NULL, (size_t)slot.end, PROT_READ, MAP_SHARED, s->fd, 0);
    if (map == MAP_FAILED) {
        from->free(from->ctx, c, sizeof *c);
        return errno == ENOMEM ? TAMIS_NOMEM : TAMIS_IO;
    }
    /* A look-up wants one page and none of its neighbours. */
    (void)madvise(map, (size_t)slot.end, MADV_RANDOM);
    *c = (tamis_collection){ .map = map, .slot = slot, .alloc = *from };
    *out = c;
    return TAMIS_OK;
}

tamis_status tamis_collection_open(tamis_collection **out, const char *path,
                                   const tamis_allocator *a)
{
    image_source s;
    tamis_status status = tamis__file_open(&s, path, O_RDONLY);

    if (status)
        return status;
    status = tamis__collection_map(out, &s, a);
    tamis__file_close(s.fd);
    return status;
}

void tamis_collection_free(tamis_collection *c)
{
    if (!c)
        return;
    munmap((void *)(uintptr_t)c->map, (size_t)c->slot.end);
    tamis_allocator a = c->alloc;
    a.free(a.ctx, c, sizeof *c);
}

/* ---- One filter -------------------------------------------------------- */

tamis_status tamis_collection_get(const tamis_collection *c, tamis **out, const char *name,
                                  const tamis_allocator *a)
{
    uint64_t offset, size;
    tamis_status status = tamis_collection_find(c, &offset, &size, name);

    if (!status)
        status = tamis_image_view(out, c->map + offset, (size_t)size, a);
    /* The directory says that here is one. */
    return status == TAMIS_FOREIGN ? TAMIS_CORRUPT : status;
}

/* ---- All filters ------------------------------------------------------- */

/* What images take, beside the header and the directory. Each has its own bytes, so that all
 * together fit in the file. Where they do not, names share images: to read all, or to write all
 * anew, would cost as much as somebody chose. */
typedef struct collection_total {
    uint64_t used, end;
    bool fits;
} collection_total;

static collection_total collection_total_of(const tamis_collection *c)
{
    return (collection_total){ COLLECTION_PAGE * (1 + c->slot.pages), c->slot.end, true };
}

/* False: it is one too many. */
static bool collection_add_up(void *total, const collection_entry *e)
{
    collection_total *t = total;
    uint64_t size = round_up(e->size, 64);

    t->fits = t->fits && t->used <= t->end && size <= t->end - t->used;
    t->used += t->fits ? size : 0;
    return t->fits;
}

tamis_status tamis__collection_used(const tamis_collection *c, uint64_t *used)
{
    collection_total t = collection_total_of(c);
    tamis_status status = tamis__collection_each(c, collection_add_up, &t);

    *used = t.used;
    return t.fits ? status : TAMIS_CORRUPT;
}

tamis_status tamis_collection_get_info(const tamis_collection *c, tamis_collection_info *info)
{
    uint64_t used;
    tamis_status status = tamis__collection_used(c, &used);

    if (!status)
        *info = (tamis_collection_info){ c->slot.count, c->slot.end, used };
    return status;
}

typedef struct collection_listing {
    tamis_visit_name *visit;
    void *ctx;
} collection_listing;

static bool collection_show(void *ctx, const collection_entry *e)
{
    const collection_listing *l = ctx;

    return l->visit(l->ctx, e->name, e->offset, e->size);
}

tamis_status tamis_collection_list(const tamis_collection *c, tamis_visit_name *visit, void *ctx)
{
    collection_listing l = { visit, ctx };

    return tamis__collection_each(c, collection_show, &l);
}

/* ---- Checking ---------------------------------------------------------- */

typedef struct collection_check {
    const tamis_collection *c;
    tamis_report_name *report;
    void *ctx;
    tamis_status status;
    collection_entry entry; /* at hand, and the last one of its page */
    collection_total total;
    uint64_t page, count;
} collection_check;

static void collection_fault(collection_check *k, const char *name, const char *why,
                             uint64_t offset, uint64_t size)
{
    k->status = TAMIS_CORRUPT;
    if (k->report)
        k->report(k->ctx, name, why, offset, size);
}

static void collection_image_fault(void *ctx, const char *why, uint64_t offset, uint64_t size)
{
    collection_check *k = ctx;

    collection_fault(k, k->entry.name, why, k->entry.offset + offset, size);
}

static void collection_check_image(collection_check *k)
{
    const collection_entry *e = &k->entry;
    tamis *f;
    tamis_status status =
        tamis_image_view(&f, k->c->map + e->offset, (size_t)e->size, &k->c->alloc);

    if (status == TAMIS_NOMEM || status == TAMIS_NEWER || status == TAMIS_CANNOT) {
        if (!k->status)
            k->status = status;
        return;
    }
    if (status) {
        collection_fault(k, e->name, "the header is damaged", e->offset, e->size);
        return;
    }
    (void)!tamis_verify(f, collection_image_fault, k);
    tamis_free(f);
}

/* Names ascend, and each is in the page of its hash. */
static bool collection_check_entry(void *ctx, const collection_entry *e)
{
    collection_check *k = ctx;
    const collection_slot *s = &k->c->slot;
    uint64_t page = scale64(tamis__collection_hash(e->name, e->length, s->seed), s->pages);

    if (page != k->page || strcmp(e->name, k->entry.name) <= 0)
        collection_fault(k, NULL, "a name is not in its place",
                         s->directory + k->page * COLLECTION_PAGE, COLLECTION_PAGE);
    k->entry = *e;
    k->count++;
    if (collection_add_up(&k->total, e))
        collection_check_image(k);
    else
        collection_fault(k, e->name, "filters overlap", e->offset, e->size);
    return true;
}

static void collection_check_page(collection_check *k)
{
    const tamis_collection *c = k->c;
    uint64_t offset = c->slot.directory + k->page * COLLECTION_PAGE;
    bool stopped = false;

    k->entry.name[0] = '\0';
    if (!collection_each_in_page(c, k->page, collection_check_entry, k, &stopped))
        collection_fault(k, NULL, "a page of the directory is damaged", offset, COLLECTION_PAGE);
}

static void collection_check_zeros(collection_check *k, uint64_t from, uint64_t to)
{
    if (!bytes_are_zero(k->c->map + from, k->c->map + to))
        collection_fault(k, NULL, "padding is not zero", from, to - from);
}

/* Slots that were never written are zeros: those of even generations before the second, and one of
 * them if whoever wrote it stopped then. */
static void collection_check_header(collection_check *k)
{
    const uint8_t *page = k->c->map;
    uint64_t end = PREAMBLE_SIZE;
    collection_slot s;

    for (unsigned i = 0; i < COLLECTION_SLOTS; i++) {
        uint64_t at = collection_slot_at(i);
        bool is_unused = k->c->slot.generation <= 2 && i / 2 == 0 &&
                         bytes_are_zero(page + at, page + at + COLLECTION_SLOT_SIZE);
        if (!is_unused && !collection_get_slot(&s, page, i))
            collection_fault(k, NULL, "a copy of the header is damaged", at, COLLECTION_SLOT_SIZE);
        collection_check_zeros(k, end, at);
        end = at + COLLECTION_SLOT_SIZE;
    }
    collection_check_zeros(k, end, COLLECTION_PAGE);
}

tamis_status tamis_collection_verify(const tamis_collection *c, tamis_report_name *report,
                                     void *ctx)
{
    collection_check k = { .c = c, .report = report, .ctx = ctx, .total = collection_total_of(c) };

    /* All of it is read, from its beginning to its end. */
    (void)madvise((void *)(uintptr_t)c->map, (size_t)c->slot.end, MADV_SEQUENTIAL);
    collection_check_header(&k);
    for (k.page = 0; k.page < c->slot.pages; k.page++)
        collection_check_page(&k);
    if (!k.status && k.count != c->slot.count)
        collection_fault(&k, NULL, "there are not as many filters as the header says",
                         c->slot.directory, c->slot.pages * COLLECTION_PAGE);
    (void)madvise((void *)(uintptr_t)c->map, (size_t)c->slot.end, MADV_RANDOM);
    return k.status;
}
