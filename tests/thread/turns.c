/* turns.c - the lock of parts: a writer is alone, and all get in. */
#include "os/turns.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 16 };

typedef struct room {
    turns turns;
    uint64_t in_all, once_more; /* by writers alone, so that they are equal */
    atomic_bool is_over;
    atomic_size_t mistakes;
} room;

static size_t rounds(void)
{
    return run_size(400, 100, 20000);
}

static void look(room *r)
{
    tamis__turns_enter(&r->turns, false);
    atomic_fetch_add(&r->mistakes, r->in_all != r->once_more);
    tamis__turns_leave(&r->turns, false);
}

static void change(room *r)
{
    tamis__turns_enter(&r->turns, true);
    if (r->in_all++ % 16 == 0)
        sched_yield();
    r->once_more++;
    tamis__turns_leave(&r->turns, true);
}

static void *look_and_change(void *arg)
{
    room *r = arg;

    for (size_t i = 0; i < rounds(); i++) {
        look(r);
        if (i % 4 == 0)
            change(r);
    }
    return NULL;
}

static void *stay_inside(void *arg)
{
    room *r = arg;

    while (!atomic_load(&r->is_over)) {
        tamis__turns_enter(&r->turns, false);
        sched_yield();
        tamis__turns_leave(&r->turns, false);
    }
    return NULL;
}

static void start(pthread_t *threads, room *r, void *(*run)(void *))
{
    assert_true(tamis__turns_new(&r->turns));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, r), 0);
}

static void end(pthread_t *threads, room *r)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    tamis__turns_free(&r->turns);
    assert_int_equal(atomic_load(&r->mistakes), 0);
}

static void a_writer_is_alone(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    room r = { .in_all = 0 };

    start(threads, &r, look_and_change);
    end(threads, &r);
    assert_int_equal(r.in_all, THREADS * ((rounds() + 3) / 4));
}

/* At every moment some are in, so that a writer who waited for an empty room would wait for good.
 */
static void readers_do_not_keep_a_writer_out(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    room r = { .in_all = 0 };

    start(threads, &r, stay_inside);
    for (size_t i = 0; i < rounds() / 20; i++)
        change(&r);
    atomic_store(&r.is_over, true);
    end(threads, &r);
    assert_int_equal(r.in_all, rounds() / 20);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_writer_is_alone),
        cmocka_unit_test(readers_do_not_keep_a_writer_out),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
