/* sort.c - sorting and dealing of items, against qsort(), whatever bits they have in common. */
#include "base/sort.h"

#include "base/hash.h"
#include "base/radix.h"
#include "check.h"

/* Bits in which items differ: all, only the last, only the first and the last, few in each byte. */
static const uint64_t MASKS[] = { UINT64_MAX, 0xff, UINT64_C(1) << 63 | 1,
                                  UINT64_C(0x0101010101010101), 0 };

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

typedef struct items {
    uint64_t *hashes, *pairs, *sorted;
    size_t n;
} items;

static items items_of(size_t n, uint64_t mask)
{
    rng r = rng_for(1700, n ^ mask);
    items x = { array_of(n, 8), array_of(n, 16), array_of(n, 8), n };

    for (size_t i = 0; i < n; i++) {
        x.sorted[i] = x.hashes[i] = x.pairs[2 * i] = rng_next(&r) & mask;
        x.pairs[2 * i + 1] = mix64(x.hashes[i]);
    }
    qsort(x.sorted, n, sizeof *x.sorted, by_value);
    return x;
}

static void drop(items *x)
{
    free(x->hashes);
    free(x->pairs);
    free(x->sorted);
}

static void on_each(void (*check)(items *x))
{
    const size_t sizes[] = { 0, 1, 2, 48, 49, 50, 255, 1000, 30000 };

    for (size_t m = 0; m < sizeof MASKS / sizeof *MASKS; m++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            items x = items_of(sizes[i], MASKS[m]);
            check(&x);
            drop(&x);
        }
}

static void check_sort(items *x)
{
    size_t distinct = x->n > 0;

    for (size_t i = 1; i < x->n; i++)
        distinct += x->sorted[i] != x->sorted[i - 1];
    tamis__sort(x->hashes, x->n);
    tamis__sort_pairs(x->pairs, x->n);
    assert_memory_equal(x->hashes, x->sorted, x->n * 8);
    for (size_t i = 0; i < x->n; i++) {
        assert_int_equal(x->pairs[2 * i], x->sorted[i]);
        assert_int_equal(x->pairs[2 * i + 1], mix64(x->sorted[i]));
    }
    assert_int_equal(tamis__sort_unique(x->hashes, x->n), distinct);
    for (size_t i = 1; i < distinct; i++)
        assert_true(x->hashes[i - 1] < x->hashes[i]);
}

static void everything_is_sorted(void **state)
{
    (void)state;
    on_each(check_sort);
}

static uint64_t group_of(uint64_t hash, unsigned skip, unsigned bits)
{
    return bits ? hash << skip >> (64 - bits) : 0;
}

/* In place and into another array: the same groups, of the same items. */
static void check_groups(items *x)
{
    size_t starts[1025], ends[1024];
    uint64_t *dealt = array_of(x->n, 16);

    for (unsigned skip = 0; skip <= 54; skip += 27)
        for (unsigned bits = 0; bits <= 10; bits += 5) {
            const radix r = { .skip = skip, .bits = bits, .is_paired = true, .is_hashed = true };
            size_t groups = (size_t)1 << bits, at = 0;

            memset(ends, 0, sizeof ends);
            tamis__radix_count(ends, &r, x->pairs, x->n);
            for (size_t i = 0; i < groups; i++) {
                size_t n = ends[i];
                ends[i] = at;
                at += n;
            }
            tamis__radix_deal(dealt, ends, &r, x->pairs, x->n);
            tamis__sort_group(x->hashes, x->n, 1, skip, bits, starts);
            tamis__sort_group((uint64_t *)x->pairs, x->n, 2, skip, bits, starts);
            starts[groups] = x->n;
            for (size_t g = 0; g < groups; g++) {
                assert_int_equal(ends[g], starts[g + 1]);
                for (size_t i = starts[g]; i < starts[g + 1]; i++) {
                    assert_int_equal(group_of(x->hashes[i], skip, bits), g);
                    assert_int_equal(group_of(x->pairs[2 * i], skip, bits), g);
                    assert_int_equal(group_of(dealt[2 * i], skip, bits), g);
                    assert_int_equal(dealt[2 * i + 1], mix64(dealt[2 * i]));
                }
            }
        }
    free(dealt);
    check_sort(x); /* Nothing was lost. */
}

static void everything_is_grouped(void **state)
{
    (void)state;
    on_each(check_groups);
}

/* In groups by their first bits, with room for all, for some or for none of them. */
static void check_groups_sorted(items *x)
{
    const size_t rooms[] = { x->n, x->n / 8, 0 };
    uint64_t *spare = array_of(x->n, 8);
    size_t starts[64];

    for (unsigned bits = 0; bits <= 6; bits += 3)
        for (int i = 0; i < 3; i++) {
            tamis__sort_group(x->hashes, x->n, 1, 0, bits, starts);
            tamis__sort_groups(x->hashes, x->n, bits, spare, rooms[i]);
            assert_memory_equal(x->hashes, x->sorted, x->n * 8);
            for (size_t k = 0; k < x->n; k++)
                x->hashes[k] = x->pairs[2 * k];
        }
    free(spare);
}

static void groups_are_sorted(void **state)
{
    (void)state;
    on_each(check_groups_sorted);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_sorted),
        cmocka_unit_test(everything_is_grouped),
        cmocka_unit_test(groups_are_sorted),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
