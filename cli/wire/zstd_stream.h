/* zstd_stream.h - streams of zstd. A program that was built without it has none: they are NULL, and
 * nothing can be packed or unpacked. */
#ifndef TAMIS_CLI_WIRE_ZSTD_STREAM_H
#define TAMIS_CLI_WIRE_ZSTD_STREAM_H

#include <stdbool.h>

#include "coded.h"

/* An offer, for line_greet(): this program can unpack. */
enum { PACKED_OFFER = 1 };
uint64_t packed_offer(void);

/* The window of zstd, as a power of two, that somebody who unpacks has to have. A stream may ask
 * for 2^27 bytes in its first ten. No tamis compresses with a larger one than this. */
enum { PACKED_WINDOW = 23 };

typedef struct ZSTD_CCtx_s zstd_packer;

zstd_packer *zstd_packer_new(int level);
/* Appends what they become, as far as that is known, and all that is left at the end. */
void zstd_pack(zstd_packer *z, buffer *out, const void *bytes, size_t size, bool is_end);
void zstd_packer_free(zstd_packer *z);

typedef struct ZSTD_DCtx_s zstd_unpacker;

zstd_unpacker *zstd_unpacker_new(void);
/* Takes what it can, and appends at most `room` bytes. False: these are none of zstd's. */
bool zstd_unpack(zstd_unpacker *z, coded *in, buffer *out, size_t room);
void zstd_unpacker_free(zstd_unpacker *z);

#endif
