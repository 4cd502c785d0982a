/* folds.c - a folded filter is the filter that would have been built smaller. No kind is named. */
#include "model/ground.h"

/* ---- Folding ----------------------------------------------------------- */

/* Divisible by 1 .. 12. */
enum { FOLDABLE = 27720 };

static tamis_plan foldable(tamis_plan plan)
{
    plan.slots = (plan.slots + FOLDABLE - 1) / FOLDABLE * FOLDABLE;
    plan.bytes = tamis__ops(plan.kind)->bytes(&plan);
    assert_true(plan.bytes > 0);
    return plan;
}

static tamis *folded(const tamis *f, uint64_t by)
{
    tamis *small = NULL;

    assert_int_equal(tamis_fold(&small, f, by, NULL), TAMIS_OK);
    assert_int_equal(tamis_plan_of(small)->slots, tamis_plan_of(f)->slots / by);
    assert_true(is_whole(small));
    return small;
}

static void folding_is_building_smaller(ground *g)
{
    tamis_plan plan = foldable(g->plan);
    tamis *f = filter_of(&plan, g->keys, g->n);
    image_bytes before = image_of(f);

    for (uint64_t by = 1; by <= 12; by++) {
        tamis_plan direct = plan;
        tamis *small = folded(f, by), *built, *same;

        direct.slots /= by;
        direct.bytes = tamis__ops(g->plan.kind)->bytes(&direct);
        built = filter_of(&direct, g->keys, g->n);
        same = filter_of(tamis_plan_of(small), g->keys, g->n);
        assert_true(same_payload(small, built));
        assert_true(same_image(small, same));
        assert_holds(small, g->keys, g->n);
        assert_true(
            is_near(tamis_plan_of(small)->fpr, tamis_plan_rate(&direct, direct.capacity), 0x1p-31));
        tamis_free(small);
        tamis_free(built);
        tamis_free(same);
    }
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
}

static void folding_twice_is_folding_by_the_product(ground *g)
{
    tamis_plan plan = foldable(g->plan);
    tamis *f = filter_of(&plan, g->keys, g->n);

    const uint64_t most = run_size(12, 4, 12);

    for (uint64_t a = 1; a <= 6; a++)
        for (uint64_t b = 1; a * b <= most; b++) {
            tamis *first = folded(f, a), *second = folded(first, b);
            tamis *at_once = folded(f, a * b);

            assert_true(same_image(second, at_once));
            tamis_free(first);
            tamis_free(second);
            tamis_free(at_once);
        }
    tamis_free(f);
}

static void folding_needs_a_divisor(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *out = f;
    uint64_t slots = g->plan.slots;
    image_bytes before = image_of(f);

    assert_int_equal(tamis_fold(&out, f, 0, NULL), TAMIS_RANGE);
    assert_int_equal(tamis_fold(&out, f, slots + 1, NULL), TAMIS_RANGE);
    assert_int_equal(tamis_fold(&out, f, UINT64_MAX, NULL), TAMIS_RANGE);
    for (uint64_t by = 1; by <= 40; by++)
        if (slots % by)
            assert_int_equal(tamis_fold(&out, f, by, NULL), TAMIS_RANGE);
    assert_ptr_equal(out, f);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
}

/* ---- Shrinking --------------------------------------------------------- */

/* Rows are apart, and not one table. */
static bool drops_rows(const tamis_plan *plan)
{
    tamis_plan fewer = *plan;

    fewer.hashes--;
    uint64_t bytes = fewer.hashes ? tamis__ops(plan->kind)->bytes(&fewer) : 0;
    return bytes && bytes < plan->bytes;
}

/* The lowest rate at n keys of all plans that a filter of `plan` can be shrunk to, by trying each.
 */
static double lowest_rate(const tamis_plan *plan, uint64_t max_bytes, uint64_t n)
{
    uint32_t fewest = drops_rows(plan) ? 1 : plan->hashes;
    double lowest = INFINITY;

    for (uint64_t by = 1; by <= plan->slots && by <= 1 << 16; by++)
        for (uint32_t rows = fewest; plan->slots % by == 0 && rows <= plan->hashes; rows++) {
            tamis_plan p = *plan;

            p.slots /= by;
            p.hashes = rows;
            if (tamis__ops(p.kind)->bytes(&p) <= max_bytes)
                lowest = fmin(lowest, tamis_plan_rate(&p, n));
        }
    return lowest;
}

static void assert_shrinks(ground *g, const tamis *f, uint64_t max_bytes)
{
    double lowest = lowest_rate(tamis_plan_of(f), max_bytes, g->n);
    tamis *small, *built;

    if (lowest == INFINITY) {
        assert_int_equal(tamis_shrink(&small, f, max_bytes, NULL), TAMIS_RANGE);
        return;
    }
    assert_int_equal(tamis_shrink(&small, f, max_bytes, NULL), TAMIS_OK);
    built = filter_of(tamis_plan_of(small), g->keys, g->n);
    assert_true(tamis_plan_of(small)->bytes <= max_bytes);
    assert_true(tamis_plan_rate(tamis_plan_of(small), g->n) == lowest);
    assert_true(same_image(small, built));
    assert_holds(small, g->keys, g->n);
    tamis_free(small);
    tamis_free(built);
}

static void shrinking_is_building_smaller(ground *g)
{
    tamis_plan plan = foldable(g->plan);
    tamis *f = filter_of(&plan, g->keys, g->n), *roomy = filter_of(&g->plan, g->keys, g->n / 9);
    image_bytes before = image_of(f);
    size_t n = g->n;

    for (uint64_t tenths = 11; tenths < 12; tenths -= 2)
        assert_shrinks(g, f, plan.bytes * tenths / 10);
    assert_shrinks(g, f, 0);
    g->n = n / 9;
    for (uint64_t part = 1; part < 40; part *= 4)
        assert_shrinks(g, roomy, g->plan.bytes / part);
    g->n = n;
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(f);
    tamis_free(roomy);
}

int main(int argc, char **argv)
{
    const unsigned FOLD = TAMIS_CAN_BUILD | TAMIS_CAN_FOLD;
    const ground_law laws[] = {
        { "folding is building smaller", folding_is_building_smaller, FOLD },
        { "folding twice is folding by the product", folding_twice_is_folding_by_the_product,
          FOLD },
        { "folding needs a divisor", folding_needs_a_divisor, FOLD },
        { "shrinking is building smaller", shrinking_is_building_smaller, FOLD },
    };

    test_begin(argc, argv);
    return check_ground_laws(laws, sizeof laws / sizeof *laws);
}
