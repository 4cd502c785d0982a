/* packet.h - the bytes of a captured packet to what flows are made of. */
#ifndef TAMIS_APPS_FLOWS_PACKET_H
#define TAMIS_APPS_FLOWS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ADDRESS_SIZE = 16 };

/* What makes a flow, in bytes without gaps, so that it can be hashed and compared as it is. An IPv4
 * address is the first four bytes; the rest is 0. Ports are as on the wire, and 0 if unknown. */
typedef struct flow {
    uint8_t source[ADDRESS_SIZE], target[ADDRESS_SIZE];
    uint8_t source_port[2], target_port[2];
    uint8_t protocol;
    uint8_t version; /* 4 or 6; 0: the packet has no addresses of IP */
} flow;

_Static_assert(sizeof(flow) == 38, "a flow has no gaps");

typedef struct packet {
    uint64_t time;  /* nanoseconds since 1970 */
    uint32_t bytes; /* on the wire */
    uint32_t id;    /* that fragments of one packet share */
    flow flow;
    bool is_truncated; /* headers end early, or contradict each other */
    bool is_fragment;
    bool is_stray;  /* a fragment after the first, which alone has the ports */
    bool has_ports; /* they were read, or are those of the first fragment */
} packet;

/* The name of what carries the packets, or NULL if packet_parse() does not know it. */
const char *packet_link_name(int link);

/* Fills in all but time and bytes. Reads nothing beyond `size`, whatever the headers say. */
void packet_parse(packet *p, int link, const uint8_t *bytes, size_t size);

enum { ADDRESS_TEXT = 64, FLOW_TEXT = 160 }; /* room for what these write */

void address_text(char *text, const uint8_t *address, int version);
/* "10.0.0.1:80 > 10.0.0.2:1024 tcp", or with "<>" if it stands for both ways. */
void flow_text(char *text, const flow *f, bool both_ways);
/* "443/tcp", of the target. */
void port_text(char *text, const flow *f);
unsigned flow_port(const uint8_t port[2]);

#endif
