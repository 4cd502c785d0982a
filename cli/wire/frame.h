/* frame.h - what travels over a line: frames, each with its length and its checksum.
 *
 *   3 bytes   size of the body, little-endian
 *   1 byte    the part of the conversation that it belongs to, a letter
 *   4 bytes   checksum of these four bytes and the body, by XXH3 with the number of the frame as
 *             seed: frames that are lost, repeated or swapped are noticed
 *
 * Before the first frame, each side sends the eight bytes of a greeting: what it speaks, and which
 * version of it. */
#ifndef TAMIS_CLI_WIRE_FRAME_H
#define TAMIS_CLI_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_VERSION = 1, FRAME_GREETING = 8, FRAME_HEADER = 8, FRAME_MOST = 1 << 18 };

void frame_greeting(uint8_t bytes[FRAME_GREETING]);
/* The version that a greeting is of; 0: it is none. */
unsigned frame_version(const uint8_t bytes[FRAME_GREETING]);

/* The header of frame `number`; `size` is at most FRAME_MOST. */
void frame_seal(uint8_t header[FRAME_HEADER], char part, uint64_t number, const void *body,
                size_t size);
/* False: no frame is that long, or of that part. */
bool frame_open(const uint8_t header[FRAME_HEADER], char *part, size_t *size);
bool frame_is_whole(const uint8_t header[FRAME_HEADER], uint64_t number, const void *body);

#endif
