/* job.h - work that would keep the server from others: read in slices by the thread of the server,
 * done in a thread of its own, and put into a key at the end.
 *
 * The thread sees only what its job holds: no key, no context, no function of the server but its
 * allocator. A client waits meanwhile; the work goes on if it does not. */
#ifndef TAMIS_REDIS_JOB_H
#define TAMIS_REDIS_JOB_H

#include <pthread.h>

#include "filter_value.h"

typedef struct job {
    memory memory; /* of the job, and of what waits in it */
    /* Set before job_run(). */
    redis_string *into; /* the key */
    const char *event;
    filter *made;                            /* what the work fills */
    bool (*read)(redis_ctx *, struct job *); /* NULL: nothing is read. Until true, or a failure */
    void (*work)(struct job *);              /* in any thread */
    /* Tells replicas how to make the same, if they can; NULL: they cannot, and get what was made.
     */
    bool (*replicate)(redis_ctx *, struct job *);
    void (*end)(struct job *); /* frees all */
    /* Why it failed. */
    tamis_status status;
    const char *error;
    /* Of job.c. */
    struct job *next;
    redis_blocked *client;
    int db;
    uint64_t slice_end_us;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_worked;
} job;

/* Does it, in the background if it is large; where a client cannot wait, at once. Replies. */
void job_run(redis_ctx *ctx, job *j, bool is_large);

/* Whether a slice is over. */
bool job_must_pause(const job *j);

/* Those under way, for INFO. */
void job_tell(redis_info *info);

#endif
