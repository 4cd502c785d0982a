/* explain_fuse.c - what static kinds tell of themselves, of filters that are known by hand: by
 * peeling, by linear equations, with values and with a universe. */
#include "explain_text.h"
#include "kinds.h"

static tamis_plan plan_of_tags(tamis_kind kind, uint64_t keys, uint32_t tag_bits)
{
    tamis_spec spec = TAMIS_SPEC(.keys = keys, .tag_bits = tag_bits);

    return plan_of_spec(kind, spec);
}

/* Keys with these hashes. */
static void unhash(uint64_t *keys, const tamis_plan *plan, const uint64_t *hashes, size_t n)
{
    tamis *f = filter_of(plan, NULL, 0);

    for (size_t i = 0; i < n; i++)
        keys[i] = tamis_key_with_hash(f, hashes[i]);
    tamis_free(f);
}

/* ---- Peeling ----------------------------------------------------------- */

/* Two blocks of eight slots. With low bits of zeros, a key has the first two slots of block 1 and
 * the last of block 0, and bits 32 to 39 are its fingerprint. Other low bits, times the factor of
 * the layout, are mixed into it: 1 in the second key, 0x4f2 in the third.
 *
 *   key   slots           fingerprint
 *   a     1/0  1/1  0/7   2a
 *   b     1/2  1/3  0/7   15 ^ 01
 *   c     1/1  1/2  0/6   33 ^ f2
 *
 * Slots 0/6, 1/0 and 1/3 have one key each. */
static const uint64_t THREE[] = { UINT64_C(0x2a) << 32, UINT64_C(0x15) << 32 | 2,
                                  UINT64_C(0x33) << 32 | 0x801 };

static void three_keys_of_fuse(void **state)
{
    tamis_plan plan = plan_of_tags(TAMIS_FUSE, 3, 8);
    uint64_t keys[3];

    (void)state;
    unhash(keys, &plan, THREE, 3);
    tamis *f = filter_of(&plan, keys, 3);
    assert_cells(f, "block 0: 0 0 0 0 0 0 c1 0\n"
                    "block 1: 2a 0 0 14 0 0 0 0\n"
                    "stash 0: .3\n"
                    "bits of the stash 0: 0\n"
                    "seeds tried 0: 1\n"
                    "keys 0: 3");
    assert_steps(f, keys[2],
                 "hash 3300000801\n"
                 "seeds tried in its part, seeds tried 0/0 1 yes\n"
                 "near block 1\n"
                 "far block 0\n"
                 "fingerprint c1\n"
                 "slot in its near block, block 1/1 0 yes\n"
                 "slot in its near block, block 1/2 0 yes\n"
                 "slot in its far block, block 0/6 c1 yes\n"
                 "xor of its slots c1\n"
                 "yes: the xor of its slots is its fingerprint");
    assert_steps(f, tamis_key_with_hash(f, 3),
                 "hash 3\n"
                 "seeds tried in its part, seeds tried 0/0 1 yes\n"
                 "near block 1\n"
                 "far block 0\n"
                 "fingerprint 1\n"
                 "slot in its near block, block 1/3 14 no\n"
                 "slot in its near block, block 1/4 0 no\n"
                 "slot in its far block, block 0/7 0 no\n"
                 "xor of its slots 14\n"
                 "no: the xor of its slots is not its fingerprint");
    tamis_free(f);
}

static bool take_peel(void *ctx, const tamis_peel *step)
{
    const char *const names[] = { "touches", "takes", "leaves", "fills", "adds" };
    explain_text *t = ctx;

    explain_text_add(t, "%c %s", (char)('a' + step->key), names[step->type]);
    for (unsigned j = 0; j < step->n_cells; j++)
        if (j == step->own || step->type == TAMIS_PEEL_TOUCHES || step->type == TAMIS_PEEL_ADDS)
            explain_text_add(t, " %llu/%llu", (unsigned long long)step->cells[j].number,
                             (unsigned long long)step->cells[j].index);
    if (step->type == TAMIS_PEEL_FILLS)
        explain_text_add(t, " with %llx", (unsigned long long)step->cells[step->own].value);
    explain_text_add(t, "\n");
    return true;
}

static void three_keys_are_peeled(void **state)
{
    tamis_plan plan = plan_of_tags(TAMIS_FUSE, 3, 8);
    explain_text t = { .size = 0 };
    uint64_t keys[3];

    (void)state;
    unhash(keys, &plan, THREE, 3);
    tamis *f = filter_of(&plan, keys, 3);
    assert_int_equal(tamis_explain_peeling(f, keys, 3, take_peel, &t), TAMIS_OK);
    assert_string_equal(t.text, "a touches 1/0 1/1 0/7\n"
                                "b touches 1/2 1/3 0/7\n"
                                "c touches 1/1 1/2 0/6\n"
                                "c takes 0/6\n"
                                "a takes 1/0\n"
                                "b takes 1/3\n"
                                "b fills 1/3 with 14\n"
                                "a fills 1/0 with 2a\n"
                                "c fills 0/6 with c1\n");
    tamis_free(f);
}

static void no_keys_of_fuse(void **state)
{
    tamis_plan plan = plan_of_tags(TAMIS_FUSE, 3, 8);
    tamis *f = filter_of(&plan, NULL, 0);

    (void)state;
    assert_steps(f, tamis_key_with_hash(f, 3),
                 "hash 3\n"
                 "seeds tried in its part, seeds tried 0/0 0 no\n"
                 "no: its part has no keys");
    tamis_free(f);
}

/* Blocks of two slots. The mark of a key is its hash without the last six bits: 1 is multiplied to
 * the factor itself, whose halves 243f6a88 and 85a308d3 choose a first slot and a second. */
static void one_key_of_xor(void **state)
{
    tamis_plan plan = plan_of_tags(TAMIS_XOR, 3, 8);
    const uint64_t hash = 1 << 6;
    uint64_t key;

    (void)state;
    unhash(&key, &plan, &hash, 1);
    tamis *f = filter_of(&plan, &key, 1);
    assert_cells(f, "block 0: 1 0\n"
                    "block 1: 0 0\n"
                    "block 2: 0 0\n"
                    "stash 0: .3\n"
                    "seed 0: 0\n"
                    "keys 0: 1");
    assert_steps(f, key,
                 "hash 40\n"
                 "keys of its part, keys 0/0 1 yes\n"
                 "mark 1\n"
                 "seed of its part, seed 0/0 0 yes\n"
                 "fingerprint 1\n"
                 "slot in block 0, block 0/0 1 yes\n"
                 "slot in block 1, block 1/0 0 yes\n"
                 "slot in block 2, block 2/1 0 yes\n"
                 "xor of its slots 1\n"
                 "yes: the xor of its slots is its fingerprint");
    tamis_free(f);
}

static void one_key_of_xorplus(void **state)
{
    tamis_plan plan = plan_of_tags(TAMIS_XORPLUS, 1, 8);
    const uint64_t hash = 1 << 6;
    uint64_t key;

    (void)state;
    unhash(&key, &plan, &hash, 1);
    tamis *f = filter_of(&plan, &key, 1);
    assert_cells(f, "block 0: 1\n"
                    "block 1: 0\n"
                    "block 2: .2\n"
                    "bits of block 2 0: 0 0\n"
                    "ones before 0: n:0 n:0 n:0 n:0\n"
                    "stash 0: .3\n"
                    "seed 0: 0\n"
                    "keys 0: 1");
    assert_steps(f, key,
                 "hash 40\n"
                 "keys of its part, keys 0/0 1 yes\n"
                 "mark 1\n"
                 "seed of its part, seed 0/0 0 yes\n"
                 "bit of its third slot, bits of block 2 0/1 0 yes\n"
                 "fingerprint 1\n"
                 "slot in block 0, block 0/0 1 yes\n"
                 "slot in block 1, block 1/0 0 yes\n"
                 "slot in block 2, block 2/1 -:0 yes\n"
                 "xor of its slots 1\n"
                 "yes: the xor of its slots is its fingerprint");
    tamis_free(f);
}

/* The third block of a larger one: which slots are kept, and how many before. */
typedef struct third {
    bool is_kept[4096];
    size_t slots, bits, ones, counts;
} third;

static bool take_third(void *ctx, const tamis_cell *cell)
{
    third *t = ctx;

    if (strcmp(cell->array, "block") == 0 && cell->number == 2) {
        assert_int_equal(cell->index, t->slots);
        assert_int_equal(cell->value != 0, !(cell->marks & TAMIS_MARK_EMPTY));
        t->is_kept[t->slots++] = cell->value != 0;
    }
    if (strcmp(cell->array, "bits of block 2") == 0)
        assert_int_equal(cell->value, t->is_kept[t->bits++]);
    if (strcmp(cell->array, "ones before") != 0)
        return true;
    size_t words = 2 * cell->index, ones = 0, from = cell->index ? cell->number * 448 : 0;
    size_t end = cell->number * 448 + words * 64;
    for (size_t i = from; i < end && end < t->slots; i++)
        ones += t->is_kept[i];
    assert_int_equal(cell->value, ones);
    t->counts++;
    return true;
}

static void third_block_of_xorplus(void **state)
{
    rng r = rng_for(1910, 0);
    tamis_plan plan = plan_of_tags(TAMIS_XORPLUS, 2000, 8);
    uint64_t *keys = fresh_keys(&r, 2000);
    tamis *f = filter_of(&plan, keys, 2000);
    third t = { .ones = 0 };

    (void)state;
    assert_int_equal(tamis_visit_cells(f, take_third, &t), TAMIS_OK);
    assert_int_equal(t.slots, plan.slots / 2);
    assert_int_equal(t.bits, t.slots);
    assert_int_equal(t.counts, (t.slots + 447) / 448 * 4);
    tamis_free(f);
    free(keys);
}

/* ---- Linear equations -------------------------------------------------- */

/* Eight slots, one start. Of a hash whose last byte is 0 the row is 1, of one that ends in 2 it is
 * 2 * b9 + 1 = 73: slots 0, 1, 4, 5 and 6. The fingerprint is the first digit of the hash times
 * 243f6a8885a308d3: 3 of the first key, 4 of the second. So slot 0 is 3, and slot 1 is 3 ^ 4. */
static const uint64_t TWO[] = { UINT64_C(1) << 60, 2 };

static void two_keys_of_ribbon(void **state)
{
    tamis_plan plan = plan_of_tags(TAMIS_RIBBON, 2, 4);
    uint64_t keys[2];

    (void)state;
    unhash(keys, &plan, TWO, 2);
    tamis *f = filter_of(&plan, keys, 2);
    assert_cells(f, "level 0: 3 7 0 0 0 0 0 0\n"
                    "seeds tried 0: 1");
    assert_steps(f, keys[1],
                 "hash 2\n"
                 "seeds tried in its level, seeds tried 0/0 1 yes\n"
                 "start 0\n"
                 "row 73\n"
                 "fingerprint 4\n"
                 "slot that its row picks, level 0/0 3 yes\n"
                 "slot that its row picks, level 0/1 7 yes\n"
                 "slot that its row picks, level 0/4 0 yes\n"
                 "slot that its row picks, level 0/5 0 yes\n"
                 "slot that its row picks, level 0/6 0 yes\n"
                 "xor of its slots 4\n"
                 "yes: the xor of its slots is its fingerprint");
    assert_steps(f, tamis_key_with_hash(f, UINT64_C(2) << 60),
                 "hash 2000000000000000\n"
                 "seeds tried in its level, seeds tried 0/0 1 yes\n"
                 "start 0\n"
                 "row 1\n"
                 "fingerprint 6\n"
                 "slot that its row picks, level 0/0 3 no\n"
                 "xor of its slots 3\n"
                 "no: the xor of its slots is not its fingerprint");
    tamis_free(f);
}

static void two_rows_are_eliminated(void **state)
{
    tamis_plan plan = plan_of_tags(TAMIS_RIBBON, 2, 4);
    explain_text t = { .size = 0 };
    uint64_t keys[2];

    (void)state;
    unhash(keys, &plan, TWO, 2);
    tamis *f = filter_of(&plan, keys, 2);
    assert_int_equal(tamis_explain_elimination(f, keys, 2, take_peel, &t), TAMIS_OK);
    assert_string_equal(t.text, "a touches 0/0\n"
                                "b touches 0/0 0/1 0/4 0/5 0/6\n"
                                "a takes 0/0\n"
                                "b adds 0/1 0/4 0/5 0/6\n"
                                "b takes 0/1\n"
                                "b fills 0/1 with 7\n"
                                "a fills 0/0 with 3\n");
    tamis_free(f);
}

static bool take_value(void *ctx, const tamis_step *step)
{
    if (step->type == TAMIS_STEP_NUMBER && strcmp(step->text, "value") == 0)
        *(uint64_t *)ctx = step->value;
    return true;
}

/* Three bits of a value below two of a fingerprint, which are the first of 9, in binary. */
static void one_key_of_map(void **state)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 1, .value_bits = 3, .tag_bits = 2);
    const uint64_t hash = UINT64_C(3) << 60, value = 5;
    tamis_plan plan;
    tamis *f = NULL;

    (void)state;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_MAP, &spec), TAMIS_OK);
    assert_int_equal(tamis_build_map(&f, &plan, NULL, NULL, 0, NULL), TAMIS_OK);
    const uint64_t key = tamis_key_with_hash(f, hash);
    tamis_free(f);
    assert_int_equal(tamis_build_map(&f, &plan, &key, &value, 1, NULL), TAMIS_OK);
    assert_cells(f, "level 0: 15 0 0 0 0 0 0 0\n"
                    "seeds tried 0: 1");
    assert_steps(f, key,
                 "hash 3000000000000000\n"
                 "seeds tried in its level, seeds tried 0/0 1 yes\n"
                 "start 0\n"
                 "row 1\n"
                 "fingerprint 2\n"
                 "slot that its row picks, level 0/0 15 yes\n"
                 "xor of its slots 15\n"
                 "value 5\n"
                 "yes: the xor of its slots is its fingerprint above its value");
    tamis_free(f);
}

/* On all levels, of which there are three. */
static void values_are_told(void **state)
{
    const size_t n = 100000;
    rng r = rng_for(1911, 0);
    tamis_spec spec = TAMIS_SPEC(.keys = n, .value_bits = 6, .tag_bits = 3);
    uint64_t *keys = fresh_keys(&r, 2 * n), *values = array_of(n, sizeof *values);
    tamis_plan plan;
    tamis *f = NULL;

    (void)state;
    for (size_t i = 0; i < n; i++)
        values[i] = rng_below(&r, 64);
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_MAP, &spec), TAMIS_OK);
    assert_int_equal(tamis_build_map(&f, &plan, keys, values, n, NULL), TAMIS_OK);
    for (size_t i = 0; i < 2 * n; i += run_size(3, 31, 1)) {
        uint64_t told = 0, value = 0;
        assert_int_equal(tamis_explain(f, keys[i], take_value, &told),
                         tamis_get(f, &value, keys[i]));
        assert_int_equal(told, value); /* both are still 0 if there is none */
    }
    tamis_free(f);
    free(keys);
    free(values);
}

/* ---- A universe -------------------------------------------------------- */

static tamis *cascade_of(const uint64_t *hashes, size_t members, size_t others)
{
    tamis_spec spec = TAMIS_SPEC(.keys = members, .universe = members + others);
    uint64_t keys[16];
    tamis_plan plan;
    tamis *f = NULL;

    assert_int_equal(tamis_plan_kind(&plan, TAMIS_CASCADE, &spec), TAMIS_OK);
    assert_int_equal(tamis_build_excluding(&f, &plan, NULL, 0, NULL, 0, NULL), TAMIS_OK);
    for (size_t i = 0; i < members + others; i++)
        keys[i] = tamis_key_with_hash(f, hashes[i]);
    tamis_free(f);
    assert_int_equal(tamis_build_excluding(&f, &plan, keys, members, keys + members, others, NULL),
                     TAMIS_OK);
    return f;
}

/* A sieve of one bit for the member, whose slot 0 is zero: what begins with a 1 after the product
 * fails. Of the others, one passes: its row has slots 0 and 1, and the rest tells it from the
 * member, whose row has slot 0 alone. */
static void three_keys_of_cascade(void **state)
{
    const uint64_t hashes[] = { UINT64_C(1) << 60, 2, UINT64_C(3) << 60 };
    tamis *f = cascade_of(hashes, 1, 2);

    (void)state;
    assert_cells(f, "sieve 0: 0 0 0 0 0 0 0 0\n"
                    "sieve seeds 0: 1\n"
                    "rest 0: 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                    "rest seeds 0: 1");
    assert_steps(f, tamis_key_with_hash(f, hashes[0]),
                 "hash 1000000000000000\n"
                 "seeds tried in its level, sieve seeds 0/0 1 yes\n"
                 "start 0\n"
                 "row 1\n"
                 "fingerprint 0\n"
                 "slot that its row picks, sieve 0/0 0 yes\n"
                 "xor of its slots 0\n"
                 "seeds tried in its level, rest seeds 0/0 1 yes\n"
                 "start 0\n"
                 "row 1\n"
                 "bit of the hash 0\n"
                 "slot that its row picks, rest 0/0 1 yes\n"
                 "xor of its slots 1\n"
                 "value 1\n"
                 "yes: the rest has a 1 for it: a member");
    assert_steps(f, tamis_key_with_hash(f, hashes[2]),
                 "hash 3000000000000000\n"
                 "seeds tried in its level, sieve seeds 0/0 1 yes\n"
                 "start 0\n"
                 "row 1\n"
                 "fingerprint 1\n"
                 "slot that its row picks, sieve 0/0 0 no\n"
                 "xor of its slots 0\n"
                 "no: the sieve of the members does not let it pass");
    tamis_free(f);
}

/* The last slots that are read speak for the answer. */
static bool compare_with_answer(void *ctx, const tamis_step *step)
{
    bool *last = ctx;

    if (step->type == TAMIS_STEP_CELL)
        *last = step->agrees;
    if (step->type == TAMIS_STEP_ANSWER)
        assert_int_equal(step->agrees, *last);
    return true;
}

/* The sieve is of the others, or there is none, or there are no keys. */
static void other_universes(void **state)
{
    (void)state;
    for (size_t members = 0; members <= 16; members++) {
        rng r = rng_for(1912, members);
        uint64_t *hashes = fresh_keys(&r, 16);
        tamis *f = cascade_of(hashes, members, 16 - members);

        for (size_t i = 0; i < 16; i++) {
            uint64_t key = tamis_key_with_hash(f, hashes[i]);
            bool last = false;
            assert_int_equal(tamis_explain(f, key, compare_with_answer, &last), i < members);
        }
        tamis_free(f);
        free(hashes);
    }
}

/* ---- Parts ------------------------------------------------------------- */

static bool take_part(void *ctx, const tamis_step *step)
{
    uint64_t *part = ctx;

    if (step->type == TAMIS_STEP_NUMBER && strcmp(step->text, "hash") == 0)
        *part = step->value >> 63;
    if (step->type == TAMIS_STEP_NUMBER && strcmp(step->text, "part") == 0)
        assert_int_equal(step->value, *part);
    if (step->type == TAMIS_STEP_CELL && strcmp(step->cell.array, "keys") == 0)
        assert_int_equal(step->cell.number, *part);
    return true;
}

/* Filters that are large enough for two, with few keys. */
static void parts_are_told(void **state)
{
    const tamis_kind kinds[] = { TAMIS_FUSE, TAMIS_FUSE4, TAMIS_XOR, TAMIS_XORPLUS, TAMIS_RIBBON };

    (void)state;
    for (int k = 0; k < 5; k++) {
        rng r = rng_for(1913, (uint64_t)k);
        tamis_plan plan = plan_of_tags(kinds[k], (1 << 24) + 1, 1);
        uint64_t *keys = fresh_keys(&r, 200);
        tamis *f = filter_of(&plan, keys, 100);

        for (size_t i = 0; i < 200; i++) {
            uint64_t part = 2;
            assert_int_equal(tamis_explain(f, keys[i], take_part, &part), tamis_has(f, keys[i]));
            assert_true(part < 2);
        }
        tamis_free(f);
        free(keys);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_keys_of_fuse),    cmocka_unit_test(three_keys_are_peeled),
        cmocka_unit_test(no_keys_of_fuse),       cmocka_unit_test(one_key_of_xor),
        cmocka_unit_test(one_key_of_xorplus),    cmocka_unit_test(third_block_of_xorplus),
        cmocka_unit_test(two_keys_of_ribbon),    cmocka_unit_test(two_rows_are_eliminated),
        cmocka_unit_test(one_key_of_map),        cmocka_unit_test(values_are_told),
        cmocka_unit_test(three_keys_of_cascade), cmocka_unit_test(other_universes),
        cmocka_unit_test(parts_are_told),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
