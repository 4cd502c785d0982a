/* parts.h - cutting a large set into parts of nearly equal size by the leading bits of hashes.
 *
 * A part is small enough to be solved in little memory and by one thread, and large enough that the
 * luckiest and the unluckiest part differ by a fraction of a percent: all parts of a filter get the
 * same geometry, that of the largest, and need no table of offsets. */
#ifndef TAMIS_BASE_PARTS_H
#define TAMIS_BASE_PARTS_H

#include <math.h>
#include <stdint.h>

#include "base/bits.h"

/* Sixteen million keys: the standard deviation of a part is then 0.02 % of its size. */
#define PART_KEYS (UINT64_C(1) << 24)

/* A filter of that many keys has 2^bits parts. */
static inline unsigned part_bits(uint64_t capacity)
{
    unsigned bits = 0;

    while (capacity >> bits > PART_KEYS)
        bits++;
    return bits;
}

/* Hashes start with the number of their part. */
static inline uint64_t part_of(uint64_t hash, unsigned bits)
{
    return bits ? hash >> (64 - bits) : 0;
}

/* Keys that one part must have room for: the mean and six standard deviations of it, which one part
 * in a billion exceeds. The root is exact below 2^52. */
static inline uint64_t part_room(uint64_t capacity)
{
    unsigned bits = part_bits(capacity);
    uint64_t mean = (capacity >> bits) + 1;

    return bits ? mean + 6 * (uint64_t)(sqrt((double)mean) + 1) : capacity;
}

/* Within a part of that many keys, hashes come in 2^bits groups of equal leading bits (after those
 * of the part), ascending: enough groups that the lines one group is solved in stay in the cache,
 * and few enough that the open ends of all groups do so while hashes are dealt out to them. */
enum { MOST_GROUP_BITS = 10 };

static inline unsigned group_bits(uint64_t n)
{
    unsigned bits = 0;

    while (bits < MOST_GROUP_BITS && n >> bits > 64)
        bits++;
    return bits;
}

/* Bytes of all parts, or 0 if there are too many. */
static inline uint64_t bytes_of_parts(uint64_t capacity, uint64_t part_bytes)
{
    uint64_t total;

    return mul_overflows(part_bytes, UINT64_C(1) << part_bits(capacity), &total) ? 0 : total;
}

#endif
