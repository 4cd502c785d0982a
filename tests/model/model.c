/* model.c - random operations on a filter and on an exact multiset beside it.
 *
 * What must hold after each step: no key of the multiset is missing; counts are not below the
 * truth; exact kinds tell the exact truth, and kinds that can be resized the exact number of keys
 * with one fingerprint; whatever was refused changed no byte; the filter verifies. In the middle of
 * it the filter is cloned, written, read, saved, mapped, merged, intersected, subtracted from,
 * folded, resized and rebuilt. No kind is named: abilities choose the operations. */
#include "base/bits.h"
#include "kinds.h"

typedef struct world {
    tamis_plan plan;
    unsigned can;
    tamis *f;
    uint64_t *keys;   /* the universe, ascending */
    uint32_t *copies; /* how often each of its keys is held, at least */
    size_t universe;
    uint64_t distinct, total;
    bool is_set;     /* a key is held or not, however often it was added */
    bool is_diluted; /* an intersection left more in the filter than the keys account for */
    bool grows;
    uint64_t ceiling;  /* of counts */
    uint64_t repeated; /* keys that are held more than once */
    uint64_t left;     /* adds until kinds that rotate forget */
    /* Of kinds with fingerprints: of each key the number of its own, and of each fingerprint how
     * often it is held. */
    uint32_t *prints;
    uint64_t *held;
    uint64_t rarity; /* of looks at the whole filter: every so many steps */
    rng r;
} world;

/* ---- The multiset ------------------------------------------------------ */

static void learn_times(world *w, size_t i, uint64_t times)
{
    w->distinct += w->copies[i] == 0;
    w->repeated += w->copies[i] < 2 && w->copies[i] + times > 1;
    w->copies[i] += (uint32_t)times;
    w->total += times;
    if (w->prints)
        w->held[w->prints[i]] += times;
}

static void learn(world *w, size_t i)
{
    if (w->copies[i] == 0 || !w->is_set)
        learn_times(w, i, 1);
}

static void forget_times(world *w, size_t i, uint64_t times)
{
    if (times == 0)
        return;
    w->repeated -= w->copies[i] > 1 && w->copies[i] - times < 2;
    w->copies[i] -= (uint32_t)times;
    w->total -= times;
    w->distinct -= w->copies[i] == 0;
    if (w->prints)
        w->held[w->prints[i]] -= times;
}

static void forget(world *w, size_t i)
{
    forget_times(w, i, 1);
}

static void forget_all(world *w)
{
    for (size_t i = 0; i < w->universe; i++)
        if (w->copies[i])
            forget_times(w, i, w->copies[i]);
    if (w->prints)
        memset(w->held, 0, w->universe * sizeof *w->held);
}

static bool is_full(const world *w)
{
    return (w->is_set ? w->distinct : w->total) >= w->plan.capacity;
}

/* Kinds with a ceiling have only so many slots for the copies of a key: they are full earlier if
 * there are such. */
static bool is_crowded(const world *w, size_t i, uint64_t times)
{
    return w->ceiling != UINT64_MAX && (w->repeated || w->copies[i] + times > 1);
}

/* Only keys that need room may be refused for want of it. A fingerprint that is there once more
 * takes two slots at most: one for itself, one for a longer counter. */
static bool may_refuse_times(const world *w, size_t i, uint64_t times)
{
    if (w->prints)
        return !w->grows && used_slots(w->f) + times + 1 > w->plan.capacity;
    if (w->grows)
        return false;
    return is_crowded(w, i, times) || (is_full(w) && !(w->is_set && w->copies[i]));
}

static bool may_refuse(const world *w, size_t i)
{
    return may_refuse_times(w, i, 1);
}

static size_t pick(world *w)
{
    return rng_below(&w->r, w->universe);
}

/* Large filters are looked at as a whole from time to time, small ones always. */
static bool is_worth_a_look(world *w)
{
    return w->rarity <= 1 || rng_below(&w->r, w->rarity) == 0;
}

static image_bytes image_if(bool looked, const tamis *f)
{
    return looked ? image_of(f) : (image_bytes){ NULL, 0 };
}

static void assert_unchanged(image_bytes *before, const world *w)
{
    assert_true(!before->at || is_image_of(before, w->f));
    free_bytes(before);
}

/* ---- What must hold ---------------------------------------------------- */

static void check_key(const world *w, size_t i)
{
    bool has = tamis_has(w->f, w->keys[i]);
    uint64_t count = tamis_count(w->f, w->keys[i]);

    uint64_t least = may_undercount(w->plan.kind) ? w->copies[i] != 0 : w->copies[i];

    if (w->copies[i])
        assert_true(has);
    if (w->can & TAMIS_IS_EXACT)
        assert_int_equal(has, w->copies[i] != 0);
    if (!(w->can & TAMIS_CAN_COUNT))
        assert_int_equal(count, has);
    else
        assert_true(count <= w->ceiling && (count >= least || count == w->ceiling));
    if (w->prints && (w->held[w->prints[i]] || !tells_keys_apart(w->plan.kind)))
        assert_true(count == w->held[w->prints[i]] && has == (count > 0));
}

static void check_all(const world *w)
{
    tamis_info info = info_of(w->f);

    for (size_t i = 0; i < w->universe; i++)
        check_key(w, i);
    if (w->can & TAMIS_IS_EXACT)
        assert_true(info.count == w->distinct && info.cardinality == (double)w->distinct);
    else if (!w->is_diluted && w->ceiling == UINT64_MAX)
        assert_int_equal(info.count, w->total);
    assert_true(info.fill >= 0 && info.fill <= 1 && info.fpr >= 0 && info.fpr <= 1);
    assert_memory_equal(&info.plan, &w->plan, sizeof info.plan);
}

/* Filters that can be resized change their plan, but not what their fingerprints are. */
static void follow_plan(world *w)
{
    const tamis_plan *now = tamis_plan_of(w->f);

    if (tells_keys_apart(now->kind))
        assert_int_equal(now->width, w->plan.width);
    else if (w->prints)
        assert_true(now->slots << now->width == w->plan.slots << w->plan.width);
    w->plan = *now;
}

static void replace(world *w, tamis *by)
{
    assert_true(same_image(w->f, by));
    tamis_free(w->f);
    w->f = by;
}

/* ---- Operations on keys ------------------------------------------------ */

static bool takes(world *w, uint64_t times)
{
    if (!(w->can & TAMIS_CAN_ROTATE))
        return true;
    bool enough = times <= w->left;
    w->left -= enough ? times : 0;
    return enough;
}

static void add_times(world *w, uint64_t times)
{
    if (!takes(w, times))
        return;
    size_t i = pick(w);
    bool refusable = may_refuse_times(w, i, times);
    image_bytes before = image_if(refusable && is_worth_a_look(w), w->f);
    tamis_status status =
        times == 1 ? tamis_add(w->f, w->keys[i]) : tamis_add_times(w->f, w->keys[i], times);

    if (status == TAMIS_OK) {
        times == 1 ? learn(w, i) : learn_times(w, i, times);
        assert_true(!(w->can & TAMIS_IS_EXACT) || w->distinct <= w->plan.capacity);
        free_bytes(&before);
    } else {
        assert_true(refusable);
        assert_int_equal(status, TAMIS_FULL);
        assert_unchanged(&before, w);
    }
    if (w->grows)
        follow_plan(w);
    check_key(w, i);
}

static void op_add(world *w)
{
    add_times(w, 1);
}

/* Few copies, and now and then a count of more digits, but not so many that 32 bits could not tell.
 * Some kinds have a slot for each copy. */
static void op_add_times(world *w)
{
    unsigned bits = w->grows || rng_below(&w->r, 64) ? 3 : 14;

    add_times(w, rng_below(&w->r, UINT64_C(2) << rng_below(&w->r, bits)));
}

static uint64_t held_of(const world *w, size_t i)
{
    return w->prints ? w->held[w->prints[i]] : w->copies[i];
}

/* Removing more than was added is the caller's fault in kinds that cannot tell. */
static void remove_times(world *w, size_t i, uint64_t times)
{
    uint64_t there = w->copies[i];
    if (may_undercount(w->plan.kind) && tamis_count(w->f, w->keys[i]) < there)
        there = tamis_count(w->f, w->keys[i]);
    image_bytes before = image_if(times > there && is_worth_a_look(w), w->f);
    tamis_status status =
        times == 1 ? tamis_remove(w->f, w->keys[i]) : tamis_remove_times(w->f, w->keys[i], times);

    if (times <= there) {
        assert_int_equal(status, TAMIS_OK);
        forget_times(w, i, times);
    } else {
        assert_int_equal(status, TAMIS_ABSENT);
        assert_unchanged(&before, w);
    }
    check_key(w, i);
}

static void op_remove(world *w)
{
    size_t i = pick(w);

    if (w->copies[i] || (w->can & TAMIS_IS_EXACT) || (w->prints && !held_of(w, i)))
        remove_times(w, i, 1);
}

/* Some, all, or more than there are. */
static void op_remove_times(world *w)
{
    size_t i = pick(w);
    uint64_t most = held_of(w, i);

    switch (rng_below(&w->r, w->prints ? 4 : 3)) {
    case 0:
        remove_times(w, i, w->copies[i]);
        break;
    case 3:
        remove_times(w, i, most + 1 + rng_below(&w->r, 3));
        break;
    default:
        remove_times(w, i, rng_below(&w->r, w->copies[i] + UINT64_C(1)));
    }
}

static void op_query(world *w)
{
    check_key(w, pick(w));
}

/* A key that is not held is reported; one that is held is known to be. */
static void op_adapt(world *w)
{
    size_t i = pick(w);
    bool looked = is_worth_a_look(w) && (w->copies[i] || !tamis_has(w->f, w->keys[i]));
    image_bytes before = image_if(looked, w->f);
    tamis_status status = tamis_adapt(w->f, w->keys[i]);

    assert_unchanged(&before, w);
    if (w->copies[i])
        assert_int_equal(status, TAMIS_PRESENT);
    else
        assert_true(status == TAMIS_OK || (status == TAMIS_FULL && !w->grows));
    if (status == TAMIS_OK && tells_keys_apart(w->plan.kind))
        assert_true(!tamis_has(w->f, w->keys[i]));
    follow_plan(w);
    check_key(w, i);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static const uint64_t *find(const world *w, uint64_t key)
{
    return bsearch(&key, w->keys, w->universe, sizeof key, by_value);
}

static void op_stranger(world *w)
{
    uint64_t key = rng_next(&w->r);
    bool has = tamis_has(w->f, key);

    if (w->can & TAMIS_IS_EXACT && !find(w, key))
        assert_false(has);
    if (counts_very_keys(w->plan.kind))
        assert_true(tamis_count(w->f, key) == 0 || find(w, key));
    else
        assert_int_equal(tamis_count(w->f, key) != 0, has);
}

static void op_out_of_range(world *w)
{
    uint64_t key = w->plan.capacity + rng_below(&w->r, 100);
    image_bytes before = image_if(is_worth_a_look(w), w->f);

    assert_int_equal(tamis_add(w->f, key), TAMIS_RANGE);
    assert_false(tamis_has(w->f, key));
    assert_unchanged(&before, w);
}

/* ---- Operations on batches --------------------------------------------- */

enum { BATCH = 300 };

static size_t pick_batch(world *w, size_t *index, uint64_t *keys)
{
    size_t n = rng_below(&w->r, BATCH + 1);

    for (size_t i = 0; i < n; i++) {
        index[i] = pick(w);
        keys[i] = w->keys[index[i]];
    }
    return n;
}

static void op_has_many(world *w)
{
    size_t index[BATCH], found = 0;
    uint64_t keys[BATCH] = { 0 }, hits[(BATCH + 63) / 64];
    size_t n = pick_batch(w, index, keys);
    size_t told = tamis_has_many(w->f, hits, keys, n);

    for (size_t i = 0; i < n; i++) {
        bool hit = hits[i / 64] >> i % 64 & 1;

        found += hit;
        assert_int_equal(hit, tamis_has(w->f, keys[i]));
        check_key(w, index[i]);
    }
    assert_int_equal(told, found);
}

typedef tamis_status add_batch(tamis *f, size_t *added, const uint64_t *keys, size_t n);

static void change_by_batch(world *w, add_batch *add)
{
    size_t index[BATCH], added = 0;
    uint64_t keys[BATCH] = { 0 };
    size_t n = pick_batch(w, index, keys);
    if (!takes(w, n))
        return;
    tamis_status status = add(w->f, &added, keys, n);

    assert_true(added <= n);
    for (size_t i = 0; i < added; i++)
        learn(w, index[i]);
    if (w->grows)
        follow_plan(w);
    if (status) {
        assert_int_equal(status, TAMIS_FULL);
        assert_true(added < n && may_refuse(w, index[added]));
    } else {
        assert_int_equal(added, n);
    }
}

static void op_count_many(world *w)
{
    size_t index[BATCH];
    uint64_t keys[BATCH] = { 0 }, counts[BATCH];
    size_t n = pick_batch(w, index, keys);

    tamis_count_many(w->f, counts, keys, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(counts[i], tamis_count(w->f, keys[i]));
}

/* What is there; then, in kinds that can tell, what is not. */
static void op_remove_many(world *w)
{
    size_t index[BATCH], removed = 0, there = 0;
    uint64_t keys[BATCH] = { 0 };
    size_t n = pick_batch(w, index, keys);

    for (size_t i = 0; i < n; i++)
        if (w->copies[index[i]]) {
            forget(w, index[i]);
            keys[there++] = keys[i];
        }
    assert_int_equal(tamis_remove_many(w->f, &removed, keys, there), TAMIS_OK);
    assert_int_equal(removed, there);
    for (size_t i = 0; i < n; i++)
        check_key(w, index[i]);
}

static void op_add_many(world *w)
{
    change_by_batch(w, tamis_add_many);
}

static void op_add_concurrent(world *w)
{
    bool grew = w->grows;

    /* None grows while it is shared. */
    w->grows = false;
    change_by_batch(w, tamis_add_concurrent);
    w->grows = grew;
}

/* ---- Operations on two filters ----------------------------------------- */

/* A filter of the same plan with at most `max` random keys, told in `chosen`. */
static tamis *some_filter(world *w, uint32_t *chosen, size_t max)
{
    size_t n = max ? rng_below(&w->r, max + 1) : 0, used = 0;
    uint64_t *keys = array_of(n, sizeof *keys);

    for (size_t tries = 0; tries < n; tries++) {
        size_t i = pick(w);

        if (!chosen[i]) {
            chosen[i] = 1;
            keys[used++] = w->keys[i];
        }
    }
    tamis *g = filter_of(&w->plan, keys, used);
    free(keys);
    return g;
}

static size_t smaller(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

static bool union_fits(const world *w, const tamis *g, const uint32_t *chosen)
{
    uint64_t more = 0;

    if (w->prints)
        return w->grows || used_slots(w->f) + 2 * used_slots(g) <= w->plan.capacity;
    for (size_t i = 0; i < w->universe; i++)
        more += chosen[i] && !(w->is_set && w->copies[i]);
    return (w->is_set ? w->distinct : w->total) + more <= w->plan.capacity;
}

static void op_merge(world *w)
{
    uint32_t *chosen = array_of(w->universe, sizeof *chosen);
    tamis *g = some_filter(w, chosen, (smaller(w->plan.capacity, w->universe) + 3) / 4);
    image_bytes before = image_of(w->f);
    bool fits = union_fits(w, g, chosen);
    tamis_status status = tamis_combine(w->f, TAMIS_MERGE, g);

    if (status == TAMIS_OK) {
        assert_true(fits || !(w->can & TAMIS_IS_EXACT));
        for (size_t i = 0; i < w->universe; i++)
            if (chosen[i])
                learn(w, i);
    } else {
        assert_int_equal(status, TAMIS_FULL);
        assert_false(fits);
        assert_true(is_image_of(&before, w->f));
    }
    if (w->grows)
        follow_plan(w);
    free_bytes(&before);
    tamis_free(g);
    free(chosen);
}

/* What g holds of a key, of which it was given so many copies. */
static uint64_t count_in(const world *w, const tamis *g, const uint32_t *chosen, size_t i)
{
    return tells_keys_apart(w->plan.kind) ? chosen[i] : tamis_count(g, w->keys[i]);
}

/* The same filter twice and another one between, with as much room as that takes. */
static void op_merge_many(world *w)
{
    uint32_t *chosen = array_of(w->universe, sizeof *chosen);
    tamis *g = some_filter(w, chosen, (smaller(w->plan.capacity, w->universe) + 7) / 8);
    const tamis *const all[] = { w->f, g, w->f };
    tamis *out = NULL;
    tamis_status status = tamis_merge_many(&out, all, 3, NULL);

    /* Without a bit to give, there may be no room. */
    if (status)
        assert_int_equal(status, TAMIS_FULL);
    for (size_t i = 0; i < w->universe && !status; i++)
        if (chosen[i] || held_of(w, i) || !tells_keys_apart(w->plan.kind))
            assert_true(tamis_count(out, w->keys[i]) ==
                        2 * held_of(w, i) + count_in(w, g, chosen, i));
    assert_true(status || is_whole(out));
    tamis_free(out);
    tamis_free(g);
    free(chosen);
}

/* Each fingerprint's counts, multiplied. */
static void op_dot(world *w)
{
    uint32_t *chosen = array_of(w->universe, sizeof *chosen);
    tamis *g = some_filter(w, chosen, smaller(w->plan.capacity, w->universe));
    uint64_t expected = 0, product = 0, self = 0;

    for (size_t i = 0; i < w->universe; i++) {
        expected += chosen[i] * held_of(w, i);
        self += (uint64_t)w->held[i] * w->held[i];
    }
    assert_int_equal(tamis_dot(w->f, &product, g), TAMIS_OK);
    assert_int_equal(product, expected);
    assert_int_equal(tamis_dot(g, &product, w->f), TAMIS_OK);
    assert_int_equal(product, expected);
    assert_int_equal(tamis_dot(w->f, &product, w->f), TAMIS_OK);
    assert_int_equal(product, self);
    tamis_free(g);
    free(chosen);
}

/* Keys that share a fingerprint are one: what is left of it is what it has in both. */
static void intersect_prints(world *w, const tamis *g, const uint64_t *held, const uint32_t *chosen)
{
    for (size_t i = 0; i < w->universe; i++)
        w->held[w->prints[i]] = smaller(held[w->prints[i]], count_in(w, g, chosen, i));
}

/* With half of the keys held and a few more. */
static void op_intersect(world *w)
{
    uint32_t *chosen = array_of(w->universe, sizeof *chosen);
    uint64_t *held = array_of(w->universe, sizeof *held);
    tamis *g = some_filter(w, chosen, smaller(w->plan.capacity, w->universe));

    if (w->prints)
        memcpy(held, w->held, w->universe * sizeof *held);
    assert_int_equal(tamis_combine(w->f, TAMIS_INTERSECT, g), TAMIS_OK);
    for (size_t i = 0; i < w->universe; i++)
        if (w->copies[i] > chosen[i])
            forget_times(w, i, w->copies[i] - chosen[i]);
    if (w->prints)
        intersect_prints(w, g, held, chosen);
    w->is_diluted = !(w->can & TAMIS_IS_EXACT);
    tamis_free(g);
    free(held);
    free(chosen);
}

/* Some copies of some keys that are held; of exact kinds, also of keys that are not. */
static tamis *some_part(world *w, uint32_t *chosen)
{
    tamis *g = new_filter(&w->plan);

    for (size_t i = 0; i < w->universe; i++) {
        bool is_there = w->copies[i] || w->can & TAMIS_IS_EXACT;
        uint64_t most = w->can & TAMIS_CAN_COUNT ? w->copies[i] : 1;
        chosen[i] = is_there ? (uint32_t)rng_below(&w->r, most + 1) : 0;
        if (chosen[i] && g->count < w->plan.capacity)
            assert_int_equal(most > 1 ? tamis_add_times(g, w->keys[i], chosen[i])
                                      : tamis_add(g, w->keys[i]),
                             TAMIS_OK);
        else
            chosen[i] = 0;
    }
    return g;
}

/* What is certainly not there cannot be taken away. */
static void subtract_a_stranger(world *w)
{
    size_t i = pick(w);
    tamis *g = new_filter(&w->plan);

    if (!tamis_has(w->f, w->keys[i]) && !(w->can & TAMIS_IS_EXACT) &&
        tamis_add(g, w->keys[i]) == TAMIS_OK) {
        image_bytes before = image_of(w->f);

        assert_int_equal(tamis_combine(w->f, TAMIS_SUBTRACT, g), TAMIS_ABSENT);
        assert_unchanged(&before, w);
    }
    tamis_free(g);
}

static void op_subtract(world *w)
{
    uint32_t *chosen = array_of(w->universe, sizeof *chosen);
    tamis *g = some_part(w, chosen);

    assert_int_equal(tamis_combine(w->f, TAMIS_SUBTRACT, g), TAMIS_OK);
    for (size_t i = 0; i < w->universe; i++)
        if (w->copies[i] && chosen[i])
            forget_times(w, i, chosen[i]);
    subtract_a_stranger(w);
    tamis_free(g);
    free(chosen);
}

/* ---- Operations on the whole filter ------------------------------------ */

static void op_clone(world *w)
{
    tamis *copy = NULL;

    assert_int_equal(tamis_clone(&copy, w->f, NULL), TAMIS_OK);
    replace(w, copy);
}

static void op_image(world *w)
{
    image_bytes image = image_of(w->f);
    tamis *copy = NULL, *view = NULL, *own = w->f;

    assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
    w->f = view;
    check_all(w);
    w->f = own;
    assert_true(is_whole(view) && is_image_of(&image, view));
    tamis_free(view);
    assert_int_equal(tamis_image_read(&copy, image.at, image.size, NULL), TAMIS_OK);
    replace(w, copy);
    free_bytes(&image);
}

static void op_file(world *w)
{
    tamis *copy = NULL, *map = NULL, *own = w->f;

    assert_int_equal(tamis_save(w->f, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_map(&map, temp_path(), 0, NULL), TAMIS_OK);
    w->f = map;
    check_all(w);
    w->f = own;
    assert_true(is_whole(map) && same_image(map, own));
    tamis_free(map);
    assert_int_equal(tamis_load(&copy, temp_path(), NULL), TAMIS_OK);
    assert_int_equal(unlink(temp_path()), 0);
    replace(w, copy);
}

static void op_fold(world *w)
{
    for (uint64_t by = 1; by <= 12; by++) {
        tamis *small = NULL;

        if (w->plan.slots % by)
            continue;
        assert_int_equal(tamis_fold(&small, w->f, by, NULL), TAMIS_OK);
        for (size_t i = 0; i < w->universe; i++)
            if (w->copies[i])
                assert_true(tamis_has(small, w->keys[i]));
        assert_true(is_whole(small));
        tamis_free(small);
    }
}

typedef struct roll {
    const world *w;
    uint64_t n, sum, last;
} roll;

static bool call(void *ctx, uint64_t key, uint64_t count)
{
    roll *r = ctx;
    const uint64_t *at = find(r->w, key);

    r->n++;
    assert_non_null(at);
    assert_true(count >= r->w->copies[at - r->w->keys]);
    return true;
}

/* Fingerprints have no names but their order. */
static bool call_print(void *ctx, uint64_t print, uint64_t count)
{
    roll *r = ctx;

    assert_true(r->n == 0 || print > r->last);
    assert_true(count > 0);
    r->last = print;
    r->sum += count;
    r->n++;
    return true;
}

static void op_list(world *w)
{
    roll r = { .w = w };
    uint64_t distinct = 0;

    assert_int_equal(tamis_list(w->f, w->prints ? call_print : call, &r), TAMIS_OK);
    if (w->can & TAMIS_IS_EXACT)
        assert_int_equal(r.n, w->distinct);
    if (!w->prints)
        return;
    for (size_t i = 0; i < w->universe; i++)
        distinct += w->held[i] > 0;
    assert_int_equal(r.n, distinct);
    assert_true(w->is_diluted ? r.sum >= w->total : r.sum == w->total);
}

/* Back and forth, as far as there are bits and room. */
static void op_resize(world *w)
{
    uint64_t c = w->plan.capacity;
    const uint64_t wanted[] = { 2 * c + 1, 2 * c, c / 2, c / 4, used_slots(w->f), c };
    uint64_t keys = wanted[rng_below(&w->r, 6)];
    uint64_t slots = w->plan.slots;
    image_bytes before = image_of(w->f);
    tamis_status status = tamis_resize(w->f, keys);

    if (status) {
        assert_true(status == TAMIS_RANGE || status == TAMIS_FULL);
        assert_true(status != TAMIS_FULL || keys < used_slots(w->f));
        assert_unchanged(&before, w);
    }
    free_bytes(&before);
    follow_plan(w);
    assert_true(status || w->plan.capacity >= keys);
    assert_true(keys > 2 * c + 1 || w->plan.slots <= 2 * slots);
}

/* What is held, in another order: exact kinds, and those that only set bits, forget how they got
 * where they are. */
static tamis *built_again(world *w)
{
    uint64_t *keys = array_of((size_t)w->total, sizeof *keys);
    size_t n = 0;

    for (size_t i = 0; i < w->universe; i++)
        for (uint32_t c = 0; c < w->copies[i]; c++)
            keys[n++] = w->keys[i];
    shuffle(&w->r, keys, n);
    tamis *again = filter_of(&w->plan, keys, n);
    free(keys);
    return again;
}

/* Some of the copies of each key, then the others. */
static tamis *counted_again(world *w)
{
    tamis *again = new_filter(&w->plan);
    size_t from = pick(w);

    for (size_t j = 0; j < 2 * w->universe; j++) {
        size_t i = (from + j) % w->universe;
        uint64_t first = w->copies[i] / 3, times = j < w->universe ? first : w->copies[i] - first;

        assert_int_equal(tamis_add_times(again, w->keys[i], times), TAMIS_OK);
    }
    return again;
}

static void op_again(world *w)
{
    if (is_crowded(w, 0, 0))
        return;
    bool by_count = w->can & TAMIS_CAN_COUNT && (w->total > 100000 || rng_below(&w->r, 2));
    tamis *again = by_count ? counted_again(w) : built_again(w);

    if (tells_keys_apart(w->plan.kind))
        assert_int_equal(tamis_forget_adaptations(w->f), TAMIS_OK);
    if (w->can & (TAMIS_IS_EXACT | TAMIS_CAN_READ_WHILE_ADD | TAMIS_CAN_RESIZE) && !w->is_diluted)
        assert_true(same_image(w->f, again));
    tamis_free(again);
}

/* Also how kinds that cannot add change at all. */
static void op_build(world *w)
{
    uint32_t *chosen = array_of(w->universe, sizeof *chosen);

    forget_all(w);
    tamis_free(w->f);
    w->f = some_filter(w, chosen, smaller(w->plan.capacity, w->universe));
    for (size_t i = 0; i < w->universe; i++)
        if (chosen[i])
            learn(w, i);
    w->left = w->plan.capacity - (w->total < w->plan.capacity ? w->total : w->plan.capacity);
    w->is_diluted = false;
    free(chosen);
}

/* ---- Sequences --------------------------------------------------------- */

typedef struct operation {
    const char *name;
    void (*run)(world *w);
    unsigned weight; /* of 10000 */
    unsigned can;
    bool is_large; /* works on the whole filter */
} operation;

static const operation OPERATIONS[] = {
    { "add", op_add, 4500, TAMIS_CAN_ADD, false },
    { "query", op_query, 2000, 0, false },
    { "query a stranger", op_stranger, 1000, 0, false },
    { "remove", op_remove, 1500, TAMIS_CAN_REMOVE, false },
    { "add_times", op_add_times, 300, TAMIS_CAN_ADD | TAMIS_CAN_COUNT, false },
    { "remove_times", op_remove_times, 900, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT, false },
    { "adapt", op_adapt, 1000, TAMIS_CAN_ADAPT, false },
    { "out of range", op_out_of_range, 100, TAMIS_IS_INDEXED | TAMIS_CAN_ADD, false },
    { "has_many", op_has_many, 200, 0, false },
    { "add_many", op_add_many, 50, TAMIS_CAN_ADD, false },
    { "add_concurrent", op_add_concurrent, 50, TAMIS_CAN_ADD_CONCURRENT, false },
    { "remove_many", op_remove_many, 50, TAMIS_CAN_REMOVE, false },
    { "count_many", op_count_many, 50, TAMIS_CAN_COUNT, false },
    { "merge", op_merge, 60, TAMIS_CAN_MERGE, true },
    { "merge_many", op_merge_many, 30, TAMIS_CAN_RESIZE, true },
    { "dot", op_dot, 30, TAMIS_CAN_RESIZE, true },
    { "resize", op_resize, 60, TAMIS_CAN_RESIZE, true },
    { "intersect", op_intersect, 20, TAMIS_CAN_INTERSECT, true },
    { "subtract", op_subtract, 20, TAMIS_CAN_INTERSECT | TAMIS_CAN_REMOVE, true },
    { "clone", op_clone, 60, 0, true },
    { "image", op_image, 60, 0, true },
    { "file", op_file, 1, 0, true },
    { "fold", op_fold, 10, TAMIS_CAN_FOLD, true },
    { "list", op_list, 60, TAMIS_CAN_LIST, true },
    { "build again", op_again, 60, TAMIS_CAN_BUILD, true },
    { "build", op_build, 20, TAMIS_CAN_BUILD, true },
};

enum { N_OPERATIONS = sizeof OPERATIONS / sizeof *OPERATIONS };

/* Whole filters are worked on the less often the larger they are, and the rarer looks are. */
static const operation *pick_operation(world *w)
{
    uint64_t rarely = w->universe >= 2000 ? 64 : w->rarity <= 1 ? 1 : 16;

    for (;;) {
        const operation *o = &OPERATIONS[rng_below(&w->r, N_OPERATIONS)];

        if ((w->can & o->can) != o->can || rng_below(&w->r, 4500) >= o->weight)
            continue;
        if (!o->is_large || rarely == 1 || rng_below(&w->r, rarely) == 0)
            return o;
    }
}

/* Fingerprints are numbered by their order. */
static void number_prints(world *w)
{
    uint64_t *sorted = array_of(w->universe, sizeof *sorted);

    for (size_t i = 0; i < w->universe; i++)
        sorted[i] = print_of(&w->plan, w->keys[i]);
    qsort(sorted, w->universe, sizeof *sorted, by_value);
    w->prints = array_of(w->universe, sizeof *w->prints);
    w->held = array_of(w->universe, sizeof *w->held);
    for (size_t i = 0; i < w->universe; i++) {
        uint64_t print = print_of(&w->plan, w->keys[i]);
        const uint64_t *at = bsearch(&print, sorted, w->universe, sizeof print, by_value);

        while (at > sorted && at[-1] == print)
            at--;
        w->prints[i] = (uint32_t)(at - sorted);
    }
    free(sorted);
}

static world world_of(const tamis_plan *plan, size_t universe)
{
    world w = { .plan = *plan,
                .can = tamis_kind_can(plan->kind),
                .universe = universe,
                .rarity = plan->bytes <= 8192 ? 1 : plan->bytes / 256,
                .r = rng_for(200 + (uint64_t)plan->kind, plan->hasher.seed) };

    w.is_set = (w.can & TAMIS_IS_EXACT) && !(w.can & TAMIS_CAN_COUNT);
    w.keys = universe_of(&w.plan, &w.r, &w.universe);
    qsort(w.keys, w.universe, sizeof *w.keys, by_value);
    w.copies = array_of(w.universe, sizeof *w.copies);
    w.f = new_filter(&w.plan);
    w.ceiling = w.plan.ceiling;
    w.left = w.plan.capacity;
    w.grows = grows(&w.plan);
    if (w.can & TAMIS_CAN_RESIZE)
        number_prints(&w);
    return w;
}

static void end(world *w)
{
    check_all(w);
    assert_true(is_whole(w->f));
    tamis_free(w->f);
    free(w->keys);
    free(w->copies);
    free(w->prints);
    free(w->held);
}

static void take_step(world *w, uint64_t step)
{
    const operation *o = pick_operation(w);

    snprintf(law_at, sizeof law_at, "capacity %llu, fpr %g, width %u, step %llu: %s",
             (unsigned long long)w->plan.capacity, w->plan.fpr, w->plan.width,
             (unsigned long long)step, o->name);
    o->run(w);
    if (is_worth_a_look(w))
        assert_true(is_whole(w->f));
    if (step % 64 == 0 && is_worth_a_look(w))
        check_all(w);
}

static void run(tamis_kind kind, uint64_t capacity, double fpr, uint64_t steps)
{
    const tamis_plan plan = plan_for(kind, capacity, fpr, rng_for(200, capacity).state);
    world w = world_of(&plan, (size_t)(capacity + capacity / 4 + 8));

    for (uint64_t step = 0; step < steps && w.universe; step++)
        take_step(&w, step);
    end(&w);
}

static void behaves_as_a_set_at_small_capacities(tamis_kind kind)
{
    const double fprs[] = { 0.01, 0.5, 0.1, 0.001, 0.0001 };

    const uint64_t step = run_size(11, 31, 1), steps = run_size(2, 1, 8);

    /* All around the first word, and then at some distance. */
    for (uint64_t n = 0; n <= 300; n += n < 70 && !is_slow(kind) ? (is_sanitized() ? 3 : 1) : step)
        run(kind, n, fprs[n % 5], 50 * steps + steps * n);
}

static void behaves_as_a_set_at_large_capacities(tamis_kind kind)
{
    const uint64_t keys = is_slow(kind) ? 5000 : run_size(10000, 5000, 100000),
                   rarity = is_slow(kind) ? 50 : 1;

    run(kind, 1000, 0.01, run_size(10000, 3000, 400000) / rarity);
    run(kind, keys, 0.01, run_size(20000, 4000, 1000000) / rarity);
}

/* ---- Multisets of fingerprints ----------------------------------------- */

static const double LOADS[] = { 0.5, 0.75, 0.9, 0.95 };

enum { N_LOADS = sizeof LOADS / sizeof *LOADS, LEAST_WIDTH = 2, MOST_WIDTH = 32 };

/* Kinds that tell keys apart need a bit of each slot for that. */
static unsigned most_width(tamis_kind kind)
{
    return MOST_WIDTH - tells_keys_apart(kind);
}

/* A plan with fingerprints of that many bits beyond the slot, at that load. */
static bool plan_multiset(tamis_plan *plan, tamis_kind kind, unsigned width, double load,
                          unsigned can)
{
    tamis_spec spec = spec_for(100 + 61 * width, fmin(0.5, load * ldexp(1.001, -(int)width)),
                               width + (uint64_t)(load * 1e6));

    spec.load = load;
    spec.can = can;
    return tamis_plan_kind(plan, kind, &spec) == TAMIS_OK;
}

/* Smaller universes have more copies of a key. */
static void run_multiset(const tamis_plan *plan, uint64_t steps, bool grows)
{
    uint64_t room = plan->capacity * (grows ? 16 : 1);
    world w = world_of(plan, (size_t)(room * (1 + plan->width % 3) / 2 + 8));

    w.rarity = 400;
    assert_int_equal(w.grows, grows);
    for (uint64_t step = 0; step < steps; step++)
        take_step(&w, step);
    end(&w);
}

/* Half a million operations in all; twenty million in the long run. */
static void behaves_as_a_multiset(tamis_kind kind)
{
    const uint64_t worlds = (MOST_WIDTH - LEAST_WIDTH + 1) * N_LOADS;
    const uint64_t steps = run_size(500000, 100000, 20000000) / worlds + 1;

    for (unsigned width = LEAST_WIDTH; width <= most_width(kind); width++)
        for (int l = 0; l < N_LOADS; l++) {
            tamis_plan plan;

            assert_true(plan_multiset(&plan, kind, width, LOADS[l], 0));
            assert_int_equal(plan.width, width);
            run_multiset(&plan, steps, false);
        }
}

static void behaves_as_a_multiset_that_grows(tamis_kind kind)
{
    for (unsigned width = 10; width <= most_width(kind); width++) {
        tamis_plan plan;

        assert_true(plan_multiset(&plan, kind, width, LOADS[width % N_LOADS], TAMIS_CAN_GROW));
        run_multiset(&plan, run_size(8000, 1000, 100000), true);
    }
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "behaves as a set, small", behaves_as_a_set_at_small_capacities, .can = TAMIS_CAN_BUILD },
        { "behaves as a set, large", behaves_as_a_set_at_large_capacities, .can = TAMIS_CAN_BUILD },
        { "behaves as a multiset", behaves_as_a_multiset, .can = TAMIS_CAN_RESIZE },
        { "behaves as a multiset that grows", behaves_as_a_multiset_that_grows,
          .can = TAMIS_CAN_RESIZE | TAMIS_CAN_GROW },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
