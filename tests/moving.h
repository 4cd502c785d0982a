/* moving.h - what filters promise whose entries move to make room, whatever they look like: for
 * tests/unit of cuckoo and cuckoo-buckets. */
#ifndef TAMIS_TESTS_MOVING_H
#define TAMIS_TESTS_MOVING_H

#include "kinds.h"

/* A filter of just that shape. */
static inline tamis *shaped_as(tamis_kind kind, uint64_t slots, unsigned width, uint64_t seed)
{
    tamis_plan plan = plan_for(kind, 0, 0.5, seed);

    plan.slots = slots;
    plan.width = width;
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    assert_true(plan.bytes > 0);
    plan.fpr = 0;
    return new_filter(&plan);
}

static inline void assert_broken(const tamis *f)
{
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
}

static inline uint64_t at_most(uint64_t n, uint64_t most)
{
    return n < most ? n : most;
}

/* Of an empty filter, which is freed. */
static inline void assert_counts_stop_at(tamis *f, uint64_t ceiling)
{
    assert_int_equal(tamis_plan_of(f)->ceiling, ceiling);
    for (uint64_t n = 1; n <= 20; n++) {
        assert_int_equal(tamis_add(f, 42), TAMIS_OK);
        assert_int_equal(tamis_count(f, 42), at_most(n, ceiling));
        assert_int_equal(info_of(f).count, at_most(n, ceiling));
    }
    assert_int_equal(tamis_remove_times(f, 42, UINT64_MAX), TAMIS_ABSENT);
    for (uint64_t n = 20; n-- > 0;) {
        assert_int_equal(tamis_remove(f, 42), TAMIS_OK);
        assert_int_equal(tamis_count(f, 42), at_most(n, ceiling));
    }
    assert_int_equal(tamis_add_times(f, 43, ceiling - 1), TAMIS_OK);
    assert_int_equal(tamis_remove_times(f, 43, ceiling), TAMIS_ABSENT);
    assert_int_equal(tamis_remove_times(f, 43, ceiling - 1), TAMIS_OK);
    assert_int_equal(tamis_remove(f, 43), TAMIS_ABSENT);
    assert_int_equal(tamis_add_times(f, 44, UINT64_MAX - ceiling), TAMIS_OK);
    assert_int_equal(tamis_count(f, 44), ceiling);
    assert_int_equal(tamis_remove_times(f, 44, UINT64_MAX), TAMIS_OK);
    assert_int_equal(tamis_count(f, 44), ceiling);
    assert_true(is_whole(f));
    tamis_free(f);
}

/* Fills a filter with so many keys, as far as it takes them, then adds copies of another: all of
 * them or none. Frees it, and returns whether they were refused. */
static inline bool are_copies_refused(tamis *f, uint64_t fill, uint64_t times)
{
    uint64_t key = 0;

    while (info_of(f).count < fill && tamis_add(f, key) == TAMIS_OK)
        key++;
    image_bytes before = image_of(f);
    tamis_status status = tamis_add_times(f, UINT64_MAX, times);
    if (status) {
        assert_int_equal(status, TAMIS_FULL);
        assert_true(is_image_of(&before, f));
    } else {
        assert_true(tamis_count(f, UINT64_MAX) >= times);
    }
    free_bytes(&before);
    for (uint64_t i = 0; i < key; i++)
        assert_true(tamis_has(f, i));
    assert_true(is_whole(f));
    tamis_free(f);
    return status != TAMIS_OK;
}

/* Plans of few keys and few bits are the ones that could fail. */
static inline void assert_plans_take_their_keys(tamis_plan plan_of_width(uint64_t n,
                                                                         unsigned width),
                                                unsigned least, unsigned most)
{
    const uint64_t tables = is_sanitized() ? 20 : 200;

    for (uint64_t n = 1; n <= 1100; n += 1 + n / 8)
        for (unsigned width = least; width <= most; width += 4)
            for (uint64_t seed = 0; seed < tables; seed++) {
                tamis_plan plan = plan_of_width(n, width);
                plan.hasher.seed = seed + 1000 * n;
                tamis *f = new_filter(&plan);
                for (uint64_t key = 0; key < n; key++)
                    assert_int_equal(tamis_add(f, key), TAMIS_OK);
                tamis_free(f);
            }
}

#endif
