/* tape.c - records one after the other. */
#include <string.h>
#include <unistd.h>

#include "../scratch.h"
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
    if (t->fd < 0)
        t->fd = scratch_open();
    scratch_write(t->fd, t->held.bytes, t->held.size, t->on_disk);
    t->on_disk += t->held.size;
    t->held.size = 0;
}

void tape_put(tape *t, const record *r)
{
    size_t size = record_size(r);

    t->is_mixed = t->is_mixed || (t->rows > 0 && t->last_hash != r->hash);
    t->last_hash = r->hash;
    t->rows++;
    if (t->held.size > 0 && t->held.size + size > t->room)
        flush(t);
    buffer_append(&t->held, r, size);
}

void tape_spill(tape *t, size_t room)
{
    if (t->held.size > 0)
        flush(t);
    buffer_free(&t->held);
    t->held = (buffer){ 0 };
    t->room = room;
}

uint64_t tape_bytes(const tape *t)
{
    return t->on_disk + t->held.size;
}

uint64_t tape_close(tape *t)
{
    if (t->fd >= 0)
        close(t->fd);
    buffer_free(&t->held);
    return t->on_disk;
}

/* ---- Reading ----------------------------------------------------------- */

void tape_read(tape_reader *r, const tape *t, size_t piece)
{
    *r = (tape_reader){ .tape = t, .piece = piece };
}

/* Makes at least `size` bytes of the window unused; they are on disk. */
static void refill(tape_reader *r, size_t size)
{
    size_t left = r->window.size - r->used;
    uint64_t more = r->tape->on_disk - r->at;

    if (left >= size)
        return;
    if (left > 0)
        memmove(r->window.bytes, r->window.bytes + r->used, left);
    r->window.size = left;
    r->used = 0;
    if (more > r->piece && more > size - left)
        more = r->piece > size - left ? r->piece : size - left;
    buffer_reserve(&r->window, (size_t)more);
    scratch_read(r->tape->fd, r->window.bytes + left, (size_t)more, r->at);
    r->window.size += (size_t)more;
    r->at += more;
}

static record *next_on_disk(tape_reader *r)
{
    record *next;

    refill(r, sizeof *next);
    next = (void *)(r->window.bytes + r->used);
    size_t size = record_size(next);
    refill(r, size);
    next = (void *)(r->window.bytes + r->used);
    r->used += size;
    return next;
}

record *tape_next(tape_reader *r)
{
    record *next;

    if (r->at < r->tape->on_disk || r->used < r->window.size)
        return next_on_disk(r);
    if (r->at == tape_bytes(r->tape))
        return NULL;
    next = (void *)(r->tape->held.bytes + (r->at - r->tape->on_disk));
    r->at += record_size(next);
    return next;
}

void tape_read_end(tape_reader *r)
{
    buffer_free(&r->window);
}
