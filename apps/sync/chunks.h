/* chunks.h - where a file is cut.
 *
 * Chunks end where the last 64 bytes say so, whatever comes before. Where bytes were inserted or
 * removed, a few chunks differ; those after it are the same as before, and may be found by their
 * hashes, as a set. Both sides have the same secret: without it, nobody can tell from the sizes of
 * chunks what may be in them, or make a file that is cut badly. */
#ifndef TAMIS_APPS_SYNC_CHUNKS_H
#define TAMIS_APPS_SYNC_CHUNKS_H

#include "tamis.h"

enum { CHUNKS_BYTES = 256, CHUNKS_PHASES = 4 };

typedef struct chunks_spec {
    uint32_t least; /* bytes of a chunk, if it is not the last one; from 64 to half of the mean */
    uint32_t mean;  /* a power of two; chunks of random bytes have it, to 7 % */
    uint32_t most;  /* from twice the mean to 2^30 */
} chunks_spec;

/* Up to that size of a chunk, it ends after a byte that brings the hash below `below`. */
typedef struct chunks_phase {
    uint32_t end;
    uint64_t below;
} chunks_phase;

/* A way to cut files, any number of them at the same time. */
typedef struct chunker {
    uint64_t gear[CHUNKS_BYTES];
    chunks_phase phases[CHUNKS_PHASES];
} chunker;

/* The chunk that is being read; all zero where a file starts. */
typedef struct chunk {
    uint64_t hash; /* of its last bytes */
    uint32_t size; /* so far */
} chunk;

/* False: there are no such chunks. */
bool chunks_begin(chunker *c, const chunks_spec *spec, const uint8_t secret[16]);
/* How many of a file's next bytes belong to the chunk. *is_cut: it ends there, and *now is the one
 * after it; if not, all bytes were taken. However a file comes in pieces, its chunks are the same.
 */
size_t chunks_take(const chunker *c, chunk *now, const void *bytes, size_t size, bool *is_cut);

#endif
