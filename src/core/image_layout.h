/* image_layout.h - what is where in an image. Specified in docs/format.md.
 *
 *   header | zeros | payload | zeros to 8 | one checksum per MiB of payload | note, if there is one
 *
 * Prefix: image_. */
#ifndef TAMIS_CORE_IMAGE_LAYOUT_H
#define TAMIS_CORE_IMAGE_LAYOUT_H

#include "core/image.h"

/* What is in an image decides its minor version: 1 if there is a note. */
enum { MAJOR = 1, MINOR = 0, MINOR_WITH_NOTE = 1 };

/* Offsets in the header. The magic has a high bit and both line ends, so that a transfer as text
 * does not go unnoticed. */
#define IMAGE_MAGIC "\x89TMS\r\n\x1a\n"
enum {
    MAGIC_SIZE = 8,
    AT_MAJOR = 8,
    AT_MINOR = 10,
    AT_HEADER_SIZE = 12,
    AT_IMAGE_SIZE = 16,
    AT_KIND = 24,
    AT_HASH = 28,
    AT_FLAGS = 30,
    AT_SEED = 32,
    AT_SECRET = 40,
    AT_CAPACITY = 56,
    AT_FPR = 64,
    AT_SLOTS = 72,
    AT_WIDTH = 80,
    AT_HASHES = 84,
    AT_COUNT = 88,
    AT_STATE = 96,
    AT_LOAD = 98,
    AT_SECTIONS = 100,
    AT_TABLE = 104,
};

enum { STATE_WHOLE = 0, STATE_DIRTY = 1 };

/* Offsets in an entry of the section table. */
enum { AT_ID = 0, AT_ID_FLAGS = 4, AT_OFFSET = 8, AT_LENGTH = 16, AT_DIGEST = 24, ENTRY_SIZE = 32 };

enum { SECTION_PAYLOAD = 1, SECTION_NOTE = 2, FLAG_CRITICAL = 1 };

typedef struct image_section {
    uint32_t id, flags;
    uint64_t offset, length, digest;
    uint64_t sums, end; /* derived: where the checksums start, and where they stop */
} image_section;

/* Blocks of a section, each with a checksum, and bytes of the one at that place. */
uint64_t tamis__image_blocks(const image_section *s);
size_t tamis__image_block(const image_section *s, uint64_t at);

/* Sets what is derived. False if the section cannot lie in an image of that size. */
bool tamis__image_locate_sums(image_section *s, uint64_t image_size);

/* Where this version puts them; the note is there if the filter has one. */
image_section tamis__image_payload_section(const tamis_plan *p);
image_section tamis__image_note_section(const tamis *f);
bool tamis__image_has_note(const tamis *f);

/* Section i of a header that was read. */
image_section tamis__image_section_at(const image_header *h, uint32_t i);

/* The plan as it is in a header. */
void tamis__image_put_plan(uint8_t *header, const tamis_plan *p);

uint64_t tamis__image_sum(const void *bytes, size_t size);
/* The checksum of the block at that place of the payload, and that of all those checksums. */
uint64_t tamis__image_block_sum(const tamis *f, const image_section *payload, uint64_t at);
uint64_t tamis__image_digest(const tamis *f, const image_section *payload);

/* The sum of the next bytes of a reader, which go to `dest` or, if that is NULL, nowhere. */
bool tamis__image_take_block(image_reader *r, uint64_t *sum, uint8_t *dest, size_t size);

#endif
