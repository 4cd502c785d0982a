#include "dump.h"

#include <string.h>

redis_arg args_scandump[] = { ARG_KEY, ARG("iterator", INTEGER), ARG_END };
redis_arg args_loadchunk[] = { ARG_KEY, ARG("iterator", INTEGER), ARG("data", STRING), ARG_END };

const char *dump_piece(const dump_type *type, const void *v, uint64_t offset, size_t *size)
{
    const unsigned char *bytes = type->array(v, offset, size);

    if (*size > DUMP_PIECE_MAX)
        *size = DUMP_PIECE_MAX;
    return (const char *)bytes;
}

dump_fit dump_take(const dump_type *type, const void *v, uint64_t end, const char *bytes,
                   size_t size)
{
    size_t room = 0;
    unsigned char *array = size <= end ? type->array(v, end - size, &room) : NULL;

    if (!array)
        return DUMP_NOWHERE;
    if (size > room)
        return DUMP_TOO_LARGE;
    memcpy(array, bytes, size);
    return DUMP_FITS;
}

void dump_rewrite(const dump_type *type, redis_io *io, redis_string *name, const void *v)
{
    unsigned char header[type->header_max];
    const char *bytes;
    size_t size = type->write_header(v, header);

    redis.EmitAOF(io, type->load, "slb", name, 1LL, header, size);
    for (uint64_t at = 0; (bytes = dump_piece(type, v, at, &size)); at += size)
        redis.EmitAOF(io, type->load, "slb", name, (long long)(at + size + 1), bytes, size);
}

void dump_digest(const dump_type *type, redis_digest *digest, const void *v)
{
    unsigned char header[type->header_max];
    const unsigned char *bytes;
    size_t size = type->write_header(v, header);

    redis.DigestAddStringBuffer(digest, (const char *)header, size);
    for (uint64_t at = 0; (bytes = type->array(v, at, &size)); at += size)
        redis.DigestAddStringBuffer(digest, (const char *)bytes, size);
    redis.DigestEndSequence(digest);
}
