/* sizes.c - filters of fingerprints in other sizes: resized, grown, merged and multiplied with
 * those of another size. No kind is named. */
#include "base/bits.h"
#include "core/order.h"
#include "model/ground.h"

static void resize(tamis *f, uint64_t keys)
{
    assert_int_equal(tamis_resize(f, keys), TAMIS_OK);
    assert_true(is_whole(f));
    assert_true(tamis_plan_of(f)->capacity >= keys);
}

static uint64_t range_of(const tamis *f)
{
    return tamis_plan_of(f)->slots << tamis_plan_of(f)->width;
}

static tamis *cloned(const tamis *f)
{
    tamis *copy = NULL;

    assert_int_equal(tamis_clone(&copy, f, NULL), TAMIS_OK);
    return copy;
}

/* ---- Resizing ---------------------------------------------------------- */

/* As long as there are bits, each size is the filter that would have been built at that size. */
static void resizing_is_building(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    uint64_t range = range_of(f);

    for (uint64_t keys = g->plan.capacity; tamis_resize(f, keys) == TAMIS_OK; keys = 2 * keys + 1) {
        tamis *built = filter_of(tamis_plan_of(f), g->keys, g->n);

        assert_true(same_image(f, built) && is_whole(f));
        assert_same_answers(f, built, g->keys, g->n + g->n_strangers);
        if (tells_keys_apart(g->plan.kind))
            assert_int_equal(tamis_plan_of(f)->width, g->plan.width);
        else
            assert_int_equal(range_of(f), range);
        assert_true(tells_keys_apart(g->plan.kind) ||
                    is_near(tamis_plan_rate(tamis_plan_of(f), g->n),
                            tamis_plan_rate(&g->plan, g->n), 1e-9));
        tamis_free(built);
        if (keys > 20 * g->plan.capacity + 20)
            break;
    }
    tamis_free(f);
}

static void halving_undoes_doubling(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *h = cloned(f);
    uint64_t c = g->plan.capacity;

    if (tamis_resize(h, 2 * c + 1) == TAMIS_OK) {
        assert_true(c == 0 || tamis_plan_of(h)->slots >= g->plan.slots);
        resize(h, c);
        assert_true(same_image(f, h));
    }
    if (tamis_resize(h, 6 * c + 7) == TAMIS_OK) {
        resize(h, c);
        assert_true(same_image(f, h));
    }
    tamis_free(f);
    tamis_free(h);
}

/* Sizes that hold too little, or have no bit for, change nothing. */
static void sizes_that_do_not_fit_are_refused(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    uint64_t used = tamis__order_used(f);
    image_bytes before = image_of(f);

    if (used > 0)
        assert_int_equal(tamis_resize(f, used - 1), TAMIS_FULL);
    if (used > 1)
        assert_int_equal(tamis_resize(f, 0), TAMIS_FULL);
    assert_int_equal(tamis_resize(f, UINT64_MAX), TAMIS_RANGE);
    assert_int_equal(tamis_resize(f, UINT64_C(1) << 62), TAMIS_RANGE);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
}

static void empty_filters_have_sizes(ground *g)
{
    tamis *f = new_filter(&g->plan), *h = new_filter(&g->plan), *out = NULL;
    const tamis *const both[] = { f, h, f };
    uint64_t product = 99;

    assert_int_equal(tamis_combine(f, TAMIS_MERGE, h), TAMIS_OK);
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, f), TAMIS_OK);
    assert_true(same_image(f, h));
    assert_int_equal(tamis_dot(f, &product, h), TAMIS_OK);
    assert_int_equal(product, 0);
    assert_int_equal(tamis_merge_many(&out, both, 3, NULL), TAMIS_OK);
    assert_true(same_image(out, h));
    if (tamis_resize(f, 2 * g->plan.capacity + 1) == TAMIS_OK) {
        assert_true(is_whole(f) && info_of(f).count == 0);
        resize(f, 0);
        assert_true(is_whole(f) && info_of(f).count == 0);
        assert_int_equal(tamis_combine(h, TAMIS_MERGE, f), TAMIS_OK);
        assert_true(same_image(out, h));
    }
    tamis_free(f);
    tamis_free(h);
    tamis_free(out);
}

static void views_keep_their_size(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n / 2), *view = NULL, *out = NULL;
    image_bytes image = image_of(f);

    assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
    const tamis *const both[] = { view, view };
    assert_int_equal(tamis_resize(view, 2 * g->n), TAMIS_READONLY);
    assert_int_equal(tamis_combine(view, TAMIS_MERGE, f), TAMIS_READONLY);
    assert_int_equal(tamis_add_times(view, g->keys[0], 2), TAMIS_READONLY);
    assert_int_equal(tamis_remove_times(view, g->keys[0], 1), TAMIS_READONLY);
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, f), TAMIS_OK);
    assert_int_equal(tamis_merge_many(&out, both, 2, NULL), TAMIS_OK);
    assert_same_answers(f, out, g->keys, g->n + g->n_strangers);
    free_bytes(&image);
    tamis_free(view);
    tamis_free(out);
    tamis_free(f);
}

/* ---- Unions and products ----------------------------------------------- */

enum { PARTS = 9 };

/* One part holds nothing, one a single key, others a share, some of them twice; every other one is
 * of another size. */
static void make_parts(tamis **parts, const ground *g)
{
    size_t share = g->n / PARTS;

    for (size_t i = 0; i < PARTS; i++) {
        size_t n = i == 0 ? 0 : i == 1 && g->n ? 1 : share;

        parts[i] = filter_of(&g->plan, g->keys + (i / 2) * share, n);
        if (i % 2)
            (void)!tamis_resize(parts[i], i == 3 ? n : 3 * g->plan.capacity + 1);
    }
}

static void add_parts(tamis *f, const ground *g)
{
    size_t share = g->n / PARTS;

    for (size_t i = 0; i < PARTS; i++)
        add_all(f, g->keys + (i / 2) * share, i == 0 ? 0 : i == 1 && g->n ? 1 : share);
}

static void merge_many_is_adding_all(ground *g)
{
    tamis *parts[PARTS], *out = NULL, *one = NULL;

    make_parts(parts, g);
    const tamis *const *all = (const tamis *const *)parts;
    assert_int_equal(tamis_merge_many(&out, all, PARTS, NULL), TAMIS_OK);
    tamis *added = new_filter(tamis_plan_of(out));
    add_parts(added, g);
    assert_true(same_image(out, added) && is_whole(out));
    assert_int_equal(tamis_merge_many(&one, all + 4, 1, NULL), TAMIS_OK);
    assert_true(same_image(one, parts[4]));
    for (size_t i = 0; i < PARTS; i++)
        tamis_free(parts[i]);
    tamis_free(one);
    tamis_free(out);
    tamis_free(added);
}

/* More than one of them has room for, in a filter of twice the size or larger. */
static void merge_many_makes_room(ground *g)
{
    size_t m = g->n_strangers;
    tamis *a = filter_of(&g->plan, g->keys, g->n), *b = filter_of(&g->plan, g->strangers, m);
    const tamis *const both[] = { a, b };
    tamis *out = a;
    tamis_status status = tamis_merge_many(&out, both, 2, NULL);

    if (status == TAMIS_OK) {
        assert_true(is_whole(out));
        assert_holds(out, g->keys, g->n + m);
        assert_int_equal(info_of(out).count, g->n + m);
        assert_true(tamis__order_used(out) <= tamis_plan_of(out)->capacity);
        tamis_free(out);
    } else {
        assert_int_equal(status, TAMIS_FULL);
        assert_true(out == a && tamis_resize(a, g->n + m) == TAMIS_RANGE);
    }
    tamis_free(a);
    tamis_free(b);
}

static void filters_of_other_sizes_merge(ground *g)
{
    size_t half = g->n / 2;
    tamis *all = filter_of(&g->plan, g->keys, g->n);
    tamis *a = filter_of(&g->plan, g->keys, half);
    tamis *b = filter_of(&g->plan, g->keys + half, g->n - half);

    if (tamis_resize(b, 4 * g->plan.capacity + 3) == TAMIS_OK) {
        assert_int_equal(tamis_combine(a, TAMIS_MERGE, b), TAMIS_OK);
        assert_true(same_image(a, all));
    }
    tamis_free(a);
    tamis_free(b);
    tamis_free(all);
}

static void merging_with_itself_doubles(ground *g)
{
    size_t n = g->n / 2;
    tamis *f = filter_of(&g->plan, g->keys, n), *twice = filter_of(&g->plan, g->keys, n);

    add_all(twice, g->keys, n);
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, f), TAMIS_OK);
    assert_true(same_image(f, twice));
    tamis_free(f);
    tamis_free(twice);
}

/* Key i has i % 3 copies in one and 1 in the other, or none. */
static void dot_is_a_sum_of_products(ground *g)
{
    tamis *a = new_filter(&g->plan), *b = new_filter(&g->plan);
    uint64_t product = 0, expected = 0, other = 0;
    size_t n = g->n / 2;

    for (size_t i = 0; i < n; i++) {
        if (i % 3 && i < n / 2)
            assert_int_equal(tamis_add_times(a, g->keys[i], i % 3), TAMIS_OK);
        if (i % 5)
            assert_int_equal(tamis_add(b, g->keys[i]), TAMIS_OK);
    }
    /* Summed over the keys of one: those with a fingerprint in common count together. */
    for (size_t i = 0; i < n; i++)
        expected += i % 5 == 0                        ? 0
                    : !tells_keys_apart(g->plan.kind) ? tamis_count(a, g->keys[i])
                    : i < n / 2                       ? i % 3
                                                      : 0;
    assert_int_equal(tamis_dot(a, &product, b), TAMIS_OK);
    assert_int_equal(product, expected);
    (void)!tamis_resize(b, 2 * g->plan.capacity + 1);
    assert_int_equal(tamis_dot(b, &other, a), TAMIS_OK);
    assert_int_equal(product, other);
    tamis_free(a);
    tamis_free(b);
}

static void dot_ends_at_the_largest_number(ground *g)
{
    tamis *f = new_filter(&g->plan);
    uint64_t product = 0, many = UINT64_C(1) << 33;

    if (g->n >= 100 && tamis_add_times(f, g->keys[0], many) == TAMIS_OK) {
        assert_int_equal(tamis_dot(f, &product, f), TAMIS_OK);
        assert_true(product == UINT64_MAX);
        assert_int_equal(tamis_remove_times(f, g->keys[0], many / 2 + 1), TAMIS_OK);
        assert_int_equal(tamis_dot(f, &product, f), TAMIS_OK);
        assert_true(product == (many / 2 - 1) * (many / 2 - 1));
    }
    tamis_free(f);
}

/* ---- Growing ----------------------------------------------------------- */

enum { FEW = 100, MANY = 100000, STRANGERS = 1000000 };

static void assert_rate_kept(const tamis *f, const tamis_plan *first, rng *r)
{
    bool is_whole_hash = tells_keys_apart(first->kind);
    double planned = tamis_plan_rate(is_whole_hash ? tamis_plan_of(f) : first, MANY);
    double told = info_of(f).fpr;
    uint64_t hits = 0;

    for (int i = 0; i < STRANGERS; i++)
        hits += tamis_has(f, rng_next(r));
    assert_true(binomial_fits(hits, STRANGERS, told));
    /* Pairs of keys with one fingerprint are Poisson, n^2 / 2 range of them on average; each makes
     * the rate less by 1 / range. */
    double pairs = MANY * planned / 2, error = 6.5 * (sqrt(pairs) + 1);
    assert_true(fabs(told - planned) * (double)range_of(f) <= error);
}

/* No matter how they come, and the same as if it had had that size from the start. */
static void grown_filters_lose_nothing(tamis_kind kind)
{
    const tamis_plan plan = growing_plan(kind, FEW, 1e-6, 0);
    rng r = rng_for(1300 + (uint64_t)kind, 0);
    uint64_t *keys = fresh_keys(&r, MANY);
    tamis *one = new_filter(&plan), *many = new_filter(&plan);
    tamis *built = filter_of(&plan, keys, MANY);

    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(tamis_add(one, keys[i]), TAMIS_OK);
    for (size_t i = 0; i < MANY; i += 1000)
        add_all(many, keys + i, 1000);
    assert_true(same_image(one, many) && is_whole(one));
    assert_true(is_whole(built));
    assert_holds(one, keys, MANY);
    assert_holds(built, keys, MANY);
    assert_int_equal(info_of(one).count, MANY);
    assert_true(tamis_plan_of(one)->capacity < 3 * MANY);
    tamis *direct = filter_of(tamis_plan_of(one), keys, MANY);
    assert_true(same_image(one, direct));
    assert_rate_kept(one, &plan, &r);
    tamis_free(one);
    tamis_free(many);
    tamis_free(built);
    tamis_free(direct);
    free(keys);
}

/* At the load that was asked for: no slot is wasted, none is used beyond it. */
static void loads_are_kept(tamis_kind kind)
{
    const double loads[] = { 0.3, 0.5, 0.75, 0.9, 0.95 };
    rng r = rng_for(1300 + (uint64_t)kind, 1);
    uint64_t *keys = fresh_keys(&r, MANY);

    for (int i = 0; i < 5; i++) {
        tamis_spec spec = spec_for(MANY, 0.001, 9);
        tamis_plan plan;

        snprintf(law_at, sizeof law_at, "load %g", loads[i]);
        spec.load = loads[i];
        assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
        tamis *f = filter_of(&plan, keys, MANY);
        double load = info_of(f).fill;
        /* Kinds that adapt leave a 32nd of the slots free, and have some for what tells keys apart.
         */
        double most = tells_keys_apart(kind) ? fmin(loads[i], 0.93) : loads[i];
        assert_true(load <= loads[i] && load > 0.95 * most);
        tamis_free(f);
    }
    free(keys);
}

static bool visit_all(void *ctx, uint64_t key, uint64_t count)
{
    (void)key;
    *(uint64_t *)ctx += count;
    return true;
}

/* Until no fingerprint has a bit to give: then it is full, and stays as it is. */
static void growing_ends(tamis_kind kind)
{
    const tamis_plan plan = growing_plan(kind, 10, 0.1, 0);
    rng r = rng_for(1300 + (uint64_t)kind, 2);
    tamis *f = new_filter(&plan);
    tamis_status status = TAMIS_OK;
    uint64_t held = 0, sum = 0;

    while (held < MANY && !(status = tamis_add_times(f, rng_next(&r), 1 + held % 3)))
        held += 1 + held % 3;
    assert_int_equal(status, TAMIS_FULL);
    image_bytes before = image_of(f);
    assert_int_equal(tamis_add_times(f, rng_next(&r), UINT64_MAX / 4), TAMIS_FULL);
    assert_true(is_image_of(&before, f) && is_whole(f));
    assert_int_equal(tamis_list(f, visit_all, &sum), TAMIS_OK);
    assert_int_equal(sum, held);
    free_bytes(&before);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const unsigned SIZES = TAMIS_CAN_ADD | TAMIS_CAN_RESIZE, COUNTS = SIZES | TAMIS_CAN_COUNT;
    const ground_law laws[] = {
        { "resizing is building", resizing_is_building, SIZES },
        { "halving undoes doubling", halving_undoes_doubling, SIZES },
        { "sizes that do not fit are refused", sizes_that_do_not_fit_are_refused, SIZES },
        { "empty filters have sizes", empty_filters_have_sizes, SIZES },
        { "views keep their size", views_keep_their_size, COUNTS },
        { "merge_many is adding all", merge_many_is_adding_all, SIZES },
        { "merge_many makes room", merge_many_makes_room, SIZES },
        { "filters of other sizes merge", filters_of_other_sizes_merge, SIZES },
        { "merging with itself doubles", merging_with_itself_doubles, COUNTS },
        { "dot is a sum of products", dot_is_a_sum_of_products, COUNTS },
        { "dot ends at the largest number", dot_ends_at_the_largest_number, COUNTS },
    };
    const law growth[] = {
        { "grown filters lose nothing", grown_filters_lose_nothing, .can = SIZES | TAMIS_CAN_GROW },
        { "loads are kept", loads_are_kept, .can = SIZES },
        { "growing ends", growing_ends, .cannot = TAMIS_CAN_ADAPT, .can = COUNTS | TAMIS_CAN_GROW },
    };

    test_begin(argc, argv);
    int failed = check_ground_laws(laws, sizeof laws / sizeof *laws);
    return failed + check_laws(growth, sizeof growth / sizeof *growth);
}
