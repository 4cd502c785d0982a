/* counting_blocked.h - layout of the counting filter of blocks, shared by its kernels. */
#ifndef TAMIS_BLOOM_COUNTING_BLOCKED_H
#define TAMIS_BLOOM_COUNTING_BLOCKED_H

#include "filter.h"

enum { WORDS = 8, COUNTER_BITS = 4 };

/* A cache line: payloads are aligned to 64 bytes. */
typedef struct {
    uint64_t word[WORDS]; /* little-endian, of 16 counters each */
} block;

/* What became of a key that was to be removed. */
typedef enum { ABSENT, FORGOTTEN, STUCK } removal;

void tamis__counting_blocked_use_avx2(tamis_ops *ops);

#endif
