/* exchange.h - which keys of two sets differ: one side tells symbols of its keys until the other
 * has found out. */
#ifndef TAMIS_APPS_SYNC_EXCHANGE_H
#define TAMIS_APPS_SYNC_EXCHANGE_H

#include "sync_job.h"

/* About so many keys differ; the other side has `others`. */
void exchange_tell(const sync_job *job, const uint64_t *keys, size_t n, double differ,
                   uint64_t others);
/* Instead: the other side is to give up. */
void exchange_decline(const sync_job *job);
/* NULL: the other side declined. */
tamis_difference *exchange_find(const sync_job *job, const uint64_t *keys, size_t n);

/* Bytes that it takes, of which most go one way. */
double exchange_cost(double differ);

#endif
