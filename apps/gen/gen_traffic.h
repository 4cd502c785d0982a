/* gen_traffic.h - made-up packets for trials, the same on every machine. */
#ifndef TAMIS_APPS_GEN_GEN_TRAFFIC_H
#define TAMIS_APPS_GEN_GEN_TRAFFIC_H

#include <stdint.h>

typedef struct traffic {
    uint64_t flows; /* flow r of them has a share of the packets in proportion to log(1 + 1 / r) */
    uint64_t seed;
    uint64_t left; /* packets to come */
    uint64_t time; /* of the latest, in nanoseconds */
    uint64_t state;
    unsigned char *rest; /* a fragment that comes next, in `room`; NULL: none */
    unsigned char room[256];
} traffic;

enum { TRAFFIC_ROOM = 256 }; /* bytes that one packet, or the header, takes at most */

/* All return where the next one goes. */
unsigned char *traffic_begin(traffic *t, unsigned char *at, uint64_t packets);
unsigned char *traffic_packet(traffic *t, unsigned char *at);

#endif
