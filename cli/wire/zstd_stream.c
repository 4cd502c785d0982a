/* zstd_stream.c - streams of zstd. */
#ifdef TAMIS_HAS_ZSTD
#include <zstd.h>
#endif

#include "term/message.h"
#include "zstd_stream.h"

#ifdef TAMIS_HAS_ZSTD

uint64_t packed_offer(void)
{
    return PACKED_OFFER;
}

zstd_packer *zstd_packer_new(int level)
{
    zstd_packer *z = ZSTD_createCCtx();

    if (!z || ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level)))
        die(CODE_MEMORY, "out of memory to compress");
    return z;
}

void zstd_pack(zstd_packer *z, buffer *out, const void *bytes, size_t size, bool is_end)
{
    ZSTD_inBuffer in = { bytes, size, 0 };
    size_t left;

    do {
        buffer_reserve(out, ZSTD_compressBound(size - in.pos));
        ZSTD_outBuffer to = { out->bytes, out->room, out->size };
        left = ZSTD_compressStream2(z, &to, &in, is_end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            die(CODE_MEMORY, "cannot compress: %s", ZSTD_getErrorName(left));
        out->size = to.pos;
    } while (is_end ? left > 0 : in.pos < in.size);
}

void zstd_packer_free(zstd_packer *z)
{
    ZSTD_freeCCtx(z);
}

zstd_unpacker *zstd_unpacker_new(void)
{
    zstd_unpacker *z = ZSTD_createDCtx();

    if (!z || ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, PACKED_WINDOW)))
        die(CODE_MEMORY, "out of memory to decompress");
    return z;
}

bool zstd_unpack(zstd_unpacker *z, coded *in, buffer *out, size_t room)
{
    ZSTD_inBuffer from = { in->at, (size_t)(in->end - in->at), 0 };

    buffer_reserve(out, room);
    ZSTD_outBuffer to = { out->bytes + out->size, room, 0 };
    size_t result = ZSTD_decompressStream(z, &to, &from);
    in->at += from.pos;
    out->size += to.pos;
    return !ZSTD_isError(result);
}

void zstd_unpacker_free(zstd_unpacker *z)
{
    ZSTD_freeDCtx(z);
}

#else

uint64_t packed_offer(void)
{
    return 0;
}

zstd_packer *zstd_packer_new(int level)
{
    (void)level;
    return NULL;
}

void zstd_pack(zstd_packer *z, buffer *out, const void *bytes, size_t size, bool is_end)
{
    (void)z, (void)out, (void)bytes, (void)size, (void)is_end;
}

void zstd_packer_free(zstd_packer *z)
{
    (void)z;
}

zstd_unpacker *zstd_unpacker_new(void)
{
    return NULL;
}

bool zstd_unpack(zstd_unpacker *z, coded *in, buffer *out, size_t room)
{
    (void)z, (void)in, (void)out, (void)room;
    return false;
}

void zstd_unpacker_free(zstd_unpacker *z)
{
    (void)z;
}

#endif
