/* ext/redis/redis_cuckoo.c: no copy is lost by evictions, growth and compactions, and headers that
 * another machine made up do no harm. */
#include "redis_cuckoo.h"

#include "check.h"
#include "limited_allocator.h"

enum { TABLES = 32 };

static redis_cuckoo new_filter(limited_allocator *p, uint64_t capacity, uint16_t bucket_size,
                               uint16_t expansion)
{
    redis_cuckoo c;

    assert_int_equal(redis_cuckoo_init(&c, allocator_of(p), capacity, bucket_size, 20, expansion),
                     0);
    return c;
}

static redis_cuckoo_hash hash_of(uint64_t item)
{
    return redis_cuckoo_hash_of(&item, sizeof item);
}

static bool same_filters(const redis_cuckoo *a, const redis_cuckoo *b)
{
    unsigned char headers[2][REDIS_CUCKOO_HEADER_SIZE];
    const unsigned char *slots;
    size_t size = 0;

    redis_cuckoo_write_header(a, headers[0]);
    redis_cuckoo_write_header(b, headers[1]);
    if (memcmp(headers[0], headers[1], sizeof headers[0]) != 0)
        return false;
    for (uint64_t at = 0; (slots = redis_cuckoo_array(a, at, &size)); at += size)
        if (memcmp(slots, redis_cuckoo_array(b, at, &size), size) != 0)
            return false;
    return true;
}

/* Slots that hold a fingerprint. */
static uint64_t taken(const redis_cuckoo *c)
{
    const unsigned char *slots;
    size_t size = 0;
    uint64_t n = 0;

    for (uint64_t at = 0; (slots = redis_cuckoo_array(c, at, &size)); at += size)
        for (size_t i = 0; i < size; i++)
            n += slots[i] != 0;
    return n;
}

static void sizes_are_those_of_redisbloom(void **state)
{
    const struct {
        uint64_t capacity, buckets;
        uint16_t bucket_size, expansion, rounded;
    } rows[] = { { 1024, 512, 2, 1, 1 },
                 { 1000, 512, 2, 3, 4 },
                 { 4, 2, 2, 0, 0 },
                 { 100, 32, 4, 32768, 32768 } };
    limited_allocator p = { .limit = UINT64_MAX };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        redis_cuckoo c = new_filter(&p, rows[i].capacity, rows[i].bucket_size, rows[i].expansion);

        assert_int_equal(c.buckets, rows[i].buckets);
        assert_int_equal(c.expansion, rows[i].rounded);
        redis_cuckoo_clear(&c);
    }
    assert_int_equal(p.live, 0);
}

/* Random adds and removes of items that are there, beside exact counts: every count is at least the
 * true one, and as many slots are taken as there are items. */
static void no_copy_is_lost(void **state)
{
    static const uint16_t expansions[] = { 1, 2, 4 };

    (void)state;
    for (size_t e = 0; e < 3; e++) {
        limited_allocator p = { .limit = UINT64_MAX };
        redis_cuckoo c = new_filter(&p, 16, 2, expansions[e]);
        uint64_t seed = test_seed(), live = 0, counts[300] = { 0 };

        for (uint64_t step = 0; step < 20000; step++) {
            uint64_t item =
                (seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407) >> 40;
            bool grows = step % 8000 < 4500 ? item % 4 > 0 : item % 4 == 0;

            item = (item >> 2) % 300;
            if (grows && live < 400 && !redis_cuckoo_add(&c, hash_of(item), 1000)) {
                counts[item]++;
                live++;
            } else if (!grows && counts[item] > 0) {
                assert_true(redis_cuckoo_remove(&c, hash_of(item)));
                counts[item]--;
                live--;
            }
            if (step % 2000 == 0)
                redis_cuckoo_compact(&c);
            assert_true(redis_cuckoo_count(&c, hash_of(item)) >= counts[item]);
        }
        assert_int_equal(c.items, live);
        assert_int_equal(taken(&c), live);
        for (uint64_t i = 0; i < 300; i++)
            assert_true(counts[i] == 0 || redis_cuckoo_has(&c, hash_of(i)));
        redis_cuckoo_clear(&c);
        assert_int_equal(p.live, 0);
    }
}

/* A filter that is full, may not grow or gets no memory is as it was, bit by bit. */
static void what_fails_changes_nothing(void **state)
{
    static const struct {
        uint16_t expansion;
        uint32_t max_tables;
        bool is_poor;
        tamis_status status;
    } rows[] = { { 0, TABLES, false, TAMIS_FULL },
                 { 1, 3, false, TAMIS_RANGE },
                 { 2, TABLES, true, TAMIS_NOMEM } };

    (void)state;
    for (size_t r = 0; r < 3; r++) {
        limited_allocator p = { .limit = UINT64_MAX }, q = p;
        redis_cuckoo c = new_filter(&p, 64, 4, rows[r].expansion), before;
        unsigned failed = 0;

        if (rows[r].is_poor)
            p.limit = p.live + 20;
        for (uint64_t item = 0; failed < 200; item++) {
            tamis_status status;

            assert_int_equal(redis_cuckoo_copy(&before, allocator_of(&q), &c), 0);
            status = redis_cuckoo_add(&c, hash_of(item), rows[r].max_tables);
            if (status) {
                failed++;
                assert_int_equal(status, rows[r].status);
                assert_true(same_filters(&before, &c));
            }
            redis_cuckoo_clear(&before);
        }
        redis_cuckoo_clear(&c);
        assert_int_equal(p.live + q.live, 0);
    }
}

static void headers_make_the_filter_again(void **state)
{
    limited_allocator p = { .limit = UINT64_MAX };
    redis_cuckoo c = new_filter(&p, 16, 2, 2), again;
    unsigned char bytes[REDIS_CUCKOO_HEADER_SIZE];
    redis_cuckoo_header h;
    size_t size;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(redis_cuckoo_add(&c, hash_of(i), TABLES), 0);
    redis_cuckoo_write_header(&c, bytes);
    h = redis_cuckoo_read_header(bytes);
    assert_int_equal(redis_cuckoo_make(&again, allocator_of(&p), &h), 0);
    for (uint64_t at = 0; redis_cuckoo_array(&c, at, &size); at += size)
        memcpy(redis_cuckoo_array(&again, at, &size), redis_cuckoo_array(&c, at, &size), size);
    assert_true(same_filters(&c, &again));
    redis_cuckoo_clear(&c);
    redis_cuckoo_clear(&again);
    assert_int_equal(p.live, 0);
}

/* Whatever a byte of the header is, and whatever the slots: refused, or a filter that can be used.
 */
static void any_header_is_refused_or_safe(void **state)
{
    limited_allocator p = { .limit = 1 << 18 };
    redis_cuckoo c = new_filter(&p, 16, 2, 2);
    unsigned char good[REDIS_CUCKOO_HEADER_SIZE], bad[REDIS_CUCKOO_HEADER_SIZE], *slots;
    unsigned step = is_sanitized() ? 15 : 1;
    size_t size = 0;

    (void)state;
    redis_cuckoo_write_header(&c, good);
    redis_cuckoo_clear(&c);
    for (size_t i = 0; i < sizeof good; i++)
        for (unsigned value = 0; value < 256; value += step) {
            redis_cuckoo_header h;

            memcpy(bad, good, sizeof bad);
            bad[i] = (unsigned char)value;
            h = redis_cuckoo_read_header(bad);
            if (redis_cuckoo_make(&c, allocator_of(&p), &h))
                continue;
            for (uint64_t at = 0; (slots = redis_cuckoo_array(&c, at, &size)); at += size)
                memset(slots, (int)value, size);
            for (uint64_t item = 0; item < 5; item++) {
                redis_cuckoo_remove(&c, hash_of(item));
                if (!redis_cuckoo_add(&c, hash_of(item), TABLES))
                    assert_true(redis_cuckoo_has(&c, hash_of(item)));
            }
            redis_cuckoo_compact(&c);
            redis_cuckoo_clear(&c);
        }
    assert_int_equal(p.live, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_redisbloom),
        cmocka_unit_test(no_copy_is_lost),
        cmocka_unit_test(what_fails_changes_nothing),
        cmocka_unit_test(headers_make_the_filter_again),
        cmocka_unit_test(any_header_is_refused_or_safe),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
