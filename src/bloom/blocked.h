/* blocked.h - layout of the blocked filter, shared by its kernels. */
#ifndef TAMIS_BLOOM_BLOCKED_H
#define TAMIS_BLOOM_BLOCKED_H

#include "filter.h"

enum { WORDS = 8 };

typedef union {
    uint32_t word[WORDS]; /* little-endian */
    uint64_t pair[WORDS / 2];
} block;

/* Odd, so that each multiplication permutes x before its top five bits are kept. These eight are
 * those of the split-block filter of Apache Parquet. */
static const uint32_t SALT[WORDS] = { 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                      0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31 };

void tamis__blocked_use_avx2(tamis_ops *ops);
void tamis__blocked_use_neon(tamis_ops *ops);

#endif
