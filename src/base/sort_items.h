/* sort_items.h - radix sort in place, the leading bits first, of items by their hashes.
 *
 * Whoever includes it says what an `item` is, and what its hash_of() is.
 *
 * Items are counted by their leading bits; then one is moved to its group, the one that was there
 * to its own, and so on until the circle closes. Hashes are even enough that after three bytes
 * little is left to do in millions of them; and whatever they are, no bit is looked at twice.
 *
 * McIlroy, Bostic, McIlroy: Engineering Radix Sort, 1993. */
#ifndef TAMIS_BASE_SORT_ITEMS_H
#define TAMIS_BASE_SORT_ITEMS_H

#include "base/sort.h"

/* Below it, counting 256 groups costs more than moving numbers one by one. */
enum { FEW = 48 };

typedef struct digit {
    unsigned shift, groups;
} digit;

static inline size_t group_of(digit d, item x)
{
    return (size_t)(hash_of(x) >> d.shift) & (d.groups - 1);
}

static void count(size_t *starts, const item *x, size_t n, digit d)
{
    for (size_t i = 0; i <= d.groups; i++)
        starts[i] = 0;
    for (size_t i = 0; i < n; i++)
        starts[group_of(d, x[i]) + 1]++;
    for (size_t i = 1; i <= d.groups; i++)
        starts[i] += starts[i - 1];
}

static void permute(item *x, const size_t *starts, digit d)
{
    size_t next[1 << SORT_MOST_BITS], home;

    for (size_t i = 0; i < d.groups; i++)
        next[i] = starts[i];
    for (size_t i = 0; i < d.groups; i++)
        while (next[i] < starts[i + 1]) {
            item moving = x[next[i]];
            while ((home = group_of(d, moving)) != i) {
                item displaced = x[next[home]];
                x[next[home]++] = moving;
                moving = displaced;
            }
            x[next[i]++] = moving;
        }
}

static void insert_each(item *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        item moving = x[i];
        size_t at = i;

        for (; at > 0 && hash_of(x[at - 1]) > hash_of(moving); at--)
            x[at] = x[at - 1];
        x[at] = moving;
    }
}

static void sort_from(item *x, size_t n, unsigned shift)
{
    size_t starts[256 + 1];
    digit d = { shift, 256 };

    if (n <= FEW) {
        insert_each(x, n);
        return;
    }
    count(starts, x, n, d);
    permute(x, starts, d);
    for (size_t i = 0; i < d.groups && shift > 0; i++)
        sort_from(x + starts[i], starts[i + 1] - starts[i], shift - 8);
}

static void group_by(item *x, size_t n, unsigned skip, unsigned bits, size_t *starts)
{
    digit d = { 64 - skip - bits, 1u << bits };

    starts[0] = 0;
    starts[1] = n;
    if (bits == 0)
        return;
    count(starts, x, n, d);
    permute(x, starts, d);
}

#endif
