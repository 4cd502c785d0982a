/* hash_keys.h - hashes of many keys. */
#ifndef TAMIS_BASE_HASH_KEYS_H
#define TAMIS_BASE_HASH_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* hash_key() of n keys, by a processor with these TAMIS_CPU_ flags. */
void tamis__hash_keys(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt,
                      unsigned cpu);

#endif
