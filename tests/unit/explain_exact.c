/* What exact tables tell of themselves, of tables that are known by hand. */
#include "explain_text.h"
#include "kinds.h"
#include "tamis_values.h"

static tamis *new_table(tamis_kind kind, uint64_t slots)
{
    tamis_plan plan = plan_for(kind, slots, 0, 0);

    plan.slots = slots;
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    assert_true(plan.bytes > 0);
    return new_filter(&plan);
}

/* A hash whose home is that one of eight. */
static uint64_t hash_at(uint64_t home, uint64_t nth)
{
    return home << 61 | nth;
}

static void add_hash(tamis *f, uint64_t hash)
{
    assert_int_equal(tamis_add(f, tamis_key_with_hash(f, hash)), TAMIS_OK);
    assert_true(is_whole(f));
}

static void put_hash(tamis *f, uint64_t hash, uint64_t value)
{
    assert_int_equal(tamis_put(f, tamis_key_with_hash(f, hash), value), TAMIS_OK);
    assert_true(is_whole(f));
}

static void assert_steps_of_hash(const tamis *f, uint64_t hash, const char *text)
{
    assert_steps(f, tamis_key_with_hash(f, hash), text);
}

/* The table in the comment of robin_hood.c. */
static void slots_of_hashset(void **state)
{
    tamis *f = new_table(TAMIS_HASHSET, 8);

    (void)state;
    add_hash(f, hash_at(1, 5));
    add_hash(f, hash_at(0, 5));
    for (uint64_t i = 1; i <= 3; i++)
        add_hash(f, hash_at(6, i));
    assert_cells(f, "slots 0: cs:c000000000000003 s:5 s:2000000000000005 .3 c000000000000001 "
                    "cs:c000000000000002\n"
                    "zero key 0: 0");
    assert_steps_of_hash(f, hash_at(6, 3),
                         "hash c000000000000003\n"
                         "home 6\n"
                         "home slot, slots 0/6 c000000000000001 no\n"
                         "next slot, slots 0/7 cs:c000000000000002 no\n"
                         "next slot, slots 0/0 cs:c000000000000003 yes\n"
                         "yes: the table holds its hash");
    assert_steps_of_hash(f, hash_at(0, 4),
                         "hash 4\n"
                         "home 0\n"
                         "home slot, slots 0/0 cs:c000000000000003 no\n"
                         "next slot, slots 0/1 s:5 no\n"
                         "no: the search met a hash that would come after it");
    assert_steps_of_hash(f, hash_at(2, 0),
                         "hash 4000000000000000\n"
                         "home 2\n"
                         "home slot, slots 0/2 s:2000000000000005 no\n"
                         "next slot, slots 0/3 -:0 no\n"
                         "no: the search met an empty slot");
    assert_steps_of_hash(f, 0,
                         "hash 0\n"
                         "is it there, zero key 0/0 0 no\n"
                         "no: the key with hash 0 is not there");
    add_hash(f, 0);
    assert_steps_of_hash(f, 0,
                         "hash 0\n"
                         "is it there, zero key 0/0 1 yes\n"
                         "yes: the table holds its hash");
    tamis_free(f);
}

static void a_full_table_is_searched_once(void **state)
{
    tamis *f = new_table(TAMIS_HASHSET, 2);

    (void)state;
    add_hash(f, 1);
    add_hash(f, 2);
    assert_steps_of_hash(f, 3,
                         "hash 3\n"
                         "home 0\n"
                         "home slot, slots 0/0 1 no\n"
                         "next slot, slots 0/1 cs:2 no\n"
                         "no: no slot holds its hash");
    tamis_free(f);
}

static void values_of_hashmap(void **state)
{
    tamis *f = new_table(TAMIS_HASHMAP, 8);

    (void)state;
    put_hash(f, hash_at(3, 1), 10);
    put_hash(f, hash_at(3, 2), 0);
    assert_cells(f, "slots 0: .3 6000000000000001 cs:6000000000000002 .3\n"
                    "values 0: .3 a 0 .3\n"
                    "zero key 0: 0\n"
                    "value of zero key 0: .");
    put_hash(f, 0, 12);
    assert_steps_of_hash(f, hash_at(3, 2),
                         "hash 6000000000000002\n"
                         "home 3\n"
                         "home slot, slots 0/3 6000000000000001 no\n"
                         "next slot, slots 0/4 cs:6000000000000002 yes\n"
                         "its value, values 0/4 0 yes\n"
                         "value 0\n"
                         "yes: the table holds its hash");
    assert_steps_of_hash(f, hash_at(3, 3),
                         "hash 6000000000000003\n"
                         "home 3\n"
                         "home slot, slots 0/3 6000000000000001 no\n"
                         "next slot, slots 0/4 cs:6000000000000002 no\n"
                         "next slot, slots 0/5 -:0 no\n"
                         "no: the search met an empty slot");
    assert_steps_of_hash(f, 0,
                         "hash 0\n"
                         "is it there, zero key 0/0 1 yes\n"
                         "its value, value of zero key 0/0 c yes\n"
                         "value c\n"
                         "yes: the table holds its hash");
    tamis_free(f);
}

/* ---- Any keys ---------------------------------------------------------- */

typedef struct heard {
    bool agrees, has_value;
    uint64_t value;
} heard;

static bool hear_step(void *ctx, const tamis_step *step)
{
    heard *h = ctx;

    if (step->type == TAMIS_STEP_CELL && step->agrees)
        h->agrees = true;
    if (step->type == TAMIS_STEP_NUMBER && strcmp(step->text, "value") == 0)
        *h = (heard){ h->agrees, true, step->value };
    return true;
}

static void assert_explained(const tamis *f, uint64_t key)
{
    heard h = { .agrees = false };
    uint64_t value = 0;
    bool has = tamis_has(f, key);

    assert_int_equal(tamis_explain(f, key, hear_step, &h), has);
    assert_int_equal(h.has_value, has);
    assert_int_equal(tamis_get(f, &value, key), has);
    assert_true(h.value == value);
    assert_int_equal(h.agrees, has);
}

static void what_hashmap_tells_bears_out_its_answer(void **state)
{
    tamis *f = new_table(TAMIS_HASHMAP, 3000);
    rng r = rng_for(3200, 0);
    uint64_t *keys = fresh_keys(&r, 10000);

    (void)state;
    for (size_t i = 0; i < 2700; i++)
        assert_int_equal(tamis_put(f, keys[i], rng_next(&r)), TAMIS_OK);
    for (size_t i = 0; i < 10000; i++)
        assert_explained(f, keys[i]);
    tamis_free(f);
    free(keys);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_of_hashset),
        cmocka_unit_test(a_full_table_is_searched_once),
        cmocka_unit_test(values_of_hashmap),
        cmocka_unit_test(what_hashmap_tells_bears_out_its_answer),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
