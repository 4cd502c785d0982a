#include "core/workers.h"

#include <pthread.h>

typedef struct {
    void (*work)(void *ctx, unsigned worker);
    void *ctx;
    unsigned worker;
    pthread_t thread;
} hand;

static void *start(void *arg)
{
    hand *h = arg;

    h->work(h->ctx, h->worker);
    return NULL;
}

void tamis__work(void (*work)(void *ctx, unsigned worker), void *ctx, unsigned n)
{
    hand hands[WORKERS_MAX];
    unsigned hired = 1;

    for (; hired < n && hired < WORKERS_MAX; hired++) {
        hands[hired] = (hand){ .work = work, .ctx = ctx, .worker = hired };
        if (pthread_create(&hands[hired].thread, NULL, start, &hands[hired]))
            break;
    }
    work(ctx, 0);
    while (hired-- > 1)
        pthread_join(hands[hired].thread, NULL);
}
