/* spool.c - bytes that go to a file without a name, and come back. */
#include <string.h>
#include <unistd.h>

#include "files/scratch.h"
#include "spool.h"

void spool_flush(spool *s)
{
    if (s->held.size == 0)
        return;
    if (s->fd < 0)
        s->fd = scratch_open();
    scratch_write(s->fd, s->held.bytes, s->held.size, s->on_disk);
    s->on_disk += s->held.size;
    s->held.size = 0;
}

void spool_close(spool *s)
{
    if (s->fd >= 0)
        close(s->fd); /* all of it was read again, or nobody wants it */
    buffer_free(&s->held);
}

/* Moves the unused bytes to the front, and reads a piece behind them, or `lack` bytes. */
static void refill(spool_reader *r, size_t lack)
{
    size_t left = r->window.size - r->used, more = lack > r->piece ? lack : r->piece;

    if (more > r->end - r->at)
        more = (size_t)(r->end - r->at);
    if (left > 0)
        memmove(r->window.bytes, r->window.bytes + r->used, left);
    r->window.size = left;
    r->used = 0;
    buffer_reserve(&r->window, more);
    scratch_read(r->fd, r->window.bytes + left, more, r->at);
    r->window.size += more;
    r->at += more;
}

char *spool_peek(spool_reader *r, size_t size)
{
    size_t left = r->window.size - r->used;

    if (left < size && r->end - r->at < size - left)
        return NULL;
    if (left < size)
        refill(r, size - left);
    return r->window.bytes + r->used;
}
