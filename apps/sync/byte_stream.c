/* byte_stream.c - bytes of files as one stream of messages. An empty message ends it. */
#include <stdlib.h>
#include <string.h>

#include "byte_stream.h"
#include "patch_limit.h"
#include "term/array.h"
#include "wire/packed_message.h"

enum { PIECE = 1 << 17 };

struct pour {
    line *line;
    buffer waiting;
    zstd_packer *zstd; /* NULL: bytes go as they are */
};

struct drain {
    line *line;
    buffer ready; /* from `at` on */
    size_t at;
    zstd_unpacker *zstd; /* NULL: they come as they are */
    coded packed;        /* of the frame that came last */
    bool has_ended;
    bool may_grow; /* sizes of files were found to be as they may */
    uint64_t done; /* bytes that were read */
};

static void send_waiting(pour *p)
{
    if (p->waiting.size > 0)
        line_send(p->line, PART_DATA, p->waiting.bytes, p->waiting.size);
    p->waiting.size = 0;
}

/* ---- Sending ----------------------------------------------------------- */

enum { MIB = 1 << 20 };

static int level_for(uint64_t expected)
{
    return expected <= 2 * MIB ? 19 : expected <= 16 * MIB ? 15 : expected <= 128 * MIB ? 9 : 3;
}

pour *pour_begin(const sync_job *job, uint64_t expected)
{
    pour *p = array_new(1, sizeof *p, "stream");

    p->line = job->line;
    if (job->offers & PACKED_OFFER)
        p->zstd = zstd_packer_new(level_for(expected));
    return p;
}

bool pour_write(void *ctx, const void *bytes, size_t size)
{
    pour *p = ctx;

    if (p->zstd)
        zstd_pack(p->zstd, &p->waiting, bytes, size, false);
    else
        buffer_append(&p->waiting, bytes, size);
    if (p->waiting.size >= PIECE)
        send_waiting(p);
    line_breathe(p->line);
    return true;
}

void pour_end(pour *p)
{
    if (p->zstd)
        zstd_pack(p->zstd, &p->waiting, NULL, 0, true);
    zstd_packer_free(p->zstd);
    send_waiting(p);
    line_send(p->line, PART_DATA, NULL, 0);
    buffer_free(&p->waiting);
    free(p);
}

/* ---- Receiving --------------------------------------------------------- */

drain *drain_begin(const sync_job *job)
{
    drain *d = array_new(1, sizeof *d, "stream");

    d->line = job->line;
    d->may_grow = job->limit_size > 0;
    if (job->offers & PACKED_OFFER)
        d->zstd = zstd_unpacker_new();
    return d;
}

/* Has something ready, unless the stream ends. */
static void have_some(drain *d)
{
    while (d->at == d->ready.size && !d->has_ended) {
        d->at = d->ready.size = 0;
        if (d->zstd && !zstd_unpack(d->zstd, &d->packed, &d->ready, PIECE))
            line_refuse(d->line, "the bytes of files cannot be unpacked");
        if (d->ready.size > 0)
            return;
        line_frame f = line_expect(d->line, PART_DATA);
        d->has_ended = f.size == 0;
        if (d->zstd)
            d->packed = coded_of(f.body, f.size);
        else
            buffer_append(&d->ready, f.body, f.size);
    }
}

static void check_growth(drain *d, size_t size)
{
    d->done += size;
    if (!d->may_grow && d->done > growth_unpacked_most(line_received_of(d->line, PART_DATA)))
        line_refuse(d->line,
                    "what came unpacks to more than %d times its bytes; --limit-size allows that",
                    GROWTH_UNPACKED_TIMES);
}

void drain_read(drain *d, void *bytes, size_t size)
{
    check_growth(d, size);
    while (size > 0) {
        have_some(d);
        size_t left = d->ready.size - d->at, n = left < size ? left : size;
        if (n == 0)
            line_refuse(d->line, "fewer bytes of files came than were announced");
        memcpy(bytes, d->ready.bytes + d->at, n);
        bytes = (char *)bytes + n;
        d->at += n;
        size -= n;
    }
}

void drain_end(drain *d)
{
    have_some(d);
    if (d->at < d->ready.size)
        line_refuse(d->line, "more bytes of files came than were announced");
    zstd_unpacker_free(d->zstd);
    buffer_free(&d->ready);
    free(d);
}
