/* cuckoo: the windows of a key, slots of every width, tables of a few slots beside a plain
 * multiset, the stash, loads and sizes, and what verify() must not accept. */
#include "cuckoo/cuckoo.h"

#include "moving.h"

static const tamis_kind KIND = TAMIS_CUCKOO;

static tamis *shaped(uint64_t slots, unsigned width, uint64_t seed)
{
    return shaped_as(KIND, slots, width, seed);
}

static cuckoo_entry entry_of_key(const tamis *f, uint64_t key)
{
    cuckoo_table t = cuckoo_table_of(f);

    return cuckoo_entry_of(&t, hash_key(key, f->salt));
}

/* ---- Windows ----------------------------------------------------------- */

static void assert_windows(const cuckoo_table *t, const cuckoo_entry *e)
{
    uint64_t apart = e->first < e->second ? e->second - e->first : e->first - e->second;

    assert_true(e->first < t->starts && e->second < t->starts && apart >= 2);
    assert_true(e->fingerprint <= cuckoo_mask(t->width) >> CUCKOO_TAG_BITS);
    for (unsigned i = 0; i < CUCKOO_PLACES; i++) {
        uint64_t other = cuckoo_other_start(t, cuckoo_slot_of(e, i), cuckoo_value(e, i));
        assert_int_equal(other, i < 2 ? e->second : e->first);
    }
}

/* From either window, the slot alone tells the other one. */
static void the_other_of_the_other_is_the_first(void **state)
{
    const uint64_t sizes[] = { 5, 6, 7, 8, 100, 65537, 1234567, (UINT64_C(1) << 32) + 5 };
    rng r = rng_for(3000, 0);

    (void)state;
    for (unsigned width = CUCKOO_NARROWEST; width <= CUCKOO_WIDEST; width++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            cuckoo_table t = { .starts = sizes[i] - 1, .width = width };
            for (int n = 0; n < 2000; n++) {
                cuckoo_entry e = cuckoo_entry_of(&t, rng_next(&r));
                assert_windows(&t, &e);
            }
        }
}

static void every_fingerprint_of_every_start(void **state)
{
    (void)state;
    for (uint64_t starts = 4; starts < 40; starts++) {
        cuckoo_table t = { .starts = starts, .width = 10 };
        for (uint64_t first = 0; first < starts; first++)
            for (uint64_t fingerprint = 0; fingerprint < 256; fingerprint++) {
                uint64_t second = first + cuckoo_step(&t, fingerprint);
                cuckoo_entry e = { first, second % starts, fingerprint };
                assert_windows(&t, &e);
            }
    }
}

static void starts_and_fingerprints_are_even(void **state)
{
    enum { N = 200000 };
    cuckoo_table t = { .starts = 43, .width = 6 };
    rng r = rng_for(3100, 0);
    uint64_t *counts = array_of(43 * 16, sizeof *counts);

    (void)state;
    for (int i = 0; i < N; i++) {
        cuckoo_entry e = cuckoo_entry_of(&t, rng_next(&r));
        counts[e.first * 16 + e.fingerprint]++;
    }
    assert_true(evenly_spread(counts, (size_t)43 * 16, ALPHA));
    free(counts);
}

/* ---- Slots ------------------------------------------------------------- */

/* Beside an array of numbers: what is written into a slot is read from it, from none of the others,
 * and the stash behind them is left alone. */
static void slots_keep_to_themselves(void **state)
{
    enum { N = 19 };

    (void)state;
    for (unsigned width = CUCKOO_NARROWEST; width <= CUCKOO_WIDEST; width++) {
        tamis *f = shaped(N, width, 0);
        cuckoo_table t = cuckoo_table_of(f);
        uint64_t model[N] = { 0 };
        rng r = rng_for(3200, width);

        memset(t.stash, 0xA5, CUCKOO_STASH_BYTES);
        for (int step = 0; step < (is_sanitized() ? 200 : 2000); step++) {
            uint64_t i = rng_below(&r, N);
            model[i] = rng_next(&r) & cuckoo_mask(width);
            cuckoo_put(&t, i, model[i]);
            for (uint64_t j = 0; j < N; j++)
                assert_int_equal(cuckoo_slot(&t, j), model[j]);
        }
        for (int i = 0; i < CUCKOO_STASH_BYTES; i++)
            assert_int_equal(t.stash[i], 0xA5);
        tamis_free(f);
    }
}

/* ---- Tables of a few slots --------------------------------------------- */

enum { TOY_WIDTH = 6, TOY_PRINTS = 16, TOY_SLOTS = 12, TOY_CLASSES = TOY_SLOTS * TOY_PRINTS };

/* What is in a table, without the table: of each class, how many. */
typedef struct toy {
    tamis *f;
    size_t classes;
    uint64_t keys[TOY_CLASSES]; /* one of each class */
    unsigned times[TOY_CLASSES];
} toy;

static toy toy_of(uint64_t slots)
{
    toy y = { .f = shaped(slots, TOY_WIDTH, 0), .classes = (slots - 1) * TOY_PRINTS };
    bool found[TOY_CLASSES] = { false };
    size_t left = y.classes;

    for (uint64_t key = 0; left; key++) {
        cuckoo_entry e = entry_of_key(y.f, key);
        size_t at = e.first * TOY_PRINTS + e.fingerprint;
        y.keys[at] = key;
        left -= !found[at];
        found[at] = true;
    }
    return y;
}

static unsigned copies_of(const toy *y, size_t c)
{
    return y->times[c] < CUCKOO_CEILING ? y->times[c] : CUCKOO_CEILING;
}

static void assert_like_model(const toy *y)
{
    uint64_t total = 0;

    for (size_t c = 0; c < y->classes; c++) {
        assert_int_equal(tamis_count(y->f, y->keys[c]), copies_of(y, c));
        assert_int_equal(tamis_has(y->f, y->keys[c]), y->times[c] > 0);
        total += copies_of(y, c);
    }
    assert_int_equal(info_of(y->f).count, total);
}

static void toy_add(toy *y, size_t c)
{
    assert_int_equal(tamis_add(y->f, y->keys[c]), TAMIS_OK);
    y->times[c]++;
}

/* Some class had a surplus for which there was no room. */
static bool is_lost(const toy *y)
{
    cuckoo_table t = cuckoo_table_of(y->f);

    return cuckoo_surplus_of(&t).at[0];
}

static void toy_remove(toy *y, size_t c)
{
    bool present = y->times[c] > 0;

    assert_int_equal(tamis_remove(y->f, y->keys[c]), present ? TAMIS_OK : TAMIS_ABSENT);
    y->times[c] -= present && !(is_lost(y) && y->times[c] >= CUCKOO_CEILING);
}

static void toy_clear(toy *y)
{
    memset(y->times, 0, sizeof y->times);
    memset(y->f->payload, 0, y->f->plan.bytes);
    y->f->count = 0;
}

/* Every three classes of the smallest table, in every order, and each of them removed again. */
static void every_three_keys_of_five_slots(void **state)
{
    toy y = toy_of(5);
    const size_t step = run_size(3, 11, 1);

    (void)state;
    for (size_t a = 0; a < y.classes; a++)
        for (size_t b = 0; b < y.classes; b++)
            for (size_t c = (a + b) % step; c < y.classes; c += step) {
                toy_clear(&y);
                toy_add(&y, a);
                toy_add(&y, b);
                toy_add(&y, c);
                assert_like_model(&y);
                toy_remove(&y, b);
                toy_remove(&y, b);
                assert_like_model(&y);
            }
    tamis_free(y.f);
}

/* An owner for each slot, class + 1, or 0. */
typedef struct matching {
    size_t owner[TOY_SLOTS];
    bool tried[TOY_SLOTS];
} matching;

static bool match(matching *m, const toy *y, size_t c)
{
    cuckoo_entry e = entry_of_key(y->f, y->keys[c]);

    for (unsigned i = e.fingerprint == 0; i < CUCKOO_PLACES; i++) {
        uint64_t slot = cuckoo_slot_of(&e, i);
        if (m->tried[slot])
            continue;
        m->tried[slot] = true;
        if (!m->owner[slot] || match(m, y, m->owner[slot] - 1)) {
            m->owner[slot] = c + 1;
            return true;
        }
    }
    return false;
}

/* How many find no slot, however all are moved about. */
static unsigned least_stash(const toy *y)
{
    matching m = { { 0 }, { false } };
    unsigned left = 0;

    for (size_t c = 0; c < y->classes; c++)
        for (unsigned i = 0; i < copies_of(y, c); i++) {
            memset(m.tried, 0, sizeof m.tried);
            left += !match(&m, y, c);
        }
    return left;
}

/* Moves are found whenever there are any: the stash holds what no arrangement has room for, and a
 * key is refused if the stash would need a fifth place. */
static void tables_of_a_few_slots_fill_up(void **state)
{
    const int steps = is_sanitized() ? 1000 : 10000;
    uint64_t refused = 0, stashed = 0, left = 0;

    (void)state;
    for (uint64_t slots = 5; slots <= TOY_SLOTS; slots++) {
        toy y = toy_of(slots);
        cuckoo_table t = cuckoo_table_of(y.f);
        rng r = rng_for(3300, slots);

        for (int step = 0; step < steps; step++) {
            size_t c = rng_below(&r, y.classes);
            if (step % 200 == 0)
                toy_clear(&y);
            if (rng_below(&r, 3) == 0) {
                toy_remove(&y, c);
            } else {
                image_bytes before = image_of(y.f);
                tamis_status status = tamis_add(y.f, y.keys[c]);
                y.times[c]++;
                assert_int_equal(status,
                                 least_stash(&y) > CUCKOO_STASH_MOST ? TAMIS_FULL : TAMIS_OK);
                if (status) {
                    assert_true(is_image_of(&before, y.f));
                    y.times[c]--;
                    refused++;
                }
                free_bytes(&before);
            }
            assert_int_equal(cuckoo_stash_size(&t), least_stash(&y));
            left += stashed && !cuckoo_stash_size(&t);
            stashed = cuckoo_stash_size(&t);
            assert_like_model(&y);
            assert_true(is_whole(y.f));
        }
        tamis_free(y.f);
    }
    assert_true(refused > (uint64_t)steps / 100 && left > (uint64_t)steps / 200);
}

/* A few classes, there far more often than they have slots: one by one and in batches, they come
 * down again. If there are more than two of them, they stay once they have come to three. */
static void what_is_added_often_can_be_removed(void **state)
{
    enum { BATCH = 300 };
    unsigned lost = 0;

    (void)state;
    for (uint64_t round = 0; round < (is_sanitized() ? 100 : 1000); round++) {
        toy y = toy_of(TOY_SLOTS);
        rng r = rng_for(3350, round);
        size_t few = 1 + round % 4, base = rng_below(&r, y.classes), n = rng_below(&r, BATCH);
        size_t added = 0;
        uint64_t keys[BATCH];

        for (size_t i = 0; i < n; i++) {
            size_t c = (base + 37 * rng_below(&r, few)) % y.classes;
            keys[i] = y.keys[c];
            y.times[c]++;
        }
        assert_int_equal(tamis_add_many(y.f, &added, keys, n / 2), TAMIS_OK);
        for (size_t i = n / 2; i < n; i++)
            assert_int_equal(tamis_add(y.f, keys[i]), TAMIS_OK);
        assert_like_model(&y);
        for (size_t i = 0; i < n; i++)
            toy_remove(&y, (base + 37 * (i % few)) % y.classes);
        assert_like_model(&y);
        assert_true(is_whole(y.f));
        assert_true(few > 2 || !is_lost(&y));
        lost += is_lost(&y);
        tamis_free(y.f);
    }
    assert_true(lost > 0);
}

/* ---- Copies ------------------------------------------------------------ */

static void counts_stop_at_three(void **state)
{
    (void)state;
    assert_counts_stop_at(shaped(100, 20, 0), 3);
}

/* Tables of all loads, full ones too: all the copies or none of them. */
static void add_times_is_all_or_nothing(void **state)
{
    uint64_t refused = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        tamis *f = shaped(20 + seed % 50, 14, seed);
        uint64_t fill = f->plan.slots * (80 + seed % 21) / 100 + seed % (CUCKOO_STASH_MOST + 1);
        refused += are_copies_refused(f, fill, 2 + seed % 2);
    }
    assert_true(refused > 50 && refused < 1950);
}

/* ---- Exact deletes ----------------------------------------------------- */

static tamis_plan exact_plan(uint64_t n, uint64_t seed)
{
    tamis_spec spec = spec_for(n, 0.01, seed);
    tamis_plan plan;

    spec.can = TAMIS_CAN_EXACT_DELETE;
    assert_int_equal(tamis_plan_kind(&plan, KIND, &spec), TAMIS_OK);
    return plan;
}

/* Hashes next to each other differ in what the filter knows of them. */
static void neighbours_are_told_apart(const tamis_plan *p, rng *r)
{
    cuckoo_table t = { .starts = p->slots - 1, .width = p->width };

    for (int i = 0; i < 1000; i++) {
        uint64_t h = rng_next(r);
        cuckoo_entry a = cuckoo_entry_of(&t, h), b = cuckoo_entry_of(&t, h + 1);
        assert_false(a.first == b.first && a.fingerprint == b.fingerprint);
    }
}

static void few_keys_are_told_by_their_hash(void **state)
{
    bool seen[CUCKOO_WIDEST + 1] = { false };

    (void)state;
    for (uint64_t n = 0; n < 420; n += 1 + n / 10) {
        tamis_plan plan = exact_plan(n, n);
        tamis *f = new_filter(&plan);
        rng r = rng_for(3400, n);

        seen[plan.width] = true;
        neighbours_are_told_apart(&plan, &r);
        for (uint64_t key = 0; key < n; key++)
            assert_int_equal(tamis_add(f, key), TAMIS_OK);
        for (uint64_t key = n; key < n + 2000; key++) {
            assert_false(tamis_has(f, key));
            assert_int_equal(tamis_remove(f, key), TAMIS_ABSENT);
        }
        assert_true(is_whole(f));
        for (uint64_t key = 0; key < n; key++)
            assert_int_equal(tamis_remove(f, key), TAMIS_OK);
        for (uint64_t i = 0; i < plan.bytes; i++)
            assert_int_equal(((uint8_t *)f->payload)[i], 0);
        tamis_free(f);
    }
    for (unsigned width = 58; width < CUCKOO_WIDEST; width++)
        assert_true(seen[width]);
}

/* Slots of 64 bits begin at bytes: only a table of at most eight slots has them. */
static void slots_of_64_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        tamis *f = shaped(5 + seed % 4, CUCKOO_WIDEST, seed);
        for (uint64_t key = 0; key < 5; key++)
            assert_int_equal(tamis_add(f, key), TAMIS_OK);
        for (uint64_t key = 0; key < 500; key++)
            assert_int_equal(tamis_has(f, key), key < 5);
        for (uint64_t key = 0; key < 500; key++)
            assert_int_equal(tamis_remove(f, key), key < 5 ? TAMIS_OK : TAMIS_ABSENT);
        assert_true(is_whole(f));
        tamis_free(f);
    }
}

/* Of classes with more than 56 bits nothing is known beyond the ceiling. What tamis.h says of
 * plan.ceiling holds: a key that has come that far stays, and adds and removes of it succeed and
 * change nothing. One that has not goes with its last copy. */
static void wide_classes_stay_at_the_ceiling(void **state)
{
    tamis_spec spec = spec_for(16000000, 0, 5);
    tamis_plan plans[] = { exact_plan(100, 5), { 0 } };

    (void)state;
    spec.tag_bits = 32;
    assert_int_equal(tamis_plan_kind(&plans[1], KIND, &spec), TAMIS_OK);
    for (int i = 0; i < 2; i++) {
        tamis *f = new_filter(&plans[i]);
        cuckoo_table t = cuckoo_table_of(f);

        assert_true(cuckoo_class_bits(t.starts + 1, t.width) > SURPLUS_CLASS_BITS);
        assert_int_equal(cuckoo_surplus_entries(t.starts + 1, t.width), 0);
        assert_int_equal(tamis_add_times(f, 1, CUCKOO_CEILING - 1), TAMIS_OK);
        assert_int_equal(tamis_remove_times(f, 1, CUCKOO_CEILING - 1), TAMIS_OK);
        assert_true(!tamis_has(f, 1) && info_of(f).count == 0);
        assert_int_equal(tamis_add_times(f, 1, CUCKOO_CEILING), TAMIS_OK);
        assert_int_equal(tamis_add(f, 2), TAMIS_OK);
        for (int times = 0; times < 10; times++) {
            assert_int_equal(tamis_remove(f, 1), TAMIS_OK);
            assert_int_equal(tamis_remove_times(f, 1, CUCKOO_CEILING), TAMIS_OK);
            assert_int_equal(tamis_add(f, 1), TAMIS_OK);
        }
        assert_int_equal(tamis_count(f, 1), plans[i].ceiling);
        assert_int_equal(tamis_remove(f, 2), TAMIS_OK);
        assert_true(tamis_has(f, 1) && !tamis_has(f, 2) && info_of(f).count == CUCKOO_CEILING);
        tamis_free(f);
    }
}

/* ---- Sizes and loads --------------------------------------------------- */

/* The least rate that still has the width. */
static tamis_plan plan_of_width(uint64_t n, unsigned width)
{
    return plan_for(KIND, n, fmin(0.4, 0.9401 * exp2(CUCKOO_TAG_BITS - (double)width)), 0);
}

/* Narrower slots are too few for so many keys: docs/filters/cuckoo.md. */
static double least_width(double n)
{
    return CUCKOO_NARROWEST + fmax(0, ceil((log2(n / 0.94 + 66) - 19) / 4.5));
}

/* Never more than 5 % above the formula, whatever the keys and the rate. */
static void sizes_follow_the_formula(void **state)
{
    enum { SIZES = 10000 };
    rng r = rng_for(3500, 0);

    (void)state;
    for (unsigned i = 0; i < SIZES; i++) {
        uint64_t n = (uint64_t)(1000 * pow(10000, i / (double)(SIZES - 1)));
        double fpr = exp2(-1 - (double)rng_below(&r, 20000) / 1000);
        tamis_plan plan = plan_for(KIND, n, fpr, 0);
        double width = fmax(least_width((double)n), CUCKOO_TAG_BITS + ceil(log2(0.9401 / fpr)));
        uint64_t entries = cuckoo_surplus_entries(plan.slots, plan.width);
        double formula =
            (double)n * width / 0.94 / 8 + CUCKOO_STASH_BYTES + (double)surplus_bytes(entries);

        if ((double)plan.bytes > 1.05 * formula)
            fail_msg("%llu keys at %g: %llu bytes, not %.0f", (unsigned long long)n, fpr,
                     (unsigned long long)plan.bytes, formula);
        assert_true(plan.slots >= n && plan.capacity == n);
    }
}

static void many_keys_have_wider_slots(void **state)
{
    const struct {
        uint64_t keys;
        unsigned width;
    } cases[] = { { 1000, 6 },     { 490000, 6 },    { 500000, 7 },   { 10000000, 7 },
                  { 11200000, 8 }, { 250000000, 8 }, { 260000000, 9 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(plan_for(KIND, cases[i].keys, 0.3, 0).width, cases[i].width);
}

/* Narrow slots and many of them: classes crowd. */
static void millions_of_keys_in_narrow_slots(void **state)
{
    enum { CHUNK = 100000 };
    const uint64_t n = run_size(3000000, 500000, 10000000);
    tamis_plan plan = plan_for(KIND, n, 0.1, 1);
    tamis *f = new_filter(&plan);
    uint64_t *keys = array_of(CHUNK, sizeof *keys);

    (void)state;
    for (uint64_t from = 0; from < n; from += CHUNK) {
        for (uint64_t i = 0; i < CHUNK; i++)
            keys[i] = from + i;
        add_all(f, keys, CHUNK);
    }
    for (uint64_t key = 0; key < n; key += 7)
        assert_true(tamis_has(f, key));
    assert_true(is_whole(f));
    free(keys);
    tamis_free(f);
}

/* ---- Batches ----------------------------------------------------------- */

/* More keys on their way than the table has slots, and copies of one among them. */
static void batches_are_as_one_by_one(void **state)
{
    enum { BATCH = 100 };
    const uint64_t rounds = is_sanitized() ? 100 : 1000;
    uint64_t refused = 0;

    (void)state;
    for (uint64_t slots = 5; slots <= TOY_SLOTS; slots++) {
        toy y = toy_of(slots);
        rng r = rng_for(3600, slots);

        for (uint64_t round = 0; round < rounds; round++) {
            size_t n = 1 + rng_below(&r, BATCH), some = 1 + rng_below(&r, 8), added = 0;
            size_t classes[BATCH];
            uint64_t keys[BATCH];
            size_t base = rng_below(&r, y.classes);

            toy_clear(&y);
            for (size_t i = 0; i < n; i++) {
                classes[i] = (base + rng_below(&r, some)) % y.classes;
                keys[i] = y.keys[classes[i]];
            }
            tamis_status status = tamis_add_many(y.f, &added, keys, n);
            assert_int_equal(status, added < n ? TAMIS_FULL : TAMIS_OK);
            for (size_t i = 0; i < added; i++)
                y.times[classes[i]]++;
            assert_like_model(&y);
            assert_true(is_whole(y.f));
            refused += status != TAMIS_OK;
        }
        tamis_free(y.f);
    }
    assert_true(refused > 100);
}

/* Batches that come to where there is no room: all before that are in, and no others. */
static void full_batches_are_undone(void **state)
{
    const unsigned widths[] = { 8, 12, 15, 19, 40 };
    uint64_t *keys = array_of(3000, sizeof *keys);

    (void)state;
    for (uint64_t i = 0; i < 3000; i++)
        keys[i] = i;
    for (uint64_t seed = 0; seed < (is_sanitized() ? 10 : 100); seed++) {
        tamis *f = shaped(1500 + seed, widths[seed % 5], seed);
        size_t added = 0, more = 99;

        assert_int_equal(tamis_add_many(f, &added, keys, 3000), TAMIS_FULL);
        assert_true((double)added > 0.93 * (double)f->plan.slots);
        image_bytes before = image_of(f);
        assert_int_equal(tamis_add_many(f, &more, keys + added, 64), TAMIS_FULL);
        assert_int_equal(more, 0);
        assert_true(is_image_of(&before, f));
        free_bytes(&before);
        for (size_t i = 0; i < added; i++)
            assert_true(tamis_has(f, keys[i]));
        assert_true(is_whole(f));
        tamis_free(f);
    }
    free(keys);
}

/* ---- Loads ------------------------------------------------------------- */

static double load_at_first_refusal(uint64_t slots, unsigned width, uint64_t seed)
{
    tamis *f = shaped(slots, width, seed);
    uint64_t key = 0;

    while (tamis_add(f, key) == TAMIS_OK)
        key++;
    double load = (double)info_of(f).count / (double)slots;
    assert_true(is_whole(f));
    tamis_free(f);
    return load;
}

static void tables_fill_to_94_percent(void **state)
{
    const unsigned widths[] = { 6, 8, 10, 12, 16, 20 };
    const uint64_t tables = run_size(3, 1, 200);

    (void)state;
    for (int w = 0; w < 6; w++)
        for (uint64_t seed = 0; seed < tables; seed++)
            assert_true(load_at_first_refusal(106500, widths[w], seed) >= 0.945);
}

static void plans_take_their_keys(void **state)
{
    (void)state;
    assert_plans_take_their_keys(plan_of_width, CUCKOO_NARROWEST, 18);
}

/* ---- Verifying --------------------------------------------------------- */

static void verify_sees_wrong_counts(void **state)
{
    tamis *f = shaped(20, 9, 1);

    (void)state;
    assert_int_equal(tamis_add(f, 5), TAMIS_OK);
    assert_true(is_whole(f));
    f->count = 0;
    assert_broken(f);
    f->count = 2;
    assert_broken(f);
    tamis_free(f);
}

/* The first slot is the second of no window, and the last one not the first. */
static void verify_sees_slots_of_no_window(void **state)
{
    (void)state;
    for (uint64_t value = 1; value < 64; value++) {
        tamis *f = shaped(20, 6, 1);
        cuckoo_table t = cuckoo_table_of(f);

        f->count = 1;
        cuckoo_put(&t, 0, value);
        assert_int_equal(is_whole(f), value % 2 == 0);
        cuckoo_put(&t, 0, 0);
        cuckoo_put(&t, 19, value);
        assert_int_equal(is_whole(f), value % 2 == 1);
        tamis_free(f);
    }
}

/* Four slots, or three and the stash, or any number of both. */
static void verify_sees_crowds(void **state)
{
    (void)state;
    for (uint64_t key = 0; key < 50; key++) {
        tamis *f = shaped(20, 12, 1);
        cuckoo_table t = cuckoo_table_of(f);
        cuckoo_entry e = entry_of_key(f, key);

        assert_int_equal(tamis_add_times(f, key, 3), TAMIS_OK);
        assert_true(is_whole(f));
        put_le64(t.stash, 1);
        put_le64(t.stash + 8, hash_key(key, f->salt));
        f->count = 4;
        assert_broken(f);
        memset(t.stash, 0, CUCKOO_STASH_BYTES);
        for (unsigned i = 0; i < CUCKOO_PLACES; i++)
            cuckoo_put(&t, cuckoo_slot_of(&e, i), cuckoo_value(&e, i));
        assert_int_equal(is_whole(f), e.fingerprint == 0);
        tamis_free(f);
    }
}

static void verify_sees_the_stash(void **state)
{
    tamis *f = shaped(20, 12, 1);
    cuckoo_table t = cuckoo_table_of(f);

    (void)state;
    for (uint64_t n = 0; n <= CUCKOO_STASH_MOST; n++) {
        for (uint64_t i = 0; i < CUCKOO_STASH_MOST; i++)
            put_le64(t.stash + 8 + 8 * i, i < n ? hash_key(i, f->salt) : 0);
        put_le64(t.stash, n);
        f->count = n;
        assert_true(is_whole(f));
        if (n < CUCKOO_STASH_MOST)
            t.stash[CUCKOO_STASH_BYTES - 1] = 1;
        else
            put_le64(t.stash, ++f->count);
        assert_broken(f);
    }
    put_le64(t.stash, UINT64_MAX);
    assert_broken(f);
    for (unsigned i = 0; i < CUCKOO_STASH_MOST; i++)
        put_le64(t.stash + 8 + 8 * i, hash_key(7, f->salt));
    put_le64(t.stash, CUCKOO_STASH_MOST);
    f->count = CUCKOO_STASH_MOST;
    assert_broken(f);
    tamis_free(f);
}

/* A surplus is of a class that is there, and there three times. */
static void verify_sees_the_surplus(void **state)
{
    tamis *f = shaped(20, 12, 1);
    cuckoo_table t = cuckoo_table_of(f);
    surplus s = cuckoo_surplus_of(&t);

    (void)state;
    assert_int_equal(tamis_add_times(f, 7, 3), TAMIS_OK);
    assert_int_equal(tamis_add_times(f, 8, 2), TAMIS_OK);
    cuckoo_entry there = entry_of_key(f, 7), fewer = entry_of_key(f, 8),
                 nowhere = { t.starts, 0, 0 };
    const uint64_t classes[] = { cuckoo_class(&t, &there), cuckoo_class(&t, &fewer),
                                 cuckoo_class(&t, &nowhere) };
    for (int i = 0; i < 3; i++) {
        tamis__surplus_add(&s, classes[i], 5);
        assert_int_equal(is_whole(f), i == 0);
        memset(s.at, 0, surplus_bytes(s.entries));
    }
    tamis_free(f);
}

static void verify_sees_bits_past_the_end(void **state)
{
    (void)state;
    for (unsigned width = CUCKOO_NARROWEST; width <= CUCKOO_WIDEST; width++) {
        tamis *f = shaped(21, width, 0);
        cuckoo_table t = cuckoo_table_of(f);

        for (unsigned bit = 21 * width % 8; bit && bit < 8; bit++) {
            t.stash[-1] = (uint8_t)(1u << bit);
            assert_broken(f);
        }
        t.stash[-1] = 0;
        assert_true(is_whole(f));
        tamis_free(f);
    }
}

static void geometries_are_checked(void **state)
{
    const tamis_ops *ops = tamis__ops(KIND);
    const tamis_plan good = plan_for(KIND, 100, 0.01, 0);
    const uint64_t wrong_slots[] = { 0, 4, (UINT64_C(1) << 45) + 1, UINT64_MAX };
    tamis_plan p = good;

    (void)state;
    assert_int_equal(ops->bytes(&p), good.bytes);
    for (int i = 0; i < 4; i++) {
        p.slots = wrong_slots[i];
        assert_int_equal(ops->bytes(&p), 0);
    }
    p = good;
    p.width = CUCKOO_NARROWEST - 1;
    assert_int_equal(ops->bytes(&p), 0);
    p.width = CUCKOO_WIDEST + 1;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.hashes = 1;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.load = 940;
    assert_int_equal(ops->bytes(&p), 0);
    p = good;
    p.flags = TAMIS_PLAN_GROWS;
    assert_int_equal(ops->bytes(&p), 0);
    p.flags = TAMIS_PLAN_EXACT_DELETE;
    assert_int_equal(ops->bytes(&p), 0);
    p = exact_plan(100, 0);
    assert_int_equal(p.flags, TAMIS_PLAN_EXACT_DELETE);
    p.width--;
    assert_int_equal(ops->bytes(&p), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_of_the_other_is_the_first),
        cmocka_unit_test(every_fingerprint_of_every_start),
        cmocka_unit_test(starts_and_fingerprints_are_even),
        cmocka_unit_test(slots_keep_to_themselves),
        cmocka_unit_test(every_three_keys_of_five_slots),
        cmocka_unit_test(tables_of_a_few_slots_fill_up),
        cmocka_unit_test(what_is_added_often_can_be_removed),
        cmocka_unit_test(counts_stop_at_three),
        cmocka_unit_test(add_times_is_all_or_nothing),
        cmocka_unit_test(few_keys_are_told_by_their_hash),
        cmocka_unit_test(slots_of_64_bits),
        cmocka_unit_test(wide_classes_stay_at_the_ceiling),
        cmocka_unit_test(sizes_follow_the_formula),
        cmocka_unit_test(many_keys_have_wider_slots),
        cmocka_unit_test(millions_of_keys_in_narrow_slots),
        cmocka_unit_test(batches_are_as_one_by_one),
        cmocka_unit_test(full_batches_are_undone),
        cmocka_unit_test(tables_fill_to_94_percent),
        cmocka_unit_test(plans_take_their_keys),
        cmocka_unit_test(verify_sees_wrong_counts),
        cmocka_unit_test(verify_sees_slots_of_no_window),
        cmocka_unit_test(verify_sees_crowds),
        cmocka_unit_test(verify_sees_the_stash),
        cmocka_unit_test(verify_sees_the_surplus),
        cmocka_unit_test(verify_sees_bits_past_the_end),
        cmocka_unit_test(geometries_are_checked),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
