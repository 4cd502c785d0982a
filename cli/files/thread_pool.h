/* thread_pool.h - threads that work beside the caller. */
#ifndef TAMIS_CLI_FILES_THREAD_POOL_H
#define TAMIS_CLI_FILES_THREAD_POOL_H

#include <pthread.h>
#include <stdbool.h>

typedef struct thread_pool {
    void (*work)(void *ctx);
    void *ctx;
    unsigned started;
    unsigned working; /* guarded by the lock */
    pthread_mutex_t lock;
    pthread_cond_t left;
} thread_pool;

void thread_pool_init(thread_pool *c, void (*work)(void *ctx), void *ctx);
/* Starts one more; false if the system has none left. */
bool thread_pool_grow(thread_pool *c);
/* Waits until all have returned. */
void thread_pool_wait(thread_pool *c);
/* Does the work on so many threads, the caller's among them, and waits for all. */
void thread_pool_run(unsigned threads, void (*work)(void *ctx), void *ctx);

/* Numbers below n, which threads take one by one. */
typedef struct work_list {
    size_t n, next;
    const char *unit; /* of the progress, which the caller shows; NULL: it is not shown */
    pthread_t caller;
} work_list;

work_list work_list_of(size_t n, const char *unit);
/* False: all are taken. */
bool work_list_next(work_list *l, size_t *i);

#endif
