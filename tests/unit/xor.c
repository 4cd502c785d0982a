/* xor.c - what chance hardly reaches in the xor filters: the stash, other seeds, keys chosen to
 * collide, a geometry that is too small, counts that lie. */
#include <sys/mman.h>

#include "base/bits.h"
#include "base/cpu.h"
#include "base/le.h"
#include "widths.h"

enum { HEAD_SEED = 4, HEAD_STASHED = 5, HEAD_STASH = 8, STASH = 3, SCATTERED = 8, MARK_SHIFT = 6 };

static const tamis_kind KINDS[] = { TAMIS_XOR, TAMIS_XORPLUS };

static uint64_t blocks_of(tamis_kind kind)
{
    return kind == TAMIS_XOR ? 3 : 4;
}

/* The bits of the third block come before the head, 448 of them in 64 bytes. */
static uint8_t *head(const tamis *f)
{
    uint64_t bits = f->plan.kind == TAMIS_XOR ? 0 : f->plan.slots / 2;

    return (uint8_t *)f->payload + bits / 448 * 64 +
           (bits % 448 ? 8 + bytes_of_bits(bits % 448) : 0);
}

/* A plan with that many slots or a few more instead of what it takes. */
static tamis_plan squeezed(tamis_kind kind, uint64_t n, uint64_t slots)
{
    tamis_plan plan = plan_for(kind, n, 1.0 / 256, 0);

    plan.slots = (slots / blocks_of(kind) + 1) * blocks_of(kind);
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    assert_true(plan.bytes > 0);
    return plan;
}

/* In any order, the keys make the same filter, which holds them. */
static void built_and_held(const tamis_plan *plan, uint64_t *keys, size_t n, rng *r)
{
    tamis *f = filter_of(plan, keys, n);

    assert_int_equal(f->count, n);
    assert_true(holds_all(f, keys, n));
    assert_true(is_whole(f));
    shuffle(r, keys, n);
    tamis *g = filter_of(plan, keys, n);
    assert_true(same_image(f, g));
    tamis_free(f);
    tamis_free(g);
}

/* ---- Luck -------------------------------------------------------------- */

/* Among many sets in little room, some need the stash and some another seed. */
static void stash_and_seeds_are_used_and_work(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        size_t reseeded = 0, of_each[STASH + 1] = { 0 };
        rng r = rng_for(1800, (uint64_t)k);

        for (int round = 0; round < 600; round++) {
            size_t n = 60 + rng_below(&r, 60);
            tamis_plan plan = plan_for(KINDS[k], n, 1.0 / 256, 0);
            tamis_plan small = squeezed(KINDS[k], n, plan.slots * 7 / 8);
            uint64_t *keys = fresh_keys(&r, n);
            tamis *f = filter_of(&small, keys, n);

            assert_true(holds_all(f, keys, n));
            assert_true(is_whole(f));
            assert_true(head(f)[HEAD_STASHED] <= STASH);
            of_each[head(f)[HEAD_STASHED]]++;
            reseeded += head(f)[HEAD_SEED] > 0;
            tamis_free(f);
            free(keys);
        }
        assert_true(reseeded > 20);
        assert_true(of_each[1] > 0 && of_each[2] > 0 && of_each[3] > 0);
    }
}

/* Writes to the head. Whoever changes a payload chooses the code for it anew. */
static void put_head(tamis *f, size_t at, uint8_t byte)
{
    head(f)[at] = byte;
    tamis__use_cpu(f, f->cpu);
}

/* A stashed key is in no slot: the stash alone knows it. */
static void stash_is_what_answers(void **state)
{
    const uint64_t key = 12345;

    (void)state;
    for (int k = 0; k < 2; k++) {
        tamis_plan plan = plan_for(KINDS[k], 1000, 0x1p-32, 0);
        rng r = rng_for(1810, 0);
        uint64_t *keys = fresh_keys(&r, 1000), hits;
        tamis *f = filter_of(&plan, keys, 1000);
        uint8_t *at = head(f);

        assert_int_equal(le32(at), 1000);
        assert_false(tamis_has(f, key));
        put_head(f, HEAD_STASHED, 2);
        put_le64(at + HEAD_STASH + 8, hash_key(key, f->salt) >> MARK_SHIFT);
        assert_true(tamis_has(f, key));
        assert_int_equal(tamis_has_many(f, &hits, &key, 1), 1);
        put_head(f, HEAD_STASHED, 1);
        assert_false(tamis_has(f, key));
        assert_int_equal(tamis_has_many(f, &hits, &key, 1), 0);
        put_head(f, HEAD_STASHED, 255);
        assert_true(tamis_has(f, key));
        assert_false(is_whole(f));
        tamis_free(f);
        free(keys);
    }
}

/* Of two parts, the second alone has a stash. */
static void each_part_is_asked_for_its_stash(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        tamis_plan plan = plan_for(KINDS[k], (UINT64_C(1) << 24) + 1, 1.0 / 256, 0);
        rng r = rng_for(1815, 0);
        uint64_t *keys = fresh_keys(&r, 1000), key = 0, hits;
        tamis *f = filter_of(&plan, keys, 1000);
        uint8_t *second = head(f) + f->plan.bytes / 2;

        while (tamis_has(f, key) || hash_key(key, f->salt) >> 63 == 0)
            key++;
        put_le64(second + HEAD_STASH, hash_key(key, f->salt) << 1 >> MARK_SHIFT);
        put_head(f, f->plan.bytes / 2 + HEAD_STASHED, 1);
        assert_true(tamis_has(f, key));
        assert_int_equal(tamis_has_many(f, &hits, &key, 1), 1);
        assert_true(holds_all(f, keys, 1000));
        tamis_free(f);
        free(keys);
    }
}

/* As many slots as keys cannot be peeled: the filter becomes larger, and is the same each time. */
static void too_small_a_geometry_grows(void **state)
{
    const size_t sizes[] = { 200, 1000, 20000 };

    (void)state;
    for (int k = 0; k < 2; k++)
        for (int s = 0; s < 3; s++) {
            rng r = rng_for(1820, sizes[s]);
            uint64_t *keys = fresh_keys(&r, sizes[s]);
            tamis_plan plan = plan_for(KINDS[k], sizes[s], 1.0 / 256, 0);
            tamis_plan small = squeezed(KINDS[k], sizes[s], sizes[s]);
            tamis *f = filter_of(&small, keys, sizes[s]);

            assert_true(f->plan.slots > small.slots && f->plan.slots < plan.slots * 9 / 8);
            tamis_free(f);
            built_and_held(&small, keys, sizes[s], &r);
            free(keys);
        }
}

/* ---- Keys that somebody chose ------------------------------------------ */

/* The last six bits of a hash do not count in a filter of one part: sixty-four keys are as one. */
static void equal_marks_are_one_key(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rng r = rng_for(1830, (uint64_t)k);
        tamis_plan plan = plan_for(KINDS[k], 1000, 1.0 / 256, 0);
        uint64_t *keys = fresh_keys(&r, 1000), salt = salt_of_seed(0);

        for (unsigned i = 0; i < 64; i++)
            keys[i] = unhash_key((UINT64_C(0x123456789ABCDE) << 6) + i, salt);
        built_and_held(&plan, keys, 1000, &r);
        free(keys);
    }
}

/* One of each pair is peeled or stashed, and both are found. */
static void twins_of_stashed_keys_are_found(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rng r = rng_for(1835, (uint64_t)k);
        size_t stashed = 0;

        for (int round = 0; round < 200; round++) {
            uint64_t *keys = fresh_keys(&r, 200), salt = salt_of_seed(0);
            tamis_plan plan = squeezed(KINDS[k], 200, 140);

            for (int i = 0; i < 100; i++)
                keys[100 + i] = unhash_key(hash_key(keys[i], salt) ^ 1, salt);
            tamis *f = filter_of(&plan, keys, 200);
            assert_int_equal(f->count, 200);
            assert_true(holds_all(f, keys, 200));
            stashed += head(f)[HEAD_STASHED] > 0;
            tamis_free(f);
            free(keys);
        }
        assert_true(stashed > 10);
    }
}

/* All hashes begin alike: they have one slot in the first block, until they are scattered. */
static void equal_beginnings_are_scattered(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rng r = rng_for(1840, (uint64_t)k);
        tamis_plan plan = plan_for(KINDS[k], 5000, 1.0 / 256, 0);
        uint64_t *keys = fresh_keys(&r, 5000), salt = salt_of_seed(0);

        for (size_t i = 0; i < 5000; i++)
            keys[i] = unhash_key(keys[i] >> 20 | UINT64_C(0xABCDE) << 44, salt);
        tamis *f = filter_of(&plan, keys, 5000);
        assert_true(head(f)[HEAD_SEED] >= SCATTERED);
        assert_int_equal(f->plan.slots, plan.slots);
        tamis_free(f);
        built_and_held(&plan, keys, 5000, &r);
        free(keys);
    }
}

/* ---- Counts ------------------------------------------------------------ */

/* A copy of the payload that ends where memory does. */
static uint8_t *at_end_of_memory(const tamis *f, uint8_t **block, size_t *size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (f->plan.bytes + page - 1) / page * page;

    *size = used + page;
    *block = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(*block != MAP_FAILED);
    assert_int_equal(mprotect(*block + used, page, PROT_NONE), 0);
    return memcpy(*block + used - f->plan.bytes, f->payload, f->plan.bytes);
}

/* Whatever the counts say, answers come from within the payload, and are the same in batches. */
static void lying_counts_do_no_harm(void **state)
{
    const int widths[] = { 1, 5, 8, 13, 16, 25, 26, 32 };

    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        rng r = rng_for(1850, i);
        uint64_t keys[640], hits[10];
        tamis_plan plan = plan_for(TAMIS_XORPLUS, 2000 + i, ldexp(1, -widths[i]), 0);
        uint64_t *members = fresh_keys(&r, plan.capacity);
        tamis *f = filter_of(&plan, members, plan.capacity);
        uint8_t *block, *payload = f->payload;
        size_t size;

        f->payload = at_end_of_memory(f, &block, &size);
        for (uint8_t *at = f->payload; at < head(f); at += 8)
            put_le64(at, (at - (uint8_t *)f->payload) % 64 ? UINT64_MAX : INT32_MAX);
        assert_false(is_whole(f));
        for (int k = 0; k < 640; k++)
            keys[k] = rng_next(&r);
        tamis_has_many(f, hits, keys, 640);
        for (int k = 0; k < 640; k++)
            assert_int_equal(hits[k / 64] >> k % 64 & 1, tamis_has(f, keys[k]));
        munmap(block, size);
        f->payload = payload;
        tamis_free(f);
        free(members);
    }
}

/* Each count, each bit of the last line. */
static void wrong_counts_are_found(void **state)
{
    rng r = rng_for(1860, 0);
    tamis_plan plan = plan_for(TAMIS_XORPLUS, 2000, 1.0 / 256, 0);
    uint64_t *keys = fresh_keys(&r, 2000);
    tamis *f = filter_of(&plan, keys, 2000);
    uint8_t *payload = f->payload;

    (void)state;
    assert_true(is_whole(f));
    for (uint8_t *at = payload; at < head(f); at++)
        for (int bit = 0; bit < 8; bit++) {
            *at ^= (uint8_t)(1 << bit);
            /* In the last pair of words of the last line, nothing is counted behind. */
            bool is_counted = at < head(f) - 16 || (size_t)(at - payload) % 64 < 8;
            assert_true(!is_counted || tamis__ops(TAMIS_XORPLUS)->verify(f));
            *at ^= (uint8_t)(1 << bit);
        }
    tamis_free(f);
    free(keys);
}

/* ---- Widths and sizes -------------------------------------------------- */

static void every_width_works(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int width = 1; width <= 32; width++) {
            tamis_plan plan = plan_for(KINDS[k], 3000, ldexp(1, -width), 0);

            assert_int_equal(check_width(KINDS[k], width, 1870).slots, plan.slots);
        }
}

static void sizes_are_as_promised(void **state)
{
    (void)state;
    assert_true(bits_per_key(TAMIS_XOR, 10000000, 0x1p-8) <= 9.80);
    assert_true(bits_per_key(TAMIS_XOR, 10000000, 0x1p-10) <= 12.25);
    assert_true(bits_per_key(TAMIS_XOR, 1000000000, 0x1p-8) <= 9.80);
    assert_true(bits_per_key(TAMIS_XOR, 10000, 0x1p-8) <= 10);
    assert_true(bits_per_key(TAMIS_XOR, 1000, 0x1p-8) <= 11);
    assert_true(bits_per_key(TAMIS_XORPLUS, 10000000, 0x1p-8) <= 9.00);
    assert_true(bits_per_key(TAMIS_XORPLUS, 10000000, 0x1p-10) <= 11.1);
    assert_true(bits_per_key(TAMIS_XORPLUS, 1000000000, 0x1p-8) <= 9.00);
    assert_true(bits_per_key(TAMIS_XORPLUS, 10000, 0x1p-8) <= 9.3);
    assert_true(bits_per_key(TAMIS_XORPLUS, 1000, 0x1p-8) <= 10.3);
}

/* ---- Geometry ---------------------------------------------------------- */

static void other_geometries_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const tamis_plan good = plan_for(KINDS[k], 5000, 0.01, 0);
        uint64_t (*bytes)(const tamis_plan *p) = tamis__ops(KINDS[k])->bytes;
        tamis_plan bad[] = { good, good, good, good, good, good, good, good, good, good };

        bad[0].width = 0;
        bad[1].width = 33;
        bad[2].hashes = 2;
        bad[3].hashes = 4;
        bad[4].slots++;
        bad[5].slots = 0;
        bad[6].slots = (UINT64_C(1) << 31) / 12 * 12 + 12;
        bad[7].capacity = UINT64_MAX;
        bad[8].flags = TAMIS_PLAN_EXACT_DELETE;
        bad[9].load = 900;
        assert_int_equal(bytes(&good), good.bytes);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            assert_int_equal(bytes(&bad[i]), 0);
    }
}

/* ---- Many at once ------------------------------------------------------ */

static void assert_batches_agree(const tamis *f, const uint64_t *asked, size_t n)
{
    uint64_t hits[32];

    assert_true(n <= 64 * sizeof hits / sizeof *hits);
    memset(hits, 0xff, sizeof hits);
    size_t found = tamis_has_many(f, hits, asked, n), counted = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = hits[i / 64] >> i % 64 & 1;
        assert_int_equal(hit, tamis_has(f, asked[i]));
        counted += hit;
    }
    assert_int_equal(found, counted);
}

/* What fits in a cache is not fetched ahead of its use: both ways, with groups that are full, short
 * and empty, of filters with and without a stash, on every kind of machine. */
static void batches_answer_as_single_calls(void **state)
{
    const size_t sizes[] = { 100, 100000, 1300000 }, most = 1000;
    const double rates[] = { 0x1p-3, 0x1p-8, 0x1p-16, 0x1p-32 };
    const unsigned machines[] = { 0, tamis__cpu() };

    (void)state;
    for (size_t i = 0; i < 2 * 3 * 4 * 2; i++) {
        tamis_kind kind = KINDS[i % 2];
        size_t n = sizes[i / 2 % 3];
        if (is_sanitized() && n > 100000)
            continue;
        rng r = rng_for(1890, i);
        uint64_t *keys = fresh_keys(&r, n + most);
        tamis_plan plan = plan_for(kind, n, rates[i / 6 % 4], 0);
        tamis *f = filter_of(&plan, keys + most, n);

        memcpy(keys + most / 2, keys + most, (n < most / 2 ? n : most / 2) * sizeof *keys);
        shuffle(&r, keys, most);
        tamis__use_cpu(f, machines[i / 24]);
        for (size_t m = 0; m <= most; m += m < 260 ? 1 : 185)
            assert_batches_agree(f, keys, m);
        put_head(f, HEAD_STASHED, 1);
        assert_batches_agree(f, keys, most);
        put_head(f, HEAD_SEED, SCATTERED);
        assert_batches_agree(f, keys, most);
        tamis_free(f);
        free(keys);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stash_and_seeds_are_used_and_work),
        cmocka_unit_test(stash_is_what_answers),
        cmocka_unit_test(each_part_is_asked_for_its_stash),
        cmocka_unit_test(too_small_a_geometry_grows),
        cmocka_unit_test(equal_marks_are_one_key),
        cmocka_unit_test(twins_of_stashed_keys_are_found),
        cmocka_unit_test(equal_beginnings_are_scattered),
        cmocka_unit_test(lying_counts_do_no_harm),
        cmocka_unit_test(wrong_counts_are_found),
        cmocka_unit_test(every_width_works),
        cmocka_unit_test(sizes_are_as_promised),
        cmocka_unit_test(other_geometries_are_refused),
        cmocka_unit_test(batches_answer_as_single_calls),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
