/* growth.c - filters that make room by themselves and cannot be resized: from a few keys to a
 * million, all that must hold is looked at after each growth. No kind is named. */
#include "base/cpu.h"
#include "model/ground.h"

enum { FEW = 16 };

/* Filters that hold keys in full take ten times the room of others. */
static size_t many(tamis_kind kind)
{
    return run_size(1000000, 100000, 10000000) / (counts_very_keys(kind) ? 8 : 1);
}

static tamis *growing_filter(tamis_kind kind, double fpr)
{
    tamis_spec spec = spec_for(FEW, fpr, 8);
    tamis_plan plan;

    spec.can = TAMIS_CAN_GROW;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    return new_filter(&plan);
}

static void assert_finds(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits);

    assert_int_equal(tamis_has_many(f, hits, keys, n), n);
    free(hits);
}

/* What the filter says of itself is what strangers find. What is planned is the mean over filters,
 * from which one that began with a few keys may be far: stat/life.c looks at that. */
static void assert_rate(const tamis *f, rng *r)
{
    const size_t n = is_sanitized() ? 20000 : 200000;
    uint64_t *strangers = fresh_keys(r, n), *seen = array_of(n / 64 + 1, sizeof *seen);
    tamis_info info = info_of(f);
    uint64_t hits = tamis_has_many(f, seen, strangers, n);

    if (!binomial_fits(hits, n, info.fpr))
        fail_msg("%llu of %zu strangers hit; told %.4g", (unsigned long long)hits, n, info.fpr);
    free(strangers);
    free(seen);
}

/* Keys of these that have come to the ceiling, where they stay. */
static size_t keys_that_stay(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t ceiling = tamis_plan_of(f)->ceiling;
    size_t stay = 0;

    for (size_t i = 0; ceiling != UINT64_MAX && i < n; i++)
        stay += tamis_count(f, keys[i]) == ceiling;
    return stay;
}

/* Of those that came to a ceiling together, only what is above it is not counted. */
static void assert_counts(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t count = info_of(f).count;

    assert_true(count <= n);
    if (count < n)
        assert_true(n - count < keys_that_stay(f, keys, n));
}

static tamis *read_back(tamis *f)
{
    image_bytes image = image_of(f);
    tamis *copy = NULL;

    assert_int_equal(tamis_image_read(&copy, image.at, image.size, NULL), TAMIS_OK);
    assert_true(is_image_of(&image, copy));
    free_bytes(&image);
    tamis_free(f);
    return copy;
}

/* Adds keys[from .. to - 1] up to the next growth. Returns where that ends: `to` at most, and less
 * than was asked for if there is no larger size. */
static size_t add_until_grown(tamis *f, const uint64_t *keys, size_t from, size_t to)
{
    uint64_t capacity = tamis_plan_of(f)->capacity;
    tamis_status status = TAMIS_OK;

    while (from < to && tamis_plan_of(f)->capacity == capacity && !status) {
        size_t added, room = capacity > f->count ? (size_t)(capacity - f->count) : 1;
        status = tamis_add_many(f, &added, keys + from, room < to - from ? room : to - from);
        from += added;
    }
    assert_true(status == TAMIS_OK || status == TAMIS_FULL);
    snprintf(law_at, sizeof law_at, "%zu keys", from);
    return from;
}

static void assert_grown(const tamis *f)
{
    assert_true(tamis_plan_of(f)->capacity > FEW);
    assert_true(is_whole(f));
}

/* ---- Laws -------------------------------------------------------------- */

/* Without a list of keys, and through images. */
static void grown_filters_lose_nothing(tamis_kind kind)
{
    const double fprs[] = { 0.2, 0.01, 0.0001 };
    rng r = rng_for(1500 + (uint64_t)kind, 0);
    uint64_t *keys = fresh_keys(&r, many(kind));

    for (int i = 0; i < 3; i++) {
        tamis *f = growing_filter(kind, fprs[i]);

        for (size_t n = 0, to; n < many(kind); n = to) {
            to = add_until_grown(f, keys, n, many(kind));
            assert_counts(f, keys, to);
            assert_true(is_whole(f));
            assert_finds(f, keys, to);
            assert_rate(f, &r);
            if (to == n)
                break;
            f = read_back(f);
        }
        assert_grown(f);
        tamis_free(f);
    }
    free(keys);
}

static void one_by_one_is_by_batches(tamis_kind kind)
{
    const size_t n = 20000;
    rng r = rng_for(1500 + (uint64_t)kind, 1);
    uint64_t *keys = fresh_keys(&r, n);
    tamis *one = growing_filter(kind, 0.01), *batches = growing_filter(kind, 0.01);
    size_t added, in_batches = 0;
    tamis_status status = TAMIS_OK;

    for (added = 0; added < n && !(status = tamis_add(one, keys[added]));)
        added++;
    assert_int_equal(tamis_add_many(batches, &in_batches, keys, n), status);
    assert_int_equal(in_batches, added);
    assert_true(same_image(one, batches));
    assert_grown(one);
    tamis_free(one);
    tamis_free(batches);
    free(keys);
}

static void remove_all(tamis *f, const uint64_t *keys, size_t n)
{
    size_t removed;

    assert_int_equal(tamis_remove_many(f, &removed, keys, n), TAMIS_OK);
    assert_int_equal(removed, n);
}

/* But those at the ceiling: of the others, no copy is left. */
static void assert_only_those_that_stay(const tamis *f, const uint64_t *keys, size_t n)
{
    size_t stay = keys_that_stay(f, keys, n), left = 0;

    for (size_t i = 0; stay && i < n; i++)
        left += tamis_count(f, keys[i]) != 0;
    assert_int_equal(left, stay);
    assert_true(info_of(f).count <= stay);
}

/* What strangers find is what the filter says; after removes the plan knows nothing of it. */
static void assert_told(const tamis *f, rng *r)
{
    enum { STRANGERS = 100000 };
    double told = info_of(f).fpr;
    uint64_t hits = 0;

    for (int i = 0; i < STRANGERS; i++)
        hits += tamis_has(f, rng_next(r));
    assert_true(binomial_fits(hits, STRANGERS, told));
}

/* Old keys and new ones go, half of all at a time, while the filter goes on growing. */
static void removing_loses_nobody_else(tamis_kind kind)
{
    rng r = rng_for(1500 + (uint64_t)kind, 2);
    size_t n = many(kind), came = 0, held_n = 0;
    uint64_t *keys = fresh_keys(&r, n), *held = array_of(n, sizeof *held);
    /* At a high rate fingerprints are short, and old ones lose all their bits. */
    tamis *f = growing_filter(kind, 0.2);

    for (size_t from = 0, to; from < n; from = to) {
        to = add_until_grown(f, keys, from, n);
        if (to == from)
            break;
        memcpy(held + held_n, keys + from, (to - from) * sizeof *keys);
        held_n += to - from;
        came = to;
        shuffle(&r, held, held_n);
        remove_all(f, held + held_n / 2, held_n - held_n / 2);
        held_n /= 2;
        assert_true(is_whole(f));
        assert_finds(f, held, held_n);
        assert_told(f, &r);
    }
    assert_grown(f);
    remove_all(f, held, held_n);
    assert_only_those_that_stay(f, keys, came);
    assert_true(is_whole(f));
    tamis_free(f);
    free(keys);
    free(held);
}

/* The code of a filter that was planned so from the start. */
static void assert_portable(const tamis *f)
{
    tamis *fresh = new_filter(tamis_plan_of(f));

    tamis__use_cpu(fresh, TAMIS_CPU_PORTABLE);
    assert_int_equal(f->cpu, TAMIS_CPU_PORTABLE);
    assert_memory_equal(&f->ops, &fresh->ops, sizeof f->ops);
    assert_memory_equal(f->derived, fresh->derived, sizeof f->derived);
    tamis_free(fresh);
}

/* By single keys, by batches and by merging. */
static void the_cpu_stays_when_a_filter_grows(tamis_kind kind)
{
    enum { KEYS = 2000 };
    rng r = rng_for(1500 + (uint64_t)kind, 3);
    uint64_t *keys = fresh_keys(&r, KEYS);
    tamis *one = growing_filter(kind, 1e-6), *many = growing_filter(kind, 1e-6);
    tamis *into = growing_filter(kind, 1e-6);

    tamis__use_cpu(one, TAMIS_CPU_PORTABLE);
    tamis__use_cpu(many, TAMIS_CPU_PORTABLE);
    tamis__use_cpu(into, TAMIS_CPU_PORTABLE);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(tamis_add(one, keys[i]), TAMIS_OK);
    add_all(many, keys, KEYS);
    assert_grown(one);
    assert_grown(many);
    assert_portable(one);
    assert_portable(many);
    if (tamis_kind_can(kind) & TAMIS_CAN_MERGE &&
        tamis_combine(into, TAMIS_MERGE, one) == TAMIS_OK) {
        assert_grown(into);
        assert_portable(into);
        assert_finds(into, keys, KEYS);
    }
    if (tamis_kind_can(kind) & TAMIS_CAN_RESIZE && tamis_resize(many, 3 * KEYS) == TAMIS_OK)
        assert_portable(many);
    assert_finds(one, keys, KEYS);
    assert_finds(many, keys, KEYS);
    tamis_free(one);
    tamis_free(many);
    tamis_free(into);
    free(keys);
}

int main(int argc, char **argv)
{
    const unsigned GROWS = TAMIS_CAN_ADD | TAMIS_CAN_GROW, RESIZES = TAMIS_CAN_RESIZE;
    const law laws[] = {
        { "grown filters lose nothing", grown_filters_lose_nothing, .can = GROWS,
          .cannot = RESIZES },
        { "one by one is by batches", one_by_one_is_by_batches, .can = GROWS, .cannot = RESIZES },
        { "removing loses nobody else", removing_loses_nobody_else, .can = GROWS | TAMIS_CAN_REMOVE,
          .cannot = RESIZES },
        { "the CPU stays when a filter grows", the_cpu_stays_when_a_filter_grows, .can = GROWS },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
