/* gen_traffic.c - made-up packets for trials, the same on every machine.
 *
 * Everything that a reader of captures has to cope with comes up: IPv4 with and without options,
 * IPv6 with and without extension headers, one tag of a VLAN or two, TCP, UDP and ICMP, packets in
 * fragments, packets that end in their headers, packets that are not IP. Addresses are those
 * reserved for measurements (RFC 2544) and for examples (RFC 3849). A capture has the format of
 * pcap, with microseconds, in little-endian order, and the first 96 bytes of each packet. */
#include "gen_traffic.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { SNAPLEN = 96, START = 1767225600 /* 2026-01-01 */ };

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static uint64_t draw(traffic *t)
{
    return mix(t->state++);
}

/* ---- Bytes ------------------------------------------------------------- */

static unsigned char *put_le(unsigned char *at, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        *at++ = (unsigned char)(value >> 8 * i);
    return at;
}

static unsigned char *put_be(unsigned char *at, uint64_t value, int size)
{
    for (int i = size; i-- > 0;)
        *at++ = (unsigned char)(value >> 8 * i);
    return at;
}

unsigned char *traffic_begin(traffic *t, unsigned char *at, uint64_t packets)
{
    t->left = packets;
    t->time = START * UINT64_C(1000000000);
    t->state = mix(t->seed);
    at = put_le(at, 0xA1B2C3D4, 4);
    at = put_le(at, 2 | 4 << 16, 4); /* version 2.4 */
    at = put_le(at, 0, 8);
    at = put_le(at, SNAPLEN, 4);
    return put_le(at, 1, 4); /* Ethernet */
}

/* ---- Flows ------------------------------------------------------------- */

enum { ICMP = 1, TCP = 6, UDP = 17, ICMP6 = 58 };

typedef struct shape {
    uint64_t hash; /* of the flow: all that its packets have in common */
    uint64_t luck; /* of this packet */
    bool is_ipv6, has_options, goes_back;
    unsigned tags, protocol, payload;
    /* Of a fragment: where it starts, and whether others follow. */
    unsigned offset;
    bool has_more;
} shape;

static shape draw_shape(traffic *t)
{
    static const uint8_t protocols[8] = { ICMP, UDP, UDP, TCP, TCP, TCP, TCP, TCP };
    double unit = (double)(draw(t) >> 11) * 0x1p-53;
    uint64_t rank = (uint64_t)exp(unit * log((double)t->flows + 1));
    shape s = { .hash = mix(t->seed ^ rank << 20), .luck = draw(t) };

    s.is_ipv6 = s.hash % 8 == 0;
    s.has_options = (s.hash >> 3) % 16 == 0;
    s.tags = (s.hash >> 7) % 8 == 0 ? 1 + ((s.hash >> 10) % 4 == 0) : 0;
    s.protocol = protocols[(s.hash >> 12) % 8];
    s.goes_back = s.luck % 4 == 0;
    /* Many are short, some as long as can be. */
    s.payload = (unsigned)((s.luck >> 8) % 3 == 0 ? 1400 : (s.luck >> 16) % 400);
    return s;
}

/* Some are in far more flows than others: a product of two numbers is small more often than one. */
static unsigned skewed(uint64_t hash)
{
    return (unsigned)((hash & 0xFFFF) * (hash >> 16 & 0xFFFF) >> 16);
}

static unsigned char *put_address(unsigned char *at, const shape *s, bool is_client)
{
    unsigned host = skewed(mix(s->hash + is_client));

    if (!s->is_ipv6)
        return put_be(at, 0xC6120000 | (uint32_t)is_client << 16 | host, 4);
    at = put_be(at, UINT64_C(0x20010DB800000000) | is_client, 8);
    return put_be(at, host, 8);
}

static unsigned char *put_addresses(unsigned char *at, const shape *s)
{
    at = put_address(at, s, !s->goes_back);
    return put_address(at, s, s->goes_back);
}

/* ---- Headers ----------------------------------------------------------- */

static unsigned transport_size(const shape *s)
{
    return s->offset ? 0 : s->protocol == TCP ? 20 : 8;
}

static unsigned char *put_transport(unsigned char *at, const shape *s)
{
    static const uint16_t services[16] = { 443, 443, 443, 443, 80,  80,   53,   53,
                                           22,  25,  123, 993, 853, 3478, 5060, 8080 };
    unsigned client = 1024 + (unsigned)(s->hash >> 32) % 64512;
    unsigned server = services[(s->hash >> 48) % 16], size = transport_size(s);

    if (size == 0)
        return at;
    memset(at, 0, size);
    if (s->protocol == ICMP) {
        at[0] = s->is_ipv6 ? 128 : 8;
        return at + size;
    }
    put_be(at, s->goes_back ? server : client, 2);
    put_be(at + 2, s->goes_back ? client : server, 2);
    if (s->protocol == TCP)
        put_be(at + 12, 0x5010, 2); /* five words, an acknowledgement */
    else
        put_be(at + 4, 8 + s->payload, 2);
    return at + size;
}

static void set_checksum(unsigned char *header, unsigned size)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < size; i += 2)
        sum += (uint32_t)header[i] << 8 | header[i + 1];
    sum = (sum & 0xFFFF) + (sum >> 16);
    put_be(header + 10, ~(sum + (sum >> 16)) & 0xFFFF, 2);
}

static unsigned char *put_ipv4(unsigned char *at, const shape *s)
{
    unsigned size = s->has_options ? 24 : 20;
    unsigned char *header = at;

    at = put_be(at, 0x4000 | size / 4 << 8, 2);
    at = put_be(at, size + transport_size(s) + s->payload, 2);
    at = put_be(at, s->luck >> 32, 2);
    at = put_be(at, (unsigned)s->has_more << 13 | s->offset / 8, 2);
    at = put_be(at, 64 << 8 | s->protocol, 2);
    at = put_be(at, 0, 2);
    at = put_addresses(at, s);
    if (s->has_options)
        at = put_be(at, 0x01010100, 4); /* three that do nothing, and the end */
    set_checksum(header, size);
    return at;
}

static unsigned char *put_ipv6(unsigned char *at, const shape *s)
{
    enum { HOP_BY_HOP = 0, FRAGMENT = 44 };
    bool is_fragment = s->has_more || s->offset;
    unsigned last = s->protocol == ICMP ? ICMP6 : s->protocol,
             first = is_fragment ? FRAGMENT : last;
    unsigned extra = 8u * s->has_options + 8u * is_fragment;

    at = put_be(at, 0x60000000, 4);
    at = put_be(at, extra + transport_size(s) + s->payload, 2);
    at = put_be(at, (s->has_options ? HOP_BY_HOP : first) << 8 | 64, 2);
    at = put_addresses(at, s);
    if (s->has_options)
        at = put_be(at, (uint64_t)first << 56 | UINT64_C(0x0104) << 32, 8); /* padding */
    if (is_fragment)
        at = put_be(
            at, (uint64_t)last << 56 | (uint64_t)(s->offset | s->has_more) << 32 | s->luck >> 32,
            8);
    return at;
}

static unsigned char *put_link(unsigned char *at, const shape *s, unsigned type)
{
    at = put_be(at, 0x020000000001, 6); /* both are of nobody */
    at = put_be(at, 0x020000000002, 6);
    for (unsigned i = s->tags; i > 0; i--)
        at = put_be(at, (i == 2 ? 0x88A80000 : 0x81000000) | (s->hash >> 52 & 0xFFF), 4);
    return put_be(at, type, 2);
}

/* ---- Packets ----------------------------------------------------------- */

/* Captured and on the wire; bytes of packets that are not headers are 0. */
static unsigned char *put_record(traffic *t, unsigned char *at, const unsigned char *packet,
                                 size_t captured, size_t wire)
{
    uint64_t us = t->time / 1000;

    at = put_le(at, us / 1000000, 4);
    at = put_le(at, us % 1000000, 4);
    at = put_le(at, captured, 4);
    at = put_le(at, wire, 4);
    memcpy(at, packet, captured);
    return at + captured;
}

static unsigned char *put_packet(traffic *t, unsigned char *at, const shape *s)
{
    unsigned char packet[TRAFFIC_ROOM] = { 0 };
    unsigned char *end = put_link(packet, s, s->is_ipv6 ? 0x86DD : 0x0800);

    end = s->is_ipv6 ? put_ipv6(end, s) : put_ipv4(end, s);
    end = put_transport(end, s);
    size_t headers = (size_t)(end - packet), wire = headers + s->payload;
    size_t captured = wire < SNAPLEN ? wire : SNAPLEN;
    if ((s->luck >> 48 & 0x3FF) == 0) /* it ends somewhere in its headers */
        captured = (s->luck >> 40 & 0xFF) % headers;
    return put_record(t, at, packet, captured, wire);
}

/* Who has an address, in a network without IP packets. */
static unsigned char *put_arp(traffic *t, unsigned char *at, const shape *s)
{
    unsigned char packet[60] = { 0 }, *end = put_link(packet, s, 0x0806);

    put_be(end, UINT64_C(0x0001080006040001), 8);
    return put_record(t, at, packet, sizeof packet, sizeof packet);
}

/* The second half waits for its turn. */
static unsigned char *put_halves(traffic *t, unsigned char *at, shape *s)
{
    enum { HALF = 200 }; /* of payload; with the header of UDP, a multiple of 8 */

    s->payload = HALF;
    s->has_more = true;
    at = put_packet(t, at, s);
    s->offset = HALF + transport_size(s);
    s->has_more = false;
    t->rest = put_packet(t, t->room, s);
    return at;
}

unsigned char *traffic_packet(traffic *t, unsigned char *at)
{
    t->left--;
    if (t->rest) {
        size_t size = (size_t)(t->rest - t->room);
        memcpy(at, t->room, size);
        t->rest = NULL;
        return at + size;
    }
    shape s = draw_shape(t);
    t->time += 1 + draw(t) % 1999;
    if (s.luck >> 24 & 0xFF)
        return s.protocol == UDP && (s.luck >> 24 & 31) == 1 && t->left > 0 ? put_halves(t, at, &s)
                                                                            : put_packet(t, at, &s);
    return put_arp(t, at, &s);
}
