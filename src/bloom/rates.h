/* rates.h - false positive rates of the Bloom kinds, and how many slots it takes to meet one. */
#ifndef TAMIS_BLOOM_RATES_H
#define TAMIS_BLOOM_RATES_H

#include "filter.h"

/* n rounded up to a multiple of `unit` that has many divisors, at a cost under half a percent: a
 * filter can be folded by any divisor of its slots. */
uint64_t tamis__rates_round(uint64_t n, uint64_t unit);

/* How many keys left that share of `slots` slots clear, if each sets a given slot with probability
 * `chance`. A full filter counts as one with a single clear slot: nothing more is known of it. */
double tamis__rates_keys(double clear, double slots, double chance);

/* ---- Slots scattered over an array ------------------------------------- */

/* k slots of a key lie anywhere in one array, of bits or of counters: what matters is which of them
 * were hit, not how often. */
double tamis__rates_classic(const tamis_plan *p, double n);

/* How many slots k hashes need, in closed form: from below, and close. */
typedef double rates_slots(uint32_t k, double n, double fpr);
rates_slots tamis__rates_classic_slots;

enum { RATES_MAX_HASHES = 64 };

typedef struct rates_layout {
    rates_slots *slots;
    uint64_t unit; /* slots are a multiple of it */
    bool has_rows; /* so many slots for each hash */
} rates_layout;

static const rates_layout RATES_CLASSIC = { tamis__rates_classic_slots, 64, false };

/* Sets slots and hashes: the fewest slots for the rate; or those that the spec asks for. */
tamis_status tamis__rates_plan(tamis_plan *p, const tamis_spec *spec, const rates_layout *l);

/* ---- One block for each key -------------------------------------------- */

enum { RATES_WORDS = 8 }; /* of a block: a key has one slot in each */

typedef struct rates_block {
    double word;  /* slots of a word */
    double floor; /* strangers that look like one key of their block, beside those by chance */
} rates_block;

/* More keys than this in a block on average: a rate of 0.87, above which blocks stay as many. */
enum { RATES_TOO_MANY_KEYS = 128 };

double tamis__rates_blocks(const rates_block *b, double blocks, double n);
/* The fewest for that rate, or nearly; 0: there would be too many. */
uint64_t tamis__rates_blocks_for(const rates_block *b, double n, double fpr);
/* Sets slots, the number of blocks: for the rate, or the slots that the spec asks for. */
tamis_status tamis__rates_plan_blocks(tamis_plan *p, const tamis_spec *spec, const rates_block *b);

/* The same for keys that have several split blocks (split_block.h), drawn independently. */
double tamis__rates_probes(double blocks, double n, unsigned probes);
uint64_t tamis__rates_blocks_for_probes(double n, double fpr, unsigned probes);
/* The integral of 1 + that rate, or of 1 - rate if sign is -1, while n keys come: by Simpson's rule
 * with so many steps, an even number. */
double tamis__rates_integral(double blocks, double n, unsigned probes, int sign, int steps);

#endif
