/* Every sequence of at most six operations (add, remove or query one of four keys) on the smallest
 * sets there are, against a set of four bits. All twelve operations are tried from every state
 * that a sequence reaches, so that nothing depends on luck. */
#include "base/bits.h"
#include "kinds.h"

enum { KEYS = 4 };

/* Of a sequence; one less under sanitizers, which is a twelfth of the states. */
static int length;

typedef struct toy {
    tamis *f;
    uint64_t keys[KEYS], stranger;
    unsigned long long states, wrapped; /* how many were seen; in how many a run crosses the end */
} toy;

static unsigned size_of(unsigned members)
{
    return (unsigned)__builtin_popcount(members);
}

static void assert_is(const toy *t, unsigned members)
{
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(tamis_has(t->f, t->keys[i]), members >> i & 1);
    assert_false(tamis_has(t->f, t->stranger));
    assert_int_equal(t->f->count, size_of(members));
    assert_true(is_whole(t->f));
}

static unsigned add(toy *t, unsigned members, int i)
{
    unsigned more = members | 1u << i;
    bool fits = size_of(more) <= t->f->plan.capacity || is_indexed(t->f->plan.kind);

    assert_int_equal(tamis_add(t->f, t->keys[i]), fits ? TAMIS_OK : TAMIS_FULL);
    return fits ? more : members;
}

static unsigned drop(toy *t, unsigned members, int i)
{
    bool held = members >> i & 1;

    assert_int_equal(tamis_remove(t->f, t->keys[i]), held ? TAMIS_OK : TAMIS_ABSENT);
    return members & ~(1u << i);
}

static unsigned query(toy *t, unsigned members, int i)
{
    assert_int_equal(tamis_count(t->f, t->keys[i]), members >> i & 1);
    return members;
}

/* The first slot holds a value whose home is the last: only in tables, told by the home. */
static bool is_wrapped(const tamis *f)
{
    const uint64_t *slots = (const uint64_t *)f->payload + 8;

    return !is_indexed(f->plan.kind) && slots[0] && scale64(slots[0], f->plan.slots) != 0;
}

static void explore(toy *t, unsigned members, int depth)
{
    unsigned (*const operations[])(toy *, unsigned, int) = { add, drop, query };
    uint64_t saved[32], count = t->f->count;

    t->states++;
    t->wrapped += is_wrapped(t->f);
    assert_is(t, members);
    if (depth == length)
        return;
    assert_true(t->f->plan.bytes <= sizeof saved);
    memcpy(saved, t->f->payload, t->f->plan.bytes);
    for (int o = 0; o < 3; o++)
        for (int i = 0; i < KEYS; i++) {
            explore(t, operations[o](t, members, i), depth + 1);
            memcpy(t->f->payload, saved, t->f->plan.bytes);
            t->f->count = count;
        }
}

static void assert_explored(const toy *t)
{
    unsigned long long expected = 0, sequences = 1;

    for (int i = 0; i <= length; i++, sequences *= 3 * KEYS)
        expected += sequences;
    assert_int_equal(t->states, expected);
}

static void every_sequence_on_a_bitmap(void **state)
{
    tamis_plan plan = plan_for(TAMIS_BITMAP, 5, 0, 0);
    toy t = { .f = new_filter(&plan), .keys = { 0, 1, 3, 4 }, .stranger = 2 };

    (void)state;
    explore(&t, 0, 0);
    assert_explored(&t);
    tamis_free(t.f);
}

/* A value for each home asked for; equal homes give ascending values. */
static void pick_keys(toy *t, const uint64_t *homes)
{
    uint64_t slots = t->f->plan.slots, width = UINT64_MAX / slots;

    for (uint64_t i = 0; i < KEYS; i++)
        t->keys[i] = unhash_key(homes[i] * width + homes[i] + 10 * (i + 1), t->f->salt);
    t->stranger = unhash_key(homes[0] * width + homes[0] + 9, t->f->salt);
}

static void explore_table(uint64_t capacity, uint64_t slots, const uint64_t *homes, bool wraps)
{
    tamis_plan plan = plan_for(TAMIS_HASHSET, capacity, 0, 0);

    plan.slots = slots;
    plan.bytes = tamis__ops(TAMIS_HASHSET)->bytes(&plan);
    toy t = { .f = new_filter(&plan) };
    pick_keys(&t, homes);
    explore(&t, 0, 0);
    assert_explored(&t);
    assert_int_equal(t.wrapped > 0, wraps);
    tamis_free(t.f);
}

/* All in the last slot; across the end; one run pushing another; no room for the fourth. */
static void every_sequence_on_a_hashset(void **state)
{
    (void)state;
    explore_table(4, 5, (uint64_t[]){ 4, 4, 4, 4 }, true);
    explore_table(4, 5, (uint64_t[]){ 3, 4, 4, 0 }, true);
    explore_table(4, 5, (uint64_t[]){ 0, 4, 1, 4 }, true);
    explore_table(4, 6, (uint64_t[]){ 3, 3, 3, 5 }, true);
    explore_table(3, 4, (uint64_t[]){ 3, 3, 0, 1 }, true);
    explore_table(2, 4, (uint64_t[]){ 3, 2, 3, 2 }, true);
    explore_table(4, 5, (uint64_t[]){ 0, 0, 1, 2 }, false);
}

/* The value zero has a place of its own, beside the table. */
static void every_sequence_with_the_value_zero(void **state)
{
    tamis_plan plan = plan_for(TAMIS_HASHSET, 3, 0, 0);

    (void)state;
    plan.slots = 4;
    plan.bytes = tamis__ops(TAMIS_HASHSET)->bytes(&plan);
    toy t = { .f = new_filter(&plan) };
    pick_keys(&t, (uint64_t[]){ 0, 0, 3, 3 });
    t.keys[0] = unhash_key(0, t.f->salt);
    t.stranger = unhash_key(1, t.f->salt);
    explore(&t, 0, 0);
    assert_explored(&t);
    tamis_free(t.f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sequence_on_a_bitmap),
        cmocka_unit_test(every_sequence_on_a_hashset),
        cmocka_unit_test(every_sequence_with_the_value_zero),
    };

    length = (int)run_size(5, 5, 6);
    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
