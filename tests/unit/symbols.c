/* symbols.c - what differs between two sets is found, whoever has it and however much it is. */
#include <math.h>

#include "check.h"
#include "tamis_sync.h"

static const uint8_t SECRET[16] = "between the two";

/* Keys that both have, then those of this side, then those of the other. */
typedef struct sides {
    uint64_t *keys;
    size_t both, here, there;
} sides;

/* No two numbers are the same: multiples of an odd number. */
static sides sides_of(size_t both, size_t here, size_t there, uint64_t seed)
{
    sides s = { array_of(both + here + there + 1, sizeof(uint64_t)), both, here, there };

    for (size_t i = 0; i < both + here + there; i++)
        s.keys[i] = (i + seed * 1000003) * UINT64_C(0x9E3779B97F4A7C15);
    return s;
}

static tamis_symbols *symbols_of(const uint64_t *keys, size_t n)
{
    tamis_symbols *s;

    assert_int_equal(tamis_symbols_new(&s, keys, n, SECRET, NULL), TAMIS_OK);
    return s;
}

static tamis_difference *difference_to(tamis_symbols *here)
{
    tamis_difference *d;

    assert_int_equal(tamis_difference_new(&d, here, NULL), TAMIS_OK);
    return d;
}

static tamis_symbols *symbols_here(const sides *s)
{
    return symbols_of(s->keys, s->both + s->here);
}

static tamis_symbols *symbols_there(const sides *s)
{
    uint64_t *keys = array_of(s->both + s->there + 1, sizeof *keys);

    memcpy(keys, s->keys, s->both * sizeof *keys);
    memcpy(keys + s->both, s->keys + s->both + s->here, s->there * sizeof *keys);
    tamis_symbols *made = symbols_of(keys, s->both + s->there);
    free(keys);
    return made;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void assert_same_keys(const uint64_t *found, size_t n, const uint64_t *wanted, size_t m)
{
    uint64_t *a = array_of(n + 1, sizeof *a), *b = array_of(m + 1, sizeof *b);

    assert_int_equal(n, m);
    if (n > 0) {
        memcpy(a, found, n * sizeof *a);
        memcpy(b, wanted, n * sizeof *b);
        qsort(a, n, sizeof *a, compare);
        qsort(b, n, sizeof *b, compare);
        assert_memory_equal(a, b, n * sizeof *a);
    }
    free(a);
    free(b);
}

/* Returns how many symbols it took, asked for `at_a_time`. */
static size_t reconcile(const sides *s, size_t at_a_time)
{
    tamis_symbols *there = symbols_there(s);
    tamis_difference *d = difference_to(symbols_here(s));
    tamis_symbol *some = array_of(at_a_time, sizeof *some);
    size_t taken = 0, most = 10 * (s->here + s->there) + 100, n;
    const uint64_t *found;

    for (bool is_done = false; !is_done; taken += at_a_time) {
        assert_true(taken <= most);
        tamis_symbols_next(there, some, at_a_time);
        assert_int_equal(tamis_difference_take(d, some, at_a_time, &is_done), TAMIS_OK);
    }
    found = tamis_difference_here(d, &n);
    assert_same_keys(found, n, s->keys + s->both, s->here);
    found = tamis_difference_there(d, &n);
    assert_same_keys(found, n, s->keys + s->both + s->here, s->there);
    free(some);
    tamis_difference_free(d);
    tamis_symbols_free(there);
    return taken;
}

static void differences_are_found(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 10, 100, 1000 };

    (void)state;
    for (size_t b = 0; b < 7; b++)
        for (size_t h = 0; h < 7; h++)
            for (size_t t = 0; t < 7; t++) {
                sides s = sides_of(sizes[b], sizes[h], sizes[t], b * 49 + h * 7 + t);
                reconcile(&s, h % 2 ? 1 + t : 1 + 16 * b);
                free(s.keys);
            }
}

/* What the pages promise: at most 1.76 symbols for a key, and 1.4 for many. */
static void symbols_are_few(void **state)
{
    (void)state;
    for (size_t d = 100; d <= run_size(10000, 1000, 100000); d *= 10) {
        size_t taken = 0, rounds = 20;
        for (size_t i = 0; i < rounds; i++) {
            sides s = sides_of(1000, d / 2, d - d / 2, i);
            taken += reconcile(&s, d / 100);
            free(s.keys);
        }
        double each = (double)taken / (double)rounds / (double)d;
        assert_true(each > 1 && each < (d >= 1000 ? 1.42 : 1.60));
    }
}

/* However they are asked for, symbols are the same. */
static void symbols_do_not_depend_on_calls(void **state)
{
    sides s = sides_of(500, 0, 0, 7);
    tamis_symbols *a = symbols_here(&s), *b = symbols_here(&s);
    tamis_symbol all[300], some[300];

    (void)state;
    tamis_symbols_next(a, all, 300);
    for (size_t i = 0, n = 1; i<300; i += n, n = i + 2 * n> 300 ? 300 - i : 2 * n)
        tamis_symbols_next(b, some + i, n);
    assert_memory_equal(all, some, sizeof all);
    assert_int_equal(all[0].count, 500);
    tamis_symbols_free(a);
    tamis_symbols_free(b);
    free(s.keys);
}

/* Other machines and later versions have to draw the same. */
static void symbols_are_as_they_were(void **state)
{
    static const uint64_t keys[] = { 1, 2, 3 };
    tamis_symbols *s = symbols_of(keys, 3);
    tamis_symbol all[64];
    uint64_t sum = 0, members = 0;

    (void)state;
    tamis_symbols_next(s, all, 64);
    for (int i = 0; i < 64; i++) {
        members += (uint64_t)all[i].count << i % 32;
        sum = sum * 31 + all[i].sum + all[i].check;
    }
    assert_int_equal(members, UINT64_C(0x187a8b2d));
    assert_int_equal(sum, UINT64_C(0x1eb60948b2a4fed2));
    tamis_symbols_free(s);
}

/* How far k squares of normal deviations may be from k, but once in a billion times above and once
 * below (Laurent and Massart, 2000). */
static double most_off(double k)
{
    double x = log(1e9);

    return 2 * sqrt(k * x) + 2 * x;
}

/* Takes n symbols that went over a line, where only the first have all of their counts. */
static bool take_cut(tamis_difference *d, tamis_symbols *there, size_t from, size_t n)
{
    tamis_symbol *some = array_of(n, sizeof *some);
    bool is_done;

    tamis_symbols_next(there, some, n);
    for (size_t i = 0; i < n; i++)
        if (from + i >= TAMIS_SYMBOLS_FIRST)
            some[i].count &= 0xff;
    assert_int_equal(tamis_difference_take(d, some, n, &is_done), TAMIS_OK);
    free(some);
    return is_done;
}

/* By the first symbols, of which one tells only how many more keys one side has. */
static double estimate_by_first(size_t here, size_t there, uint64_t seed)
{
    sides s = sides_of(100, here, there, seed);
    tamis_symbols *other = symbols_there(&s);
    tamis_difference *d = difference_to(symbols_here(&s));

    take_cut(d, other, 0, TAMIS_SYMBOLS_FIRST);
    double estimate = tamis_difference_estimate(d);
    tamis_difference_free(d);
    tamis_symbols_free(other);
    free(s.keys);
    return estimate;
}

static void estimates_are_near(void **state)
{
    static const size_t sizes[][2] = { { 10000, 10000 }, { 5000, 9000 }, { 300, 200 } };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t here = sizes[i][0], there = sizes[i][1], runs = run_size(40, 10, 1000);
        double k = (double)runs * (TAMIS_SYMBOLS_FIRST - 1), sum = 0;

        for (size_t run = 0; run < runs; run++)
            sum += estimate_by_first(here, there, 77 * i + run) / (double)(here + there);
        assert_true(fabs(sum / (double)runs - 1) * k < most_off(k));
    }
}

static void find_by_cut_counts(const sides *s, size_t first, size_t step)
{
    tamis_symbols *there = symbols_there(s);
    tamis_difference *d = difference_to(symbols_here(s));
    double keys = (double)(s->here + s->there), k = (double)first * 0.998;
    size_t taken = first, n;

    take_cut(d, there, 0, first);
    /* Deviations of counts that 8 bits cannot tell are left out: at most one in 500. */
    assert_true(fabs(tamis_difference_estimate(d) / keys - 1) * k < most_off(k));
    while (!take_cut(d, there, taken, step)) {
        taken += step;
        assert_true((double)taken < 2 * keys);
    }
    const uint64_t *found = tamis_difference_here(d, &n);
    assert_same_keys(found, n, s->keys + s->both, s->here);
    found = tamis_difference_there(d, &n);
    assert_same_keys(found, n, s->keys + s->both + s->here, s->there);
    tamis_difference_free(d);
    tamis_symbols_free(there);
}

/* In many symbols, and in few that hold many keys each. */
static void cut_counts_are_enough(void **state)
{
    sides many = sides_of(3000, 20000, 20000, 5), few = sides_of(100000, 150, 50, 6);

    (void)state;
    find_by_cut_counts(&many, 30000, 2000);
    find_by_cut_counts(&few, 150, 10);
    free(many.keys);
    free(few.keys);
}

/* Lies end: with an error, or with symbols that make no sense to the end. */
static void lies_end(void **state)
{
    rng r = rng_for(1, 1);

    (void)state;
    for (int round = 0; round < 200; round++) {
        sides s = sides_of(50, 10, 10, (uint64_t)round);
        tamis_symbols *there = symbols_there(&s);
        tamis_difference *d = difference_to(symbols_here(&s));
        tamis_symbol some[64];
        bool is_done = false;
        tamis_status status = TAMIS_OK;

        for (int i = 0; i < 8 && !status; i++) {
            tamis_symbols_next(there, some, 64);
            for (int k = 0; k < 64; k++)
                if (rng_next(&r) % 4 == 0)
                    some[k] = rng_next(&r) % 2 ? (tamis_symbol){ rng_next(&r), rng_next(&r), 1 }
                                               : some[rng_next(&r) % 64];
            status = tamis_difference_take(d, some, 64, &is_done);
        }
        if (status)
            assert_int_equal(tamis_difference_take(d, some, 1, &is_done), TAMIS_CORRUPT);
        tamis_difference_free(d);
        tamis_symbols_free(there);
        free(s.keys);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_found),
        cmocka_unit_test(symbols_are_few),
        cmocka_unit_test(symbols_do_not_depend_on_calls),
        cmocka_unit_test(symbols_are_as_they_were),
        cmocka_unit_test(estimates_are_near),
        cmocka_unit_test(cut_counts_are_enough),
        cmocka_unit_test(lies_end),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
