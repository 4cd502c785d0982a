/* hash.h - bytes to keys, keys to hashes. */
#ifndef TAMIS_BASE_HASH_H
#define TAMIS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 2^64 divided by the golden ratio: an odd number without structure. */
#define HASH_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* A permutation of the 64-bit numbers, by two odd factors. */
static inline uint64_t mix64_by(uint64_t x, uint64_t first, uint64_t second)
{
    x = (x ^ x >> 33) * first;
    x = (x ^ x >> 33) * second;
    return x ^ x >> 33;
}

/* Appleby's finaliser of MurmurHash3: each input bit flips each output bit about half of the time.
 */
static inline uint64_t mix64(uint64_t x)
{
    return mix64_by(x, UINT64_C(0xff51afd7ed558ccd), UINT64_C(0xc4ceb9fe1a85ec53));
}

/* The key that mix64 takes to x. The factors are the inverses of those above modulo 2^64, and a
 * shift by 33 of 64 bits undoes itself. */
static inline uint64_t unmix64(uint64_t x)
{
    return mix64_by(x, UINT64_C(0x9cb4b2f8129337db), UINT64_C(0x4f74430c22a54005));
}

/* Seeds are small numbers more often than not: mixed, any two place keys independently. */
static inline uint64_t salt_of_seed(uint64_t seed)
{
    return mix64(seed + HASH_GOLDEN);
}

/* The hash by which kinds place a key: raw keys may be 0, 1, 2, ... and no kind may assume
 * otherwise. */
static inline uint64_t hash_key(uint64_t key, uint64_t salt)
{
    return mix64(key ^ salt);
}

/* The key with that hash. */
static inline uint64_t unhash_key(uint64_t h, uint64_t salt)
{
    return unmix64(h) ^ salt;
}

/* XXH3-64. Not a keyed hash: whoever sees the seed, or guesses, can make keys collide. */
uint64_t tamis__hash_fast(const void *data, size_t size, uint64_t seed);

/* SipHash-2-4, a pseudo-random function of its 128-bit secret. */
uint64_t tamis__hash_keyed(const void *data, size_t size, const uint8_t secret[16]);

#endif
