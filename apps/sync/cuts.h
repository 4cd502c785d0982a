/* cuts.h - a file as chunks, cut where its bytes say so, small ones and larger ones made of them.
 */
#ifndef TAMIS_APPS_SYNC_CUTS_H
#define TAMIS_APPS_SYNC_CUTS_H

#include "chunks.h"
#include "file_check.h"

enum { CUTS_LEVELS = 3, CUTS_MEAN = 256 };

/* How files are cut. Both sides have the same. */
typedef struct cutter {
    chunker chunks;
    tamis_hasher hasher;
    size_t most; /* bytes of one of the smallest chunks */
} cutter;

/* `scale`: smallest chunks have CUTS_MEAN << scale bytes on average. */
cutter cutter_new(const uint8_t secret[16], unsigned scale);

/* The smallest chunks of a file, in order. */
typedef struct cuts {
    buffer hashes; /* uint64_t: of what is in them */
    buffer sizes;  /* uint32_t */
} cuts;

/* Fewer, if a file ends before. */
cuts cuts_of(const cutter *c, file_input *in);
void cuts_free(cuts *c);

/* Chunks of one level: of level 0 the smallest, of each other four times as large on average. */
typedef struct chunk_list {
    uint64_t *keys; /* of each chunk, with the number of the file and how often it came before */
    uint64_t *sizes;
    size_t n;
} chunk_list;

chunk_list cuts_level(const cutter *c, const cuts *of, unsigned level, uint64_t file);
/* Appends the keys, as uint64_t. */
void chunk_list_keys(const chunk_list *l, buffer *keys);
void chunk_list_free(chunk_list *l);

#endif
