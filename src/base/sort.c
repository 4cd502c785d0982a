#include "base/sort.h"

enum { FEW = 24 };

static void insert_each(uint64_t *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t moving = x[i];
        size_t at = i;

        for (; at > 0 && x[at - 1] > moving; at--)
            x[at] = x[at - 1];
        x[at] = moving;
    }
}

/* Numbers without the bit go to the front; returns how many they are. */
static size_t split(uint64_t *x, size_t n, uint64_t bit)
{
    size_t low = 0, high = n;

    while (low < high) {
        if (!(x[low] & bit)) {
            low++;
        } else {
            uint64_t swap = x[--high];
            x[high] = x[low];
            x[low] = swap;
        }
    }
    return low;
}

/* Radix exchange: halves by the leading bit, then each half by the next. Hashes are even enough
 * that halves are halves, and whatever they are, no bit is looked at twice. */
static void sort_from(uint64_t *x, size_t n, uint64_t bit)
{
    while (n > FEW && bit) {
        size_t low = split(x, n, bit);

        bit >>= 1;
        sort_from(x, low, bit);
        x += low;
        n -= low;
    }
    if (bit)
        insert_each(x, n);
}

void tamis__sort(uint64_t *x, size_t n)
{
    sort_from(x, n, UINT64_C(1) << 63);
}

size_t tamis__sort_unique(uint64_t *x, size_t n)
{
    size_t kept = 0;

    tamis__sort(x, n);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || x[i] != x[i - 1])
            x[kept++] = x[i];
    return kept;
}
