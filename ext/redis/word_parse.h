/* word_parse.h - the words of a command. */
#ifndef TAMIS_REDIS_WORD_PARSE_H
#define TAMIS_REDIS_WORD_PARSE_H

#include <string.h>
#include <strings.h>

#include "redis_api.h"

/* Whether it is this word, in upper or lower case. */
static inline bool word_is(const redis_string *word, const char *text)
{
    size_t size;
    const char *bytes = redis.StringPtrLen(word, &size);

    return size == strlen(text) && strncasecmp(bytes, text, size) == 0;
}

/* A number of 64 bits, as digits and nothing else; RedisModule_StringToULongLong() takes signs,
 * spaces and whatever is behind a zero byte. */
static inline bool word_to_number(const redis_string *word, uint64_t *n)
{
    size_t size;
    const char *bytes = redis.StringPtrLen(word, &size);
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        if (bytes[i] < '0' || bytes[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(bytes[i] - '0'), &value))
            return false;
    *n = value;
    return size > 0;
}

/* One of 63 bits, which a reply can tell as a number. */
static inline bool word_to_count(const redis_string *word, uint64_t *n)
{
    long long value;

    if (redis.StringToLongLong(word, &value) != REDIS_OK || value < 0)
        return false;
    *n = (uint64_t)value;
    return true;
}

#endif
