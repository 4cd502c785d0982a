/* The hash tables of tamis lab table: each of the five ways beside an exact model. */
#include "../../tables.c"
#include "check.h"

enum { UNIVERSE = 200 };

typedef struct world {
    tables t;
    uint64_t hashes[UNIVERSE], values[UNIVERSE];
    bool held[UNIVERSE];
    size_t n;
} world;

static void check_key(const world *w, size_t i)
{
    tables_place p = tables_get(&w->t, i, w->hashes[i]);

    assert_int_equal(p.found, w->held[i]);
    assert_true(p.probes <= w->t.slots);
    if (p.found) {
        assert_int_equal(p.entry->key, i);
        assert_int_equal(p.entry->value, w->values[i]);
    }
}

/* Each key once, with its value. */
static void check_all(const world *w)
{
    bool seen[UNIVERSE] = { false };
    const tables_entry *e;
    size_t n = 0;

    for (size_t at = 0; (e = tables_next(&w->t, &at)); n++) {
        assert_true(e->key < UNIVERSE && !seen[e->key] && w->held[e->key]);
        assert_int_equal(e->value, w->values[e->key]);
        seen[e->key] = true;
    }
    assert_int_equal(n, w->n);
    assert_int_equal(w->t.n, w->n);
    for (size_t i = 0; i < UNIVERSE; i++)
        check_key(w, i);
}

static void put(world *w, size_t i, uint64_t value)
{
    bool fits = tables_put(&w->t, i, w->hashes[i], value);

    /* Quadratic probing comes to all slots only where there are 2^b. */
    if (w->t.way != TABLES_QUADRATIC || (w->t.slots & (w->t.slots - 1)) == 0)
        assert_int_equal(fits, w->held[i] || w->n < w->t.slots);
    if (!fits)
        return;
    w->n += !w->held[i];
    w->held[i] = true;
    w->values[i] = value;
}

static void remove_one(world *w, size_t i)
{
    assert_int_equal(tables_remove(&w->t, i, w->hashes[i]), w->held[i]);
    w->n -= w->held[i];
    w->held[i] = false;
}

/* Random operations; hashes of few homes as well, or all of one, or equal ones. */
static void run(tables_way way, size_t slots, uint64_t hashes, uint64_t steps)
{
    world w = { .t = tables_new(way, slots) };
    rng r = rng_for(60 + way, slots + hashes);

    for (size_t i = 0; i < UNIVERSE; i++)
        w.hashes[i] = hashes ? rng_below(&r, hashes) : rng_next(&r);
    for (uint64_t step = 0; step < steps; step++) {
        size_t i = (size_t)rng_below(&r, UNIVERSE);

        switch (rng_below(&r, 4)) {
        case 0:
        case 1:
            put(&w, i, rng_next(&r));
            break;
        case 2:
            remove_one(&w, i);
            break;
        default:
            check_key(&w, i);
        }
        check_key(&w, i);
        if (step % 64 == 0)
            check_all(&w);
    }
    check_all(&w);
    tables_free(&w.t);
}

static void each_way_is_a_map(void **state)
{
    const size_t sizes[] = { 1, 2, 7, 16, 100, 128, 256 };
    const uint64_t hashes[] = { 0, 1, 3, 1000 }, steps = run_size(5000, 1000, 100000);

    (void)state;
    for (tables_way way = 0; way < TABLES_N; way++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t h = 0; h < sizeof hashes / sizeof *hashes; h++)
                run(way, sizes[s], hashes[h], steps);
}

/* The phone book of the lectures: two of four names have one home, and become neighbours. */
static void neighbours_in_a_phone_book(void **state)
{
    const uint64_t homes[] = { 873, 873, 999, 1 };
    const size_t slots[] = { 873, 874, 999, 1 };
    tables t = tables_new(TABLES_LINEAR, 1000);

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        assert_true(tables_put(&t, i, homes[i], i));
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(tables_get(&t, i, homes[i]).slot, slots[i]);
    assert_int_equal(tables_get(&t, 1, homes[1]).probes, 2);
    assert_true(tables_remove(&t, 0, homes[0]));
    assert_true(tables_get(&t, 1, homes[1]).found); /* behind the slot of a removed key */
    assert_true(tables_put(&t, 9, 873, 9));         /* which is used again */
    assert_int_equal(tables_get(&t, 9, 873).slot, 873);
    tables_free(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_is_a_map),
        cmocka_unit_test(neighbours_in_a_phone_book),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
