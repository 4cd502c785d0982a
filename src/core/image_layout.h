/* image_layout.h - what is where in an image. Specified in docs/format.md.
 *
 *   header | zeros | payload | zeros to 8 | one checksum per MiB of payload | note, if there is one
 *
 * Prefix: image_. */
#ifndef TAMIS_CORE_IMAGE_LAYOUT_H
#define TAMIS_CORE_IMAGE_LAYOUT_H

#include "core/image.h"

/* What is in an image decides its minor version: 1 if there is a note. */
enum { IMAGE_MAJOR = 1, IMAGE_MINOR = 0, IMAGE_MINOR_WITH_NOTE = 1 };

/* Offsets in the header. The magic has a high bit and both line ends, so that a transfer as text
 * does not go unnoticed. */
#define IMAGE_MAGIC "\x89TMS\r\n\x1a\n"
enum {
    IMAGE_MAGIC_SIZE = 8,
    IMAGE_AT_MAJOR = 8,
    IMAGE_AT_MINOR = 10,
    IMAGE_AT_HEADER_SIZE = 12,
    IMAGE_AT_IMAGE_SIZE = 16,
    IMAGE_AT_KIND = 24,
    IMAGE_AT_HASH = 28,
    IMAGE_AT_FLAGS = 30,
    IMAGE_AT_SEED = 32,
    IMAGE_AT_SECRET = 40,
    IMAGE_AT_CAPACITY = 56,
    IMAGE_AT_FPR = 64,
    IMAGE_AT_SLOTS = 72,
    IMAGE_AT_WIDTH = 80,
    IMAGE_AT_HASHES = 84,
    IMAGE_AT_COUNT = 88,
    IMAGE_AT_STATE = 96,
    IMAGE_AT_LOAD = 98,
    IMAGE_AT_SECTIONS = 100,
    IMAGE_AT_TABLE = 104,
};

enum { IMAGE_WHOLE = 0, IMAGE_DIRTY = 1 };

/* Offsets in an entry of the section table. */
enum {
    IMAGE_AT_ID = 0,
    IMAGE_AT_ID_FLAGS = 4,
    IMAGE_AT_OFFSET = 8,
    IMAGE_AT_LENGTH = 16,
    IMAGE_AT_DIGEST = 24,
    IMAGE_ENTRY_SIZE = 32
};

enum { IMAGE_PAYLOAD_SECTION = 1, IMAGE_NOTE_SECTION = 2, IMAGE_FLAG_CRITICAL = 1 };

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
/* The checksum of the block at that place of the payload, and that of all those checksums, which
 * may be known. */
uint64_t tamis__image_block_sum(const tamis *f, const image_section *payload, uint64_t at);
uint64_t tamis__image_digest(const tamis *f, const image_section *payload, const uint64_t *sums);

#endif
