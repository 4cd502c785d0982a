/* shared: what a filter for any number of threads refuses, how it is cut, and what is in its file.
 */
#include "tamis_shared.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_collection.h"

static const char *const PATH = "shared.tmp";

static tamis_shared *shared_of(tamis_kind kind, uint64_t keys, unsigned threads)
{
    const tamis_spec spec = spec_for(keys, 0.01, 1);
    tamis_shared *s = NULL;

    assert_int_equal(tamis_shared_new(&s, kind, &spec, threads, NULL), TAMIS_OK);
    return s;
}

static tamis_info told_by(const tamis_shared *s)
{
    tamis_info info = { .size = sizeof info };

    tamis_shared_get_info(s, &info);
    return info;
}

static void save(const tamis_shared *s)
{
    assert_int_equal(tamis_shared_save(s, PATH), TAMIS_OK);
}

static tamis_collection *opened(void)
{
    tamis_collection *c = NULL;

    assert_int_equal(tamis_collection_open(&c, PATH, NULL), TAMIS_OK);
    return c;
}

/* That are in the file. */
static uint64_t filters(void)
{
    tamis_collection *c = opened();
    tamis_collection_info info;

    assert_int_equal(tamis_collection_get_info(c, &info), TAMIS_OK);
    tamis_collection_free(c);
    return info.filters;
}

static uint64_t parts_of(tamis_shared *s)
{
    save(s);
    uint64_t parts = filters();
    unlink(PATH);
    tamis_shared_free(s);
    return parts;
}

/* ---- Plans ------------------------------------------------------------- */

static void refuses(tamis_status status, tamis_kind kind, const tamis_spec *spec)
{
    tamis_shared *s = NULL;

    assert_int_equal(tamis_shared_new(&s, kind, spec, 0, NULL), status);
    assert_null(s);
}

static void what_single_filters_alone_do_is_refused(void **state)
{
    (void)state;
    tamis_spec spec = spec_for(100000, 0.01, 1);
    refuses(TAMIS_CANNOT, TAMIS_FUSE, &spec);
    refuses(TAMIS_CANNOT, TAMIS_HASHMAP, &spec);
    spec.can = TAMIS_CAN_ASK_KEYS;
    refuses(TAMIS_CANNOT, TAMIS_AQF, &spec);
    spec = (tamis_spec)TAMIS_SPEC(.bits = 1 << 20, .hashes = 3);
    refuses(TAMIS_CANNOT, TAMIS_BLOOM, &spec);
    spec = (tamis_spec)TAMIS_SPEC(.quotient_bits = 12);
    refuses(TAMIS_CANNOT, TAMIS_QUOTIENT, &spec);
    spec = (tamis_spec)TAMIS_SPEC(.keys = 1000);
    spec.size = 8;
    refuses(TAMIS_RANGE, TAMIS_BLOOM, &spec);
}

static void parts_are_as_many_as_threads_and_keys_want(void **state)
{
    (void)state;
    tamis_spec spec = spec_for(100, 0.01, 1);
    tamis_shared *s = NULL;

    assert_int_equal(parts_of(shared_of(TAMIS_CUCKOO, 1000, 16)), 1);
    assert_int_equal(parts_of(shared_of(TAMIS_CUCKOO, 100000, 16)), 16);
    assert_int_equal(parts_of(shared_of(TAMIS_CUCKOO, 1000000, 1)), 16);
    assert_int_equal(parts_of(shared_of(TAMIS_CUCKOO, 1000000, 0)), 64);
    assert_int_equal(parts_of(shared_of(TAMIS_CUCKOO, 10000000, 100000)), 1024);
    spec.can = TAMIS_CAN_GROW;
    assert_int_equal(tamis_shared_new(&s, TAMIS_ALEPH, &spec, 4, NULL), TAMIS_OK);
    assert_int_equal(parts_of(s), 16);
}

/* Exactly, by the sum of all terms of the tail. */
static double probability_that_one_is_full(uint64_t keys, uint64_t parts, uint64_t room)
{
    return (double)parts * binomial_tail(room + 1, keys, 1 / (double)parts);
}

static void no_part_is_full_but_once_in_a_billion(void **state)
{
    (void)state;
    for (uint64_t keys = 100000; keys <= 3000000; keys = keys * 5 / 2) {
        tamis_shared *s = shared_of(TAMIS_CUCKOO, keys, 16);
        tamis *part = NULL;
        char name[32];
        save(s);
        uint64_t parts = filters();
        tamis_collection *c = opened();

        snprintf(name, sizeof name, "part-0-of-%u", (unsigned)parts);
        assert_int_equal(tamis_collection_get(c, &part, name, NULL), TAMIS_OK);
        uint64_t room = tamis_plan_of(part)->capacity;
        assert_true(parts > 1 && probability_that_one_is_full(keys, parts, room) < 1e-9);
        assert_true(told_by(s).plan.capacity >= keys);
        tamis_free(part);
        tamis_collection_free(c);
        tamis_shared_free(s);
        unlink(PATH);
    }
}

static void all_parts_fit_in_the_bytes_given(void **state)
{
    (void)state;
    const tamis_spec spec = TAMIS_SPEC(.max_bytes = 1 << 20);
    tamis_shared *s = NULL;

    assert_int_equal(tamis_shared_new(&s, TAMIS_BLOCKED, &spec, 0, NULL), TAMIS_OK);
    assert_true(told_by(s).plan.bytes <= 1 << 20 && told_by(s).plan.bytes > 1 << 19);
    tamis_shared_free(s);
}

static void keys_are_those_of_the_hasher(void **state)
{
    (void)state;
    const tamis_spec spec =
        TAMIS_SPEC(.keys = 100, .hasher = { .hash = TAMIS_KEYED, .secret = "a secret" });
    tamis_shared *s = NULL;

    assert_int_equal(tamis_shared_new(&s, TAMIS_NO_KIND, &spec, 0, NULL), TAMIS_OK);
    assert_int_equal(tamis_shared_key(s, "key", 3), tamis_hasher_key(&spec.hasher, "key", 3));
    tamis_shared_free(s);
    tamis_shared_free(NULL);
}

/* ---- What goes wrong --------------------------------------------------- */

/* What a full part refuses is not counted, and not lost. */
static void a_full_filter_says_how_many_are_in(void **state)
{
    (void)state;
    enum { N = 40000 };
    tamis_shared *s = shared_of(TAMIS_CUCKOO, N / 4, 1);
    rng r = rng_for(31, 0);
    uint64_t *keys = fresh_keys(&r, N);
    size_t added;

    assert_int_equal(tamis_shared_add_many(s, &added, keys, N), TAMIS_FULL);
    assert_true(added >= N / 4 && added < N / 2);
    assert_int_equal(told_by(s).count, added);
    tamis_shared_free(s);
    free(keys);
}

static void no_memory_is_told_and_nothing_is_kept(void **state)
{
    (void)state;
    const tamis_spec spec = spec_for(40000, 0.01, 1);
    limited_blocks blocks = { 0 };
    const tamis_allocator a = allocator_of_blocks(&blocks);
    tamis_shared *s = NULL;
    tamis_status status = TAMIS_NOMEM;

    for (size_t most = 0; status; most++) {
        blocks.left = most;
        status = tamis_shared_new(&s, TAMIS_BLOOM, &spec, 1, &a);
        assert_true(status == TAMIS_OK || (status == TAMIS_NOMEM && blocks.held == 0));
    }
    blocks.left = SIZE_MAX;
    save(s);
    tamis_shared_free(s);
    assert_int_equal(blocks.held, 0);
    for (size_t most = 0; most == 0 || status; most++) {
        blocks.left = most;
        status = tamis_shared_load(&s, PATH, &a);
        assert_true(status == TAMIS_OK || (status == TAMIS_NOMEM && blocks.held == 0));
    }
    tamis_shared_free(s);
    assert_int_equal(blocks.held, 0);
    unlink(PATH);
}

static tamis_status load_status(void)
{
    tamis_shared *s = NULL;
    tamis_status status = tamis_shared_load(&s, PATH, NULL);

    tamis_shared_free(s);
    return status;
}

/* NULL: takes it out. */
static void put(const char *name, const tamis *f)
{
    tamis_editor *e = NULL;

    assert_int_equal(tamis_editor_open(&e, PATH, 0, NULL), TAMIS_OK);
    assert_int_equal(f ? tamis_editor_put(e, name, f) : tamis_editor_remove(e, name), TAMIS_OK);
    assert_int_equal(tamis_editor_save(e), TAMIS_OK);
    tamis_editor_free(e);
}

static void parts_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    tamis_shared *s = shared_of(TAMIS_BLOOM, 40000, 1);
    const tamis_plan other = plan_for(TAMIS_BLOCKED, 100, 0.01, 1);
    tamis *f = new_filter(&other);

    assert_int_equal(load_status(), TAMIS_IO);
    put("alone", f);
    assert_int_equal(load_status(), TAMIS_ABSENT);
    save(s);
    assert_int_equal(load_status(), TAMIS_OK);
    put("part-2-of-4", f);
    assert_int_equal(load_status(), TAMIS_CORRUPT);
    put("part-2-of-4", NULL);
    assert_int_equal(load_status(), TAMIS_CORRUPT);
    unlink(PATH);
    tamis_free(f);
    tamis_shared_free(s);
}

/* A filter takes the place of one of other parts, and leaves what is none. */
static void saving_leaves_other_filters_alone(void **state)
{
    (void)state;
    tamis_shared *many = shared_of(TAMIS_BLOOM, 100000, 16),
                 *few = shared_of(TAMIS_BLOOM, 40000, 1);
    const tamis_plan plan = plan_for(TAMIS_BLOCKED, 100, 0.01, 1);
    tamis *f = new_filter(&plan);

    put("alone", f);
    save(many);
    assert_int_equal(filters(), 17);
    save(few);
    assert_int_equal(filters(), 5);
    assert_int_equal(load_status(), TAMIS_OK);
    unlink(PATH);
    tamis_free(f);
    tamis_shared_free(few);
    tamis_shared_free(many);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_single_filters_alone_do_is_refused),
        cmocka_unit_test(parts_are_as_many_as_threads_and_keys_want),
        cmocka_unit_test(no_part_is_full_but_once_in_a_billion),
        cmocka_unit_test(all_parts_fit_in_the_bytes_given),
        cmocka_unit_test(keys_are_those_of_the_hasher),
        cmocka_unit_test(a_full_filter_says_how_many_are_in),
        cmocka_unit_test(no_memory_is_told_and_nothing_is_kept),
        cmocka_unit_test(parts_that_do_not_fit_together_are_refused),
        cmocka_unit_test(saving_leaves_other_filters_alone),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
