/* values.c - random operations on a map and on an exact model beside it: puts, updates, gets,
 * removes, batches, unions, copies, files and growth. A million operations, ten in the long run. No
 * kind is named: these are the laws of kinds that can put. */
#include "kinds.h"
#include "tamis_values.h"

/* What the map must hold: a value for each key of the universe that is there. */
typedef struct world {
    tamis *f;
    uint64_t *keys, *values;
    bool *held;
    size_t universe, n;
    rng r;
} world;

static size_t pick(world *w)
{
    return (size_t)rng_below(&w->r, w->universe);
}

/* Few values, so that an old one may be right by chance, and many; zero among them. */
static uint64_t some_value(world *w)
{
    return rng_below(&w->r, 2) ? rng_below(&w->r, 3) : rng_next(&w->r);
}

static void learn(world *w, size_t i, uint64_t value)
{
    w->n += !w->held[i];
    w->held[i] = true;
    w->values[i] = value;
}

static void forget(world *w, size_t i)
{
    w->n -= w->held[i];
    w->held[i] = false;
    w->values[i] = 0;
}

static void check_key(const world *w, size_t i)
{
    uint64_t value = 1;

    assert_int_equal(tamis_has(w->f, w->keys[i]), w->held[i]);
    assert_int_equal(tamis_get(w->f, &value, w->keys[i]), w->held[i]);
    assert_int_equal(value, w->values[i]);
}

static void check_all(const world *w)
{
    for (size_t i = 0; i < w->universe; i++)
        check_key(w, i);
    assert_int_equal(info_of(w->f).count, w->n);
    assert_true(is_whole(w->f));
    assert_true(tamis_plan_of(w->f)->capacity >= w->n);
}

/* ---- Operations -------------------------------------------------------- */

static void op_put(world *w)
{
    size_t i = pick(w);
    uint64_t value = some_value(w);

    assert_int_equal(tamis_put(w->f, w->keys[i], value), TAMIS_OK);
    learn(w, i, value);
    check_key(w, i);
}

static void op_get(world *w)
{
    check_key(w, pick(w));
}

static void op_stranger(world *w)
{
    uint64_t value;

    assert_false(tamis_get(w->f, &value, rng_next(&w->r)));
}

static void op_remove(world *w)
{
    size_t i = pick(w);

    assert_int_equal(tamis_remove(w->f, w->keys[i]), w->held[i] ? TAMIS_OK : TAMIS_ABSENT);
    forget(w, i);
    check_key(w, i);
}

enum { BATCH = 300 };

static void op_put_many(world *w)
{
    uint64_t keys[BATCH] = { 0 }, values[BATCH] = { 0 };
    size_t n = (size_t)rng_below(&w->r, BATCH + 1), done = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = pick(w);
        keys[i] = w->keys[at];
        values[i] = some_value(w);
        learn(w, at, values[i]);
    }
    assert_int_equal(tamis_put_many(w->f, &done, keys, values, n), TAMIS_OK);
    assert_int_equal(done, n);
}

static void op_get_many(world *w)
{
    uint64_t keys[BATCH] = { 0 }, values[BATCH], hits[BATCH / 64 + 1];
    size_t at[BATCH], n = (size_t)rng_below(&w->r, BATCH + 1), held = 0;

    for (size_t i = 0; i < n; i++) {
        at[i] = pick(w);
        keys[i] = w->keys[at[i]];
        held += w->held[at[i]];
    }
    assert_int_equal(tamis_get_many(w->f, values, hits, keys, n), held);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(hits[i / 64] >> i % 64 & 1, w->held[at[i]]);
        assert_int_equal(values[i], w->values[at[i]]);
    }
}

static void op_remove_many(world *w)
{
    uint64_t keys[BATCH] = { 0 };
    size_t n = (size_t)rng_below(&w->r, BATCH / 4), there = 0, removed = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = pick(w);
        keys[i] = w->keys[at];
        there += w->held[at];
        forget(w, at);
    }
    tamis_status status = tamis_remove_many(w->f, &removed, keys, n);
    assert_int_equal(status, there == n ? TAMIS_OK : TAMIS_ABSENT);
    assert_int_equal(removed, there);
}

/* Another map, of another size, with some of the universe. */
static world other_world(world *w)
{
    world other = { .keys = w->keys, .universe = w->universe, .r = rng_for(41, rng_next(&w->r)) };
    uint64_t room = rng_below(&w->r, 2) ? tamis_plan_of(w->f)->capacity : rng_below(&w->r, 50);
    tamis_plan plan = plan_for(tamis_plan_of(w->f)->kind, room, 0, 5);

    other.f = new_filter(&plan);
    other.values = array_of(w->universe, sizeof *other.values);
    other.held = array_of(w->universe, sizeof *other.held);
    for (uint64_t n = rng_below(&w->r, w->universe / 4 + 2); n > 0; n--)
        op_put(&other);
    return other;
}

static void combine(world *w, tamis_operation op)
{
    world other = other_world(w);

    assert_int_equal(tamis_combine(w->f, op, other.f), TAMIS_OK);
    for (size_t i = 0; i < w->universe; i++)
        if (op == TAMIS_MERGE && other.held[i])
            learn(w, i, other.values[i]);
        else if (op != TAMIS_MERGE && other.held[i] != (op == TAMIS_INTERSECT))
            forget(w, i);
    check_all(w);
    tamis_free(other.f);
    free(other.values);
    free(other.held);
}

static void op_merge(world *w)
{
    combine(w, TAMIS_MERGE);
}

static void op_intersect(world *w)
{
    combine(w, TAMIS_INTERSECT);
}

static void op_subtract(world *w)
{
    combine(w, TAMIS_SUBTRACT);
}

static void replace(world *w, tamis *by)
{
    assert_true(same_image(w->f, by));
    tamis_free(w->f);
    w->f = by;
    check_all(w);
}

static void op_clone(world *w)
{
    tamis *copy = NULL;

    assert_int_equal(tamis_clone(&copy, w->f, NULL), TAMIS_OK);
    replace(w, copy);
}

static void op_image(world *w)
{
    image_bytes image = image_of(w->f);
    tamis *copy = NULL, *view = NULL, *own = w->f;
    size_t done;

    assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
    w->f = view;
    check_all(w);
    assert_int_equal(tamis_put(view, 1, 1), TAMIS_READONLY);
    assert_int_equal(tamis_put_many(view, &done, w->keys, w->keys, 1), TAMIS_READONLY);
    w->f = own;
    tamis_free(view);
    assert_int_equal(tamis_image_read(&copy, image.at, image.size, NULL), TAMIS_OK);
    replace(w, copy);
    free_bytes(&image);
}

static void op_file(world *w)
{
    tamis *copy = NULL;

    assert_int_equal(tamis_save(w->f, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_load(&copy, temp_path(), NULL), TAMIS_OK);
    assert_int_equal(unlink(temp_path()), 0);
    replace(w, copy);
}

typedef struct roll {
    const world *w;
    uint64_t n, sum;
} roll;

static bool call(void *ctx, uint64_t key, uint64_t value)
{
    roll *r = ctx;
    uint64_t told;

    assert_true(tamis_get(r->w->f, &told, key));
    assert_int_equal(told, value);
    r->n++;
    r->sum += value;
    return true;
}

/* Each pair once: as many as there are, with the sum that theirs is. */
static void op_list(world *w)
{
    roll r = { .w = w };
    uint64_t sum = 0;

    for (size_t i = 0; i < w->universe; i++)
        sum += w->values[i];
    assert_int_equal(tamis_list_values(w->f, call, &r), TAMIS_OK);
    assert_int_equal(r.n, w->n);
    assert_int_equal(r.sum, sum);
}

/* The same pairs in another order give the same bytes. */
static void op_again(world *w)
{
    size_t n = 0, done;
    uint64_t *keys = array_of(w->n + 1, sizeof *keys), *values = array_of(w->n + 1, sizeof *values);
    tamis *again = new_filter(tamis_plan_of(w->f));

    for (size_t i = w->universe; i-- > 0;)
        if (w->held[i]) {
            keys[n] = w->keys[i];
            values[n++] = w->values[i];
        }
    assert_int_equal(tamis_put_many(again, &done, keys, values, n), TAMIS_OK);
    replace(w, again);
    free(keys);
    free(values);
}

/* ---- Sequences --------------------------------------------------------- */

typedef struct operation {
    const char *name;
    void (*run)(world *w);
    unsigned weight; /* of the sum of all */
    bool is_large;   /* works on the whole map: the rarer the larger that is */
} operation;

static const operation OPERATIONS[] = {
    { "put", op_put, 4000, false },
    { "get", op_get, 2000, false },
    { "get a stranger", op_stranger, 500, false },
    { "remove", op_remove, 2500, false },
    { "put_many", op_put_many, 20, false },
    { "get_many", op_get_many, 20, false },
    { "remove_many", op_remove_many, 60, false },
    { "merge", op_merge, 20, true },
    { "intersect", op_intersect, 10, true },
    { "subtract", op_subtract, 10, true },
    { "clone", op_clone, 10, true },
    { "image", op_image, 20, true },
    { "file", op_file, 1, true },
    { "list", op_list, 20, true },
    { "build again", op_again, 20, true },
};

enum { N_OPERATIONS = sizeof OPERATIONS / sizeof *OPERATIONS, MOST_WEIGHT = 4000 };

static const operation *pick_operation(world *w)
{
    for (;;) {
        const operation *o = &OPERATIONS[rng_below(&w->r, N_OPERATIONS)];

        if (rng_below(&w->r, MOST_WEIGHT) < o->weight &&
            (!o->is_large || rng_below(&w->r, w->universe / 16 + 1) == 0))
            return o;
    }
}

static void run(tamis_kind kind, size_t universe, uint64_t room, uint64_t steps)
{
    tamis_plan plan = plan_for(kind, room, 0, 5);
    world w = { .f = new_filter(&plan), .universe = universe, .r = rng_for(40, universe) };

    w.keys = universe_of(&plan, &w.r, &w.universe);
    w.values = array_of(w.universe, sizeof *w.values);
    w.held = array_of(w.universe, sizeof *w.held);
    for (uint64_t step = 0; step < steps; step++) {
        const operation *o = pick_operation(&w);

        snprintf(law_at, sizeof law_at, "universe %zu, step %llu: %s", universe,
                 (unsigned long long)step, o->name);
        o->run(&w);
        if (universe <= 100)
            assert_true(is_whole(w.f));
    }
    check_all(&w);
    tamis_free(w.f);
    free(w.keys);
    free(w.values);
    free(w.held);
}

/* From maps of a key or two, where all goes around the end, to some thousand; planned for nothing,
 * or for all. */
static void behaves_as_a_map(tamis_kind kind)
{
    const size_t universes[] = { 1, 2, 3, 5, 8, 13, 30, 100, 1000, 10000 };
    const uint64_t steps = run_size(1000000, 200000, 10000000) / 20;

    for (int i = 0; i < 10; i++) {
        run(kind, universes[i], 0, steps);
        run(kind, universes[i], universes[i], steps);
    }
}

int main(int argc, char **argv)
{
    const law laws[] = { { "behaves as a map", behaves_as_a_map, .can = TAMIS_CAN_PUT } };

    test_begin(argc, argv);
    return check_laws_of_all(laws, 1);
}
