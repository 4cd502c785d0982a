/* key_set.h - keys in order. */
#ifndef TAMIS_APPS_SYNC_KEY_SET_H
#define TAMIS_APPS_SYNC_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A copy, in order; to be freed. Out of memory ends the program. */
uint64_t *key_set_of(const uint64_t *keys, size_t n);
bool key_set_has(const uint64_t *set, size_t n, uint64_t key);

#endif
