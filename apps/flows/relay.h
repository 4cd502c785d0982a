/* relay.h - packets that go through several duties, on several threads. A duty takes them in their
 * order, and one chunk at a time; so what comes out does not depend on the number of threads. */
#ifndef TAMIS_APPS_FLOWS_RELAY_H
#define TAMIS_APPS_FLOWS_RELAY_H

#include "packet.h"

/* Packets of a chunk: few enough for all chunks on the way to stay in the second-level cache. */
enum { RELAY_CHUNK = 1024, RELAY_DUTIES_MAX = 8 };

typedef struct relay_chunk {
    size_t n;
    packet packets[RELAY_CHUNK];
    uint64_t keys[RELAY_CHUNK]; /* of their flows */
} relay_chunk;

typedef struct relay_duty {
    void (*take)(void *ctx, const relay_chunk *chunk);
    void *ctx;
} relay_duty;

typedef struct relay relay;

/* `threads` counts the caller, who works when there is no room. */
relay *relay_new(const relay_duty *duties, size_t n, unsigned threads);
/* A chunk to be filled. */
relay_chunk *relay_room(relay *r);
/* It is full, or the last one. */
void relay_send(relay *r);
/* All duties have taken all chunks when this returns. */
void relay_end(relay *r);

#endif
