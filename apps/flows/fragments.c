#include "fragments.h"

#include <string.h>

#include "tamis.h"

/* After a minute, the rest of a packet is no longer waited for (RFC 8200, 4.5). */
static const uint64_t PATIENCE = UINT64_C(60) * 1000000000;

/* What fragments of one packet have in common. In IPv6 the protocol is known from the first only.
 */
typedef struct origin {
    uint8_t addresses[2 * ADDRESS_SIZE];
    uint32_t id;
    uint8_t protocol, version, zeros[2];
} origin;

static origin origin_of(const packet *p)
{
    origin o = { .id = p->id, .version = p->flow.version };

    memcpy(o.addresses, p->flow.source, ADDRESS_SIZE);
    memcpy(o.addresses + ADDRESS_SIZE, p->flow.target, ADDRESS_SIZE);
    if (o.version == 4)
        o.protocol = p->flow.protocol;
    return o;
}

void fragments_follow(fragments *f, packet *p)
{
    static const tamis_hasher hasher = { .hash = TAMIS_FAST };
    origin o = origin_of(p);
    packet *first = &f->first[tamis_hasher_key(&hasher, &o, sizeof o) % FRAGMENTS_ROOM];

    if (!p->is_stray) {
        if (!p->is_truncated)
            *first = *p;
        return;
    }
    origin known = origin_of(first);
    if (memcmp(&known, &o, sizeof o) || p->time - first->time > PATIENCE)
        return;
    p->flow = first->flow;
    p->has_ports = first->has_ports;
    p->is_stray = false;
}
