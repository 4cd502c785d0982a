/* thread_pool.h - threads that work beside the caller. */
#ifndef TAMIS_CLI_FILES_THREAD_POOL_H
#define TAMIS_CLI_FILES_THREAD_POOL_H

#include <pthread.h>
#include <stdbool.h>

typedef struct crew {
    void (*work)(void *ctx);
    void *ctx;
    unsigned started;
    unsigned working; /* guarded by the lock */
    pthread_mutex_t lock;
    pthread_cond_t left;
} crew;

void crew_init(crew *c, void (*work)(void *ctx), void *ctx);
/* Starts one more; false if the system has none left. */
bool crew_grow(crew *c);
/* Waits until all have returned. */
void crew_wait(crew *c);
/* Does the work on so many threads, the caller's among them, and waits for all. */
void crew_run(unsigned threads, void (*work)(void *ctx), void *ctx);

#endif
