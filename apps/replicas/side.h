/* side.h - one of two sets that should be equal: which of its keys does the other one lack?
 *
 * Keys are 64-bit hashes of names under a secret of both sides, and each has a second hash of that
 * kind. Sums of second hashes tell whether two sets are equal. Where they are not, keys in question
 * are asked for in filters of the other side, with another seed in each round: a key that is not in
 * its filter is missing there, for certain. */
#ifndef TAMIS_APPS_REPLICAS_SIDE_H
#define TAMIS_APPS_REPLICAS_SIDE_H

#include "tamis.h"

typedef enum side_state {
    SIDE_OPEN,    /* in question */
    SIDE_SETTLED, /* in a group that is the same on both sides */
    SIDE_MISSING  /* on the other side */
} side_state;

typedef struct side {
    uint64_t *keys;   /* in order, each once */
    uint64_t *others; /* second hashes */
    uint8_t *states;
    size_t n, n_missing;
} side;

/* Of keys in one state. */
typedef struct side_tally {
    uint64_t n, sum;
} side_tally;

/* Room for n keys and hashes, which are the caller's to fill. False: out of memory. */
bool side_make(side *s, size_t n);
void side_free(side *s);

side_tally side_count(const side *s, side_state state);

/* Groups are keys with the same first `bits` bits. */
enum { SIDE_BITS_MOST = 24 };
void side_sum_groups(const side *s, unsigned bits, uint64_t *sums);
/* Those that do not differ are settled; a bit of `differs` for each. */
void side_settle(side *s, unsigned bits, const uint8_t *differs);

/* A filter of the keys that are in question, of the kind that takes the fewest bytes. *out is NULL
 * if there are none. */
tamis_status side_filter(const side *s, unsigned round, double fpr, tamis **out);
/* Those that are not in a filter of the other side are missing there; all are not in NULL. */
void side_sift(side *s, const tamis *there);

#endif
