/* convert.c - a filter of another kind that is made without the keys answers as the first did; one
 * that forgets converts to the plain filter of what it holds, and a pair keeps the two in step. No
 * kind is named. */
#include "limited_allocator.h"
#include "model/ground.h"
#include "tamis_pair.h"

/* The next kind after `to` that there is a way to, and that filter. */
static tamis_kind next_conversion(tamis **out, tamis_kind to, const tamis *f)
{
    while ((to = tamis_kind_next(to))) {
        tamis_status status = tamis_convert(out, to, f, NULL);

        if (status == TAMIS_OK)
            break;
        assert_int_equal(status, TAMIS_CANNOT);
    }
    return to;
}

/* The filter of the kind that adds. */
static tamis *plain_of(const tamis *f)
{
    tamis *plain = NULL;

    for (tamis_kind to = next_conversion(&plain, TAMIS_NO_KIND, f); to;
         to = next_conversion(&plain, to, f)) {
        assert_true(is_whole(plain));
        if (tamis_kind_can(to) & TAMIS_CAN_ADD)
            return plain;
        tamis_free(plain);
    }
    fail_msg("no plain filter");
    return NULL;
}

/* ---- Conversions ------------------------------------------------------- */

static void assert_converted(const ground *g, const tamis *f, const tamis *made)
{
    const tamis_plan *p = tamis_plan_of(made);
    tamis *back = NULL;

    assert_true(is_whole(made));
    assert_memory_equal(&p->hasher, &g->plan.hasher, sizeof p->hasher);
    assert_int_equal(p->capacity, g->plan.capacity);
    assert_int_equal(info_of(made).count, info_of(f).count);
    assert_same_hits(made, f, g->keys, g->n + g->n_strangers);
    if (tamis_convert(&back, g->plan.kind, made, NULL) == TAMIS_OK) {
        assert_true(is_whole(back));
        assert_same_answers(back, f, g->keys, g->n + g->n_strangers);
        tamis_free(back);
    }
}

static void conversions_answer_alike(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *made = NULL;
    image_bytes before = image_of(f);
    int ways = 0;

    for (tamis_kind to = next_conversion(&made, TAMIS_NO_KIND, f); to;
         to = next_conversion(&made, to, f)) {
        assert_int_equal(tamis_plan_of(made)->kind, to);
        assert_converted(g, f, made);
        tamis_free(made);
        ways++;
    }
    assert_true(ways > 0);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
}

static void others_cannot_convert(tamis_kind kind)
{
    const tamis_plan plan = plan_for(kind, 100, 0.01, 1);
    tamis *f = filter_of(&plan, NULL, 0), *made = NULL;

    assert_int_equal(next_conversion(&made, TAMIS_NO_KIND, f), TAMIS_NO_KIND);
    assert_int_equal(tamis_convert(&made, TAMIS_NO_KIND, f, NULL), TAMIS_CANNOT);
    assert_int_equal(tamis_convert(&made, (tamis_kind)999, f, NULL), TAMIS_CANNOT);
    assert_null(made);
    tamis_free(f);
}

/* ---- Plain filters of what forgets ------------------------------------- */

/* What the same spec gives in the plain kind, with those keys in it. */
static tamis *built_plain(const ground *g, const tamis *plain, const uint64_t *keys, size_t n)
{
    tamis_plan plan =
        plan_for(tamis_plan_of(plain)->kind, g->plan.capacity, g->fpr, g->plan.hasher.seed);

    assert_memory_equal(tamis_plan_of(plain), &plan, sizeof plan);
    return filter_of(&plan, keys, n);
}

static void remove_all(tamis *f, const uint64_t *keys, size_t n)
{
    size_t removed = 0;

    assert_int_equal(tamis_remove_many(f, &removed, keys, n), TAMIS_OK);
    assert_int_equal(removed, n);
}

/* Whatever came and went before: what is left counts. */
static void only_what_is_left_counts(ground *g)
{
    size_t left = g->n / 3;
    tamis *f = filter_of(&g->plan, g->strangers, g->n_strangers);

    add_all(f, g->keys, g->n);
    remove_all(f, g->strangers, g->n_strangers);
    remove_all(f, g->keys + left, g->n - left);
    tamis *plain = plain_of(f), *built = built_plain(g, plain, g->keys, left);
    if (info_of(f).saturated == 0)
        assert_true(same_image(plain, built));
    assert_holds(plain, g->keys, left);
    tamis_free(f);
    tamis_free(plain);
    tamis_free(built);
}

static void converting_is_building_plain(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *plain = plain_of(f);
    tamis *built = built_plain(g, plain, g->keys, g->n);

    assert_true(same_image(plain, built));
    tamis_free(f);
    tamis_free(plain);
    tamis_free(built);
}

/* ---- Pairs ------------------------------------------------------------- */

static void assert_in_step(const tamis_pair *p)
{
    tamis *plain = plain_of(tamis_pair_counting(p));

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

/* The way to the other kind must be one that can be followed key by key. */
static void others_make_no_pair(tamis_kind kind)
{
    const tamis_plan plan = plan_for(kind, 100, 0.01, 1);
    tamis_pair *p = NULL;

    assert_int_equal(tamis_pair_new(&p, &plan, NULL, NULL), TAMIS_CANNOT);
    assert_null(p);
}

/* ---- Failing ----------------------------------------------------------- */

/* Each block in turn is the one that there is no memory for. */
static void failed_pairs_leave_nothing(ground *g)
{
    for (size_t blocks = 0; blocks < 6; blocks++) {
        limited_blocks slow = { .left = blocks }, fast = { .left = blocks < 3 ? 9 : blocks - 3 };
        const tamis_allocator far = allocator_of_blocks(&slow), near = allocator_of_blocks(&fast);
        tamis_pair *p = NULL;
        tamis_status status = tamis_pair_new(&p, &g->plan, &far, &near);

        assert_int_equal(status, blocks < 5 ? TAMIS_NOMEM : TAMIS_OK);
        assert_true(!status == (p != NULL));
        tamis_pair_free(p);
        assert_int_equal(slow.held + fast.held, 0);
    }
}

static void failed_conversions_leave_nothing(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *made = NULL;

    for (tamis_kind to = first_kind(); to; to = tamis_kind_next(to)) {
        tamis_status status = TAMIS_NOMEM;

        for (size_t blocks = 0; status == TAMIS_NOMEM; blocks++) {
            limited_blocks p = { .left = blocks };
            const tamis_allocator a = allocator_of_blocks(&p);

            status = tamis_convert(&made, to, f, &a);
            assert_true(blocks < 20);
            if (status == TAMIS_OK)
                tamis_free(made);
            assert_int_equal(p.held, 0);
        }
    }
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const unsigned CONVERTS = TAMIS_CAN_BUILD | TAMIS_CAN_CONVERT;
    const unsigned FORGETS = CONVERTS | TAMIS_CAN_REMOVE;
    const ground_law laws[] = {
        { "conversions answer alike", conversions_answer_alike, CONVERTS },
        { "conversions that fail leave nothing", failed_conversions_leave_nothing, CONVERTS },
        { "converting is building plain", converting_is_building_plain, FORGETS },
        { "of what came and went only what is left is converted", only_what_is_left_counts,
          FORGETS },
        { "pairs keep in step", pairs_keep_in_step, FORGETS },
        { "pairs that fail leave nothing", failed_pairs_leave_nothing, FORGETS },
    };
    const law others[] = {
        { "cannot convert", others_cannot_convert, .can = TAMIS_CAN_BUILD,
          .cannot = TAMIS_CAN_CONVERT },
        { "makes no pair", others_make_no_pair, .can = TAMIS_CAN_BUILD,
          .cannot = TAMIS_CAN_CONVERT },
        { "converts, but makes no pair", others_make_no_pair, .can = CONVERTS,
          .cannot = TAMIS_CAN_REMOVE },
    };

    test_begin(argc, argv);
    return check_ground_laws(laws, sizeof laws / sizeof *laws) +
           check_laws(others, sizeof others / sizeof *others);
}
