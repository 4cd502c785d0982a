/* What sketches tell of themselves, of filters that are known by hand. */
#include "explain_text.h"
#include "kinds.h"

static tamis *new_rows(tamis_kind kind, uint64_t slots, uint32_t rows)
{
    tamis_plan plan = plan_for(kind, 10, 0.1, 0);

    plan.slots = slots;
    plan.hashes = rows;
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    assert_true(plan.bytes > 0);
    return new_filter(&plan);
}

static void add_hash(tamis *f, uint64_t hash, uint64_t times)
{
    assert_int_equal(tamis_add_times(f, tamis_key_with_hash(f, hash), times), TAMIS_OK);
    assert_true(is_whole(f));
}

static void assert_steps_of_hash(const tamis *f, uint64_t hash, const char *text)
{
    assert_steps(f, tamis_key_with_hash(f, hash), text);
}

/* The first bits of a hash are the counter of the first row. */
static uint64_t hash_at(uint64_t first)
{
    return first << 61;
}

static void rows_of_countmin(void **state)
{
    tamis *f = new_rows(TAMIS_COUNTMIN, 8, 2);

    (void)state;
    add_hash(f, hash_at(1), 3);
    add_hash(f, hash_at(2), 5);
    assert_cells(f, "row 0: 0 3 5 0 0 0 0 0\n"
                    "row 1: 0 0 0 3 0 0 5 0");
    assert_steps_of_hash(f, hash_at(1),
                         "hash 2000000000000000\n"
                         "counter, row 0/1 3 yes\n"
                         "counter, row 1/3 3 yes\n"
                         "count 3\n"
                         "yes: none of its counters is 0");
    assert_steps_of_hash(f, hash_at(3),
                         "hash 6000000000000000\n"
                         "counter, row 0/3 0 no\n"
                         "counter, row 1/2 0 no\n"
                         "count 0\n"
                         "no: a counter is 0 that adding it would have raised");
    tamis_free(f);
}

/* The example of spectral.h: 100000 is 15 and the digits 34449 and 1. */
static void digits_of_spectral(void **state)
{
    tamis *f = new_rows(TAMIS_SPECTRAL, 8, 2);

    (void)state;
    add_hash(f, hash_at(1), 100000);
    add_hash(f, hash_at(2), 3);
    assert_cells(f, "row 0: 0 186a0 3 0 0 0 0 0\n"
                    "row 1: 0 0 0 186a0 0 0 3 0\n"
                    "table of digits 0: . 8691 8691 .2 1 1 .\n"
                    "digits in use 0: 4");
    assert_steps_of_hash(f, hash_at(1),
                         "hash 2000000000000000\n"
                         "counter, row 0/1 186a0 yes\n"
                         "counter, row 1/3 186a0 yes\n"
                         "count 186a0\n"
                         "yes: none of its counters is 0");
    assert_steps_of_hash(f, hash_at(2),
                         "hash 4000000000000000\n"
                         "counter, row 0/2 3 yes\n"
                         "counter, row 1/6 3 yes\n"
                         "count 3\n"
                         "yes: none of its counters is 0");
    tamis_free(f);
}

/* Keys 0 to 5, added one time more than their number, and key 1 once more. The last shares two of
 * its counters when it comes, and moves. */
static void second_rows_of_spectral_rm(void **state)
{
    tamis *f = new_rows(TAMIS_SPECTRAL_RM, 8, 3);

    (void)state;
    for (uint64_t i = 0; i < 6; i++)
        add_hash(f, hash_at(i), i + 1);
    add_hash(f, hash_at(1), 1);
    assert_cells(f, "row 0: 1 3 3 4 5 6 0 0\n"
                    "row 1: 7 0 4 3 0 5 3 0\n"
                    "row 2: 1 0 0 5 9 4 3 0\n"
                    "second row 0: 0 0 6 0 0\n"
                    "second row 1: 0 6 0 0 0\n"
                    "second row 2: 0 0 0 0 6\n"
                    "marks 0: 0 0 0 0 0 1 0 0 0 0 0 0 0 0 1 0 1 0 0 0 0 0 0 0\n"
                    "table of digits 0: .8\n"
                    "digits in use 0: 0");
    assert_steps_of_hash(f, hash_at(2),
                         "hash 4000000000000000\n"
                         "counter, row 0/2 3 yes\n"
                         "counter, row 1/6 3 yes\n"
                         "counter, row 2/4 9 yes\n"
                         "least counter 3\n"
                         "number of rows that have it 2\n"
                         "count 3\n"
                         "yes: none of its counters is 0");
    assert_steps_of_hash(f, hash_at(5),
                         "hash a000000000000000\n"
                         "counter, row 0/5 6 yes\n"
                         "counter, row 1/0 7 yes\n"
                         "counter, row 2/4 9 yes\n"
                         "least counter 6\n"
                         "number of rows that have it 1\n"
                         "mark of a key that moved, marks 0/5 1 yes\n"
                         "mark of a key that moved, marks 0/14 1 yes\n"
                         "mark of a key that moved, marks 0/16 1 yes\n"
                         "counter, second row 0/2 6 yes\n"
                         "counter, second row 1/1 6 yes\n"
                         "counter, second row 2/4 6 yes\n"
                         "count 6\n"
                         "yes: none of its counters is 0");
    assert_steps_of_hash(f, hash_at(6),
                         "hash c000000000000000\n"
                         "counter, row 0/6 0 no\n"
                         "counter, row 1/4 0 no\n"
                         "counter, row 2/3 5 yes\n"
                         "least counter 0\n"
                         "number of rows that have it 2\n"
                         "count 0\n"
                         "no: a counter is 0 that adding it would have raised");
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_countmin),
        cmocka_unit_test(digits_of_spectral),
        cmocka_unit_test(second_rows_of_spectral_rm),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
