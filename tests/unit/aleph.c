/* aleph: fingerprints of any length, the sizes to come, and tables beside a plain list of
 * fingerprints, with hashes that are chosen: so that runs are long, go around the end, and keys
 * become void. */
#include "quotient/aleph.h"

#include "core/plan.h"
#include "kinds.h"
#include "quotient/runs_change.h"

/* ---- Fingerprints ------------------------------------------------------ */

typedef struct step {
    uint64_t quotient;
    uint32_t slot;
} step;

/* Of four bits, 1011, in slot 5 of 8; each doubling takes the first of them. */
static void fingerprints_shorten_as_specified(void **state)
{
    const step steps[] = { { 5, 0x17 }, { 11, 0x0e }, { 22, 0x1c }, { 45, 0x18 }, { 91, 0x10 } };
    step at = steps[0];

    (void)state;
    for (unsigned i = 1; i < 5; i++) {
        assert_int_equal(aleph_bits_of(at.slot, 5), 5 - i);
        at.quotient = 2 * at.quotient + (at.slot >> 4);
        at.slot = aleph_shortened(at.slot, 5, 5);
        assert_int_equal(at.quotient, steps[i].quotient);
        assert_int_equal(at.slot, steps[i].slot);
    }
    assert_int_equal(at.slot, aleph_void_of(5));
}

static uint32_t written(uint32_t fingerprint, unsigned bits, unsigned width)
{
    return (2 * fingerprint + 1) << (width - 1 - bits);
}

static void check_fingerprint(uint32_t fingerprint, unsigned bits, unsigned width)
{
    uint32_t x = written(fingerprint, bits, width);

    assert_true(x > 0 && x <= packed_mask(width));
    assert_int_equal(aleph_bits_of(x, width), bits);
    for (uint32_t y = 0; y < UINT32_C(1) << (width - 1); y++)
        assert_int_equal(aleph_covers(x, 2 * y + 1), y >> (width - 1 - bits) == fingerprint);
    if (bits == 0)
        return;
    for (unsigned to = width; to <= width + 3; to++) {
        uint32_t rest = fingerprint & ((UINT32_C(1) << (bits - 1)) - 1);

        assert_int_equal(aleph_shortened(x, width, to), written(rest, bits - 1, to));
    }
}

static void all_short_fingerprints_are_right(void **state)
{
    (void)state;
    for (unsigned width = 2; width <= 9; width++)
        for (unsigned bits = 0; bits < width; bits++)
            for (uint32_t fingerprint = 0; fingerprint < UINT32_C(1) << bits; fingerprint++)
                check_fingerprint(fingerprint, bits, width);
}

/* From lower to higher, and what covers others before them: as the nodes of a tree are visited. */
static void visit(uint32_t fingerprint, unsigned bits, unsigned width, uint64_t *last)
{
    uint64_t order = aleph_order_of(written(fingerprint, bits, width), width) + 1;

    assert_true(order > *last);
    *last = order;
    if (bits + 1 == width)
        return;
    visit(2 * fingerprint, bits + 1, width, last);
    visit(2 * fingerprint + 1, bits + 1, width, last);
}

static void what_covers_comes_first(void **state)
{
    (void)state;
    for (unsigned width = 2; width <= 12; width++) {
        uint64_t last = 0;

        visit(0, 0, width, &last);
    }
}

/* ---- Sizes to come ----------------------------------------------------- */

/* At each size, at its capacity: a million times the keys, or as many as 64 bits of hash allow. */
static void check_sizes(tamis_plan plan, double fpr)
{
    const tamis_ops *ops = tamis__ops(TAMIS_ALEPH);
    unsigned doublings = 0;
    tamis_plan before = plan;

    while (ops->resize(&plan, 0) == TAMIS_OK) {
        double load = (double)plan.capacity / (double)plan.slots;

        assert_true(plan.slots == 2 * before.slots && plan.capacity > before.capacity);
        assert_true(doublings == 0 || plan.capacity == 2 * before.capacity + 1);
        assert_true(plan.width >= before.width);
        assert_true(ops->bytes(&plan) > 0);
        assert_true(tamis_plan_rate(&plan, plan.capacity) <= fpr * (1 + 1e-9));
        assert_true((double)ops->bytes(&plan) * 8 / (double)plan.capacity <=
                    (plan.width + 3) / load + 1088 / (double)plan.capacity);
        before = plan;
        doublings++;
    }
    assert_memory_equal(&plan, &before, sizeof plan);
    assert_true(doublings >= 20 || ldexp((double)plan.slots, (int)plan.width + 1) >= 0x1p63);
}

static void rates_have_a_limit(void **state)
{
    const double fprs[] = { 0.5, 0.3, 0.1, 0.05, 0.01, 0x1p-8, 0.001, 1e-4, 1e-5, 1e-6 };
    const uint64_t sizes[] = { 0, 1, 16, 1000, 10000, 12345678 };

    (void)state;
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 6; j++)
            check_sizes(plan_for(TAMIS_ALEPH, sizes[j], fprs[i], 0), fprs[i]);
}

/* A sixth of the rate asked for, a quarter of a bit, is not used at most, at a million times the
 * keys. */
static void no_bits_are_wasted(void **state)
{
    const tamis_ops *ops = tamis__ops(TAMIS_ALEPH);

    (void)state;
    for (double fpr = 0.4; fpr > 1e-6; fpr *= 0.83) {
        tamis_plan plan = plan_for(TAMIS_ALEPH, 10000, fpr, 0);

        for (int size = 0; size < 20; size++)
            assert_int_equal(ops->resize(&plan, 0), TAMIS_OK);
        assert_true(-log1p(-tamis_plan_rate(&plan, plan.capacity)) > fpr * 5 / 6);
    }
}

/* Half of a full table is keys, whatever rate and load allow: twice its slots are four for a key.
 */
static void voids_leave_room(void **state)
{
    const double loads[] = { 0.05, 0.1, 0.3, 0.9 }, fprs[] = { 0.5, 0.2, 0.05 };

    (void)state;
    for (int i = 0; i < 12; i++) {
        tamis_spec spec = spec_for(8, fprs[i % 3], 1);
        rng r = rng_for(1, (uint64_t)i);
        tamis_plan plan;

        spec.load = loads[i / 3];
        assert_int_equal(tamis_plan_kind(&plan, TAMIS_ALEPH, &spec), TAMIS_OK);
        tamis *f = new_filter(&plan);
        for (uint64_t n = 1; n <= 20000; n++) {
            assert_int_equal(tamis_add(f, rng_next(&r)), TAMIS_OK);
            assert_true(f->plan.capacity <= 4 * (n + 8));
        }
        tamis_free(f);
    }
}

static void rates_that_need_too_many_bits_are_refused(void **state)
{
    tamis_spec spec = spec_for(1000, 1e-9, 0);
    tamis_plan plan;

    (void)state;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_ALEPH, &spec), TAMIS_RANGE);
}

/* ---- Beside a plain list ----------------------------------------------- */

typedef struct item {
    uint64_t quotient, fingerprint; /* `bits` bits of a fingerprint */
    unsigned bits;
} item;

typedef struct list {
    item *items;
    size_t n, keys;
    tamis_plan plan;
} list;

enum { MOST_ITEMS = 1 << 16 };

static item fresh_item(const tamis_plan *p, uint64_t h)
{
    unsigned bits = p->width - 1;
    uint64_t fingerprint = scale64(h, p->slots << bits);

    return (item){ fingerprint >> bits, fingerprint & ((UINT64_C(1) << bits) - 1), bits };
}

static void list_add(list *l, item x)
{
    assert_true(l->n < MOST_ITEMS);
    l->items[l->n++] = x;
}

/* Every item, and in its place two if it has no bits. */
static void list_double(list *l, const tamis_plan *plan)
{
    size_t n = l->n;

    l->plan = *plan;
    for (size_t i = 0; i < n; i++) {
        item *x = &l->items[i];
        if (x->bits == 0)
            list_add(l, (item){ 2 * x->quotient + 1, 0, 0 });
        uint64_t first = x->bits ? x->fingerprint >> (x->bits - 1) & 1 : 0;
        x->quotient = 2 * x->quotient + first;
        x->bits -= x->bits > 0;
        x->fingerprint &= (UINT64_C(1) << x->bits) - 1;
    }
}

/* The item with the most bits that covers it; NULL: none does. */
static item *list_find(const list *l, uint64_t h)
{
    item key = fresh_item(&l->plan, h), *best = NULL;

    for (size_t i = 0; i < l->n; i++) {
        item *x = &l->items[i];
        bool fits = x->quotient == key.quotient &&
                    key.fingerprint >> (key.bits - x->bits) == x->fingerprint;
        if (fits && (!best || x->bits > best->bits))
            best = x;
    }
    return best;
}

static void list_remove(list *l, uint64_t h)
{
    item *x = list_find(l, h);

    assert_non_null(x);
    *x = l->items[--l->n];
}

/* A hash near the end of the table or anywhere, with few different ones in all. */
static uint64_t draw_hash(rng *r, uint64_t spread)
{
    uint64_t high =
        rng_below(r, 4) ? UINT64_MAX - rng_below(r, spread) * (UINT64_MAX / 2048) : rng_next(r);

    return high ^ rng_below(r, 4) << 20;
}

static void compare(const tamis *f, const list *l, rng *r, const uint64_t *held, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, unhash_key(held[i], f->salt)));
    for (int i = 0; i < 50; i++) {
        uint64_t h = draw_hash(r, 128), hits;
        bool told = tamis_has(f, unhash_key(h, f->salt));
        uint64_t key = unhash_key(h, f->salt);

        assert_int_equal(told, list_find(l, h) != NULL);
        assert_int_equal(tamis_has_many(f, &hits, &key, 1), told);
    }
    assert_int_equal(le64(f->payload), l->n);
    assert_int_equal(info_of(f).count, n);
    assert_true(is_whole(f));
}

static void add_to_both(tamis *f, list *l, uint64_t h)
{
    uint64_t slots = tamis_plan_of(f)->slots;

    assert_int_equal(tamis_add(f, unhash_key(h, f->salt)), TAMIS_OK);
    if (tamis_plan_of(f)->slots != slots)
        list_double(l, tamis_plan_of(f));
    list_add(l, fresh_item(&l->plan, h));
}

static void compare_a_life(double fpr, double share, uint64_t round, unsigned cpu)
{
    rng r = rng_for(20, round);
    tamis_plan plan = plan_for(TAMIS_ALEPH, 40, fpr, round);
    list l = { array_of(MOST_ITEMS, sizeof(item)), 0, 0, plan };
    uint64_t *held = array_of(MOST_ITEMS, sizeof *held);
    tamis *f = new_filter(&plan);
    size_t n = 0;

    tamis__use_cpu(f, cpu);
    for (int i = 0; i < 4000; i++) {
        if (n && (double)rng_below(&r, 1000) < 1000 * share) {
            size_t j = rng_below(&r, n);
            list_remove(&l, held[j]);
            assert_int_equal(tamis_remove(f, unhash_key(held[j], f->salt)), TAMIS_OK);
            held[j] = held[--n];
        } else {
            held[n] = draw_hash(&r, 128);
            add_to_both(f, &l, held[n++]);
        }
        if (i % 64 == 0)
            compare(f, &l, &r, held, n);
    }
    compare(f, &l, &r, held, n);
    tamis_free(f);
    free(held);
    free(l.items);
}

static void filters_are_as_plain_lists(void **state)
{
    const double fprs[] = { 0.5, 0.2, 0.01 };
    const double shares[] = { 0, 0.3, 0.45 };

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (unsigned cpu = 0; cpu < 2; cpu++)
                compare_a_life(fprs[i], shares[j], (uint64_t)(3 * i + j), cpu ? ~0u : 0);
}

/* ---- Old keys ---------------------------------------------------------- */

static tamis *grown(const tamis_plan *plan, uint64_t first, unsigned doublings)
{
    tamis *f = new_filter(plan);

    assert_int_equal(tamis_add(f, unhash_key(first, f->salt)), TAMIS_OK);
    for (unsigned i = 0; i < doublings; i++) {
        tamis_plan larger = *tamis_plan_of(f);
        tamis *next = NULL;

        assert_int_equal(tamis__plan_enlarge(&larger), TAMIS_OK);
        assert_int_equal(tamis_new(&next, &larger, NULL), TAMIS_OK);
        assert_int_equal(f->ops.move(next, f), TAMIS_OK);
        tamis_free(f);
        f = next;
    }
    assert_true(is_whole(f));
    return f;
}

/* Of an old key, with one bit left, and a new one that begins with it, either may go first. */
static void the_longest_goes_first(void **state)
{
    const tamis_plan plan = plan_for(TAMIS_ALEPH, 30, 0.1, 3);
    const unsigned doublings = plan.width - 2;
    const uint64_t old = UINT64_C(0x5555555555555555);

    (void)state;
    assert_int_equal(plan.slots, 64);
    for (int i = 0; i < 2; i++) {
        tamis *f = grown(&plan, old, doublings);
        /* They differ in the last bit of the new one's fingerprint. */
        uint64_t young = old ^ UINT64_C(1) << (64 - 6 - doublings - (f->plan.width - 1));
        uint64_t keys[] = { unhash_key(old, f->salt), unhash_key(young, f->salt) };

        assert_true(tamis_has(f, keys[1]));
        assert_int_equal(tamis_add(f, keys[1]), TAMIS_OK);
        assert_int_equal(tamis_remove(f, keys[i]), TAMIS_OK);
        assert_true(tamis_has(f, keys[!i]));
        assert_int_equal(tamis_remove(f, keys[!i]), TAMIS_OK);
        assert_int_equal(le64(f->payload), 0);
        tamis_free(f);
    }
}

/* A void is in every slot that its key could be in. Removed, it is gone from one of them. */
static void voids_are_copied_and_removed_once(void **state)
{
    const tamis_plan plan = plan_for(TAMIS_ALEPH, 30, 0.1, 4);
    const unsigned bits = plan.width - 1;
    const uint64_t h = UINT64_C(0x123456789abcdef0);

    (void)state;
    for (unsigned more = 0; more < 4; more++) {
        tamis *f = grown(&plan, h, bits + more);
        uint64_t key = unhash_key(h, f->salt);

        assert_int_equal(le64(f->payload), 1 << more);
        assert_true(is_near(info_of(f).fpr, 1 / ldexp(64, (int)bits), 1e-12));
        assert_true(info_of(f).cardinality == 1);
        assert_int_equal(tamis_remove(f, key), TAMIS_OK);
        assert_false(tamis_has(f, key));
        assert_int_equal(le64(f->payload), (1 << more) - 1);
        assert_int_equal(tamis_remove(f, key), TAMIS_ABSENT);
        assert_true(is_whole(f) && info_of(f).count == 0);
        tamis_free(f);
    }
}

/* ---- Damage ------------------------------------------------------------ */

/* What verify() says of a filter with one byte of the payload, or the count, changed. */
static void assert_noticed(const tamis *f, uint64_t byte, uint8_t change, int64_t count)
{
    tamis *copy = NULL;

    assert_int_equal(tamis_clone(&copy, f, NULL), TAMIS_OK);
    ((uint8_t *)copy->payload)[byte] ^= change;
    copy->count += (uint64_t)count;
    assert_int_equal(tamis_verify(copy, NULL, NULL), TAMIS_CORRUPT);
    tamis_free(copy);
}

/* In a table of one run of three, nothing can be changed but to another set of fingerprints. */
static void damage_is_told(void **state)
{
    const tamis_plan plan = plan_for(TAMIS_ALEPH, 30, 0.01, 5);
    const uint64_t slot = UINT64_MAX / 64 + 1, fingerprint = slot >> (plan.width - 1);
    tamis *f = new_filter(&plan);

    (void)state;
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(tamis_add(f, unhash_key(10 * slot + i * fingerprint, f->salt)), TAMIS_OK);
    assert_true(is_whole(f));
    assert_noticed(f, 0, 1, 0);
    assert_noticed(f, 0, 0, 1);
    assert_noticed(f, 0, 0, -1);
    for (uint64_t byte = 8; byte < 64 + RUNS_SLOTS; byte++)
        assert_noticed(f, byte, 1 << byte % 8, 0);
    uint64_t slots = 8 * (64 + RUNS_SLOTS) + 10 * plan.width;
    for (uint64_t bit = 8 * (64 + RUNS_SLOTS); bit < 8 * plan.bytes; bit++)
        if (bit < slots || bit >= slots + 3 * plan.width)
            assert_noticed(f, bit / 8, (uint8_t)(1 << bit % 8), 0);
    /* The last bit of a new fingerprint tells that it has all of them. */
    for (int i = 0; i < 3; i++, slots += plan.width)
        assert_noticed(f, slots / 8, (uint8_t)(1 << slots % 8), 0);
    tamis_free(f);
}

static void runs_out_of_order_are_told(void **state)
{
    const tamis_plan plan = plan_for(TAMIS_ALEPH, 30, 0.01, 5);
    const uint64_t slot_size = UINT64_MAX / 64 + 1;
    tamis *f = new_filter(&plan);
    runs_table t = runs_table_at(f->payload, plan.slots, plan.width);

    (void)state;
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(tamis_add(f, unhash_key(20 * slot_size + (i << 50), f->salt)), TAMIS_OK);
    uint32_t first = runs_slot(t, 20), second = runs_slot(t, 21);
    assert_true(first < second && is_whole(f));
    runs_put_slot(t, 20, second);
    runs_put_slot(t, 21, first);
    assert_false(is_whole(f));
    tamis_free(f);
}

/* One run of so many slots that offsets of a thousand blocks are too large to be written: each
 * removal looks at them once, and not each of them at all before it. */
static void one_key_may_come_often(void **state)
{
    const size_t n = run_size(60000, 6000, 600000);
    const tamis_plan plan = plan_for(TAMIS_ALEPH, n, 0.001, 5);
    tamis *f = new_filter(&plan);

    (void)state;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_add(f, 1), TAMIS_OK);
    assert_true(is_whole(f));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(tamis_remove(f, 1), TAMIS_OK);
        assert_true(i % (n / 10) || is_whole(f));
    }
    assert_int_equal(tamis_remove(f, 1), TAMIS_ABSENT);
    tamis_free(f);
}

/* Fingerprints of all lengths in one long run: what is found is what a look at each of them finds,
 * and the longest goes first. */
static void long_runs_are_searched_well(void **state)
{
    const uint64_t quotient = UINT64_MAX / 64 + 1;
    tamis_plan plan = plan_for(TAMIS_ALEPH, 30, 0.01, 5);
    tamis *f = new_filter(&plan);
    rng r = rng_for(4, 0);
    size_t n = 0;

    (void)state;
    while (f->plan.slots < 64 << 6) {
        uint64_t h = 20 * quotient + (rng_next(&r) >> (n % 8 ? 14 : 7));

        assert_int_equal(tamis_add(f, unhash_key(h, f->salt)), TAMIS_OK);
        n++;
    }
    assert_true(is_whole(f));
    for (size_t i = 0; i < 20000; i++) {
        uint64_t h = 20 * quotient + (rng_next(&r) >> (i % 3 ? 14 : 7));
        shards all = shards_of(f);
        shards_position at = shards_position_of(&all, h);
        runs_run run = runs_find(at.t, at.quotient);
        uint64_t covering = 0;

        for (uint64_t k = run.start; run.is_there && k < run.end; k++)
            covering += aleph_covers(runs_slot(at.t, k), aleph_fresh(&at));
        assert_int_equal(tamis_has(f, unhash_key(h, f->salt)), covering != 0);
        assert_int_equal(tamis_remove(f, unhash_key(h, f->salt)),
                         covering ? TAMIS_OK : TAMIS_ABSENT);
    }
    assert_true(is_whole(f));
    tamis_free(f);
}

/* Slots of 32 bits: there is no bit beyond that of a void, at which a search ends. */
static void long_runs_of_the_widest_slots_end(void **state)
{
    tamis_plan plan = plan_for(TAMIS_ALEPH, 100, 0.1, 0);

    (void)state;
    plan.width = 32;
    plan.hashes = 21 << 8;
    assert_int_equal(tamis__plan_settle(&plan), TAMIS_OK);
    tamis *f = new_filter(&plan);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(tamis_add(f, unhash_key(i << 32, f->salt)), TAMIS_OK);
    assert_true(tamis_has(f, unhash_key(UINT64_C(99) << 32, f->salt)));
    assert_false(tamis_has(f, unhash_key(UINT64_C(200) << 32, f->salt)));
    assert_int_equal(tamis_remove(f, unhash_key(UINT64_C(200) << 32, f->salt)), TAMIS_ABSENT);
    tamis_free(f);
}

/* A table of voids, as nobody's keys make it: each doubling fills it again, but for one slot. */
static void a_table_of_voids_does_not_grow_for_ever(void **state)
{
    tamis_plan plan = plan_for(TAMIS_ALEPH, 8, 0.2, 5);

    (void)state;
    for (int size = 0; size < 10; size++)
        assert_int_equal(tamis__plan_enlarge(&plan), TAMIS_OK);
    tamis *f = new_filter(&plan);
    runs_table t = runs_table_at(f->payload, plan.slots, plan.width);
    for (uint64_t i = 0; i < plan.capacity; i++)
        assert_true(runs_add_at_home(t, i, aleph_void_of(plan.width)));
    runs_put_used(t, plan.capacity);
    f->count = plan.capacity;
    assert_true(is_whole(f));
    tamis_status status = TAMIS_OK;
    for (uint64_t key = 0; key < 100 && !status; key++)
        status = tamis_add(f, key);
    assert_int_equal(status, TAMIS_FULL);
    assert_true(f->plan.slots <= 8 * plan.slots);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingerprints_shorten_as_specified),
        cmocka_unit_test(all_short_fingerprints_are_right),
        cmocka_unit_test(what_covers_comes_first),
        cmocka_unit_test(rates_have_a_limit),
        cmocka_unit_test(no_bits_are_wasted),
        cmocka_unit_test(voids_leave_room),
        cmocka_unit_test(rates_that_need_too_many_bits_are_refused),
        cmocka_unit_test(filters_are_as_plain_lists),
        cmocka_unit_test(the_longest_goes_first),
        cmocka_unit_test(voids_are_copied_and_removed_once),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(runs_out_of_order_are_told),
        cmocka_unit_test(one_key_may_come_often),
        cmocka_unit_test(long_runs_are_searched_well),
        cmocka_unit_test(long_runs_of_the_widest_slots_end),
        cmocka_unit_test(a_table_of_voids_does_not_grow_for_ever),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
