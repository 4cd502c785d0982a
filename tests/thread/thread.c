/* thread.c - what may run at the same time: calls on a const filter, and tamis_add_concurrent()
 * with itself and with queries. Made to be run under ThreadSanitizer as well. Threads count
 * mistakes instead of asserting: cmocka's assertions belong to the main thread. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "kinds.h"
#include "tamis_builder.h"
#include "tamis_pair.h"

enum { ADDERS = 4, READERS = 2, THREADS = 4 };

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    assert_int_equal(pthread_create(thread, NULL, run, arg), 0);
}

static void join(pthread_t *threads, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static size_t scaled(size_t n)
{
    return run_size(n / 2, n / 64, n);
}

/* ---- Readers ----------------------------------------------------------- */

typedef struct reading {
    const tamis *f;
    const uint64_t *keys;
    const uint64_t *hits; /* what one thread found alone */
    size_t n;
    tamis_info info;
    image_bytes image;
    unsigned offset;
    size_t mistakes;
} reading;

static void read_keys(reading *r)
{
    for (size_t j = 0; j < r->n; j++) {
        size_t i = (j + r->offset * r->n / THREADS) % r->n;
        bool expected = r->hits[i / 64] >> i % 64 & 1;
        bool counted = counts_very_keys(r->f->plan.kind) ? i < r->n / 2 : expected;

        r->mistakes += tamis_has(r->f, r->keys[i]) != expected;
        r->mistakes += (tamis_count(r->f, r->keys[i]) != 0) != counted;
    }
}

static void read_batches(reading *r)
{
    uint64_t *hits = calloc(r->n / 64 + 1, sizeof *hits);

    tamis_has_many(r->f, hits, r->keys, r->n);
    r->mistakes += memcmp(hits, r->hits, r->n / 64 * sizeof *hits) != 0;
    free(hits);
}

static void read_whole(reading *r)
{
    tamis_info info = info_of(r->f);
    uint8_t *image = malloc(r->image.size);
    tamis *copy = NULL;

    r->mistakes += info.count != r->info.count || info.fpr != r->info.fpr ||
                   info.cardinality != r->info.cardinality || info.fill != r->info.fill;
    r->mistakes += tamis_image_write(r->f, image, r->image.size) != TAMIS_OK ||
                   memcmp(image, r->image.at, r->image.size) != 0;
    r->mistakes += tamis_verify(r->f, NULL, NULL) != TAMIS_OK;
    r->mistakes += tamis_clone(&copy, r->f, NULL) != TAMIS_OK;
    tamis_free(copy);
    free(image);
}

static void *read_all(void *arg)
{
    reading *r = arg;

    for (int round = 0; round < 4; round++) {
        read_keys(r);
        read_batches(r);
        read_whole(r);
    }
    return NULL;
}

static void readers_do_not_disturb_each_other(tamis_kind kind)
{
    const size_t capacity = scaled(is_slow(kind) ? 4000 : 50000);
    const tamis_plan plan = plan_for(kind, capacity, 0.01, 5);
    rng r = rng_for(400 + (uint64_t)kind, 0);
    size_t n = 2 * capacity;
    uint64_t *keys = universe_of(&plan, &r, &n), *hits = array_of(n / 64 + 1, sizeof *hits);
    tamis *f = filter_of(&plan, keys, n / 2);
    pthread_t threads[THREADS];
    reading readings[THREADS];

    tamis_has_many(f, hits, keys, n);
    reading base = {
        .f = f, .keys = keys, .hits = hits, .n = n, .info = info_of(f), .image = image_of(f)
    };
    for (unsigned i = 0; i < THREADS; i++) {
        readings[i] = base;
        readings[i].offset = i;
        start(&threads[i], read_all, &readings[i]);
    }
    join(threads, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(readings[i].mistakes, 0);
    free_bytes(&base.image);
    tamis_free(f);
    free(keys);
    free(hits);
}

/* ---- Adders ------------------------------------------------------------ */

/* Keys below `told` of a share are in: whoever reads that number must find them. */
typedef struct share {
    tamis *f;
    pthread_barrier_t *start; /* none adds before all can */
    const uint64_t *keys;
    size_t n;
    atomic_size_t told;
    tamis_status status;
} share;

typedef struct watch {
    const tamis *f;
    share *shares;
    atomic_bool *is_over;
    size_t missing;
} watch;

static void *add_share(void *arg)
{
    share *s = arg;

    pthread_barrier_wait(s->start);
    for (size_t i = 0, step = 1; i < s->n && !s->status; i += step, step = 1 + step % 97) {
        if (step > s->n - i)
            step = s->n - i;
        size_t added;
        s->status = tamis_add_concurrent(s->f, &added, s->keys + i, step);
        atomic_store_explicit(&s->told, i + added, memory_order_release);
    }
    return NULL;
}

static size_t missing_of(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t hits[4];
    size_t found = 0, from = n > 200 ? n - 200 : 0;

    for (size_t i = from; i < n; i++)
        found += tamis_has(f, keys[i]);
    found += tamis_has_many(f, hits, keys + from, n - from);
    return 2 * (n - from) - found;
}

static void *watch_shares(void *arg)
{
    watch *w = arg;

    while (!atomic_load(w->is_over)) {
        for (int i = 0; i < ADDERS; i++) {
            size_t told = atomic_load_explicit(&w->shares[i].told, memory_order_acquire);

            w->missing += missing_of(w->f, w->shares[i].keys, told);
        }
        /* Adders are more than processors already. */
        sched_yield();
    }
    return NULL;
}

/* Shares overlap by half, so that threads meet on the same bits. */
static void cut(share *shares, tamis *f, const uint64_t *keys, size_t n)
{
    size_t half = n / (ADDERS + 1);

    for (size_t i = 0; i < ADDERS; i++) {
        shares[i].f = f;
        shares[i].keys = keys + i * half;
        shares[i].n = 2 * half;
        shares[i].status = TAMIS_OK;
        atomic_init(&shares[i].told, 0);
    }
}

/* Nobody reads meanwhile in kinds whose adders need the filter for themselves. */
static void add_at_once(share *shares, const tamis *f)
{
    pthread_t adders[ADDERS], readers[READERS];
    watch watches[READERS];
    atomic_bool is_over = false;
    pthread_barrier_t ready;
    int n_readers = tamis_kind_can(f->plan.kind) & TAMIS_CAN_READ_WHILE_ADD ? READERS : 0;

    assert_int_equal(pthread_barrier_init(&ready, NULL, ADDERS), 0);
    for (int i = 0; i < n_readers; i++) {
        watches[i] = (watch){ f, shares, &is_over, 0 };
        start(&readers[i], watch_shares, &watches[i]);
    }
    for (int i = 0; i < ADDERS; i++) {
        shares[i].start = &ready;
        start(&adders[i], add_share, &shares[i]);
    }
    join(adders, ADDERS);
    atomic_store(&is_over, true);
    join(readers, (size_t)n_readers);
    pthread_barrier_destroy(&ready);
    for (int i = 0; i < ADDERS; i++)
        assert_int_equal(shares[i].status, TAMIS_OK);
    for (int i = 0; i < n_readers; i++)
        assert_int_equal(watches[i].missing, 0);
}

/* What the shares hold together, added by one thread. */
static tamis *added_alone(const tamis_plan *plan, const share *shares)
{
    tamis *alone = new_filter(plan);

    for (int i = 0; i < ADDERS; i++)
        add_all(alone, shares[i].keys, shares[i].n);
    return alone;
}

static void add_from_threads(tamis *shared, size_t n)
{
    rng r = rng_for(400 + (uint64_t)shared->plan.kind, n);
    uint64_t *keys = universe_of(&shared->plan, &r, &n);
    share shares[ADDERS];

    cut(shares, shared, keys, n);
    add_at_once(shares, shared);
    for (int i = 0; i < ADDERS; i++)
        for (size_t j = 0; j < shares[i].n; j++)
            assert_true(tamis_has(shared, shares[i].keys[j]));
    tamis *alone = added_alone(&shared->plan, shares);
    assert_true(same_image(shared, alone));
    assert_true(is_whole(shared));
    tamis_free(alone);
    free(keys);
}

static void add_to_new_filter(tamis_kind kind, uint64_t capacity, size_t n)
{
    /* A key that two threads add may take twice the room. */
    bool takes_room = tamis_kind_can(kind) & TAMIS_CAN_COUNT && !is_sketch(kind);
    const tamis_plan plan = plan_of_sums(kind, takes_room ? 2 * n : capacity, 0.01, 6);
    tamis *f = new_filter(&plan);

    add_from_threads(f, n);
    tamis_free(f);
}

/* A filter with room for less than all says how many went in, to each thread; none is lost. */
static void adders_are_told_when_it_is_full(tamis_kind kind)
{
    const size_t n = scaled(20000);
    tamis_spec spec = spec_for(n, 0.01, 6);
    tamis_plan plan;
    uint64_t told = 0;

    if (is_never_full(kind))
        return;
    /* It could grow, but not while it is shared. */
    spec.can = tamis_kind_can(kind) & TAMIS_CAN_GROW;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    rng r = rng_for(400 + (uint64_t)kind, 7);
    uint64_t *keys = fresh_keys(&r, 2 * n);
    tamis *f = new_filter(&plan);
    share shares[ADDERS];
    pthread_t adders[ADDERS];
    pthread_barrier_t ready;

    assert_int_equal(pthread_barrier_init(&ready, NULL, ADDERS), 0);
    cut(shares, f, keys, 2 * n);
    for (int i = 0; i < ADDERS; i++) {
        shares[i].start = &ready;
        start(&adders[i], add_share, &shares[i]);
    }
    join(adders, ADDERS);
    pthread_barrier_destroy(&ready);
    for (int i = 0; i < ADDERS; i++) {
        size_t added = atomic_load(&shares[i].told);

        /* One thread may be done before there is no room. */
        assert_true(shares[i].status == TAMIS_FULL || added == shares[i].n);
        told += added;
        for (size_t j = 0; j < added; j++)
            assert_true(tamis_has(f, shares[i].keys[j]));
    }
    assert_true(told < 2 * n);
    assert_int_equal(info_of(f).count, told);
    assert_true(is_whole(f));
    tamis_free(f);
    free(keys);
}

/* In a filter of a few cache lines, two threads often want the same one, and what is lost is lost
 * in a few nanoseconds: hence the many rounds. */
static void adders_lose_nothing(tamis_kind kind)
{
    add_to_new_filter(kind, 1, 50);
    for (size_t i = 0; i < scaled(200); i++)
        add_to_new_filter(kind, 2000, 2000 + i);
    add_to_new_filter(kind, scaled(400000), scaled(400000));
}

/* Whichever thread comes first marks the file as dirty; none may start before that is done. */
static void adders_share_a_writable_map(tamis_kind kind)
{
    const tamis_plan plan = plan_for(kind, scaled(20000), 0.01, 7);

    for (int round = 0; round < 5; round++) {
        tamis *empty = new_filter(&plan), *map = NULL, *loaded = NULL;

        assert_int_equal(tamis_save(empty, temp_path()), TAMIS_OK);
        assert_int_equal(tamis_map(&map, temp_path(), TAMIS_MAP_WRITE, NULL), TAMIS_OK);
        add_from_threads(map, scaled(20000));
        assert_int_equal(tamis_sync(map), TAMIS_OK);
        assert_int_equal(tamis_load(&loaded, temp_path(), NULL), TAMIS_OK);
        assert_true(same_image(loaded, map));
        unlink(temp_path());
        tamis_free(loaded);
        tamis_free(map);
        tamis_free(empty);
    }
}

/* ---- Pairs ------------------------------------------------------------- */

/* The first half of the keys stays in all the time. */
typedef struct staying {
    const tamis *plain;
    const uint64_t *keys;
    size_t n;
    atomic_bool *is_over;
    size_t missing, rounds;
} staying;

static void *look_for_all(void *arg)
{
    staying *s = arg;
    uint64_t *hits = calloc(s->n / 64 + 1, sizeof *hits);

    do {
        s->missing += s->n - tamis_has_many(s->plain, hits, s->keys, s->n);
        for (size_t i = 0; i < s->n; i++)
            s->missing += !tamis_has(s->plain, s->keys[i]);
        s->rounds++;
    } while (!atomic_load(s->is_over));
    free(hits);
    return NULL;
}

static void come_and_go(tamis_pair *p, const uint64_t *keys, size_t n)
{
    for (size_t round = 0, done; round < scaled(200); round++) {
        size_t from = round % 7 * n / 14, here = n / 2;

        assert_int_equal(tamis_pair_add_many(p, &done, keys + from, here), TAMIS_OK);
        assert_int_equal(tamis_pair_remove_many(p, &done, keys + from, here), TAMIS_OK);
    }
}

/* Those that come and go share slots with those that stay. */
static void readers_of_a_pair_miss_nothing(tamis_kind kind)
{
    const size_t n = 2000;
    const tamis_plan plan = plan_for(kind, n / 2, 0.05, 8);
    rng r = rng_for(950 + (uint64_t)kind, 0);
    uint64_t *keys = fresh_keys(&r, 2 * n);
    tamis_pair *p = NULL;
    size_t added;
    atomic_bool is_over = false;
    pthread_t threads[READERS];
    staying readers[READERS];

    assert_int_equal(tamis_pair_new(&p, &plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_pair_add_many(p, &added, keys, n), TAMIS_OK);
    for (int i = 0; i < READERS; i++) {
        readers[i] = (staying){ tamis_pair_plain(p), keys, n, &is_over, 0, 0 };
        start(&threads[i], look_for_all, &readers[i]);
    }
    come_and_go(p, keys + n, n);
    atomic_store(&is_over, true);
    join(threads, READERS);
    for (int i = 0; i < READERS; i++)
        assert_true(readers[i].missing == 0 && readers[i].rounds > 0);
    tamis_pair_free(p);
    free(keys);
}

/* ---- Builders ---------------------------------------------------------- */

typedef struct feeding {
    tamis_builder *b;
    const uint64_t *keys;
    size_t n;
    size_t mistakes;
} feeding;

static void *feed(void *arg)
{
    feeding *x = arg;

    for (size_t at = 0, piece; at < x->n; at += piece) {
        piece = x->n - at < 700 ? x->n - at : 700;
        x->mistakes += tamis_builder_add_many(x->b, x->keys + at, piece) != TAMIS_OK;
    }
    return NULL;
}

/* Half of the keys come from two threads. */
static void feed_from_threads(tamis_builder *b, const uint64_t *keys, size_t n)
{
    pthread_t threads[ADDERS];
    feeding feedings[ADDERS];

    for (size_t i = 0; i < ADDERS; i++) {
        feedings[i] = (feeding){ b, keys + i * n / 5, n * 2 / 5, 0 };
        start(&threads[i], feed, &feedings[i]);
    }
    join(threads, ADDERS);
    for (size_t i = 0; i < ADDERS; i++)
        assert_int_equal(feedings[i].mistakes, 0);
}

/* In memory, and with a limit that sends the keys to a file. */
static void builders_lose_nothing(tamis_kind kind)
{
    const size_t n = 50000;
    tamis_spec spec = spec_for(0, 0.01, 5);
    const tamis_plan any = plan_for(kind, 2 * n, 0.01, 5);
    rng r = rng_for(900 + (uint64_t)kind, 1);
    size_t all = n;
    uint64_t *keys = universe_of(&any, &r, &all);
    /* Sketches take more room than their keys. */
    const uint64_t room = is_sketch(kind) ? 4 * any.bytes : 0;

    for (int limited = 0; limited <= 1; limited++) {
        const tamis_build_options o =
            TAMIS_BUILD_OPTIONS(.memory = limited ? room + (4 << 20) : 0, .threads = THREADS);
        tamis_builder *b = NULL;
        tamis *f = NULL;

        assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
        for (int i = 0; i < (limited ? 4 : 1); i++)
            feed_from_threads(b, keys, n);
        assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
        assert_true(holds_all(f, keys, n));
        tamis_builder_free(b);
        tamis_free(f);
    }
    free(keys);
}

/* Keys that are announced go into filters at once, which are merged in the end. A builder for one
 * thread has one, and threads wait for it. */
static void builders_that_take_keys_at_once_make_the_same_bytes(tamis_kind kind)
{
    size_t n = is_sanitized() ? 20000 : 200000;
    const tamis_plan plan = plan_for(kind, n, 0.01, 5);
    rng r = rng_for(970 + (uint64_t)kind, 1);
    uint64_t *keys = universe_of(&plan, &r, &n);
    tamis_spec spec = spec_for(plan.capacity, 0.01, 5);

    for (unsigned threads = 1; threads <= THREADS; threads += THREADS - 1) {
        const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = threads);
        tamis *alone = filter_of(&plan, keys, n / 5 * 3), *f = NULL;
        tamis_builder *b = NULL;

        add_all(alone, keys, n / 5 * 5);
        assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
        feed_from_threads(b, keys, n / 5 * 5);
        assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
        assert_true(same_image(f, alone));
        tamis_builder_free(b);
        tamis_free(alone);
        tamis_free(f);
    }
    free(keys);
}

static void same_bytes_on_threads(const tamis_plan *plan, const uint64_t *keys, size_t n)
{
    tamis *f = NULL;

    assert_int_equal(tamis_build(&f, plan, keys, n, NULL), TAMIS_OK);
    image_bytes alone = image_of(f);
    tamis_free(f);
    for (unsigned threads = is_sanitized() ? THREADS : 0; threads <= THREADS; threads++) {
        assert_int_equal(tamis_build_threads(&f, plan, keys, n, threads, NULL), TAMIS_OK);
        assert_true(is_image_of(&alone, f));
        tamis_free(f);
    }
    free_bytes(&alone);
}

/* The plan is for more keys than there are, so that these make two parts. */
static void builds_on_threads_give_the_same_bytes(tamis_kind kind)
{
    const tamis_plan plan = plan_for(kind, ((uint64_t)1 << 24) + 1, 0.5, 5);
    rng r = rng_for(950 + (uint64_t)kind, 1);
    size_t n = 30000;
    uint64_t *keys = universe_of(&plan, &r, &n);

    same_bytes_on_threads(&plan, keys, n);
    free(keys);
}

/* Threads share a part of more than 2^16 keys; of a ribbon, eight segments or more. Keys that are
 * repeated often make those that share give up, and one starts again. */
static void threads_that_share_a_part_make_the_same_bytes(tamis_kind kind)
{
    size_t n = kind == TAMIS_RIBBON || !is_sanitized() ? 1200000 : 70000;
    const tamis_plan plan = plan_for(kind, n, 0.5, 5);
    rng r = rng_for(960 + (uint64_t)kind, 1);
    uint64_t *keys = universe_of(&plan, &r, &n);

    same_bytes_on_threads(&plan, keys, n);
    for (size_t i = 70000 / 40; i < 70000; i++)
        keys[i] = keys[i - 70000 / 40];
    same_bytes_on_threads(&plan, keys, 70000);
    free(keys);
}

/* ---- Filters apart ----------------------------------------------------- */

typedef struct life {
    tamis_kind kind;
    uint64_t seed;
    size_t mistakes;
} life;

static void *live(void *arg)
{
    life *l = arg;
    tamis_spec spec = spec_for(1000, 0.01, l->seed);
    tamis_plan plan;
    tamis *f = NULL, *copy = NULL;
    uint64_t keys[1000];

    for (uint64_t i = 0; i < 1000; i++)
        keys[i] = i;
    for (int round = 0; round < 20; round++) {
        l->mistakes += tamis_plan_kind(&plan, l->kind, &spec) != TAMIS_OK ||
                       tamis_build(&f, &plan, keys, 1000, NULL) != TAMIS_OK ||
                       tamis_clone(&copy, f, NULL) != TAMIS_OK;
        if (l->mistakes)
            return NULL;
        for (uint64_t i = 0; i < 1000; i++)
            l->mistakes += !tamis_has(copy, i);
        tamis_free(f);
        tamis_free(copy);
    }
    return NULL;
}

/* There is no global state for them to meet in. */
static void filters_of_threads_share_nothing(tamis_kind kind)
{
    pthread_t threads[THREADS];
    life lives[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        lives[i] = (life){ kind, i % 2, 0 };
        start(&threads[i], live, &lives[i]);
    }
    join(threads, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(lives[i].mistakes, 0);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "readers do not disturb each other", readers_do_not_disturb_each_other,
          .can = TAMIS_CAN_BUILD },
        { "concurrent adders lose nothing", adders_lose_nothing,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_ADD_CONCURRENT },
        { "concurrent adders are told when it is full", adders_are_told_when_it_is_full,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_ADD_CONCURRENT },
        { "concurrent adders share a writable map", adders_share_a_writable_map,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_READ_WHILE_ADD },
        { "readers of a pair miss nothing", readers_of_a_pair_miss_nothing,
          .can = TAMIS_CAN_CONVERT | TAMIS_CAN_REMOVE },
        { "builders that threads feed lose nothing", builders_lose_nothing, .can = TAMIS_CAN_BUILD,
          .of_files = true },
        { "builders that take keys at once make the same bytes",
          builders_that_take_keys_at_once_make_the_same_bytes,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_READ_WHILE_ADD },
        { "builds on threads give the same bytes", builds_on_threads_give_the_same_bytes,
          .can = TAMIS_CAN_BUILD, .cannot = TAMIS_CAN_ADD, .of_files = true },
        { "threads that share a part make the same bytes",
          threads_that_share_a_part_make_the_same_bytes, .can = TAMIS_CAN_BUILD,
          .cannot = TAMIS_CAN_ADD },
        { "filters of threads share nothing", filters_of_threads_share_nothing,
          .can = TAMIS_CAN_BUILD },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
