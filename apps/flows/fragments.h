/* fragments.h - the ports of fragments that have none, from the first fragment of their packet. */
#ifndef TAMIS_APPS_FLOWS_FRAGMENTS_H
#define TAMIS_APPS_FLOWS_FRAGMENTS_H

#include "packet.h"

/* First fragments that are remembered: fragments of one packet come close together. */
enum { FRAGMENTS_ROOM = 4096 };

typedef struct fragments {
    packet first[FRAGMENTS_ROOM];
} fragments;

/* Remembers a first fragment. A stray one gets the flow of its first, if that came less than a
 * minute before and is still known, and is stray no more. */
void fragments_follow(fragments *f, packet *p);

#endif
