/* connection.h - a conversation with another tamis, over a pair of file descriptors.
 *
 * Both sides greet, then they take turns: the one whose turn it is sends frames, the other reads
 * them all before it answers. So neither waits for the other to read. What goes wrong is said and
 * ends the program: with code 3 if the line broke, fell silent or brought more than it may, with
 * code 4 if what came is damaged or makes no sense. */
#ifndef TAMIS_CLI_WIRE_CONNECTION_H
#define TAMIS_CLI_WIRE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "term/buffer.h"
#include "term/message.h"

typedef struct line line;

typedef struct line_limits {
    unsigned seconds; /* of silence */
    uint64_t bytes;   /* both ways; 0: any number */
} line_limits;

/* A frame that came. Its body stays until the next one is received. */
typedef struct line_frame {
    char part;
    const uint8_t *body;
    size_t size;
} line_frame;

/* `other` is what messages call the other side. */
line *line_open(int in, int out, const char *other, const line_limits *limits);
/* Tells the other side what this one does, and makes sure that it does the same and that one of
 * them asks and the other serves. The other's offers, a set of bits, come back. */
uint64_t line_greet(line *l, const char *job, bool asks, uint64_t offers);

/* As many frames as it takes; an empty one if there is nothing. */
void line_send(line *l, char part, const void *bytes, size_t size);
/* The same of a buffer, which is freed. */
void line_put(line *l, char part, buffer *body);
/* Sends what is waiting to be sent first. */
line_frame line_receive(line *l);
/* The same; another part than this one makes no sense. */
line_frame line_expect(line *l, char part);
/* One that holds so many bytes. */
const uint8_t *line_expect_bytes(line *l, char part, size_t size);
/* Sends what is waiting: before long work, if the other side has something to do meanwhile. */
void line_flush(line *l);
/* Called now and then while this side works and the other waits: a sign of life every few seconds.
 */
void line_breathe(line *l);
/* Sends what is waiting, and closes the line. Its counts can still be asked for. */
void line_close(line *l);
void line_free(line *l);

/* Something that came makes no sense: tells the other side too, and exits with code 4. */
_Noreturn void line_refuse(line *l, const char *format, ...) LIKE_PRINTF(2, 3);

uint64_t line_sent(const line *l);
uint64_t line_received(const line *l);
/* Of one part, headers included. */
uint64_t line_sent_of(const line *l, char part);
uint64_t line_received_of(const line *l, char part);

#endif
