/* packed_message.h - messages of any length, compressed if that makes them shorter.
 *
 * Each frame begins with a byte: 1 in the last one, 2 in all if they are compressed by zstd. */
#ifndef TAMIS_CLI_WIRE_PACKED_MESSAGE_H
#define TAMIS_CLI_WIRE_PACKED_MESSAGE_H

#include "connection.h"
#include "zstd_stream.h"

typedef struct packed {
    buffer bytes;
    bool is_zstd;
} packed;

/* A copy of these bytes. `offers` are those of the side that it is for. */
packed packed_make(const void *bytes, size_t size, uint64_t offers);
void packed_send(const packed *p, line *l, char part);
/* Both, of a buffer, which is freed. */
void packed_put(line *l, char part, buffer *body, uint64_t offers);

/* Appends a message to `out`. More than `most` bytes in all are refused. */
void packed_receive(line *l, char part, buffer *out, size_t most);
/* The same of a message that cannot be compressed: one that is says more than it has. */
void packed_receive_plain(line *l, char part, buffer *out, size_t most);
/* The same, if the first frame of it came already. */
void packed_take(line *l, line_frame first, buffer *out, size_t most);

#endif
