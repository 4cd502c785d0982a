/* chunks.c - a file is cut where its own bytes say so.
 *
 * h = 2 h + gear[byte] for each byte, modulo 2^64: after 64 bytes, one has no part in h any more. A
 * chunk ends where h is below a bound, so that the last 64 bytes decide. The bound is low at first,
 * for 2^-2 / mean of all bytes, and sixteen times as high after 13/16 of the mean: few chunks are
 * much shorter or longer than the others. Until the first place where a chunk may end, only the 64
 * bytes before it are looked at.
 *
 * Xia and others: FastCDC, 2016, which calls this normalised chunking. */
#include "chunks.h"
#include "text/byte_order.h"

#include <string.h>

enum { WINDOW = 64, BYTES = CHUNKS_BYTES, PHASES = CHUNKS_PHASES };

static bool chunks_is_spec(const chunks_spec *spec)
{
    return (spec->mean & (spec->mean - 1)) == 0 && spec->least >= WINDOW &&
           spec->least <= spec->mean / 2 && spec->mean <= spec->most / 2 && spec->most <= 1u << 30;
}

/* Of a run of one byte, h becomes minus its number: if that were below the bound, a file of zeros
 * would be cut into the shortest chunks there are. */
static void chunks_draw(uint64_t gear[BYTES], uint64_t below, const uint8_t secret[16])
{
    tamis_hasher by = { .hash = TAMIS_KEYED };
    uint8_t line[8];
    uint64_t drawn = 0;

    memcpy(by.secret, secret, sizeof by.secret);
    for (int i = 0; i < BYTES; i++)
        do {
            put_le64(line, drawn++);
            gear[i] = tamis_hasher_key(&by, line, sizeof line);
        } while (0 - gear[i] < below);
}

bool chunks_begin(chunker *c, const chunks_spec *spec, const uint8_t secret[16])
{
    if (!chunks_is_spec(spec))
        return false;
    uint64_t one_in_mean = UINT64_MAX / spec->mean + 1;
    *c = (chunker){ .phases = { { spec->least - WINDOW, 0 },
                                { spec->least - 1, 0 },
                                { spec->mean / 16 * 13, one_in_mean / 4 },
                                { spec->most, one_in_mean * 4 } } };
    chunks_draw(c->gear, one_in_mean * 4, secret);
    return true;
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

size_t chunks_take(const chunker *c, chunk *now, const void *bytes, size_t size, bool *is_cut)
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
        *now = (chunk){ 0 };
    return taken;
}
