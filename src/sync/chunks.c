/* chunks.c - a file is cut where its own bytes say so.
 *
 * h = 2 h + gear[byte] for each byte, modulo 2^64: after 64 bytes, one has no part in h any more. A
 * chunk ends where h is below a bound, so that the last 64 bytes decide. The bound is low at first,
 * for 2^-2 / mean of all bytes, and sixteen times as high after 13/16 of the mean: few chunks are
 * much shorter or longer than the others. Until the first place where a chunk may end, only the 64
 * bytes before it are looked at.
 *
 * Xia and others: FastCDC, 2016, which calls this normalised chunking. */
#include "base/hash.h"
#include "base/le.h"
#include "core/memory.h"
#include "tamis_sync.h"

enum { WINDOW = 64, BYTES = 256, PHASES = 4 };

/* Up to that size of a chunk, it ends after a byte that brings the hash below `below`. */
typedef struct chunks_phase {
    uint32_t end;
    uint64_t below;
} chunks_phase;

struct tamis_chunks {
    uint64_t gear[BYTES];
    chunks_phase phases[PHASES];
    tamis_allocator alloc;
};

static bool chunks_is_spec(const tamis_chunks_spec *spec)
{
    return (spec->mean & (spec->mean - 1)) == 0 && spec->least >= WINDOW &&
           spec->least <= spec->mean / 2 && spec->mean <= spec->most / 2 && spec->most <= 1u << 30;
}

/* Of a run of one byte, h becomes minus its number: if that were below the bound, a file of zeros
 * would be cut into the shortest chunks there are. */
static void chunks_draw(uint64_t gear[BYTES], uint64_t below, const uint8_t secret[16])
{
    uint8_t line[8];
    uint64_t drawn = 0;

    for (int i = 0; i < BYTES; i++)
        do {
            put_le64(line, drawn++);
            gear[i] = tamis__hash_keyed(line, sizeof line, secret);
        } while (0 - gear[i] < below);
}

tamis_status tamis_chunks_new(tamis_chunks **out, const tamis_chunks_spec *spec,
                              const uint8_t secret[16], const tamis_allocator *a)
{
    const tamis_allocator *by = a ? a : &tamis__default_allocator;

    if (!chunks_is_spec(spec))
        return TAMIS_RANGE;
    tamis_chunks *c = by->alloc(by->ctx, sizeof *c);
    if (!c)
        return TAMIS_NOMEM;
    uint64_t one_in_mean = UINT64_MAX / spec->mean + 1;
    *c = (tamis_chunks){ .alloc = *by,
                         .phases = { { spec->least - WINDOW, 0 },
                                     { spec->least - 1, 0 },
                                     { spec->mean / 16 * 13, one_in_mean / 4 },
                                     { spec->most, one_in_mean * 4 } } };
    chunks_draw(c->gear, one_in_mean * 4, secret);
    *out = c;
    return TAMIS_OK;
}

void tamis_chunks_free(tamis_chunks *c)
{
    if (!c)
        return;
    tamis_allocator a = c->alloc;
    a.free(a.ctx, c, sizeof *c);
}

/* How many bytes there are up to a place where the chunk ends; if there is none, all. */
static size_t chunks_scan(const uint64_t gear[BYTES], uint64_t *hash, const uint8_t *bytes,
                          size_t size, uint64_t below, bool *is_cut)
{
    uint64_t h = *hash;
    size_t i = 0;

    *is_cut = false;
    while (i < size && !*is_cut) {
        h = 2 * h + gear[bytes[i++]];
        *is_cut = h < below;
    }
    *hash = h;
    return i;
}

size_t tamis_chunks_take(const tamis_chunks *c, tamis_chunk *now, const void *bytes, size_t size,
                         bool *is_cut)
{
    size_t taken = 0;

    *is_cut = false;
    for (int i = 0; i < PHASES && !*is_cut; i++) {
        size_t left = size - taken;
        size_t n = c->phases[i].end > now->size ? c->phases[i].end - now->size : 0;
        n = n < left ? n : left;
        if (i > 0)
            n = chunks_scan(c->gear, &now->hash, (const uint8_t *)bytes + taken, n,
                            c->phases[i].below, is_cut);
        now->size += (uint32_t)n;
        taken += n;
    }
    *is_cut = *is_cut || now->size == c->phases[PHASES - 1].end;
    if (*is_cut)
        *now = (tamis_chunk){ 0 };
    return taken;
}
