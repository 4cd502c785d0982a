/* pass.h - one pass over the buckets of a builder: work that several threads share, unit by unit,
 * in as much memory as there is. */
#ifndef TAMIS_CORE_PASS_H
#define TAMIS_CORE_PASS_H

#include "core/builder.h"
#include "core/workers.h"

typedef struct pass {
    tamis_builder *b;
    tamis_status (*do_unit)(struct pass *p, size_t unit, unsigned worker);
    void *ctx;
    size_t units;         /* each is BUCKETS / units buckets */
    size_t room;          /* of each worker: items that it can hold, */
    unsigned stride;      /* of so many words, */
    uint64_t scratch;     /* bytes that it works with, */
    uint64_t part;        /* and for a part */
    uint64_t done, total; /* items */

    uint8_t *block[WORKERS_MAX]; /* all three */
    pthread_mutex_t lock;        /* guards done and what follows */
    size_t next;
    tamis_status status;
    int error; /* errno belongs to the thread that met it */
} pass;

/* With `held` bytes taken by others. TAMIS_NOMEM if not even one worker fits. */
tamis_status tamis__pass_run(pass *p, uint64_t held);
/* How many would do the work. */
unsigned tamis__pass_workers(const pass *p, uint64_t held);
/* Bytes that each takes. */
uint64_t tamis__pass_needs(const pass *p);

/* Of a worker. */
void *tamis__pass_part(const pass *p, unsigned worker);
void *tamis__pass_scratch(const pass *p, unsigned worker);
void *tamis__pass_items(const pass *p, unsigned worker);

/* A part is made of that many buckets, or a bucket of several parts. */
size_t tamis__buckets_per_unit(unsigned part_bits);
/* The most in a group of that many buckets. */
uint64_t tamis__largest_group(const uint64_t n[BUCKETS], size_t buckets);

/* Room for the largest group, or, if that has many repeated items that can be dropped, for its
 * distinct ones with so much to spare that dropping is rare. */
size_t tamis__room_for(const spill *s, uint64_t all, uint64_t distinct);

#endif
