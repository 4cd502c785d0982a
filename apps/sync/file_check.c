/* file_check.c - a hash that tells files apart. */
#include "file_check.h"

#include <string.h>

#include "term/message.h"

size_t file_next(void *ctx, void *bytes, size_t size)
{
    file_input *in = ctx;
    uint64_t left = in->end - in->at;
    size_t got = file_read(in->fd, in->path, bytes, left < size ? (size_t)left : size, in->at);

    in->at += got;
    return got;
}

size_t coded_next(void *ctx, void *bytes, size_t size)
{
    coded *c = ctx;
    size_t left = (size_t)(c->end - c->at), n = left < size ? left : size;

    memcpy(bytes, c->at, n);
    c->at += n;
    return n;
}

bool buffer_sink(void *ctx, const void *bytes, size_t size)
{
    buffer_append(ctx, bytes, size);
    return true;
}

/* ---- Checks ------------------------------------------------------------ */

/* Of a file of one block, the strong hash is all there is after the header and the rolling hash. */
enum { CHECK_BLOCK = 1 << 17, STRONG = 32, BEFORE_STRONG = 12 + 4 };

static buffer hash_blocks(uint32_t block, byte_source *in, void *ctx, const char *path)
{
    const signature_spec spec = { SIGNATURE_RABIN_BLAKE2, block, STRONG };
    buffer hashes = { 0 };
    tamis_status status = signature_make(&spec, in, ctx, buffer_sink, &hashes, NULL);

    if (status)
        die_status("read", path, status);
    return hashes;
}

uint64_t file_check(file_input in, const tamis_hasher *by)
{
    buffer hashes = hash_blocks(CHECK_BLOCK, file_next, &in, in.path);
    coded rest = coded_of(hashes.bytes, hashes.size);
    buffer top = hash_blocks((uint32_t)hashes.size, coded_next, &rest, in.path);

    uint64_t check = tamis_hasher_key(by, top.bytes + BEFORE_STRONG, STRONG);
    buffer_free(&hashes);
    buffer_free(&top);
    return check;
}
