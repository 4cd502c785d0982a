/* md5.h - MD5 (RFC 1321), because that is how Squid names what it keeps. It protects nothing. */
#ifndef TAMIS_APPS_DIGEST_MD5_H
#define TAMIS_APPS_DIGEST_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { MD5_SIZE = 16, MD5_BLOCK = 64 };

typedef struct md5 {
    uint32_t state[4];
    uint64_t size; /* bytes so far */
    uint8_t block[MD5_BLOCK];
} md5;

void md5_begin(md5 *m);
void md5_take(md5 *m, const void *bytes, size_t size);
void md5_end(md5 *m, uint8_t out[MD5_SIZE]);

#endif
