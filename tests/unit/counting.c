/* counting: the textbook's counters by their positions, counters that stop, keys that were never
 * there, and every width against plain arithmetic. */
#include "base/cpu.h"
#include "bloom/probes.h"
#include "kinds.h"

static tamis_plan plan_of(uint64_t slots, unsigned bits, unsigned hashes)
{
    tamis_spec spec = spec_for(10, 0.01, 0);
    tamis_plan plan;

    spec.counter_bits = bits;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_COUNTING, &spec), TAMIS_OK);
    assert_int_equal(plan.width, bits);
    plan.slots = slots;
    plan.hashes = hashes;
    plan.bytes = tamis__ops(TAMIS_COUNTING)->bytes(&plan);
    assert_int_equal(plan.bytes, (slots + 64 / bits - 1) / (64 / bits) * 8);
    return plan;
}

static uint64_t at(const tamis *f, uint64_t slot)
{
    return counters_get(f->payload, f->plan.width, slot);
}

static void put(tamis *f, const unsigned *counters)
{
    for (uint64_t i = 0; i < f->plan.slots; i++)
        counters_change(f->payload, f->plan.width, i, (int64_t)(counters[i] - at(f, i)));
}

static void assert_counters(const tamis *f, const unsigned *counters)
{
    for (uint64_t i = 0; i < f->plan.slots; i++)
        assert_int_equal(at(f, i), counters[i]);
}

static void positions_of(uint64_t *pos, const tamis *f, uint64_t key)
{
    probes_find(pos, f, (probes_shape){ .range = f->plan.slots, .hashes = f->plan.hashes }, key);
}

/* ---- The worked example ------------------------------------------------ */

/* A key whose positions are these three, in some order. */
static uint64_t key_at(const tamis *f, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t pos[3], wanted = UINT64_C(1) << a | UINT64_C(1) << b | UINT64_C(1) << c;

    for (uint64_t key = 0;; key++) {
        positions_of(pos, f, key);
        if ((UINT64_C(1) << pos[0] | UINT64_C(1) << pos[1] | UINT64_C(1) << pos[2]) == wanted)
            return key;
    }
}

static void v10_removing_and_converting(void **state)
{
    static const unsigned before[16] = { 0, 3, 0, 0, 1, 0, 2, 0, 0, 3, 2, 1, 0, 2, 1, 0 };
    static const unsigned after[16] = { 0, 2, 0, 0, 0, 0, 2, 0, 0, 3, 2, 1, 0, 1, 1, 0 };
    (void)state;
    for (unsigned bits = 2; bits <= 16; bits++) {
        tamis_plan plan = plan_of(16, bits, 3);
        tamis *f = new_filter(&plan), *plain = NULL;
        uint64_t key = key_at(f, 1, 4, 13);

        put(f, before);
        /* With two bits, a 3 has stopped. */
        if (bits > 2) {
            assert_int_equal(tamis_remove(f, key), TAMIS_OK);
            assert_counters(f, after);
        }
        assert_int_equal(tamis_convert(&plain, TAMIS_BLOOM, f, NULL), TAMIS_OK);
        for (uint64_t i = 0; i < 16; i++)
            assert_int_equal(bitset_get(plain->payload, i), (bits > 2 ? after : before)[i] != 0);
        tamis_free(plain);
        tamis_free(f);
    }
}

/* ---- Counters that stop ------------------------------------------------ */

/* Sixteen adds of one key and sixteen removes: those that share a counter with it stay. */
static void sixteen_adds_and_removes_lose_no_neighbour(void **state)
{
    tamis_plan plan = plan_of(64, 4, 3);
    tamis *f = new_filter(&plan);
    uint64_t pos[3], mine[3], shared = 0;

    (void)state;
    positions_of(mine, f, 0);
    for (uint64_t key = 1; key <= 40; key++) {
        positions_of(pos, f, key);
        for (int i = 0; i < 9; i++)
            shared += pos[i / 3] == mine[i % 3];
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
    }
    assert_true(shared > 0);
    for (int i = 0; i < 16; i++)
        assert_int_equal(tamis_add(f, 0), TAMIS_OK);
    assert_int_equal(tamis_count(f, 0), 15);
    assert_true(info_of(f).saturated >= 3);
    for (int i = 0; i < 16; i++)
        assert_int_equal(tamis_remove(f, 0), TAMIS_OK);
    for (uint64_t key = 0; key <= 40; key++)
        assert_true(tamis_has(f, key));
    assert_int_equal(tamis_count(f, 0), 15);
    for (uint64_t key = 1; key <= 40; key++)
        assert_int_equal(tamis_remove(f, key), TAMIS_OK);
    assert_true(tamis_has(f, 0));
    tamis_free(f);
}

/* A counter that stopped because of two keys does not go down with either. */
static void a_stopped_counter_is_neither_raised_nor_lowered(void **state)
{
    tamis_plan plan = plan_of(1024, 2, 2);
    tamis *f = new_filter(&plan);
    uint64_t pos[2];

    (void)state;
    positions_of(pos, f, 7);
    assert_true(pos[0] != pos[1]);
    counters_change(f->payload, 2, pos[0], 3);
    assert_int_equal(tamis_remove(f, 7), TAMIS_ABSENT);
    assert_int_equal(tamis_add(f, 7), TAMIS_OK);
    assert_true(at(f, pos[0]) == 3 && at(f, pos[1]) == 1);
    assert_int_equal(info_of(f).saturated, 1);
    assert_int_equal(tamis_remove(f, 7), TAMIS_OK);
    assert_true(at(f, pos[0]) == 3 && at(f, pos[1]) == 0);
    assert_int_equal(info_of(f).count, 0);
    tamis_free(f);
}

static void counts_stop_at_the_ceiling(void **state)
{
    (void)state;
    for (unsigned bits = 2; bits <= 16; bits++) {
        tamis_plan plan = plan_of(4096, bits, 5);
        uint64_t ceiling = plan.ceiling;
        tamis *f = new_filter(&plan);

        assert_int_equal(ceiling, (UINT64_C(1) << bits) - 1);
        assert_int_equal(tamis_add_times(f, 3, ceiling - 1), TAMIS_OK);
        assert_int_equal(tamis_remove_times(f, 3, ceiling), TAMIS_ABSENT);
        assert_int_equal(tamis_remove_times(f, 3, ceiling - 2), TAMIS_OK);
        assert_int_equal(tamis_count(f, 3), 1);
        assert_int_equal(tamis_add_times(f, 3, UINT64_MAX / 2), TAMIS_OK);
        assert_int_equal(tamis_count(f, 3), ceiling);
        assert_int_equal(info_of(f).count, ceiling);
        assert_int_equal(tamis_remove_times(f, 3, UINT64_MAX), TAMIS_OK);
        assert_int_equal(tamis_count(f, 3), ceiling);
        tamis_free(f);
    }
}

/* ---- Keys that were never there ---------------------------------------- */

static uint64_t false_positive(const tamis *f)
{
    uint64_t key = 1000;

    while (!tamis_has(f, key))
        key++;
    return key;
}

/* A counter at 0 proves it: nothing changes. Otherwise the stranger is taken for the keys that
 * raised its counters, and takes some of them along. */
static void strangers_are_refused_only_where_it_shows(void **state)
{
    tamis_plan plan = plan_of(64, 4, 3);
    tamis *f = new_filter(&plan);
    size_t lost = 0;

    (void)state;
    for (uint64_t key = 0; key < 12; key++)
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
    image_bytes before = image_of(f);
    for (uint64_t key = 1000; key < 2000; key++)
        if (!tamis_has(f, key))
            assert_int_equal(tamis_remove(f, key), TAMIS_ABSENT);
    assert_true(is_image_of(&before, f));
    uint64_t stranger = false_positive(f);
    assert_int_equal(tamis_remove(f, stranger), TAMIS_OK);
    assert_int_equal(info_of(f).count, 11);
    for (uint64_t key = 0; key < 12; key++)
        lost += !tamis_has(f, key);
    assert_true(lost > 0);
    free_bytes(&before);
    tamis_free(f);
}

/* Each stranger lowers the count, which does not pass below 0. */
static void a_count_of_strangers_stays_a_count(void **state)
{
    tamis_plan plan = plan_of(64, 4, 1);
    tamis *f = new_filter(&plan);

    (void)state;
    assert_int_equal(tamis_add(f, 1), TAMIS_OK);
    f->count = 0;
    assert_int_equal(tamis_remove(f, 1), TAMIS_OK);
    assert_int_equal(info_of(f).count, 0);
    tamis_free(f);
}

/* ---- Every width ------------------------------------------------------- */

enum { SLOTS = 61, KEYS = 24 };

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The different ones among the positions of a key. */
static unsigned different_positions(uint64_t *pos, const tamis *f, uint64_t key)
{
    unsigned n = 0;

    positions_of(pos, f, key);
    for (unsigned i = 0; i < f->plan.hashes; i++) {
        bool is_new = true;
        for (unsigned j = 0; j < n; j++)
            is_new = is_new && pos[j] != pos[i];
        if (is_new)
            pos[n++] = pos[i];
    }
    return n;
}

static void step_by_hand(unsigned *counters, const tamis *f, uint64_t key, bool adds, unsigned max)
{
    uint64_t pos[PROBES_MAX];
    unsigned n = different_positions(pos, f, key);

    for (unsigned i = 0; i < n; i++)
        if (counters[pos[i]] < max)
            counters[pos[i]] += adds ? 1 : -1u;
}

static void follow_by_hand(unsigned bits, uint64_t round)
{
    tamis_plan plan = plan_of(SLOTS, bits, 4);
    tamis *f = new_filter(&plan);
    unsigned counters[SLOTS] = { 0 }, copies[KEYS] = { 0 }, max = (unsigned)counters_max(bits);
    rng r = rng_for(2200 + bits, round);

    for (int step = 0; step < 3000; step++) {
        uint64_t key = rng_below(&r, KEYS);
        bool adds = rng_below(&r, 2) == 0;
        if (adds || copies[key]) {
            assert_int_equal(adds ? tamis_add(f, key) : tamis_remove(f, key), TAMIS_OK);
            step_by_hand(counters, f, key, adds, max);
            copies[key] += adds ? 1 : -1u;
            assert_counters(f, counters);
        }
        assert_true(tamis_count(f, key) >= lesser(copies[key], max));
        assert_true(is_whole(f));
    }
    tamis_free(f);
}

static void every_width_counts_by_hand(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < run_size(2, 1, 4); round++)
        for (unsigned bits = 1; bits <= 16; bits++)
            follow_by_hand(bits, round);
}

static void merging_adds_and_intersecting_takes_the_least(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 16; bits++) {
        tamis_plan plan = plan_of(SLOTS, bits, 4);
        tamis *f = new_filter(&plan), *g = new_filter(&plan), *both = NULL;
        unsigned a[SLOTS], b[SLOTS], max = (unsigned)counters_max(bits);
        rng r = rng_for(2300, bits);

        for (int i = 0; i < SLOTS; i++) {
            a[i] = (unsigned)rng_below(&r, max + UINT64_C(1));
            b[i] = (unsigned)rng_below(&r, max + UINT64_C(1));
        }
        put(f, a);
        put(g, b);
        assert_int_equal(tamis_clone(&both, f, NULL), TAMIS_OK);
        assert_int_equal(tamis_combine(f, TAMIS_MERGE, g), TAMIS_OK);
        assert_int_equal(tamis_combine(both, TAMIS_INTERSECT, g), TAMIS_OK);
        for (uint64_t i = 0; i < SLOTS; i++) {
            assert_int_equal(at(f, i), lesser(a[i] + b[i], max));
            assert_int_equal(at(both, i), lesser(a[i], b[i]));
        }
        assert_true(is_whole(f) && is_whole(both));
        tamis_free(f);
        tamis_free(g);
        tamis_free(both);
    }
}

/* ---- Plans ------------------------------------------------------------- */

static void widths_are_one_to_sixteen(void **state)
{
    tamis_spec spec = spec_for(1000, 0.01, 0);
    tamis_plan plan, bloom = plan_for(TAMIS_BLOOM, 1000, 0.01, 0);

    (void)state;
    for (spec.counter_bits = 0; spec.counter_bits < 40; spec.counter_bits++) {
        unsigned bits = spec.counter_bits ? spec.counter_bits : 4;
        bool is_width = bits >= 1 && bits <= 16;
        tamis_status status = tamis_plan_kind(&plan, TAMIS_COUNTING, &spec);

        assert_int_equal(status, is_width ? TAMIS_OK : TAMIS_RANGE);
        if (is_width) {
            assert_int_equal(plan.width, bits);
            assert_int_equal(plan.bytes, (bloom.slots + 64 / bits - 1) / (64 / bits) * 8);
            assert_true(plan.slots == bloom.slots && plan.hashes == bloom.hashes);
            assert_true(plan.fpr == bloom.fpr);
        }
        assert_int_equal(tamis_plan_kind(&plan, TAMIS_BLOOM, &spec),
                         spec.counter_bits ? TAMIS_CANNOT : TAMIS_OK);
    }
    spec.counter_bits = UINT32_MAX;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_COUNTING, &spec), TAMIS_RANGE);
}

static void geometries_of_other_kinds_are_refused(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_COUNTING);
    tamis_plan plan = plan_of(64, 4, 3);

    (void)state;
    for (plan.width = 0; plan.width < 70; plan.width++)
        assert_int_equal(ops->bytes(&plan), plan.width >= 1 && plan.width <= 16
                                                ? (63 / (64 / plan.width) + 1) * 8
                                                : 0);
    plan = plan_of(64, 16, 3);
    plan.slots = UINT64_C(1) << 60;
    assert_int_equal(ops->bytes(&plan), 0);
    plan.slots = 0;
    assert_int_equal(ops->bytes(&plan), 0);
    plan = plan_of(64, 16, 3);
    plan.hashes = 65;
    assert_int_equal(ops->bytes(&plan), 0);
    plan.hashes = 0;
    assert_int_equal(ops->bytes(&plan), 0);
}

/* 61 counters of four bits leave three of a word. */
static void bits_past_the_end_are_damage(void **state)
{
    tamis_plan plan = plan_of(SLOTS, 4, 3);
    tamis *f = new_filter(&plan);
    uint8_t *last = (uint8_t *)f->payload + plan.bytes - 1;

    (void)state;
    assert_true(is_whole(f));
    *last = 0x10;
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
    *last = 0;
    last[-1] = 0x10;
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
    last[-1] = 0x0f;
    assert_true(is_whole(f));
    tamis_free(f);
}

/* Counter i is in word i / lanes at lane i % lanes, however large i is; words have lanes enough,
 * and what they have beside them is damage. */
static void counters_of_every_width_are_where_they_belong(void **state)
{
    rng r = rng_for(2400, 0);

    (void)state;
    for (unsigned bits = 1; bits <= 16; bits++) {
        uint64_t lanes = 64 / bits;
        for (int i = 0; i < 20000; i++) {
            uint64_t n = rng_next(&r) >> (8 + rng_below(&r, 56)), word = n / lanes;
            uint64_t edge = word * lanes + (i % 2 ? lanes - 1 : 0);
            assert_int_equal(counters_find(bits, n).word, word);
            assert_int_equal(counters_find(bits, n).shift, n % lanes * bits);
            assert_int_equal(counters_find(bits, edge).word, word);
        }
        tamis_plan plan = plan_of(2 * lanes, bits, 3);
        tamis *f = new_filter(&plan);
        uint64_t *words = f->payload;
        words[0] = words[1] = LE_SWAP64(UINT64_MAX >> (64 - lanes * bits));
        assert_true(is_whole(f));
        assert_int_equal(info_of(f).saturated, 2 * lanes);
        words[0] = UINT64_MAX;
        assert_int_equal(tamis_verify(f, NULL, NULL), lanes * bits < 64 ? TAMIS_CORRUPT : TAMIS_OK);
        tamis_free(f);
    }
}

/* ---- Kernels ----------------------------------------------------------- */

/* One change of both filters, alone or in a batch. */
static void change_both(tamis *f, tamis *g, const uint64_t *keys, size_t n, bool adds)
{
    size_t done[2] = { 0, 0 };

    if (n == 1) {
        assert_int_equal(adds ? tamis_add(f, *keys) : tamis_remove(f, *keys),
                         adds ? tamis_add(g, *keys) : tamis_remove(g, *keys));
        return;
    }
    if (adds) {
        assert_int_equal(tamis_add_many(f, &done[0], keys, n), TAMIS_OK);
        assert_int_equal(tamis_add_many(g, &done[1], keys, n), TAMIS_OK);
    } else {
        assert_int_equal(tamis_remove_many(f, &done[0], keys, n),
                         tamis_remove_many(g, &done[1], keys, n));
    }
    assert_int_equal(done[0], done[1]);
}

static void assert_same(const tamis *f, const tamis *g, const uint64_t *keys, size_t n)
{
    uint64_t hits[2][4];

    assert_memory_equal(f->payload, g->payload, f->plan.bytes);
    assert_int_equal(f->count, g->count);
    assert_int_equal(tamis_has_many(f, hits[0], keys, n), tamis_has_many(g, hits[1], keys, n));
    assert_memory_equal(hits[0], hits[1], (n + 63) / 64 * 8);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_has(f, keys[i]), hits[0][i / 64] >> i % 64 & 1);
}

/* Any counters, the same in both. */
static void fill_both(tamis *f, tamis *g, rng *r)
{
    for (uint64_t i = 0; i < f->plan.slots; i++) {
        int64_t by = (int64_t)(rng_below(r, 3) ? rng_below(r, 16) : 15);
        counters_change(f->payload, 4, i, by);
        counters_change(g->payload, 4, i, by);
    }
}

/* Few slots: counters of a key meet in a word or are one, and stop. */
static void kernels_agree_on_any_payload(void **state)
{
    const uint64_t slots[] = { 1, 2, 16, 17, 100, 1000, 12345 };
    rng r = rng_for(2304, 0);

    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        tamis_plan plan = plan_of(slots[round % 7], 4, 1 + (unsigned)rng_below(&r, 12));
        tamis *f = new_filter(&plan), *g = new_filter(&plan);
        uint64_t *keys = fresh_keys(&r, 200);

        tamis__use_cpu(g, TAMIS_CPU_PORTABLE);
        fill_both(f, g, &r);
        for (int i = 0; i < 8; i++) {
            size_t n = i % 2 ? 1 : 1 + rng_below(&r, 200);
            change_both(f, g, keys + rng_below(&r, 201 - n), n, rng_below(&r, 2));
            assert_same(f, g, keys, 1 + rng_below(&r, 200));
        }
        tamis_free(f);
        tamis_free(g);
        free(keys);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v10_removing_and_converting),
        cmocka_unit_test(sixteen_adds_and_removes_lose_no_neighbour),
        cmocka_unit_test(a_stopped_counter_is_neither_raised_nor_lowered),
        cmocka_unit_test(counts_stop_at_the_ceiling),
        cmocka_unit_test(strangers_are_refused_only_where_it_shows),
        cmocka_unit_test(a_count_of_strangers_stays_a_count),
        cmocka_unit_test(every_width_counts_by_hand),
        cmocka_unit_test(merging_adds_and_intersecting_takes_the_least),
        cmocka_unit_test(widths_are_one_to_sixteen),
        cmocka_unit_test(counters_of_every_width_are_where_they_belong),
        cmocka_unit_test(geometries_of_other_kinds_are_refused),
        cmocka_unit_test(bits_past_the_end_are_damage),
        cmocka_unit_test(kernels_agree_on_any_payload),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
