/* workers.c - threads of the library are no business of the program's: no handler runs on them but
 * for their own faults, and what succeeds leaves errno alone. */
#include "os/workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "kinds.h"

enum { THREADS = 3 };

typedef struct ground {
    pthread_barrier_t all_here; /* so that each thread does a unit */
    pthread_t caller;
    sigset_t masks[THREADS];
    bool is_caller[THREADS];
} ground;

static tamis_status look_at_mask(const make_work *w, size_t unit, unsigned worker)
{
    ground *g = w->ctx;

    (void)worker;
    pthread_barrier_wait(&g->all_here);
    pthread_sigmask(SIG_SETMASK, NULL, &g->masks[unit]);
    g->is_caller[unit] = pthread_equal(pthread_self(), g->caller);
    return TAMIS_OK;
}

static ground *run_on_threads(void)
{
    ground *g = array_of(1, sizeof *g);
    make m = { 0 };
    make_work w = {
        .m = &m, .do_unit = look_at_mask, .units = THREADS, .is_shared = true, .ctx = g
    };

    g->caller = pthread_self();
    assert_int_equal(pthread_barrier_init(&g->all_here, NULL, THREADS), 0);
    assert_int_equal(tamis__workers_run(&w, THREADS, NULL, NULL), TAMIS_OK);
    pthread_barrier_destroy(&g->all_here);
    return g;
}

static void signals_go_to_other_threads(void **state)
{
    static const int theirs[] = { SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPIPE, SIGHUP };
    static const int own[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
    ground *g = run_on_threads();
    sigset_t now;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        for (size_t j = 0; j < sizeof theirs / sizeof *theirs; j++)
            assert_int_equal(sigismember(&g->masks[i], theirs[j]), !g->is_caller[i]);
        for (size_t j = 0; j < sizeof own / sizeof *own; j++)
            assert_int_equal(sigismember(&g->masks[i], own[j]), 0);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (size_t j = 0; j < sizeof theirs / sizeof *theirs; j++)
        assert_int_equal(sigismember(&now, theirs[j]), 0);
    free(g);
}

static void success_leaves_errno(void **state)
{
    (void)state;
    errno = ERANGE;
    free(run_on_threads());
    assert_int_equal(errno, ERANGE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_go_to_other_threads),
        cmocka_unit_test(success_leaves_errno),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
