/* make.c - the engine's lists and parts, where no filter is large enough to go: a bucket of several
 * parts, lists that are read in pieces, room that runs out. */
#include "core/make.h"

#include "base/parts.h"
#include "base/sort.h"
#include "kinds.h"

enum { N = 5000, LIST_BITS = 3, CHUNK = 100 };

typedef struct ground {
    tamis *f;
    uint64_t *keys, *items, starts[(1 << LIST_BITS) + 1];
    make_list lists[3]; /* keys; items in memory; items that are read in pieces */
    size_t reads, fail_at;
} ground;

static const uint64_t *read_piece(const make_list *l, make_cursor *c, uint64_t *buffer, size_t *n)
{
    ground *g = (ground *)(uintptr_t)l->ctx;
    size_t at = (size_t)(l->starts[c->next] - c->left);

    *n = c->left < CHUNK ? (size_t)c->left : CHUNK;
    memcpy(buffer, g->items + at, *n * sizeof *buffer);
    return g->reads++ == g->fail_at ? NULL : buffer;
}

/* Each of N / copies keys, that often. */
static ground *ground_of(size_t copies)
{
    static const uint64_t ONE[] = { 0, N };
    tamis_kind kind = TAMIS_NO_KIND;
    rng r = rng_for(1800, copies);
    ground *g = array_of(1, sizeof *g);
    size_t starts[1 << LIST_BITS];

    while ((kind = tamis_kind_next(kind)) && !tamis__ops(kind)->solve)
        ;
    const tamis_plan plan = plan_for(kind, N, 0.01, 3);
    g->f = new_filter(&plan);
    g->keys = array_of(N, 8);
    g->items = array_of(N, 8);
    for (size_t i = 0; i < N; i++)
        g->keys[i] = i % copies ? g->keys[i - 1] : rng_next(&r);
    tamis__make_items(g->items, g->f, g->keys, NULL, N);
    tamis__sort_group(g->items, N, 1, 0, LIST_BITS, starts);
    for (size_t i = 0; i < 1 << LIST_BITS; i++)
        g->starts[i] = starts[i];
    g->starts[1 << LIST_BITS] = N;
    g->fail_at = SIZE_MAX;
    g->lists[0] = (make_list){ .words = 1, .n = N, .starts = ONE, .keys = g->keys, .ctx = g->f };
    g->lists[1] = (make_list){
        .words = 1, .bits = LIST_BITS, .n = N, .starts = g->starts, .items = g->items
    };
    g->lists[2] = (make_list){ .words = 1,
                               .bits = LIST_BITS,
                               .n = N,
                               .starts = g->starts,
                               .read = read_piece,
                               .chunk = CHUNK,
                               .ctx = g };
    return g;
}

static void drop(ground *g)
{
    tamis_free(g->f);
    free(g->keys);
    free(g->items);
    free(g);
}

typedef struct wish {
    const ground *g;
    unsigned bits;
    size_t room;
    bool loads; /* groups them, too */
    uint64_t collected;
    tamis_status status;
} wish;

static make_sizes size(const make_work *w)
{
    return (make_sizes){ .room = ((const wish *)w->ctx)->room };
}

/* All parts, one after the other: each has its items, and no other. */
static tamis_status collect_parts(const make_work *w, size_t unit, unsigned worker)
{
    wish *x = w->ctx;

    assert_int_equal(unit, 0);
    for (uint64_t i = 0; i < UINT64_C(1) << x->bits && !x->status; i++) {
        make_part p = tamis__make_part(w, worker, i, x->bits);
        x->status =
            x->loads ? tamis__make_load(&p, &w->m->keys) : tamis__make_collect(&p, &w->m->keys);
        uint64_t last = 0;
        for (size_t j = 0; j < p.n && !x->status; j++) {
            unsigned bits = x->bits + group_bits(p.n);
            assert_int_equal(part_of(p.items[j], x->bits), i);
            assert_true(!x->loads || part_of(p.items[j], bits) >= last);
            last = part_of(p.items[j], bits);
        }
        x->collected += p.n;
    }
    return x->status;
}

static void run(wish *x, const make_list *l)
{
    static const make_host NONE = { 0 };
    make m = { .f = x->g->f, .host = &NONE, .keys = *l };
    make_work w = { .m = &m,
                    .do_unit = collect_parts,
                    .size = size,
                    .units = 1,
                    .words = 1,
                    .has_groups = true,
                    .ctx = x };

    tamis_status status = tamis__make_run(&w);
    assert_int_equal(status, x->status);
}

static void parts_have_their_items(void **state)
{
    ground *g = ground_of(1);

    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (unsigned bits = 0; bits <= 8; bits++)
            for (int loads = 0; loads <= 1; loads++) {
                wish x = { .g = g, .bits = bits, .room = N, .loads = loads };
                run(&x, &g->lists[i]);
                assert_int_equal(x.status, TAMIS_OK);
                assert_int_equal(x.collected, N);
            }
    drop(g);
}

/* Of items that come ten times, a fifth of the room is enough, and a twentieth is not. */
static void repeated_items_take_no_room(void **state)
{
    ground *g = ground_of(10);

    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (unsigned bits = 0; bits <= 4; bits += 4) {
            wish x = { .g = g, .bits = bits, .room = N / 5 };
            run(&x, &g->lists[i]);
            assert_int_equal(x.status, TAMIS_OK);
            assert_true(x.collected >= N / 10 && x.collected <= N);
            x = (wish){ .g = g, .room = N / 20 };
            run(&x, &g->lists[i]);
            assert_int_equal(x.status, TAMIS_NOMEM);
        }
    drop(g);
}

static void a_read_that_fails_is_told(void **state)
{
    ground *g = ground_of(1);
    wish all = { .g = g, .room = N };

    (void)state;
    run(&all, &g->lists[2]);
    size_t reads = g->reads;
    assert_true(reads > N / CHUNK);
    for (g->fail_at = 0; g->fail_at < reads; g->fail_at++) {
        wish x = { .g = g, .room = N, .loads = g->fail_at % 2 };
        g->reads = 0;
        run(&x, &g->lists[2]);
        assert_int_equal(x.status, TAMIS_IO);
    }
    drop(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_their_items),
        cmocka_unit_test(repeated_items_take_no_room),
        cmocka_unit_test(a_read_that_fails_is_told),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
