/* tamis_sync.h - two machines bring sets together, and send little more than what differs.
 *
 * Nothing here knows of lines between machines: bytes are taken and given. */
#ifndef TAMIS_SYNC_H
#define TAMIS_SYNC_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What differs between two sets -------------------------------------
 *
 * The symbols of a set are an endless sequence. One side sends its symbols, in order; the other
 * subtracts its own, and after about 1.4 for each key that only one of them has, it knows these
 * keys: 1.8 for a handful, 1.35 for thousands. Nobody has to know before how many there will be. */

typedef struct tamis_symbol {
    uint64_t sum;   /* of the keys in it, by exclusive or */
    uint64_t check; /* of their hashes, of which 40 bits count, in the same way */
    int64_t  count; /* of keys; of all but the first symbols, only the lower 8 bits count */
} tamis_symbol;

enum { TAMIS_SYMBOLS_FIRST = 32 }; /* whose counts tell how much differs */

typedef struct tamis_symbols tamis_symbols;

/* The symbols of keys that are all different. Both sides have the same secret, drawn at random each
 * time: keys chosen against it would never be found. The array is not kept. */
TAMIS_API tamis_status tamis_symbols_new(tamis_symbols **out, const uint64_t *keys, size_t n,
                                         const uint8_t          secret[16],
                                         const tamis_allocator *a) TAMIS_CHECKED;
/* The next n symbols. Each call goes through all keys, so that few calls for many are better. */
TAMIS_API void tamis_symbols_next(tamis_symbols *s, tamis_symbol *out, size_t n);
TAMIS_API void tamis_symbols_free(tamis_symbols *s);

typedef struct tamis_difference tamis_difference;

/* What differs between the set of `here`, which gave no symbol yet and is the difference's own from
 * now on, and another. On failure it is freed too. */
TAMIS_API tamis_status tamis_difference_new(tamis_difference **out, tamis_symbols *here,
                                            const tamis_allocator *a) TAMIS_CHECKED;
/* Takes the next symbols of the other set. *is_done: all keys that differ are known. TAMIS_CORRUPT:
 * no set has these symbols; every later call fails too. */
TAMIS_API tamis_status tamis_difference_take(tamis_difference *d, const tamis_symbol *there,
                                             size_t n, bool *is_done) TAMIS_CHECKED;
/* About how many keys differ, once the first symbols were taken. After m symbols its standard
 * deviation is a share of sqrt(2 / m): a quarter at first. */
TAMIS_API double tamis_difference_estimate(const tamis_difference *d);
/* Keys found so far that only this side has, and those that only the other has. They stay where
 * they are until more symbols are taken. */
TAMIS_API const uint64_t *tamis_difference_here(const tamis_difference *d, size_t *n);
TAMIS_API const uint64_t *tamis_difference_there(const tamis_difference *d, size_t *n);
TAMIS_API void            tamis_difference_free(tamis_difference *d);

#ifdef __cplusplus
}
#endif

#endif
