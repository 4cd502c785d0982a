/* stack.c - no call of tamis.h takes more than 16 KiB of stack, whatever the kind: it must run in
 * small threads and in WebAssembly. Nor does any of the other headers: stack_beside.c. */
#include "base/cpu.h"
#include "depth.h"
#include "kinds.h"

/* ---- What calls are made with ------------------------------------------ */

typedef struct {
    tamis_kind kind;
    tamis_plan plan, growing; /* growing: kinds that can, else as plan */
    tamis *f, *g;             /* half full, of the same plan */
    tamis *view;
    uint64_t *keys, *values, *others; /* N each */
    uint64_t *hits;                   /* room for N answers */
    uint8_t *image;
    size_t image_size;
    unsigned cpu;
} bench;

enum { N = 6000 };

/* ---- Calls ------------------------------------------------------------- */

/* Some refuse in some kinds: that is a call, too. */

static void do_plan_kind(void *ctx)
{
    bench *b = ctx;
    tamis_spec spec = spec_for_any(b->kind, N, 0.01, 3);
    tamis_plan plan;

    (void)!tamis_plan_kind(&plan, b->kind, &spec);
    spec.keys = 0;
    spec.max_bytes = 100000;
    (void)!tamis_plan_kind(&plan, b->kind, &spec);
    spec.keys = N;
    spec.fpr = 0;
    (void)!tamis_plan_kind(&plan, b->kind, &spec);
    tamis_plan_rate(&b->plan, N / 2);
    tamis_plan_can(&b->plan);
}

static void do_plan_all(void *ctx)
{
    bench *b = ctx;
    const tamis_spec spec = spec_for_any(b->kind, N, 0.01, 3);
    tamis_plan plans[8];

    tamis_plan_all(plans, 8, &spec);
}

static void do_new(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    if (tamis_new(&f, &b->plan, NULL) == TAMIS_OK)
        tamis_free(f);
}

static tamis_status half_full(tamis **f, const bench *b)
{
    bool is_map = tamis_kind_can(b->kind) & TAMIS_CAN_GET;

    return build_any(f, &b->plan, b->keys, is_map ? b->values : b->others, N / 2, NULL);
}

static void do_build(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    if (half_full(&f, b) == TAMIS_OK)
        tamis_free(f);
}

static void do_clone(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    if (tamis_clone(&f, b->view, NULL) == TAMIS_OK)
        tamis_free(f);
}

static void do_fold(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    for (uint64_t by = 1; by <= 8; by++)
        if (tamis_fold(&f, b->f, by, NULL) == TAMIS_OK)
            tamis_free(f);
}

static void do_convert(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    for (tamis_kind to = first_kind(); to; to = tamis_kind_next(to))
        if (tamis_convert(&f, to, b->f, NULL) == TAMIS_OK)
            tamis_free(f);
}

static void do_key(void *ctx)
{
    bench *b = ctx;
    tamis_key(b->f, b->keys, 1100);
    tamis_key(b->f, b->keys, 100);
}

static void do_has(void *ctx)
{
    bench *b = ctx;
    uint64_t value;

    for (size_t i = 0; i < N; i++) {
        tamis_has(b->f, b->keys[i]);
        tamis_count(b->f, b->keys[i]);
        tamis_get(b->f, &value, b->keys[i]);
    }
}

static void do_has_many(void *ctx)
{
    bench *b = ctx;
    tamis_has_many(b->f, b->hits, b->keys, N);
    tamis_count_many(b->f, b->values, b->keys, N);
    tamis_get_many(b->f, b->values, b->hits, b->keys, N);
}

/* From a few keys, and to the end of the room if there is one. */
static void do_add(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    if (tamis_new(&f, &b->growing, NULL))
        return;
    tamis__use_cpu(f, b->cpu);
    for (size_t i = 0; i < N; i++)
        if (tamis_add(f, b->keys[i]) == TAMIS_OK && i % 64 == 0)
            (void)!tamis_add_times(f, b->keys[i], 5);
    for (size_t i = 0; i < N; i++)
        if (tamis_remove(f, b->keys[i]) == TAMIS_OK && i % 64 == 0)
            (void)!tamis_remove_times(f, b->keys[i], 5);
    tamis_free(f);
}

static void do_add_many(void *ctx)
{
    bench *b = ctx;
    size_t n;
    tamis *f;

    if (tamis_new(&f, &b->growing, NULL))
        return;
    tamis__use_cpu(f, b->cpu);
    (void)!tamis_add_many(f, &n, b->keys, 10);
    (void)!tamis_add_many(f, &n, b->keys + 10, N - 10);
    (void)!tamis_remove_many(f, &n, b->keys, N);
    (void)!tamis_add_many(f, &n, b->keys, N);
    tamis_free(f);
}

static void do_add_concurrent(void *ctx)
{
    bench *b = ctx;
    size_t n;
    tamis *f;

    if (tamis_new(&f, &b->plan, NULL))
        return;
    tamis__use_cpu(f, b->cpu);
    (void)!tamis_add_concurrent(f, &n, b->keys, N);
    tamis_free(f);
}

static void do_rotate(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    if (tamis_clone(&f, b->f, NULL))
        return;
    tamis__use_cpu(f, b->cpu);
    (void)!tamis_rotate(f);
    tamis_free(f);
}

static void do_merge(void *ctx)
{
    bench *b = ctx;
    const tamis *const both[] = { b->f, b->g };
    uint64_t product;
    tamis *f;

    (void)!tamis_dot(b->f, &product, b->g);
    if (tamis_merge_many(&f, both, 2, NULL) == TAMIS_OK)
        tamis_free(f);
    if (tamis_clone(&f, b->f, NULL))
        return;
    tamis__use_cpu(f, b->cpu);
    (void)!tamis_combine(f, TAMIS_MERGE, b->g);
    (void)!tamis_combine(f, TAMIS_INTERSECT, b->g);
    tamis_free(f);
}

static void do_resize(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    if (tamis_clone(&f, b->f, NULL))
        return;
    tamis__use_cpu(f, b->cpu);
    (void)!tamis_resize(f, 4 * N);
    (void)!tamis_resize(f, N);
    tamis_free(f);
}

static bool visit(void *ctx, uint64_t key, uint64_t count)
{
    *(uint64_t *)ctx += key + count;
    return true;
}

static void do_list(void *ctx)
{
    bench *b = ctx;
    uint64_t sum = 0;

    (void)!tamis_list(b->f, visit, &sum);
}

static void do_get_info(void *ctx)
{
    bench *b = ctx;
    info_of(b->f);
    info_of(b->view);
    (void)!tamis_verify(b->f, NULL, NULL);
    (void)!tamis_verify(b->view, NULL, NULL);
}

static void do_image_write(void *ctx)
{
    bench *b = ctx;
    (void)!tamis_image_write(b->f, b->image, tamis_image_size(b->f));
    (void)!tamis_image_write(b->view, b->image, tamis_image_size(b->view));
}

static void do_image_read(void *ctx)
{
    bench *b = ctx;
    tamis *f;

    if (tamis_image_read(&f, b->image, b->image_size, NULL) == TAMIS_OK)
        tamis_free(f);
    if (tamis_image_view(&f, b->image, b->image_size, NULL) == TAMIS_OK)
        tamis_free(f);
}

static void do_send(void *ctx)
{
    bench *b = ctx;
    tape t = { b->image, 0 };

    (void)!tamis_image_send(b->f, record, &t);
}

static void do_receive(void *ctx)
{
    bench *b = ctx;
    tape t = { b->image, 0 };
    tamis *f;

    if (tamis_image_receive(&f, play, &t, b->image_size, NULL) == TAMIS_OK)
        tamis_free(f);
}

static const depth_row ROWS[] = {
    { "plan", do_plan_kind },
    { "plan_all", do_plan_all },
    { "new", do_new },
    { "build", do_build },
    { "clone", do_clone },
    { "fold", do_fold },
    { "convert", do_convert },
    { "key", do_key },
    { "has", do_has },
    { "has_many", do_has_many },
    { "add", do_add },
    { "add_many", do_add_many },
    { "add_concurrent", do_add_concurrent },
    { "rotate", do_rotate },
    { "merge", do_merge },
    { "resize", do_resize },
    { "list", do_list },
    { "get_info", do_get_info },
    { "image_write", do_image_write },
    { "image_read", do_image_read },
    { "image_send", do_send },
    { "image_receive", do_receive },
};

/* ---- Every kind -------------------------------------------------------- */

static tamis_plan plan_that_grows(tamis_kind kind, const tamis_plan *otherwise)
{
    tamis_spec spec = spec_for_any(kind, N, 0.01, 3);
    tamis_plan plan;

    spec.keys = 16;
    spec.can = TAMIS_CAN_GROW;
    return tamis_plan_kind(&plan, kind, &spec) == TAMIS_OK ? plan : *otherwise;
}

static bench bench_of(tamis_kind kind)
{
    bench b = { .kind = kind, .plan = plan_of_spec(kind, spec_for_any(kind, N, 0.01, 3)) };
    rng r = rng_for(77, (uint64_t)kind);
    size_t n = N;

    b.growing = plan_that_grows(kind, &b.plan);
    b.keys = universe_of(&b.plan, &r, &n);
    b.others = fresh_keys(&r, N);
    b.values = array_of(N, sizeof *b.values);
    b.hits = array_of(N, sizeof *b.hits);
    assert_int_equal(half_full(&b.f, &b), TAMIS_OK);
    assert_int_equal(half_full(&b.g, &b), TAMIS_OK);
    image_bytes image = image_of(b.f);
    b.image = image.at;
    b.image_size = image.size;
    assert_int_equal(tamis_image_view(&b.view, b.image, b.image_size, NULL), TAMIS_OK);
    return b;
}

static void end(bench *b)
{
    tamis_free(b->f);
    tamis_free(b->g);
    tamis_free(b->view);
    free(b->keys);
    free(b->others);
    free(b->values);
    free(b->hits);
    free(b->image);
}

static void calls_take_little_stack(tamis_kind kind)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    bench b = bench_of(kind);
    size_t deep = 0;

    for (int c = 0; c < 3; c++) {
        b.cpu = cpus[c];
        tamis__use_cpu(b.f, cpus[c]);
        tamis__use_cpu(b.g, cpus[c]);
        tamis__use_cpu(b.view, cpus[c]);
        snprintf(law_at, sizeof law_at, "%s, cpu %u", tamis_kind_name(kind), cpus[c]);
        deep += count_deep(law_at, ROWS, sizeof ROWS / sizeof *ROWS, &b);
    }
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
