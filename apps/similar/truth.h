/* truth.h - how alike documents really are, counted from all their keys. */
#ifndef TAMIS_APPS_SIMILAR_TRUTH_H
#define TAMIS_APPS_SIMILAR_TRUTH_H

#include "documents.h"
#include "pairs.h"

/* Of 4 bytes for each pair, that is 1.8 GB. */
enum { TRUTH_DOCUMENTS_MAX = 30000 };

typedef struct truth {
    const documents *documents; /* which have kept their keys */
    uint32_t *both;             /* keys in common, of each pair */
} truth;

truth truth_count(const documents *d);
void truth_free(truth *t);
double truth_value(const truth *t, similar_measure by, uint32_t a, uint32_t b);

typedef struct truth_report {
    uint64_t pairs, inside; /* of these within their bars */
    double error, bar;      /* absolute, on average */
} truth_report;

/* Every pair is compared. */
truth_report truth_compare(const truth *t, const bit_rows *rows, similar_measure by,
                           unsigned threads);

#endif
