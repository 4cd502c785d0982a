/* turns.h - a lock for readers and writers that lets nobody wait for good.
 *
 * Many readers, or one writer, are in. Whoever finds no way in joins a queue. To wake the first of
 * it takes as long as some hundred lookups, and until it is awake others may pass: so many, and
 * then nobody but the first comes in. */
#ifndef TAMIS_OS_TURNS_H
#define TAMIS_OS_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct turns {
    uint32_t state;        /* readers inside, and flags: see turns.c */
    uint32_t passed;       /* that came in since there is this first of the queue */
    pthread_mutex_t mutex; /* guards the queue, which begins at `first` and goes on at *end */
    struct turns_guest *first, **end;
} turns;

/* False: the system has no lock to give. */
bool tamis__turns_new(turns *t);
void tamis__turns_free(turns *t);

void tamis__turns_enter(turns *t, bool writes);
void tamis__turns_leave(turns *t, bool writes);

#endif
