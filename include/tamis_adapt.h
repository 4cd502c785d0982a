/* tamis_adapt.h - filters that take back a false positive: a mistake made once is not made again.
 *
 * Kinds with TAMIS_CAN_ADAPT hold every key beside the part that lookups read, or ask for it. */
#ifndef TAMIS_ADAPT_H
#define TAMIS_ADAPT_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The key was found, but its owner knows that it is not in the set: from now on it is not found.
 * How long that lasts, the page of the kind says. Keys that were added are found as before.
 * TAMIS_OK too if it was not found. TAMIS_PRESENT: f holds this very key, and nothing changes.
 * TAMIS_FULL: there is no room for what tells the two apart. TAMIS_CAN_ADAPT kinds only.
 *
 * TAMIS_ACF has two fingerprints for each key of the set, and nothing else to choose from. Of the
 * keys reported, one in v has both of the key that it is taken for. It is TAMIS_OK for these, too,
 * and they are still found: ask tamis_has() if it matters. v is 2^tag_bits - 1, from 15 on. */
TAMIS_API tamis_status tamis_adapt(tamis *f, uint64_t key) TAMIS_CHECKED;
/* Takes all of that back, as if nobody had asked; what was asked is counted from now on. */
TAMIS_API tamis_status tamis_forget_adaptations(tamis *f) TAMIS_CHECKED;

/* Whether a slow store behind the filter holds the key; a failure ends the call. */
typedef tamis_status tamis_store(void *ctx, bool *found, uint64_t key);
/* The loop around such a store. It is asked only if the filter says yes; if it then says no, the
 * filter adapts. *found is what the store holds. TAMIS_FULL: *found is right, but there was no room
 * to adapt. Any kind; those that cannot adapt do not. */
TAMIS_API tamis_status tamis_lookup(tamis *f, bool *found, uint64_t key, tamis_store *store,
                                    void *ctx) TAMIS_CHECKED;

/* How many distinct keys that are not in the set were asked, an estimate, and its standard error;
 * infinite if there were too many to tell. It holds if every false positive was told to
 * tamis_adapt(), and no key was added since the first. TAMIS_CANNOT in kinds that cannot tell. */
TAMIS_API tamis_status tamis_queried(const tamis *f, double *keys, double *error) TAMIS_CHECKED;

/* Filters planned with TAMIS_CAN_ASK_KEYS hold no keys. Keys with the same number here are in one
 * group, which changes neither with the size of the filter nor with its content. 0 in others. */
TAMIS_API uint64_t tamis_group(const tamis *f, uint64_t key);
/* Calls visit for each key of the set in that group; a failure ends the call that asks. */
typedef tamis_status tamis_keys(void *ctx, uint64_t group, tamis_visit *visit, void *to);
/* Where such a filter asks when it adds, adapts and grows. These are TAMIS_CANNOT without it. A key
 * that is being added or removed may be among those that it hears of, or not. */
TAMIS_API void tamis_set_keys(tamis *f, tamis_keys *keys, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
