/* counting_blocked.h - layout of the counting filter of blocks, shared by its kernels. */
#ifndef TAMIS_BLOOM_COUNTING_BLOCKED_H
#define TAMIS_BLOOM_COUNTING_BLOCKED_H

#include "bloom/counters.h"

enum { COUNTING_BLOCKED_WORDS = 8, COUNTING_BLOCKED_BITS = 4 };

/* A cache line: payloads are aligned to 64 bytes. */
typedef struct counting_blocked_line {
    uint64_t word[COUNTING_BLOCKED_WORDS]; /* little-endian, of 16 counters each */
} counting_blocked_line;

void tamis__counting_blocked_use_avx2(tamis_ops *ops);

#endif
