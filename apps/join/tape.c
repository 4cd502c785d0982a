/* tape.c - records one after the other. */
#include <string.h>
#include <unistd.h>

#include "files/scratch.h"
#include "tape.h"

/* ---- Records ----------------------------------------------------------- */

span record_key(const record *r)
{
    return (span){ (const char *)(r + 1), r->key_size };
}

span record_text(const record *r)
{
    return (span){ (const char *)(r + 1) + r->key_size, r->text_size };
}

size_t record_size(const record *r)
{
    return (sizeof *r + r->key_size + r->text_size + 7) / 8 * 8;
}

void record_append(buffer *to, const record *r, span key, span text)
{
    record whole = { r->hash, r->place, (uint32_t)key.size, (uint32_t)text.size };
    size_t size = record_size(&whole), start = to->size;

    buffer_reserve(to, size);
    buffer_append(to, &whole, sizeof whole);
    buffer_append(to, key.at, key.size);
    buffer_append(to, text.at, text.size);
    memset(to->bytes + to->size, 0, start + size - to->size);
    to->size = start + size;
}

/* ---- Writing ----------------------------------------------------------- */

void tape_open(tape *t, size_t room)
{
    *t = (tape){ .room = room, .fd = -1 };
}

static void flush(tape *t)
{
    if (t->held.size == 0)
        return;
    if (t->fd < 0)
        t->fd = scratch_open();
    scratch_write(t->fd, t->held.bytes, t->held.size, t->on_disk);
    t->on_disk += t->held.size;
    t->held.size = 0;
}

void tape_append(tape *t, const record *r, span key, span text)
{
    t->is_mixed = t->is_mixed || (t->rows > 0 && t->last_hash != r->hash);
    t->last_hash = r->hash;
    t->rows++;
    if (t->held.size + sizeof *r + key.size + text.size + 7 > t->room)
        flush(t);
    record_append(&t->held, r, key, text);
}

void tape_put(tape *t, const record *r)
{
    tape_append(t, r, record_key(r), record_text(r));
}

void tape_spill(tape *t, size_t room)
{
    flush(t);
    buffer_free(&t->held);
    t->room = room;
}

uint64_t tape_bytes(const tape *t)
{
    return t->on_disk + t->held.size;
}

bool tape_is_on_disk(const tape *t)
{
    return t->fd >= 0;
}

uint64_t tape_close(tape *t)
{
    if (t->fd >= 0)
        close(t->fd); /* all of it was read again, or nobody wants it */
    buffer_free(&t->held);
    return t->on_disk;
}

/* ---- Reading ----------------------------------------------------------- */

void tape_read(tape_reader *r, const tape *t, size_t piece)
{
    *r = (tape_reader){
        .fd = t->fd, .end = t->on_disk, .piece = piece, .held = { t->held.bytes, t->held.size }
    };
}

/* Has so many unused bytes in the window. What is there moves to its front, and a piece follows. */
static void refill(tape_reader *r, size_t size)
{
    size_t left = r->window.size - r->used, more = size - left;

    if (size <= left)
        return;
    more = more > r->piece ? more : r->piece;
    if (more > r->end - r->at)
        more = (size_t)(r->end - r->at);
    buffer_reserve(&r->window, more);
    memmove(r->window.bytes, r->window.bytes + r->used, left);
    scratch_read(r->fd, r->window.bytes + left, more, r->at);
    r->window.size = left + more;
    r->used = 0;
    r->at += more;
}

record *tape_next(tape_reader *r)
{
    record *next = (void *)(uintptr_t)r->held.at;

    if (r->at < r->end || r->used < r->window.size) {
        refill(r, sizeof *next);
        refill(r, record_size((void *)(r->window.bytes + r->used)));
        next = (void *)(r->window.bytes + r->used);
        r->used += record_size(next);
    } else if (r->held.size > 0) {
        r->held.at += record_size(next);
        r->held.size -= record_size(next);
    } else
        next = NULL;
    return next;
}

void tape_read_end(tape_reader *r)
{
    buffer_free(&r->window);
}
