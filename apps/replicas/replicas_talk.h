/* replicas_talk.h - two replicas compare themselves, at two ends of a line.
 *
 *   asks                                     serves
 *     | A  a secret, what lines are            |
 *     | N  how many lines, and their sum       |  both hash their lines meanwhile
 *     |                           the same  N  |  equal: no more is needed
 *     | G  into how many groups                |
 *     |                     sums of groups  S  |  repeated with more groups if that pays
 *     | D  groups that differ                  |
 *     | R  a rate                              |  repeated, with another seed and a lower
 *     | F  filter of what is in question       |  rate, until what is left agrees
 *     |           the same; what passed F   F T  |
 *     | E  end                                 |
 *     |           lines that only it has    L  |
 *
 * Names cross the line only if the other side lacks them. */
#ifndef TAMIS_APPS_REPLICAS_REPLICAS_TALK_H
#define TAMIS_APPS_REPLICAS_REPLICAS_TALK_H

#include "inventory.h"
#include "side.h"
#include "wire/traffic.h"

extern const traffic_part replicas_parts[];

/* What a name that came takes beside its bytes, to be listed. */
enum { REPLICAS_NAME = 32 };

typedef struct replicas {
    line *line;
    uint64_t offers; /* of the other side */
    inventory *here;
    size_t memory; /* bytes that what comes may take */
    double fpr;    /* of every filter; 0: what suits */
    unsigned rounds_most;

    side side;         /* lines of this side; SIDE_MISSING: only here */
    buffer only_there; /* lines with their ends; only who asks gets them */
    uint64_t n_there;  /* of these */
    uint64_t all_there;
    unsigned rounds;
    bool agrees; /* the sums of all that was not found to be missing */
    /* If so, the chance that they do by accident; if not, how many are likely overlooked. */
    double chance, overlooked;
} replicas;

void replicas_ask(replicas *r);
/* Also sets n_there, to what the other side told. */
void replicas_serve(replicas *r);
void replicas_free(replicas *r);

#endif
