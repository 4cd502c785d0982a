/* frame.c - frames and greetings, as bytes. */
#include <string.h>

#include "frame.h"
#include "tamis.h"
#include "text/byte_order.h"

static const uint8_t GREETING[FRAME_GREETING] = {
    'T', 'A', 'M', 'I', 'S', '\r', '\n', FRAME_VERSION
};

void frame_greeting(uint8_t bytes[FRAME_GREETING])
{
    memcpy(bytes, GREETING, FRAME_GREETING);
}

unsigned frame_version(const uint8_t bytes[FRAME_GREETING])
{
    return memcmp(bytes, GREETING, FRAME_GREETING - 1) == 0 ? bytes[FRAME_GREETING - 1] : 0;
}

static uint32_t frame_sum(const uint8_t header[FRAME_HEADER], uint64_t number, const void *body,
                          size_t size)
{
    tamis_hasher by = { .hash = TAMIS_FAST, .seed = number };
    by.seed = tamis_hasher_key(&by, header, 4);
    return (uint32_t)tamis_hasher_key(&by, body, size);
}

static size_t frame_size(const uint8_t header[FRAME_HEADER])
{
    return le32(header) & 0xffffff;
}

void frame_seal(uint8_t header[FRAME_HEADER], char part, uint64_t number, const void *body,
                size_t size)
{
    put_le32(header, (uint32_t)size | (uint32_t)(uint8_t)part << 24);
    put_le32(header + 4, frame_sum(header, number, body, size));
}

bool frame_open(const uint8_t header[FRAME_HEADER], char *part, size_t *size)
{
    *size = frame_size(header);
    *part = (char)header[3];
    return *size <= FRAME_MOST && header[3] > ' ' && header[3] < 127;
}

bool frame_is_whole(const uint8_t header[FRAME_HEADER], uint64_t number, const void *body)
{
    return le32(header + 4) == frame_sum(header, number, body, frame_size(header));
}
