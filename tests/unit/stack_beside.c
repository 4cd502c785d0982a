/* stack_beside.c - no call of the headers beside tamis.h takes more than 16 KiB of stack: as
 * stack.c. What an argument of the caller takes is the caller's. */
#include "depth.h"
#include "kinds.h"
#include "tamis_advice.h"
#include "tamis_budget.h"
#include "tamis_builder.h"
#include "tamis_collection.h"
#include "tamis_disk.h"
#include "tamis_explain.h"
#include "tamis_pair.h"
#include "tamis_shared.h"
#include "tamis_sync.h"

/* ---- What calls are made with ------------------------------------------ */

typedef struct {
    tamis_kind kind;
    tamis_plan plan;
    tamis *f;
    uint64_t *keys, *values, *others; /* N each */
    const char *path;
} bench;

enum { N = 3000 };

static tamis_status half_full(tamis **f, const bench *b)
{
    bool is_map = tamis_kind_can(b->kind) & TAMIS_CAN_GET;

    return build_any(f, &b->plan, b->keys, is_map ? b->values : b->others, N / 2, NULL);
}

/* ---- Of a filter ------------------------------------------------------- */

/* Some refuse in some kinds: that is a call, too. */

static tamis_status find_none(void *ctx, bool *found, uint64_t key)
{
    (void)ctx, (void)key;
    *found = false;
    return TAMIS_OK;
}

static void do_adapt(void *ctx)
{
    bench *b = ctx;
    double keys, error;
    bool found;

    for (size_t i = 0; i < N; i++)
        (void)!tamis_lookup(b->f, &found, b->others[i], find_none, NULL);
    (void)!tamis_adapt(b->f, b->keys[0]);
    (void)!tamis_queried(b->f, &keys, &error);
    (void)tamis_group(b->f, b->keys[0]);
    (void)!tamis_forget_adaptations(b->f);
}

static bool visit_value(void *ctx, uint64_t key, uint64_t value)
{
    *(uint64_t *)ctx += key ^ value;
    return true;
}

static void do_put(void *ctx)
{
    bench *b = ctx;
    uint64_t sum = 0;
    size_t done;
    tamis *f;

    if (tamis_new(&f, &b->plan, NULL) == TAMIS_OK) {
        (void)!tamis_put(f, b->keys[0], 1);
        (void)!tamis_put_many(f, &done, b->keys, b->values, N);
        tamis_free(f);
    }
    (void)!tamis_list_values(b->f, visit_value, &sum);
}

static bool visit_cell(void *ctx, const tamis_cell *cell)
{
    *(uint64_t *)ctx += cell->value;
    return true;
}

static bool visit_step(void *ctx, const tamis_step *step)
{
    *(uint64_t *)ctx += step->value;
    return true;
}

static bool visit_peel(void *ctx, const tamis_peel *step)
{
    *(uint64_t *)ctx += step->key;
    return true;
}

static void do_explain(void *ctx)
{
    bench *b = ctx;
    uint64_t sum = 0;

    (void)!tamis_visit_cells(b->f, visit_cell, &sum);
    for (size_t i = 0; i < 100; i++)
        tamis_explain(b->f, b->keys[i], visit_step, &sum);
    (void)tamis_key_with_hash(b->f, 1);
    (void)!tamis_explain_peeling(b->f, b->keys, N / 2, visit_peel, &sum);
    (void)!tamis_explain_elimination(b->f, b->keys, N / 2, visit_peel, &sum);
}

static void do_file(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    (void)!tamis_set_note(b->f, "a note", 1);
    assert_int_equal(tamis_save(b->f, b->path), TAMIS_OK);
    assert_int_equal(tamis_load(&f, b->path, NULL), TAMIS_OK);
    tamis_free(f);
    if (tamis_map(&f, b->path, TAMIS_MAP_WRITE, NULL) == TAMIS_OK) {
        (void)!tamis_add(f, b->others[0]);
        (void)!tamis_sync(f);
        tamis_free(f);
    }
    assert_int_equal(tamis_map(&f, b->path, 0, NULL), TAMIS_OK);
    (void)!tamis_verify(f, NULL, NULL);
    tamis_free(f);
    unlink(b->path);
}

static void load_builder(const bench *b, tamis_builder *builder)
{
    if (tamis_kind_can(b->kind) & TAMIS_CAN_GET)
        (void)!tamis_builder_add_map(builder, b->keys, b->values, N);
    else
        (void)!tamis_builder_add_many(builder, b->keys, N);
    (void)!tamis_builder_add_excluded(builder, b->others, N);
}

static void do_builder(void *ctx)
{
    bench *b = ctx;
    tamis_build_options options = TAMIS_BUILD_OPTIONS(.memory = 0);
    tamis_builder *builder;
    tamis *f;

    for (int i = 0; i < 4; i++) {
        tamis_spec spec = spec_for_any(b->kind, N, 0.01, 3);
        spec.keys = i % 2 ? N : 0;
        options.memory = i / 2 ? 64 << 20 : 0;
        if (tamis_builder_new(&builder, b->kind, &spec, &options))
            continue;
        load_builder(b, builder);
        if (i % 2 == 0 && tamis_builder_finish(&f, builder) == TAMIS_OK)
            tamis_free(f);
        else if (tamis_builder_save(builder, b->path, NULL) == TAMIS_OK)
            unlink(b->path);
        tamis_builder_free(builder);
    }
    if (tamis_build_threads(&f, &b->plan, b->keys, N / 2, 2, NULL) == TAMIS_OK)
        tamis_free(f);
}

static void do_disk(void *ctx)
{
    bench *b = ctx;
    const tamis_disk_options options = TAMIS_DISK_OPTIONS(.memory = 1 << 20);
    uint64_t hits[N / 64 + 1];
    size_t added;
    tamis_disk *d;

    assert_int_equal(tamis_save(b->f, b->path), TAMIS_OK);
    if (tamis_disk_open(&d, b->path, &options) == TAMIS_OK) {
        (void)!tamis_disk_add_many(d, &added, b->others, N / 4);
        (void)!tamis_disk_remove_many(d, b->keys, N / 4);
        tamis_disk_has_many(d, hits, b->keys, N);
        tamis_disk_count_many(d, b->values, b->keys, N);
        (void)!tamis_disk_flush(d);
        tamis_disk_free(d);
    }
    unlink(b->path);
}

static void do_pair(void *ctx)
{
    bench *b = ctx;
    size_t n;
    tamis_pair *p;

    if (tamis_pair_new(&p, &b->plan, NULL, NULL))
        return;
    (void)!tamis_pair_add_many(p, &n, b->keys, N);
    (void)!tamis_pair_remove_many(p, &n, b->keys, N / 2);
    assert_int_equal(tamis_pair_save(p, b->path), TAMIS_OK);
    tamis_pair_free(p);
    assert_int_equal(tamis_pair_open(&p, b->path, NULL, NULL), TAMIS_OK);
    tamis_pair_free(p);
    unlink(b->path);
}

static void do_shared(void *ctx)
{
    bench *b = ctx;
    const tamis_spec spec = spec_for(100 * N, 0.01, 3);
    tamis_info info = { .size = sizeof info };
    uint64_t hits[N / 64 + 1];
    tamis_shared *s;
    size_t added;

    if (tamis_shared_new(&s, b->kind, &spec, 0, NULL))
        return;
    (void)!tamis_shared_add_many(s, &added, b->keys, N);
    (void)!tamis_shared_add(s, b->others[0]);
    (void)!tamis_shared_remove(s, b->keys[0]);
    tamis_shared_has_many(s, hits, b->keys, N);
    tamis_shared_count(s, b->keys[0]);
    tamis_shared_get_info(s, &info);
    assert_int_equal(tamis_shared_save(s, b->path), TAMIS_OK);
    tamis_shared_free(s);
    assert_int_equal(tamis_shared_load(&s, b->path, NULL), TAMIS_OK);
    tamis_shared_free(s);
    unlink(b->path);
}

static bool visit_name(void *ctx, const char *name, uint64_t offset, uint64_t size)
{
    *(uint64_t *)ctx += offset + size + !*name;
    return true;
}

static void edit(const bench *b, unsigned flags)
{
    tamis_editor *e;
    char name[20];

    assert_int_equal(tamis_editor_open(&e, b->path, flags, NULL), TAMIS_OK);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(tamis_editor_put(e, name, b->f), TAMIS_OK);
    }
    (void)!tamis_editor_remove(e, "7");
    assert_int_equal(tamis_editor_save(e), TAMIS_OK);
    tamis_editor_free(e);
}

static void do_collection(void *ctx)
{
    bench *b = ctx;
    tamis_collection_info info;
    uint64_t sum = 0;
    tamis_collection *c;
    tamis *f;

    edit(b, 0);
    edit(b, TAMIS_EDIT_COMPACT);
    assert_int_equal(tamis_collection_open(&c, b->path, NULL), TAMIS_OK);
    assert_int_equal(tamis_collection_get(c, &f, "8", NULL), TAMIS_OK);
    tamis_free(f);
    (void)!tamis_collection_get_info(c, &info);
    (void)!tamis_collection_list(c, visit_name, &sum);
    (void)!tamis_collection_verify(c, NULL, NULL);
    tamis_collection_free(c);
    unlink(b->path);
}

/* ---- Of no filter ------------------------------------------------------ */

static const uint8_t SECRET[16] = "sixteen letters";

static double tick(void *ctx)
{
    return *(double *)ctx += 1e-3;
}

static void do_advice(void *ctx)
{
    static tamis_advice advice[64];
    static tamis_machine machine = { .size = sizeof machine };
    const tamis_spec spec = spec_for(100000, 0, 1);
    double now = 0;

    (void)ctx;
    assert_int_equal(tamis_calibrate(&machine, tick, &now, NULL), TAMIS_OK);
    const tamis_use use = TAMIS_USE(.queries = 1e6, .store_cost = 1e-3, .machine = &machine);
    assert_true(tamis_advise(advice, 64, &spec, &use) > 1);
}

static void do_budget(void *ctx)
{
    static tamis_size sizes[2][TAMIS_SIZES_MAX];
    const tamis_spec spec = spec_for(1000, 0.01, 1);
    tamis_vessel vessels[3];
    tamis_claim claims[3];
    tamis_budget result;
    const bench *b = ctx;
    size_t n = tamis_budget_sizes(sizes[0], TAMIS_BLOCKED, &spec);
    size_t m = tamis_budget_shrunk(sizes[1], &b->plan, N);

    for (int i = 0; i < 3; i++) {
        vessels[i] = (tamis_vessel){ .weight = i + 1, .decay = 1e-3, .most = INFINITY };
        claims[i] =
            (tamis_claim){ .weight = i + 1, .sizes = sizes[0], .n = n, .kept = sizes[1], .m = m };
    }
    assert_int_equal(tamis_budget_pour(vessels, 3, 10000), TAMIS_OK);
    assert_int_equal(tamis_budget_choose(&result, claims, 3, 3000, NULL), TAMIS_OK);
}

static void do_difference(void *ctx)
{
    const bench *b = ctx;
    static tamis_symbol symbols[64];
    tamis_symbols *here, *there;
    tamis_difference *d;
    bool is_done = false;
    size_t n;

    assert_int_equal(tamis_symbols_new(&here, b->keys, N, SECRET, NULL), TAMIS_OK);
    assert_int_equal(tamis_symbols_new(&there, b->keys + 20, N - 20, SECRET, NULL), TAMIS_OK);
    assert_int_equal(tamis_difference_new(&d, here, NULL), TAMIS_OK);
    while (!is_done) {
        tamis_symbols_next(there, symbols, 64);
        assert_int_equal(tamis_difference_take(d, symbols, 64, &is_done), TAMIS_OK);
    }
    assert_non_null(tamis_difference_here(d, &n));
    assert_int_equal(n, 20);
    tamis_difference_free(d);
    tamis_symbols_free(there);
}

/* ---- All of them ------------------------------------------------------- */

static const depth_row OF_A_FILTER[] = {
    { "adapt", do_adapt }, { "put", do_put },         { "explain", do_explain },
    { "file", do_file },   { "builder", do_builder }, { "disk", do_disk },
    { "pair", do_pair },   { "shared", do_shared },   { "collection", do_collection },
};

static const depth_row OF_NONE[] = {
    { "advice", do_advice },
    { "budget", do_budget },
    { "difference", do_difference },
};

static bench bench_of(tamis_kind kind)
{
    bench b = { .kind = kind,
                .plan = plan_of_spec(kind, spec_for_any(kind, N, 0.01, 3)),
                .path = temp_path() };
    rng r = rng_for(78, (uint64_t)kind);
    size_t n = N;

    b.keys = universe_of(&b.plan, &r, &n);
    b.others = fresh_keys(&r, N);
    b.values = array_of(N, sizeof *b.values);
    assert_int_equal(half_full(&b.f, &b), TAMIS_OK);
    return b;
}

static void end(bench *b)
{
    tamis_free(b->f);
    free(b->keys);
    free(b->others);
    free(b->values);
}

static void calls_take_little_stack(tamis_kind kind)
{
    bench b = bench_of(kind);
    const char *name = tamis_kind_name(kind);
    size_t deep = count_deep(name, OF_A_FILTER, sizeof OF_A_FILTER / sizeof *OF_A_FILTER, &b);

    if (kind == TAMIS_BLOOM)
        deep += count_deep(name, OF_NONE, sizeof OF_NONE / sizeof *OF_NONE, &b);
    end(&b);
    assert_int_equal(deep, 0);
}

int main(int argc, char **argv)
{
    const law laws[] = { { "calls take little stack", calls_take_little_stack, .can = 0 } };

    if (!depth_begin())
        return 77;
    test_begin(argc, argv);
    int failed = check_laws_of_all(laws, 1);
    depth_end();
    return failed;
}
