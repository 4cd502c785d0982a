/* shared.c - filters for any number of threads, used by one: all that a filter of the kind does, it
 * does in parts. Threads are in thread/shared.c. */
#include "kinds.h"
#include "tamis_shared.h"

enum { THREADS = 4 };

/* Filters that hold keys in full are slow to fill. */
static size_t many(tamis_kind kind)
{
    return run_size(40000, 20000, 400000) / (counts_very_keys(kind) ? 2 : 1);
}

/* ---- What is looked at ------------------------------------------------- */

typedef struct scene {
    tamis_kind kind;
    tamis_shared *s;
    uint64_t *keys, *strangers; /* one array: strangers follow the keys */
    size_t n, n_strangers;
    double fpr; /* asked */
} scene;

static tamis_info told_by(const tamis_shared *s)
{
    tamis_info info = { .size = sizeof info };

    tamis_shared_get_info(s, &info);
    return info;
}

static tamis_shared *new_shared(tamis_kind kind, const tamis_spec *spec)
{
    tamis_shared *s = NULL;

    assert_int_equal(tamis_shared_new(&s, kind, spec, THREADS, NULL), TAMIS_OK);
    return s;
}

/* Planned for its keys, of which none is in yet. */
static scene scene_for(tamis_kind kind, double fpr)
{
    size_t n = many(kind), wanted = 2 * n;
    const tamis_spec spec = spec_for(is_indexed(kind) ? wanted : n, fpr, 5);
    const tamis_plan plan = plan_for(kind, spec.keys, fpr, 5);
    rng r = rng_for(700 + (uint64_t)kind, 0);
    scene c = { .kind = kind, .n = n, .fpr = fpr };

    c.keys = universe_of(&plan, &r, &wanted);
    c.strangers = c.keys + n;
    c.n_strangers = wanted - n;
    c.s = new_shared(kind, &spec);
    return c;
}

static void end_scene(scene *c)
{
    tamis_shared_free(c->s);
    free(c->keys);
}

static uint64_t *hits_of(const tamis_shared *s, const uint64_t *keys, size_t n, size_t *found)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits);

    *found = tamis_shared_has_many(s, hits, keys, n);
    return hits;
}

static void assert_finds(const tamis_shared *s, const uint64_t *keys, size_t n)
{
    size_t found;

    free(hits_of(s, keys, n, &found));
    assert_int_equal(found, n);
}

/* Half of them one by one. */
static void add_keys(tamis_shared *s, const uint64_t *keys, size_t n)
{
    size_t added;

    assert_int_equal(tamis_shared_add_many(s, &added, keys, n / 2), TAMIS_OK);
    assert_int_equal(added, n / 2);
    for (size_t i = n / 2; i < n; i++)
        assert_int_equal(tamis_shared_add(s, keys[i]), TAMIS_OK);
}

/* ---- Laws -------------------------------------------------------------- */

/* As many keys as planned find room, at the rate that was asked for. */
static void all_keys_fit_and_are_found(tamis_kind kind)
{
    scene c = scene_for(kind, 0.01);
    tamis_info info = told_by(c.s);
    size_t found, singly = 0;

    assert_true(info.plan.capacity >= c.n && info.count == 0);
    assert_int_equal(info.plan.kind, kind);
    add_keys(c.s, c.keys, c.n);
    assert_finds(c.s, c.keys, c.n);
    info = told_by(c.s);
    assert_true(info.count <= c.n && is_near(info.cardinality, (double)c.n, 0.05));
    assert_true(info.fpr <= 1.1 * c.fpr);
    uint64_t *hits = hits_of(c.s, c.strangers, c.n_strangers, &found);
    for (size_t i = 0; i < c.n_strangers; i++) {
        bool has = tamis_shared_has(c.s, c.strangers[i]);
        assert_int_equal(has, hits[i / 64] >> i % 64 & 1);
        singly += has;
    }
    assert_int_equal(found, singly);
    if (!binomial_fits(found, c.n_strangers, info.fpr))
        fail_msg("%zu of %zu strangers hit; told %.4g", found, c.n_strangers, info.fpr);
    free(hits);
    end_scene(&c);
}

/* Those that stay are found, whoever goes; those that left are found at the rate. */
static void removed_keys_go_and_others_stay(tamis_kind kind)
{
    scene c = scene_for(kind, 0.01);
    size_t found, gone = c.n / 2;

    add_keys(c.s, c.keys, c.n);
    uint64_t count = told_by(c.s).count;
    for (size_t i = 0; i < gone; i++)
        assert_int_equal(tamis_shared_remove(c.s, c.keys[i]), TAMIS_OK);
    assert_finds(c.s, c.keys + gone, c.n - gone);
    free(hits_of(c.s, c.keys, gone, &found));
    assert_true(found <= gone / 20);
    assert_true(told_by(c.s).count <= count - gone + gone / 20);
    if (is_exact(kind))
        assert_int_equal(tamis_shared_remove(c.s, c.keys[0]), TAMIS_ABSENT);
    end_scene(&c);
}

/* Every eighth key is added twice. */
static void counts_are_not_too_low(tamis_kind kind)
{
    scene c = scene_for(kind, 0.01);
    size_t n = c.n / 2, wrong = 0;

    add_keys(c.s, c.keys, n);
    for (size_t i = 0; i < n; i += 8)
        assert_int_equal(tamis_shared_add(c.s, c.keys[i]), TAMIS_OK);
    uint64_t ceiling = told_by(c.s).plan.ceiling;
    for (size_t i = 0; i < n; i++) {
        uint64_t least = i % 8 ? 1 : 2, count = tamis_shared_count(c.s, c.keys[i]);
        least = may_undercount(kind) ? 1 : least < ceiling ? least : ceiling;
        assert_true(count >= least);
        wrong += count != least;
    }
    if (!may_undercount(kind) && !is_sketch(kind))
        assert_true(wrong <= n / 20);
    end_scene(&c);
}

/* Where growth ends, a key is refused, and none is lost. */
static void growing_parts_lose_nothing(tamis_kind kind)
{
    size_t n = many(kind), in = 0;
    tamis_spec spec = spec_for(100, 0.01, 5);
    rng r = rng_for(720 + (uint64_t)kind, 0);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_status status = TAMIS_OK;

    spec.can = TAMIS_CAN_GROW;
    tamis_shared *s = new_shared(kind, &spec);
    uint64_t bytes = told_by(s).plan.bytes;
    while (in < n && !(status = tamis_shared_add(s, keys[in])))
        in++;
    assert_true(status == TAMIS_OK || status == TAMIS_FULL);
    assert_true(told_by(s).plan.bytes > bytes && in > n / 2);
    assert_finds(s, keys, in);
    tamis_shared_free(s);
    free(keys);
}

static void assert_same(const scene *c, const tamis_shared *copy)
{
    tamis_info a = told_by(c->s), b = told_by(copy);
    size_t n = c->n + c->n_strangers, found, same;
    uint64_t *hits = hits_of(c->s, c->keys, n, &found), *again = hits_of(copy, c->keys, n, &same);

    assert_int_equal(found, same);
    assert_memory_equal(hits, again, (n / 64 + 1) * sizeof *hits);
    assert_true(a.count == b.count && a.fpr == b.fpr && a.cardinality == b.cardinality);
    assert_int_equal(a.plan.bytes, b.plan.bytes);
    assert_int_equal(a.plan.capacity, b.plan.capacity);
    free(hits);
    free(again);
}

/* And what was loaded goes on as what was saved. */
static void saved_and_loaded_it_is_the_same(tamis_kind kind)
{
    scene c = scene_for(kind, 0.05);
    tamis_shared *copy = NULL;
    const char *path = temp_path();

    add_keys(c.s, c.keys, c.n / 2);
    assert_int_equal(tamis_shared_save(c.s, path), TAMIS_OK);
    assert_int_equal(tamis_shared_load(&copy, path, NULL), TAMIS_OK);
    unlink(path);
    assert_same(&c, copy);
    add_keys(c.s, c.keys + c.n / 2, c.n / 2);
    add_keys(copy, c.keys + c.n / 2, c.n / 2);
    assert_same(&c, copy);
    tamis_shared_free(copy);
    end_scene(&c);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "all keys fit in the parts and are found", all_keys_fit_and_are_found,
          .can = TAMIS_CAN_ADD },
        { "removed keys go and others stay in their parts", removed_keys_go_and_others_stay,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_REMOVE },
        { "counts of parts are not too low", counts_are_not_too_low,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_COUNT },
        { "growing parts lose nothing", growing_parts_lose_nothing,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_GROW },
        { "saved and loaded, parts are the same", saved_and_loaded_it_is_the_same,
          .can = TAMIS_CAN_ADD },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
