/* shared.c - filters that many threads change and ask. Each thread has keys of its own, so that it
 * knows what must be found. Made to be run under ThreadSanitizer as well; threads count mistakes,
 * as in thread.c. */
#include <pthread.h>
#include <stdatomic.h>

#include "kinds.h"
#include "tamis_shared.h"

enum { MOST_THREADS = 16, STEP = 100 };

static size_t keys_of_each(tamis_kind kind)
{
    return run_size(3000, 600, 30000) / (counts_very_keys(kind) ? 2 : 1);
}

typedef struct user {
    tamis_shared *s;
    const uint64_t *keys, *strangers; /* n each */
    size_t n;
    size_t in; /* keys from gone to in are there */
    size_t gone;
    size_t mistakes, found; /* of strangers */
    bool can_remove;
    tamis_status status;
} user;

static void add_some(user *u)
{
    size_t added;

    u->status = tamis_shared_add_many(u->s, &added, u->keys + u->in, STEP / 2);
    u->mistakes += u->status ? 0 : added != STEP / 2;
    u->in += STEP / 2;
    for (size_t i = 0; i < STEP / 2 && !u->status; i++)
        u->status = tamis_shared_add(u->s, u->keys[u->in++]);
}

/* Half of what came last goes again. */
static void remove_some(user *u)
{
    for (size_t i = 0; i < STEP / 2; i++)
        u->mistakes += tamis_shared_remove(u->s, u->keys[u->gone++]) != TAMIS_OK;
}

static void look_for_all(user *u)
{
    uint64_t hits[STEP / 64 + 1];

    for (size_t i = u->gone; i + STEP <= u->in; i += STEP)
        u->mistakes += STEP - tamis_shared_has_many(u->s, hits, u->keys + i, STEP);
    for (size_t i = u->gone; i < u->in; i += 7) {
        u->mistakes += !tamis_shared_has(u->s, u->keys[i]);
        u->mistakes += tamis_shared_count(u->s, u->keys[i]) == 0;
    }
    u->found += tamis_shared_has_many(u->s, hits, u->strangers + u->in - STEP, STEP);
}

static void *use(void *arg)
{
    user *u = arg;

    while (u->in + STEP <= u->n) {
        add_some(u);
        if (u->status)
            return NULL;
        look_for_all(u);
        if (u->can_remove)
            remove_some(u);
    }
    return NULL;
}

static tamis_shared *new_shared(tamis_kind kind, uint64_t keys, unsigned threads, unsigned can)
{
    tamis_spec spec = spec_for(keys, 0.01, 3);
    tamis_shared *s = NULL;

    spec.can = can;
    assert_int_equal(tamis_shared_new(&s, kind, &spec, threads, NULL), TAMIS_OK);
    return s;
}

static void start_users(pthread_t *threads, user *users, const user *like, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        users[i] = *like;
        users[i].keys += i * like->n;
        users[i].strangers += i * like->n;
        assert_int_equal(pthread_create(&threads[i], NULL, use, &users[i]), 0);
    }
}

static void join(pthread_t *threads, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void assert_no_mistakes(const user *users, unsigned n)
{
    size_t found = 0, asked = 0;

    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(users[i].status, TAMIS_OK);
        assert_int_equal(users[i].mistakes, 0);
        found += users[i].found;
        asked += users[i].in;
    }
    assert_true(found <= asked / 10);
}

/* Some parts, or a single one in small filters that do not grow: all threads meet there. */
static void share(tamis_kind kind, unsigned threads, unsigned can)
{
    const size_t each = keys_of_each(kind), all = each * threads;
    const uint64_t planned = can & TAMIS_CAN_GROW ? all / 8 : is_indexed(kind) ? 2 * all : all;
    const tamis_plan plan = plan_for(kind, is_indexed(kind) ? 2 * all : all, 0.01, 3);
    rng r = rng_for(970 + (uint64_t)kind, threads);
    size_t n = 2 * all;
    uint64_t *keys = universe_of(&plan, &r, &n);
    pthread_t ids[MOST_THREADS];
    user users[MOST_THREADS];
    tamis_shared *s = new_shared(kind, planned, threads == 2 ? 1 : 2, can);
    const user like = { .s = s,
                        .keys = keys,
                        .strangers = keys + all,
                        .n = each,
                        .can_remove = tamis_kind_can(kind) & TAMIS_CAN_REMOVE };

    start_users(ids, users, &like, threads);
    join(ids, threads);
    assert_no_mistakes(users, threads);
    tamis_shared_free(s);
    free(keys);
}

static void threads_find_what_they_added(tamis_kind kind)
{
    share(kind, 2, 0);
    share(kind, 16, 0);
}

static void threads_find_what_they_added_while_it_grows(tamis_kind kind)
{
    share(kind, 2, TAMIS_CAN_GROW);
    share(kind, 16, TAMIS_CAN_GROW);
}

/* ---- Files ------------------------------------------------------------- */

/* Told after each add: what was in before a save is in its file. */
typedef struct adder {
    tamis_shared *s;
    const uint64_t *keys;
    size_t n;
    atomic_size_t told;
    size_t mistakes;
} adder;

static void *add_one_by_one(void *arg)
{
    adder *a = arg;

    for (size_t i = 0; i < a->n; i++) {
        a->mistakes += tamis_shared_add(a->s, a->keys[i]) != TAMIS_OK;
        atomic_store_explicit(&a->told, i + 1, memory_order_release);
    }
    return NULL;
}

static void assert_saved(const tamis_shared *s, const adder *adders, unsigned n)
{
    size_t before[4];
    tamis_shared *copy = NULL;

    for (unsigned i = 0; i < n; i++)
        before[i] = atomic_load_explicit(&adders[i].told, memory_order_acquire);
    assert_int_equal(tamis_shared_save(s, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_shared_load(&copy, temp_path(), NULL), TAMIS_OK);
    for (unsigned i = 0; i < n; i++)
        for (size_t j = 0; j < before[i]; j++)
            assert_true(tamis_shared_has(copy, adders[i].keys[j]));
    tamis_shared_free(copy);
}

static void a_save_has_what_was_there_before(tamis_kind kind)
{
    enum { ADDERS = 4 };
    const size_t each = keys_of_each(kind);
    rng r = rng_for(980 + (uint64_t)kind, 0);
    uint64_t *keys = fresh_keys(&r, ADDERS * each);
    tamis_shared *s = new_shared(kind, 100, 1, TAMIS_CAN_GROW);
    pthread_t threads[ADDERS];
    adder adders[ADDERS];

    for (unsigned i = 0; i < ADDERS; i++) {
        adders[i] = (adder){ .s = s, .keys = keys + i * each, .n = each };
        assert_int_equal(pthread_create(&threads[i], NULL, add_one_by_one, &adders[i]), 0);
    }
    for (int i = 0; i < 5; i++)
        assert_saved(s, adders, ADDERS);
    join(threads, ADDERS);
    assert_saved(s, adders, ADDERS);
    for (unsigned i = 0; i < ADDERS; i++)
        assert_int_equal(adders[i].mistakes, 0);
    unlink(temp_path());
    tamis_shared_free(s);
    free(keys);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "threads find what they added", threads_find_what_they_added, .can = TAMIS_CAN_ADD },
        { "threads find what they added while it grows",
          threads_find_what_they_added_while_it_grows, .can = TAMIS_CAN_ADD | TAMIS_CAN_GROW },
        { "a save has what was there before", a_save_has_what_was_there_before,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_GROW },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
