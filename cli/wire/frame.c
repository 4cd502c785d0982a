/* frame.c - frames and greetings, as bytes. */
#include <string.h>

#include "frame.h"
#include "tamis.h"

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
    return (size_t)header[0] | (size_t)header[1] << 8 | (size_t)header[2] << 16;
}

void frame_seal(uint8_t header[FRAME_HEADER], char part, uint64_t number, const void *body,
                size_t size)
{
    for (int i = 0; i < 3; i++)
        header[i] = (uint8_t)(size >> 8 * i);
    header[3] = (uint8_t)part;
    uint32_t sum = frame_sum(header, number, body, size);
    for (int i = 0; i < 4; i++)
        header[4 + i] = (uint8_t)(sum >> 8 * i);
}

bool frame_open(const uint8_t header[FRAME_HEADER], char *part, size_t *size)
{
    *size = frame_size(header);
    *part = (char)header[3];
    return *size <= FRAME_MOST && header[3] > ' ' && header[3] < 127;
}

bool frame_is_whole(const uint8_t header[FRAME_HEADER], uint64_t number, const void *body)
{
    uint32_t sum = 0;

    for (int i = 4; i-- > 0;)
        sum = sum << 8 | header[4 + i];
    return sum == frame_sum(header, number, body, frame_size(header));
}
