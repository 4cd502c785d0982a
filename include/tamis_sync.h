/* tamis_sync.h - two machines bring sets and files together, and send little more than what
 * differs.
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

/* ---- What differs between two files ------------------------------------
 *
 * Who has the old file makes its signature: a rolling hash and a strong hash of each block. Who has
 * the new one makes a delta from that: blocks that the old file has, wherever they are now, and the
 * bytes between them. A delta and the old file make the new one. The formats are those of librsync:
 * rdiff reads and writes the same files. */

typedef enum tamis_signature_format {
    TAMIS_SUM_MD4 = 0x72730136,    /* for programs of before 2014; MD4 can be forged */
    TAMIS_SUM_BLAKE2 = 0x72730137, /* of before 2020 */
    TAMIS_RABIN_MD4 = 0x72730146,
    TAMIS_RABIN_BLAKE2 = 0x72730147, /* what rdiff writes today */
} tamis_signature_format;

typedef struct tamis_signature_spec {
    tamis_signature_format format;
    uint32_t               block; /* bytes of a block, at most 2^28 */
    uint32_t strong; /* bytes that are kept of a strong hash: up to 32, and 16 of MD4 */
} tamis_signature_spec;

/* Puts up to `size` bytes there, and returns how many: 0 at the end, SIZE_MAX if it fails. */
typedef size_t tamis_input(void *ctx, void *bytes, size_t size);
/* Fills all of it with what the old file has there. */
typedef bool tamis_old_file(void *ctx, void *bytes, size_t size, uint64_t offset);

/* Any number of bytes, from a pipe too. TAMIS_RANGE: there is no such signature. TAMIS_IO: an input
 * or a sink failed, here and below. */
TAMIS_API tamis_status tamis_signature_make(const tamis_signature_spec *spec, tamis_input *old_file,
                                            void *old_ctx, tamis_sink *out, void *out_ctx,
                                            const tamis_allocator *a) TAMIS_CHECKED;

typedef struct tamis_signature tamis_signature;

/* TAMIS_FOREIGN: it is none. TAMIS_CORRUPT: it is cut short. TAMIS_RANGE: it is of blocks of no
 * size, or longer than `most` bytes, if that is not 0. */
TAMIS_API tamis_status tamis_signature_load(tamis_signature **out, tamis_input *in, void *ctx,
                                            uint64_t most, const tamis_allocator *a) TAMIS_CHECKED;
TAMIS_API void         tamis_signature_free(tamis_signature *s);

TAMIS_API tamis_status tamis_delta_make(const tamis_signature *s, tamis_input *new_file,
                                        void *new_ctx, tamis_sink *out, void *out_ctx,
                                        const tamis_allocator *a) TAMIS_CHECKED;
/* Writes the new file. TAMIS_FOREIGN: it is no delta. TAMIS_CORRUPT: it is damaged, or of another
 * old file. A delta may copy the old file once for each 18 of its bytes: a sink that returns false
 * sets a limit. */
TAMIS_API tamis_status tamis_delta_apply(tamis_input *delta, void *delta_ctx,
                                         tamis_old_file *old_file, void *old_ctx, uint64_t old_size,
                                         tamis_sink *out, void *out_ctx) TAMIS_CHECKED;

/* ---- Where a file is cut -----------------------------------------------
 *
 * Chunks end where the last 64 bytes say so, whatever comes before. Where bytes were inserted or
 * removed, a few chunks differ; those after it are the same as before, and may be found by their
 * hashes, as a set. Both sides have the same secret: without it, nobody can tell from the sizes of
 * chunks what may be in them, or make a file that is cut badly. */

typedef struct tamis_chunks_spec {
    uint32_t least; /* bytes of a chunk, if it is not the last one; from 64 to half of the mean */
    uint32_t mean;  /* a power of two; chunks of random bytes have it, to 7 % */
    uint32_t most;  /* from twice the mean to 2^30 */
} tamis_chunks_spec;

typedef struct tamis_chunks tamis_chunks;

/* The chunk that is being read; all zero where a file starts. */
typedef struct tamis_chunk {
    uint64_t hash; /* of its last bytes */
    uint32_t size; /* so far */
} tamis_chunk;

/* A way to cut files, any number of them at the same time. TAMIS_RANGE: there is none like that. */
TAMIS_API tamis_status tamis_chunks_new(tamis_chunks **out, const tamis_chunks_spec *spec,
                                        const uint8_t          secret[16],
                                        const tamis_allocator *a) TAMIS_CHECKED;
/* How many of a file's next bytes belong to the chunk. *is_cut: it ends there, and *now is the one
 * after it; if not, all bytes were taken. However a file comes in pieces, its chunks are the same.
 */
TAMIS_API size_t tamis_chunks_take(const tamis_chunks *c, tamis_chunk *now, const void *bytes,
                                   size_t size, bool *is_cut);
TAMIS_API void   tamis_chunks_free(tamis_chunks *c);

#ifdef __cplusplus
}
#endif

#endif
