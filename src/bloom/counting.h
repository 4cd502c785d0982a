/* counting.h - what counting.c shares with its kernels. */
#ifndef TAMIS_BLOOM_COUNTING_H
#define TAMIS_BLOOM_COUNTING_H

#include "bloom/probes.h"

enum { COUNTING_USUAL = 4 }; /* bits of a counter */

static inline probes_shape counting_shape(const tamis *f, unsigned bits)
{
    const probes_shape *s = probes_derived(f);

    return (
        probes_shape){ .range = s->range, .hashes = s->hashes, .of_counters = true, .bits = bits };
}

/* Counters of a key, by its k slots, which are written to slots[]. */
__attribute__((always_inline)) static inline counters_key
counting_find(uint64_t *slots, const tamis *f, unsigned bits, uint64_t key)
{
    probes_shape s = counting_shape(f, bits);

    probes_find(slots, f, s, key);
    return (counters_key){ f->payload, slots, s.hashes, bits };
}

__attribute__((always_inline)) static inline tamis_status
counting_raise(tamis *f, unsigned bits, uint64_t key, uint64_t times)
{
    uint64_t slots[PROBES_MAX];

    counters_raise(counting_find(slots, f, bits, key), times, &f->count);
    return TAMIS_OK;
}

__attribute__((always_inline)) static inline tamis_status
counting_lower(tamis *f, unsigned bits, uint64_t key, uint64_t times)
{
    uint64_t slots[PROBES_MAX];

    return counters_remove(f, counting_find(slots, f, bits, key), times);
}

/* For counters of the usual width. */
void tamis__counting_use_avx512(tamis *f);

#endif
