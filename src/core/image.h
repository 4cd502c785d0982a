/* image.h - filters as bytes, for memory and for files alike (docs/format.md). */
#ifndef TAMIS_CORE_IMAGE_H
#define TAMIS_CORE_IMAGE_H

#include "filter.h"

enum { IMAGE_HEADER = 256, IMAGE_HEADER_MAX = 4096, IMAGE_BLOCK = 1 << 20 };

/* Where the bytes of an image come from. read() returns false after an error of the operating
 * system, which it leaves in errno. */
typedef struct image_source {
    bool (*read)(const struct image_source *s, uint64_t offset, void *buf, size_t size);
    const uint8_t *memory; /* the image itself if it is in memory, else NULL */
    int fd;
    uint64_t size;
} image_source;

/* As size: what the header says. */
#define IMAGE_SIZE_UNKNOWN UINT64_MAX

image_source tamis__memory_source(const void *image, uint64_t size);

/* Everything the header says, checked against the image's real size and by the kind. */
typedef struct {
    tamis_plan plan;
    uint64_t image_size, count, payload_offset, note_offset;
    size_t note_size; /* 0: there is none */
    uint32_t sections;
    bool dirty;
    uint8_t bytes[IMAGE_HEADER_MAX]; /* as read */
} image_header;

/* A source is read from its first byte to its last, each byte once: so it may be a stream. */
tamis_status tamis__header_read(image_header *h, const image_source *s);
/* Whether writing this header anew would lose nothing that a later version put there. */
bool tamis__header_is_ours(const image_header *h);

/* A checked copy of the filter in memory of its own. */
tamis_status tamis__image_decode(tamis **out, const image_source *s, const tamis_allocator *a);

/* A filter that borrows `image`, whose header was read. The caller sets drop and the like. */
tamis_status tamis__image_borrow(tamis **out, const image_header *h, const image_source *s,
                                 const tamis_allocator *a);

/* What f holds, in memory of its own. Views and maps hold whatever bytes they were given, and
 * another program may be writing to these at any moment: no byte is read twice, and what is checked
 * is the copy. TAMIS_BUSY: somebody is writing. TAMIS_CORRUPT: it is damaged. */
tamis_status tamis__image_copy(tamis **out, const tamis *f, const tamis_allocator *a);

/* A filter that something is to be made of: f itself or, of views and maps, a copy, which the
 * caller frees. */
typedef struct {
    const tamis *f;
    tamis *copy; /* or NULL */
} image_snapshot;

tamis_status tamis__snapshot(image_snapshot *s, const tamis *f, const tamis_allocator *a);

/* tamis_image_part() of tamis_file.h. */
tamis_status tamis__image_part(const tamis *f, uint64_t *sums, uint8_t *buf, size_t size,
                               uint64_t offset);

uint64_t tamis__image_size(const tamis_plan *plan);
/* Where in an image of that plan the payload starts. */
uint64_t tamis__image_offset(const tamis_plan *plan);

/* The checksums of a payload: how many there are, and each of them. The payload is that of f or, if
 * `written` is not NULL, in an image that is read from there; false: it could not be. */
uint64_t tamis__image_sums_count(const tamis_plan *plan);
bool tamis__image_sums(uint64_t *sums, const tamis *f, const image_source *written);

/* tamis_image_send() of a filter that nobody changes, whose checksums may be known. If f has no
 * payload, in the place of its bytes comes NULL. */
tamis_status tamis__image_send(const tamis *f, const uint64_t *sums, tamis_sink *sink, void *ctx);

/* A header that says that the checksums are stale. */
void tamis__image_dirty_header(uint8_t header[IMAGE_HEADER], const tamis *f);

#endif
