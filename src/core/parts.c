/* parts.c - static kinds: from keys in memory to a payload, part by part.
 *
 * Keys are hashed and grouped by part in one array; the kind's solver then takes part after part.
 * A part that its geometry cannot hold makes the whole filter a step larger. */
#include "core/parts.h"

#include "base/hash.h"
#include "base/parts.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static void group(uint64_t *hashes, size_t *starts, const tamis *f, const uint64_t *keys, size_t n)
{
    unsigned bits = part_bits(f->plan.capacity);
    size_t parts = (size_t)1 << bits;

    memset(starts, 0, (parts + 1) * sizeof *starts);
    for (size_t i = 0; i < n; i++)
        starts[part_of(place(keys[i], f->salt), bits)]++;
    for (size_t i = 1; i <= parts; i++)
        starts[i] += starts[i - 1];
    for (size_t i = n; i-- > 0;) {
        uint64_t h = place(keys[i], f->salt);
        hashes[--starts[part_of(h, bits)]] = h;
    }
}

static tamis_status solve_all(tamis *f, uint64_t *hashes, const size_t *starts, void *scratch)
{
    size_t parts = (size_t)1 << part_bits(f->plan.capacity);
    size_t size = (size_t)f->plan.bytes / parts;

    f->count = 0;
    for (size_t i = 0; i < parts; i++) {
        size_t n = starts[i + 1] - starts[i];
        tamis_status status = f->ops->solver->solve(&f->plan, (uint8_t *)f->payload + i * size,
                                                    hashes + starts[i], &n, scratch);
        if (status)
            return status;
        f->count += n;
    }
    return TAMIS_OK;
}

static size_t largest(const size_t *starts, size_t parts)
{
    size_t most = 0;

    for (size_t i = 0; i < parts; i++)
        if (starts[i + 1] - starts[i] > most)
            most = starts[i + 1] - starts[i];
    return most;
}

tamis_status tamis__parts_build(tamis *f, const uint64_t *keys, size_t n, unsigned threads)
{
    size_t parts = (size_t)1 << part_bits(f->plan.capacity);
    uint64_t *hashes = malloc(n * sizeof *hashes + 1);
    size_t *starts = malloc((parts + 1) * sizeof *starts);
    tamis_status status = TAMIS_NOMEM;

    (void)threads;
    if (hashes && starts) {
        group(hashes, starts, f, keys, n);
        size_t most = largest(starts, parts);
        void *scratch = malloc(f->ops->solver->scratch(&f->plan, most) + 1);
        if (scratch)
            status = solve_all(f, hashes, starts, scratch);
        free(scratch);
    }
    free(hashes);
    free(starts);
    return status;
}
