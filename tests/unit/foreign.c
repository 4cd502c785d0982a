/* foreign.c - what a machine of 32 bits cannot address is refused there: plans of images from
 * elsewhere, and memory that a builder may take. On machines of 64 bits, an allocator refuses it,
 * and no product of sizes is out of range: payloads that take long to clear are left to the others,
 * of which tests/bare is one. */
#include "foreign.h"
#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_builder.h"

static void foreign_plans_are_built_or_refused(tamis_kind kind)
{
    limited_allocator p = { .limit = UINT64_C(192) << 20 };
    const tamis_allocator a = allocator_of(&p);
    static foreign x;

    x.a = &a;
    x.most = UINT64_C(1) << (sizeof(size_t) == 4 ? 26 : is_sanitized() ? 20 : 23);
    foreign_check(kind, &x);
    if (x.fault)
        fail_msg("%s, plan %u", x.fault, x.n);
    assert_int_equal(p.live, 0);
}

/* A compressed filter of 4 GiB and no more than a few keys is small, and was built in no memory. */
static void bits_that_cannot_be_addressed_are_refused(void **state)
{
    const tamis_spec spec = TAMIS_SPEC(.keys = 1000, .bits = 34359738432, .hashes = 1);
    limited_allocator p = { .limit = UINT64_C(1) << 30 };
    const tamis_allocator a = allocator_of(&p);
    rng r = rng_for(81, 0);
    uint64_t *keys = fresh_keys(&r, 1000);
    tamis_plan plan;
    tamis *f;

    (void)state;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_COMPRESSED, &spec), TAMIS_OK);
    assert_int_equal(tamis_build(&f, &plan, keys, 1000, &a), TAMIS_NOMEM);
    assert_int_equal(p.live, 0);
    free(keys);
}

/* Of half of these bytes, items of 8 are 2^32 and a few: room for the few was taken. */
static void more_memory_than_there_can_be_is_no_limit(void **state)
{
    const size_t n = 300000;
    const tamis_build_options options =
        TAMIS_BUILD_OPTIONS(.memory = (UINT64_C(1) << 36) + (1 << 20));
    const tamis_spec spec = TAMIS_SPEC(.fpr = 0.01);
    rng r = rng_for(82, 0);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_builder *b;
    tamis *f;

    (void)state;
    assert_int_equal(tamis_builder_new(&b, TAMIS_RIBBON, &spec, &options), TAMIS_OK);
    for (size_t i = 0; i < n; i += 1000)
        assert_int_equal(tamis_builder_add_many(b, keys + i, 1000), TAMIS_OK);
    assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
    assert_true(holds_all(f, keys, n));
    tamis_builder_free(b);
    tamis_free(f);
    free(keys);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_that_cannot_be_addressed_are_refused),
        cmocka_unit_test(more_memory_than_there_can_be_is_no_limit),
    };
    const law laws[] = {
        { "foreign plans are built or refused", foreign_plans_are_built_or_refused, .can = 0 },
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests) +
           check_laws_of_all(laws, 1);
}
