/* surplus: counts of classes beyond their ceiling, beside plain numbers; where there is no
 * room for them, and what verify() must not accept. */
#include "base/surplus.h"

#include "kinds.h"

enum { CEILING = 3, CLASSES = 100, MOST_ENTRIES = 100 };

/* Classes that are there so often, and where their surplus is. */
typedef struct model {
    uint8_t bytes[1 + 8 * MOST_ENTRIES];
    surplus s;
    uint64_t times[CLASSES];
} model;

static void begin(model *m, uint64_t entries, unsigned class_bits)
{
    *m = (model){ .s = { NULL, entries, class_bits } };
    m->s.at = m->bytes;
}

static bool is_full(const void *table, uint64_t class)
{
    const model *m = table;

    return class < CLASSES && m->times[class] >= CEILING;
}

static const char *fault_of(const model *m)
{
    return tamis__surplus_verify(&m->s, is_full, m);
}

static void add(model *m, uint64_t class, uint64_t times)
{
    uint64_t room = m->times[class] < CEILING ? CEILING - m->times[class] : 0;

    if (times > room)
        tamis__surplus_add(&m->s, class, times - room);
    m->times[class] += times;
}

/* What is at its ceiling comes down by as much as is removed, as long as nothing was lost. */
static void take(model *m, uint64_t class, uint64_t times)
{
    uint64_t left = times, more = m->times[class] - CEILING;
    bool fits = times <= m->times[class];

    assert_int_equal(tamis__surplus_remove(&m->s, class, CEILING, CEILING, &left), fits);
    assert_int_equal(left, !fits ? times : times > more ? times - more : 0);
    if (fits)
        m->times[class] -= times;
}

/* ---- Counts ------------------------------------------------------------ */

static void assert_surplus(model *m)
{
    for (uint64_t class = 0; class < CLASSES; class ++)
        if (m->times[class] >= CEILING) {
            take(m, class, m->times[class] + 1);
            take(m, class, 0);
        }
    assert_null(fault_of(m));
    assert_int_equal(m->bytes[0], 0);
}

/* No more classes have a surplus than there are entries. */
static void counts_go_up_and_down(void **state)
{
    (void)state;
    for (uint64_t entries = 1; entries <= SURPLUS_WINDOW; entries++) {
        rng r = rng_for(8100, entries);
        model m;

        begin(&m, entries, 7 + (unsigned)entries % 50);
        for (int step = 0; step < 2000; step++) {
            uint64_t class = rng_below(&r, entries) * 7 % CLASSES, times = rng_below(&r, 5);
            if (m.times[class] >= CEILING && rng_below(&r, 2))
                take(&m, class, times);
            else if (m.times[class] < 100)
                add(&m, class, times);
            assert_surplus(&m);
        }
    }
}

static void counts_move_to_more_entries(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 16; n++) {
        model small, large;

        begin(&small, 16, 20);
        begin(&large, 16 + 5 * n, 20);
        for (uint64_t class = 0; class < n; class ++)
            add(&small, class, CEILING + 1 + class);
        tamis__surplus_move(&large.s, &small.s);
        memcpy(large.times, small.times, sizeof small.times);
        assert_surplus(&large);
        small.bytes[0] = 1;
        tamis__surplus_move(&large.s, &small.s);
        assert_int_equal(large.bytes[0], 1);
    }
}

/* ---- What stays -------------------------------------------------------- */

static void assert_stays(const model *m, uint64_t class)
{
    uint64_t times = 1000;

    assert_true(tamis__surplus_remove(&m->s, class, CEILING, CEILING, &times));
    assert_int_equal(times, 0);
}

/* One class too many, and nobody knows any more. */
static void what_finds_no_room_stays(void **state)
{
    (void)state;
    for (uint64_t entries = 0; entries < SURPLUS_WINDOW; entries++) {
        model m;

        begin(&m, entries, 20);
        for (uint64_t class = 0; class <= entries; class ++)
            add(&m, class, CEILING + 1);
        assert_int_equal(m.bytes[0], entries > 0);
        for (uint64_t class = 0; class <= entries; class ++)
            assert_stays(&m, class);
        assert_null(fault_of(&m));
    }
}

static void what_is_too_high_to_count_stays(void **state)
{
    (void)state;
    for (unsigned bits = 7; bits <= SURPLUS_CLASS_BITS; bits++) {
        uint64_t most = UINT64_MAX >> bits;
        model m;

        begin(&m, 4, bits);
        add(&m, 5, CEILING + most - 1);
        take(&m, 5, 1);
        add(&m, 5, 1);
        assert_int_equal(m.bytes[0], 0);
        tamis__surplus_add(&m.s, 5, bits % 2 ? 1 : UINT64_MAX);
        assert_stays(&m, 5);
        assert_null(fault_of(&m));
    }
}

/* ---- Sizes ------------------------------------------------------------- */

/* P[Poisson(mean) > n]. */
static double beyond(double mean, uint64_t n)
{
    double term = exp(-mean), sum = 0;

    for (uint64_t i = 0; i <= n; i++, term *= mean / (double)i)
        ;
    for (uint64_t i = n + 1; term > sum * 1e-17; i++, term *= mean / (double)i)
        sum += term;
    return sum;
}

/* A thousandth of a class for each 2^shift slots. */
static void there_is_room_for_all(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 100000; n += 1 + n / 100)
        assert_true(beyond(1e-3 * (double)n, surplus_entries(n - 1, 0, 20)) < 1e-8);
    assert_int_equal(surplus_entries(1000, 0, SURPLUS_CLASS_BITS + 1), 0);
    assert_int_equal(surplus_entries(UINT64_MAX, 64, 20), 2);
}

/* ---- Verifying --------------------------------------------------------- */

static void verify_sees_what_is_wrong(void **state)
{
    model m;

    (void)state;
    begin(&m, 40, 20);
    add(&m, 7, CEILING + 2);
    assert_null(fault_of(&m));
    m.bytes[0] = 2;
    assert_string_equal(fault_of(&m), "the surplus is neither known nor lost");
    m.bytes[0] = 1;
    assert_null(fault_of(&m));
    m.times[7] = 2;
    assert_string_equal(fault_of(&m), "a class has a surplus, but is not at its ceiling");
    begin(&m, 40, 20);
    put_le64(m.bytes + 1, 7);
    assert_string_equal(fault_of(&m), "an empty entry of the surplus is in use");
    m.times[7] = CEILING;
    for (int i = 0, right = 0; i < 40; i++) {
        begin(&m, 40, 20);
        m.times[7] = CEILING;
        put_le64(m.bytes + 1 + 8 * i, 7 | 1 << 20);
        right += fault_of(&m) == NULL;
        assert_true(right <= SURPLUS_WINDOW && (i < 39 || right == SURPLUS_WINDOW));
    }
    for (int i = 0; i < 40; i++)
        put_le64(m.bytes + 1 + 8 * i, 7 | 1 << 20);
    assert_string_equal(fault_of(&m), "an entry of the surplus is not in its place");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_go_up_and_down),
        cmocka_unit_test(counts_move_to_more_entries),
        cmocka_unit_test(what_finds_no_room_stays),
        cmocka_unit_test(what_is_too_high_to_count_stays),
        cmocka_unit_test(there_is_room_for_all),
        cmocka_unit_test(verify_sees_what_is_wrong),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
