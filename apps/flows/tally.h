/* tally.h - what is counted of packets: in all, for each interval, and for those with most. */
#ifndef TAMIS_APPS_FLOWS_TALLY_H
#define TAMIS_APPS_FLOWS_TALLY_H

#include "blocklist.h"
#include "distinct.h"
#include "filters/top.h"
#include "relay.h"

/* What the packets of one line of a list have in common. */
typedef enum way { WAY_FLOW, WAY_SOURCE, WAY_TARGET, WAY_PORT, WAYS } way;

/* An interval of --window. */
typedef struct interval {
    uint64_t start; /* nanoseconds since 1970 */
    uint64_t packets, bytes;
    uint64_t flows, fresh; /* in it, and in it for the first time: no more than there were */
} interval;

typedef struct tally_wish {
    bool ways[WAYS];
    bool both_ways;     /* a flow and the answers to it are one */
    bool by_bytes;      /* lists are of bytes, not of packets */
    uint64_t window;    /* nanoseconds; 0: no intervals */
    size_t room;        /* candidates for each list */
    tamis_spec sketch;  /* of those that are none */
    tamis_spec seen;    /* of the filter of flows; its hasher makes all keys */
    blocklist *blocked; /* NULL: nothing is */
    unsigned threads;
    void (*print)(void *ctx, const interval *i);
    void *ctx;
} tally_wish;

typedef struct tally tally;

/* What was counted without mistakes. */
typedef struct tally_total {
    uint64_t packets, bytes;
    uint64_t first, last;       /* times; packets may be out of order */
    uint64_t ipv4, ipv6, other; /* packets that are, and that have no IP addresses */
    uint64_t fragments, strays; /* of these, such whose first fragment is unknown */
    uint64_t truncated;         /* headers end early, or contradict each other */
    uint64_t late;              /* counted in a later interval than their own */
} tally_total;

tally *tally_new(const tally_wish *wish);
void tally_free(tally *t);
/* Room for packets, up to RELAY_CHUNK of them. */
relay_chunk *tally_room(tally *t);
/* They are there. */
void tally_take(tally *t);
/* Call it after the last packet: all is counted, and the last interval printed. */
void tally_end(tally *t);

const tally_total *tally_sum(const tally *t);
distinct_bounds tally_flows(tally *t);
/* What a list holds; NULL if it was not asked for. */
top *tally_top(const tally *t, way w);

/* The text that top.h keeps of a packet. */
typedef struct tally_kept {
    flow flow;       /* what its list tells apart; all else is 0 */
    uint8_t time[8]; /* of the first packet that is known */
} tally_kept;

uint64_t tally_time(const tally_kept *k);

#endif
