/* blocklist.h - addresses and prefixes that packets should not come from or go to. */
#ifndef TAMIS_APPS_FLOWS_BLOCKLIST_H
#define TAMIS_APPS_FLOWS_BLOCKLIST_H

#include "packet.h"
#include "tamis.h"

typedef struct prefix {
    uint8_t address[ADDRESS_SIZE]; /* bits after the first `bits` are 0 */
    uint8_t bits, version;
    uint64_t from, to;       /* packets */
    uint64_t packets, bytes; /* one way or both */
} prefix;

typedef struct blocklist blocklist;

/* Lines of addresses and prefixes, 10.0.0.0/8 or 2001:db8::1; what follows '#' or ';' is a comment.
 * A bad line ends the program. */
blocklist *blocklist_read(const char *const *paths, size_t n);
void blocklist_free(blocklist *b);

/* Counts the packets, of which the longest prefix that holds the source, or the target, takes one.
 */
void blocklist_take(blocklist *b, const packet *packets, size_t n);

/* Packets from or to any of them, and their bytes. */
typedef struct blocked {
    uint64_t packets, bytes;
    size_t prefixes; /* in the list */
} blocked;

blocked blocklist_total(const blocklist *b);
/* Those with packets, the most first; *n tells how many. Nothing may be counted after this. */
const prefix *blocklist_rank(blocklist *b, size_t *n);
/* "10.0.0.0/8"; an address has no length. */
void prefix_text(char *text, const prefix *p);

#endif
