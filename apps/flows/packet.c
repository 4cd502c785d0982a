/* packet.c - the bytes of a captured packet to what flows are made of.
 *
 * Every step takes bytes from a cursor, which knows how many are left: of the capture and, once an
 * IP header told its length, of the packet. Bytes after that are padding of the link. A packet of
 * which a step finds too few bytes is truncated; what was read before still counts, so that an
 * address that is there is never missed. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "packet.h"

/* As libpcap numbers them, with or without its header. */
enum {
    LINK_NULL = 0,
    LINK_ETHERNET = 1,
    LINK_RAW = 12,
    LINK_LOOP = 108,
    LINK_SLL = 113,
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_SLL2 = 276
};

typedef struct cursor {
    const uint8_t *at;
    size_t left;
} cursor;

static bool skip(cursor *c, size_t n)
{
    if (n > c->left)
        return false;
    c->at += n;
    c->left -= n;
    return true;
}

/* Nothing after the next `n` bytes belongs to the packet. */
static void limit(cursor *c, size_t n)
{
    if (n < c->left)
        c->left = n;
}

static unsigned be16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static uint32_t be32(const uint8_t *at)
{
    return (uint32_t)be16(at) << 16 | be16(at + 2);
}

/* ---- Ports ------------------------------------------------------------- */

enum { TCP = 6, UDP = 17, DCCP = 33, SCTP = 132, UDP_LITE = 136 };

static const struct {
    uint8_t number;
    const char *name;
} PROTOCOLS[] = { { 1, "icmp" },    { 2, "igmp" },          { 4, "ipip" },   { TCP, "tcp" },
                  { UDP, "udp" },   { DCCP, "dccp" },       { 41, "ipv6" },  { 47, "gre" },
                  { 50, "esp" },    { 51, "ah" },           { 58, "icmp6" }, { 89, "ospf" },
                  { SCTP, "sctp" }, { UDP_LITE, "udplite" } };

static bool has_ports(uint8_t protocol)
{
    return protocol == TCP || protocol == UDP || protocol == SCTP || protocol == DCCP ||
           protocol == UDP_LITE;
}

static void parse_ports(packet *p, cursor c)
{
    if (!has_ports(p->flow.protocol))
        return;
    if (c.left < 4) {
        p->is_truncated = true;
        return;
    }
    memcpy(p->flow.source_port, c.at, 2);
    memcpy(p->flow.target_port, c.at + 2, 2);
    p->has_ports = true;
}

/* ---- IP ---------------------------------------------------------------- */

static void parse_ipv4(packet *p, cursor c)
{
    enum { FIXED = 20 };

    p->is_truncated = true;
    if (c.left < FIXED || c.at[0] >> 4 != 4 || (c.at[0] & 15) * 4u < FIXED)
        return;
    size_t header = (c.at[0] & 15) * 4u, total = be16(c.at + 2);
    unsigned fragment = be16(c.at + 6);
    p->flow.version = 4;
    p->flow.protocol = c.at[9];
    p->id = be16(c.at + 4);
    p->is_fragment = fragment & 0x3FFF;
    p->is_stray = fragment & 0x1FFF;
    memcpy(p->flow.source, c.at + 12, 4);
    memcpy(p->flow.target, c.at + 16, 4);
    /* A network card that cuts packets itself leaves 0 in those it is given. */
    if (total)
        limit(&c, total);
    if (!skip(&c, header))
        return;
    p->is_truncated = false;
    if (!p->is_stray)
        parse_ports(p, c);
}

enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, AUTHENTICATION = 51, DESTINATION = 60 };
enum { MOBILITY = 135, HIP = 139, SHIM6 = 140 };

/* Bytes of the extension header that starts there, of which eight are; 0: it is none. */
static size_t extension_size(uint8_t number, const uint8_t *at)
{
    switch (number) {
    case HOP_BY_HOP:
    case ROUTING:
    case DESTINATION:
    case MOBILITY:
    case HIP:
    case SHIM6:
        return (at[1] + 1u) * 8;
    case AUTHENTICATION:
        return (at[1] + 2u) * 4;
    case FRAGMENT:
        return 8;
    }
    return 0;
}

static bool is_extension(uint8_t number)
{
    static const uint8_t nothing[8] = { 0 };

    return extension_size(number, nothing) > 0;
}

/* Each header has four bytes at least, so that this ends. */
static void parse_extensions(packet *p, cursor c)
{
    while (is_extension(p->flow.protocol)) {
        cursor header = c;

        if (c.left < 8 || !skip(&c, extension_size(p->flow.protocol, header.at))) {
            p->is_truncated = true;
            return;
        }
        if (p->flow.protocol == FRAGMENT) {
            p->is_fragment = true;
            p->is_stray = be16(header.at + 2) & 0xFFF8;
            p->id = be32(header.at + 4);
        }
        p->flow.protocol = header.at[0];
        if (p->is_stray)
            return;
    }
    parse_ports(p, c);
}

static void parse_ipv6(packet *p, cursor c)
{
    enum { FIXED = 40 };

    p->is_truncated = true;
    if (c.left < FIXED || c.at[0] >> 4 != 6)
        return;
    size_t payload = be16(c.at + 4);
    p->is_truncated = false;
    p->flow.version = 6;
    p->flow.protocol = c.at[6];
    memcpy(p->flow.source, c.at + 8, ADDRESS_SIZE);
    memcpy(p->flow.target, c.at + 24, ADDRESS_SIZE);
    if (payload)
        limit(&c, FIXED + payload);
    skip(&c, FIXED);
    parse_extensions(p, c);
}

/* ---- Links ------------------------------------------------------------- */

enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86DD };

static bool is_vlan_tag(unsigned type)
{
    return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200;
}

/* Tags may be stacked; each is followed by the type of what comes next. */
static void parse_typed(packet *p, cursor c, unsigned type)
{
    while (is_vlan_tag(type)) {
        const uint8_t *tag = c.at;

        if (!skip(&c, 4)) {
            p->is_truncated = true;
            return;
        }
        type = be16(tag + 2);
    }
    if (type == TYPE_IPV4)
        parse_ipv4(p, c);
    else if (type == TYPE_IPV6)
        parse_ipv6(p, c);
}

/* The type of what follows is somewhere in a header of fixed size. */
static void parse_header(packet *p, cursor c, size_t size, size_t type_at)
{
    const uint8_t *header = c.at;

    if (skip(&c, size))
        parse_typed(p, c, be16(header + type_at));
    else
        p->is_truncated = true;
}

static void parse_raw(packet *p, cursor c)
{
    if (c.left > 0 && c.at[0] >> 4 == 6)
        parse_ipv6(p, c);
    else
        parse_ipv4(p, c);
}

/* A number of the system that captured, in its byte order: 2 is IPv4 everywhere, but IPv6 has been
 * given four numbers. */
static void parse_family(packet *p, cursor c)
{
    const uint8_t *header = c.at;

    if (!skip(&c, 4)) {
        p->is_truncated = true;
        return;
    }
    uint32_t family = be32(header);
    if (family > 0xFFFFFF)
        family >>= 24;
    if (family == 2)
        parse_ipv4(p, c);
    else if (family == 10 || family == 24 || family == 28 || family == 30)
        parse_ipv6(p, c);
}

const char *packet_link_name(int link)
{
    switch (link) {
    case LINK_NULL:
    case LINK_LOOP:
        return "loopback";
    case LINK_ETHERNET:
        return "Ethernet";
    case LINK_RAW:
    case LINK_IPV4:
    case LINK_IPV6:
        return "raw IP";
    case LINK_SLL:
    case LINK_SLL2:
        return "Linux cooked";
    }
    return NULL;
}

void packet_parse(packet *p, int link, const uint8_t *bytes, size_t size)
{
    cursor c = { bytes, size };
    uint64_t time = p->time;
    uint32_t wire = p->bytes;

    *p = (packet){ .time = time, .bytes = wire };
    switch (link) {
    case LINK_ETHERNET:
        parse_header(p, c, 14, 12);
        break;
    case LINK_SLL:
        parse_header(p, c, 16, 14);
        break;
    case LINK_SLL2:
        parse_header(p, c, 20, 0);
        break;
    case LINK_NULL:
    case LINK_LOOP:
        parse_family(p, c);
        break;
    default:
        parse_raw(p, c);
    }
}

/* ---- Text -------------------------------------------------------------- */

unsigned flow_port(const uint8_t port[2])
{
    return be16(port);
}

void address_text(char *text, const uint8_t *address, int version)
{
    (void)inet_ntop(version == 6 ? AF_INET6 : AF_INET, address, text, ADDRESS_TEXT);
}

static void protocol_text(char *text, size_t room, uint8_t protocol)
{
    for (size_t i = 0; i < sizeof PROTOCOLS / sizeof *PROTOCOLS; i++)
        if (PROTOCOLS[i].number == protocol) {
            snprintf(text, room, "%s", PROTOCOLS[i].name);
            return;
        }
    snprintf(text, room, "%u", protocol);
}

/* An address of IPv6 is in brackets before a port. */
static void end_text(char *text, size_t room, const flow *f, const uint8_t *address,
                     const uint8_t port[2])
{
    char name[ADDRESS_TEXT];

    address_text(name, address, f->version);
    if (!has_ports(f->protocol))
        snprintf(text, room, "%s", name);
    else
        snprintf(text, room, f->version == 6 ? "[%s]:%u" : "%s:%u", name, be16(port));
}

void flow_text(char *text, const flow *f, bool both_ways)
{
    char source[ADDRESS_TEXT + 8], target[ADDRESS_TEXT + 8], protocol[8];

    end_text(source, sizeof source, f, f->source, f->source_port);
    end_text(target, sizeof target, f, f->target, f->target_port);
    protocol_text(protocol, sizeof protocol, f->protocol);
    snprintf(text, FLOW_TEXT, "%s %s %s %s", source, both_ways ? "<>" : ">", target, protocol);
}

void port_text(char *text, const flow *f)
{
    char protocol[8];

    protocol_text(protocol, sizeof protocol, f->protocol);
    snprintf(text, FLOW_TEXT, "%u/%s", be16(f->target_port), protocol);
}
