/* fuse_kernels.c - the portable solver of the binary fuse filters makes the bytes that the fastest
 * one of this machine makes, and answers as it does. */
#ifndef FUSE_ARITY
#define FUSE_ARITY 3
#endif

#include "base/cpu.h"
#include "fuse/fuse_layout_template.h"
#include "kinds.h"
#include "tamis_builder.h"
#include "tamis_explain.h"

static const tamis_kind KIND = FUSE_ARITY == 3   ? TAMIS_FUSE
                               : FUSE_ARITY == 4 ? TAMIS_FUSE4
                                                 : TAMIS_FUSE5;

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void make_one_filter(size_t n, unsigned width, uint64_t round)
{
    rng r = rng_for(1740 + n, round * 100 + width);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan = plan_for(KIND, n, ldexp(1, -(int)width), 0);
    tamis *f = filter_of(&plan, keys, n);
    uint64_t *hashes = array_of(n + 1, sizeof *hashes);
    uint8_t *part = array_of(f->plan.bytes, 1);
    void *scratch = array_of(f->ops.scratch(&f->plan, TAMIS_STAGE_SIEVE, n, 1), 1);
    size_t distinct = n;

    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_key(keys[i], f->salt);
    qsort(hashes, n, sizeof *hashes, ascending);
    tamis__use_cpu(f, TAMIS_CPU_PORTABLE);
    assert_int_equal(f->ops.solve(f, TAMIS_STAGE_SIEVE, part, hashes, &distinct, scratch, NULL),
                     TAMIS_OK);
    assert_int_equal(distinct, n);
    assert_memory_equal(part, f->payload, f->plan.bytes);
    tamis_free(f);
    free(hashes);
    free(part);
    free(scratch);
    free(keys);
}

static void solvers_make_one_filter(void **state)
{
    const size_t sizes[] = { 0, 1, 7, 8, 9, 63, 64, 65, 300, 5000, 150000 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned width = 3; width <= 32; width += i < 9 ? 1 : 13)
            for (uint64_t round = 0; round < (i < 9 ? 5 : 1); round++)
                make_one_filter(sizes[i], width, round);
}

/* ---- Two workers ------------------------------------------------------- */

/* A key whose near block starts at slot `near`, and whose j-th slot is that one. */
static uint64_t key_in_slot(const tamis *f, const fuse_shape *s, uint32_t near, unsigned j,
                            uint32_t slot, rng *r)
{
    uint64_t high = (((uint64_t)(near - s->window) << 32) + s->room - 1) / s->room, h;

    assert_int_equal(fuse_near(s, high << 32, 0), near);
    do {
        uint32_t low = (uint32_t)rng_next(r), reach = near - 1 - slot;
        if (j == FUSE_IN_NEAR)
            low = (low & ~(s->in_window << FUSE_REACH_AT)) | reach << FUSE_REACH_AT;
        h = high << 32 | low;
    } while (fuse_slots_of(s, (uint32_t)h, near).at[j] != slot);
    return unhash_key(h, f->salt);
}

/* Some keys have a slot in their near block, others, whose near blocks come a window later, in
 * their far one. One worker has peeled the first before it adds the last. Of two, the one that adds
 * is so far ahead that it meets all of them, and takes them for too many: then one starts again. */
static void a_crowd_of_two_workers_is_none_of_one(void **state)
{
    enum { N = 70000, CROWDED = 20 };
    rng r = rng_for(1745, 0);
    uint64_t *keys = fresh_keys(&r, N);
    tamis_plan plan = plan_for(KIND, 1000000, 1.0 / 256, 0);
    const fuse_shape s = fuse_shape_of(&plan);
    uint32_t block = s.in_block + 1,
             near = s.window + (uint32_t)(s.room / 2 & ~(uint64_t)s.in_block);
    tamis *f = new_filter(&plan), *alone, *shared;

    (void)state;
    for (uint32_t i = 0; i < CROWDED; i++) {
        keys[i] = key_in_slot(f, &s, near, 0, near + 5, &r);
        keys[CROWDED + i] =
            key_in_slot(f, &s, near + s.window - (i + 1) * block, FUSE_IN_NEAR, near + 5, &r);
    }
    tamis_free(f);
    assert_int_equal(tamis_build(&alone, &plan, keys, N, NULL), TAMIS_OK);
    assert_int_equal(tamis_build_threads(&shared, &plan, keys, N, 2, NULL), TAMIS_OK);
    assert_int_equal(((uint8_t *)alone->payload)[s.tail + FUSE_TAIL_TRIES], 1);
    assert_int_equal(shared->plan.bytes, alone->plan.bytes);
    assert_memory_equal(shared->payload, alone->payload, alone->plan.bytes);
    tamis_free(alone);
    tamis_free(shared);
    free(keys);
}

/* A key whose near block starts at slot `near`, with these low bits of the hash. */
static uint64_t key_of(const tamis *f, const fuse_shape *s, uint32_t near, uint32_t low)
{
    uint64_t high = (((uint64_t)(near - s->window) << 32) + s->room - 1) / s->room;

    assert_int_equal(fuse_near(s, high << 32, 0), near);
    return unhash_key(high << 32 | low, f->salt);
}

enum { VICTIMS = 4, COPIES = 61, CROWD_OF_KEYS = COPIES + 3 };

/* 64 keys meet in slot number `first` of a block, one of which can be peeled before. The sum of the
 * others looks like one key, whose near block is behind the last one, where the queue is. */
static void make_count_wrap(const tamis *f, const fuse_shape *s, uint32_t block, uint32_t first,
                            uint64_t *keys)
{
    uint32_t length = s->in_block + 1, near = block + 8 * length, peeled = block - 13 * length;

    keys[0] = key_of(f, s, block, first | (block - 1 - (peeled + 2 * first)) << FUSE_REACH_AT);
    keys[1] = key_of(f, s, block, first);
    keys[2] = key_of(f, s, block, first | s->window / 2 << FUSE_REACH_AT);
    for (unsigned i = 3; i < CROWD_OF_KEYS; i++)
        keys[i] = key_of(f, s, near,
                         (FUSE_ARITY == 4 ? 5 : 3) | (near - 1 - (block + first)) << FUSE_REACH_AT);
}

/* The worker that adds finds the crowd in its last stride, the one before which the other worker
 * waits. Keys of the strides before come twice, so that none of them can be peeled. */
static void no_worker_peels_where_a_count_has_wrapped(void **state)
{
    enum { BLOCKS = 29 * 32, LAST_BLOCKS = 28, WINDOW_BITS = 4 };
    enum { OTHERS = 70000, N = OTHERS + VICTIMS * CROWD_OF_KEYS };
    rng r = rng_for(1746, 0);
    uint64_t *keys = array_of(N, sizeof *keys);
    tamis_plan plan = plan_for(KIND, 50000, 1.0 / 256, 0);
    tamis *f, *alone, *shared;

    (void)state;
    plan.hashes = FUSE_MOST_BLOCK_BITS | WINDOW_BITS << FUSE_WINDOW_BITS_AT;
    plan.slots = (BLOCKS + LAST_BLOCKS) << FUSE_MOST_BLOCK_BITS;
    plan.bytes = tamis__ops(KIND)->bytes(&plan);
    const fuse_shape s = fuse_shape_of(&plan);
    f = new_filter(&plan);
    for (size_t i = 0; i < OTHERS; i += 2) {
        uint32_t block = 16 + (uint32_t)rng_below(&r, BLOCKS - 64);
        keys[i] = keys[i + 1] =
            key_of(f, &s, block << FUSE_MOST_BLOCK_BITS, (uint32_t)rng_next(&r));
    }
    for (uint32_t i = 0; i < VICTIMS; i++)
        make_count_wrap(f, &s, (BLOCKS + 12) << FUSE_MOST_BLOCK_BITS, 3 + 4 * i,
                        keys + OTHERS + i * CROWD_OF_KEYS);
    tamis_free(f);
    assert_int_equal(tamis_build(&alone, &plan, keys, N, NULL), TAMIS_OK);
    assert_int_equal(tamis_build_threads(&shared, &plan, keys, N, 2, NULL), TAMIS_OK);
    assert_true(same_image(alone, shared));
    tamis_free(alone);
    tamis_free(shared);
    free(keys);
}

/* ---- Lookups ----------------------------------------------------------- */

/* Any number of keys from an odd address on: what is left over from eights and words, too. */
static void kernels_give_one_answer(tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t fast[4] = { 0 }, portable[4] = { 0 };
    size_t found = tamis_has_many(f, fast, keys, n);

    tamis__use_cpu(f, 0);
    assert_int_equal(tamis_has_many(f, portable, keys, n), found);
    tamis__use_cpu(f, tamis__cpu());
    assert_memory_equal(fast, portable, sizeof fast);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(fast[i / 64] >> i % 64 & 1, tamis_has(f, keys[i]));
    for (size_t i = n; i < 256; i++)
        assert_int_equal(fast[i / 64] >> i % 64 & 1, 0);
}

static void lookups_agree(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        rng r = rng_for(1750, i);
        uint64_t *keys = fresh_keys(&r, 2000);
        tamis_plan plan = plan_for(KIND, 1000, ldexp(1, -1 - (int)i), 0);
        tamis *f = filter_of(&plan, keys, 1000);
        shuffle(&r, keys, 2000);
        for (size_t n = 0; n <= 255; n++)
            kernels_give_one_answer(f, keys + n, n);
        tamis_free(f);
        free(keys);
    }
}

/* The stash of its part knows a key that is in no slot. */
static void stash(tamis *f, uint64_t key)
{
    const fuse_shape s = fuse_shape_of(&f->plan);
    uint64_t h = hash_key(key, f->salt), at = part_of(h, s.part_bits) * s.part_bytes + s.tail;
    uint8_t *tail = (uint8_t *)f->payload + at;
    unsigned n = le16(tail + FUSE_TAIL_STASHED);

    put_le16(tail + FUSE_TAIL_STASHED, (uint16_t)(n + 1));
    put_le64(tail + FUSE_TAIL_BITMAP + s.bitmap + 8 * n, h);
    tail[FUSE_TAIL_BITMAP + (h >> 3 & (s.bitmap - 1))] |= (uint8_t)(1 << h % 8);
    assert_true(tamis_has(f, key));
}

/* Parts that are all alike, that have stashes, of which one has another seed, or no keys. */
static void parts_agree(tamis_kind kind, unsigned width)
{
    rng r = rng_for(1760, width);
    uint64_t *keys = fresh_keys(&r, 2000);
    tamis_plan plan = plan_for(kind, (UINT64_C(1) << 24) + 1, ldexp(1, -(int)width), 0);
    tamis *f = filter_of(&plan, keys, 1000);
    const fuse_shape s = fuse_shape_of(&f->plan);
    uint8_t *last = (uint8_t *)f->payload + s.part_bytes + s.tail;

    assert_int_equal(s.part_bits, 1);
    for (unsigned round = 0; round < 4; round++) {
        for (size_t n = 0; n <= 255; n++)
            kernels_give_one_answer(f, keys + 900 + n, n);
        for (size_t i = 0; round == 0 && i < 50; i++)
            stash(f, keys[1000 + 10 * i]);
        if (round > 0)
            last[FUSE_TAIL_TRIES] = round == 1 ? 2 : 0;
    }
    tamis_free(f);
    free(keys);
}

static void lookups_agree_in_parts(void **state)
{
    const unsigned widths[] = { 8, 10, 16, 27, 32 };

    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i += run_size(1, 2, 1)) {
        parts_agree(TAMIS_FUSE, widths[i]);
        parts_agree(TAMIS_FUSE4, widths[i]);
    }
}

/* ---- Later seeds ------------------------------------------------------- */

/* A filter whose first seed failed: in one of the sets that have little room, sooner or later. */
static tamis *reseeded_filter(unsigned width, rng *r, uint64_t *keys, size_t n)
{
    for (;;) {
        tamis_plan plan = plan_for(KIND, n, ldexp(1, -(int)width), 0);
        uint64_t *fresh = fresh_keys(r, n);
        memcpy(keys, fresh, n * sizeof *keys);
        free(fresh);
        plan.slots -= plan.slots / 40 >> (plan.hashes & 15) << (plan.hashes & 15);
        plan.bytes = tamis__ops(KIND)->bytes(&plan);
        tamis *f = filter_of(&plan, keys, n);
        const fuse_shape s = fuse_shape_of(&f->plan);
        if (((uint8_t *)f->payload)[s.tail + FUSE_TAIL_TRIES] > 1)
            return f;
        tamis_free(f);
    }
}

static void check_rehash(const tamis *f)
{
    const fuse_shape *s = (const fuse_shape *)(const void *)f->derived;
    unsigned tries = ((const uint8_t *)f->payload)[s->tail + FUSE_TAIL_TRIES];

    for (uint64_t key = 0; key < 1000; key++)
        assert_int_equal(fuse_rehash(key, f->salt, s->between),
                         fuse_seeded(hash_key(key, f->salt), tries - 1));
}

static bool leave(void *ctx, const tamis_step *step)
{
    (void)ctx, (void)step;
    return false;
}

/* What is looked up by a seed that was asked for once is what the payload says, which explain()
 * reads for every key. */
static void later_seeds_are_looked_up_as_they_were_built(void **state)
{
    enum { N = 3000, ABSENT = 500 };
    const unsigned widths[] = { 5, 8, 10, 16, 27, 32 };

    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        rng r = rng_for(1770, i);
        uint64_t *keys = array_of(N + ABSENT, sizeof *keys);
        tamis *f = reseeded_filter(widths[i], &r, keys, N);

        check_rehash(f);
        for (size_t j = 0; j < ABSENT; j++)
            keys[N + j] = rng_next(&r);
        assert_true(holds_all(f, keys, N));
        for (size_t j = 0; j < N + ABSENT; j++)
            assert_int_equal(tamis_has(f, keys[j]), tamis_explain(f, keys[j], leave, NULL));
        for (size_t n = 0; n <= 255; n += run_size(1, 7, 7))
            kernels_give_one_answer(f, keys + N - n / 2, n);
        tamis_free(f);
        free(keys);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_make_one_filter),
        cmocka_unit_test(a_crowd_of_two_workers_is_none_of_one),
        cmocka_unit_test(no_worker_peels_where_a_count_has_wrapped),
        cmocka_unit_test(lookups_agree),
        cmocka_unit_test(lookups_agree_in_parts),
        cmocka_unit_test(later_seeds_are_looked_up_as_they_were_built),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
