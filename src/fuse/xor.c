/* xor.c - xor filter: three slots a key, one in each of three blocks.
 *
 * The fingerprint of a key is the xor of its slots (xor_layout_template.h). They are filled by
 * peeling (xor_peel_template.h). A set of random keys can be peeled if there are more than 1.2218
 * slots a key. What is more was found by trial.
 *
 * Payload: parts of one size (base/parts.h), each with a head and its slots. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Xor Filters: Faster and Smaller Than Bloom and Cuckoo Filters, 2020. Botelho, Pagh,
 * Ziviani: Simple and Space-Efficient Minimal Perfect Hash Functions, 2007. */
#include "fuse/xor.h"

#define THIRD 1
#define XOR_OPS tamis__xor
#define XOR_USE_AVX512 tamis__xor_use_avx512
#define SLOTS_FOR_2_16 80072
#define SLOTS_FOR_LUCK 24

#include "fuse/xor_template.h"
