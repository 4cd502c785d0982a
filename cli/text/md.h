/* md.h - MD4 (RFC 1320), which old signatures have, and MD5 (RFC 1321), because that is how Squid
 * names what it keeps. They protect nothing. */
#ifndef TAMIS_CLI_TEXT_MD_H
#define TAMIS_CLI_TEXT_MD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MD4_SIZE = 16, MD5_SIZE = 16, MD_BLOCK = 64 };

typedef struct md {
    bool is_md5;
    uint32_t state[4];
    uint64_t size; /* bytes so far */
    uint8_t block[MD_BLOCK];
} md;

md md_begin(bool is_md5);
void md_take(md *m, const void *bytes, size_t size);
void md_end(md *m, uint8_t out[MD5_SIZE]);

#endif
