/* batches.c - many keys at once, on every CPU level, give what one at a time gives: bit for bit in
 * answers, byte for byte in the filter unless the kind rearranges it. No kind is named. */
#include "base/cpu.h"
#include "model/ground.h"

/* ---- Batches ----------------------------------------------------------- */

enum { GUARD = 0x5a };

static void assert_many_is_has(const tamis *f, const uint64_t *keys, size_t n)
{
    size_t words = (n + 63) / 64, found = 0;
    uint64_t *hits = array_of(words + 1, sizeof *hits);

    memset(hits, GUARD, (words + 1) * sizeof *hits);
    size_t told = tamis_has_many(f, hits, keys, n);
    for (size_t i = 0; i < n; i++) {
        bool hit = hits[i / 64] >> i % 64 & 1;

        assert_int_equal(hit, tamis_has(f, keys[i]));
        found += hit;
    }
    if (n % 64)
        assert_int_equal(hits[words - 1] >> n % 64, 0);
    assert_int_equal(told, found);
    assert_int_equal(hits[words], UINT64_C(0x5a5a5a5a5a5a5a5a));
    free(hits);
}

/* Members, strangers that the kind could hold, and keys that it might not even take. */
static uint64_t *probes_of(ground *g, size_t n)
{
    uint64_t *probes = fresh_keys(&g->r, n);
    size_t pool = g->n + g->n_strangers;

    for (size_t i = 0; i < n && pool; i++)
        if (i % 8 < 7)
            probes[i] = g->keys[rng_below(&g->r, pool)];
    return probes;
}

/* Members for a while, then strangers, and again: some kinds go by what came before. */
static uint64_t *stretches_of(ground *g, size_t n)
{
    uint64_t *probes = fresh_keys(&g->r, n);

    for (size_t i = 0; i < n && g->n; i++)
        if (i / 900 % 2 == 0)
            probes[i] = g->keys[rng_below(&g->r, g->n)];
    return probes;
}

static void has_many_is_has(ground *g)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    uint64_t *probes = probes_of(g, 20000), *stretches = stretches_of(g, 5000);

    for (int c = 0; c < 3; c++) {
        tamis__use_cpu(f, cpus[c]);
        for (size_t n = 0; n <= 200; n += run_size(1, 3, 1))
            assert_many_is_has(f, probes + n, n);
        assert_many_is_has(f, probes, run_size(20000, 5000, 20000));
        assert_many_is_has(f, stretches, 5000);
    }
    free(stretches);
    free(probes);
    tamis_free(f);
}

static void assert_made_alike(const ground *g, const tamis *many, const tamis *one)
{
    if (!rearranges(g->plan.kind)) {
        assert_true(same_image(many, one));
        return;
    }
    assert_true(g->n < 1000 || !same_payload(many, one)); /* else it need not be named */
    assert_same_answers(many, one, g->keys, g->n + g->n_strangers);
    assert_int_equal(info_of(many).count, info_of(one).count);
    assert_true(is_whole(many));
}

static void add_many_is_add(ground *g)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    for (int c = 0; c < 3; c++) {
        tamis *many = new_filter(&g->plan), *one = new_filter(&g->plan);
        size_t step = 1;

        tamis__use_cpu(many, cpus[c]);
        for (size_t i = 0; i < g->n; i += step, step = 1 + step % 200) {
            size_t n = step < g->n - i ? step : g->n - i;

            add_all(many, g->keys + i, n);
        }
        for (size_t i = 0; i < g->n; i++)
            assert_int_equal(tamis_add(one, g->keys[i]), TAMIS_OK);
        assert_made_alike(g, many, one);
        tamis_free(many);
        tamis_free(one);
    }
}

/* Keys that do not fit come last or, where keys have a range, in the middle. */
static void add_many_stops_where_add_does(ground *g)
{
    tamis *many = new_filter(&g->plan), *one = new_filter(&g->plan);
    size_t n = g->n + g->n_strangers, added = 0, i = 0;
    tamis_status status = TAMIS_OK, last = TAMIS_OK;

    if (is_indexed(g->plan.kind) && n)
        g->keys[n / 2] = g->plan.capacity + n;
    status = tamis_add_many(many, &added, g->keys, n);
    while (i < n && !(last = tamis_add(one, g->keys[i])))
        i++;
    assert_int_equal(status, last);
    if (rearranges(g->plan.kind)) { /* one of the two may find a little more room */
        assert_true(added >= g->n);
        for (i = 0; i < added; i++)
            assert_true(tamis_has(many, g->keys[i]));
    } else {
        assert_int_equal(added, i);
        assert_true(same_image(many, one));
    }
    assert_true(is_whole(many));
    tamis_free(many);
    tamis_free(one);
}

static void every_cpu_gives_the_same(ground *g)
{
    tamis *portable = new_filter(&g->plan), *native = new_filter(&g->plan);

    tamis__use_cpu(portable, TAMIS_CPU_PORTABLE);
    tamis__use_cpu(native, tamis__cpu());
    add_all(portable, g->keys, g->n);
    add_all(native, g->keys, g->n);
    assert_true(same_image(portable, native));
    assert_same_answers(portable, native, g->keys, g->n + g->n_strangers);
    tamis_free(portable);
    tamis_free(native);
}

/* Batches of all sizes, single adds between them, and removes. */
static void play_calls(tamis *f, const ground *g)
{
    size_t removed = 0, third = g->n / 3;

    for (size_t i = 0, step = 1; i < g->n; i += step, step = 1 + step * 3 % 700) {
        size_t n = step < g->n - i ? step : g->n - i;

        if (n % 4 == 0)
            assert_int_equal(tamis_add(f, g->keys[i]), TAMIS_OK);
        add_all(f, g->keys + i + (n % 4 == 0), n - (n % 4 == 0));
    }
    if (!(tamis_kind_can(g->plan.kind) & TAMIS_CAN_REMOVE))
        return;
    assert_int_equal(tamis_remove_many(f, &removed, g->keys, third), TAMIS_OK);
    assert_int_equal(removed, third);
    add_all(f, g->keys, third);
}

/* The fifth idea of docs/architecture.md, on every CPU. It holds of all kinds; those that do not
 * rearrange may even be given the keys in other batches. */
static void the_same_calls_give_the_same(ground *g)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    tamis *first = new_filter(&g->plan);

    play_calls(first, g);
    for (int c = 0; c < 3; c++) {
        tamis *f = new_filter(&g->plan);

        tamis__use_cpu(f, cpus[c]);
        play_calls(f, g);
        assert_true(same_image(first, f));
        tamis_free(f);
    }
    tamis_free(first);
}

static void add_concurrent_is_add_many(ground *g)
{
    tamis *shared = new_filter(&g->plan), *many = new_filter(&g->plan);
    size_t third = g->n / 3, rest = g->n - third, added = 99;

    assert_int_equal(tamis_add_concurrent(shared, &added, g->keys, third), TAMIS_OK);
    assert_int_equal(added, third);
    assert_int_equal(tamis_add_concurrent(shared, &added, g->keys + third, rest), TAMIS_OK);
    assert_int_equal(added, rest);
    add_all(many, g->keys, g->n);
    assert_true(same_image(shared, many));
    tamis_free(shared);
    tamis_free(many);
}

/* Members once or twice, strangers that may be taken for them, keys of no kind. */
static void remove_many_is_remove(ground *g)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    uint64_t *victims = probes_of(g, 3000);

    for (int c = 0; c < 3; c++) {
        tamis *many = filter_of(&g->plan, g->keys, g->n), *one = NULL;

        tamis__use_cpu(many, cpus[c]);
        assert_int_equal(tamis_clone(&one, many, NULL), TAMIS_OK);
        for (size_t at = 0, n = 0; at + n <= 3000; at += n, n = n * 2 + 1) {
            size_t removed = 99, expected = 0;
            tamis_status status = tamis_remove_many(many, &removed, victims + at, n);

            for (size_t i = 0; i < n; i++)
                expected += tamis_remove(one, victims[at + i]) == TAMIS_OK;
            assert_int_equal(removed, expected);
            assert_int_equal(status, removed == n ? TAMIS_OK : TAMIS_ABSENT);
            assert_true(same_image(many, one));
        }
        assert_true(is_whole(many));
        tamis_free(many);
        tamis_free(one);
    }
    free(victims);
}

static void count_many_is_count(ground *g)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    tamis *f = filter_of(&g->plan, g->keys, g->n);
    uint64_t *probes = probes_of(g, 1000), counts[1001];

    for (int c = 0; c < 3; c++) {
        tamis__use_cpu(f, cpus[c]);
        for (size_t n = 0; n <= 1000; n += 1 + n / 3) {
            counts[n] = GUARD;
            tamis_count_many(f, counts, probes, n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(counts[i], tamis_count(f, probes[i]));
            assert_int_equal(counts[n], GUARD);
        }
    }
    free(probes);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const unsigned ADD = TAMIS_CAN_ADD, BUILD = TAMIS_CAN_BUILD;
    const ground_law laws[] = {
        { "has_many is has", has_many_is_has, BUILD },
        { "add_many is add", add_many_is_add, ADD },
        { "add_many stops where add does", add_many_stops_where_add_does, ADD },
        { "every CPU gives the same bytes", every_cpu_gives_the_same, ADD },
        { "the same calls give the same bytes", the_same_calls_give_the_same, ADD },
        { "add_concurrent is add_many", add_concurrent_is_add_many,
          ADD | TAMIS_CAN_ADD_CONCURRENT },
        { "remove_many is remove", remove_many_is_remove, BUILD | TAMIS_CAN_REMOVE },
        { "count_many is count", count_many_is_count, BUILD },
    };

    test_begin(argc, argv);
    return check_ground_laws(laws, sizeof laws / sizeof *laws);
}
