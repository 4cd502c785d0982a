/* aqf.c - a false positive that was reported does not come again, whatever is done to the filter,
 * and no key is lost by it. Keys that share a fingerprint are told apart. */
#include <fenv.h>

#include "base/bits.h"
#include "core/order.h"
#include "kinds.h"

static tamis_plan aqf_plan_for(uint64_t keys, double fpr, unsigned can)
{
    tamis_spec spec = spec_for(keys, fpr, 5);

    spec.can = can;
    return plan_of_spec(TAMIS_AQF, spec);
}

static void assert_held(const tamis *f, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, keys[i]));
}

/* Reports those of the keys that are found, puts them first, and returns how many. */
static size_t report_all(tamis *f, uint64_t *strangers, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (tamis_has(f, strangers[i])) {
            uint64_t key = strangers[i];
            assert_int_equal(tamis_adapt(f, key), TAMIS_OK);
            strangers[i] = strangers[found];
            strangers[found++] = key;
        }
    return found;
}

static void assert_none_found(const tamis *f, const uint64_t *strangers, size_t n)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits);

    assert_int_equal(tamis_has_many(f, hits, strangers, n), 0);
    for (size_t i = 0; i < n; i++)
        assert_true(!tamis_has(f, strangers[i]));
    free(hits);
}

/* ---- Mistakes ---------------------------------------------------------- */

/* Two keys for every slot are asked for in turn: after the first round, none is found. */
static void no_mistake_is_repeated(void **state)
{
    const double fprs[] = { 0.2, 0.03, 0.004 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        const size_t n = run_size(20000, 5000, 300000), m = 4 * n;
        tamis_plan plan = aqf_plan_for(n, fprs[i], TAMIS_CAN_GROW);
        rng r = rng_for(3100, (uint64_t)i);
        uint64_t *keys = fresh_keys(&r, n), *strangers = fresh_keys(&r, m);
        tamis *f = filter_of(&plan, keys, n);
        size_t found = report_all(f, strangers, m);

        assert_true(found > 0 && is_whole(f));
        assert_none_found(f, strangers, f->plan.slots == plan.slots ? m : found);
        assert_held(f, keys, n);
        assert_true(info_of(f).adaptations > 0 && info_of(f).adaptations <= found);
        tamis_free(f);
        free(keys);
        free(strangers);
    }
}

/* A chunk tells two hashes apart, or does so with the next: as often as it should. Nothing but the
 * chunks takes room. */
static void a_mistake_takes_a_slot(void **state)
{
    const size_t n = run_size(20000, 5000, 300000), m = 20 * n;
    tamis_plan plan = aqf_plan_for(n, 0.06, 0);
    rng r = rng_for(3101, 0);
    uint64_t *keys = fresh_keys(&r, n);

    (void)state;
    plan = aqf_plan_for(n + n / 2, 0.06, 0); /* with room for all of them */
    tamis *f = filter_of(&plan, keys, n);
    uint64_t before = used_slots(f);
    size_t found = 0;
    for (size_t i = 0; i < m && found < n / 4; i++) {
        uint64_t stranger = rng_next(&r);
        found += report_all(f, &stranger, 1);
    }
    uint64_t chunks = used_slots(f) - before;
    double again = ldexp(1, 1 - (int)plan.width);
    assert_true(binomial_fits(chunks - found, chunks, again));
    /* Slots have the width of a remainder, a bit for chunks and 2.125 for runs. */
    double bits = (double)chunks * (plan.width + 3.125) / (double)n;
    assert_true(is_near(info_of(f).adapted_bits, bits, 1e-9));
    tamis_free(f);
    free(keys);
}

/* Hashes are a permutation of keys: two keys that differ are told apart in the end. */
static void near_keys_are_told_apart(void **state)
{
    (void)state;
    for (unsigned width = 2; width <= 31; width += width < 8 ? 1 : 5) {
        tamis_plan plan = aqf_plan_for(1000, ldexp(0.7, -(int)width), 0);
        tamis *f = new_filter(&plan);
        uint64_t hash = UINT64_C(0x123456789abcdef0);

        for (unsigned bit = 0; bit < 64; bit += 7) {
            uint64_t key = unhash_key(hash, f->salt);
            uint64_t near = unhash_key(hash ^ UINT64_C(1) << bit, f->salt);
            assert_int_equal(tamis_add(f, key), TAMIS_OK);
            if (tamis_has(f, near))
                assert_int_equal(tamis_adapt(f, near), TAMIS_OK);
            assert_true(tamis_has(f, key) && !tamis_has(f, near) && is_whole(f));
            /* As a key, it has an item of its own. */
            assert_int_equal(tamis_add_times(f, near, 3), TAMIS_OK);
            assert_int_equal(tamis_count(f, key), 1);
            assert_int_equal(tamis_count(f, near), 3);
            assert_int_equal(tamis_adapt(f, near), TAMIS_PRESENT);
            assert_int_equal(tamis_remove_times(f, near, 3), TAMIS_OK);
            assert_true(tamis_has(f, key) && !tamis_has(f, near) && is_whole(f));
            assert_int_equal(tamis_remove(f, near), TAMIS_ABSENT);
            assert_int_equal(tamis_remove(f, key), TAMIS_OK);
        }
        tamis_free(f);
    }
}

/* So many keys of one fingerprint that they go around the end of the table. */
static void a_crowd_is_told_apart(void **state)
{
    tamis_plan plan = aqf_plan_for(300, 0.01, 0);
    tamis *f = new_filter(&plan);
    uint64_t keys[40];
    size_t n = 0;

    (void)state;
    for (; n < 40; n++) {
        keys[n] = unhash_key(UINT64_MAX - (UINT64_C(3) << 44) * n, f->salt);
        if (tamis_add(f, keys[n]))
            break;
        assert_true(is_whole(f));
        assert_held(f, keys, n + 1);
    }
    assert_true(n > 20);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(tamis_remove(f, keys[i]), TAMIS_OK);
        assert_true(is_whole(f));
        assert_held(f, keys + i + 1, n - i - 1);
    }
    assert_int_equal(used_slots(f), 0);
    tamis_free(f);
}

/* Without room nothing changes, and the answer stays wrong, not lost. */
static void a_full_filter_learns_no_more(void **state)
{
    tamis_plan plan = aqf_plan_for(50, 0.1, 0);
    rng r = rng_for(3102, 0);
    uint64_t *keys = fresh_keys(&r, 50);
    tamis *f = filter_of(&plan, keys, 50);
    tamis_status status = TAMIS_OK;

    (void)state;
    while (status == TAMIS_OK) {
        uint64_t stranger = rng_next(&r);
        image_bytes before = image_of(f);
        status = tamis_adapt(f, stranger);
        assert_true(status == TAMIS_OK ||
                    (status == TAMIS_FULL && tamis_has(f, stranger) && is_image_of(&before, f)));
        free_bytes(&before);
    }
    assert_held(f, keys, 50);
    assert_int_equal(tamis_forget_adaptations(f), TAMIS_OK);
    tamis *fresh = filter_of(&plan, keys, 50);
    assert_true(same_image(f, fresh));
    tamis_free(f);
    tamis_free(fresh);
    free(keys);
}

/* ---- What keeps them --------------------------------------------------- */

typedef struct taught {
    uint64_t *keys, *strangers;
    size_t n, m; /* keys, and strangers that it was told of */
    tamis *f;
} taught;

static taught taught_filter(uint64_t round, unsigned can)
{
    rng r = rng_for(3103, round);
    const size_t asked = 20000;
    taught t = { .n = 3000 };
    tamis_plan plan = aqf_plan_for(t.n, 0.02, can);

    t.keys = fresh_keys(&r, t.n);
    t.strangers = fresh_keys(&r, asked);
    t.f = filter_of(&plan, t.keys, t.n);
    t.m = report_all(t.f, t.strangers, asked);
    assert_true(t.m > 100);
    return t;
}

static void assert_taught(const taught *t)
{
    assert_true(is_whole(t->f));
    assert_held(t->f, t->keys, t->n);
    assert_none_found(t->f, t->strangers, t->m);
}

static void taught_free(taught *t)
{
    tamis_free(t->f);
    free(t->keys);
    free(t->strangers);
}

static void sizes_keep_adaptations(void **state)
{
    const uint64_t sizes[] = { 7000, 100000, 50000, 12000, 4000 };
    taught t = taught_filter(0, 0);

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tamis_resize(t.f, sizes[i]), TAMIS_OK);
        assert_taught(&t);
    }
    taught_free(&t);
}

/* What rounds up in one size does not add up: no item becomes longer than a hash. */
static void many_sizes_keep_adaptations(void **state)
{
    tamis_spec spec = spec_for(3000, 0.02, 5);
    tamis_plan plan;
    rng r = rng_for(3111, 0);
    taught t = { .n = 500, .m = 20000 };

    (void)state;
    spec.quotient_bits = 12;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_OK);
    t.keys = fresh_keys(&r, t.n);
    t.strangers = fresh_keys(&r, t.m);
    t.f = filter_of(&plan, t.keys, t.n);
    t.m = report_all(t.f, t.strangers, t.m);
    assert_true(t.m > 0);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(tamis_resize(t.f, i % 2 ? 3000 : 1400), TAMIS_OK);
        assert_taught(&t);
    }
    taught_free(&t);
}

/* Keeps those that are not found, and returns how many. */
static size_t drop_found(const tamis *f, uint64_t *keys, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!tamis_has(f, keys[i]))
            keys[kept++] = keys[i];
    return kept;
}

/* What one was told and the other does not find. */
static void unions_keep_adaptations(void **state)
{
    taught a = taught_filter(1, TAMIS_CAN_GROW), b = taught_filter(2, TAMIS_CAN_GROW);

    (void)state;
    b.m = drop_found(a.f, b.strangers, b.m);
    a.m = drop_found(b.f, a.strangers, a.m);
    assert_int_equal(tamis_combine(a.f, TAMIS_MERGE, b.f), TAMIS_OK);
    assert_taught(&a);
    assert_held(a.f, b.keys, b.n);
    assert_none_found(a.f, b.strangers, b.m);
    assert_int_equal(tamis_combine(a.f, TAMIS_SUBTRACT, b.f), TAMIS_OK);
    assert_taught(&a);
    assert_none_found(a.f, b.strangers, b.m);
    taught_free(&a);
    taught_free(&b);
}

/* A filter of n keys that has learned until there was no room for more, or long enough. */
static taught taught_until_full(const tamis_plan *plan, size_t n, size_t queries, uint64_t round)
{
    rng r = rng_for(3114, round);
    taught t = { .n = n, .keys = fresh_keys(&r, n) };
    tamis_status status = TAMIS_OK;

    t.f = filter_of(plan, t.keys, n);
    t.strangers = array_of(queries, sizeof *t.strangers);
    for (size_t i = 0; i < queries && !status; i++) {
        uint64_t stranger = rng_next(&r);
        if (tamis_has(t.f, stranger) && !(status = tamis_adapt(t.f, stranger)))
            t.strangers[t.m++] = stranger;
    }
    return t;
}

/* By two ways; no key is lost, and what both know stays known. It has no less room than the larger
 * one, and no more than eight times the slots in use. */
static void check_full_union(const tamis_plan *plan, size_t n, uint64_t round)
{
    taught a = taught_until_full(plan, n, 300000, round);
    taught b = taught_until_full(plan, n, 300000, round + 1);
    const tamis *both[] = { a.f, b.f };
    uint64_t slots = used_slots(a.f) + used_slots(b.f);

    b.m = drop_found(a.f, b.strangers, b.m);
    a.m = drop_found(b.f, a.strangers, a.m);
    for (int i = 0; i <= (plan->flags & TAMIS_PLAN_GROWS ? 1 : 0); i++) {
        taught all = a;

        if (i == 0)
            assert_int_equal(tamis_merge_many(&all.f, both, 2, NULL), TAMIS_OK);
        else
            assert_int_equal(tamis_combine(all.f, TAMIS_MERGE, b.f), TAMIS_OK);
        assert_taught(&all);
        assert_held(all.f, b.keys, b.n);
        assert_none_found(all.f, b.strangers, b.m);
        assert_true(all.f->plan.slots >= plan->slots);
        assert_true(all.f->plan.slots == plan->slots || all.f->plan.slots <= 8 * slots);
        if (i == 0)
            tamis_free(all.f);
    }
    taught_free(&a);
    taught_free(&b);
}

static void unions_have_room_for_adaptations(void **state)
{
    const double fprs[] = { 0.5, 0.2, 0.05 };

    (void)state;
    for (int i = 0; i < 3 * 2 * 2 * 2 * 2; i++) {
        const uint64_t planned = i & 1 ? 10 : 300;
        tamis_spec spec = spec_for(planned, fprs[i / 16], 5);
        tamis_plan plan;

        spec.universe = i & 2 ? 11 * planned : 0;
        spec.can = i & 4 ? TAMIS_CAN_GROW : 0;
        assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_OK);
        check_full_union(&plan, i & 8 ? planned : planned / 5, 2 * (uint64_t)i);
    }
}

/* What is planned for many excluded keys has more slots than its keys need, and grows all the same.
 */
static void a_filter_with_room_to_learn_grows(void **state)
{
    tamis_spec spec = spec_for(100, 0.2, 5);
    tamis_plan plan;

    (void)state;
    spec.universe = 1100;
    spec.can = TAMIS_CAN_GROW;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_OK);
    taught t = taught_until_full(&plan, 100, 8000000, 0);
    assert_taught(&t);
    assert_true(t.f->plan.slots > plan.slots && used_slots(t.f) > plan.slots);
    taught_free(&t);
}

static void images_keep_adaptations(void **state)
{
    taught t = taught_filter(3, 0);
    image_bytes image = image_of(t.f);
    tamis *read = NULL;

    (void)state;
    assert_int_equal(tamis_image_read(&read, image.at, image.size, NULL), TAMIS_OK);
    assert_true(same_image(t.f, read));
    tamis_free(t.f);
    t.f = read;
    assert_taught(&t);
    free_bytes(&image);
    taught_free(&t);
}

/* Other keys come and go. */
static void changes_keep_adaptations(void **state)
{
    taught t = taught_filter(4, TAMIS_CAN_GROW);
    rng r = rng_for(3104, 0);
    uint64_t *more = fresh_keys(&r, 2000);

    (void)state;
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(tamis_add(t.f, more[i]), TAMIS_OK);
    assert_held(t.f, t.keys, t.n);
    assert_int_equal(tamis_resize(t.f, 20000), TAMIS_OK);
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(tamis_remove(t.f, more[i]), TAMIS_OK);
    assert_taught(&t);
    free(more);
    taught_free(&t);
}

/* A hash that differs from another one in this bit of the tail, and in none before. */
static uint64_t hash_beside(const tamis *f, uint64_t hash, unsigned bit)
{
    uint64_t prints = f->plan.slots << f->plan.width;

    return hash ^ UINT64_C(1) << (bit - (63 - (unsigned)__builtin_clzll(prints)));
}

/* Whether they share the fingerprint, and their tails are alike up to this bit. */
static bool are_alike(const tamis *f, uint64_t a, uint64_t b, unsigned bit)
{
    uint64_t prints = f->plan.slots << f->plan.width;

    return scale64(a, prints) == scale64(b, prints) &&
           63 - (unsigned)__builtin_clzll(a * prints ^ b * prints) == bit;
}

/* A stranger is reported for x. Then z comes and needs as much to be told from x. In twice the size
 * it needs less, but the stranger does not. */
static void neighbours_undo_nothing(void **state)
{
    tamis_plan plan = aqf_plan_for(200, 0.004, 0);
    rng r = rng_for(3109, 0);
    int seen = 0;

    (void)state;
    for (int i = 0; i < 2000 && seen < 100; i++) {
        tamis *f = new_filter(&plan);
        uint64_t x = rng_next(&r), z = hash_beside(f, x, 63), y = hash_beside(f, x, 62);

        if (are_alike(f, x, z, 63) && are_alike(f, x, y, 62)) {
            uint64_t stranger = unhash_key(y, f->salt);
            assert_int_equal(tamis_add(f, unhash_key(x, f->salt)), TAMIS_OK);
            assert_true(tamis_has(f, stranger));
            assert_int_equal(tamis_adapt(f, stranger), TAMIS_OK);
            assert_int_equal(tamis_add(f, unhash_key(z, f->salt)), TAMIS_OK);
            assert_int_equal(tamis_resize(f, 401), TAMIS_OK);
            assert_true(!tamis_has(f, stranger) && is_whole(f));
            seen++;
        }
        tamis_free(f);
    }
    assert_int_equal(seen, 100);
}

/* A stranger is reported for x, from which z was told before. Then x goes: what told z from x is
 * what tells z from the stranger. */
static void what_goes_takes_nothing_along(void **state)
{
    tamis_plan plan = aqf_plan_for(200, 0.004, 0);
    rng r = rng_for(3110, 0);
    int seen = 0;

    (void)state;
    for (int i = 0; i < 2000 && seen < 100; i++) {
        bool subtracts = i % 2;
        tamis *f = new_filter(&plan), *g = new_filter(&plan);
        uint64_t x = rng_next(&r), z = hash_beside(f, x, 63), y = hash_beside(f, x, 40);
        uint64_t stranger = unhash_key(y, f->salt);

        if (are_alike(f, x, z, 63) && are_alike(f, x, y, 40)) {
            assert_int_equal(tamis_add(f, unhash_key(x, f->salt)), TAMIS_OK);
            assert_int_equal(tamis_add(f, unhash_key(z, f->salt)), TAMIS_OK);
            assert_int_equal(tamis_add(g, unhash_key(subtracts ? x : z, f->salt)), TAMIS_OK);
            assert_true(tamis_has(f, stranger));
            assert_int_equal(tamis_adapt(f, stranger), TAMIS_OK);
            assert_int_equal(tamis_combine(f, subtracts ? TAMIS_SUBTRACT : TAMIS_INTERSECT, g),
                             TAMIS_OK);
            assert_true(tamis_has(f, unhash_key(z, f->salt)) && is_whole(f));
            assert_true(!tamis_has(f, stranger));
            seen++;
        }
        tamis_free(f);
        tamis_free(g);
    }
    assert_int_equal(seen, 100);
}

/* ---- Keys that come and go --------------------------------------------- */

/* Each key in turn is replaced or, at random, any of them. A key keeps what told it from keys that
 * are gone: a plan with TAMIS_CAN_REMOVE has slots for that. */
static void check_replaced(uint64_t round, double fpr, bool at_random)
{
    const size_t n = 10000, turnovers = 5;
    tamis_plan plan = aqf_plan_for(n, fpr, TAMIS_CAN_REMOVE);
    tamis *f = new_filter(&plan);
    rng r = rng_for(3112, round);
    uint64_t *keys = fresh_keys(&r, n);

    add_all(f, keys, n);
    for (size_t i = 0; i < turnovers * n; i++) {
        uint64_t *key = &keys[at_random ? rng_below(&r, n) : i % n];
        assert_int_equal(tamis_remove(f, *key), TAMIS_OK);
        *key = rng_next(&r);
        assert_int_equal(tamis_add(f, *key), TAMIS_OK);
    }
    assert_held(f, keys, n);
    assert_true(is_whole(f));
    assert_true(info_of(f).fpr <= fpr);
    tamis_free(f);
    free(keys);
}

static void keys_may_come_and_go(void **state)
{
    (void)state;
    for (int at_random = 0; at_random <= 1; at_random++) {
        check_replaced(0, 0.5, at_random);
        check_replaced(1, 0.25, at_random);
        check_replaced(2, 0.1, at_random);
    }
}

/* ---- Lists of yes and no ----------------------------------------------- */

static void excluded_keys_never_pass(void **state)
{
    const size_t n = 5000, m = 200000;
    tamis_spec spec = spec_for(n, 0.01, 6);
    rng r = rng_for(3105, 0);
    uint64_t *keys = fresh_keys(&r, n), *no = fresh_keys(&r, m);
    tamis_plan plan;
    tamis *f = NULL;

    (void)state;
    memcpy(no, keys, 10 * sizeof *no); /* keys all the same */
    spec.universe = n + m;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_OK);
    assert_int_equal(tamis_build_excluding(&f, &plan, keys, n, no, m, NULL), TAMIS_OK);
    assert_held(f, keys, n);
    assert_none_found(f, no + 10, m - 10);
    /* Others pass at the rate that is told, which is no more than planned. */
    uint64_t hits = 0, probes = run_size(400000, 50000, 4000000);
    for (uint64_t i = 0; i < probes; i++)
        hits += tamis_has(f, rng_next(&r));
    assert_true(binomial_fits(hits, probes, info_of(f).fpr) && info_of(f).fpr <= 0.01);
    tamis_free(f);
    free(keys);
    free(no);
}

/* However many: the number of slots that they take does not wrap around. */
static void too_many_excluded_keys_are_refused(void **state)
{
    tamis_spec spec = spec_for(10, 0.99, 5);
    tamis_plan plan;

    (void)state;
    spec.universe = UINT64_MAX;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_RANGE);
}

/* More slots than there are fingerprints for are refused, by arithmetic that neither wraps around
 * nor divides by 0. */
static void too_many_fingerprints_are_refused(void **state)
{
    (void)state;
    feclearexcept(FE_ALL_EXCEPT);
    for (unsigned bits = 26; bits <= 31; bits++)
        for (uint64_t i = 0; i < 400; i++) {
            tamis_spec spec = spec_for((UINT64_C(1) << 48) / 1000 - 1 - (i << 28), 0, 5);
            tamis_plan plan;

            spec.tag_bits = bits;
            assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_RANGE);
            spec.can = TAMIS_CAN_ASK_KEYS;
            assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_RANGE);
        }
    assert_int_equal(fetestexcept(FE_DIVBYZERO | FE_INVALID), 0);
}

/* ---- A store of the caller's ------------------------------------------- */

/* Keys of the set, as a list. */
typedef struct shelf {
    const tamis *f;
    const uint64_t *keys;
    size_t n, asked;
    tamis_status status;
} shelf;

static tamis_status ask_shelf(void *ctx, uint64_t group, tamis_visit *visit, void *to)
{
    shelf *s = ctx;

    s->asked++;
    for (size_t i = 0; i < s->n; i++)
        if (tamis_group(s->f, s->keys[i]) == group && !visit(to, s->keys[i], 1))
            break;
    return s->status;
}

/* It says in its image that its keys are elsewhere, and is told where again. */
static void check_image_without_keys(const tamis *f)
{
    image_bytes image = image_of(f);
    tamis *g = NULL;

    assert_int_equal(tamis_image_read(&g, image.at, image.size, NULL), TAMIS_OK);
    assert_true(is_image_of(&image, g));
    assert_true(tamis_plan_can(tamis_plan_of(g)) & TAMIS_CAN_ASK_KEYS);
    tamis_free(g);
    free_bytes(&image);
}

/* `ahead`: keys are in the store before they are added, else after. */
static void check_keys_elsewhere(bool ahead)
{
    const size_t n = 2000, m = 60000;
    rng r = rng_for(3106, 0);
    uint64_t *keys = fresh_keys(&r, n), *strangers = fresh_keys(&r, m);
    tamis_plan plan = aqf_plan_for(n, 0.01, TAMIS_CAN_ASK_KEYS | TAMIS_CAN_GROW);
    tamis *f = new_filter(&plan), *g = new_filter(&plan);
    shelf s = { f, keys, ahead ? n : 0, 0, TAMIS_OK };

    const tamis_plan with = aqf_plan_for(n, 0.01, TAMIS_CAN_GROW);
    assert_true(plan.bytes * 6 < with.bytes && tamis_plan_can(&plan) & TAMIS_CAN_ASK_KEYS);
    tamis_set_keys(f, ask_shelf, &s);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(tamis_add(f, keys[i]), TAMIS_OK);
        s.n = ahead ? n : i + 1;
    }
    assert_true(s.asked < n / 4);
    assert_int_equal(info_of(f).cardinality, n);
    size_t told = report_all(f, strangers, m);
    assert_true(told > 100);
    check_image_without_keys(f);
    for (uint64_t size = 3 * n; size < 10 * n; size *= 3) {
        assert_int_equal(tamis_resize(f, size), TAMIS_OK);
        assert_true(is_whole(f));
        assert_held(f, keys, n);
        assert_none_found(f, strangers, told);
        assert_int_equal(info_of(f).cardinality, n);
    }
    assert_int_equal(tamis_add(f, keys[7]), TAMIS_OK);
    assert_int_equal(tamis_count(f, keys[7]), 2);
    assert_int_equal(tamis_remove_times(f, keys[7], 2), TAMIS_OK);
    assert_true(!tamis_has(f, keys[7]));
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, g), TAMIS_CANNOT);
    assert_int_equal(tamis_forget_adaptations(f), TAMIS_OK);
    assert_held(f, keys + 8, n - 8);
    tamis_free(f);
    tamis_free(g);
    free(keys);
    free(strangers);
}

static void keys_may_be_elsewhere(void **state)
{
    (void)state;
    check_keys_elsewhere(false);
    check_keys_elsewhere(true);
}

/* The first of strangers that is found. */
static uint64_t first_found(const tamis *f, rng *r)
{
    uint64_t key = rng_next(r);

    while (!tamis_has(f, key))
        key = rng_next(r);
    return key;
}

static void a_store_that_fails_changes_nothing(void **state)
{
    const size_t n = 500;
    rng r = rng_for(3107, 0);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan = aqf_plan_for(n, 0.05, TAMIS_CAN_ASK_KEYS);
    tamis *f = new_filter(&plan);
    shelf s = { f, keys, n, 0, TAMIS_OK };

    (void)state;
    tamis_set_keys(f, ask_shelf, &s);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_add(f, keys[i]), TAMIS_OK);
    uint64_t stranger = first_found(f, &r);
    image_bytes before = image_of(f);
    s.status = TAMIS_IO;
    assert_int_equal(tamis_adapt(f, stranger), TAMIS_IO);
    assert_int_equal(tamis_add(f, stranger), TAMIS_IO);
    s.status = TAMIS_OK;
    s.n = 0; /* it has forgotten all keys */
    assert_int_equal(tamis_adapt(f, stranger), TAMIS_ABSENT);
    tamis_set_keys(f, NULL, NULL);
    assert_int_equal(tamis_adapt(f, stranger), TAMIS_CANNOT);
    assert_int_equal(tamis_add(f, stranger), TAMIS_CANNOT);
    assert_true(is_image_of(&before, f) && is_whole(f));
    free_bytes(&before);
    tamis_free(f);
    free(keys);
}

/* ---- Two filters, of which one asks ------------------------------------ */

/* One filter that keeps its keys, and one of the same geometry that asks for them: half of the keys
 * of each are in both. */
enum { UNLIKE = 1800, UNLIKE_BOTH = 900 };

typedef struct unlike {
    uint64_t *keys; /* those of `keeps` first; those of `asks` from keys + UNLIKE_BOTH on */
    tamis *keeps, *asks;
    shelf s;
} unlike;

static tamis *unlike_filter(unsigned can)
{
    tamis_spec spec = TAMIS_SPEC(.quotient_bits = 12, .tag_bits = 4, .can = can,
                                 .hasher = { .hash = TAMIS_RAW, .seed = 5 });
    tamis_plan plan;

    assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_OK);
    return new_filter(&plan);
}

static void unlike_init(unlike *u)
{
    rng r = rng_for(3112, 0);

    u->keys = fresh_keys(&r, 2 * UNLIKE - UNLIKE_BOTH);
    u->keeps = unlike_filter(TAMIS_CAN_GROW);
    u->asks = unlike_filter(TAMIS_CAN_GROW | TAMIS_CAN_ASK_KEYS);
    u->s = (shelf){ u->asks, u->keys + UNLIKE_BOTH, UNLIKE, 0, TAMIS_OK };
    tamis_set_keys(u->asks, ask_shelf, &u->s);
    add_all(u->keeps, u->keys, UNLIKE);
    add_all(u->asks, u->keys + UNLIKE_BOTH, UNLIKE);
}

static void unlike_free(unlike *u)
{
    tamis_free(u->keeps);
    tamis_free(u->asks);
    free(u->keys);
}

/* Every operation of two filters; none of them changes f. */
static void check_refused(tamis *f, const tamis *g, tamis_status why)
{
    const tamis *both[] = { f, g };
    image_bytes before = image_of(f);
    tamis *made = NULL;
    uint64_t product = 7;

    for (tamis_operation op = TAMIS_MERGE; op <= TAMIS_SUBTRACT; op++)
        assert_int_equal(tamis_combine(f, op, g), why);
    assert_int_equal(tamis_merge_many(&made, both, 2, NULL), why);
    assert_int_equal(tamis_dot(f, &product, g), why);
    assert_true(!made && product == 7 && is_image_of(&before, f));
    free_bytes(&before);
}

/* What one lists is hashes of keys; what the other lists is not. */
static void filters_that_ask_are_not_combined(void **state)
{
    unlike u;

    (void)state;
    unlike_init(&u);
    check_refused(u.keeps, u.asks, TAMIS_MISMATCH);
    check_refused(u.asks, u.keeps, TAMIS_CANNOT);
    check_refused(u.asks, u.asks, TAMIS_CANNOT);
    assert_held(u.keeps, u.keys, UNLIKE);
    assert_held(u.asks, u.keys + UNLIKE_BOTH, UNLIKE);
    unlike_free(&u);
}

static bool visit_any(void *ctx, uint64_t fingerprint, uint64_t count)
{
    size_t *n = ctx;

    (void)fingerprint;
    (void)count;
    ++*n;
    return true;
}

/* Whatever walks through the filter says why it stopped. */
static void a_walk_tells_that_the_store_failed(void **state)
{
    rng r = rng_for(3113, 0);
    uint64_t product = 7;
    size_t n = 0;
    unlike u;

    (void)state;
    unlike_init(&u);
    assert_int_equal(tamis_adapt(u.asks, first_found(u.asks, &r)), TAMIS_OK);
    image_bytes before = image_of(u.asks);
    u.s.status = TAMIS_IO;
    assert_int_equal(tamis_list(u.asks, visit_any, &n), TAMIS_IO);
    assert_true(n < UNLIKE);
    assert_int_equal(tamis__order_dot(u.asks, &product, u.asks), TAMIS_IO);
    assert_int_equal(tamis__order_dot(u.asks, &product, u.keeps), TAMIS_IO);
    assert_int_equal(tamis__order_dot(u.keeps, &product, u.asks), TAMIS_IO);
    assert_int_equal(tamis__order_merge(u.keeps, u.asks), TAMIS_IO);
    for (tamis_operation op = TAMIS_INTERSECT; op <= TAMIS_SUBTRACT; op++)
        assert_int_equal(tamis__order_reduce(u.asks, u.asks, op), TAMIS_IO);
    assert_int_equal(tamis_resize(u.asks, 5000), TAMIS_IO);
    assert_int_equal(tamis_forget_adaptations(u.asks), TAMIS_IO);
    assert_true(product == 7 && is_image_of(&before, u.asks));
    free_bytes(&before);
    unlike_free(&u);
}

/* ---- The loop ---------------------------------------------------------- */

typedef struct slow_store {
    const uint64_t *keys;
    size_t n, asked;
    tamis_status status;
} slow_store;

static tamis_status ask_store(void *ctx, bool *found, uint64_t key)
{
    slow_store *s = ctx;

    s->asked++;
    *found = false;
    for (size_t i = 0; i < s->n; i++)
        *found |= s->keys[i] == key;
    return s->status;
}

static void the_store_is_asked_once(void **state)
{
    const size_t n = 200;
    tamis_plan plan = aqf_plan_for(n, 0.05, TAMIS_CAN_GROW);
    rng r = rng_for(3108, 0);
    uint64_t *keys = fresh_keys(&r, n);
    tamis *f = filter_of(&plan, keys, n);
    slow_store s = { keys, n, 0, TAMIS_OK };
    uint64_t stranger = first_found(f, &r);
    bool found = true;

    (void)state;
    s.status = TAMIS_IO;
    assert_int_equal(tamis_lookup(f, &found, stranger, ask_store, &s), TAMIS_IO);
    assert_true(found && tamis_has(f, stranger));
    s = (slow_store){ keys, n, 0, TAMIS_OK };
    for (int i = 0; i < 10; i++) {
        assert_int_equal(tamis_lookup(f, &found, stranger, ask_store, &s), TAMIS_OK);
        assert_true(!found);
    }
    assert_int_equal(s.asked, 1);
    assert_int_equal(tamis_lookup(f, &found, keys[3], ask_store, &s), TAMIS_OK);
    assert_true(found && s.asked == 2);
    tamis_free(f);
    free(keys);
}

/* ---- Damage ------------------------------------------------------------ */

/* The first block of the first shard: its first slot is the one of its first run. */
static void items_that_begin_with_another_are_damage(void **state)
{
    tamis_plan plan = aqf_plan_for(100, 0.004, TAMIS_CAN_ASK_KEYS);
    tamis *f = new_filter(&plan);
    uint8_t *table = (uint8_t *)f->payload + 64;
    const unsigned wide = plan.width + 1;

    (void)state;
    /* Quotient 0 has a run of two slots. */
    ((uint8_t *)f->payload)[0] = 2;
    table[0] = 1;
    table[8] = 2;
    f->count = 2;
    for (uint32_t second = 1; second < 8; second++) {
        memset(table + 17, 0, 8 * wide);
        table[17] = 3 << 1; /* remainder 3, then */
        uint32_t slot = second << 1;
        table[17 + wide / 8] |= (uint8_t)(slot << wide % 8);
        table[18 + wide / 8] |= (uint8_t)(slot >> (8 - wide % 8));
        assert_int_equal(is_whole(f), second > 3);
    }
    tamis_free(f);
}

/* ---- Kernels ----------------------------------------------------------- */

/* With and without the instructions of this CPU: the same bytes. */
static void every_cpu_does_the_same(void **state)
{
    taught a = taught_filter(5, 0), b = taught_filter(5, 0);

    (void)state;
    tamis__use_cpu(b.f, 0);
    for (size_t i = 0; i < a.n; i += 2) {
        assert_int_equal(tamis_remove(a.f, a.keys[i]), TAMIS_OK);
        assert_int_equal(tamis_remove(b.f, a.keys[i]), TAMIS_OK);
    }
    for (size_t i = 0; i < a.n; i += 2) {
        assert_int_equal(tamis_add(a.f, a.keys[i]), TAMIS_OK);
        assert_int_equal(tamis_add(b.f, a.keys[i]), TAMIS_OK);
    }
    assert_int_equal(report_all(a.f, a.strangers, a.m), report_all(b.f, a.strangers, a.m));
    assert_true(same_image(a.f, b.f));
    taught_free(&a);
    taught_free(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_mistake_is_repeated),
        cmocka_unit_test(a_mistake_takes_a_slot),
        cmocka_unit_test(near_keys_are_told_apart),
        cmocka_unit_test(a_crowd_is_told_apart),
        cmocka_unit_test(a_full_filter_learns_no_more),
        cmocka_unit_test(sizes_keep_adaptations),
        cmocka_unit_test(many_sizes_keep_adaptations),
        cmocka_unit_test(unions_keep_adaptations),
        cmocka_unit_test(unions_have_room_for_adaptations),
        cmocka_unit_test(a_filter_with_room_to_learn_grows),
        cmocka_unit_test(images_keep_adaptations),
        cmocka_unit_test(changes_keep_adaptations),
        cmocka_unit_test(neighbours_undo_nothing),
        cmocka_unit_test(what_goes_takes_nothing_along),
        cmocka_unit_test(items_that_begin_with_another_are_damage),
        cmocka_unit_test(keys_may_come_and_go),
        cmocka_unit_test(excluded_keys_never_pass),
        cmocka_unit_test(too_many_excluded_keys_are_refused),
        cmocka_unit_test(too_many_fingerprints_are_refused),
        cmocka_unit_test(keys_may_be_elsewhere),
        cmocka_unit_test(a_store_that_fails_changes_nothing),
        cmocka_unit_test(filters_that_ask_are_not_combined),
        cmocka_unit_test(a_walk_tells_that_the_store_failed),
        cmocka_unit_test(the_store_is_asked_once),
        cmocka_unit_test(every_cpu_does_the_same),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
