/* sorted.c - see sorted.h. */
#include "quotient/sorted.h"

#include "base/hash.h"
#include "base/radix.h"
#include "base/sort.h"

/* Groups are small enough to be sorted in the first level of the cache. */
enum {
    SORTED_GROUP_KEYS = 1 << 12,
    SORTED_MOST_GROUP_BITS = 11,
    SORTED_DIGIT = 11,
    SORTED_LINE = 64
};

/* In pieces of whole lines. No fingerprint is in two groups. */
bool tamis__sorted_new(sorted_keys *s, const tamis *f, size_t n, uint64_t extra)
{
    uint64_t fingerprints = f->plan.slots << f->plan.width;
    unsigned bits = 0;

    while (bits < SORTED_MOST_GROUP_BITS && n >> bits > SORTED_GROUP_KEYS &&
           !(fingerprints >> bits & 1))
        bits++;
    uint64_t hashes = round_up((uint64_t)n * sizeof *s->hashes, SORTED_LINE);
    uint64_t starts = round_up(((UINT64_C(1) << bits) + 1) * sizeof *s->starts, SORTED_LINE);
    uint64_t digits = sizeof *s->digits << SORTED_DIGIT;
    *s = (sorted_keys){ .salt = f->salt,
                        .fingerprints = fingerprints,
                        .bits = bits,
                        .range = fingerprints >> bits,
                        .is_narrow = !(fingerprints >> bits >> 32 || (uint64_t)n >> 32),
                        .bytes = hashes + starts + digits + extra + SORTED_LINE };
    s->block = tamis__scratch_new(f, s->bytes);
    if (!s->block)
        return false;
    uint8_t *at = (uint8_t *)s->block + (-(uintptr_t)s->block & (SORTED_LINE - 1));
    s->hashes = (uint64_t *)(void *)at;
    s->starts = (size_t *)(void *)(at + hashes);
    s->digits = (uint32_t *)(void *)(at + hashes + starts);
    s->extra = at + hashes + starts + digits;
    return true;
}

void tamis__sorted_free(const tamis *f, sorted_keys *s)
{
    tamis__scratch_free(f, s->block, s->bytes);
}

/* In one pass: the finer ones are counted, and summed up to the others. */
void tamis__sorted_count(sorted_keys *s, size_t *counts, unsigned bits, const uint64_t *keys,
                         size_t n)
{
    bool is_finer = bits > s->bits;
    unsigned high = is_finer ? bits : s->bits, low = is_finer ? s->bits : bits;
    size_t *fine = is_finer ? counts : s->starts, *coarse = is_finer ? s->starts : counts;
    radix r = { .bits = high, .salt = s->salt };

    memset(counts, 0, sizeof *counts << bits);
    memset(s->starts, 0, sizeof *s->starts << s->bits);
    tamis__radix_count(fine, &r, keys, n);
    for (size_t i = 0; i < (size_t)1 << high; i++)
        coarse[i >> (high - low)] += fine[i];
}

static void sorted_deal_narrow(const sorted_keys *s, const uint64_t *keys, size_t n)
{
    uint64_t salt = s->salt, fingerprints = s->fingerprints, range = s->range;
    uint32_t *out = (uint32_t *)(void *)s->hashes;
    size_t *ends = s->starts;
    unsigned shift = (64 - s->bits) % 64;
    uint64_t mask = s->bits ? UINT64_MAX : 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], salt), group = (h & mask) >> shift;
        out[ends[group]++] = (uint32_t)(scale64(h, fingerprints) - group * range);
    }
}

/* From the number in each group to where it starts, then to where it ends. */
void tamis__sorted_deal(sorted_keys *s, const uint64_t *keys, size_t n)
{
    size_t groups = (size_t)1 << s->bits, at = 0;
    radix r = { .bits = s->bits, .salt = s->salt };

    for (size_t i = 0; i < groups; i++) {
        size_t here = s->starts[i];
        s->starts[i] = at;
        at += here;
    }
    if (s->is_narrow)
        sorted_deal_narrow(s, keys, n);
    else
        tamis__radix_deal(s->hashes, s->starts, &r, keys, n);
    memmove(s->starts + 1, s->starts, groups * sizeof *s->starts);
    s->starts[0] = 0;
}

/* ---- One group --------------------------------------------------------- */

/* One pass of a radix sort, by the SORTED_DIGIT bits from `shift` on of what is above `least`. */
static void sorted_by_digit(uint32_t *to, const uint32_t *from, size_t n, uint64_t least,
                            unsigned shift, uint32_t *ends)
{
    uint32_t mask = (1 << SORTED_DIGIT) - 1, at = 0;

    memset(ends, 0, sizeof *ends << SORTED_DIGIT);
    for (size_t i = 0; i < n; i++)
        ends[(least + from[i]) >> shift & mask]++;
    for (unsigned d = 0; d < 1 << SORTED_DIGIT; d++) {
        uint32_t here = ends[d];
        ends[d] = at;
        at += here;
    }
    for (size_t i = 0; i < n; i++)
        to[ends[(least + from[i]) >> shift & mask]++] = from[i];
}

/* Numbers go to and fro between their place x, in the first half of the memory for hashes, and the
 * start of its second half. Returns where they end up. */
static const uint32_t *sorted_narrow(const sorted_keys *s, uint32_t *x, size_t n, uint64_t least,
                                     unsigned loose)
{
    uint32_t *y = (uint32_t *)(void *)s->hashes + s->starts[(size_t)1 << s->bits];
    uint64_t below = loose < 32 ? least & ((UINT64_C(1) << loose) - 1) : 0;
    uint64_t highest = below + s->range - 1;

    for (unsigned shift = loose; shift < 33 && highest >> shift; shift += SORTED_DIGIT) {
        sorted_by_digit(y, x, n, below, shift, s->digits);
        uint32_t *sorted = y;
        y = x;
        x = sorted;
    }
    return x;
}

sorted_group tamis__sorted_group(const sorted_keys *s, size_t group, unsigned loose)
{
    size_t first = s->starts[group], n = s->starts[group + 1] - first;
    sorted_group g = { .n = n, .fingerprints = s->fingerprints, .least = s->range * group };

    if (s->is_narrow) {
        uint32_t *x = (uint32_t *)(void *)s->hashes + first;
        g.narrow = sorted_narrow(s, x, n, g.least, loose);
    } else {
        if (loose < 64)
            tamis__sort(s->hashes + first, n);
        g.hashes = s->hashes + first;
    }
    return g;
}
