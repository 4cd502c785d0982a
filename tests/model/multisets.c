/* multisets.c - what counts mean, in equations that every kind with the ability keeps; of kinds
 * with fingerprints, exactly: what is counted is the number of keys that share one. No kind is
 * named. */
#include "base/bits.h"
#include "model/ground.h"

static bool has_prints(const ground *g)
{
    return tamis_kind_can(g->plan.kind) & TAMIS_CAN_RESIZE;
}

/* Marks depend on the order of adds, and what strangers find depends on them. */
static void assert_same(const ground *g, const tamis *a, const tamis *b)
{
    if (!keeps_marks(g->plan.kind))
        assert_same_answers(a, b, g->keys, g->n + g->n_strangers);
    assert_int_equal(info_of(a).count, info_of(b).count);
    if (has_prints(g))
        assert_true(same_image(a, b));
}

/* Keys with 0 to 3 copies, as many in all as fit; keys[i] has times[i]. Some room is left: a third
 * copy may need a slot more than the two before. Where it takes one of the last places that a key
 * has, few keys have three: many would crowd out their neighbours. */
typedef struct bag {
    uint32_t *times;
    uint64_t total;
} bag;

static bag bag_of(ground *g)
{
    bag b = { array_of(g->n, sizeof *b.times), 0 };
    bool few = g->plan.ceiling == 3;

    for (size_t i = 0; i < g->n / 4; i++) {
        b.times[i] = (uint32_t)(i % 97 == 0 ? 3 * few : rng_below(&g->r, 4 - few));
        b.total += b.times[i];
    }
    return b;
}

static tamis *counted(const ground *g, const bag *b)
{
    tamis *f = new_filter(&g->plan);

    for (size_t i = 0; i < g->n; i++)
        assert_int_equal(tamis_add_times(f, g->keys[i], b->times[i]), TAMIS_OK);
    return f;
}

static void assert_counts(const ground *g, const tamis *f, const bag *b)
{
    for (size_t i = 0; i < g->n; i++)
        assert_true(tamis_count(f, g->keys[i]) >= b->times[i]);
}

/* ---- Times ------------------------------------------------------------- */

static void add_times_is_add(ground *g)
{
    bag b = bag_of(g);
    tamis *f = counted(g, &b), *h = new_filter(&g->plan);

    for (uint32_t round = 0; round < 4; round++)
        for (size_t i = 0; i < g->n; i++)
            if (b.times[i] > round)
                assert_int_equal(tamis_add(h, g->keys[i]), TAMIS_OK);
    assert_same(g, f, h);
    assert_counts(g, f, &b);
    assert_counts(g, h, &b);
    if (keeps_marks(g->plan.kind)) /* keys may come to the ceiling together */
        assert_true(info_of(f).count <= b.total);
    else
        assert_int_equal(info_of(f).count, b.total);
    assert_true(is_whole(f));
    free(b.times);
    tamis_free(f);
    tamis_free(h);
}

/* Whether as many adds bring the count to the ceiling, where it may stay. */
static bool comes_to_stay(const tamis *f, uint64_t key, uint64_t times)
{
    return tamis_count(f, key) + times >= tamis_plan_of(f)->ceiling;
}

/* But for keys that came to stay, and others that a lookup meets on its way. */
static void assert_nothing_left(const ground *g, const tamis *f)
{
    for (size_t i = 0; i < g->n + g->n_strangers; i++)
        assert_true(tamis_count(f, g->keys[i]) == 0 || comes_to_stay(f, g->keys[i], 0) ||
                    (keeps_marks(f->plan.kind) && info_of(f).count > 0));
    if (g->plan.ceiling == UINT64_MAX) {
        tamis *empty = new_filter(&g->plan);

        assert_same(g, f, empty);
        tamis_free(empty);
    }
}

static void remove_times_undoes_add_times(ground *g)
{
    bag b = bag_of(g);
    tamis *f = counted(g, &b), *h = NULL;
    bool stays = false;

    assert_int_equal(tamis_clone(&h, f, NULL), TAMIS_OK);
    for (size_t i = 0; i < g->n; i += 3) {
        uint64_t more = 1 + i % 2;

        if (comes_to_stay(h, g->keys[i], more))
            continue;
        if (tamis_add_times(h, g->keys[i], more) != TAMIS_OK)
            continue;
        /* Together with one that a lookup did not meet before. */
        stays |= comes_to_stay(h, g->keys[i], 0);
        assert_int_equal(tamis_remove_times(h, g->keys[i], more), TAMIS_OK);
    }
    assert_true(is_whole(h));
    if (!stays && !tells_keys_apart(g->plan.kind))
        assert_same(g, f, h);
    assert_counts(g, h, &b);
    for (size_t i = g->n; i-- > 0;)
        assert_int_equal(tamis_remove_times(h, g->keys[i], b.times[i]), TAMIS_OK);
    assert_nothing_left(g, h);
    free(b.times);
    tamis_free(f);
    tamis_free(h);
}

static void too_many_removes_change_nothing(ground *g)
{
    bag b = bag_of(g);
    tamis *f = counted(g, &b);
    image_bytes before = image_of(f);

    for (size_t i = 0; i < g->n + g->n_strangers; i++) {
        uint64_t more = tamis_count(f, g->keys[i]) + 1;

        if (comes_to_stay(f, g->keys[i], 0)) /* it may be there more often than its count tells */
            continue;
        assert_int_equal(tamis_remove_times(f, g->keys[i], more), TAMIS_ABSENT);
        assert_int_equal(tamis_remove_times(f, g->keys[i], UINT64_MAX), TAMIS_ABSENT);
        if (more == 1)
            assert_int_equal(tamis_remove(f, g->keys[i]), TAMIS_ABSENT);
        assert_int_equal(tamis_remove_times(f, g->keys[i], 0), TAMIS_OK);
        assert_int_equal(tamis_add_times(f, g->keys[i], 0), TAMIS_OK);
    }
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    free(b.times);
    tamis_free(f);
}

/* Around each number at which a counter may need one digit more. */
static void one_count(tamis *f, uint64_t key, uint64_t times)
{
    image_bytes before = image_of(f);
    tamis_status status = tamis_add_times(f, key, times);

    if (status == TAMIS_OK) {
        assert_int_equal(tamis_count(f, key), times);
        assert_true(is_whole(f));
        assert_int_equal(info_of(f).count, times);
        assert_int_equal(tamis_add(f, key), times == UINT64_MAX ? TAMIS_RANGE : TAMIS_OK);
        assert_int_equal(tamis_count(f, key), times == UINT64_MAX ? times : times + 1);
        assert_int_equal(tamis_remove_times(f, key, tamis_count(f, key)), TAMIS_OK);
    } else {
        assert_int_equal(status, TAMIS_FULL);
    }
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
}

static void counts_of_any_length(ground *g)
{
    const size_t keys = run_size(5, 2, 20);
    tamis *f = new_filter(&g->plan);

    for (size_t i = 0; i < g->n && i < keys && g->n >= 100; i++)
        for (unsigned bits = 0; bits < 64; bits++)
            for (uint64_t near = 0; near < 4; near++)
                one_count(f, g->keys[i], (UINT64_C(1) << bits) + near - 1 + (bits == 0));
    if (g->n >= 100)
        one_count(f, g->keys[0], UINT64_MAX);
    tamis_free(f);
}

/* Nothing passes 2^64 - 1 in all. Where counts have a ceiling, no single key goes there. */
static void counts_do_not_overflow(ground *g)
{
    bool stops = g->plan.ceiling != UINT64_MAX;
    tamis *f = new_filter(&g->plan), *h = NULL;
    size_t added = 99;

    if (g->n < 100 || stops || tamis_add_times(f, g->keys[0], UINT64_MAX - 1)) {
        tamis_free(f);
        return;
    }
    assert_int_equal(tamis_add(f, g->keys[1]), TAMIS_OK);
    assert_int_equal(tamis_clone(&h, f, NULL), TAMIS_OK);
    assert_int_equal(tamis_add(f, g->keys[2]), TAMIS_RANGE);
    assert_int_equal(tamis_add_times(f, g->keys[0], 1), TAMIS_RANGE);
    assert_int_equal(tamis_add_many(f, &added, g->keys, 1), TAMIS_RANGE);
    assert_int_equal(added, 0);
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, h), TAMIS_RANGE);
    assert_same(g, f, h);
    tamis_free(f);
    tamis_free(h);
}

/* ---- Fingerprints ------------------------------------------------------ */

typedef struct print_count {
    uint64_t print, count;
} print_count;

static int by_print(const void *a, const void *b)
{
    const print_count *x = a, *y = b;

    return (x->print > y->print) - (x->print < y->print);
}

/* Fingerprints by their contract (src/filter.h), ascending, each with the copies of its keys. */
static print_count *counts_by_print(const ground *g, const bag *b, size_t *n)
{
    print_count *all = array_of(g->n, sizeof *all);
    size_t held = 0, merged = 0;

    for (size_t i = 0; i < g->n; i++)
        if (b->times[i])
            all[held++] = (print_count){ print_of(&g->plan, g->keys[i]), b->times[i] };
    qsort(all, held, sizeof *all, by_print);
    for (size_t i = 0; i < held; i++)
        if (merged && all[merged - 1].print == all[i].print)
            all[merged - 1].count += all[i].count;
        else
            all[merged++] = all[i];
    *n = merged;
    return all;
}

static void counts_are_those_of_fingerprints(ground *g)
{
    bag b = bag_of(g);
    tamis *f = counted(g, &b);
    size_t n;
    print_count *all = counts_by_print(g, &b, &n);

    for (size_t i = 0; i < g->n + g->n_strangers; i++) {
        print_count key = { print_of(&g->plan, g->keys[i]), 0 };
        const print_count *at = bsearch(&key, all, n, sizeof *all, by_print);

        /* Of whole hashes, strangers have none and may pass. */
        if (!at && tells_keys_apart(g->plan.kind))
            continue;
        assert_int_equal(tamis_count(f, g->keys[i]), at ? at->count : 0);
        assert_int_equal(tamis_has(f, g->keys[i]), at != NULL);
    }
    free(all);
    free(b.times);
    tamis_free(f);
}

typedef struct roll {
    const print_count *all;
    size_t n;
} roll;

static bool call(void *ctx, uint64_t print, uint64_t count)
{
    roll *r = ctx;

    assert_true(r->n > 0 && r->all->print == print && r->all->count == count);
    r->all++;
    r->n--;
    return true;
}

static void list_is_fingerprints_in_order(ground *g)
{
    bag b = bag_of(g);
    tamis *f = counted(g, &b);
    size_t n;
    print_count *all = counts_by_print(g, &b, &n);
    roll r = { all, n };

    assert_int_equal(tamis_list(f, call, &r), TAMIS_OK);
    assert_int_equal(r.n, 0);
    free(all);
    free(b.times);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const unsigned COUNTS = TAMIS_CAN_ADD | TAMIS_CAN_COUNT, REMOVES = COUNTS | TAMIS_CAN_REMOVE;
    const unsigned PRINTS = COUNTS | TAMIS_CAN_RESIZE;
    const ground_law laws[] = {
        { "add_times is add", add_times_is_add, COUNTS },
        { "remove_times undoes add_times", remove_times_undoes_add_times, REMOVES },
        { "too many removes change nothing", too_many_removes_change_nothing, REMOVES },
        { "counts of any length", counts_of_any_length, PRINTS | REMOVES },
        { "counts do not overflow", counts_do_not_overflow, COUNTS | TAMIS_CAN_MERGE },
        { "counts are those of fingerprints", counts_are_those_of_fingerprints, PRINTS },
        { "list is fingerprints in order", list_is_fingerprints_in_order, PRINTS },
    };

    test_begin(argc, argv);
    return check_ground_laws(laws, sizeof laws / sizeof *laws);
}
