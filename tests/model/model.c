/* model.c - random operations on a filter and on an exact multiset beside it.
 *
 * What must hold after each step: no key of the multiset is missing; counts are not below the
 * truth; exact kinds tell the exact truth; whatever was refused changed no byte; the filter
 * verifies. In the middle of it the filter is cloned, written, read, saved, mapped, merged,
 * intersected, folded and rebuilt. No kind is named: abilities choose the operations. */
#include "kinds.h"

typedef struct world {
    tamis_plan plan;
    unsigned can;
    tamis *f;
    uint64_t *keys;   /* the universe, ascending */
    uint32_t *copies; /* how often each of its keys is held, at least */
    size_t universe;
    uint64_t distinct, total;
    bool is_set;     /* a key is held or not, however often it was added */
    bool is_diluted; /* an intersection left more in the filter than the keys account for */
    rng r;
} world;

/* ---- The multiset ------------------------------------------------------ */

static void learn(world *w, size_t i)
{
    w->distinct += w->copies[i] == 0;
    if (w->copies[i] == 0 || !w->is_set) {
        w->copies[i]++;
        w->total++;
    }
}

static void forget(world *w, size_t i)
{
    w->copies[i]--;
    w->total--;
    w->distinct -= w->copies[i] == 0;
}

static bool is_full(const world *w)
{
    return (w->is_set ? w->distinct : w->total) >= w->plan.capacity;
}

/* Only a key that needs room may be refused for want of it. */
static bool may_refuse(const world *w, size_t i)
{
    return is_full(w) && !(w->is_set && w->copies[i]);
}

static size_t pick(world *w)
{
    return rng_below(&w->r, w->universe);
}

/* Large filters are looked at as a whole from time to time, small ones always. */
static bool is_worth_a_look(world *w)
{
    return w->plan.bytes <= 8192 || rng_below(&w->r, w->plan.bytes / 256) == 0;
}

/* ---- What must hold ---------------------------------------------------- */

static void check_key(const world *w, size_t i)
{
    bool has = tamis_has(w->f, w->keys[i]);
    uint64_t count = tamis_count(w->f, w->keys[i]);

    if (w->copies[i])
        assert_true(has);
    if (w->can & TAMIS_IS_EXACT)
        assert_int_equal(has, w->copies[i] != 0);
    if (!(w->can & TAMIS_CAN_COUNT))
        assert_int_equal(count, has);
    else
        assert_true(count >= w->copies[i]);
}

static void check_all(const world *w)
{
    tamis_info info = tamis_describe(w->f);

    for (size_t i = 0; i < w->universe; i++)
        check_key(w, i);
    if (w->can & TAMIS_IS_EXACT)
        assert_true(info.count == w->distinct && info.cardinality == (double)w->distinct);
    else if (!w->is_diluted)
        assert_int_equal(info.count, w->total);
    assert_true(info.fill >= 0 && info.fill <= 1 && info.fpr >= 0 && info.fpr <= 1);
    assert_memory_equal(&info.plan, &w->plan, sizeof info.plan);
}

static void replace(world *w, tamis *by)
{
    assert_true(same_image(w->f, by));
    tamis_free(w->f);
    w->f = by;
}

/* ---- Operations on keys ------------------------------------------------ */

static void op_add(world *w)
{
    size_t i = pick(w);
    bool refusable = may_refuse(w, i), looked = refusable && is_worth_a_look(w);
    image_bytes before = looked ? image_of(w->f) : (image_bytes){ NULL, 0 };
    tamis_status status = tamis_add(w->f, w->keys[i]);

    if (status == TAMIS_OK) {
        learn(w, i);
        assert_true(!(w->can & TAMIS_IS_EXACT) || w->distinct <= w->plan.capacity);
    } else {
        assert_true(refusable);
        assert_int_equal(status, TAMIS_FULL);
        assert_true(!looked || is_image_of(&before, w->f));
    }
    free_bytes(&before);
    check_key(w, i);
}

static void op_remove(world *w)
{
    size_t i = pick(w);

    if (w->copies[i]) {
        assert_int_equal(tamis_remove(w->f, w->keys[i]), TAMIS_OK);
        forget(w, i);
    } else if (w->can & TAMIS_IS_EXACT) {
        bool looked = is_worth_a_look(w);
        image_bytes before = looked ? image_of(w->f) : (image_bytes){ NULL, 0 };

        assert_int_equal(tamis_remove(w->f, w->keys[i]), TAMIS_ABSENT);
        assert_true(!looked || is_image_of(&before, w->f));
        free_bytes(&before);
    }
    check_key(w, i);
}

static void op_query(world *w)
{
    check_key(w, pick(w));
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static const uint64_t *find(const world *w, uint64_t key)
{
    return bsearch(&key, w->keys, w->universe, sizeof key, by_value);
}

static void op_stranger(world *w)
{
    uint64_t key = rng_next(&w->r);
    bool has = tamis_has(w->f, key);

    if (w->can & TAMIS_IS_EXACT && !find(w, key))
        assert_false(has);
    assert_int_equal(tamis_count(w->f, key) != 0, has);
}

static void op_out_of_range(world *w)
{
    uint64_t key = w->plan.capacity + rng_below(&w->r, 100);
    bool looked = is_worth_a_look(w);
    image_bytes before = looked ? image_of(w->f) : (image_bytes){ NULL, 0 };

    assert_int_equal(tamis_add(w->f, key), TAMIS_RANGE);
    assert_false(tamis_has(w->f, key));
    assert_true(!looked || is_image_of(&before, w->f));
    free_bytes(&before);
}

/* ---- Operations on batches --------------------------------------------- */

enum { BATCH = 300 };

static size_t pick_batch(world *w, size_t *index, uint64_t *keys)
{
    size_t n = rng_below(&w->r, BATCH + 1);

    for (size_t i = 0; i < n; i++) {
        index[i] = pick(w);
        keys[i] = w->keys[index[i]];
    }
    return n;
}

static void op_has_many(world *w)
{
    size_t index[BATCH], found = 0;
    uint64_t keys[BATCH], hits[(BATCH + 63) / 64];
    size_t n = pick_batch(w, index, keys);
    size_t told = tamis_has_many(w->f, hits, keys, n);

    for (size_t i = 0; i < n; i++) {
        bool hit = hits[i / 64] >> i % 64 & 1;

        found += hit;
        assert_int_equal(hit, tamis_has(w->f, keys[i]));
        check_key(w, index[i]);
    }
    assert_int_equal(told, found);
}

typedef tamis_status add_batch(tamis *f, size_t *added, const uint64_t *keys, size_t n);

static void change_by_batch(world *w, add_batch *add)
{
    size_t index[BATCH], added = 0;
    uint64_t keys[BATCH] = { 0 };
    size_t n = pick_batch(w, index, keys);
    tamis_status status = add(w->f, &added, keys, n);

    assert_true(added <= n);
    for (size_t i = 0; i < added; i++)
        learn(w, index[i]);
    if (status) {
        assert_int_equal(status, TAMIS_FULL);
        assert_true(added < n && may_refuse(w, index[added]));
    } else {
        assert_int_equal(added, n);
    }
}

static void op_add_many(world *w)
{
    change_by_batch(w, tamis_add_many);
}

static void op_add_shared(world *w)
{
    change_by_batch(w, tamis_add_shared);
}

/* ---- Operations on two filters ----------------------------------------- */

/* A filter of the same plan with at most `max` random keys, told in `chosen`. */
static tamis *some_filter(world *w, uint32_t *chosen, size_t max)
{
    size_t n = max ? rng_below(&w->r, max + 1) : 0, used = 0;
    uint64_t *keys = array_of(n, sizeof *keys);

    for (size_t tries = 0; tries < n; tries++) {
        size_t i = pick(w);

        if (!chosen[i]) {
            chosen[i] = 1;
            keys[used++] = w->keys[i];
        }
    }
    tamis *g = filter_of(&w->plan, keys, used);
    free(keys);
    return g;
}

static size_t smaller(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

static bool union_fits(const world *w, const uint32_t *chosen)
{
    uint64_t more = 0;

    for (size_t i = 0; i < w->universe; i++)
        more += chosen[i] && !(w->is_set && w->copies[i]);
    return (w->is_set ? w->distinct : w->total) + more <= w->plan.capacity;
}

static void op_merge(world *w)
{
    uint32_t *chosen = array_of(w->universe, sizeof *chosen);
    tamis *g = some_filter(w, chosen, (smaller(w->plan.capacity, w->universe) + 3) / 4);
    image_bytes before = image_of(w->f);
    bool fits = union_fits(w, chosen);
    tamis_status status = tamis_merge(w->f, g);

    if (status == TAMIS_OK) {
        assert_true(fits || !(w->can & TAMIS_IS_EXACT));
        for (size_t i = 0; i < w->universe; i++)
            if (chosen[i])
                learn(w, i);
    } else {
        assert_int_equal(status, TAMIS_FULL);
        assert_false(fits);
        assert_true(is_image_of(&before, w->f));
    }
    free_bytes(&before);
    tamis_free(g);
    free(chosen);
}

/* With half of the keys held and a few more. */
static void op_intersect(world *w)
{
    uint32_t *chosen = array_of(w->universe, sizeof *chosen);
    tamis *g = some_filter(w, chosen, smaller(w->plan.capacity, w->universe));

    assert_int_equal(tamis_intersect(w->f, g), TAMIS_OK);
    for (size_t i = 0; i < w->universe; i++)
        while (w->copies[i] > chosen[i])
            forget(w, i);
    w->is_diluted = !(w->can & TAMIS_IS_EXACT);
    tamis_free(g);
    free(chosen);
}

/* ---- Operations on the whole filter ------------------------------------ */

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

    assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
    w->f = view;
    check_all(w);
    w->f = own;
    assert_true(is_whole(view) && is_image_of(&image, view));
    tamis_free(view);
    assert_int_equal(tamis_image_read(&copy, image.at, image.size, NULL), TAMIS_OK);
    replace(w, copy);
    free_bytes(&image);
}

static void op_file(world *w)
{
    tamis *copy = NULL, *map = NULL, *own = w->f;

    assert_int_equal(tamis_save(w->f, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_map(&map, temp_path(), 0, NULL), TAMIS_OK);
    w->f = map;
    check_all(w);
    w->f = own;
    assert_true(is_whole(map) && same_image(map, own));
    tamis_free(map);
    assert_int_equal(tamis_load(&copy, temp_path(), NULL), TAMIS_OK);
    assert_int_equal(unlink(temp_path()), 0);
    replace(w, copy);
}

static void op_fold(world *w)
{
    for (uint64_t by = 1; by <= 12; by++) {
        tamis *small = NULL;

        if (w->plan.slots % by)
            continue;
        assert_int_equal(tamis_fold(&small, w->f, by, NULL), TAMIS_OK);
        for (size_t i = 0; i < w->universe; i++)
            if (w->copies[i])
                assert_true(tamis_has(small, w->keys[i]));
        assert_true(is_whole(small));
        tamis_free(small);
    }
}

typedef struct roll {
    const world *w;
    uint64_t n;
} roll;

static bool call(void *ctx, uint64_t key, uint64_t count)
{
    roll *r = ctx;
    const uint64_t *at = find(r->w, key);

    r->n++;
    assert_non_null(at);
    assert_true(count >= r->w->copies[at - r->w->keys]);
    return true;
}

static void op_list(world *w)
{
    roll r = { w, 0 };

    assert_int_equal(tamis_list(w->f, call, &r), TAMIS_OK);
    assert_true(r.n >= w->distinct);
    if (w->can & TAMIS_IS_EXACT)
        assert_int_equal(r.n, w->distinct);
}

/* What is held, in another order: exact kinds, and those that only set bits, forget how they got
 * where they are. */
static void op_again(world *w)
{
    uint64_t *keys = array_of((size_t)w->total, sizeof *keys);
    size_t n = 0;

    for (size_t i = 0; i < w->universe; i++)
        for (uint32_t c = 0; c < w->copies[i]; c++)
            keys[n++] = w->keys[i];
    shuffle(&w->r, keys, n);
    tamis *again = filter_of(&w->plan, keys, n);
    if (w->can & (TAMIS_IS_EXACT | TAMIS_CAN_PATCH | TAMIS_CAN_RESIZE) && !w->is_diluted)
        assert_true(same_image(w->f, again));
    tamis_free(again);
    free(keys);
}

/* Also how kinds that cannot add change at all. */
static void op_build(world *w)
{
    memset(w->copies, 0, w->universe * sizeof *w->copies);
    tamis_free(w->f);
    w->f = some_filter(w, w->copies, smaller(w->plan.capacity, w->universe));
    w->distinct = w->total = 0;
    for (size_t i = 0; i < w->universe; i++)
        w->distinct += w->copies[i];
    w->total = w->distinct;
    w->is_diluted = false;
}

/* ---- Sequences --------------------------------------------------------- */

typedef struct operation {
    const char *name;
    void (*run)(world *w);
    unsigned weight; /* of 10000 */
    unsigned can;
    bool is_large; /* works on the whole filter */
} operation;

static const operation OPERATIONS[] = {
    { "add", op_add, 4500, TAMIS_CAN_ADD, false },
    { "query", op_query, 2000, 0, false },
    { "query a stranger", op_stranger, 1000, 0, false },
    { "remove", op_remove, 1500, TAMIS_CAN_REMOVE, false },
    { "out of range", op_out_of_range, 100, TAMIS_IS_INDEXED | TAMIS_CAN_ADD, false },
    { "has_many", op_has_many, 200, 0, false },
    { "add_many", op_add_many, 50, TAMIS_CAN_ADD, false },
    { "add_shared", op_add_shared, 50, TAMIS_CAN_SHARE, false },
    { "merge", op_merge, 60, TAMIS_CAN_MERGE, true },
    { "intersect", op_intersect, 20, TAMIS_CAN_INTERSECT, true },
    { "clone", op_clone, 60, 0, true },
    { "image", op_image, 60, 0, true },
    { "file", op_file, 1, 0, true },
    { "fold", op_fold, 10, TAMIS_CAN_FOLD, true },
    { "list", op_list, 60, TAMIS_CAN_LIST, true },
    { "build again", op_again, 60, TAMIS_CAN_BUILD, true },
    { "build", op_build, 20, TAMIS_CAN_BUILD, true },
};

enum { N_OPERATIONS = sizeof OPERATIONS / sizeof *OPERATIONS };

static const operation *pick_operation(world *w)
{
    for (;;) {
        const operation *o = &OPERATIONS[rng_below(&w->r, N_OPERATIONS)];

        if ((w->can & o->can) != o->can || rng_below(&w->r, 4500) >= o->weight)
            continue;
        if (!o->is_large || w->universe < 2000 || rng_below(&w->r, 64) == 0)
            return o;
    }
}

static world world_for(tamis_kind kind, uint64_t capacity, double fpr)
{
    world w = { .can = tamis_kind_can(kind), .r = rng_for(200 + (uint64_t)kind, capacity) };

    w.plan = plan_for(kind, capacity, fpr, rng_next(&w.r));
    w.is_set = (w.can & TAMIS_IS_EXACT) && !(w.can & TAMIS_CAN_COUNT);
    w.universe = (size_t)(capacity + capacity / 4 + 8);
    w.keys = universe_of(&w.plan, &w.r, &w.universe);
    qsort(w.keys, w.universe, sizeof *w.keys, by_value);
    w.copies = array_of(w.universe, sizeof *w.copies);
    w.f = new_filter(&w.plan);
    return w;
}

static void end(world *w)
{
    check_all(w);
    assert_true(is_whole(w->f));
    tamis_free(w->f);
    free(w->keys);
    free(w->copies);
}

static void run(tamis_kind kind, uint64_t capacity, double fpr, uint64_t steps)
{
    world w = world_for(kind, capacity, fpr);

    for (uint64_t step = 0; step < steps && w.universe; step++) {
        const operation *o = pick_operation(&w);

        snprintf(law_at, sizeof law_at, "capacity %llu, fpr %g, step %llu: %s",
                 (unsigned long long)capacity, fpr, (unsigned long long)step, o->name);
        o->run(&w);
        if (is_worth_a_look(&w))
            assert_true(is_whole(w.f));
        if (step % 64 == 0 && is_worth_a_look(&w))
            check_all(&w);
    }
    end(&w);
}

static void behaves_as_a_set_at_every_small_capacity(tamis_kind kind)
{
    const double fprs[] = { 0.01, 0.5, 0.1, 0.001, 0.0001 };

    for (uint64_t n = 0; n <= 300; n++)
        run(kind, n, fprs[n % 5], 100 + 4 * n);
}

/* Most of the steps on the largest are left to the plain run. */
static void behaves_as_a_set_at_large_capacities(tamis_kind kind)
{
    run(kind, 1000, 0.01, 100000);
    run(kind, 100000, 0.01, is_sanitized() ? 60000 : 400000);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "behaves as a set, small", behaves_as_a_set_at_every_small_capacity,
          .can = TAMIS_CAN_BUILD },
        { "behaves as a set, large", behaves_as_a_set_at_large_capacities, .can = TAMIS_CAN_BUILD },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
