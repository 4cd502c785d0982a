/* beside.c - builders of kinds that need more than keys, values or others, make byte for byte what
 * is made of the same in memory: by a file, on any number of threads, in any order, repeated or
 * not. */
#include <errno.h>

#include "kinds.h"
#include "tamis_builder.h"

static tamis_kind kind_that(unsigned can)
{
    tamis_kind kind = TAMIS_NO_KIND;

    while ((kind = tamis_kind_next(kind)) && !(tamis_kind_can(kind) & can))
        ;
    assert_true(kind);
    return kind;
}

/* ---- What is given ----------------------------------------------------- */

/* Keys with values, or keys and then others. */
typedef struct given {
    tamis_kind kind;
    tamis_spec spec; /* for the builder */
    tamis_plan plan; /* for everything at once */
    uint64_t *keys, *values, *others;
    size_t n, m, distinct; /* keys, others, distinct keys */
} given;

static uint64_t value_of(uint64_t key, unsigned bits)
{
    return mix64(key) >> (64 - bits);
}

/* n keys, of which `distinct` differ. */
static uint64_t *repeated_keys(rng *r, size_t distinct, size_t n)
{
    uint64_t *keys = array_of(n + 1, sizeof *keys);

    for (size_t i = 0; i < n; i++)
        keys[i] = i < distinct ? rng_next(r) : keys[rng_below(r, distinct)];
    shuffle(r, keys, n);
    return keys;
}

static void make_plan(given *g, uint64_t keys, uint32_t value_bits, uint64_t universe)
{
    tamis_spec spec = g->spec;

    spec.keys = keys > spec.keys ? keys : spec.keys;
    spec.keys = spec.keys ? spec.keys : 1;
    spec.value_bits = value_bits;
    spec.universe = universe ? spec.keys + universe : 0;
    if (tamis_kind_can(g->kind) & TAMIS_CAN_EXCLUDE && !universe)
        spec.universe = spec.keys;
    assert_int_equal(tamis_plan_kind(&g->plan, g->kind, &spec), TAMIS_OK);
}

static given given_values(uint64_t round, size_t distinct, size_t n, unsigned bits,
                          uint64_t announced)
{
    rng r = rng_for(5000, round);
    given g = { .kind = kind_that(TAMIS_CAN_GET), .n = n, .distinct = distinct };
    uint64_t all = 1;

    g.spec = spec_for(announced, 0.01, 5);
    g.keys = repeated_keys(&r, distinct, n);
    g.values = array_of(n + 1, sizeof *g.values);
    for (size_t i = 0; i < n; i++)
        all |= g.values[i] = value_of(g.keys[i], bits);
    make_plan(&g, distinct, 64 - (unsigned)__builtin_clzll(all), 0);
    return g;
}

/* Half of the keys are among the others, too, if that is asked for. */
static given given_others_of(tamis_kind kind, uint64_t round, size_t distinct, size_t n, size_t m,
                             bool overlap, uint64_t announced)
{
    rng r = rng_for(5001, round);
    size_t both = overlap ? n / 2 : 0;
    given g = { .kind = kind, .n = n, .distinct = distinct, .m = m + both };

    g.spec = spec_for(announced, tamis_kind_can(kind) & TAMIS_CAN_EXCLUDE ? 0 : 0.02, 5);
    g.keys = repeated_keys(&r, distinct, n);
    g.others = array_of(g.m + 1, sizeof *g.others);
    for (size_t i = 0; i < m; i++)
        g.others[i] = rng_next(&r);
    memcpy(g.others + m, g.keys, both * sizeof *g.keys);
    shuffle(&r, g.others, g.m);
    make_plan(&g, distinct, 0, m);
    return g;
}

static given given_others(uint64_t round, size_t distinct, size_t n, size_t m, bool overlap,
                          uint64_t announced)
{
    return given_others_of(kind_that(TAMIS_CAN_EXCLUDE), round, distinct, n, m, overlap, announced);
}

static void drop(given *g)
{
    free(g->keys);
    free(g->values);
    free(g->others);
}

static tamis *at_once(const given *g)
{
    tamis *f = NULL;
    tamis_status status =
        g->values ? tamis_build_map(&f, &g->plan, g->keys, g->values, g->n, NULL)
                  : tamis_build_excluding(&f, &g->plan, g->keys, g->n, g->others, g->m, NULL);

    assert_int_equal(status, TAMIS_OK);
    return f;
}

/* ---- Builders ---------------------------------------------------------- */

static tamis_status feed(tamis_builder *b, const given *g)
{
    tamis_status status = TAMIS_OK;

    for (size_t at = 0, piece = 0; at < g->n && !status; at += piece + 1) {
        piece = at % 3001 < g->n - at ? at % 3001 : g->n - at - 1;
        status = g->values ? tamis_builder_add_map(b, g->keys + at, g->values + at, piece + 1)
                           : tamis_builder_add_many(b, g->keys + at, piece + 1);
    }
    for (size_t at = 0, piece = 0; at < g->m && !status; at += piece + 1) {
        piece = at % 3001 < g->m - at ? at % 3001 : g->m - at - 1;
        status = tamis_builder_add_excluded(b, g->others + at, piece + 1);
    }
    return status;
}

static tamis_builder *fed(const given *g, const tamis_build_options *o)
{
    tamis_builder *b = NULL;

    assert_int_equal(tamis_builder_new(&b, g->kind, &g->spec, o), TAMIS_OK);
    assert_int_equal(feed(b, g), TAMIS_OK);
    return b;
}

static tamis *loaded(const char *path)
{
    tamis *f = NULL;

    assert_int_equal(tamis_load(&f, path, NULL), TAMIS_OK);
    unlink(path);
    return f;
}

/* What the builder makes, by itself or by way of a file. */
static tamis *made_by(tamis_builder *b, bool save)
{
    tamis *f = NULL;

    if (save) {
        assert_int_equal(tamis_builder_save(b, temp_path(), NULL), TAMIS_OK);
        f = loaded(temp_path());
    } else {
        assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
    }
    tamis_builder_free(b);
    return f;
}

static void check(const given *g, const tamis_build_options *o)
{
    tamis *expected = at_once(g);

    for (int save = 0; save <= 1; save++) {
        snprintf(law_at, sizeof law_at, "%zu keys, %zu others, %llu bytes, %u threads, saved: %d",
                 g->n, g->m, (unsigned long long)o->memory, o->threads, save);
        tamis *f = made_by(fed(g, o), save);
        assert_true(same_image(f, expected));
        assert_true(is_whole(f));
        assert_int_equal(info_of(f).count, g->distinct);
        tamis_free(f);
    }
    tamis_free(expected);
}

/* ---- Equality ---------------------------------------------------------- */

static void values_are_kept(void **state)
{
    const size_t sizes[] = { 0, 1, 2, 3, 100, 255, 256, 257, 20000 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned threads = 0; threads <= 3; threads += 3) {
            const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = threads);
            size_t n = sizes[i];
            given g = given_values(i, n, n, 1 + (unsigned)i * 3, 0);
            given more = given_values(i, n, 3 * n, 1 + (unsigned)i * 3, n + n / 2 + 1);

            check(&g, &o);
            check(&more, &o);
            drop(&g);
            drop(&more);
        }
}

static void universes_are_split(void **state)
{
    const size_t sizes[][2] = { { 0, 0 },       { 0, 1 },       { 1, 0 },       { 1, 1 },
                                { 2, 5000 },    { 5000, 2 },    { 3000, 3000 }, { 1000, 20000 },
                                { 20000, 700 }, { 700, 120000 } };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned threads = is_sanitized() ? 3 : 0; threads <= 3; threads += 3)
            for (int overlap = 0; overlap <= 1; overlap++) {
                const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = threads);
                size_t n = sizes[i][0], m = sizes[i][1];
                given g = given_others(i, n, n, m, overlap, 0);
                given more = given_others(i, n, n ? 2 * n : 0, m, overlap, n + n / 2 + 1);

                check(&g, &o);
                check(&more, &o);
                drop(&g);
                drop(&more);
            }
}

/* Far more than fit in memory as they are, and few enough to be solved there. */
static void what_does_not_fit_goes_to_a_file(void **state)
{
    (void)state;
    for (unsigned threads = is_sanitized() ? 4 : 1; threads <= 4; threads += 3) {
        const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 4 << 20, .threads = threads);
        given values = given_values(40, 24000, 280000, 9, 0);
        given same = given_values(41, 1, 280000, 9, 0);
        given others = given_others(42, 8000, 120000, 280000, true, 0);
        given inverted = given_others(43, 24000, 320000, 8000, true, 0);

        check(&values, &o);
        check(&same, &o);
        check(&others, &o);
        check(&inverted, &o);
        drop(&values);
        drop(&same);
        drop(&others);
        drop(&inverted);
    }
}

/* ---- Kinds that adapt -------------------------------------------------- */

static bool is_one_of(const uint64_t *keys, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i] == key)
            return true;
    return false;
}

static tamis_kind next_adaptive(tamis_kind kind)
{
    while ((kind = tamis_kind_next(kind)) && !(tamis_kind_can(kind) & TAMIS_CAN_ADAPT))
        ;
    return kind;
}

/* What the order of adaptations makes of it is the kind's own: answers are what counts. */
static void check_answers(const given *g, const tamis *f)
{
    for (size_t i = 0; i < g->n; i++)
        assert_true(tamis_has(f, g->keys[i]));
    for (size_t i = 0; i < g->m; i++)
        if (tamis_has(f, g->others[i]))
            assert_true(is_one_of(g->keys, g->n, g->others[i]));
    assert_true(is_whole(f));
}

static void check_adapted(const given *g, const tamis_build_options *o)
{
    for (int save = 0; save <= 1; save++) {
        snprintf(law_at, sizeof law_at, "%s: %zu keys, %zu others, %llu bytes, saved: %d",
                 tamis_kind_name(g->kind), g->n, g->m, (unsigned long long)o->memory, save);
        tamis *f = made_by(fed(g, o), save);
        check_answers(g, f);
        tamis_free(f);
    }
}

static void others_are_adapted_to(void **state)
{
    const size_t sizes[][2] = { { 0, 0 }, { 0, 1 }, { 1, 1 }, { 2, 5000 }, { 3000, 30000 } };

    (void)state;
    for (tamis_kind kind = TAMIS_NO_KIND; (kind = next_adaptive(kind));)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = 2);
            const tamis_build_options little = TAMIS_BUILD_OPTIONS(.memory = 4 << 20);
            size_t n = sizes[i][0], m = sizes[i][1];
            given g = given_others_of(kind, 60 + i, n, n, m, true, 0);
            given more = given_others_of(kind, 70 + i, n, n, 10 * m, false, n + n / 2 + 1);

            check_adapted(&g, &o);
            check_adapted(&more, &little);
            drop(&g);
            drop(&more);
        }
}

/* Keys and others are announced: as many as come, fewer or more. The plan is for all that come, or
 * for what was announced if that is more, and none of the others is found. */
static void others_may_be_announced(void **state)
{
    const size_t n = 3000, m = 30000, announced[] = { n + m, n, n + 1, n + 10 * m };
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = 2);

    (void)state;
    for (tamis_kind kind = TAMIS_NO_KIND; (kind = next_adaptive(kind));)
        for (size_t i = 0; i < sizeof announced / sizeof *announced; i++) {
            given g = given_others_of(kind, 90 + i, n, n, m, false, n);
            tamis_builder *b = NULL;
            tamis_plan made;

            g.spec.universe = announced[i];
            check_adapted(&g, &o);
            b = fed(&g, &o);
            assert_int_equal(tamis_builder_save(b, temp_path(), &made), TAMIS_OK);
            make_plan(&g, n, 0, announced[i] > n + m ? announced[i] - n : m);
            assert_memory_equal(&made, &g.plan, sizeof made);
            unlink(temp_path());
            tamis_builder_free(b);
            drop(&g);
        }
}

/* So many others for each key that some kinds cannot keep all of them away: they say so, and say so
 * again, as no key was lost. */
static void what_cannot_be_told_apart_is_told(void **state)
{
    enum { OTHERS = 100000 };

    (void)state;
    for (tamis_kind kind = TAMIS_NO_KIND; (kind = next_adaptive(kind));) {
        given g = given_others_of(kind, 80, 300, 300, OTHERS, false, 300);
        tamis_builder *b = fed(&g, NULL);
        tamis *f = NULL;
        tamis_status status = tamis_builder_finish(&f, b);

        if (!status)
            check_answers(&g, f);
        else
            assert_int_equal(status, TAMIS_FULL);
        tamis_free(f);
        if (status)
            assert_int_equal(tamis_builder_finish(&f, b), TAMIS_FULL);
        tamis_builder_free(b);
        drop(&g);
    }
}

/* Announced so large that there are four of them. */
static void parts_are_put_together(void **state)
{
    const uint64_t many = UINT64_C(50000000);

    (void)state;
    if (is_sanitized())
        skip();
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = threads);
        given values = given_values(50, 30000, 30000, 1, many);
        given others = given_others(51, 3000, 3000, 100000, true, many);

        check(&values, &o);
        check(&others, &o);
        drop(&values);
        drop(&others);
    }
}

/* ---- What stops it ----------------------------------------------------- */

typedef struct patience {
    uint64_t left, last, total;
} patience;

static bool wait_patiently(void *ctx, uint64_t done, uint64_t total)
{
    patience *p = ctx;

    assert_true(done >= p->last && done <= total);
    p->last = done;
    p->total = total;
    return p->left-- > 0;
}

/* Stopped at one moment after the other, then let through. */
static void check_stops(const given *g, uint64_t memory)
{
    patience p = { 0 };
    const tamis_build_options o =
        TAMIS_BUILD_OPTIONS(.memory = memory, .threads = 2, .progress = wait_patiently, .ctx = &p);
    tamis_builder *b = fed(g, &o);
    tamis *expected = at_once(g), *f = NULL;
    tamis_status status = TAMIS_STOPPED;
    uint64_t stops = 0;

    for (; status == TAMIS_STOPPED; stops += 1 + stops / run_size(8, 1, 8)) {
        p = (patience){ .left = stops };
        status = stops % 2 ? tamis_builder_save(b, temp_path(), NULL) : tamis_builder_finish(&f, b);
        assert_true(status == TAMIS_OK || access(temp_path(), F_OK) == -1);
    }
    assert_int_equal(status, TAMIS_OK);
    assert_true(stops > 1);
    assert_int_equal(p.last, p.total);
    f = f ? f : loaded(temp_path());
    assert_true(same_image(f, expected));
    tamis_builder_free(b);
    tamis_free(f);
    tamis_free(expected);
}

static void a_builder_that_was_stopped_goes_on(void **state)
{
    (void)state;
    for (uint64_t memory = 0; memory <= 4 << 20; memory += 4 << 20) {
        given values = given_values(60, 20000, 200000, 7, 0);
        given others = given_others(61, 3000, 4000, 230000, true, 0);
        given inverted = given_others(62, 17000, 230000, 2300, true, 0);

        check_stops(&values, memory);
        check_stops(&others, memory);
        check_stops(&inverted, memory);
        drop(&values);
        drop(&others);
        drop(&inverted);
    }
}

/* In memory, and by a file where the pair is dropped when room runs out. */
static void two_values_of_a_key_are_a_conflict(void **state)
{
    (void)state;
    for (uint64_t memory = 0; memory <= 8 << 20; memory += 8 << 20)
        for (size_t n = 2; n <= 500000; n = n * 60 + 3) {
            const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = memory);
            given g = given_values(70, n < 20000 ? n : 20000, n, 7, 0);
            tamis *f = NULL;

            for (size_t i = 1; g.values[0] == g.values[i]; i++)
                g.values[i] ^= 1;
            g.keys[n - 1] = g.keys[0];
            g.values[n - 1] = g.values[0] ^ 1;
            tamis_builder *b = fed(&g, &o);
            assert_int_equal(tamis_builder_finish(&f, b), TAMIS_CONFLICT);
            assert_int_equal(tamis_builder_save(b, temp_path(), NULL), TAMIS_CONFLICT);
            assert_int_equal(access(temp_path(), F_OK), -1);
            assert_null(f);
            tamis_builder_free(b);
            drop(&g);
        }
}

/* A value with too many bits is not taken, and the others are none the worse. */
static void values_that_are_too_large_are_refused(void **state)
{
    const uint64_t keys[3] = { 1, 2, 3 }, fits[3] = { 7, 8, 15 }, large[3] = { 1, 16, 1 };
    const uint64_t huge = UINT64_C(1) << 32;
    tamis_spec spec = spec_for(0, 0.01, 5);
    tamis_builder *b = NULL;
    tamis *f = NULL;
    uint64_t value;

    (void)state;
    for (spec.value_bits = 0; spec.value_bits <= 4; spec.value_bits += 4) {
        assert_int_equal(tamis_builder_new(&b, kind_that(TAMIS_CAN_GET), &spec, NULL), TAMIS_OK);
        assert_int_equal(tamis_builder_add_map(b, keys, &huge, 1), TAMIS_RANGE);
        if (spec.value_bits)
            assert_int_equal(tamis_builder_add_map(b, keys, large, 3), TAMIS_RANGE);
        assert_int_equal(tamis_builder_add_map(b, keys, fits, 3), TAMIS_OK);
        assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
        assert_int_equal(info_of(f).count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_true(tamis_get(f, &value, keys[i]));
            assert_int_equal(value, fits[i]);
        }
        tamis_builder_free(b);
        tamis_free(f);
    }
}

/* What cannot be done in the memory allowed is refused, and leaves nothing. */
static void too_little_memory_is_told(void **state)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 4 << 20);
    given values = given_values(80, 500000, 500000, 8, 0);
    given others = given_others(81, 300000, 300000, 500000, false, 0);
    const given *all[] = { &values, &others };
    tamis_builder *b = NULL;

    (void)state;
    for (int i = 0; i < 2; i++) {
        b = fed(all[i], &o);
        assert_int_equal(tamis_builder_save(b, temp_path(), NULL), TAMIS_NOMEM);
        assert_int_equal(access(temp_path(), F_OK), -1);
        tamis_builder_free(b);
    }
    values.spec.keys = 500000;
    assert_int_equal(tamis_builder_new(&b, values.kind, &values.spec, &o), TAMIS_NOMEM);
    drop(&values);
    drop(&others);
}

static void keys_without_what_belongs_to_them_are_refused(void **state)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 4 << 20, .dir = "/nowhere/at/all");
    given g = given_values(90, 400000, 400000, 3, 0), u = given_others(91, 9, 9, 400000, false, 0);
    tamis_builder *b = NULL;

    (void)state;
    assert_int_equal(tamis_builder_new(&b, g.kind, &g.spec, &o), TAMIS_OK);
    assert_int_equal(tamis_builder_add_many(b, g.keys, 1), TAMIS_CANNOT);
    assert_int_equal(tamis_builder_add_excluded(b, g.keys, 1), TAMIS_CANNOT);
    assert_int_equal(feed(b, &g), TAMIS_IO);
    assert_int_equal(errno, ENOENT);
    tamis_builder_free(b);
    assert_int_equal(tamis_builder_new(&b, u.kind, &u.spec, &o), TAMIS_OK);
    assert_int_equal(tamis_builder_add_map(b, u.keys, u.keys, 1), TAMIS_CANNOT);
    assert_int_equal(feed(b, &u), TAMIS_IO);
    assert_int_equal(errno, ENOENT);
    tamis_builder_free(b);
    drop(&g);
    drop(&u);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_kept),
        cmocka_unit_test(universes_are_split),
        cmocka_unit_test(what_does_not_fit_goes_to_a_file),
        cmocka_unit_test(others_are_adapted_to),
        cmocka_unit_test(others_may_be_announced),
        cmocka_unit_test(what_cannot_be_told_apart_is_told),
        cmocka_unit_test(parts_are_put_together),
        cmocka_unit_test(a_builder_that_was_stopped_goes_on),
        cmocka_unit_test(two_values_of_a_key_are_a_conflict),
        cmocka_unit_test(values_that_are_too_large_are_refused),
        cmocka_unit_test(too_little_memory_is_told),
        cmocka_unit_test(keys_without_what_belongs_to_them_are_refused),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
