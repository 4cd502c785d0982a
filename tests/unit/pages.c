/* os/pages.h: large blocks are aligned, zeroed and given back whole. */
#include "os/pages.h"

#include "check.h"

static void blocks_are_zeroed_aligned_and_writable_to_the_end(void **state)
{
    const size_t sizes[] = { 1,       4095,          4096,   65536, 65537, (2 << 20) - 1,
                             2 << 20, (2 << 20) + 1, 5 << 20 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *block = tamis__pages_new(sizes[i]);

        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (2 << 20), 0);
        for (size_t at = 0; at < sizes[i]; at += 1021)
            assert_int_equal(block[at], 0);
        assert_int_equal(block[sizes[i] - 1], 0);
        memset(block, 0xff, sizes[i]);
        tamis__pages_free(block, sizes[i]);
    }
}

static unsigned long mapped_pages(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (statm) {
        assert_int_equal(fscanf(statm, "%lu", &pages), 1);
        fclose(statm);
    }
    return pages;
}

static void freed_blocks_leave_no_mapping(void **state)
{
    const size_t size = (3 << 20) + 1;

    (void)state;
    tamis__pages_free(tamis__pages_new(size), size);
    unsigned long before = mapped_pages();
    for (int i = 0; i < 1000; i++) {
        void *block = tamis__pages_new(size);

        assert_non_null(block);
        tamis__pages_free(block, size);
    }
    assert_true(mapped_pages() < before + 1000);
}

static void sizes_beyond_memory_are_refused(void **state)
{
    (void)state;
    assert_null(tamis__pages_new(SIZE_MAX));
    assert_null(tamis__pages_new(SIZE_MAX - 65536));
    assert_null(tamis__pages_new(SIZE_MAX - (2 << 20)));
    if (sizeof(size_t) > 4) /* a system may give half of what 32 bits address */
        assert_null(tamis__pages_new(SIZE_MAX / 2));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_aligned_and_writable_to_the_end),
        cmocka_unit_test(freed_blocks_leave_no_mapping),
        cmocka_unit_test(sizes_beyond_memory_are_refused),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
