#include "base/radix.h"

#include "base/ahead.h"
#include "base/hash.h"

static inline uint64_t radix_hash(const radix *r, uint64_t x, bool is_hashed)
{
    return is_hashed ? x : hash_key(x, r->salt);
}

static inline size_t radix_group(uint64_t h, unsigned skip, unsigned bits)
{
    return bits ? (size_t)(h << skip >> (64 - bits)) : 0;
}

__attribute__((always_inline)) static inline void radix_count_as(size_t *counts, const radix *r,
                                                                 const uint64_t *x, size_t n,
                                                                 bool is_hashed, size_t words)
{
    unsigned skip = r->skip, bits = r->bits;

    for (size_t i = 0; i < n; i++)
        counts[radix_group(radix_hash(r, x[i * words], is_hashed), skip, bits)]++;
}

void tamis__radix_count(size_t *counts, const radix *r, const uint64_t *x, size_t n)
{
    if (r->is_paired)
        radix_count_as(counts, r, x, n, true, 2);
    else if (r->is_hashed)
        radix_count_as(counts, r, x, n, true, 1);
    else
        radix_count_as(counts, r, x, n, false, 1);
}

/* Words by which lines of a group are asked for before they are written to: two lines. Behind the
 * last group these are no part of the array: a number, then, and no pointer into it. */
enum { DEAL_AHEAD = 16 };

__attribute__((always_inline)) static inline void radix_deal_as(uint64_t *out, size_t *ends,
                                                                const radix *r, const uint64_t *x,
                                                                size_t n, bool is_hashed,
                                                                size_t words)
{
    unsigned skip = r->skip, bits = r->bits;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = radix_hash(r, x[i * words], is_hashed);
        size_t at = words * ends[radix_group(h, skip, bits)]++;
        ahead_write((const uint8_t *)((uintptr_t)out + (at + DEAL_AHEAD) * sizeof *out), true);
        out[at] = h;
        if (words == 2)
            out[at + 1] = x[i * words + 1];
    }
}

void tamis__radix_deal(uint64_t *out, size_t *ends, const radix *r, const uint64_t *x, size_t n)
{
    if (r->is_paired)
        radix_deal_as(out, ends, r, x, n, true, 2);
    else if (r->is_hashed)
        radix_deal_as(out, ends, r, x, n, true, 1);
    else
        radix_deal_as(out, ends, r, x, n, false, 1);
}
