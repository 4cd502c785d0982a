/* sort.c - hashes by themselves. */
#include "base/sort.h"

typedef uint64_t sort_item;

static inline uint64_t sort_hash(sort_item x)
{
    return x;
}

#include "base/sort_template.h"

void tamis__sort(uint64_t *x, size_t n)
{
    sort_from(x, n, 56);
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

void tamis__sort_group(uint64_t *x, size_t n, unsigned skip, unsigned bits, size_t *starts)
{
    sort_into_groups(x, n, skip, bits, starts);
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
        size_t alike = sort_alike(x + i, n - i, shift);
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
        size_t alike = bits ? sort_alike(x, n, shift) : n;
        if (alike > FEW_FOR_DIGITS && alike <= room && shift > 2 * DIGIT_BITS)
            sort_by_digits(x, alike, shift, spare);
        else
            tamis__sort(x, alike);
        x += alike;
        n -= alike;
    }
}
