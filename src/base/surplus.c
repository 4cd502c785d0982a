/* surplus.c - how many keys of a class there are beyond its ceiling: surplus.h. */
#include "base/surplus.h"

#include <stddef.h>

#include "base/bits.h"
#include "base/hash.h"

static bool surplus_is_lost(const surplus *s)
{
    return s->entries == 0 || s->at[0];
}

static uint64_t surplus_most(const surplus *s)
{
    return UINT64_MAX >> s->class_bits;
}

static void surplus_put(const surplus *s, uint64_t i, uint64_t class, uint64_t times)
{
    put_le64(s->at + 1 + 8 * i, times ? times << s->class_bits | class : 0);
}

/* Number k of the entries that may be of a class. */
static uint64_t surplus_place(const surplus *s, uint64_t class, uint64_t k)
{
    uint64_t i = scale64(class * HASH_GOLDEN, s->entries) + k;

    return i < s->entries ? i : i - s->entries;
}

/* The entry of the class, or else one that is free; s->entries if there is neither. */
static uint64_t surplus_find(const surplus *s, uint64_t class)
{
    uint64_t window = s->entries < SURPLUS_WINDOW ? s->entries : SURPLUS_WINDOW;
    uint64_t free = s->entries;

    for (uint64_t k = 0; k < window; k++) {
        uint64_t i = surplus_place(s, class, k), n = surplus_in(s, i);
        if (n && surplus_class_in(s, i) == class)
            return i;
        if (!n && free == s->entries)
            free = i;
    }
    return free;
}

void tamis__surplus_add(const surplus *s, uint64_t class, uint64_t times)
{
    if (surplus_is_lost(s))
        return;
    uint64_t at = surplus_find(s, class);
    if (at == s->entries) {
        s->at[0] = 1;
        return;
    }
    uint64_t n = surplus_in(s, at), room = surplus_most(s) - n;
    surplus_put(s, at, class, n + (times < room ? times : room));
}

bool tamis__surplus_remove(const surplus *s, uint64_t class, uint64_t copies, uint64_t ceiling,
                           uint64_t *times)
{
    if (copies < ceiling)
        return *times <= copies;
    uint64_t at = surplus_find(s, class), n = at < s->entries ? surplus_in(s, at) : 0;
    uint64_t wanted = *times;

    if (surplus_is_lost(s) || n == surplus_most(s)) {
        *times = 0;
        return true;
    }
    if (wanted > ceiling + n)
        return false;
    *times = wanted > n ? wanted - n : 0;
    if (n)
        surplus_put(s, at, class, wanted < n ? n - wanted : 0);
    return true;
}

void tamis__surplus_move(const surplus *to, const surplus *from)
{
    for (uint64_t i = 0; i < from->entries; i++)
        if (surplus_in(from, i))
            tamis__surplus_add(to, surplus_class_in(from, i), surplus_in(from, i));
    if (from->entries && to->entries)
        to->at[0] |= from->at[0];
}

const char *tamis__surplus_verify(const surplus *s,
                                  bool (*is_full)(const void *table, uint64_t class),
                                  const void *table)
{
    if (s->entries && s->at[0] > 1)
        return "the surplus is neither known nor lost";
    for (uint64_t i = 0; i < s->entries; i++) {
        uint64_t class = surplus_class_in(s, i);
        if (!surplus_in(s, i)) {
            if (class)
                return "an empty entry of the surplus is in use";
            continue;
        }
        if (surplus_find(s, class) != i)
            return "an entry of the surplus is not in its place";
        if (!is_full(table, class))
            return "a class has a surplus, but is not at its ceiling";
    }
    return NULL;
}
