/* What Bloom kinds, and those like them, tell of themselves, of filters that are known by hand. */
#include "explain_text.h"
#include "kinds.h"

/* A plan of another geometry; 0: that stays. */
static tamis *new_like(tamis_kind kind, uint64_t slots, uint32_t width, uint32_t hashes)
{
    tamis_plan plan = plan_for(kind, 10, 0.1, 0);

    plan.slots = slots ? slots : plan.slots;
    plan.width = width ? width : plan.width;
    plan.hashes = hashes ? hashes : plan.hashes;
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    assert_true(plan.bytes > 0);
    return new_filter(&plan);
}

static void add_hash(tamis *f, uint64_t hash)
{
    assert_int_equal(tamis_add(f, tamis_key_with_hash(f, hash)), TAMIS_OK);
    assert_true(is_whole(f));
}

static void assert_steps_of_hash(const tamis *f, uint64_t hash, const char *text)
{
    assert_steps(f, tamis_key_with_hash(f, hash), text);
}

/* ---- Bits -------------------------------------------------------------- */

static void bits_of_bitmap(void **state)
{
    tamis_plan plan = plan_for(TAMIS_BITMAP, 10, 0, 0);
    tamis *f = new_filter(&plan);

    (void)state;
    assert_int_equal(tamis_add(f, 3), TAMIS_OK);
    assert_int_equal(tamis_add(f, 8), TAMIS_OK);
    assert_cells(f, "bits 0: 0 0 0 1 0 0 0 0 1 0");
    assert_steps(f, 8, "key 8\nits bit, bits 0/8 1 yes\nyes: its bit is set");
    assert_steps(f, 7, "key 7\nits bit, bits 0/7 0 no\nno: its bit is clear");
    assert_steps(f, 10, "key a\nno: it is too large a number to have a bit");
    tamis_free(f);
}

/* A block has eight words of 32 bits, and a key one bit in each: of a hash that ends in 32 zeros,
 * the first; of one that ends in 1, the first five bits of the salts. */
static const unsigned OF_1[] = { 8, 8, 17, 20, 14, 5, 19, 11 };

/* The 256 cells of a block: the bits of the two kinds of hashes have these values. */
static void tell_block(explain_text *t, const char *array, unsigned of_0, unsigned of_1)
{
    explain_text_add(t, "%s%s:", t->size ? "\n" : "", array);
    for (unsigned i = 0; i < 256; i++)
        explain_text_add(t, " %x", i % 32 == 0 ? of_0 : i % 32 == OF_1[i / 32] ? of_1 : 0);
}

static void bits_of_blocked(void **state)
{
    tamis *f = new_like(TAMIS_BLOCKED, 2, 0, 0);
    explain_text t = { .size = 0 };

    (void)state;
    add_hash(f, UINT64_C(1) << 63);
    tell_block(&t, "block 0", 0, 0);
    tell_block(&t, "block 1", 1, 0);
    assert_cells(f, t.text);
    assert_steps_of_hash(f, UINT64_C(1) << 63,
                         "hash 8000000000000000\n"
                         "block 1\n"
                         "bit, block 1/0 1 yes\n"
                         "bit, block 1/32 1 yes\n"
                         "bit, block 1/64 1 yes\n"
                         "bit, block 1/96 1 yes\n"
                         "bit, block 1/128 1 yes\n"
                         "bit, block 1/160 1 yes\n"
                         "bit, block 1/192 1 yes\n"
                         "bit, block 1/224 1 yes\n"
                         "yes: all its bits are set");
    assert_steps_of_hash(f, UINT64_C(1) << 63 | 1,
                         "hash 8000000000000001\n"
                         "block 1\n"
                         "bit, block 1/8 0 no\n"
                         "bit, block 1/40 0 no\n"
                         "bit, block 1/81 0 no\n"
                         "bit, block 1/116 0 no\n"
                         "bit, block 1/142 0 no\n"
                         "bit, block 1/165 0 no\n"
                         "bit, block 1/211 0 no\n"
                         "bit, block 1/235 0 no\n"
                         "no: a bit is clear that adding it would have set");
    tamis_free(f);
}

/* Keys are added to the newest stage, and their hash is 0 in all. */
static void stages_of_scalable(void **state)
{
    tamis *f = new_like(TAMIS_SCALABLE, 1, 0, 2);
    explain_text t = { .size = 0 };

    (void)state;
    add_hash(f, 0);
    tell_block(&t, "stage 0", 0, 0);
    tell_block(&t, "stage 1", 1, 0);
    for (int i = 0; i < 256; i++)
        explain_text_add(&t, " 0");
    explain_text_add(&t, "\nkeys held 0: 1");
    assert_cells(f, t.text);
    assert_steps_of_hash(f, 0,
                         "hash 0\n"
                         "stage 1\n"
                         "block 0\n"
                         "bit, stage 1/0 1 yes\n"
                         "bit, stage 1/32 1 yes\n"
                         "bit, stage 1/64 1 yes\n"
                         "bit, stage 1/96 1 yes\n"
                         "bit, stage 1/128 1 yes\n"
                         "bit, stage 1/160 1 yes\n"
                         "bit, stage 1/192 1 yes\n"
                         "bit, stage 1/224 1 yes\n"
                         "stage 0\n"
                         "block 0\n"
                         "bit, stage 0/0 0 no\n"
                         "bit, stage 0/32 0 no\n"
                         "bit, stage 0/64 0 no\n"
                         "bit, stage 0/96 0 no\n"
                         "bit, stage 0/128 0 no\n"
                         "bit, stage 0/160 0 no\n"
                         "bit, stage 0/192 0 no\n"
                         "bit, stage 0/224 0 no\n"
                         "yes: all its bits are set in a stage");
    tamis_free(f);
}

/* A key of the first generation, then one of the second. */
static void bytes_of_window(void **state)
{
    tamis *f = new_like(TAMIS_WINDOW, 1, 0, 1);
    explain_text t = { .size = 0 };

    (void)state;
    add_hash(f, 0);
    assert_int_equal(tamis_rotate(f), TAMIS_OK);
    add_hash(f, 1);
    tell_block(&t, "block 0", 1, 2);
    explain_text_add(&t, "\nrotations 0: 1\nkeys held 0: 1");
    assert_cells(f, t.text);
    assert_steps_of_hash(f, 1,
                         "hash 1\n"
                         "block 0\n"
                         "generations with the bit, block 0/8 2 yes\n"
                         "generations with the bit, block 0/40 2 yes\n"
                         "generations with the bit, block 0/81 2 yes\n"
                         "generations with the bit, block 0/116 2 yes\n"
                         "generations with the bit, block 0/142 2 yes\n"
                         "generations with the bit, block 0/165 2 yes\n"
                         "generations with the bit, block 0/211 2 yes\n"
                         "generations with the bit, block 0/235 2 yes\n"
                         "generation that has it 1\n"
                         "yes: a generation has all its bits");
    assert_steps_of_hash(f, 2,
                         "hash 2\n"
                         "block 0\n"
                         "generations with the bit, block 0/17 0 no\n"
                         "generations with the bit, block 0/49 0 no\n"
                         "generations with the bit, block 0/66 0 no\n"
                         "generations with the bit, block 0/104 0 no\n"
                         "generations with the bit, block 0/156 0 no\n"
                         "generations with the bit, block 0/171 0 no\n"
                         "generations with the bit, block 0/199 0 no\n"
                         "generations with the bit, block 0/247 0 no\n"
                         "no: no generation has all its bits");
    tamis_free(f);
}

/* ---- Counters ---------------------------------------------------------- */

static void counters_of_counting(void **state)
{
    tamis *f = new_like(TAMIS_COUNTING, 8, 4, 2);

    (void)state;
    add_hash(f, UINT64_C(3) << 61);
    add_hash(f, UINT64_C(3) << 61);
    add_hash(f, UINT64_C(5) << 61);
    assert_cells(f, "counters 0: 1 0 2 2 0 1 0 0");
    assert_steps_of_hash(f, UINT64_C(3) << 61,
                         "hash 6000000000000000\n"
                         "counter, counters 0/3 2 yes\n"
                         "counter, counters 0/2 2 yes\n"
                         "count 2\n"
                         "yes: none of its counters is 0");
    assert_steps_of_hash(f, UINT64_C(4) << 61,
                         "hash 8000000000000000\n"
                         "counter, counters 0/4 0 no\n"
                         "counter, counters 0/5 1 yes\n"
                         "count 0\n"
                         "no: a counter is 0 that adding it would have raised");
    tamis_free(f);
}

/* The last eight digits of a hash name the counters, one in each word of sixteen. */
static void counters_of_counting_blocked(void **state)
{
    tamis *f = new_like(TAMIS_COUNTING_BLOCKED, 1, 0, 0);

    (void)state;
    add_hash(f, 0x76543210);
    add_hash(f, 0xffffff10);
    assert_cells(f, "block 0:"
                    " 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
                    " 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
                    " 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 1"
                    " 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 1"
                    " 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 1"
                    " 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 1"
                    " 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 1"
                    " 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 1");
    assert_steps_of_hash(f, 0x76543210,
                         "hash 76543210\n"
                         "block 0\n"
                         "counter, block 0/0 2 yes\n"
                         "counter, block 0/17 2 yes\n"
                         "counter, block 0/34 1 yes\n"
                         "counter, block 0/51 1 yes\n"
                         "counter, block 0/68 1 yes\n"
                         "counter, block 0/85 1 yes\n"
                         "counter, block 0/102 1 yes\n"
                         "counter, block 0/119 1 yes\n"
                         "count 1\n"
                         "yes: none of its counters is 0");
    tamis_free(f);
}

/* ---- Codes ------------------------------------------------------------- */

static tamis *build_of_hashes(const tamis_plan *plan, const uint64_t *hashes, size_t n)
{
    tamis *empty = new_filter(plan);
    uint64_t keys[8];

    for (size_t i = 0; i < n; i++)
        keys[i] = tamis_key_with_hash(empty, hashes[i]);
    tamis_free(empty);
    return filter_of(plan, keys, n);
}

static void bits_of_compressed(void **state)
{
    const uint64_t hashes[] = { UINT64_C(0) << 60, UINT64_C(5) << 60, UINT64_C(15) << 60 };
    tamis_plan plan = plan_for(TAMIS_COMPRESSED, 3, 0.3, 0);

    (void)state;
    plan.slots = 16;
    plan.hashes = 1;
    plan.bytes = tamis__ops(TAMIS_COMPRESSED)->bytes(&plan);
    tamis *f = build_of_hashes(&plan, hashes, 3);
    assert_cells(f, "bits 0: 1 0 0 0 0 1 0 0 0 0 0 0 0 0 0 1\n"
                    "set bits 0: 3\n"
                    "base 0: 0\n"
                    "start 0: 0 2\n"
                    "codes 0: e1 7d");
    assert_steps_of_hash(f, UINT64_C(5) << 60,
                         "hash 5000000000000000\n"
                         "block 0\n"
                         "first byte of the block 0\n"
                         "bit, bits 0/5 1 yes\n"
                         "yes: all its bits are set");
    assert_steps_of_hash(f, UINT64_C(14) << 60,
                         "hash e000000000000000\n"
                         "block 0\n"
                         "first byte of the block 0\n"
                         "bit, bits 0/14 0 no\n"
                         "no: a bit is clear that adding it would have set");
    tamis_free(f);
}

/* A rest of four bits and a one for each value, and a zero for the 16 cells before the second. */
static void values_of_gcs(void **state)
{
    const uint64_t hashes[] = { UINT64_C(2) << 58, UINT64_C(21) << 58, UINT64_C(22) << 58 };
    tamis_plan plan = plan_for(TAMIS_GCS, 3, 3.0 / 64, 0);

    (void)state;
    plan.slots = 64;
    plan.bytes = tamis__ops(TAMIS_GCS)->bytes(&plan);
    assert_int_equal(plan.width, 4);
    tamis *f = build_of_hashes(&plan, hashes, 3);
    assert_cells(f, "bucket 0: 2 15 16\n"
                    "offsets of part 0: 0 10");
    assert_steps_of_hash(f, UINT64_C(21) << 58,
                         "hash 5400000000000000\n"
                         "bucket 0\n"
                         "first bit of the bucket 0\n"
                         "value 15\n"
                         "value of the bucket, bucket 0/0 2 no\n"
                         "value of the bucket, bucket 0/1 15 yes\n"
                         "yes: its value is in its bucket");
    assert_steps_of_hash(f, UINT64_C(60) << 58,
                         "hash f000000000000000\n"
                         "bucket 0\n"
                         "first bit of the bucket 0\n"
                         "value 3c\n"
                         "value of the bucket, bucket 0/0 2 no\n"
                         "value of the bucket, bucket 0/1 15 no\n"
                         "value of the bucket, bucket 0/2 16 no\n"
                         "no: its value is not among those of its bucket, which ascend");
    tamis_free(f);
}

static bool hear_step(void *ctx, const tamis_step *step)
{
    *(bool *)ctx |= step->type == TAMIS_STEP_CELL && step->agrees;
    return true;
}

/* The answer is that of has(), which reads many values at once: those that are told bear it out. */
static void values_of_gcs_bear_out_the_answer(void **state)
{
    tamis_plan plan = plan_for(TAMIS_GCS, 1000, 0.3, 0);
    rng r = rng_for(3100, 0);
    uint64_t *keys = fresh_keys(&r, 2000);
    tamis *f = filter_of(&plan, keys, 1000);

    (void)state;
    for (size_t i = 0; i < 2000; i++) {
        bool agrees = false;
        assert_int_equal(tamis_explain(f, keys[i], hear_step, &agrees), tamis_has(f, keys[i]));
        assert_int_equal(agrees, tamis_has(f, keys[i]));
    }
    tamis_free(f);
    free(keys);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_bitmap),
        cmocka_unit_test(bits_of_blocked),
        cmocka_unit_test(stages_of_scalable),
        cmocka_unit_test(bytes_of_window),
        cmocka_unit_test(counters_of_counting),
        cmocka_unit_test(counters_of_counting_blocked),
        cmocka_unit_test(bits_of_compressed),
        cmocka_unit_test(values_of_gcs),
        cmocka_unit_test(values_of_gcs_bear_out_the_answer),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
