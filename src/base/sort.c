/* sort.c - radix sort in place, the leading byte first.
 *
 * Words are counted by their byte; then each is swapped to its place, and what was there goes on to
 * its own, until the circle closes (McIlroy, Bostic, McIlroy: Engineering Radix Sort, 1993). Hashes
 * are spread evenly, so that after three bytes nearly nothing is left to do even in millions. */
#include "base/sort.h"

/* Below it, counting 256 bytes costs more than moving words one by one. */
enum { FEW = 48 };

static unsigned byte_at(uint64_t word, unsigned shift)
{
    return (unsigned)(word >> shift) & 255;
}

static void count(size_t starts[257], const uint64_t *words, size_t n, unsigned shift)
{
    for (unsigned i = 0; i <= 256; i++)
        starts[i] = 0;
    for (size_t i = 0; i < n; i++)
        starts[byte_at(words[i], shift) + 1]++;
    for (unsigned i = 1; i <= 256; i++)
        starts[i] += starts[i - 1];
}

static void permute(uint64_t *words, const size_t starts[257], unsigned shift)
{
    size_t next[256];

    for (unsigned i = 0; i < 256; i++)
        next[i] = starts[i];
    for (unsigned i = 0; i < 256; i++)
        while (next[i] < starts[i + 1]) {
            uint64_t word = words[next[i]];
            for (unsigned home = byte_at(word, shift); home != i; home = byte_at(word, shift)) {
                uint64_t displaced = words[next[home]];
                words[next[home]++] = word;
                word = displaced;
            }
            words[next[i]++] = word;
        }
}

static void sort_few(uint64_t *words, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t word = words[i];
        size_t j = i;
        for (; j > 0 && words[j - 1] > word; j--)
            words[j] = words[j - 1];
        words[j] = word;
    }
}

static void sort_from(uint64_t *words, size_t n, unsigned shift)
{
    size_t starts[257];

    if (n <= FEW) {
        sort_few(words, n);
        return;
    }
    count(starts, words, n, shift);
    permute(words, starts, shift);
    for (unsigned i = 0; i < 256 && shift > 0; i++)
        sort_from(words + starts[i], starts[i + 1] - starts[i], shift - 8);
}

void tamis__sort_group(uint64_t *words, size_t n, size_t starts[257])
{
    count(starts, words, n, 56);
    permute(words, starts, 56);
}

void tamis__sort(uint64_t *words, size_t n)
{
    sort_from(words, n, 56);
}

size_t tamis__sorted_distinct(const uint64_t *words, size_t n)
{
    size_t distinct = n > 0;

    for (size_t i = 1; i < n; i++)
        distinct += words[i] != words[i - 1];
    return distinct;
}

size_t tamis__sort_distinct(uint64_t *words, size_t n)
{
    size_t kept = 0;

    tamis__sort(words, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || words[i] != words[kept - 1])
            words[kept++] = words[i];
    return kept;
}
