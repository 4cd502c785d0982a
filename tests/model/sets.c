/* sets.c - what adding, removing, merging, intersecting and subtracting mean, in equations that
 * every kind with the ability keeps. No kind is named. */
#include "model/ground.h"

/* ---- Answers ----------------------------------------------------------- */

static void empty_holds_nothing(ground *g)
{
    tamis *f = new_filter(&g->plan);
    tamis_info info = info_of(f);

    assert_true(is_whole(f));
    assert_int_equal(info.count, 0);
    assert_true(info.cardinality == 0 && info.fpr == 0 && info.fill == 0);
    assert_false(signbit(info.cardinality) || signbit(info.fpr) || signbit(info.fill));
    assert_false(info.readonly);
    assert_memory_equal(&info.plan, tamis_plan_of(f), sizeof info.plan);
    for (size_t i = 0; i < g->n + g->n_strangers; i++) {
        assert_false(tamis_has(f, g->keys[i]));
        assert_int_equal(tamis_count(f, g->keys[i]), 0);
    }
    tamis_free(f);
}

static void full_holds_all(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    tamis_info info = info_of(f);

    assert_true(is_whole(f));
    assert_int_equal(info.count, g->n);
    assert_true(info.fill >= 0 && info.fill <= 1 && info.fpr >= 0 && info.fpr <= 1);
    assert_holds(f, g->keys, g->n);
    tamis_free(f);
}

static void exact_is_exact(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    tamis_info info = info_of(f);

    assert_true(info.cardinality == (double)g->n && info.fpr == 0);
    for (size_t i = 0; i < g->n_strangers; i++) {
        assert_false(tamis_has(f, g->strangers[i]));
        assert_int_equal(tamis_count(f, g->strangers[i]), 0);
    }
    tamis_free(f);
}

/* ---- Sets -------------------------------------------------------------- */

static void order_does_not_matter(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *h;
    uint64_t *moved = array_of(g->n, sizeof *moved);

    memcpy(moved, g->keys, g->n * sizeof *moved);
    for (int i = 0; i < 3; i++) {
        shuffle(&g->r, moved, g->n);
        h = new_filter(&g->plan);
        add_all(h, moved, g->n);
        assert_true(same_image(f, h));
        tamis_free(h);
    }
    free(moved);
    tamis_free(f);
}

static void adding_twice_changes_no_payload(ground *g)
{
    tamis *once = filter_of(&g->plan, g->keys, g->n), *twice = NULL;

    assert_int_equal(tamis_clone(&twice, once, NULL), TAMIS_OK);
    add_all(twice, g->keys, g->n);
    assert_true(same_payload(once, twice));
    if (is_exact(g->plan.kind))
        assert_true(same_image(once, twice));
    tamis_free(once);
    tamis_free(twice);
}

/* Of each key once, in kinds whose builds are of sets. */
static void build_is_add(ground *g)
{
    size_t n = half_of_keys(g);
    uint64_t *doubled = array_of(2 * n, sizeof *doubled);
    tamis *f = new_filter(&g->plan), *built;

    memcpy(doubled, g->keys, n * sizeof *doubled);
    memcpy(doubled + n, g->keys, n * sizeof *doubled);
    add_all(f, doubled, has_trait(g->plan.kind, TAMIS_TRAIT_BUILDS_SETS) ? n : 2 * n);
    built = filter_of(&g->plan, doubled, 2 * n);
    assert_same_answers(f, built, g->keys, g->n + g->n_strangers);
    assert_holds(built, g->keys, n);
    assert_int_equal(info_of(f).count, info_of(built).count);
    if (forgets_order(g->plan.kind))
        assert_true(same_image(f, built));
    free(doubled);
    tamis_free(f);
    tamis_free(built);
}

static void remove_undoes_add(ground *g)
{
    size_t kept = g->n / 2;
    tamis *f = filter_of(&g->plan, g->keys, kept), *h = NULL;

    assert_int_equal(tamis_clone(&h, f, NULL), TAMIS_OK);
    add_all(h, g->keys + kept, g->n - kept);
    for (size_t i = kept; i < g->n; i++) {
        assert_int_equal(tamis_remove(h, g->keys[i]), TAMIS_OK);
        if (g->n <= 1000)
            assert_true(is_whole(h));
    }
    assert_holds(h, g->keys, kept);
    if (keeps_marks(g->plan.kind))
        assert_no_fewer_answers(f, h, g->keys, g->n + g->n_strangers);
    else if (tells_keys_apart(g->plan.kind))
        assert_no_fewer_answers(h, f, g->keys, g->n + g->n_strangers);
    else
        assert_same_answers(f, h, g->keys, g->n + g->n_strangers);
    if (forgets_order(g->plan.kind) && !tells_keys_apart(g->plan.kind))
        assert_true(same_image(f, h));
    tamis_free(f);
    tamis_free(h);
}

/* Both filters share the middle third. */
static void merge_is_adding_both(ground *g)
{
    size_t n = half_of_keys(g), third = n / 3, n_a = 2 * third, n_b = n - third;
    tamis *a = filter_of(&g->plan, g->keys, n_a), *b = filter_of(&g->plan, g->keys + third, n_b);
    tamis *both = filter_of(&g->plan, g->keys, n_a);
    image_bytes b_before = image_of(b);

    add_all(both, g->keys + third, n_b);
    assert_int_equal(tamis_combine(a, TAMIS_MERGE, b), TAMIS_OK);
    assert_true(is_image_of(&b_before, b));
    assert_true(is_whole(a));
    assert_holds(a, g->keys, n);
    assert_same_answers(a, both, g->keys, g->n + g->n_strangers);
    assert_int_equal(info_of(a).count, info_of(both).count);
    if (forgets_order(g->plan.kind))
        assert_true(same_image(a, both));
    free_bytes(&b_before);
    tamis_free(a);
    tamis_free(b);
    tamis_free(both);
}

static void merge_past_the_capacity_is_refused(ground *g)
{
    size_t n_b = g->n_strangers < g->n ? g->n_strangers : g->n;
    tamis *a = filter_of(&g->plan, g->keys, g->n), *b = filter_of(&g->plan, g->strangers, n_b);
    image_bytes before = image_of(a);

    if (is_indexed(g->plan.kind) || g->n + n_b <= g->plan.capacity) {
        assert_int_equal(tamis_combine(a, TAMIS_MERGE, b), TAMIS_OK);
        assert_holds(a, g->strangers, n_b);
    } else {
        assert_int_equal(tamis_combine(a, TAMIS_MERGE, b), TAMIS_FULL);
        assert_true(is_image_of(&before, a));
    }
    assert_holds(a, g->keys, g->n);
    free_bytes(&before);
    tamis_free(a);
    tamis_free(b);
}

static void intersect_keeps_what_is_common(ground *g)
{
    size_t third = g->n / 3, n_a = 2 * third, n_b = g->n - third;
    tamis *a = filter_of(&g->plan, g->keys, n_a), *b = filter_of(&g->plan, g->keys + third, n_b);
    tamis *a_before = NULL, *common = filter_of(&g->plan, g->keys + third, n_a - third);

    assert_int_equal(tamis_clone(&a_before, a, NULL), TAMIS_OK);
    assert_int_equal(tamis_combine(a, TAMIS_INTERSECT, b), TAMIS_OK);
    assert_true(is_whole(a));
    assert_holds(a, g->keys + third, n_a - third);
    for (size_t i = 0; i < g->n + g->n_strangers; i++)
        if (tamis_has(a, g->keys[i]))
            assert_true(tamis_has(a_before, g->keys[i]) && tamis_has(b, g->keys[i]));
    if (is_exact(g->plan.kind))
        assert_true(same_image(a, common));
    tamis_free(a);
    tamis_free(b);
    tamis_free(a_before);
    tamis_free(common);
}

/* Whatever is subtracted, exact kinds keep the rest. */
static void subtract_keeps_the_rest(ground *g)
{
    size_t third = g->n / 3;
    tamis *a = filter_of(&g->plan, g->keys, 2 * third);
    tamis *b = filter_of(&g->plan, g->keys + third, g->n - third);
    tamis *rest = filter_of(&g->plan, g->keys, third);

    assert_int_equal(tamis_combine(a, TAMIS_SUBTRACT, b), TAMIS_OK);
    assert_true(is_whole(a) && same_image(a, rest));
    assert_int_equal(tamis_combine(a, TAMIS_SUBTRACT, a), TAMIS_OK);
    assert_int_equal(info_of(a).count, 0);
    tamis_free(a);
    tamis_free(b);
    tamis_free(rest);
}

static void subtract_undoes_merge(ground *g)
{
    size_t n = half_of_keys(g), third = n / 3;
    tamis *a = filter_of(&g->plan, g->keys, 2 * third), *both = NULL;
    tamis *b = filter_of(&g->plan, g->keys + third, n - third);

    assert_int_equal(tamis_clone(&both, a, NULL), TAMIS_OK);
    assert_int_equal(tamis_combine(both, TAMIS_MERGE, b), TAMIS_OK);
    assert_int_equal(tamis_combine(both, TAMIS_SUBTRACT, b), TAMIS_OK);
    assert_true(is_whole(both));
    assert_holds(both, g->keys, 2 * third);
    assert_no_fewer_answers(a, both, g->keys, g->n + g->n_strangers);
    if (info_of(both).saturated == 0)
        assert_true(same_image(a, both));
    tamis_free(a);
    tamis_free(b);
    tamis_free(both);
}

/* Of a filter that is seen to hold more, nothing is subtracted. */
static void subtracting_strangers_changes_nothing(ground *g)
{
    size_t n = g->n_strangers < g->n ? g->n_strangers : g->n;
    tamis *f = filter_of(&g->plan, g->keys, g->n), *other = filter_of(&g->plan, g->strangers, n);
    image_bytes before = image_of(f);
    bool is_seen = false;

    for (size_t i = 0; i < n; i++)
        is_seen |= !tamis_has(f, g->strangers[i]);
    if (is_seen && !is_exact(g->plan.kind)) {
        assert_int_equal(tamis_combine(f, TAMIS_SUBTRACT, other), TAMIS_ABSENT);
        assert_true(is_image_of(&before, f));
    }
    free_bytes(&before);
    tamis_free(f);
    tamis_free(other);
}

/* ---- Filters that differ ----------------------------------------------- */

static void assert_no_mixing(tamis *f, const tamis *other)
{
    image_bytes f_before = image_of(f), other_before = image_of(other);
    unsigned can = tamis_kind_can(tamis_plan_of(f)->kind);
    const tamis *const both[] = { f, other };
    uint64_t product = 99;
    tamis *out = f;

    if (can & TAMIS_CAN_RESIZE) {
        assert_int_equal(tamis_merge_many(&out, both, 2, NULL), TAMIS_MISMATCH);
        assert_true(out == f);
    }
    if (can & TAMIS_CAN_DOT) {
        assert_int_equal(tamis_dot(f, &product, other), TAMIS_MISMATCH);
        assert_int_equal(product, 99);
    }
    if (can & TAMIS_CAN_MERGE)
        assert_int_equal(tamis_combine(f, TAMIS_MERGE, other), TAMIS_MISMATCH);
    if (can & TAMIS_CAN_INTERSECT)
        assert_int_equal(tamis_combine(f, TAMIS_INTERSECT, other), TAMIS_MISMATCH);
    if (can & TAMIS_CAN_INTERSECT && can & TAMIS_CAN_REMOVE)
        assert_int_equal(tamis_combine(f, TAMIS_SUBTRACT, other), TAMIS_MISMATCH);
    assert_true(is_image_of(&f_before, f));
    assert_true(is_image_of(&other_before, other));
    free_bytes(&f_before);
    free_bytes(&other_before);
}

static void assert_no_mixing_with(tamis *f, tamis_kind kind, const tamis_spec *spec)
{
    tamis_plan plan;

    if (tamis_plan_kind(&plan, kind, spec) == TAMIS_OK) {
        tamis *other = new_filter(&plan);

        assert_no_mixing(f, other);
        tamis_free(other);
    }
}

static void filters_that_differ_do_not_mix(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    const tamis_spec same = spec_for(g->plan.capacity, g->fpr, g->plan.hasher.seed);
    tamis_spec other = same;

    for (tamis_kind k = first_kind(); k; k = tamis_kind_next(k))
        if (k != g->plan.kind)
            assert_no_mixing_with(f, k, &same);
    other.hasher.seed ^= 1;
    assert_no_mixing_with(f, g->plan.kind, &other);
    other = same;
    other.keys = 2 * same.keys + 1000;
    if (!tells_keys_apart(g->plan.kind))
        assert_no_mixing_with(f, g->plan.kind, &other);
    other = same;
    other.hasher.hash = TAMIS_FAST;
    assert_no_mixing_with(f, g->plan.kind, &other);
    other.hasher.hash = TAMIS_KEYED;
    other.hasher.secret[15] = 1;
    assert_no_mixing_with(f, g->plan.kind, &other);
    tamis_free(f);
}

static void assert_no_mixing_by(tamis *f, tamis_plan plan)
{
    plan.bytes = tamis__ops(plan.kind)->bytes(&plan);
    if (plan.bytes) {
        tamis *other = new_filter(&plan);

        assert_no_mixing(f, other);
        tamis_free(other);
    }
}

/* One more or less of anything, even where the payload keeps its size. */
static void geometries_that_differ_do_not_mix(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    tamis_plan more = g->plan, less = g->plan;

    more.slots++;
    less.slots--;
    assert_no_mixing_by(f, more);
    assert_no_mixing_by(f, less);
    more = less = g->plan;
    more.hashes++;
    less.hashes--;
    /* Kinds with fingerprints put them in one place, whatever else they were planned for. */
    if (!(tamis_kind_can(g->plan.kind) & TAMIS_CAN_RESIZE)) {
        assert_no_mixing_by(f, more);
        assert_no_mixing_by(f, less);
    }
    more = g->plan;
    more.width++;
    if (!f->ops.resize)
        assert_no_mixing_by(f, more);
    tamis_free(f);
}

static void secrets_that_differ_do_not_mix(ground *g)
{
    tamis_spec spec = spec_for(g->plan.capacity, g->fpr, 5);
    tamis_plan plan;

    spec.hasher.hash = TAMIS_KEYED;
    spec.hasher.secret[0] = 1;
    if (is_indexed(g->plan.kind))
        return;
    assert_int_equal(tamis_plan_kind(&plan, g->plan.kind, &spec), TAMIS_OK);
    tamis *f = new_filter(&plan);
    for (int i = 0; i < 16; i++) {
        tamis_spec other = spec;

        other.hasher.secret[i] ^= 0x80;
        assert_no_mixing_with(f, g->plan.kind, &other);
    }
    tamis_free(f);
}

/* ---- Keys that are not there ------------------------------------------ */

static void keys_out_of_range_are_refused(ground *g)
{
    const uint64_t end = g->plan.capacity;
    const uint64_t outside[] = { end,       end + 1,           end + 63,
                                 end + 64,  UINT64_C(1) << 32, UINT64_C(1) << 63,
                                 UINT64_MAX };
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    image_bytes before = image_of(f);
    size_t added = 99;
    uint64_t hits = 99;

    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_false(tamis_has(f, outside[i]));
        assert_int_equal(tamis_count(f, outside[i]), 0);
        assert_int_equal(tamis_add(f, outside[i]), TAMIS_RANGE);
        assert_int_equal(tamis_add_many(f, &added, &outside[i], 1), TAMIS_RANGE);
        assert_int_equal(added, 0);
        assert_int_equal(tamis_remove(f, outside[i]), TAMIS_RANGE);
    }
    assert_int_equal(tamis_has_many(f, &hits, outside, sizeof outside / sizeof *outside), 0);
    assert_int_equal(hits, 0);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
}

/* As planned with the ability: kinds that are not exact have it if asked to. */
static void removing_strangers_changes_nothing(ground *g)
{
    tamis_spec spec = spec_for(g->plan.capacity, g->fpr, g->plan.hasher.seed);
    tamis_plan plan;

    spec.can = TAMIS_CAN_EXACT_DELETE;
    assert_int_equal(tamis_plan_kind(&plan, g->plan.kind, &spec), TAMIS_OK);
    tamis *f = filter_of(&plan, g->keys, g->n);
    image_bytes before = image_of(f);

    for (size_t i = 0; i < g->n_strangers; i++)
        assert_int_equal(tamis_remove(f, g->strangers[i]), TAMIS_ABSENT);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
}

/* ---- Listing ----------------------------------------------------------- */

typedef struct listed {
    uint64_t *keys;
    size_t n, stop_at, room;
    bool counts_are_one;
} listed;

static bool collect(void *ctx, uint64_t key, uint64_t count)
{
    listed *l = ctx;

    if (l->n < l->room)
        l->keys[l->n] = key;
    l->counts_are_one &= count == 1;
    return ++l->n != l->stop_at;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void list_names_each_key_once(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    listed l = { array_of(g->n, sizeof *l.keys), 0, SIZE_MAX, g->n, true };

    assert_int_equal(tamis_list(f, collect, &l), TAMIS_OK);
    assert_int_equal(l.n, g->n);
    assert_true(l.counts_are_one);
    qsort(g->keys, g->n, sizeof *g->keys, by_value);
    qsort(l.keys, l.n, sizeof *l.keys, by_value);
    assert_memory_equal(l.keys, g->keys, g->n * sizeof *g->keys);
    free(l.keys);
    tamis_free(f);
}

static void list_stops_when_told(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    listed all = { NULL, 0, SIZE_MAX, 0, true };

    assert_int_equal(tamis_list(f, collect, &all), TAMIS_OK);
    assert_true(all.n <= g->n && (all.n > 0) == (g->n > 0));
    for (size_t stop = 1; stop <= all.n && stop <= 100; stop++) {
        listed l = { array_of(1, sizeof *l.keys), 0, stop, 1, true };

        assert_int_equal(tamis_list(f, collect, &l), TAMIS_OK);
        assert_int_equal(l.n, stop);
        free(l.keys);
    }
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const unsigned ADD = TAMIS_CAN_ADD, BUILD = TAMIS_CAN_BUILD, EXACT = TAMIS_IS_EXACT;
    const ground_law laws[] = {
        { "an empty filter holds nothing", empty_holds_nothing, 0 },
        { "a full filter holds all its keys", full_holds_all, BUILD },
        { "exact is exact", exact_is_exact, BUILD | EXACT },
        { "order does not matter to exact kinds", order_does_not_matter, ADD | EXACT },
        { "order does not matter to bits", order_does_not_matter, ADD | TAMIS_CAN_READ_WHILE_ADD },
        { "order does not matter to order", order_does_not_matter, ADD | TAMIS_CAN_RESIZE },
        { "adding twice, exactly", adding_twice_changes_no_payload, ADD | EXACT },
        { "adding twice, bits", adding_twice_changes_no_payload, ADD | TAMIS_CAN_READ_WHILE_ADD },
        { "build is add", build_is_add, ADD },
        { "remove undoes add", remove_undoes_add, ADD | TAMIS_CAN_REMOVE },
        { "removing strangers changes nothing", removing_strangers_changes_nothing,
          BUILD | TAMIS_CAN_EXACT_DELETE },
        { "merge is adding both", merge_is_adding_both, ADD | TAMIS_CAN_MERGE },
        { "merge past the capacity", merge_past_the_capacity_is_refused,
          BUILD | TAMIS_CAN_MERGE | EXACT },
        { "intersect keeps what is common", intersect_keeps_what_is_common,
          BUILD | TAMIS_CAN_INTERSECT },
        { "subtract keeps the rest", subtract_keeps_the_rest,
          BUILD | TAMIS_CAN_INTERSECT | TAMIS_CAN_REMOVE | EXACT },
        { "subtract undoes merge", subtract_undoes_merge,
          BUILD | TAMIS_CAN_INTERSECT | TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT },
        { "subtracting strangers changes nothing", subtracting_strangers_changes_nothing,
          BUILD | TAMIS_CAN_INTERSECT | TAMIS_CAN_REMOVE },
        { "filters that differ do not mix", filters_that_differ_do_not_mix, BUILD },
        { "geometries that differ do not mix", geometries_that_differ_do_not_mix, BUILD },
        { "secrets that differ do not mix", secrets_that_differ_do_not_mix, BUILD },
        { "keys out of range are refused", keys_out_of_range_are_refused,
          ADD | TAMIS_CAN_REMOVE | TAMIS_IS_INDEXED },
        { "list names each key once", list_names_each_key_once, BUILD | TAMIS_CAN_LIST | EXACT },
        { "list stops when told", list_stops_when_told, BUILD | TAMIS_CAN_LIST },
    };

    test_begin(argc, argv);
    return check_ground_laws(laws, sizeof laws / sizeof *laws);
}
