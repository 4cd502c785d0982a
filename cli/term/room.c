/* room.c - memory, or the end of the program. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "room.h"

static void *given(void *block, const char *what)
{
    if (!block)
        die(CODE_MEMORY, "out of memory for %s", what);
    return block;
}

void *room_for(size_t n, size_t size, const char *what)
{
    return given(calloc(n ? n : 1, size), what);
}

void *room_resized(void *block, size_t n, size_t size, const char *what)
{
    return given(reallocarray(block, n ? n : 1, size), what);
}

void *room_for_next(void *block, size_t n, size_t *room, size_t size, const char *what)
{
    if (n < *room)
        return block;
    *room = *room * 3 / 2 + 16;
    return room_resized(block, *room, size, what);
}

char *room_copy(const char *text, const char *what)
{
    return given(strdup(text), what);
}
