/* sort.c - radix sort: in place, the leading bits first; or by two digits, the lower one first, to
 * a second array and back.
 *
 * In place, items are counted by some of their bits. Then one of them goes to the end of its group,
 * the one that was there to the end of its own, and so on until the circle closes:
 *
 *            a group              what is in place grows down from the end of each group;
 *   | b a a [A] | a c [B B] |     in the end next[] is where groups start
 *           next        next
 *
 * Hashes are even enough that after three bytes little is left to do in millions of them; and
 * whatever they are, no bit is looked at twice. It takes 3 KiB of stack, and with a second array 8.
 *
 * Each function is compiled for items of one word and of two, its last argument.
 *
 * McIlroy, Bostic, McIlroy: Engineering Radix Sort, 1993. */
#include "base/sort.h"

#define SORT_INLINE __attribute__((always_inline)) static inline

/* Up to this many, moving items one by one costs less than counting 256 groups. */
enum { FEW = 48 };

typedef struct sort_item {
    uint64_t hash, value;
} sort_item;

SORT_INLINE sort_item sort_get(const uint64_t *x, size_t i, size_t words)
{
    return (sort_item){ x[i * words], words == 2 ? x[i * words + 1] : 0 };
}

SORT_INLINE void sort_put(uint64_t *x, size_t i, sort_item item, size_t words)
{
    x[i * words] = item.hash;
    if (words == 2)
        x[i * words + 1] = item.value;
}

SORT_INLINE void sort_few_of(uint64_t *x, size_t n, size_t words)
{
    for (size_t i = 1; i < n; i++) {
        sort_item moving = sort_get(x, i, words);
        size_t at = i;

        for (; at > 0 && x[(at - 1) * words] > moving.hash; at--)
            sort_put(x, at, sort_get(x, at - 1, words), words);
        sort_put(x, at, moving, words);
    }
}

/* By the `bits` bits from `shift` on, of which there are some. */
SORT_INLINE void sort_by(uint64_t *x, size_t n, unsigned shift, unsigned bits, size_t *next,
                         size_t words)
{
    const size_t groups = (size_t)1 << bits;

    for (size_t i = 0; i < groups; i++)
        next[i] = 0;
    for (size_t i = 0; i < n; i++)
        next[x[i * words] >> shift & (groups - 1)]++;
    for (size_t i = 1; i < groups; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < n; i++) {
        sort_item moving = sort_get(x, i, words);
        size_t group = (size_t)(moving.hash >> shift) & (groups - 1), at = i + 1;

        while (at != i && i < next[group]) {
            at = --next[group];
            sort_item displaced = sort_get(x, at, words);
            sort_put(x, at, moving, words);
            moving = displaced;
            group = (size_t)(moving.hash >> shift) & (groups - 1);
        }
    }
}

/* A function of its own, so that its array is not on the stack while groups are sorted. */
__attribute__((noinline)) static void sort_by_byte(uint64_t *x, size_t n, unsigned shift,
                                                   size_t words)
{
    size_t next[256];

    if (words == 1)
        sort_by(x, n, shift, 8, next, 1);
    else
        sort_by(x, n, shift, 8, next, 2);
}

/* How many items from x[0] on have the same bits from `shift` up: strides double until they are
 * too long, then the last one is halved. */
static size_t sort_alike(const uint64_t *x, size_t n, unsigned shift, size_t words)
{
    size_t low = 0, high = 1;

    while (high < n && (x[high * words] ^ x[0]) >> shift == 0) {
        low = high;
        high *= 2;
    }
    for (high = high < n ? high : n; high - low > 1;) {
        size_t middle = low + (high - low) / 2;
        if ((x[middle * words] ^ x[0]) >> shift == 0)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Of items that agree in all bits above the byte at `shift`. */
static void sort_from(uint64_t *x, size_t n, unsigned shift, size_t words)
{
    if (n <= FEW) {
        if (words == 1)
            sort_few_of(x, n, 1);
        else
            sort_few_of(x, n, 2);
        return;
    }
    sort_by_byte(x, n, shift, words);
    while (n > 0 && shift > 0) {
        size_t alike = sort_alike(x, n, shift, words);
        sort_from(x, alike, shift - 8, words);
        x += alike * words;
        n -= alike;
    }
}

void tamis__sort(uint64_t *x, size_t n)
{
    sort_from(x, n, 56, 1);
}

void tamis__sort_pairs(void *pairs, size_t n)
{
    sort_from(pairs, n, 56, 2);
}

size_t tamis__sort_unique(uint64_t *x, size_t n)
{
    size_t kept = 0;

    tamis__sort(x, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || x[i] != x[kept - 1])
            x[kept++] = x[i];
    return kept;
}

void tamis__sort_group(uint64_t *x, size_t n, unsigned words, unsigned skip, unsigned bits,
                       size_t *starts)
{
    const unsigned shift = 64 - skip - bits;

    starts[0] = 0;
    if (bits > 0 && words == 1)
        sort_by(x, n, shift, bits, starts, 1);
    else if (bits > 0)
        sort_by(x, n, shift, bits, starts, 2);
}

/* ---- With a second array ----------------------------------------------- */

/* Digits by which a group is dealt out, the lower one first, so that it is sorted by both. In
 * groups of 10^4 hashes, some fifty pairs agree in all bits up to there. It takes 8 KiB of stack.
 */
enum { DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS };

static inline size_t sort_digit(uint64_t x, unsigned shift)
{
    return x >> shift & (DIGITS - 1);
}

static void sort_add_up(uint32_t *next)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < DIGITS; i++) {
        uint32_t n = next[i];
        next[i] = sum;
        sum += n;
    }
}

static void sort_deal(uint64_t *to, const uint64_t *x, size_t n, unsigned shift, uint32_t *next)
{
    for (size_t i = 0; i < n; i++)
        to[next[sort_digit(x[i], shift)]++] = x[i];
}

/* Of items that are sorted by all bits from `shift` up: sorts those that agree in these. */
static void sort_rest(uint64_t *x, size_t n, unsigned shift)
{
    for (size_t i = 1; i < n; i++) {
        if (x[i - 1] <= x[i])
            continue;
        for (i--; i > 0 && (x[i - 1] ^ x[i]) >> shift == 0;)
            i--;
        size_t alike = sort_alike(x + i, n - i, shift, 1);
        tamis__sort(x + i, alike);
        i += alike - 1;
    }
}

/* Of items that agree in all bits from `shift` up. */
static void sort_by_digits(uint64_t *x, size_t n, unsigned shift, uint64_t *spare)
{
    uint32_t lower[DIGITS] = { 0 }, upper[DIGITS] = { 0 };
    unsigned first = shift - DIGIT_BITS, second = first - DIGIT_BITS;

    for (size_t i = 0; i < n; i++) {
        upper[sort_digit(x[i], first)]++;
        lower[sort_digit(x[i], second)]++;
    }
    sort_add_up(lower);
    sort_add_up(upper);
    sort_deal(spare, x, n, second, lower);
    sort_deal(x, spare, n, first, upper);
    sort_rest(x, n, second);
}

/* So few items that counting digits would take longer. */
enum { FEW_FOR_DIGITS = 512 };

void tamis__sort_groups(uint64_t *x, size_t n, unsigned bits, uint64_t *spare, size_t room)
{
    const unsigned shift = 64 - bits;

    room = room < UINT32_MAX ? room : UINT32_MAX;
    while (n > 0) {
        size_t alike = bits ? sort_alike(x, n, shift, 1) : n;
        if (alike > FEW_FOR_DIGITS && alike <= room && shift > 2 * DIGIT_BITS)
            sort_by_digits(x, alike, shift, spare);
        else
            tamis__sort(x, alike);
        x += alike;
        n -= alike;
    }
}
