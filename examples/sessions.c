/* sessions.c - threads of a server share one filter of the sessions that are open.
 *
 *     cc sessions.c -o sessions $(pkg-config --cflags --libs tamis) -lpthread && ./sessions
 *
 * Four threads serve users: a session is opened when one logs in, checked at each request, and
 * closed when he logs out. Nobody knows how many users will come, so the filter grows. A session
 * that is open is found at every moment, whichever thread opened it; one that is not seldom is, and
 * would then be looked up where sessions are kept. In the end the filter is saved, and loaded as a
 * server that starts again would do. */
#define _POSIX_C_SOURCE 200809L /* with -std=c11, C libraries declare no more than C11 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tamis_shared.h>

enum { THREADS = 4, USERS = 100000 };

static const char *const PATH = "sessions.tms";

static void check(tamis_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "sessions: %s: %s\n", what, tamis_status_text(status));
    exit(1);
}

/* The name of a session, and its key. */
static uint64_t session(const tamis_shared *open, int thread, int user)
{
    char name[40];
    int size = snprintf(name, sizeof name, "session-%d-%d", thread, user);

    return tamis_shared_key(open, name, (size_t)size);
}

typedef struct server {
    tamis_shared *open;
    int thread;
    int lost, strangers;
} server;

/* Every second user logs out again. */
static void *serve(void *arg)
{
    server *s = arg;

    for (int user = 0; user < USERS; user++) {
        uint64_t key = session(s->open, s->thread, user);
        check(tamis_shared_add(s->open, key), "add");
        s->lost += !tamis_shared_has(s->open, session(s->open, s->thread, user / 2 * 2));
        s->strangers += tamis_shared_has(s->open, session(s->open, -1 - s->thread, user));
        if (user % 2)
            check(tamis_shared_remove(s->open, key), "remove");
    }
    return NULL;
}

static void tell(const tamis_shared *open)
{
    tamis_info info = { .size = sizeof info };

    tamis_shared_get_info(open, &info);
    printf("%llu sessions are open, in %llu KiB\n", (unsigned long long)info.count,
           (unsigned long long)info.plan.bytes / 1024);
}

static bool serve_on_threads(tamis_shared *open)
{
    pthread_t threads[THREADS];
    server servers[THREADS];
    int lost = 0, strangers = 0;

    for (int i = 0; i < THREADS; i++) {
        servers[i] = (server){ open, i, 0, 0 };
        if (pthread_create(&threads[i], NULL, serve, &servers[i]))
            exit(1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        lost += servers[i].lost;
        strangers += servers[i].strangers;
    }
    printf("%d requests: %d sessions lost, %.2f %% of the strangers looked up\n", THREADS * USERS,
           lost, 100.0 * strangers / (THREADS * USERS));
    return lost == 0;
}

int main(void)
{
    tamis_spec spec =
        TAMIS_SPEC(.keys = 10000, .fpr = 0.01, .can = TAMIS_CAN_REMOVE | TAMIS_CAN_GROW);
    tamis_shared *open, *again;

    check(tamis_shared_new(&open, TAMIS_ALEPH, &spec, THREADS, NULL), "new");
    bool is_right = serve_on_threads(open);
    tell(open);
    check(tamis_shared_save(open, PATH), "save");
    check(tamis_shared_load(&again, PATH, NULL), "load");
    tell(again);
    remove(PATH);
    tamis_shared_free(again);
    tamis_shared_free(open);
    return is_right ? 0 : 1;
}
