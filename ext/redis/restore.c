#include "restore.h"

#include <string.h>

#include "bytes.h"

/* A payload is the type, the name and encoding of the module's type, what rdb_save() writes, a zero
 * at its end, the version and a checksum. Every server since 4.0 reads version 8. */
enum { RESTORE_MODULE = 7, RESTORE_WIDE = 0x81, RESTORE_VERSION = 8 };
enum { RESTORE_HEAD = 1 + 1 + 8, RESTORE_TAIL = 1 + 2 + 8 };

/* The name in 6 bits for each letter, then the encoding in 10. */
static uint64_t restore_type(const char *name, int encoding)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t id = 0;

    for (int i = 0; i < 9; i++)
        id = id << 6 | (uint64_t)(strchr(letters, name[i]) - letters);
    return id << 10 | (uint64_t)encoding;
}

/* The CRC of Jones, from the lowest bit on. */
static uint64_t restore_crc(const unsigned char *bytes, size_t size)
{
    uint64_t table[256], crc = 0;

    for (unsigned i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
    }
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return crc;
}

static void restore_write(unsigned char *to, uint64_t type, const char *saved, size_t size)
{
    unsigned char *tail = to + RESTORE_HEAD + size;

    to[0] = RESTORE_MODULE;
    to[1] = RESTORE_WIDE;
    for (int i = 0; i < 8; i++)
        to[2 + i] = (unsigned char)(type >> (56 - 8 * i));
    memcpy(to + RESTORE_HEAD, saved, size);
    tail[0] = 0;
    bytes_put(tail + 1, RESTORE_VERSION, 2);
    bytes_put(tail + 3, restore_crc(to, RESTORE_HEAD + size + 3), 8);
}

void restore_emit(redis_io *io, redis_string *key, void *v)
{
    const value_type *type = value_type_of(v);
    redis_string *saved = redis.SaveDataTypeToString(NULL, v, *type->made);
    unsigned char *payload = NULL;
    const char *bytes = NULL;
    size_t size = 0;

    if (saved) {
        bytes = redis.StringPtrLen(saved, &size);
        payload = redis.TryAlloc(RESTORE_HEAD + size + RESTORE_TAIL);
    }
    if (payload) {
        restore_write(payload, restore_type(type->name, type->encoding), bytes, size);
        redis.EmitAOF(io, "RESTORE", "slb", key, 0LL, payload, RESTORE_HEAD + size + RESTORE_TAIL);
        redis.Free(payload);
    } else
        redis.LogIOError(io, "warning", "no memory to write a value");
    if (saved)
        redis.FreeString(NULL, saved);
}
