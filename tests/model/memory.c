/* memory.c - every allocation fails once, for every call that makes a filter.
 *
 * The allocator counts its calls, fails the i-th (alone, or with all that follow) and keeps the
 * size of each block, so that a block lost, freed twice or given back with another size shows. */
#include "kinds.h"
#include "tamis_builder.h"

/* ---- The allocator ----------------------------------------------------- */

typedef struct meter {
    size_t calls, live, fail_at;
    bool forever;
} meter;

/* Blocks are aligned to 8 bytes and no more, as malloc() aligns them on small machines. */
typedef struct head {
    uint64_t size;
} head;

static void *metered_alloc(void *ctx, size_t size)
{
    meter *m = ctx;
    size_t call = m->calls++;

    assert_true(size > 0);
    if (call == m->fail_at || (m->forever && call > m->fail_at))
        return NULL;
    head *h = malloc(sizeof *h + size);
    assert_non_null(h);
    h->size = size;
    memset(h + 1, 0xa5, size);
    m->live++;
    return h + 1;
}

static void metered_free(void *ctx, void *block, size_t size)
{
    meter *m = ctx;

    assert_non_null(block);
    head *h = (head *)block - 1;
    assert_int_equal(h->size, size);
    assert_true(m->live > 0);
    m->live--;
    free(h);
}

/* ---- Calls that make filters ------------------------------------------- */

typedef struct fixture {
    tamis_plan plan;
    tamis *f;
    uint64_t *keys;
    size_t n;
    image_bytes image;
} fixture;

typedef tamis_status maker(tamis **out, const fixture *x, const tamis_allocator *a);

static tamis_status by_new(tamis **out, const fixture *x, const tamis_allocator *a)
{
    return tamis_new(out, &x->plan, a);
}

static tamis_status by_build(tamis **out, const fixture *x, const tamis_allocator *a)
{
    return tamis_build(out, &x->plan, x->keys, x->n, a);
}

/* Half of the keys twice. A failure to finish is tried again: nothing may be lost by it. */
static tamis_status by_builder(tamis **out, const fixture *x, const tamis_allocator *a)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 16 << 20, .alloc = a, .threads = 2);
    const tamis_spec spec = TAMIS_SPEC(.fpr = 0.01, .hasher = x->plan.hasher);
    tamis_builder *b = NULL;
    tamis *f = NULL;
    tamis_status status = tamis_builder_new(&b, x->plan.kind, &spec, &o);

    if (status)
        return status;
    status = tamis_builder_add_many(b, x->keys, x->n);
    if (!status)
        status = tamis_builder_add_many(b, x->keys, x->n / 2);
    if (!status) {
        status = tamis_builder_finish(&f, b);
        if (status == TAMIS_NOMEM && tamis_builder_finish(&f, b) == TAMIS_OK)
            tamis_free(f);
    }
    tamis_builder_free(b);
    if (!status)
        *out = f;
    return status;
}

/* To a file, and the largest set by one: its items take more than half of the memory. Sketches take
 * more room than their keys. */
static tamis_status by_saving_builder(tamis **out, const fixture *x, const tamis_allocator *a)
{
    const uint64_t memory = is_sketch(x->plan.kind) ? 0 : 4 << 20;
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = memory, .alloc = a);
    const tamis_spec spec = TAMIS_SPEC(.fpr = 0.01, .hasher = x->plan.hasher);
    tamis_builder *b = NULL;
    tamis_status status = tamis_builder_new(&b, x->plan.kind, &spec, &o);

    if (status)
        return status;
    for (int i = 0; i < 8 && !status; i++)
        status = tamis_builder_add_many(b, x->keys, x->n / 4);
    if (!status)
        status = tamis_builder_save(b, temp_path(), NULL);
    tamis_builder_free(b);
    return status ? status : tamis_load(out, temp_path(), a);
}

static tamis_status by_clone(tamis **out, const fixture *x, const tamis_allocator *a)
{
    return tamis_clone(out, x->f, a);
}

static tamis_status by_fold(tamis **out, const fixture *x, const tamis_allocator *a)
{
    return tamis_fold(out, x->f, 1, a);
}

static tamis_status by_read(tamis **out, const fixture *x, const tamis_allocator *a)
{
    return tamis_image_read(out, x->image.at, x->image.size, a);
}

static tamis_status by_view(tamis **out, const fixture *x, const tamis_allocator *a)
{
    return tamis_image_view(out, x->image.at, x->image.size, a);
}

static tamis_status by_load(tamis **out, const fixture *x, const tamis_allocator *a)
{
    (void)x;
    return tamis_load(out, temp_path(), a);
}

static tamis_status by_map(tamis **out, const fixture *x, const tamis_allocator *a)
{
    (void)x;
    return tamis_map(out, temp_path(), 0, a);
}

static tamis_status by_writable_map(tamis **out, const fixture *x, const tamis_allocator *a)
{
    (void)x;
    return tamis_map(out, temp_path(), TAMIS_MAP_WRITE, a);
}

static tamis_status by_merge_many(tamis **out, const fixture *x, const tamis_allocator *a)
{
    const tamis *const filters[] = { x->f, x->f, x->f };

    return tamis_merge_many(out, filters, 3, a);
}

/* ---- Failing each allocation ------------------------------------------- */

/* Whether there was an i-th allocation. A call that can do without it may succeed. */
static bool fails_cleanly(maker *make, const fixture *x, size_t i, bool forever)
{
    tamis *const untouched = x->f;
    tamis *out = untouched;
    meter m = { .fail_at = i, .forever = forever };
    tamis_allocator a = { metered_alloc, metered_free, &m };
    tamis_status status = make(&out, x, &a);

    if (status == TAMIS_OK) {
        assert_true(out != untouched && m.live > 0);
        assert_int_equal(tamis_verify(out, NULL, NULL), TAMIS_OK);
        tamis_free(out);
    } else {
        assert_int_equal(status, TAMIS_NOMEM);
        assert_ptr_equal(out, untouched);
        assert_true(m.calls > i);
    }
    assert_int_equal(m.live, 0);
    return m.calls > i;
}

/* The first of them, then ever fewer. */
static void fail_allocations(maker *make, const fixture *x)
{
    const size_t first = x->n < 2000 ? 16 : run_size(4, 1, 16);

    for (int forever = 0; forever < 2; forever++) {
        size_t i = 0;

        while (fails_cleanly(make, x, i, forever)) {
            i += 1 + i / first;
            assert_true(i < 10000);
        }
        assert_true(i > 0);
    }
    assert_true(is_image_of(&x->image, x->f));
}

static fixture fixture_for(tamis_kind kind, uint64_t capacity)
{
    rng r = rng_for(300 + (uint64_t)kind, capacity);
    fixture x = { .n = (size_t)capacity };

    snprintf(law_at, sizeof law_at, "capacity %llu", (unsigned long long)capacity);
    x.plan = plan_for(kind, capacity, 0.01, rng_next(&r));
    x.keys = universe_of(&x.plan, &r, &x.n);
    x.f = filter_of(&x.plan, x.keys, x.n);
    x.image = image_of(x.f);
    assert_int_equal(tamis_save(x.f, temp_path()), TAMIS_OK);
    return x;
}

static void free_fixture(fixture *x)
{
    unlink(temp_path());
    free_bytes(&x->image);
    tamis_free(x->f);
    free(x->keys);
}

static void on_each_capacity(tamis_kind kind, maker *const *makers, size_t n)
{
    const uint64_t capacities[] = { 0, 1, 10, 1000, 140000 };

    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        fixture x = fixture_for(kind, capacities[c]);

        for (size_t i = 0; i < n; i++)
            fail_allocations(makers[i], &x);
        free_fixture(&x);
    }
}

static void failed_allocations_leave_no_trace(tamis_kind kind)
{
    maker *const makers[] = { by_new, by_build, by_clone, by_read, by_view, by_load, by_map };

    on_each_capacity(kind, makers, sizeof makers / sizeof *makers);
}

static void builders_fail_cleanly(tamis_kind kind)
{
    maker *const makers[] = { by_builder, by_saving_builder };

    on_each_capacity(kind, makers, 2);
}

static void folding_fails_cleanly(tamis_kind kind)
{
    maker *const makers[] = { by_fold };

    on_each_capacity(kind, makers, 1);
}

static void writable_maps_fail_cleanly(tamis_kind kind)
{
    maker *const makers[] = { by_writable_map };

    on_each_capacity(kind, makers, 1);
}

static void unions_of_many_fail_cleanly(tamis_kind kind)
{
    maker *const makers[] = { by_merge_many };

    on_each_capacity(kind, makers, 1);
}

/* ---- Calls that replace a filter by another ---------------------------- */

typedef tamis_status changer(tamis *f, const fixture *x);

static tamis_status to_another_size(tamis *f, const fixture *x)
{
    return tamis_resize(f, 2 * x->plan.capacity + 1);
}

static tamis_status to_a_union(tamis *f, const fixture *x)
{
    return tamis_combine(f, TAMIS_MERGE, x->f);
}

/* It is full: more room than there is to grow into is asked for. */
static tamis_status to_more_copies(tamis *f, const fixture *x)
{
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < x->n && !status; i++)
        status = tamis_add(f, x->keys[i]);
    return status;
}

/* What was changed before the failure is part of the filter: it is looked at again and again. */
static bool change_fails_cleanly(changer *change, const fixture *x, size_t i, bool forever)
{
    meter m = { .fail_at = SIZE_MAX };
    tamis_allocator a = { metered_alloc, metered_free, &m };
    tamis *f = NULL;

    assert_int_equal(tamis_clone(&f, x->f, &a), TAMIS_OK);
    m = (meter){ .live = m.live, .fail_at = i, .forever = forever };
    tamis_status status = change(f, x);
    if (status == TAMIS_OK) {
        assert_true(m.calls <= i);
    } else {
        assert_int_equal(status, TAMIS_NOMEM);
        assert_true(change == to_more_copies || is_image_of(&x->image, f));
    }
    m.fail_at = SIZE_MAX;
    m.forever = false;
    assert_true(is_whole(f) && m.live == 2);
    for (size_t k = 0; k < x->n; k++)
        assert_true(tamis_has(f, x->keys[k]));
    tamis_free(f);
    assert_int_equal(m.live, 0);
    return status != TAMIS_OK;
}

static fixture growing_fixture(tamis_kind kind, uint64_t capacity)
{
    rng r = rng_for(350 + (uint64_t)kind, capacity);
    tamis_spec spec = spec_for(capacity, 0.0001, rng_next(&r));
    fixture x = { .n = (size_t)capacity };

    snprintf(law_at, sizeof law_at, "capacity %llu", (unsigned long long)capacity);
    spec.can = TAMIS_CAN_GROW;
    assert_int_equal(tamis_plan_kind(&x.plan, kind, &spec), TAMIS_OK);
    x.keys = universe_of(&x.plan, &r, &x.n);
    x.f = filter_of(&x.plan, x.keys, x.n);
    x.image = image_of(x.f);
    return x;
}

static void changes_of_size_fail_cleanly(tamis_kind kind)
{
    changer *const changes[] = { to_another_size, to_a_union, to_more_copies };
    const uint64_t capacities[] = { 1, 10, 1000, 20000 };

    for (int c = 0; c < 4; c++) {
        fixture x = growing_fixture(kind, capacities[c]);

        for (int k = 0; k < 3; k++)
            for (int forever = 0; forever < 2; forever++) {
                size_t i = 0;

                while (change_fails_cleanly(changes[k], &x, i, forever))
                    assert_true(++i < 100);
                assert_true(i > 0 || (changes[k] == to_more_copies && x.n < 1000));
            }
        free_fixture(&x);
    }
}

/* ---- Allocations inside calls that change a filter --------------------- */

/* Most kinds allocate nothing here; one that grows may be refused memory at any moment. */
static void add_refused(tamis *f, meter *m, uint64_t key)
{
    image_bytes before = image_of(f);

    m->fail_at = m->calls;
    tamis_status status = tamis_add(f, key);
    m->fail_at = SIZE_MAX;
    if (status == TAMIS_NOMEM) {
        assert_true(is_image_of(&before, f));
        status = tamis_add(f, key);
    }
    assert_int_equal(status, TAMIS_OK);
    free_bytes(&before);
}

static void adds_without_memory_change_nothing(tamis_kind kind)
{
    const tamis_plan plan = plan_for(kind, 300, 0.01, 1);
    rng r = rng_for(300 + (uint64_t)kind, 1);
    size_t n = 300;
    uint64_t *keys = universe_of(&plan, &r, &n);
    meter m = { .fail_at = SIZE_MAX, .forever = true };
    tamis_allocator a = { metered_alloc, metered_free, &m };
    tamis *f = NULL;

    assert_int_equal(tamis_new(&f, &plan, &a), TAMIS_OK);
    for (size_t i = 0; i < n; i++)
        add_refused(f, &m, keys[i]);
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, keys[i]));
    tamis_free(f);
    assert_int_equal(m.live, 0);
    free(keys);
}

/* Whichever of its allocations fails, the larger filter does not come, and the key neither. */
static void growing_without_memory_changes_nothing(tamis_kind kind)
{
    enum { KEYS = 600 };
    fixture x = growing_fixture(kind, 16);
    rng r = rng_for(370 + (uint64_t)kind, 0);
    uint64_t *keys = fresh_keys(&r, KEYS);
    meter m = { .fail_at = SIZE_MAX, .forever = true };
    tamis_allocator a = { metered_alloc, metered_free, &m };
    tamis *f = NULL;
    size_t refused = 0;

    assert_int_equal(tamis_new(&f, &x.plan, &a), TAMIS_OK);
    for (size_t i = 0; i < KEYS; i++) {
        image_bytes before = image_of(f);
        m.fail_at = m.calls + rng_below(&r, 3);
        tamis_status status = tamis_add(f, keys[i]);
        m.fail_at = SIZE_MAX;
        assert_true(status == TAMIS_OK || (status == TAMIS_NOMEM && is_image_of(&before, f)));
        assert_true(status == TAMIS_OK || tamis_add(f, keys[i]) == TAMIS_OK);
        refused += status != TAMIS_OK;
        assert_int_equal(m.live, 2);
        free_bytes(&before);
    }
    assert_true(refused > 0 && is_whole(f));
    /* Kinds that adapt have slots to spare for that. */
    assert_true(tells_keys_apart(kind) || tamis_plan_of(f)->capacity >= KEYS);
    for (size_t i = 0; i < KEYS; i++)
        assert_true(tamis_has(f, keys[i]));
    tamis_free(f);
    free(keys);
    free_fixture(&x);
}

/* The header promises two blocks, and that queries take none. */
static void a_filter_is_two_blocks(tamis_kind kind)
{
    const tamis_plan plan = plan_for(kind, 1000, 0.01, 1);
    meter m = { .fail_at = SIZE_MAX };
    tamis_allocator a = { metered_alloc, metered_free, &m };
    tamis *f = NULL;
    uint64_t hits[2], keys[100] = { 0 }, counts[100];

    assert_int_equal(tamis_new(&f, &plan, &a), TAMIS_OK);
    assert_int_equal(m.live, 2);
    assert_int_equal((uintptr_t)f->payload % 64, 0);
    size_t calls = m.calls;
    (void)tamis_has(f, 1);
    (void)tamis_count(f, 1);
    (void)tamis_has_many(f, hits, keys, 100);
    tamis_count_many(f, counts, keys, 100);
    (void)info_of(f);
    assert_int_equal(m.calls, calls);
    tamis_free(f);
    assert_int_equal(m.live, 0);
}

static void freeing_nothing_is_fine(tamis_kind kind)
{
    (void)kind;
    tamis_free(NULL);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "failed allocations leave no trace", failed_allocations_leave_no_trace,
          .can = TAMIS_CAN_BUILD },
        { "builders fail cleanly", builders_fail_cleanly, .can = TAMIS_CAN_BUILD,
          .of_files = true },
        { "folding fails cleanly", folding_fails_cleanly, .can = TAMIS_CAN_BUILD | TAMIS_CAN_FOLD },
        { "writable maps fail cleanly", writable_maps_fail_cleanly,
          .can = TAMIS_CAN_BUILD | TAMIS_CAN_READ_WHILE_ADD },
        { "unions of many fail cleanly", unions_of_many_fail_cleanly,
          .can = TAMIS_CAN_BUILD | TAMIS_CAN_RESIZE },
        { "changes of size fail cleanly", changes_of_size_fail_cleanly,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_RESIZE | TAMIS_CAN_GROW },
        { "adds without memory change nothing", adds_without_memory_change_nothing,
          .can = TAMIS_CAN_ADD },
        { "growing without memory changes nothing", growing_without_memory_changes_nothing,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_GROW },
        { "a filter is two blocks", a_filter_is_two_blocks, .can = 0 },
        { "freeing nothing is fine", freeing_nothing_is_fine, .can = 0 },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
