/* counting-blocked: counters lie where the format says, stop where they should on every CPU, and a
 * line never touches another. */
#include <math.h>

#include "base/bits.h"
#include "base/cpu.h"
#include "kinds.h"

static tamis_plan plan_of(uint64_t lines)
{
    tamis_plan plan = plan_for(TAMIS_COUNTING_BLOCKED, 10, 0.01, 3);

    plan.slots = lines;
    plan.bytes = tamis__ops(TAMIS_COUNTING_BLOCKED)->bytes(&plan);
    assert_int_equal(plan.bytes, 64 * lines);
    return plan;
}

/* Digit i of x names a nibble of word i, by bytes. */
static unsigned nibble(const uint8_t *line, uint32_t x, unsigned i)
{
    unsigned digit = x >> 4 * i & 15;

    return line[8 * i + digit / 2] >> digit % 2 * 4 & 15;
}

static void set_nibble(uint8_t *line, uint32_t x, unsigned i, unsigned value)
{
    unsigned digit = x >> 4 * i & 15, shift = digit % 2 * 4;
    uint8_t *at = &line[8 * i + digit / 2];

    *at = (uint8_t)((*at & ~(15u << shift)) | value << shift);
}

static void counters_lie_where_the_format_says(void **state)
{
    tamis_plan plan = plan_of(5);
    tamis *f = new_filter(&plan);
    uint8_t expected[5 * 64] = { 0 };

    (void)state;
    for (uint64_t key = 0; key < 40; key++) {
        uint64_t h = hash_key(key, f->salt);
        uint8_t *line = expected + 64 * scale64(h, 5);

        for (unsigned i = 0; i < 8; i++)
            set_nibble(line, (uint32_t)h, i, nibble(line, (uint32_t)h, i) + 1);
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
        assert_memory_equal(f->payload, expected, sizeof expected);
    }
    tamis_free(f);
}

/* What one step makes of a line, told by hand. */
static tamis_status step_by_hand(uint8_t *line, uint32_t x, bool adds)
{
    for (unsigned i = 0; i < 8 && !adds; i++)
        if (nibble(line, x, i) == 0)
            return TAMIS_ABSENT;
    for (unsigned i = 0; i < 8; i++) {
        unsigned now = nibble(line, x, i);
        if (now < 15)
            set_nibble(line, x, i, adds ? now + 1 : now - 1);
    }
    return TAMIS_OK;
}

/* Each counter of the line is 0, 15, next to these or any. */
static void fill_line(rng *r, uint8_t *line)
{
    static const unsigned edges[] = { 0, 15, 15, 15, 14, 1 };
    unsigned sort = (unsigned)rng_below(r, 4);

    for (int i = 0; i < 64; i++) {
        uint64_t any = rng_next(r);
        unsigned low = sort ? edges[1 + any % 4] : any >> 8 & 15;
        unsigned high = sort > 1 ? edges[any >> 16 & 3] : any >> 24 & 15;
        line[i] = (uint8_t)(low | high << 4);
    }
}

static void every_cpu_steps_by_hand(void **state)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    tamis_plan plan = plan_of(1);
    tamis *f = new_filter(&plan);
    rng r = rng_for(2310, 0);
    uint8_t line[64];
    size_t done;

    (void)state;
    for (int round = 0; round < 40000; round++) {
        uint64_t key = rng_next(&r);
        uint32_t x = (uint32_t)hash_key(key, f->salt);
        bool adds = round % 2;

        tamis__use_cpu(f, cpus[round / 2 % 2]);
        fill_line(&r, f->payload);
        for (unsigned i = 0; i < 8 && round % 3; i++)
            set_nibble(f->payload, x, i, round % 3 == 1 ? 15 : 1 + (unsigned)rng_below(&r, 15));
        memcpy(line, f->payload, sizeof line);
        f->count = 1000;
        bool had = tamis_has(f, key);
        uint64_t count = tamis_count(f, key);
        tamis_status expected = step_by_hand(line, x, adds);
        tamis_status status =
            adds ? tamis_add_many(f, &done, &key, 1) : tamis_remove_many(f, &done, &key, 1);
        assert_int_equal(status, expected);
        assert_memory_equal(f->payload, line, sizeof line);
        assert_int_equal(had, count > 0);
        if (!adds)
            assert_int_equal(had, status == TAMIS_OK);
        int64_t step = count == 15 || status ? 0 : adds ? 1 : -1;
        assert_int_equal((int64_t)f->count, 1000 + step);
    }
    tamis_free(f);
}

/* Eight digits of sixteen values: the share of strangers that pass, counted one by one. */
static void rates_of_one_line_are_exact(void **state)
{
    tamis_plan plan = plan_of(1);

    (void)state;
    for (uint64_t n = 0; n < 40; n++)
        assert_true(
            is_near(tamis_plan_rate(&plan, n), pow(1 - pow(15.0 / 16, (double)n), 8), 1e-9));
}

static void sixteen_adds_and_removes_lose_no_neighbour(void **state)
{
    tamis_plan plan = plan_of(1);
    tamis *f = new_filter(&plan);

    (void)state;
    for (uint64_t key = 1; key <= 20; key++)
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
    for (int i = 0; i < 16; i++)
        assert_int_equal(tamis_add(f, 0), TAMIS_OK);
    assert_int_equal(info_of(f).saturated, 8);
    for (int i = 0; i < 16; i++)
        assert_int_equal(tamis_remove(f, 0), TAMIS_OK);
    for (uint64_t key = 0; key <= 20; key++)
        assert_true(tamis_has(f, key));
    tamis_free(f);
}

static void other_shapes_are_refused(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_COUNTING_BLOCKED);
    tamis_spec spec = spec_for(1000, 0.01, 0);
    tamis_plan plan = plan_of(4);

    (void)state;
    plan.width = 8;
    assert_int_equal(ops->bytes(&plan), 0);
    plan.width = 4;
    plan.hashes = 7;
    assert_int_equal(ops->bytes(&plan), 0);
    plan.hashes = 8;
    plan.slots = UINT64_C(1) << 58;
    assert_int_equal(ops->bytes(&plan), 0);
    spec.counter_bits = 4;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_COUNTING_BLOCKED, &spec), TAMIS_OK);
    spec.counter_bits = 8;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_COUNTING_BLOCKED, &spec), TAMIS_RANGE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_lie_where_the_format_says),
        cmocka_unit_test(every_cpu_steps_by_hand),
        cmocka_unit_test(rates_of_one_line_are_exact),
        cmocka_unit_test(sixteen_adds_and_removes_lose_no_neighbour),
        cmocka_unit_test(other_shapes_are_refused),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
