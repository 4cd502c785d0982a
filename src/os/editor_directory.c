/* editor_directory.c - the pages of a collection in which names are found. Prefix: editor_. */
#include <string.h>

#include "base/bits.h"
#include "base/le.h"
#include "base/sort.h"
#include "os/editor.h"

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
    return tamis__editor_write(e, page, sizeof page);
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

tamis_status tamis__editor_write_directory(tamis_editor *e)
{
    e->slot.count = 0;
    for (size_t i = 0; i < e->names.n; i++)
        e->slot.count += editor_name_at(e, i)->size > 0;
    size_t size = ((size_t)e->slot.count + 1) * sizeof(editor_order);
    editor_order *order = e->alloc.alloc(e->alloc.ctx, size);
    if (!order)
        return TAMIS_NOMEM;
    tamis_status status = editor_lay_out(e, order);
    if (!status && !tamis__editor_align(e, COLLECTION_PAGE))
        status = TAMIS_IO;
    e->slot.directory = e->end;
    if (!status && (!editor_write_pages(e, order) || !tamis__editor_flush(e)))
        status = TAMIS_IO;
    e->slot.end = e->end;
    e->alloc.free(e->alloc.ctx, order, size);
    return status;
}
