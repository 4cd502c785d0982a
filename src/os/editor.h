/* editor.h - what an editor of a collection holds, and how it writes. Prefix: editor_. */
#ifndef TAMIS_OS_EDITOR_H
#define TAMIS_OS_EDITOR_H

#include "core/list.h"
#include "os/collection.h"

typedef struct editor_name {
    uint64_t offset, size; /* size 0: it was removed */
    uint64_t hash;
    size_t text; /* where it starts among the texts */
    uint8_t length;
    bool is_old; /* its image is in the file that is replaced */
} editor_name;

enum { EDITOR_BUFFER = 1 << 18 };

struct tamis_editor {
    tamis_allocator alloc;
    tamis_collection *old; /* NULL: there was none */
    collection_slot slot;  /* to be written */
    bool is_anew;          /* all of it goes to a new file, by `save` */
    bool has_save;         /* which was begun, and not ended */
    bool is_over;
    file_save save;
    int lock;          /* of the old file; -1: there was none */
    int fd;            /* that is written to: of one of the two */
    list names, texts; /* of editor_name, of bytes */
    uint32_t *table;   /* numbers of names, plus 1, by their hashes */
    size_t table_size; /* a power of two, or 0 */
    uint64_t end;      /* of what was written, buffer included */
    size_t buffered;
    char path[PATH_MAX];
    uint8_t buffer[EDITOR_BUFFER];
};

static inline editor_name *editor_name_at(const tamis_editor *e, uint64_t i)
{
    return (editor_name *)e->names.items + i;
}

static inline const char *editor_text(const tamis_editor *e, const editor_name *n)
{
    return (const char *)e->texts.items + n->text;
}

/* Bytes behind all that was written. The first is a tamis_sink. */
bool tamis__editor_write(void *ctx, const void *bytes, size_t size);
bool tamis__editor_flush(tamis_editor *e);
/* Zeros, up to a multiple of that. */
bool tamis__editor_align(tamis_editor *e, uint64_t to);

/* The pages in which names are found, and where they are. */
tamis_status tamis__editor_write_directory(tamis_editor *e);

#endif
