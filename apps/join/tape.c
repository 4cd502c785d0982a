/* tape.c - records one after the other. */
#include <string.h>

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
    *t = (tape){ .room = room, .spool.fd = -1 };
}

void tape_put(tape *t, const record *r)
{
    size_t size = record_size(r);

    t->is_mixed = t->is_mixed || (t->rows > 0 && t->last_hash != r->hash);
    t->last_hash = r->hash;
    t->rows++;
    if (t->spool.held.size + size > t->room)
        spool_flush(&t->spool);
    buffer_append(&t->spool.held, r, size);
}

void tape_spill(tape *t, size_t room)
{
    spool_flush(&t->spool);
    buffer_free(&t->spool.held);
    t->room = room;
}

uint64_t tape_bytes(const tape *t)
{
    return t->spool.on_disk + t->spool.held.size;
}

bool tape_is_on_disk(const tape *t)
{
    return t->spool.fd >= 0;
}

uint64_t tape_close(tape *t)
{
    spool_close(&t->spool);
    return t->spool.on_disk;
}

/* ---- Reading ----------------------------------------------------------- */

void tape_read(tape_reader *r, const tape *t, size_t piece)
{
    *r = (tape_reader){ .tape = t,
                        .disk = { .fd = t->spool.fd, .end = t->spool.on_disk, .piece = piece } };
}

record *tape_next(tape_reader *r)
{
    const buffer *held = &r->tape->spool.held;
    record *next = (void *)spool_peek(&r->disk, sizeof *next);

    if (next) {
        next = (void *)spool_peek(&r->disk, record_size(next));
        r->disk.used += record_size(next);
    } else if (r->at < held->size) {
        next = (void *)(held->bytes + r->at);
        r->at += record_size(next);
    }
    return next;
}

void tape_read_end(tape_reader *r)
{
    buffer_free(&r->disk.window);
}
