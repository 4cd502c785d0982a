/* word.h - the words of a command. */
#ifndef TAMIS_REDIS_WORD_H
#define TAMIS_REDIS_WORD_H

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

static inline bool word_to_count(const redis_string *word, uint64_t *n)
{
    long long value;

    if (redis.StringToLongLong(word, &value) != REDIS_OK || value < 0)
        return false;
    *n = (uint64_t)value;
    return true;
}

#endif
