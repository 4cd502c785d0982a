/* md4.h - MD4: RFC 1320. Broken as a hash of untrusted bytes; old signatures have it. */
#ifndef TAMIS_APPS_SYNC_MD4_H
#define TAMIS_APPS_SYNC_MD4_H

#include <stddef.h>
#include <stdint.h>

enum { MD4_SIZE = 16 };

void md4(uint8_t out[MD4_SIZE], const void *bytes, size_t size);

#endif
