/* ext/redis/redis_bloom.c: sizes and positions as RedisBloom has them, batches as one by one, and
 * headers that another machine made up. */
#include "redis_bloom.h"

#include "block.h"
#include "check.h"
#include "limited_allocator.h"
#include "murmur.h"

static void murmur_gives_its_published_answers(void **state)
{
    const struct {
        const char *text;
        size_t size;
        uint64_t seed, hash64;
        uint32_t hash32;
    } vectors[] = {
        { "", 0, 0, 0, 0 },
        { "a", 1, 0, UINT64_C(0x071717d2d36b6b11), 0x92685f5e },
        { "hello", 5, 0, UINT64_C(0x1e68d17c457bf117), 0xe56129cb },
        { "hello world", 11, 0, UINT64_C(0xd3ba2368a832afce), 0x44a81419 },
        { "", 0, 1, UINT64_C(0xc6a4a7935bd064dc), 0x5bd15e36 },
        { "hello", 5, 0x9747b28c, UINT64_C(0x3ab0500e3b0ff825), 0x7f1ddbbd },
        { "\xff\x80\xfe\0\xc3\xa9\x81\x90\xa0", 9, 7, UINT64_C(0x78887ed018117c43), 0xeaf72062 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        assert_int_equal(murmur64(vectors[i].text, vectors[i].size, vectors[i].seed),
                         vectors[i].hash64);
        assert_int_equal(murmur32(vectors[i].text, vectors[i].size, (uint32_t)vectors[i].seed),
                         vectors[i].hash32);
    }
}

/* Blocks that begin and end anywhere in a page, with something in them and beside them. */
static void blocks_become_zeros(void **state)
{
    enum { LARGE = 3 << 20 };
    unsigned char *bytes = malloc(LARGE);

    (void)state;
    assert_non_null(bytes);
    for (size_t start = 1; start < 10000; start += 4095)
        for (size_t size = 0; size < LARGE - start - 1; size += 777777) {
            memset(bytes, 0xa5, LARGE);
            zero_block(bytes + start, size);
            for (size_t i = 0; i < LARGE; i++)
                if (bytes[i] != (i >= start && i < start + size ? 0 : 0xa5))
                    fail_msg("byte %zu of a block from %zu of %zu", i, start, size);
        }
    free(bytes);
}

/* ---- Filters ----------------------------------------------------------- */

static limited_allocator rich(void)
{
    return (limited_allocator){ .limit = UINT64_MAX };
}

static redis_bloom new_filter(limited_allocator *p, double error, uint64_t capacity,
                              uint32_t growth)
{
    redis_bloom b;

    assert_int_equal(redis_bloom_init(&b, allocator_of(p), error, capacity, growth, false), 0);
    return b;
}

static redis_bloom_hash hash_of(const redis_bloom *b, uint64_t item)
{
    return redis_bloom_hash_of(b, &item, sizeof item);
}

static bool has(const redis_bloom *b, uint64_t item)
{
    redis_bloom_hash h = hash_of(b, item);
    bool found;

    redis_bloom_has_many(b, &found, &h, 1);
    return found;
}

static tamis_status add(redis_bloom *b, uint64_t item, bool *added)
{
    redis_bloom_hash h = hash_of(b, item);
    size_t done;

    return redis_bloom_add_many(b, added, &done, &h, 1);
}

static bool same_filters(const redis_bloom *a, const redis_bloom *b)
{
    unsigned char *headers[2] = { malloc(redis_bloom_header_size(a)),
                                  malloc(redis_bloom_header_size(b)) };
    bool same = a->n == b->n;

    redis_bloom_write_header(a, headers[0]);
    redis_bloom_write_header(b, headers[1]);
    same = same && memcmp(headers[0], headers[1], redis_bloom_header_size(a)) == 0;
    for (uint32_t i = 0; i < a->n && same; i++)
        same = memcmp(a->links[i].array, b->links[i].array, a->links[i].bytes) == 0;
    free(headers[0]);
    free(headers[1]);
    return same;
}

/* BF.INFO says 240 bytes of a default filter: 32, 64 and these 144. */
static void sizes_are_those_of_redisbloom(void **state)
{
    const struct {
        double error;
        uint64_t capacity, bytes;
        uint32_t hashes;
        bool fixed;
    } rows[] = {
        { 0.01, 100, 144, 8, false }, { 0.01, 100, 120, 7, true },
        { 0.9, 1000, 544, 4, false }, /* as 0.25, halved; the digits of ln 2 make 4 of 3 hashes */
        { 0.5, 1, 8, 3, true },       { 0.001, 1000, 1984, 11, false },
    };
    limited_allocator p = rich();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        redis_bloom b;

        assert_int_equal(redis_bloom_init(&b, allocator_of(&p), rows[i].error, rows[i].capacity, 2,
                                          rows[i].fixed),
                         0);
        assert_int_equal(b.links[0].bytes, rows[i].bytes);
        assert_int_equal(b.links[0].hashes, rows[i].hashes);
        redis_bloom_clear(&b);
    }
    assert_int_equal(p.live, 0);
}

/* The bits of an item are where a division says, whatever the number of bits. */
static void positions_are_remainders(void **state)
{
    limited_allocator p = rich();

    (void)state;
    for (uint64_t capacity = 1; capacity < 3000; capacity += 7) {
        redis_bloom b = new_filter(&p, 0.01, capacity, 2);
        redis_bloom_link *l = &b.links[0];
        redis_bloom_hash h = hash_of(&b, capacity);
        unsigned char *wanted = calloc(1, l->bytes);
        bool added;

        for (uint64_t i = 0; i < l->hashes; i++) {
            uint64_t at = (h.first + i * h.step) % l->bits;

            wanted[at / 8] = (unsigned char)(wanted[at / 8] | 1 << at % 8);
        }
        assert_int_equal(add(&b, capacity, &added), 0);
        assert_true(added);
        assert_memory_equal(l->array, wanted, l->bytes);
        free(wanted);
        redis_bloom_clear(&b);
    }
}

/* Item i of a batch: 40 new ones, of which some come again after links were appended. */
static uint64_t item_of_batch(uint64_t batch, uint64_t i)
{
    return 40 * batch + i % 40;
}

static void batches_are_adds_in_order(void **state)
{
    enum { BATCHES = 40 };
    limited_allocator p = rich();
    redis_bloom one = new_filter(&p, 0.2, 5, 2), many = new_filter(&p, 0.2, 5, 2);

    (void)state;
    for (uint64_t batch = 0; batch < BATCHES; batch++) {
        redis_bloom_hash hashes[REDIS_BLOOM_BATCH];
        bool added[REDIS_BLOOM_BATCH], alone;
        size_t done;

        for (uint64_t i = 0; i < REDIS_BLOOM_BATCH; i++)
            hashes[i] = hash_of(&many, item_of_batch(batch, i));
        assert_int_equal(redis_bloom_add_many(&many, added, &done, hashes, REDIS_BLOOM_BATCH), 0);
        assert_int_equal(done, REDIS_BLOOM_BATCH);
        for (uint64_t i = 0; i < REDIS_BLOOM_BATCH; i++) {
            assert_int_equal(add(&one, item_of_batch(batch, i), &alone), 0);
            assert_int_equal(added[i], alone);
        }
    }
    assert_true(one.n > 4);
    assert_true(same_filters(&one, &many));
    for (uint64_t i = 0; i < 40 * BATCHES; i++)
        assert_true(has(&many, i));
    redis_bloom_clear(&one);
    redis_bloom_clear(&many);
    assert_int_equal(p.live, 0);
}

static void a_fixed_filter_is_full_at_its_capacity(void **state)
{
    limited_allocator p = rich();
    redis_bloom b;
    redis_bloom_hash hashes[6];
    bool added[6];
    size_t done;

    (void)state;
    assert_int_equal(redis_bloom_init(&b, allocator_of(&p), 0.01, 4, 2, true), 0);
    for (uint64_t i = 0; i < 6; i++)
        hashes[i] = hash_of(&b, 10 + i); /* none of which is taken for another */
    assert_int_equal(redis_bloom_add_many(&b, added, &done, hashes, 6), TAMIS_FULL);
    assert_int_equal(done, 4);
    assert_int_equal(b.size, 4);
    redis_bloom_clear(&b);
}

/* When there is no memory for another link, everything that is in stays in, and nothing else is. */
static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    for (uint64_t limit = 0; limit < 4000; limit += 50) {
        limited_allocator p = { .limit = limit };
        redis_bloom b;
        tamis_status status = redis_bloom_init(&b, allocator_of(&p), 0.01, 10, 2, false);
        uint64_t in = 0;
        bool added;

        if (status) {
            assert_int_equal(status, TAMIS_NOMEM);
            assert_int_equal(p.live, 0);
            continue;
        }
        while (!(status = add(&b, in, &added)))
            in++;
        assert_int_equal(status, TAMIS_NOMEM);
        for (uint64_t i = 0; i < in; i++)
            assert_true(has(&b, i));
        redis_bloom_clear(&b);
        assert_int_equal(p.live, 0);
    }
}

/* At twice the links the rate is 0, and there is no such link. */
static void growth_ends_with_the_last_rate(void **state)
{
    limited_allocator p = rich();
    redis_bloom b = new_filter(&p, 1e-320, 1, 1);
    tamis_status status = TAMIS_OK;
    bool added;

    (void)state;
    for (uint64_t i = 0; !status; i++)
        status = add(&b, i, &added);
    assert_int_equal(status, TAMIS_RANGE);
    redis_bloom_clear(&b);
}

static void copies_are_equal_and_apart(void **state)
{
    limited_allocator p = rich();
    redis_bloom b = new_filter(&p, 0.05, 10, 2), copy;
    bool added;

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(add(&b, i, &added), 0);
    assert_int_equal(redis_bloom_copy(&copy, allocator_of(&p), &b), 0);
    assert_true(same_filters(&b, &copy));
    redis_bloom_clear(&b);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(has(&copy, i));
    redis_bloom_clear(&copy);
    assert_int_equal(p.live, 0);
}

/* ---- Headers ----------------------------------------------------------- */

static void headers_make_the_filter_again(void **state)
{
    limited_allocator p = rich();
    redis_bloom b = new_filter(&p, 0.05, 10, 4), again;
    unsigned char header[20 + 53 * 8];
    bool added;
    size_t size;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(add(&b, i, &added), 0);
    assert_true(redis_bloom_header_size(&b) <= sizeof header);
    redis_bloom_write_header(&b, header);
    assert_int_equal(
        redis_bloom_read_header(&again, allocator_of(&p), header, redis_bloom_header_size(&b)), 0);
    for (uint64_t at = 0; redis_bloom_array(&b, at, &size); at += size)
        memcpy(redis_bloom_array(&again, at, &size), redis_bloom_array(&b, at, &size), size);
    assert_true(same_filters(&b, &again));
    redis_bloom_clear(&b);
    redis_bloom_clear(&again);
    assert_int_equal(p.live, 0);
}

/* Whatever a byte of the header is: refused without a trace, or a filter that can be used. */
static void any_header_is_refused_or_safe(void **state)
{
    limited_allocator p = { .limit = 1 << 20 };
    redis_bloom b = new_filter(&p, 0.05, 10, 4);
    unsigned char good[73], bad[73];
    unsigned step = is_sanitized() ? 5 : 1;

    (void)state;
    redis_bloom_write_header(&b, good);
    redis_bloom_clear(&b);
    for (size_t at = 0; at < sizeof good; at++)
        for (unsigned value = 0; value < 256; value += step) {
            bool added;

            memcpy(bad, good, sizeof bad);
            bad[at] = (unsigned char)value;
            if (redis_bloom_read_header(&b, allocator_of(&p), bad, sizeof bad))
                continue;
            for (uint64_t i = 0; i < 20; i++)
                if (!add(&b, i, &added))
                    assert_true(has(&b, i));
            redis_bloom_clear(&b);
        }
    for (size_t size = 0; size < sizeof good; size++)
        assert_int_equal(redis_bloom_read_header(&b, allocator_of(&p), good, size), TAMIS_CORRUPT);
    assert_int_equal(p.live, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(murmur_gives_its_published_answers),
        cmocka_unit_test(blocks_become_zeros),
        cmocka_unit_test(sizes_are_those_of_redisbloom),
        cmocka_unit_test(positions_are_remainders),
        cmocka_unit_test(batches_are_adds_in_order),
        cmocka_unit_test(a_fixed_filter_is_full_at_its_capacity),
        cmocka_unit_test(without_memory_nothing_is_lost),
        cmocka_unit_test(growth_ends_with_the_last_rate),
        cmocka_unit_test(copies_are_equal_and_apart),
        cmocka_unit_test(headers_make_the_filter_again),
        cmocka_unit_test(any_header_is_refused_or_safe),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
