/* inventory.c - what a list or a folder holds, as lines. */
#include "inventory.h"

#include <string.h>
#include <unistd.h>

#include "files/file_read.h"
#include "filters/store.h"
#include "term/progress.h"
#include "text/byte_order.h"

void inventory_open(inventory *v, bool takes_packed)
{
    v->is_folder = store_is_folder(v->path);
    if (!v->is_folder) {
        line_set_read(&v->set, v->path, takes_packed);
        return;
    }
    v->set.end = 0;
    v->tree = tree_open(v->path);
    if (v->tree.fd < 0)
        die_errno("read", v->path);
    v->entries = tree_list(&v->tree, true, true);
}

/* ---- Folders ----------------------------------------------------------- */

/* A keyed hash of each piece of a file and the hash of those before it. */
static uint64_t content_of(inventory *v, const entry *e, line *l)
{
    enum { PIECE = 1 << 17 };
    static _Thread_local char bytes[sizeof(uint64_t) + PIECE];
    const char *path = tree_name(&v->tree, e->name);
    uint64_t check = 0, left = e->size;
    int fd = tree_read(&v->tree, e);

    for (size_t got = 1; left > 0 && got > 0; left -= got) {
        put_le64(bytes, check);
        got = file_read(fd, path, bytes + sizeof check, left < PIECE ? (size_t)left : PIECE,
                        e->size - left);
        check = tamis_hasher_key(&v->set.keys, bytes, sizeof check + got);
    }
    close(fd); /* only read */
    line_breathe(l);
    return check;
}

static void append_facts(inventory *v, const entry *e, line *l)
{
    buffer *out = &v->set.text;

    if (e->type == ENTRY_LINK)
        buffer_print(out, "l%016" PRIx64 "/",
                     tamis_hasher_key(&v->set.keys, e->target, strlen(e->target)));
    else if (e->type == ENTRY_FILE && v->facts == FACTS_CONTENT)
        buffer_print(out, "f%" PRIu64 "@%016" PRIx64 "/", e->size, content_of(v, e, l));
    else if (e->type == ENTRY_FILE && v->facts == FACTS_TIME)
        buffer_print(out, "f%" PRIu64 "@%" PRId64 ".%" PRIu32 "/", e->size, e->seconds,
                     e->nanoseconds);
    else if (e->type == ENTRY_FILE)
        buffer_print(out, "f%" PRIu64 "/", e->size);
    else
        buffer_append(out, "d/", 2);
}

/* The folder itself is not among its entries. */
static void write_entries(inventory *v, line *l)
{
    v->set.text.size = 0;
    for (size_t i = 0; i < v->entries.n; i++) {
        const entry *e = &v->entries.all[i];

        if (!*e->name)
            continue;
        append_facts(v, e, l);
        buffer_append(&v->set.text, e->name, strlen(e->name) + 1);
        if (v->facts == FACTS_CONTENT)
            progress_show(i, v->entries.n, "files");
    }
    progress_erase();
}

/* ---- Lines ------------------------------------------------------------- */

bool inventory_index(inventory *v, const uint8_t secret[16], line *l)
{
    line_set_hash_by(&v->set, secret);
    if (v->is_folder)
        write_entries(v, l);
    line_breathe(l);
    return line_set_index(&v->set);
}

void inventory_close(inventory *v)
{
    line_set_free(&v->set);
    entry_free(&v->entries);
    if (v->is_folder)
        tree_close(&v->tree);
}

bool inventory_name(const inventory *v, span text, span *name)
{
    const char *slash = v->is_folder ? memchr(text.at, '/', text.size) : NULL;

    *name = slash ? (span){ slash + 1, text.size - (size_t)(slash + 1 - text.at) } : text;
    return !v->is_folder || (slash && name->size > 0);
}
