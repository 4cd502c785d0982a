/* fuse.c - what chance hardly reaches in the binary fuse filters: the stash, other seeds, a
 * geometry that is too small, hostile heads. */
#include "widths.h"

/* Of a small filter. */
enum { TAIL_TRIES = 4, TAIL_STASHED = 6, TAIL_BITMAP = 8, TAIL_STASH = 16, STASH = 3, TAIL = 40 };

enum { N_KINDS = 3 };

static const tamis_kind KINDS[N_KINDS] = { TAMIS_FUSE, TAMIS_FUSE4, TAMIS_FUSE5 };

static uint8_t *tail(const tamis *f)
{
    return (uint8_t *)f->payload + f->plan.bytes - TAIL;
}

static unsigned block_bits(const tamis_plan *plan)
{
    return plan->hashes & 15;
}

static uint64_t window(const tamis_plan *plan)
{
    return UINT64_C(1) << (plan->hashes >> 4);
}

/* A plan with that many blocks instead of what it takes. */
static tamis_plan squeezed(tamis_kind kind, uint64_t n, uint64_t blocks)
{
    tamis_plan plan = plan_for(kind, n, 1.0 / 256, 0);

    plan.slots = blocks << block_bits(&plan);
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    assert_true(plan.bytes > 0);
    return plan;
}

/* ---- Luck -------------------------------------------------------------- */

/* Among many sets in little room, some need the stash and some another seed. */
static void stash_and_seeds_are_used_and_work(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        size_t stashed = 0, reseeded = 0, of_each[STASH + 1] = { 0 };
        rng r = rng_for(1700, (uint64_t)k);

        for (int round = 0; round < 600; round++) {
            size_t n = 60 + rng_below(&r, 60);
            tamis_plan plan = plan_for(KINDS[k], n, 1.0 / 256, 0);
            tamis_plan small = squeezed(KINDS[k], n, (plan.slots >> block_bits(&plan)) - 1);
            uint64_t *keys = fresh_keys(&r, n);
            tamis *f = filter_of(&small, keys, n);

            assert_true(holds_all(f, keys, n));
            assert_true(tail(f)[TAIL_STASHED] <= STASH);
            of_each[tail(f)[TAIL_STASHED]]++;
            stashed += tail(f)[TAIL_STASHED] > 0;
            reseeded += tail(f)[TAIL_TRIES] > 1;
            tamis_free(f);
            free(keys);
        }
        assert_true(stashed > 20 && reseeded > 20);
        assert_true(of_each[1] > 0 && of_each[2] > 0 && of_each[3] > 0);
    }
}

/* A stashed key is in no slot: the stash alone knows it. */
static void stash_is_what_answers(void **state)
{
    const uint64_t key = 12345;
    tamis_plan plan = plan_for(TAMIS_FUSE, 1000, 0x1p-32, 0);
    rng r = rng_for(1710, 0);
    uint64_t *keys = fresh_keys(&r, 1000);
    tamis *f = filter_of(&plan, keys, 1000);
    uint8_t *end = tail(f);
    uint64_t hits, h = hash_key(key, f->salt);

    (void)state;
    assert_false(tamis_has(f, key));
    end[TAIL_STASHED] = 2;
    memcpy(end + TAIL_STASH + 8, &h, sizeof h);
    assert_false(tamis_has(f, key));
    end[TAIL_BITMAP + h % 64 / 8] |= (uint8_t)(1 << h % 8);
    assert_true(tamis_has(f, key));
    assert_int_equal(tamis_has_many(f, &hits, &key, 1), 1);
    end[TAIL_STASHED] = 1;
    assert_false(tamis_has(f, key));
    assert_int_equal(tamis_has_many(f, &hits, &key, 1), 0);
    end[TAIL_STASHED] = 255;
    assert_true(tamis_has(f, key));
    tamis_free(f);
    free(keys);
}

/* As many slots as keys cannot be peeled: the filter becomes larger, and is the same each time. */
static void too_small_a_geometry_grows(void **state)
{
    const size_t sizes[] = { 200, 1000, 20000 };

    (void)state;
    for (int k = 0; k < N_KINDS; k++)
        for (int s = 0; s < (is_sanitized() ? 2 : 3); s++) {
            rng r = rng_for(1720, sizes[s]);
            uint64_t *keys = fresh_keys(&r, sizes[s]);
            tamis_plan plan = plan_for(KINDS[k], sizes[s], 1.0 / 256, 0);
            tamis_plan small = squeezed(KINDS[k], sizes[s],
                                        (sizes[s] >> block_bits(&plan)) * 3 / 4 + window(&plan));
            tamis *f = filter_of(&small, keys, sizes[s]);

            assert_true(f->plan.slots > small.slots && f->plan.slots < 2 * plan.slots);
            assert_true(holds_all(f, keys, sizes[s]));
            shuffle(&r, keys, sizes[s]);
            tamis *g = filter_of(&small, keys, sizes[s]);
            assert_true(same_image(f, g));
            tamis_free(f);
            tamis_free(g);
            free(keys);
        }
}

/* ---- Widths and sizes -------------------------------------------------- */

static void every_width_works(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++)
        for (int width = 1; width <= 32; width++)
            check_width(KINDS[k], width, 1730);
}

static void sizes_are_as_promised(void **state)
{
    (void)state;
    assert_true(bits_per_key(TAMIS_FUSE, 10000000, 0x1p-8) <= 9.05);
    assert_true(bits_per_key(TAMIS_FUSE4, 10000000, 0x1p-8) <= 8.63);
    assert_true(bits_per_key(TAMIS_FUSE, 10000000, 0x1p-10) <= 9.05 * 10 / 8);
    assert_true(bits_per_key(TAMIS_FUSE4, 10000000, 0x1p-10) <= 8.63 * 10 / 8);
    assert_true(bits_per_key(TAMIS_FUSE, 1000000000, 0x1p-8) <= 9.05);
    assert_true(bits_per_key(TAMIS_FUSE4, 1000000000, 0x1p-8) <= 8.63);
    assert_true(bits_per_key(TAMIS_FUSE5, 10000000, 0x1p-8) <= 8.40);
    assert_true(bits_per_key(TAMIS_FUSE5, 10000000, 0x1p-10) <= 8.40 * 10 / 8);
    assert_true(bits_per_key(TAMIS_FUSE5, 1000000000, 0x1p-8) <= 8.40);
}

/* ---- Geometry ---------------------------------------------------------- */

static void other_geometries_are_refused(void **state)
{
    const tamis_plan good = plan_for(TAMIS_FUSE, 5000, 0.01, 0);
    uint64_t (*bytes)(const tamis_plan *p) = tamis__ops(TAMIS_FUSE)->bytes;
    tamis_plan bad[] = { good, good, good, good, good, good, good, good, good, good, good, good };

    (void)state;
    bad[0].width = 0;
    bad[1].width = 33;
    bad[2].hashes = 1;
    bad[3].hashes = 7;
    bad[4].slots++;
    bad[5].slots = window(&good) << block_bits(&good);
    bad[6].slots = 0;
    bad[7].slots = UINT64_C(1) << 31;
    bad[8].capacity = UINT64_MAX;
    bad[9].hashes = 13 << 4 | 6;
    bad[10].flags = TAMIS_PLAN_SUMS;
    bad[11].load = 900;
    assert_int_equal(bytes(&good), good.bytes);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(bytes(&bad[i]), 0);
}

/* The fields of a key have room for shorter windows if it has five slots. */
static void windows_are_no_longer_than_their_field(void **state)
{
    const uint32_t most[N_KINDS] = { 12, 12, 10 };

    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        tamis_plan plan = plan_for(KINDS[k], 5000000, 0.01, 0);

        plan.hashes = most[k] << 4 | 6;
        assert_true(tamis__ops(KINDS[k])->bytes(&plan) > 0);
        plan.hashes = (most[k] + 1) << 4 | 6;
        assert_int_equal(tamis__ops(KINDS[k])->bytes(&plan), 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stash_and_seeds_are_used_and_work),
        cmocka_unit_test(stash_is_what_answers),
        cmocka_unit_test(too_small_a_geometry_grows),
        cmocka_unit_test(every_width_works),
        cmocka_unit_test(sizes_are_as_promised),
        cmocka_unit_test(other_geometries_are_refused),
        cmocka_unit_test(windows_are_no_longer_than_their_field),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
