/* Geometry that is asked for: it is obeyed to the bit, or refused; and the worked examples of
 * textbooks, whose authors choose m and k. */
#include "kinds.h"

static tamis_spec geometry(uint64_t keys, uint64_t bits, uint32_t hashes)
{
    tamis_spec spec = spec_for(keys, 0, 1);

    spec.bits = bits;
    spec.hashes = hashes;
    return spec;
}

static tamis_plan plan_geometry(tamis_kind kind, uint64_t keys, uint64_t bits, uint32_t hashes)
{
    tamis_spec spec = geometry(keys, bits, hashes);
    tamis_plan plan;

    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    assert_int_equal(plan.capacity, keys);
    return plan;
}

/* ---- Worked examples --------------------------------------------------- */

static void assert_rate(const tamis_plan *p, double rate)
{
    assert_true(is_near(p->fpr, rate, 1e-6));
}

/* n = 1e9, m = 8e9: 0.1175 with one hash, 0.0489 with two, best with six. */
static void v3_eight_bits_per_key(void **state)
{
    const uint64_t n = 1000000000, m = 8 * n;
    tamis_plan one = plan_geometry(TAMIS_BLOOM, n, m, 1), two = plan_geometry(TAMIS_BLOOM, n, m, 2);
    tamis_plan best = plan_geometry(TAMIS_BLOOM, n, m, 0);

    (void)state;
    assert_true(one.bytes == n && two.bytes == n && best.bytes == n);
    assert_rate(&one, -expm1(-1.0 / 8));
    assert_true(fabs(one.fpr - 0.1175) < 0.00005);
    assert_rate(&two, pow(-expm1(-2.0 / 8), 2));
    assert_true(fabs(two.fpr - 0.0489) < 0.00005);
    assert_int_equal(best.hashes, 6);
    for (uint32_t k = 1; k <= 64; k++)
        assert_true(plan_geometry(TAMIS_BLOOM, n, m, k).fpr >= best.fpr);
}

/* The textbook's 0.6185^c has a number of hashes that is no integer: with the best integer, rates
 * are a few hundredths above it at one and two bits, and the same digits from five on. */
static void v4_rates_by_bits_per_key(void **state)
{
    static const struct {
        uint64_t bits;
        double textbook, best;
        uint32_t hashes;
    } rows[] = { { 1, 0.6185, 0.6321, 1 },
                 { 2, 0.3825, 0.3935, 1 },
                 { 5, 0.0905, 0.0918, 3 },
                 { 10, 0.0082, 0.0082, 7 } };
    const uint64_t n = 10000000;

    (void)state;
    for (int i = 0; i < 4; i++) {
        tamis_plan p = plan_geometry(TAMIS_BLOOM, n, rows[i].bits * n, 0);
        assert_int_equal(p.hashes, rows[i].hashes);
        assert_true(fabs(p.fpr - rows[i].best) < 0.00005);
        assert_true(fabs(pow(0.6185, (double)rows[i].bits) - rows[i].textbook) < 0.00005);
        assert_true(p.fpr >= rows[i].textbook * 0.999 && p.fpr < rows[i].textbook + 0.014);
    }
    /* A tenth of the rate costs 4.8 bits. */
    double tenth = plan_geometry(TAMIS_BLOOM, n, 148 * n / 10, 0).fpr;
    assert_true(is_near(tenth, plan_geometry(TAMIS_BLOOM, n, 10 * n, 0).fpr / 10, 0.01));
}

/* 30 rows of 2,500,000 bits for 5,000,000 keys: 1.27 %, in 75 Mbit. */
static void v5_rows_of_bits(void **state)
{
    tamis_plan p = plan_geometry(TAMIS_PARTITIONED, 5000000, 75000000, 30);

    (void)state;
    assert_int_equal(p.slots, 2500000);
    assert_int_equal(p.hashes, 30);
    assert_int_equal(p.bytes, 75000000 / 8);
    assert_rate(&p, pow(-expm1(5e6 * log1p(-1 / 2.5e6)), 30));
    assert_true(p.fpr > 0.0127 && p.fpr < 0.0128);
}

/* ---- Bits and hashes --------------------------------------------------- */

/* Slots for a bit or counter that the plan has in all. */
static uint64_t bits_of(const tamis_plan *p)
{
    switch (p->kind) {
    case TAMIS_PARTITIONED:
        return p->slots * p->hashes;
    case TAMIS_BLOCKED:
        return p->slots * 256;
    case TAMIS_COUNTING_BLOCKED:
        return p->slots * 128;
    default:
        return p->slots;
    }
}

static void assert_holds(const tamis_plan *p)
{
    rng r = rng_for(31, p->slots);
    uint64_t *keys = fresh_keys(&r, p->capacity);
    tamis *f = NULL;

    assert_int_equal(tamis_build(&f, p, keys, p->capacity, NULL), TAMIS_OK);
    assert_int_equal(tamis_plan_of(f)->bytes, p->bytes);
    for (uint64_t i = 0; i < p->capacity; i++)
        assert_true(tamis_has(f, keys[i]));
    tamis_free(f);
    free(keys);
}

/* To the bit where single bits can be had, else to the row or block. */
static void bits_and_hashes_are_obeyed(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        if (!has_trait(kind, TAMIS_TRAIT_BITS))
            continue;
        for (uint64_t bits = 1000; bits < 1100; bits += 7)
            for (uint32_t hashes = 0; hashes <= 8; hashes += 4) {
                tamis_spec spec = geometry(100, bits, hashes);
                tamis_plan p;
                bool is_of_blocks = kind == TAMIS_BLOCKED || kind == TAMIS_COUNTING_BLOCKED;
                uint64_t unit = is_of_blocks ? 256 : kind == TAMIS_PARTITIONED ? 64 : 1;

                assert_int_equal(tamis_plan_kind(&p, kind, &spec),
                                 is_of_blocks && hashes == 4 ? TAMIS_RANGE : TAMIS_OK);
                if (is_of_blocks && hashes == 4)
                    continue;
                assert_true(!hashes || p.hashes == hashes);
                assert_true(bits_of(&p) <= bits && bits_of(&p) + unit > bits);
                if (bits == 1000)
                    assert_holds(&p);
            }
    }
}

/* The best of all numbers of hashes, or as good, down to arrays of a few bits. */
static void the_best_hashes_are_chosen(void **state)
{
    const tamis_kind kinds[] = { TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_COUNTING };

    (void)state;
    for (int i = 0; i < 3; i++)
        for (uint64_t n = 1; n <= 100; n *= 10)
            for (uint64_t bits = n; bits <= 40 * n; bits += 3 * n + 1) {
                double best = plan_geometry(kinds[i], n, bits, 0).fpr;
                for (uint32_t k = 1; k <= 64 && k <= bits && k <= 2 * bits / n; k++)
                    assert_true(plan_geometry(kinds[i], n, bits, k).fpr >= best * (1 - 1e-9));
            }
}

/* Without keys, as many as the rate allows in so many bits; one more would be too many. */
static void bits_are_filled_with_keys(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        tamis_spec spec = geometry(0, 100000, 0);
        tamis_plan p, more;

        if (!has_trait(kind, TAMIS_TRAIT_BITS))
            continue;
        spec.fpr = 0.02;
        assert_int_equal(tamis_plan_kind(&p, kind, &spec), TAMIS_OK);
        assert_true(p.capacity > 8000 && p.fpr <= 0.02 && p.fpr > 0.0199);
        spec.keys = p.capacity + 1;
        assert_int_equal(tamis_plan_kind(&more, kind, &spec), TAMIS_RANGE);
        spec.fpr = 0;
        assert_int_equal(tamis_plan_kind(&more, kind, &spec), TAMIS_OK);
        spec.max_bytes = more.bytes - 1;
        assert_int_equal(tamis_plan_kind(&more, kind, &spec), TAMIS_RANGE);
    }
}

static void hashes_alone_are_planned_for_the_rate(void **state)
{
    const tamis_kind kinds[] = { TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_COUNTING, TAMIS_COMPRESSED };

    (void)state;
    for (int i = 0; i < 4; i++)
        for (uint32_t k = 1; k <= 12; k++) {
            tamis_spec spec = geometry(10000, 0, k);
            tamis_plan p;

            spec.fpr = 0.02;
            assert_int_equal(tamis_plan_kind(&p, kinds[i], &spec), TAMIS_OK);
            assert_int_equal(p.hashes, k);
            assert_true(p.fpr <= 0.02 && p.fpr > 0.0195);
        }
}

/* ---- Quotients and tags ------------------------------------------------ */

static void quotients_and_remainders_are_obeyed(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        if (!has_trait(kind, TAMIS_TRAIT_QUOTIENT_BITS))
            continue;
        for (uint32_t q = 6; q < 14; q++)
            for (uint32_t r = 2; r < 30; r += 5) {
                tamis_spec spec = spec_for(0, 0, 1);
                tamis_plan p;

                spec.quotient_bits = q;
                spec.tag_bits = r;
                assert_int_equal(tamis_plan_kind(&p, kind, &spec), TAMIS_OK);
                assert_true(p.slots == UINT64_C(1) << q && p.width == r);
                /* What tells keys apart takes room, most of it where remainders are short. */
                uint64_t least = tells_keys_apart(kind) ? p.slots / 4 : p.slots * 9 / 10;
                assert_true(p.capacity >= least && p.capacity < p.slots);
                assert_true(p.fpr <= ldexp(1, -(int)r));
                assert_holds(&p);
                spec.keys = p.slots;
                assert_int_equal(tamis_plan_kind(&p, kind, &spec), TAMIS_RANGE);
            }
    }
}

/* The filter of eight slots that is drawn on blackboards. */
static void a_quotient_filter_may_have_eight_slots(void **state)
{
    tamis_spec spec = spec_for(5, 0, 1);
    tamis_plan p;

    (void)state;
    spec.quotient_bits = 3;
    spec.tag_bits = 28;
    assert_int_equal(tamis_plan_kind(&p, TAMIS_QUOTIENT, &spec), TAMIS_OK);
    assert_true(p.slots == 8 && p.width == 28);
    assert_holds(&p);
}

/* A slot of cuckoo has two bits more, a cell of acf one; a map has its tag beside the value. */
static uint32_t tag_of(const tamis_plan *p)
{
    return p->kind == TAMIS_CUCKOO ? p->width - 2
           : p->kind == TAMIS_ACF  ? p->hashes - 1
           : p->kind == TAMIS_MAP  ? p->hashes
                                   : p->width;
}

static void tags_are_obeyed(void **state)
{
    (void)state;
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind)) {
        if (!has_trait(kind, TAMIS_TRAIT_TAG_BITS))
            continue;
        unsigned obeyed = 0;
        for (uint32_t bits = 1; bits <= 40; bits++) {
            tamis_spec spec = spec_for(1000, 0, 1);
            tamis_plan p;

            spec.tag_bits = bits;
            spec.value_bits = tamis_kind_can(kind) & TAMIS_CAN_GET ? 8 : 0;
            if (tamis_plan_kind(&p, kind, &spec))
                continue;
            obeyed++;
            assert_int_equal(tag_of(&p), bits);
            if (bits % 8 == 0 && !spec.value_bits)
                assert_holds(&p);
            spec.fpr = p.fpr * (1 + 0x1p-31); /* it is rounded to 32 bits */
            assert_int_equal(tamis_plan_kind(&p, kind, &spec), TAMIS_OK);
            spec.fpr = p.fpr * 0.4;
            if (spec.fpr >= 0x1p-64 && tamis_plan_kind(&p, kind, &spec) == TAMIS_OK)
                assert_int_equal(tag_of(&p), bits);
        }
        assert_true(obeyed >= 16);
    }
}

/* ---- Refusals ---------------------------------------------------------- */

static tamis_status status_of(tamis_kind kind, const tamis_spec *spec)
{
    tamis_plan plan, before;

    memset(&plan, 0x55, sizeof plan);
    before = plan;
    tamis_status status = tamis_plan_kind(&plan, kind, spec);
    if (status)
        assert_memory_equal(&plan, &before, sizeof plan);
    return status;
}

static void other_kinds_refuse(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        tamis_spec bits = geometry(100, 5000, 0), hashes = geometry(100, 0, 3);
        tamis_spec quotient = spec_for(100, 0, 1), tag = quotient;

        quotient.quotient_bits = 10;
        tag.tag_bits = 12;
        assert_int_equal(status_of(kind, &bits) == TAMIS_CANNOT,
                         !has_trait(kind, TAMIS_TRAIT_BITS));
        assert_int_equal(status_of(kind, &hashes) == TAMIS_CANNOT,
                         !has_trait(kind, TAMIS_TRAIT_BITS));
        assert_int_equal(status_of(kind, &quotient) == TAMIS_CANNOT,
                         !has_trait(kind, TAMIS_TRAIT_QUOTIENT_BITS));
        assert_int_equal(status_of(kind, &tag) == TAMIS_CANNOT,
                         !has_trait(kind, TAMIS_TRAIT_TAG_BITS));
    }
}

/* Whatever the numbers, the answer is a refusal or a plan that its kind accepts. */
static void absurd_geometry_is_refused(void **state)
{
    static const uint64_t edges[] = { 0, 1, 2, 31, 63, 64, 65, 4096, 1u << 31, UINT32_MAX };
    static const uint64_t sizes[] = { 0, 1, 255, 1 << 20, UINT64_C(1) << 59, UINT64_MAX };
    rng r = rng_for(32, 0);

    (void)state;
    for (size_t i = 0; i < run_size(3000, 600, 200000); i++) {
        tamis_spec spec = geometry(sizes[rng_below(&r, 6)], sizes[rng_below(&r, 6)],
                                   (uint32_t)edges[rng_below(&r, 10)]);
        uint64_t unused = rng_below(&r, 4);
        tamis_plan p;

        spec.quotient_bits = (uint32_t)(unused & 1 ? 0 : edges[rng_below(&r, 10)]);
        spec.tag_bits = (uint32_t)(unused & 2 ? 0 : edges[rng_below(&r, 10)]);
        spec.counter_bits = (uint32_t)(rng_below(&r, 3) ? 0 : edges[rng_below(&r, 10)]);
        spec.fpr = rng_below(&r, 2) ? 0 : 0.01;
        for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind))
            if (status_of(kind, &spec) == TAMIS_OK) {
                assert_int_equal(tamis_plan_kind(&p, kind, &spec), TAMIS_OK);
                assert_int_equal(p.bytes, tamis__ops(kind)->bytes(&p));
            }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v3_eight_bits_per_key),
        cmocka_unit_test(v4_rates_by_bits_per_key),
        cmocka_unit_test(v5_rows_of_bits),
        cmocka_unit_test(bits_and_hashes_are_obeyed),
        cmocka_unit_test(the_best_hashes_are_chosen),
        cmocka_unit_test(bits_are_filled_with_keys),
        cmocka_unit_test(hashes_alone_are_planned_for_the_rate),
        cmocka_unit_test(quotients_and_remainders_are_obeyed),
        cmocka_unit_test(a_quotient_filter_may_have_eight_slots),
        cmocka_unit_test(tags_are_obeyed),
        cmocka_unit_test(other_kinds_refuse),
        cmocka_unit_test(absurd_geometry_is_refused),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
