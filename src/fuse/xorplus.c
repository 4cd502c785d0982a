/* xorplus.c - xor filter whose third block is mostly zeros, of which only the others are kept.
 *
 * As in xor.c, a key has a slot in each of three blocks, and the xor of them is its fingerprint.
 * Which of its slots is the key's own is a matter of choice: here, one of the third block is, only
 * if none of another block can be. The first two blocks are almost all used then, and the third has
 * slots that no key owns, which stay zero. A bit for each slot tells whether it is zero; those that
 * are not lie side by side, and ones among the bits before are counted to find them.
 *
 * A slot of the third block that stays zero costs a bit or so instead of plan.width. So the third
 * block is twice as long as each of the others, which are shorter than those of a xor filter: that
 * takes 1.2715 slots a key to peel, of which 0.32 are bits. What is more was found by trial.
 *
 * Payload: parts of one size (base/parts.h). A part has
 *
 *   lines    of 64 bytes, for 448 slots of the third block each, the last one cut short
 *   head     as in xor_blocks.h
 *   slots    of the first block, of the second, then those of the third that are not zero
 *
 *   +----------------+------+-------------+--------------+------------------------+
 *   | lines of bits  | head | first block | second block | third, without zeros   |
 *   +----------------+------+-------------+--------------+------------------------+
 *
 * A line has seven words of bits behind a word of counts: in its bits 0 .. 31, the ones in the
 * lines before; from bit 32 on, three times nine bits, the ones in the first 2, 4 and 6 words.
 * Zeros are the empty filter; every payload is valid, and a slot that would lie beyond the end is
 * the last.
 *
 * Graf, Lemire: Xor Filters: Faster and Smaller Than Bloom and Cuckoo Filters, 2020. */
#define xor_name(function) xorplus_##function
#define XOR_OPS tamis__xorplus
#define XOR_THIRD 2
#define XOR_SLOTS_FOR_2_16 83328
#define XOR_SLOTS_FOR_LUCK 28

#include "fuse/xor_template.h"
