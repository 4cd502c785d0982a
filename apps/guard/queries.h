/* queries.h - what a store is asked for, in memory, so that it can be asked again. */
#ifndef TAMIS_APPS_GUARD_QUERIES_H
#define TAMIS_APPS_GUARD_QUERIES_H

#include "files/pipeline.h"
#include "url.h"

typedef struct queries {
    buffer text; /* of all, one after the other */
    buffer ends; /* uint64_t: where each ends */
    uint64_t n;
    bool are_urls;    /* then they are in normal form, */
    uint64_t no_urls; /* but for so many, which are as they came */
} queries;

void queries_read(queries *q, source *s);
void queries_free(queries *q);

/* What one of them is looked up by. */
typedef struct query_keys {
    url_parts parts;
    buffer scratch;
    size_t n;
} query_keys;

void queries_open(const queries *q, uint64_t i, query_keys *keys);
span queries_key(query_keys *keys, size_t i);

#endif
