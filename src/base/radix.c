#include "base/radix.h"

#include "base/hash.h"

static inline uint64_t hash_of(const radix *r, uint64_t x, bool is_hashed)
{
    return is_hashed ? x : hash_key(x, r->salt);
}

static inline size_t group_of(uint64_t h, unsigned skip, unsigned bits)
{
    return bits ? (size_t)(h << skip >> (64 - bits)) : 0;
}

static inline void count_as(size_t *counts, const radix *r, const uint64_t *x, size_t n,
                            bool is_hashed)
{
    unsigned skip = r->skip, bits = r->bits;

    for (size_t i = 0; i < n; i++)
        counts[group_of(hash_of(r, x[i], is_hashed), skip, bits)]++;
}

void tamis__radix_count(size_t *counts, const radix *r, const uint64_t *x, size_t n)
{
    if (r->is_hashed)
        count_as(counts, r, x, n, true);
    else
        count_as(counts, r, x, n, false);
}

/* ---- Dealing ----------------------------------------------------------- */

static inline void deal_as(uint64_t *out, size_t *ends, const radix *r, const uint64_t *x, size_t n,
                           bool is_hashed)
{
    unsigned skip = r->skip, bits = r->bits;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_of(r, x[i], is_hashed);
        out[ends[group_of(h, skip, bits)]++] = h;
    }
}

void tamis__radix_deal(uint64_t *out, size_t *ends, const radix *r, const uint64_t *x, size_t n)
{
    if (r->is_hashed)
        deal_as(out, ends, r, x, n, true);
    else
        deal_as(out, ends, r, x, n, false);
}
