/* reduce.c - a filter of counters reduces to the plain filter of the keys that it holds, and a pair
 * keeps the two in step. No kind is named. */
#include "model/ground.h"

static tamis *reduced(const tamis *f)
{
    tamis *plain = NULL;

    assert_int_equal(tamis_reduce(&plain, f, NULL), TAMIS_OK);
    assert_true(is_whole(plain));
    return plain;
}

/* What the same spec gives in the plain kind, with those keys in it. */
static tamis *built_plain(const ground *g, const uint64_t *keys, size_t n)
{
    tamis_kind kind = tamis__reduced_kind(g->plan.kind);
    tamis_plan plan = plan_for(kind, g->plan.capacity, g->fpr, g->plan.hasher.seed);

    /* Sized for something else than what it takes in memory. */
    if (is_slow(g->plan.kind)) {
        plan = g->plan;
        plan.kind = kind;
        plan.width = 0;
        plan.bytes = tamis__ops(kind)->bytes(&plan);
    }
    return filter_of(&plan, keys, n);
}

static void remove_all(tamis *f, const uint64_t *keys, size_t n)
{
    size_t removed = 0;

    assert_int_equal(tamis_remove_many(f, &removed, keys, n), TAMIS_OK);
    assert_int_equal(removed, n);
}

static void reducing_is_building_plain(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *plain = reduced(f);
    tamis *built = built_plain(g, g->keys, g->n);
    image_bytes before = image_of(f);

    assert_memory_equal(tamis_plan_of(plain), tamis_plan_of(built), sizeof(tamis_plan));
    assert_true(same_image(plain, built));
    assert_true(is_image_of(&before, f));
    for (size_t i = 0; i < g->n + g->n_strangers; i++)
        assert_int_equal(tamis_has(plain, g->keys[i]), tamis_has(f, g->keys[i]));
    free_bytes(&before);
    tamis_free(f);
    tamis_free(plain);
    tamis_free(built);
}

/* Whatever came and went before: what is left counts. */
static void only_what_is_left_counts(ground *g)
{
    size_t left = g->n / 3;
    tamis *f = filter_of(&g->plan, g->strangers, g->n_strangers);

    add_all(f, g->keys, g->n);
    remove_all(f, g->strangers, g->n_strangers);
    remove_all(f, g->keys + left, g->n - left);
    tamis *plain = reduced(f), *built = built_plain(g, g->keys, left);
    if (info_of(f).saturated == 0)
        assert_true(same_image(plain, built));
    assert_holds(plain, g->keys, left);
    tamis_free(f);
    tamis_free(plain);
    tamis_free(built);
}

/* ---- Pairs ------------------------------------------------------------- */

static void assert_in_step(const tamis_pair *p)
{
    tamis *plain = reduced(tamis_pair_counting(p));

    assert_true(same_image(tamis_pair_plain(p), plain));
    assert_true(is_whole(tamis_pair_counting(p)));
    tamis_free(plain);
}

/* Keys come and go by the batch; the filter beside goes the same way by itself. */
static void churn(ground *g, tamis_pair *p, tamis *beside)
{
    size_t n = g->n + g->n_strangers;

    for (size_t at = 0, step = 1; at < n; at += step, step = step * 3 + 1) {
        size_t here = step < n - at ? step : n - at, done = 99, done_beside = 99;
        assert_int_equal(tamis_pair_add_many(p, &done, g->keys + at, here), TAMIS_OK);
        assert_int_equal(done, here);
        add_all(beside, g->keys + at, here);
        tamis_status status = tamis_pair_remove_many(p, &done, g->keys + at / 2, here / 2 + 1);
        assert_int_equal(tamis_remove_many(beside, &done_beside, g->keys + at / 2, here / 2 + 1),
                         status);
        assert_int_equal(done, done_beside);
        assert_in_step(p);
    }
}

static void pairs_keep_in_step(ground *g)
{
    tamis_pair *p = NULL, *again = NULL;
    tamis *beside = new_filter(&g->plan);

    assert_int_equal(tamis_pair_new(&p, &g->plan, NULL, NULL), TAMIS_OK);
    const tamis *plain = tamis_pair_plain(p);
    churn(g, p, beside);
    assert_ptr_equal(tamis_pair_plain(p), plain);
    assert_true(same_image(tamis_pair_counting(p), beside));
    assert_int_equal(tamis_pair_save(p, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_pair_open(&again, temp_path(), NULL, NULL), TAMIS_OK);
    unlink(temp_path());
    assert_true(same_image(tamis_pair_counting(again), beside));
    assert_true(same_image(tamis_pair_plain(again), plain));
    tamis_pair_free(again);
    tamis_pair_free(p);
    tamis_free(beside);
}

/* ---- Failing ----------------------------------------------------------- */

typedef struct purse {
    size_t left; /* allocations that succeed */
    size_t held; /* blocks that were not given back */
} purse;

static void *spend(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    purse *p = ctx;

    (void)old_size;
    if (new_size == 0) {
        p->held--;
        free(ptr);
        return NULL;
    }
    if (p->left == 0)
        return NULL;
    p->left--;
    p->held++;
    return malloc(new_size);
}

/* Each block in turn is the one that there is no memory for. */
static void failed_pairs_leave_nothing(ground *g)
{
    for (size_t blocks = 0; blocks < 6; blocks++) {
        purse slow = { blocks, 0 }, fast = { blocks < 3 ? 9 : blocks - 3, 0 };
        const tamis_allocator far = { spend, &slow }, near = { spend, &fast };
        tamis_pair *p = NULL;
        tamis_status status = tamis_pair_new(&p, &g->plan, &far, &near);

        assert_int_equal(status, blocks < 5 ? TAMIS_NOMEM : TAMIS_OK);
        assert_true(!status == (p != NULL));
        tamis_pair_free(p);
        assert_int_equal(slow.held + fast.held, 0);
    }
}

/* ---- Those that cannot ------------------------------------------------- */

static void others_cannot_reduce(tamis_kind kind)
{
    const tamis_plan plan = plan_for(kind, 100, 0.01, 1);
    tamis *f = filter_of(&plan, NULL, 0), *plain = NULL;
    tamis_pair *p = NULL;

    assert_int_equal(tamis_reduce(&plain, f, NULL), TAMIS_CANNOT);
    assert_null(plain);
    assert_int_equal(tamis_pair_new(&p, &plan, NULL, NULL), TAMIS_CANNOT);
    assert_null(p);
    tamis_pair_free(p);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const ground_law laws[] = {
        { "reducing is building plain", reducing_is_building_plain, TAMIS_CAN_CONVERT },
        { "of what came and went only what is left is reduced", only_what_is_left_counts,
          TAMIS_CAN_CONVERT | TAMIS_CAN_REMOVE },
        { "pairs keep in step", pairs_keep_in_step, TAMIS_CAN_CONVERT | TAMIS_CAN_REMOVE },
        { "pairs that fail leave nothing", failed_pairs_leave_nothing,
          TAMIS_CAN_CONVERT | TAMIS_CAN_REMOVE },
    };
    const law others[] = {
        { "cannot reduce", others_cannot_reduce, .can = TAMIS_CAN_BUILD,
          .cannot = TAMIS_CAN_CONVERT },
    };

    test_begin(argc, argv);
    return check_ground_laws(laws, sizeof laws / sizeof *laws) +
           check_laws(others, sizeof others / sizeof *others);
}
