/* distinct.h - how many different keys came, by a filter of those that did. */
#ifndef TAMIS_APPS_FLOWS_DISTINCT_H
#define TAMIS_APPS_FLOWS_DISTINCT_H

#include "tamis.h"

typedef struct distinct {
    tamis_plan plan; /* of an empty filter */
    tamis *seen;
    uint64_t count;  /* keys that were new: never more than came */
    double missed;   /* how many more were taken for known ones, on average and at most */
    uint64_t summed; /* of count, in missed */
} distinct;

/* `spec` has the rate at which a new key is taken for a known one. The filter grows as it must. */
void distinct_begin(distinct *d, const tamis_spec *spec);
/* Returns how many of the keys are new. */
size_t distinct_take(distinct *d, const uint64_t *keys, size_t n);
/* Forgets all keys. */
void distinct_reset(distinct *d);
void distinct_end(distinct *d);

/* How many different keys came: no fewer than `least` for certain, and no more than `most` but in
 * one case of a thousand. */
typedef struct distinct_bounds {
    uint64_t least, most;
    double estimate;
} distinct_bounds;

distinct_bounds distinct_tell(distinct *d);

#endif
