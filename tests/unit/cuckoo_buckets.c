/* cuckoo-buckets: buckets bit by bit, the two buckets of a tag, the stash, sizes, refusals, and
 * what verify() must not accept. */
#include "cuckoo/cuckoo_buckets.h"

#include "moving.h"

static const tamis_kind KIND = TAMIS_CUCKOO_BUCKETS;

static tamis *shaped(uint64_t buckets, unsigned width, uint64_t seed)
{
    return shaped_as(KIND, buckets * BUCKETS_SLOTS, width, seed);
}

typedef struct bucket {
    uint32_t tag[BUCKETS_SLOTS];
} bucket;

static void write_bucket(const buckets_table *t, uint64_t i, const bucket *b)
{
    for (unsigned s = 0; s < BUCKETS_SLOTS; s++)
        packed_put_odd(t->at, BUCKETS_SLOTS * i + s, t->width, b->tag[s]);
}

static bucket read_bucket(const buckets_table *t, uint64_t i)
{
    bucket b;

    for (unsigned s = 0; s < BUCKETS_SLOTS; s++)
        b.tag[s] = buckets_get(t, i, s);
    return b;
}

static unsigned copies_in(const bucket *b, uint32_t tag)
{
    unsigned n = 0;

    for (unsigned s = 0; s < BUCKETS_SLOTS; s++)
        n += b->tag[s] == tag;
    return n;
}

/* ---- Buckets ----------------------------------------------------------- */

static bucket random_bucket(rng *r, unsigned width)
{
    bucket b = { { 0 } };
    uint64_t used = rng_below(r, BUCKETS_SLOTS + 1);

    for (unsigned s = 0; s < used; s++)
        b.tag[s] = 1 + (uint32_t)rng_below(r, packed_mask(width));
    if (rng_below(r, 4) == 0 && used > 1)
        b.tag[1] = b.tag[0];
    return b;
}

/* Seven buckets beside an array of them: what is written into one is read from it, and from none
 * of the others. */
static void buckets_keep_to_themselves(void **state)
{
    enum { N = 8 };

    (void)state;
    for (unsigned width = BUCKETS_MIN_TAG; width <= BUCKETS_MAX_TAG; width++) {
        tamis *f = shaped(N, width, 0);
        buckets_table t = buckets_of(f);
        bucket model[N] = { { { 0 } } };
        rng r = rng_for(2000 + (uint64_t)KIND, width);

        memset(t.stash.at, 0xA5, f->plan.bytes - t.stash_at);
        for (int step = 0; step < (is_sanitized() ? 2000 : 40000); step++) {
            uint64_t i = rng_below(&r, N);
            model[i] = random_bucket(&r, width);
            write_bucket(&t, i, &model[i]);
            for (uint64_t j = 0; j < N; j++) {
                bucket is = read_bucket(&t, j);
                assert_memory_equal(&is, &model[j], sizeof is);
            }
        }
        for (uint64_t i = 0; i < f->plan.bytes - t.stash_at; i++)
            assert_int_equal(t.stash.at[i], 0xA5);
        tamis_free(f);
    }
}

static void lookups_see_what_is_there(void **state)
{
    (void)state;
    for (unsigned width = BUCKETS_MIN_TAG; width <= BUCKETS_MAX_TAG; width++) {
        tamis *f = shaped(2, width, 0);
        buckets_table t = buckets_of(f);
        rng r = rng_for(2100 + (uint64_t)KIND, width);

        for (uint64_t step = 0; step < 5000; step++) {
            bucket b = random_bucket(&r, width), other = random_bucket(&r, width);
            uint32_t near = b.tag[0] ^ 1u << rng_below(&r, width);
            const uint32_t tags[] = { b.tag[0], other.tag[3], near,
                                      1 + (uint32_t)rng_below(&r, packed_mask(width)) };
            write_bucket(&t, 0, &b);
            write_bucket(&t, 1, &other);
            for (int i = 0; i < 4; i++) {
                buckets_key k = { step % 2, 1 - step % 2, tags[i] };
                if (tags[i] == 0)
                    continue;
                unsigned copies = copies_in(&b, tags[i]) + copies_in(&other, tags[i]);
                assert_int_equal(buckets_hold(&t, &k), copies > 0);
                assert_int_equal(buckets_copies(&t, &k), copies);
            }
        }
        tamis_free(f);
    }
}

/* ---- Where keys go ----------------------------------------------------- */

static void assert_pair(const buckets_table *t, uint64_t i, uint32_t tag)
{
    uint64_t j = buckets_other(t, i, tag);

    assert_true(j < t->buckets && (i ^ j) % 2 == 1);
    assert_int_equal(buckets_other(t, j, tag), i);
    buckets_key k = { i, j, tag }, back;
    assert_true(buckets_key_of_class(t, buckets_class(t, &k), &back));
    assert_true(back.first == (i % 2 ? j : i) && back.second == (i % 2 ? i : j));
    assert_true(back.tag == tag && buckets_class(t, &k) >> t->stash.bits == 0);
}

static void the_other_of_the_other_is_the_first(void **state)
{
    const uint64_t sizes[] = { 2, 4, 6, 10, 62, 1000, 65536, 1234568 };

    (void)state;
    for (unsigned width = BUCKETS_MIN_TAG; width <= 12; width++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            tamis *f = shaped(sizes[n], width, 0);
            buckets_table t = buckets_of(f);
            rng r = rng_for(2200, width);

            for (uint32_t tag = 1; tag <= packed_mask(width); tag++)
                for (uint64_t i = 0; i < 8; i++)
                    assert_pair(&t, i < 2 ? i : rng_below(&r, sizes[n]), tag);
            tamis_free(f);
        }
}

/* Beyond 2^32 buckets too, where there is no payload. */
static void large_tables_have_both_buckets(void **state)
{
    tamis_plan plan = { .slots = (UINT64_C(1) << 35) + 24, .width = 27 };
    buckets_table t = buckets_of_plan(&plan);
    rng r = rng_for(2300, 0);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        buckets_key k = buckets_key_of(&t, rng_next(&r));
        assert_true(k.first < t.buckets && k.tag >= 1 && k.tag <= packed_mask(27));
        assert_pair(&t, k.first, k.tag);
    }
}

static void tags_and_buckets_are_even(void **state)
{
    enum { N = 200000 };
    tamis *f = shaped(22, 5, 7);
    buckets_table t = buckets_of(f);
    rng r = rng_for(2400, 0);
    uint64_t *counts = array_of(22 * 31, sizeof *counts);

    (void)state;
    for (int i = 0; i < N; i++) {
        buckets_key k = buckets_key_of(&t, rng_next(&r));
        counts[k.first * 31 + k.tag - 1]++;
    }
    assert_true(evenly_spread(counts, (size_t)22 * 31, ALPHA));
    free(counts);
    tamis_free(f);
}

/* ---- Stash ------------------------------------------------------------- */

static void the_stash_holds_eight(void **state)
{
    tamis *f = shaped(100, 13, 0);
    const stash s = buckets_of(f).stash;
    rng r = rng_for(2500, 0);
    uint64_t in[STASH_ENTRIES];

    (void)state;
    for (unsigned e = 0; e < STASH_ENTRIES; e++) {
        in[e] = e == 5 ? in[2] : (rng_below(&r, 50) << 13 | (1 + rng_below(&r, 8191))) << 1 | 1;
        assert_true(stash_replace(&s, 0, in[e]));
    }
    assert_false(stash_replace(&s, 0, 3));
    for (unsigned e = 0; e < STASH_ENTRIES; e++) {
        assert_int_equal(stash_get(&s, e), in[e]);
        assert_int_equal(stash_find(&s, in[e]), e == 2 || e == 5 ? 0x24 : 1u << e);
        assert_int_equal(stash_find(&s, in[e] ^ 2), 0);
    }
    stash_put(&s, 3, 0);
    assert_int_equal(stash_find(&s, in[3]), 0);
    assert_true(stash_replace(&s, 0, in[7]));
    assert_int_equal(stash_find(&s, in[7]), 0x88);
    stash_keep(&s, 0x0f);
    assert_int_equal(s.at[0], 0x0f);
    for (unsigned e = 0; e < STASH_ENTRIES; e++)
        stash_put(&s, e, 0);
    for (uint64_t i = 0; i < f->plan.bytes; i++)
        assert_int_equal(((uint8_t *)f->payload)[i], 0);
    tamis_free(f);
}

/* Two buckets and the stash: sixteen keys, whatever they are, are found, counted and removed, and
 * the seventeenth changes nothing. The stash empties as soon as there is room. */
static void a_table_of_two_buckets_takes_sixteen(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        tamis *f = shaped(2, 24, seed);
        buckets_table t = buckets_of(f);

        for (uint64_t key = 0; key < 16; key++) {
            assert_int_equal(tamis_add(f, key), TAMIS_OK);
            assert_int_equal(t.stash.at[0] != 0, key >= 8);
        }
        image_bytes before = image_of(f);
        assert_int_equal(tamis_add(f, 16), TAMIS_FULL);
        assert_true(is_image_of(&before, f) && is_whole(f));
        free_bytes(&before);
        for (uint64_t key = 0; key < 16; key++) {
            uint64_t hits[1], keys[6] = { key, key, key, key, key, key };
            assert_int_equal(tamis_count(f, key), 1);
            assert_int_equal(tamis_has_many(f, hits, keys, 6), 6);
            assert_int_equal(tamis_remove(f, key), TAMIS_OK);
            assert_int_equal(t.stash.at[0] != 0, key < 7);
            assert_true(is_whole(f));
        }
        assert_int_equal(info_of(f).count, 0);
        tamis_free(f);
    }
}

/* ---- Copies ------------------------------------------------------------ */

static void counts_stop_at_seven(void **state)
{
    (void)state;
    assert_counts_stop_at(shaped(100, 20, 0), 7);
}

/* Tables of all loads, full ones too: all the copies or none of them. */
static void add_times_is_all_or_nothing(void **state)
{
    uint64_t refused = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        tamis *f = shaped(6 + 2 * (seed % 8), 14, seed);
        uint64_t fill = f->plan.slots * (70 + seed % 31) / 100 + seed % (STASH_ENTRIES + 1);
        refused += are_copies_refused(f, fill, 2 + seed % 6);
    }
    assert_true(refused > 50 && refused < 1950);
}

static void one_key_a_million_times(void **state)
{
    const uint64_t n = 100000;
    tamis_plan plan = plan_for(KIND, n, 0.001, 3);
    tamis *f = new_filter(&plan);

    (void)state;
    for (int i = 0; i < 1000000; i++)
        assert_int_equal(tamis_add(f, 99), TAMIS_OK);
    for (uint64_t i = 0; i < n * 9 / 10; i++)
        assert_int_equal(tamis_add(f, 1000 + i), TAMIS_OK);
    for (uint64_t i = 0; i < n * 9 / 10; i++)
        assert_true(tamis_has(f, 1000 + i));
    assert_int_equal(tamis_count(f, 99), 7);
    assert_true(is_whole(f));
    tamis_free(f);
}

/* ---- Sizes and loads --------------------------------------------------- */

/* The least rate that still has the width. */
static tamis_plan plan_of_width(uint64_t n, unsigned width)
{
    double classes = ((double)n / 0.95 / 8) * packed_mask(width);
    double fpr = fmin(0.5, 1.004 * -expm1((double)n * log1p(-1 / fmax(classes, 2))));

    return plan_for(KIND, n, n < 200 ? fmin(0.5, 8.0 / packed_mask(width)) : fpr, 0);
}

/* 33 at most, unless tags have four bits. */
static uint64_t bytes_of_surplus(const tamis_plan *p)
{
    buckets_table t = buckets_of_plan(p);
    uint64_t entries = buckets_surplus_entries(&t);

    assert_true(surplus_bytes(entries) <=
                33 + (p->width == BUCKETS_MIN_TAG ? p->bytes / 10000 : 0));
    return surplus_bytes(entries);
}

static void sizes_follow_the_formula(void **state)
{
    (void)state;
    for (unsigned width = BUCKETS_MIN_TAG; width <= BUCKETS_MAX_TAG; width++)
        for (uint64_t n = 0; n < 11000000; n += 1 + n / 50) {
            tamis_plan plan = plan_of_width(n, width);
            double formula = (double)n * plan.width / 0.95 / 8;

            plan.bytes -= bytes_of_surplus(&plan);
            assert_true((double)plan.bytes <= formula * 1.05 + (n < 1000 ? 64 : 0));
            assert_true(plan.slots >= n && plan.capacity == n);
        }
}

/* From a thousand keys to ten million, each 0.0921 % more than the last. */
static void ten_thousand_sizes_follow_the_formula(void **state)
{
    const double fprs[] = { 0.05, 0.01, 0.0039, 0.001, 0.00001 };

    (void)state;
    for (int i = 0; i <= 10000; i++) {
        uint64_t n = (uint64_t)(1e3 * exp(log(1e4) * i / 10000));
        tamis_plan plan = plan_for(KIND, n, fprs[i % 5], 0);
        double bits = ceil(log2(8 * 0.95 / fprs[i % 5] + 1));

        plan.bytes -= bytes_of_surplus(&plan);
        assert_true((double)plan.bytes <= 1.05 * (double)n * bits / 0.95 / 8);
        assert_true(tamis_plan_rate(&plan, n) <= fprs[i % 5]);
    }
}

/* At the load that is promised for it: no search in vain. */
static double load_at_first_refusal(uint64_t buckets, unsigned width, uint64_t seed)
{
    tamis *f = shaped(buckets, width, seed);
    buckets_table t = buckets_of(f);
    uint64_t key = 0;

    while (!t.stash.at[0])
        assert_int_equal(tamis_add(f, key++), TAMIS_OK);
    double load = (double)info_of(f).count / (double)f->plan.slots;
    tamis_free(f);
    return load;
}

static void tables_fill_to_95_percent(void **state)
{
    const unsigned widths[] = { 6, 8, 12, 16, 20 };
    const uint64_t tables = is_long_run() ? 200 : is_sanitized() ? 1 : 8;

    (void)state;
    for (int w = 0; w < 5; w++)
        for (uint64_t seed = 0; seed < tables; seed++)
            assert_true(load_at_first_refusal(26316, widths[w], seed) >= 0.95);
}

static void plans_take_their_keys(void **state)
{
    (void)state;
    assert_plans_take_their_keys(plan_of_width, BUCKETS_MIN_TAG, 20);
}

/* ---- Verifying --------------------------------------------------------- */

/* Every flipped bit of the payload changes the number of keys or breaks an order, or is a tag that
 * became another: those are all that verify() lets pass, and checksums see them. */
static void verify_sees_counts_and_order(void **state)
{
    tamis *f = shaped(6, 9, 1);
    buckets_table t = buckets_of(f);
    const bucket four = { { 9, 9, 9, 9 } };

    (void)state;
    assert_int_equal(tamis_add(f, 5), TAMIS_OK);
    assert_true(is_whole(f));
    f->count++;
    assert_broken(f);
    f->count--;
    t.stash.at[0] ^= 0x80;
    assert_broken(f);
    t.stash.at[0] ^= 0x80;
    t.stash.at[3] ^= 0x80;
    assert_broken(f);
    t.stash.at[3] ^= 0x80;
    stash_put(&t.stash, 0, (UINT64_C(3) << 9 | 1) << 1 | 1);
    f->count++;
    assert_broken(f);
    stash_put(&t.stash, 0, (UINT64_C(2) << 9) << 1 | 1);
    assert_broken(f);
    stash_put(&t.stash, 0, 0);
    f->count--;
    assert_true(is_whole(f));
    memset(f->payload, 0, f->plan.bytes);
    write_bucket(&t, 0, &four);
    f->count = 4;
    assert_true(is_whole(f));
    write_bucket(&t, buckets_other(&t, 0, 9), &four);
    f->count = 8;
    assert_broken(f);
    tamis_free(f);
}

static void verify_sees_unused_bits(void **state)
{
    tamis *f = shaped(2, 4, 0);
    uint8_t *payload = f->payload;

    (void)state;
    payload[f->plan.bytes - 1] = 1;
    assert_broken(f);
    payload[f->plan.bytes - 1] = 0;
    assert_true(is_whole(f));
    tamis_free(f);
}

static void verify_sees_gaps(void **state)
{
    tamis *f = shaped(2, 8, 0);
    uint8_t *payload = f->payload;

    (void)state;
    payload[1] = 7;
    f->count = 1;
    assert_broken(f);
    payload[0] = 7;
    payload[1] = 0;
    assert_true(is_whole(f));
    tamis_free(f);
}

static void geometries_are_checked(void **state)
{
    const tamis_ops *ops = tamis__ops(KIND);
    const tamis_plan good = plan_for(KIND, 100, 0.01, 0);
    tamis_plan p = good;

    (void)state;
    assert_int_equal(ops->bytes(&p), good.bytes);
    p.slots += 4;
    assert_int_equal(ops->bytes(&p), 0);
    p.slots = 0;
    assert_int_equal(ops->bytes(&p), 0);
    p.slots = UINT64_MAX - 7;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.width = BUCKETS_MIN_TAG - 1;
    assert_int_equal(ops->bytes(&p), 0);
    p.width = BUCKETS_MAX_TAG + 1;
    assert_int_equal(ops->bytes(&p), 0);
    p.width = BUCKETS_MAX_TAG;
    p.slots = UINT64_C(1) << 33;
    assert_true(ops->bytes(&p) > 0);
    p.slots += 8;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.hashes = 1;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.flags = TAMIS_PLAN_GROWS;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.load = 950;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.capacity = p.slots + 1;
    assert_int_equal(ops->bytes(&p), 0);
}

/* ---- Churn ------------------------------------------------------------- */

/* Keys come and go at nine tenths of the load; each class has as many copies as keys that are in.
 * Long tags, so that no class comes to seven. */
static void churn_loses_nothing(void **state)
{
    enum { N = 3600, UNIVERSE = 7200 };
    const uint64_t steps = is_sanitized() ? 100000 : is_long_run() ? 10000000 : 1000000;
    tamis *f = shaped(1000, 16, 11);
    bool *in = array_of(UNIVERSE, sizeof *in);
    rng r = rng_for(2600 + (uint64_t)KIND, 0);
    uint64_t held = 0;

    (void)state;
    for (uint64_t step = 0; step < steps; step++) {
        uint64_t key = rng_below(&r, UNIVERSE);
        if (in[key])
            assert_int_equal(tamis_remove(f, key), TAMIS_OK);
        else if (held < N)
            assert_int_equal(tamis_add(f, key), TAMIS_OK);
        else
            continue;
        held += in[key] ? UINT64_MAX : 1;
        in[key] = !in[key];
        if (step % 10000 == 0)
            for (uint64_t i = 0; i < UNIVERSE; i++)
                assert_true(!in[i] || tamis_has(f, i));
    }
    assert_int_equal(info_of(f).count, held);
    assert_true(is_whole(f));
    free(in);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_keep_to_themselves),
        cmocka_unit_test(lookups_see_what_is_there),
        cmocka_unit_test(the_other_of_the_other_is_the_first),
        cmocka_unit_test(large_tables_have_both_buckets),
        cmocka_unit_test(tags_and_buckets_are_even),
        cmocka_unit_test(the_stash_holds_eight),
        cmocka_unit_test(a_table_of_two_buckets_takes_sixteen),
        cmocka_unit_test(counts_stop_at_seven),
        cmocka_unit_test(add_times_is_all_or_nothing),
        cmocka_unit_test(one_key_a_million_times),
        cmocka_unit_test(sizes_follow_the_formula),
        cmocka_unit_test(ten_thousand_sizes_follow_the_formula),
        cmocka_unit_test(tables_fill_to_95_percent),
        cmocka_unit_test(plans_take_their_keys),
        cmocka_unit_test(verify_sees_counts_and_order),
        cmocka_unit_test(verify_sees_unused_bits),
        cmocka_unit_test(verify_sees_gaps),
        cmocka_unit_test(geometries_are_checked),
        cmocka_unit_test(churn_loses_nothing),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
