/* xor.c - xor filter: three slots a key, one in each of three blocks.
 *
 * The fingerprint of a key is the xor of its slots (xor_blocks.h). They are filled by peeling
 * (xor_peel.c). A set of random keys can be peeled if there are more than 1.2218 slots a key. What
 * is more was found by trial.
 *
 * Payload: parts of one size (base/parts.h), each with a head and its slots. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Xor Filters: Faster and Smaller Than Bloom and Cuckoo Filters, 2020. Botelho, Pagh,
 * Ziviani: Simple and Space-Efficient Minimal Perfect Hash Functions, 2007. */
#define xor_name(function) xor_##function
#define XOR_OPS tamis__xor
#define XOR_THIRD 1
#define XOR_SLOTS_FOR_2_16 80072
#define XOR_SLOTS_FOR_LUCK 24

#include "fuse/xor_template.h"
