/* hashset: linear probing whose bytes depend on the set alone, also where runs wrap around. */
#include <signal.h>
#include <sys/mman.h>

#include "base/bits.h"
#include "base/le.h"
#include "kinds.h"

/* Table and state sizes of the format. */
enum { STATE = 64 };

static uint64_t slot(const tamis *f, uint64_t i)
{
    return le64((const uint8_t *)f->payload + STATE + 8 * i);
}

static tamis_plan tiny_plan(uint64_t capacity, uint64_t slots)
{
    tamis_plan plan = plan_for(TAMIS_HASHSET, capacity, 0, 0);

    plan.slots = slots;
    plan.bytes = tamis__ops(TAMIS_HASHSET)->bytes(&plan);
    assert_int_equal(plan.bytes, STATE + 8 * slots);
    return plan;
}

/* The key whose stored value is v. */
static uint64_t key_of(const tamis_plan *plan, uint64_t v)
{
    return unhash_key(v, salt_of_seed(plan->hasher.seed));
}

/* A value whose home is `home`; `nth` tells values of one home apart, in ascending order. */
static uint64_t value_at(uint64_t home, uint64_t slots, uint64_t nth)
{
    uint64_t width = UINT64_MAX / slots, v = home * width + home + 1000 + nth;

    assert_int_equal(scale64(v, slots), home);
    return v;
}

static void add_value(tamis *f, uint64_t v)
{
    assert_int_equal(tamis_add(f, key_of(&f->plan, v)), TAMIS_OK);
    assert_true(tamis_has(f, key_of(&f->plan, v)));
    assert_true(is_whole(f));
}

static void remove_value(tamis *f, uint64_t v)
{
    assert_int_equal(tamis_remove(f, key_of(&f->plan, v)), TAMIS_OK);
    assert_false(tamis_has(f, key_of(&f->plan, v)));
    assert_true(is_whole(f));
}

static void assert_slots(const tamis *f, const uint64_t *expected)
{
    for (uint64_t i = 0; i < f->plan.slots; i++)
        assert_int_equal(slot(f, i), expected[i]);
}

/* ---- Layout ------------------------------------------------------------ */

static void values_lie_at_their_homes(void **state)
{
    tamis_plan plan = tiny_plan(6, 8);
    tamis *f = new_filter(&plan);
    const uint64_t a = value_at(1, 8, 0), b = value_at(3, 8, 0), c = value_at(6, 8, 0);

    (void)state;
    add_value(f, c);
    add_value(f, a);
    add_value(f, b);
    assert_slots(f, (uint64_t[]){ 0, a, 0, b, 0, 0, c, 0 });
    tamis_free(f);
}

static void runs_are_sorted_by_home_then_by_value(void **state)
{
    tamis_plan plan = tiny_plan(7, 8);
    tamis *f = new_filter(&plan);
    const uint64_t a0 = value_at(1, 8, 0), a1 = value_at(1, 8, 1), a2 = value_at(1, 8, 2);
    const uint64_t b0 = value_at(2, 8, 0), b1 = value_at(2, 8, 1);

    (void)state;
    add_value(f, b1);
    add_value(f, a2);
    add_value(f, b0);
    add_value(f, a0);
    add_value(f, a1);
    assert_slots(f, (uint64_t[]){ 0, a0, a1, a2, b0, b1, 0, 0 });
    remove_value(f, a1);
    assert_slots(f, (uint64_t[]){ 0, a0, a2, b0, b1, 0, 0, 0 });
    remove_value(f, a0);
    remove_value(f, a2);
    assert_slots(f, (uint64_t[]){ 0, 0, b0, b1, 0, 0, 0, 0 });
    tamis_free(f);
}

static void runs_wrap_around_the_end(void **state)
{
    tamis_plan plan = tiny_plan(6, 8);
    tamis *f = new_filter(&plan);
    const uint64_t a = value_at(6, 8, 0), b = value_at(7, 8, 0), c = value_at(7, 8, 1);
    const uint64_t d = value_at(7, 8, 2), e = value_at(0, 8, 0), g = value_at(1, 8, 0);

    (void)state;
    add_value(f, e);
    add_value(f, d);
    add_value(f, b);
    add_value(f, g);
    add_value(f, c);
    assert_slots(f, (uint64_t[]){ c, d, e, g, 0, 0, 0, b });
    add_value(f, a);
    assert_slots(f, (uint64_t[]){ c, d, e, g, 0, 0, a, b });
    remove_value(f, b);
    assert_slots(f, (uint64_t[]){ d, e, g, 0, 0, 0, a, c });
    remove_value(f, d);
    remove_value(f, c);
    assert_slots(f, (uint64_t[]){ e, g, 0, 0, 0, 0, a, 0 });
    tamis_free(f);
}

/* Zero marks an empty slot, so that the value zero is kept in the state. */
static void the_value_zero_is_kept_apart(void **state)
{
    tamis_plan plan = tiny_plan(3, 4);
    tamis *f = new_filter(&plan);
    uint64_t key = key_of(&plan, 0);

    (void)state;
    assert_false(tamis_has(f, key));
    assert_int_equal(tamis_remove(f, key), TAMIS_ABSENT);
    assert_int_equal(tamis_add(f, key), TAMIS_OK);
    assert_int_equal(tamis_add(f, key), TAMIS_OK);
    assert_true(tamis_has(f, key));
    assert_int_equal(le64(f->payload), 1);
    assert_slots(f, (uint64_t[]){ 0, 0, 0, 0 });
    assert_int_equal(info_of(f).count, 1);
    assert_int_equal(tamis_remove(f, key), TAMIS_OK);
    assert_int_equal(le64(f->payload), 0);
    assert_false(tamis_has(f, key));
    tamis_free(f);
}

/* ---- Capacity ---------------------------------------------------------- */

static void the_capacity_is_a_limit(void **state)
{
    rng r = rng_for(20, 0);

    (void)state;
    for (uint64_t capacity = 0; capacity <= 200; capacity++) {
        tamis_plan plan = plan_for(TAMIS_HASHSET, capacity, 0, capacity);
        tamis *f = new_filter(&plan);
        uint64_t last = 0;

        for (uint64_t i = 0; i < capacity; i++)
            assert_int_equal(tamis_add(f, last = rng_next(&r)), TAMIS_OK);
        image_bytes full = image_of(f);
        assert_int_equal(tamis_add(f, rng_next(&r)), TAMIS_FULL);
        assert_int_equal(tamis_add(f, key_of(&plan, 0)), TAMIS_FULL);
        assert_true(is_image_of(&full, f));
        if (capacity) {
            assert_int_equal(tamis_add(f, last), TAMIS_OK);
            assert_true(is_image_of(&full, f));
            assert_int_equal(tamis_remove(f, last), TAMIS_OK);
            assert_int_equal(tamis_add(f, key_of(&plan, 0)), TAMIS_OK);
            assert_int_equal(tamis_add(f, last), TAMIS_FULL);
        }
        free_bytes(&full);
        tamis_free(f);
    }
}

static void keys_as_they_come(tamis_plan *plan, uint64_t (*key)(const tamis_plan *p, uint64_t i))
{
    tamis *f = new_filter(plan);

    for (uint64_t i = 0; i < plan->capacity; i++)
        assert_int_equal(tamis_add(f, key(plan, i)), TAMIS_OK);
    for (uint64_t i = 0; i < plan->capacity; i++)
        assert_true(tamis_has(f, key(plan, i)));
    assert_true(is_whole(f));
    assert_int_equal(info_of(f).count, plan->capacity);
    for (uint64_t i = 0; i < plan->capacity; i++)
        assert_int_equal(tamis_remove(f, key(plan, i)), TAMIS_OK);
    assert_int_equal(info_of(f).count, 0);
    assert_int_equal(count_ones(f->payload, f->plan.bytes), 0);
    tamis_free(f);
}

static uint64_t sequential(const tamis_plan *p, uint64_t i)
{
    (void)p;
    return i;
}

/* All values have one home: the worst that chosen keys can do is one long run. */
static uint64_t at_one_home(const tamis_plan *p, uint64_t i)
{
    return key_of(p, value_at(p->slots - 1, p->slots, i));
}

static void any_keys_fit_up_to_the_capacity(void **state)
{
    tamis_plan plan = plan_for(TAMIS_HASHSET, 2000, 0, 9);

    (void)state;
    keys_as_they_come(&plan, sequential);
    keys_as_they_come(&plan, at_one_home);
    rng r = rng_for(19, 0);
    uint64_t *keys = fresh_keys(&r, plan.capacity + 1);
    tamis *f = filter_of(&plan, keys, plan.capacity);
    assert_int_equal(tamis_add(f, keys[plan.capacity]), TAMIS_FULL);
    tamis_free(f);
    free(keys);
}

/* ---- Damage ------------------------------------------------------------ */

static void assert_damage_is_seen(tamis *f, uint64_t *at, uint64_t value)
{
    uint64_t before = *at;

    *at = value;
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
    *at = before;
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_OK);
}

static void verify_sees_what_probing_relies_on(void **state)
{
    tamis_plan plan = tiny_plan(6, 8);
    tamis *f = new_filter(&plan);
    uint64_t *word = f->payload, *table = word + STATE / 8;
    const uint64_t a = value_at(2, 8, 0), b = value_at(2, 8, 5), c = value_at(7, 8, 0);

    (void)state;
    add_value(f, a);
    add_value(f, b);
    add_value(f, c);
    assert_damage_is_seen(f, &table[2], 0);                 /* b can no longer be reached */
    assert_damage_is_seen(f, &table[2], value_at(2, 8, 9)); /* out of order */
    assert_damage_is_seen(f, &table[3], a);                 /* twice */
    assert_damage_is_seen(f, &table[3], value_at(1, 8, 0)); /* behind a later home */
    assert_damage_is_seen(f, &table[5], value_at(4, 8, 0)); /* away from home */
    assert_damage_is_seen(f, &table[5], value_at(5, 8, 0)); /* one more than the count */
    assert_damage_is_seen(f, &table[7], 0);                 /* one less */
    assert_damage_is_seen(f, &word[0], 1);                  /* zero too is counted */
    assert_damage_is_seen(f, &word[0], 2);
    assert_damage_is_seen(f, &word[7], 1); /* the rest of the state is zero */
    assert_damage_is_seen(f, &f->count, 4);
    tamis_free(f);
}

static void scribble(tamis *f, rng *r, int how)
{
    uint64_t *word = f->payload, same = rng_next(r);

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        word[i] = how == 0 ? same : how == 1 ? rng_next(r) : UINT64_MAX - i;
}

/* A view may hold any bytes: a table without an empty slot, one value over and over, noise. */
static void queries_end_on_any_payload(void **state)
{
    tamis_plan plan = tiny_plan(90, 100);
    tamis *f = new_filter(&plan);
    rng r = rng_for(21, 0);
    uint64_t hits[2], keys[100];

    (void)state;
    for (int round = 0; round < 300; round++) {
        scribble(f, &r, round % 3);
        for (uint64_t i = 0; i < 100; i++)
            keys[i] = i % 2 ? rng_next(&r) : key_of(&plan, slot(f, i));
        (void)tamis_has_many(f, hits, keys, 100);
        for (int i = 0; i < 100; i++)
            (void)tamis_has(f, keys[i]);
        (void)info_of(f);
        (void)!tamis_verify(f, NULL, NULL);
    }
    tamis_free(f);
}

/* Whatever the other holds, the one that is changed stays whole. */
static void merging_any_payload_leaves_a_whole_set(void **state)
{
    tamis_plan plan = tiny_plan(90, 100);
    tamis *damaged = new_filter(&plan);
    rng r = rng_for(22, 0);

    (void)state;
    for (int round = 0; round < 300; round++) {
        tamis *f = new_filter(&plan);

        scribble(damaged, &r, round % 3);
        for (int i = 0; i < 50; i++)
            assert_int_equal(tamis_add(f, rng_next(&r)), TAMIS_OK);
        (void)!tamis_combine(f, TAMIS_MERGE, damaged);
        assert_true(is_whole(f));
        (void)!tamis_combine(f, TAMIS_INTERSECT, damaged);
        assert_true(is_whole(f));
        tamis_free(f);
    }
    tamis_free(damaged);
}

/* ---- Keys of one home -------------------------------------------------- */

/* Each is found and no other, wherever the run begins: also when it goes around the end. */
static void long_runs_are_searched_well(void **state)
{
    enum { SLOTS = 1000, KEYS = 900 };
    const uint64_t homes[] = { 0, 5, 500, 990, 999 };
    tamis_plan plan = tiny_plan(SLOTS, SLOTS);

    (void)state;
    for (int h = 0; h < 5; h++) {
        tamis *f = new_filter(&plan);

        for (uint64_t i = 0; i < KEYS; i++)
            assert_int_equal(
                tamis_add(f, key_of(&plan, value_at(homes[h], SLOTS, 2 * (i * 7 % KEYS)))),
                TAMIS_OK);
        assert_true(is_whole(f));
        for (uint64_t i = 0; i < 2 * KEYS; i++)
            assert_int_equal(tamis_has(f, key_of(&plan, value_at(homes[h], SLOTS, i))), i % 2 == 0);
        for (uint64_t i = 0; i < KEYS; i += 2)
            remove_value(f, value_at(homes[h], SLOTS, 2 * i));
        for (uint64_t i = 0; i < KEYS; i++)
            assert_int_equal(tamis_has(f, key_of(&plan, value_at(homes[h], SLOTS, 2 * i))), i % 2);
        tamis_free(f);
    }
}

/* Pages of a payload that were read: others are out of bounds, until somebody tries. */
static struct watch {
    uint8_t *at;
    size_t size;
    volatile unsigned pages;
} watch;

enum { PAGE = 4096 };

static void watch_page(int signal, siginfo_t *info, void *context)
{
    uint8_t *at = (uint8_t *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

    (void)signal, (void)context;
    if (at < watch.at || at >= watch.at + watch.size || mprotect(at, PAGE, PROT_READ) != 0)
        abort();
    watch.pages++;
}

static unsigned pages_read_for(const tamis *f, uint64_t key)
{
    watch.pages = 0;
    assert_int_equal(mprotect(watch.at, watch.size, PROT_NONE), 0);
    (void)tamis_has(f, key);
    assert_int_equal(mprotect(watch.at, watch.size, PROT_READ), 0);
    return watch.pages;
}

/* A hundred thousand keys share a home, and take 200 pages: a search doubles its steps, then halves
 * them, and reads 2 log2(200) of the pages at most. */
static void chosen_keys_cost_a_logarithm(void **state)
{
    enum { KEYS = 100000, MOST = 16 };
    tamis_plan plan = plan_for(TAMIS_HASHSET, KEYS, 0, 0);
    tamis *f = new_filter(&plan), *view = NULL;
    uint64_t home = plan.slots - KEYS / 2;
    struct sigaction act = { .sa_sigaction = watch_page, .sa_flags = SA_SIGINFO }, old;

    (void)state;
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(tamis_add(f, key_of(&plan, value_at(home, plan.slots, i))), TAMIS_OK);
    watch.size = (tamis_image_size(f) + PAGE - 1) / PAGE * PAGE;
    watch.at = mmap(NULL, watch.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(watch.at != MAP_FAILED);
    assert_int_equal(tamis_image_write(f, watch.at, tamis_image_size(f)), TAMIS_OK);
    assert_int_equal(tamis_image_view(&view, watch.at, tamis_image_size(f), NULL), TAMIS_OK);
    assert_int_equal(sigaction(SIGSEGV, &act, &old), 0);
    for (uint64_t i = 0; i < KEYS + 1000; i += 997) {
        unsigned pages = pages_read_for(view, key_of(&plan, value_at(home, plan.slots, i)));

        assert_true(pages >= 1 && pages <= MOST);
    }
    assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
    tamis_free(view);
    tamis_free(f);
    munmap(watch.at, watch.size);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_lie_at_their_homes),
        cmocka_unit_test(runs_are_sorted_by_home_then_by_value),
        cmocka_unit_test(runs_wrap_around_the_end),
        cmocka_unit_test(the_value_zero_is_kept_apart),
        cmocka_unit_test(the_capacity_is_a_limit),
        cmocka_unit_test(any_keys_fit_up_to_the_capacity),
        cmocka_unit_test(verify_sees_what_probing_relies_on),
        cmocka_unit_test(queries_end_on_any_payload),
        cmocka_unit_test(merging_any_payload_leaves_a_whole_set),
        cmocka_unit_test(long_runs_are_searched_well),
        cmocka_unit_test(chosen_keys_cost_a_logarithm),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
