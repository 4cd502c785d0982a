/* cuckoo-sorted: what cuckoo_buckets.c asks of that kind, and the codes of sorted nibbles. */
#include "cuckoo/buckets_sorted.h"

#define BUCKETS_SORTED
#define BUCKETS_KIND TAMIS_CUCKOO_SORTED
#include "cuckoo_buckets.c"

static void codes_are_those_of_multisets(void **state)
{
    unsigned code = 0;

    (void)state;
    for (unsigned d = 0; d < 16; d++)
        for (unsigned c = 0; c <= d; c++)
            for (unsigned b = 0; b <= c; b++)
                for (unsigned a = 0; a <= b; a++, code++) {
                    assert_int_equal(nibbles_code(a, b, c, d), code);
                    assert_int_equal(tamis__nibbles[code], a | b << 4 | c << 8 | d << 12);
                }
    assert_int_equal(code, NIBBLES);
    for (; code < NIBBLES_ROOM; code++)
        assert_int_equal(tamis__nibbles[code], 0);
}

/* All buckets of tags of four bits, in every order. */
static void order_does_not_matter(void **state)
{
    tamis *f = shaped(2, 4, 0);
    table t = table_of(f);

    (void)state;
    for (uint32_t all = 0; all < 1u << 16; all++) {
        bucket b = { { all & 15, all >> 4 & 15, all >> 8 & 15, all >> 12 } };
        write_bucket(&t, 1, &b);
        bucket is = read_bucket(&t, 1);
        assert_true(same_tags(is, b));
        assert_null(check_bucket(&t, 1, &is));
        for (unsigned s = 1; s < SLOTS; s++)
            assert_true(is.tag[s - 1] <= is.tag[s]);
    }
    tamis_free(f);
}

/* Two tags with one nibble, the other bits in the wrong order; then a code beyond the last. */
static void verify_sees_disorder(void **state)
{
    tamis *f = shaped(2, 9, 0);
    table t = table_of(f);
    raw r = { nibbles_code(0, 0, 5, 5), 0 };

    (void)state;
    f->count = 2;
    put_lane(&t, &r, NIBBLES_BITS, 2, 1);
    put_lane(&t, &r, NIBBLES_BITS, 3, 2);
    store_bucket(&t, 0, r);
    assert_true(is_whole(f));
    r.low = nibbles_code(0, 0, 5, 5);
    put_lane(&t, &r, NIBBLES_BITS, 2, 2);
    put_lane(&t, &r, NIBBLES_BITS, 3, 1);
    store_bucket(&t, 0, r);
    assert_broken(f);
    store_bucket(&t, 0, (raw){ NIBBLES, 0 });
    f->count = 0;
    assert_broken(f);
    store_bucket(&t, 0, (raw){ 0, 0 });
    assert_true(is_whole(f));
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_those_of_multisets),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(verify_sees_disorder),
        cmocka_unit_test(buckets_keep_to_themselves),
        cmocka_unit_test(lookups_see_what_is_there),
        cmocka_unit_test(the_other_of_the_other_is_the_first),
        cmocka_unit_test(large_tables_have_both_buckets),
        cmocka_unit_test(tags_and_buckets_are_even),
        cmocka_unit_test(the_stash_holds_eight),
        cmocka_unit_test(a_table_of_two_buckets_takes_sixteen),
        cmocka_unit_test(counts_stop_at_seven),
        cmocka_unit_test(add_times_is_all_or_nothing),
        cmocka_unit_test(one_key_a_million_times),
        cmocka_unit_test(sizes_follow_the_formula),
        cmocka_unit_test(ten_thousand_sizes_follow_the_formula),
        cmocka_unit_test(tables_fill_to_95_percent),
        cmocka_unit_test(plans_take_their_keys),
        cmocka_unit_test(verify_sees_counts_and_order),
        cmocka_unit_test(verify_sees_unused_bits),
        cmocka_unit_test(geometries_are_checked),
        cmocka_unit_test(churn_loses_nothing),
    };

    test_begin(argc, argv);
    return test_end(cmocka_run_group_tests(tests, NULL, NULL));
}
