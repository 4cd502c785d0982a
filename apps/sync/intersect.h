/* intersect.h - what two sets have in common, at two ends of a line.
 *
 * One side, the first, sends a filter of its set. The second answers with what passes it, as hashes
 * just long enough that few of them are wrong; the first says which of them it has, with checksums
 * of groups; groups that do not agree are looked at again, with 64 bits of each element. Then both
 * know what they have in common. */
#ifndef TAMIS_APPS_SYNC_INTERSECT_H
#define TAMIS_APPS_SYNC_INTERSECT_H

#include "line_hashes.h"
#include "tamis_builder.h"
#include "wire/connection.h"

/* Parts of the conversation. */
enum {
    PART_ASK = 'A',    /* secrets, and what elements are */
    PART_SKETCH = 'S', /* how many elements there are, and the first of them */
    PART_PLAN = 'P',   /* who sends which filter */
    PART_FILTER = 'F',
    PART_ANSWER = 'Q',  /* what passes it */
    PART_VERDICT = 'V', /* what of that is there */
    PART_CHECK = 'K',   /* checksums of groups of it */
    PART_REPAIR = 'R',  /* groups that do not agree, in full */
    PART_REST = 'C'     /* what of these is there */
};

/* What one side tells the other of its set. */
typedef struct intersect_set {
    uint64_t n;
    uint64_t largest; /* integer, if elements are integers */
} intersect_set;

typedef enum intersect_form { INTERSECT_CODED, INTERSECT_UNCODED } intersect_form;

typedef struct intersect_plan {
    bool is_dry;         /* nothing is to follow */
    bool asker_is_first; /* and sends the filter */
    intersect_form form; /* of the answer */
    tamis_kind kind;     /* TAMIS_NO_KIND: everything passes */
    double fpr;
    double filter, answer; /* bytes that are expected; not sent */
} intersect_plan;

/* What is wanted of it. */
typedef struct intersect_wish {
    tamis_kind kind; /* TAMIS_NO_KIND: the best */
    double fpr;      /* 0: the best */
    intersect_form form;
    bool is_raw;     /* elements are integers */
    uint64_t memory; /* to make it in; 0: any */
} intersect_wish;

/* Whether filters of that kind can be made of nothing but keys, and forget none. */
bool intersect_takes(tamis_kind kind, bool is_raw);
/* The fewest bytes, if so many elements are in common. False: no filter can be made so. */
bool intersect_choose(intersect_plan *p, const intersect_wish *w, const intersect_set *asker,
                      const intersect_set *server, double common);

/* What the filter of a plan is made by. */
tamis_spec intersect_spec(const intersect_plan *p, const intersect_set *first);
/* Whether a filter of that plan is one that somebody asks for: its bytes are not many times those
 * of the elements themselves. */
bool intersect_is_worth(const intersect_plan *p, const intersect_set *first);

/* Numbers that the elements of an answer are coded as are below this. */
uint64_t intersect_range(uint64_t first, uint64_t answer);
enum { INTERSECT_GROUP = 64 }; /* numbers that share a checksum */

/* One end of the conversation, from the filter on. */
typedef struct intersect {
    line *line;
    intersect_plan plan;
    bool is_first, is_raw;
    intersect_set here, there;
    elements *set;
    uint64_t memory; /* bytes that it may take; 0: as many as it needs */
    uint64_t memory_for_set;
    unsigned threads;
    tamis_hasher order, check; /* that put integers in order, and make checksums */
    uint64_t answered;         /* elements that passed the filter */
    uint64_t repaired;         /* groups that did not agree */
} intersect;

uint64_t intersect_hash(const tamis_hasher *by, uint64_t number);
/* Lines of this side that are in common, as elements of which only the hash means something: it is
 * the place of the line. */
elements *intersect_run(intersect *t);
/* Sets of the conversation let the other side know that this one is alive. */
elements *intersect_new_set(const intersect *t);

#endif
