/* sized.c - public structs that start with their own size. */
#include "core/sized.h"

#include <string.h>

#include "base/bits.h"

/* Later versions of a struct have at most so many bytes more: a size above that is rubbish. */
enum { MOST_LATER = 4096 };

static size_t sized_of(const void *theirs)
{
    size_t given;

    memcpy(&given, theirs, sizeof given);
    return given;
}

bool tamis__sized_is_possible(size_t given, size_t first, size_t size)
{
    return given >= first && given <= size + MOST_LATER;
}

bool tamis__sized_take(void *ours, size_t size, size_t first, const void *theirs)
{
    const uint8_t *bytes = theirs;
    size_t given = sized_of(theirs), common = given < size ? given : size;

    if (!tamis__sized_is_possible(given, first, size) ||
        !bytes_are_zero(bytes + common, bytes + given))
        return false;
    memset(ours, 0, size);
    memcpy(ours, theirs, common);
    memcpy(ours, &size, sizeof size);
    return true;
}

bool tamis__sized_take_spec(tamis_spec *ours, const tamis_spec *theirs)
{
    return tamis__sized_take(ours, sizeof *ours, SIZED_SPEC, theirs);
}

void tamis__sized_give(void *theirs, const void *ours, size_t size)
{
    size_t given = sized_of(theirs), common = given < size ? given : size;

    memcpy(theirs, ours, common);
    if (given > size && tamis__sized_is_possible(given, 0, size))
        memset((uint8_t *)theirs + size, 0, given - size);
    memcpy(theirs, &given, common < sizeof given ? common : sizeof given);
}
