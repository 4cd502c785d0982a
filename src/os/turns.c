/* turns.c - a lock for readers and writers that lets nobody wait for good.
 *
 * One word tells who is in. Where nobody waits, entering and leaving is one atomic change of it.
 * Whoever has to wait sleeps in a queue. The last one to leave wakes the first of the queue, who
 * enters if there is still room. To give it the room at once would be fairer than it needs to be:
 * each change would then take as long as waking a thread, while others stand in line. */
#include "os/turns.h"

#include <stddef.h>

/* Flags of the state. The other bits count readers, of which there are fewer than threads. */
enum {
    TURNS_WRITING = 1 << 28, /* a writer is in */
    TURNS_QUEUE = 1 << 29,   /* somebody waits, and is to be woken by the last one to leave */
    TURNS_CLOSED = 1 << 30,  /* nobody but the first of the queue may enter */
    TURNS_FLAGS = TURNS_QUEUE | TURNS_CLOSED
};

enum {
    TURNS_TRIES =
        64, /* before sleeping: others are often out again after some hundred instructions */
    TURNS_PASSED = 256 /* by so many, of some 50 ns each: it takes as long to wake a thread */
};

typedef struct turns_guest {
    struct turns_guest *next;
    pthread_cond_t call;
} turns_guest;

bool tamis__turns_new(turns *t)
{
    t->state = t->passed = 0;
    t->first = NULL;
    t->end = &t->first;
    return pthread_mutex_init(&t->mutex, NULL) == 0;
}

void tamis__turns_free(turns *t)
{
    pthread_mutex_destroy(&t->mutex);
}

static uint32_t turns_of(bool writes)
{
    return writes ? TURNS_WRITING : 1;
}

/* A writer must be alone. */
static bool turns_have_room(uint32_t state, bool writes)
{
    return writes ? (state & ~(uint32_t)TURNS_FLAGS) == 0 : (state & TURNS_WRITING) == 0;
}

/* `closed` is TURNS_CLOSED, or 0 for the first of the queue, for whom it is not. */
static bool turns_try(turns *t, bool writes, uint32_t closed)
{
    uint32_t state = __atomic_load_n(&t->state, __ATOMIC_RELAXED);

    while (!(state & closed) && turns_have_room(state, writes))
        if (__atomic_compare_exchange_n(&t->state, &state, state + turns_of(writes), true,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
    return false;
}

/* If the queue ends meanwhile, the next one to join it opens again. */
static void turns_pass(turns *t)
{
    if (__atomic_load_n(&t->state, __ATOMIC_RELAXED) & TURNS_QUEUE &&
        __atomic_add_fetch(&t->passed, 1, __ATOMIC_RELAXED) == TURNS_PASSED)
        __atomic_fetch_or(&t->state, TURNS_CLOSED, __ATOMIC_RELAXED);
}

/* The first of the queue has entered. The next one may find room beside it. */
static void turns_advance(turns *t)
{
    t->first = t->first->next;
    __atomic_store_n(&t->passed, 0, __ATOMIC_RELAXED);
    __atomic_fetch_and(&t->state, ~(uint32_t)(t->first ? TURNS_CLOSED : TURNS_FLAGS),
                       __ATOMIC_RELAXED);
    if (t->first)
        pthread_cond_signal(&t->first->call);
    else
        t->end = &t->first;
}

static void turns_wait(turns *t, bool writes)
{
    turns_guest g = { .call = PTHREAD_COND_INITIALIZER };

    pthread_mutex_lock(&t->mutex);
    *t->end = &g;
    t->end = &g.next;
    /* Who leaves from now on sees the queue; who left before has made room. */
    __atomic_fetch_or(&t->state, TURNS_QUEUE, __ATOMIC_RELAXED);
    while (t->first != &g || !turns_try(t, writes, 0))
        pthread_cond_wait(&g.call, &t->mutex);
    turns_advance(t);
    pthread_mutex_unlock(&t->mutex);
    pthread_cond_destroy(&g.call);
}

void tamis__turns_enter(turns *t, bool writes)
{
    for (int i = 0; i < TURNS_TRIES; i++)
        if (turns_try(t, writes, TURNS_CLOSED)) {
            turns_pass(t);
            return;
        }
    turns_wait(t, writes);
}

void tamis__turns_leave(turns *t, bool writes)
{
    uint32_t before = __atomic_fetch_sub(&t->state, turns_of(writes), __ATOMIC_RELEASE);

    if (!(before & TURNS_QUEUE) || (before & ~(uint32_t)TURNS_FLAGS) != turns_of(writes))
        return;
    pthread_mutex_lock(&t->mutex);
    if (t->first)
        pthread_cond_signal(&t->first->call);
    pthread_mutex_unlock(&t->mutex);
}
