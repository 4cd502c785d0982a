/* sort_template.h - TEMPLATE, compiled once for each type of item: radix sort in place, the leading
 * bits first. The includer defines the type sort_item and its hash, sort_hash().
 *
 * Items are counted by some of their bits. Then one of them goes to the end of its group, the one
 * that was there to the end of its own, and so on until the circle closes:
 *
 *            a group              what is in place grows down from the end of each group;
 *   | b a a [A] | a c [B B] |     in the end next[] is where groups start
 *           next        next
 *
 * Hashes are even enough that after three bytes little is left to do in millions of them; and
 * whatever they are, no bit is looked at twice. It takes 3 KiB of stack.
 *
 * McIlroy, Bostic, McIlroy: Engineering Radix Sort, 1993. */
#include "base/sort.h"

/* Up to this many, moving items one by one costs less than counting 256 groups. */
enum { FEW = 48 };

static void sort_few(sort_item *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        sort_item moving = x[i];
        size_t at = i;

        for (; at > 0 && sort_hash(x[at - 1]) > sort_hash(moving); at--)
            x[at] = x[at - 1];
        x[at] = moving;
    }
}

/* By the `bits` bits from `shift` on, of which there are some. */
static inline void sort_by(sort_item *x, size_t n, unsigned shift, unsigned bits, size_t *next)
{
    const size_t groups = (size_t)1 << bits;

    for (size_t i = 0; i < groups; i++)
        next[i] = 0;
    for (size_t i = 0; i < n; i++)
        next[sort_hash(x[i]) >> shift & (groups - 1)]++;
    for (size_t i = 1; i < groups; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < n; i++) {
        sort_item moving = x[i];
        size_t group = (size_t)(sort_hash(moving) >> shift) & (groups - 1), at = i + 1;

        while (at != i && i < next[group]) {
            at = --next[group];
            sort_item displaced = x[at];
            x[at] = moving;
            moving = displaced;
            group = (size_t)(sort_hash(moving) >> shift) & (groups - 1);
        }
    }
}

/* A function of its own, so that its array is not on the stack while groups are sorted. */
static __attribute__((noinline)) void sort_by_byte(sort_item *x, size_t n, unsigned shift)
{
    size_t next[256];

    sort_by(x, n, shift, 8, next);
}

/* How many items from x[0] on have the same bits from `shift` up: strides double until they are
 * too long, then the last one is halved. */
static size_t sort_alike(const sort_item *x, size_t n, unsigned shift)
{
    size_t low = 0, high = 1;

    while (high < n && (sort_hash(x[high]) ^ sort_hash(x[0])) >> shift == 0) {
        low = high;
        high *= 2;
    }
    for (high = high < n ? high : n; high - low > 1;) {
        size_t middle = low + (high - low) / 2;
        if ((sort_hash(x[middle]) ^ sort_hash(x[0])) >> shift == 0)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Of items that agree in all bits above the byte at `shift`. */
static void sort_from(sort_item *x, size_t n, unsigned shift)
{
    if (n <= FEW) {
        sort_few(x, n);
        return;
    }
    sort_by_byte(x, n, shift);
    while (n > 0 && shift > 0) {
        size_t alike = sort_alike(x, n, shift);
        sort_from(x, alike, shift - 8);
        x += alike;
        n -= alike;
    }
}

static void sort_into_groups(sort_item *x, size_t n, unsigned skip, unsigned bits, size_t *starts)
{
    starts[0] = 0;
    if (bits > 0)
        sort_by(x, n, 64 - skip - bits, bits, starts);
}
