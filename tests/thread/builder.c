/* builder.c - builders that threads feed: every way from keys to a filter, what stops it and what
 * breaks it. The allocator and the progress function are called by one thread at a time: neither
 * takes care of others here. */
#include <errno.h>
#include <pthread.h>

#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_builder.h"

enum { FEEDERS = 4, THREADS = 3, N = 20000 };

/* ---- Feeding ----------------------------------------------------------- */

/* What one thread gives: some keys, in pieces, until it fails. */
typedef struct feeding {
    tamis_builder *b;
    const uint64_t *keys, *values, *excluded; /* one of the three may be there beside keys */
    size_t n, step;                           /* every step-th key from the first */
    size_t given;
    tamis_status status;
    int error;
} feeding;

enum { PIECE = 300 };

static tamis_status give(feeding *x, const uint64_t *keys, const uint64_t *values, size_t n)
{
    if (values)
        return tamis_builder_add_map(x->b, keys, values, n);
    return tamis_builder_add_many(x->b, keys, n);
}

static void *feed(void *arg)
{
    feeding *x = arg;
    uint64_t keys[PIECE], values[PIECE];

    for (size_t at = 0, n; at < x->n && !x->status; at += n * x->step) {
        for (n = 0; n < PIECE && at + n * x->step < x->n; n++) {
            keys[n] = x->keys[at + n * x->step];
            values[n] = x->values ? x->values[at + n * x->step] : 0;
        }
        x->status = give(x, keys, x->values ? values : NULL, n);
        if (!x->status && x->excluded)
            x->status = tamis_builder_add_excluded(x->b, x->excluded + x->given, n);
        x->error = errno;
        x->given += x->status ? 0 : n;
    }
    return NULL;
}

/* Each feeder gives all keys of its own residue, and each key once more from the next one. */
static void feed_from_threads(tamis_builder *b, const feeding *what, feeding *feedings)
{
    pthread_t threads[FEEDERS];

    for (size_t i = 0; i < FEEDERS; i++) {
        size_t from = i / 2;

        feedings[i] = *what;
        feedings[i].b = b;
        feedings[i].keys += from;
        feedings[i].values += what->values ? from : 0;
        feedings[i].n -= from;
        feedings[i].step = 2;
        assert_int_equal(pthread_create(&threads[i], NULL, feed, &feedings[i]), 0);
    }
    for (size_t i = 0; i < FEEDERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void feed_all(tamis_builder *b, const feeding *what)
{
    feeding feedings[FEEDERS];

    feed_from_threads(b, what, feedings);
    for (size_t i = 0; i < FEEDERS; i++)
        assert_int_equal(feedings[i].status, TAMIS_OK);
}

static void expect_all(const tamis *f, const feeding *what)
{
    for (size_t i = 0; i < what->n; i++)
        assert_true(tamis_has(f, what->keys[i]));
    assert_true(is_whole(f));
}

static tamis *finished(tamis_builder *b, bool in_file)
{
    tamis *f = NULL;

    if (!in_file) {
        assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
        return f;
    }
    assert_int_equal(tamis_builder_save(b, temp_path(), NULL), TAMIS_OK);
    assert_int_equal(tamis_load(&f, temp_path(), NULL), TAMIS_OK);
    unlink(temp_path());
    return f;
}

static uint64_t *keys_for(tamis_kind kind, uint64_t round, size_t *n)
{
    const tamis_plan plan = plan_for(kind, *n, 0.01, 5);
    rng r = rng_for(990 + (uint64_t)kind, round);

    return universe_of(&plan, &r, n);
}

/* ---- Every way --------------------------------------------------------- */

/* Announced and not, into memory and into a file. */
static void threads_feed_and_finish(tamis_kind kind)
{
    size_t n = run_size(N, N / 4, N);
    uint64_t *keys = keys_for(kind, 1, &n);
    const feeding what = { .keys = keys, .n = n };

    for (int way = 0; way < 4; way++) {
        limited_allocator p = { .limit = UINT64_MAX };
        const tamis_allocator a = allocator_of(&p);
        /* Copies take room in some kinds. */
        const tamis_spec spec = spec_for(way % 2 ? 2 * n : 0, 0.01, 5);
        const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = THREADS, .alloc = &a);
        tamis_builder *b = NULL;

        assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
        feed_all(b, &what);
        tamis *f = finished(b, way / 2);
        expect_all(f, &what);
        tamis_builder_free(b);
        tamis_free(f);
        assert_int_equal(p.live, 0);
    }
    free(keys);
}

/* Kinds that need more than keys, and those that take more. */
static void threads_feed_pairs_and_others(tamis_kind kind)
{
    const bool has_values = tamis_kind_can(kind) & TAMIS_CAN_GET;
    const size_t n = run_size(N, N / 4, N);
    rng r = rng_for(990 + (uint64_t)kind, 2);
    uint64_t *keys = fresh_keys(&r, 2 * n), *values = array_of(n, sizeof *values), value;
    const tamis_spec spec = spec_for(0, 0.01, 5);
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = THREADS);
    const feeding what = { .keys = keys,
                           .values = has_values ? values : NULL,
                           .excluded = has_values ? NULL : keys + n,
                           .n = n };
    tamis_builder *b = NULL;

    for (size_t i = 0; i < n; i++)
        values[i] = i % 1000;
    assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
    feed_all(b, &what);
    tamis *f = finished(b, false);
    for (size_t i = 0; i < n; i++)
        if (has_values)
            assert_true(tamis_get(f, &value, keys[i]) && value == values[i]);
        else
            assert_true(tamis_has(f, keys[i]) && (i >= n / 2 || !tamis_has(f, keys[n + i])));
    tamis_builder_free(b);
    tamis_free(f);
    free(keys);
    free(values);
}

/* ---- What stops and breaks it ----------------------------------------------- */

typedef struct patience {
    uint64_t calls, left, last;
} patience;

/* Whoever calls it: mistakes of a thread are counted, not asserted. */
static bool wait_patiently(void *ctx, uint64_t done, uint64_t total)
{
    patience *p = ctx;

    p->calls += done <= total && done >= p->last ? 1 : 1000000;
    p->last = done;
    return p->left-- > 0;
}

static void threads_are_stopped(tamis_kind kind)
{
    size_t n = run_size(N, N / 4, N);
    uint64_t *keys = keys_for(kind, 3, &n);
    const feeding what = { .keys = keys, .n = n };
    const tamis_spec spec = spec_for(0, 0.01, 5);
    patience p = { 0 };
    const tamis_build_options o =
        TAMIS_BUILD_OPTIONS(.threads = THREADS, .progress = wait_patiently, .ctx = &p);
    tamis_builder *b = NULL;
    tamis *f = NULL;

    assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
    feed_all(b, &what);
    for (uint64_t left = 0; left < 4; left++) {
        p = (patience){ .left = left };
        tamis_status status = tamis_builder_finish(&f, b);
        assert_true(p.calls < 1000000);
        if (!status)
            break;
        assert_int_equal(status, TAMIS_STOPPED);
        feed_all(b, &what);
    }
    p = (patience){ .left = UINT64_MAX };
    if (!f)
        f = finished(b, false);
    expect_all(f, &what);
    tamis_builder_free(b);
    tamis_free(f);
    free(keys);
}

/* What breaks a builder is what all its threads are told, with the errno of the one that met it. */
static void threads_are_told_of_a_failure(tamis_kind kind)
{
    size_t n = 150000; /* too many for memory: 4 times so many, of 8 bytes */
    uint64_t *keys = array_of(n, sizeof *keys);
    const feeding what = { .keys = keys, .n = n };
    const tamis_spec spec = spec_for(0, 0.01, 5);
    const tamis_build_options o =
        TAMIS_BUILD_OPTIONS(.threads = THREADS, .memory = 4 << 20, .dir = "/no/such/folder");
    feeding feedings[FEEDERS];
    tamis_builder *b = NULL;
    tamis *f = NULL;
    size_t given = 0;

    for (size_t i = 0; i < n; i++)
        keys[i] = i;
    assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
    for (int round = 0; round < 2; round++) {
        feed_from_threads(b, &what, feedings);
        for (size_t i = 0; i < FEEDERS; i++) {
            given += feedings[i].given;
            assert_int_equal(round && feedings[i].given, 0);
        }
    }
    for (size_t i = 0; i < FEEDERS; i++) {
        assert_int_equal(feedings[i].status, TAMIS_IO);
        assert_int_equal(feedings[i].error, ENOENT);
    }
    assert_true(given > 0);
    assert_int_equal(tamis_builder_finish(&f, b), TAMIS_IO);
    assert_int_equal(errno, ENOENT);
    tamis_builder_free(b);
    free(keys);
}

/* Keys that go into the filter at once may find it full: then it is for every thread. */
static void threads_are_told_that_it_is_full(tamis_kind kind)
{
    size_t n = run_size(N, N / 4, N), refused = 0;
    uint64_t *keys = keys_for(kind, 4, &n);
    const feeding what = { .keys = keys, .n = n };
    const tamis_spec spec = spec_for(n / 8, 0.01, 5);
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = THREADS);
    feeding feedings[FEEDERS];
    tamis_builder *b = NULL;
    tamis *f = NULL;

    assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
    feed_from_threads(b, &what, feedings);
    for (size_t i = 0; i < FEEDERS; i++) {
        assert_true(!feedings[i].status || feedings[i].status == TAMIS_FULL);
        refused += feedings[i].status == TAMIS_FULL;
    }
    if (refused) {
        assert_int_equal(tamis_builder_add_many(b, keys, 1), TAMIS_FULL);
        assert_int_equal(tamis_builder_finish(&f, b), TAMIS_FULL);
    }
    tamis_builder_free(b);
    free(keys);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "threads feed and finish", threads_feed_and_finish, .can = TAMIS_CAN_BUILD,
          .cannot = TAMIS_CAN_ROTATE }, /* which forget */
        { "threads feed pairs", threads_feed_pairs_and_others, .can = TAMIS_CAN_GET },
        { "threads feed keys to be told apart", threads_feed_pairs_and_others,
          .can = TAMIS_CAN_EXCLUDE },
        { "threads feed keys to be adapted to", threads_feed_pairs_and_others,
          .can = TAMIS_CAN_ADAPT },
        { "threads are stopped", threads_are_stopped, .can = TAMIS_CAN_BUILD, .of_files = true },
        { "threads are told of a failure", threads_are_told_of_a_failure, .can = TAMIS_CAN_BUILD,
          .of_files = true },
        { "threads are told that it is full", threads_are_told_that_it_is_full,
          .can = TAMIS_CAN_BUILD | TAMIS_CAN_ADD, .cannot = TAMIS_IS_INDEXED },
    };

    test_begin(argc, argv);
    return check_laws_of_all(laws, sizeof laws / sizeof *laws);
}
