/* reconcile.h - what differs between two sets of lines, at two ends of a line.
 *
 * The side that asks draws a secret, under which lines become keys. The other one sends coded
 * symbols of its keys until the first knows which keys differ, or all its lines if that is shorter.
 * Then the first one tells which lines only the other has, by their places in the order of keys,
 * and sends the lines that only itself has; the other answers with those that it was told. Both
 * compare sums of other hashes, and begin again with another secret if these differ. */
#ifndef TAMIS_APPS_SYNC_RECONCILE_H
#define TAMIS_APPS_SYNC_RECONCILE_H

#include "text/line_set.h"
#include "wire/connection.h"
#include "wire/traffic.h"

extern const traffic_part reconcile_parts[];

/* What the lines are, which has to be the same on both sides. */
typedef struct reconcile_form {
    bool is_image;       /* they are fingerprints and counts of a filter */
    tamis_hasher hasher; /* of that */
    uint64_t range;      /* a hash of how many fingerprints there may be */
} reconcile_form;

typedef struct reconcile {
    line *line;
    uint64_t offers; /* of the other side */
    reconcile_form form;
    line_set here;
    size_t memory; /* bytes that what comes may take */
    /* Called when both sides are sure of it, before the side that asks learns that. */
    void (*settle)(struct reconcile *r);
    void *ctx;

    line_ref *only_here; /* in the order of their bytes */
    size_t n_here;
    buffer only_there; /* lines with their ends, likewise */
    size_t n_there;
    uint64_t all_there; /* lines of the other side */
    uint64_t symbols;   /* that it took */
    unsigned rounds;    /* messages that were answered */
    bool is_whole;      /* all lines of one side were sent */
} reconcile;

void reconcile_ask(reconcile *r);
void reconcile_serve(reconcile *r);
void reconcile_free(reconcile *r);

/* What differs, in the order of the bytes of lines. */
typedef struct reconcile_walk {
    size_t here;  /* lines that were passed */
    size_t there; /* bytes */
} reconcile_walk;

/* The next line, and whether it is one of this side. False: there is none. */
bool reconcile_next(const reconcile *r, reconcile_walk *w, span *text, bool *is_here);

#endif
