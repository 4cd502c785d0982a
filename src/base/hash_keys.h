/* hash_keys.h - hashes of many keys. */
#ifndef TAMIS_BASE_HASH_KEYS_H
#define TAMIS_BASE_HASH_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* hash_key() of n keys, by a processor with these TAMIS_CPU_ flags. */
void tamis__hash_keys(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt,
                      unsigned cpu);

/* Where there are such instructions: of the first keys, as many as go into whole registers; returns
 * how many. */
size_t tamis__hash_keys_avx2(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt);
size_t tamis__hash_keys_avx512(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt);

#endif
