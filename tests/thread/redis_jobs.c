/* redis_jobs.c - jobs of the module for Redis beside what its server does meanwhile. The thread of
 * the server is this one. What comes next to a job comes while it is held in its first allocation,
 * so that it always does, or while it works. */
#include <inttypes.h>
#include <sched.h>

#include "../redis/server.h"
#include "check.h"

enum { KEYS = 300 };

/* Two of them are large enough for a merge in a thread, which is 4 MiB. */
static const char LARGE[] = "blocked CAPACITY 2000000 HASH fast";

static void ask(server_client *c, const char *line, const char *wanted)
{
    server_ask(c, "%s", line);
    if (!server_replied(c, wanted))
        print_error("%s: %s, not %s\n", line, c->reply, wanted);
    assert_true(server_replied(c, wanted));
}

/* One of them holds what is below KEYS, the other what is not. */
static void make_sources(server_client *c)
{
    server_ask(c, "TAMIS.RESERVE a %s", LARGE);
    server_ask(c, "TAMIS.RESERVE b %s", LARGE);
    for (int i = 0; i < KEYS; i++) {
        server_ask(c, "TAMIS.ADD a %d", i);
        server_ask(c, "TAMIS.ADD b %d", KEYS + i);
    }
}

static bool has_all(server_client *c, const char *name, int n)
{
    for (int i = 0; i < n; i++) {
        server_ask(c, "TAMIS.EXISTS %s %d", name, i);
        if (!server_replied(c, "1"))
            return false;
    }
    return true;
}

static void await(const server_client *c)
{
    while (c->is_blocked) {
        server_turn();
        sched_yield();
    }
}

static void await_reply(const server_client *c, const char *wanted)
{
    await(c);
    if (!server_replied(c, wanted))
        print_error("%s, not %s\n", c->reply, wanted);
    assert_true(server_replied(c, wanted));
}

/* Its thread has started, and waits. */
static void start_job(server_client *c, const char *line)
{
    server_hold_threads();
    server_ask(c, "%s", line);
    assert_true(c->is_blocked);
    server_await_thread();
}

static int leave_nothing(void **state)
{
    server_client c = { 0 };

    (void)state;
    server_set_flags(REDIS_CTX_PRIMARY);
    server_config("max-object-bytes", "0");
    server_config("max-bytes", "0");
    server_flush();
    assert_int_equal(server_info("jobs"), 0);
    assert_int_equal(server_info("used_bytes"), 0);
    assert_int_equal(server_left(), 0);
    server_forget_reply(&c);
    return 0;
}

/* ---- What is read ------------------------------------------------------ */

/* All there is that reads a filter. */
static void read_filter(server_client *c, const char *name)
{
    uint64_t next = 0;

    server_ask(c, "TAMIS.MEXISTS %s 1 2 3 400", name);
    server_ask(c, "TAMIS.CARD %s", name);
    server_ask(c, "TAMIS.INFO %s", name);
    for (int i = 0; i < 2; i++) {
        server_ask(c, "TAMIS.DUMP %s %" PRIu64, name, next);
        next = strtoull(c->reply, NULL, 10);
    }
    assert_true(server_save(name) > server_usage(name) / 2);
    assert_true(server_info("used_bytes") > 0);
}

static void filters_are_read_while_a_job_reads_them(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    start_job(&job, "TAMIS.MERGE made 3 a b a");
    read_filter(&c, "a");
    server_let_threads_go();
    do {
        read_filter(&c, "a");
        server_copy("b", "copy");
        read_filter(&c, "b");
        server_turn();
    } while (job.is_blocked);
    assert_true(server_replied(&job, "OK"));
    assert_true(has_all(&c, "made", 2 * KEYS));
    assert_true(has_all(&c, "a", KEYS));
    server_forget_reply(&job);
    server_forget_reply(&c);
}

static void filters_that_a_job_reads_are_not_changed(void **state)
{
    static const char BUSY[] =
        "TRYAGAIN the filter is being read; it can be changed when that is done";
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    start_job(&job, "TAMIS.MERGE made 2 a b");
    ask(&c, "TAMIS.ADD a 9999", BUSY);
    server_let_threads_go();
    do {
        server_ask(&c, "TAMIS.ADD b 9999");
        server_turn();
    } while (job.is_blocked);
    assert_true(server_replied(&job, "OK"));
    ask(&c, "TAMIS.ADD a 9999", "1");
    assert_true(has_all(&c, "made", 2 * KEYS));
}

/* What a primary says is done: the thread of the server waits until the job has let go. */
static void what_a_primary_says_waits_for_the_job(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    for (int i = 0; i < 3; i++) {
        start_job(&job, "TAMIS.MERGE made 2 a b");
        server_let_threads_go();
        server_set_flags(REDIS_CTX_PRIMARY | REDIS_CTX_REPLICATED);
        server_ask(&c, "TAMIS.ADD a x%d", i);
        server_ask(&c, "TAMIS.ADD b x%d", i);
        assert_true(server_replied(&c, "1"));
        server_set_flags(REDIS_CTX_PRIMARY);
        await_reply(&job, "OK");
        assert_true(has_all(&c, "made", 2 * KEYS));
    }
}

/* ---- What is deleted and replaced ------------------------------------------- */

/* Whoever lets go last frees: the job, or the thread of the server's that deletes. */
static void filters_are_deleted_while_a_job_reads_them(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    for (int late = 0; late <= 1; late++) {
        make_sources(&c);
        start_job(&job, "TAMIS.MERGE made 3 a b b");
        if (late)
            server_let_threads_go();
        server_ask(&c, "UNLINK a");
        server_ask(&c, "UNLINK b");
        server_let_threads_go();
        await_reply(&job, "OK");
        assert_true(has_all(&c, "made", 2 * KEYS));
        assert_false(server_has("a"));
    }
}

static void a_job_replaces_one_of_its_sources(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    start_job(&job, "TAMIS.MERGE a 2 a b");
    server_let_threads_go();
    await_reply(&job, "OK");
    assert_true(has_all(&c, "a", 2 * KEYS));
    start_job(&job, "TAMIS.INTERSECT a 2 a b");
    server_ask(&c, "UNLINK a");
    server_let_threads_go();
    await_reply(&job, "OK");
    assert_false(has_all(&c, "a", KEYS));
}

static void the_key_of_a_job_changes_meanwhile(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    server_copy("a", "made");
    start_job(&job, "TAMIS.MERGE made 2 a b");
    server_ask(&c, "UNLINK made");
    server_let_threads_go();
    await_reply(&job, "OK");
    assert_true(has_all(&c, "made", 2 * KEYS));
    start_job(&job, "TAMIS.MERGE made 2 a b");
    server_ask(&c, "UNLINK made");
    server_collect("made", REDIS_KEY_LIST, 1);
    server_let_threads_go();
    await_reply(&job, "WRONGTYPE Operation against a key holding the wrong kind of value");
}

/* ---- Many -------------------------------------------------------------- */

static void jobs_share_their_sources(void **state)
{
    enum { JOBS = 16 };
    server_client jobs[JOBS] = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    server_hold_threads();
    for (int i = 0; i < JOBS; i++)
        server_ask(&jobs[i], "TAMIS.MERGE made%d 2 a b", i);
    server_await_thread();
    assert_int_equal(server_info("jobs"), JOBS);
    ask(&c, "TAMIS.MERGE other 2 a b",
        "TRYAGAIN this key is being made already, or too many others are");
    server_ask(&c, "UNLINK a");
    server_let_threads_go();
    for (int i = 0; i < JOBS; i++) {
        await_reply(&jobs[i], "OK");
        server_ask(&c, "UNLINK b");
    }
    assert_true(has_all(&c, "made0", 2 * KEYS));
}

/* ---- What ends a job ----------------------------------------------------- */

static void nobody_waits_for_a_job(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    start_job(&job, "TAMIS.MERGE made 2 a b");
    job.is_gone = true;
    server_let_threads_go();
    await(&job);
    assert_int_equal(job.used, 0);
    assert_true(has_all(&c, "made", 2 * KEYS));
}

static void a_job_is_given_up_by_a_replica(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    start_job(&job, "TAMIS.MERGE made 2 a b");
    server_set_flags(REDIS_CTX_REPLICA);
    server_turn();
    server_let_threads_go();
    await_reply(&job, "READONLY the server has become a replica, and the work was given up");
    assert_false(server_has("made"));
}

static void a_job_waits_for_a_failover(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    start_job(&job, "TAMIS.MERGE made 2 a b");
    server_set_failover(true);
    server_let_threads_go();
    for (int i = 0; i < 20; i++) {
        server_turn();
        sched_yield();
    }
    assert_true(job.is_blocked);
    server_set_failover(false);
    await_reply(&job, "OK");
}

/* Limits are settings, which may change at any time. */
static void limits_change_while_a_job_works(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    make_sources(&c);
    start_job(&job, "TAMIS.MERGE made 2 a b");
    server_config("max-object-bytes", "1kb");
    server_config("max-bytes", "1gb");
    server_let_threads_go();
    await_reply(&job, "ERR out of memory");
    assert_false(server_has("made"));
    start_job(&job, "TAMIS.MERGE made 2 a b");
    server_let_threads_go();
    for (int i = 0; job.is_blocked; i++) {
        server_config(i % 2 ? "max-bytes" : "max-object-bytes", "1gb");
        server_turn();
        sched_yield();
    }
}

/* ---- Builds ------------------------------------------------------------ */

static const struct source {
    const char *word;
    int type;
} SOURCES[] = { { "SET", REDIS_KEY_SET },
                { "HASH", REDIS_KEY_HASH },
                { "ZSET", REDIS_KEY_ZSET },
                { "LIST", REDIS_KEY_LIST },
                { "STREAM", REDIS_KEY_STREAM } };
enum { N_SOURCES = sizeof SOURCES / sizeof *SOURCES, ITEMS = 5000 };

static const char *const KINDS[] = { "fuse", "ribbon", "cqf", "bloom", "hashset" };
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

/* Filters of all sorts, each from a collection of another type, which are gone when threads begin.
 */
static void collections_become_filters(void **state)
{
    server_client jobs[N_SOURCES] = { 0 }, c = { 0 };

    (void)state;
    server_hold_threads();
    for (int i = 0; i < N_SOURCES; i++) {
        server_collect(SOURCES[i].word, SOURCES[i].type, ITEMS);
        server_ask(&jobs[i], "TAMIS.BUILD made%d %s FROM %s %s HASH fast", i, KINDS[i % N_KINDS],
                   SOURCES[i].word, SOURCES[i].word);
    }
    server_await_thread();
    server_let_threads_go();
    for (int i = 0; i < N_SOURCES; i++) {
        await_reply(&jobs[i], "OK");
        server_ask(&c, "UNLINK %s", SOURCES[i].word);
    }
    for (int i = 0; i < N_SOURCES; i++) {
        char name[8];

        snprintf(name, sizeof name, "made%d", i);
        assert_true(has_all(&c, name, 1000));
    }
}

static void a_collection_goes_while_it_is_read(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    for (int i = 0; i < N_SOURCES; i++) {
        server_collect("source", SOURCES[i].type, ITEMS);
        server_ask(&job, "TAMIS.BUILD made fuse FROM %s source", SOURCES[i].word);
        server_turn();
        assert_true(job.is_blocked);
        server_ask(&c, "UNLINK source");
        await_reply(&job, "ERR not found");
    }
}

static void a_list_changes_while_it_is_read(void **state)
{
    static const char CHANGED[] = "ERR the list changed while it was read";
    server_client job = { 0 };

    (void)state;
    server_collect("list", REDIS_KEY_LIST, ITEMS);
    server_ask(&job, "TAMIS.BUILD made fuse FROM LIST list");
    server_turn();
    server_push("list", "more");
    await_reply(&job, CHANGED);
    server_ask(&job, "TAMIS.BUILD made fuse FROM LIST list");
    server_turn();
    server_swap(0, 1);
    await_reply(&job, CHANGED);
}

/* The filter is made of what was read, whatever becomes of the source. */
static void a_list_changes_while_its_filter_is_made(void **state)
{
    server_client job = { 0 }, c = { 0 };

    (void)state;
    server_collect("list", REDIS_KEY_LIST, ITEMS);
    start_job(&job, "TAMIS.BUILD made xor FROM LIST list HASH fast");
    server_push("list", "more");
    server_swap(0, 1);
    server_swap(0, 1);
    server_let_threads_go();
    do {
        server_push("list", "more");
        assert_true(server_info("used_bytes") > 0);
        server_turn();
    } while (job.is_blocked);
    assert_true(server_replied(&job, "OK"));
    assert_true(has_all(&c, "made", 1000));
}

int main(int argc, char **argv)
{
#define T(name) cmocka_unit_test_teardown(name, leave_nothing)
    const struct CMUnitTest tests[] = {
        T(filters_are_read_while_a_job_reads_them),
        T(filters_that_a_job_reads_are_not_changed),
        T(what_a_primary_says_waits_for_the_job),
        T(filters_are_deleted_while_a_job_reads_them),
        T(a_job_replaces_one_of_its_sources),
        T(the_key_of_a_job_changes_meanwhile),
        T(jobs_share_their_sources),
        T(nobody_waits_for_a_job),
        T(a_job_is_given_up_by_a_replica),
        T(a_job_waits_for_a_failover),
        T(limits_change_while_a_job_works),
        T(collections_become_filters),
        T(a_collection_goes_while_it_is_read),
        T(a_list_changes_while_it_is_read),
        T(a_list_changes_while_its_filter_is_made),
    };

    server_start();
    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
