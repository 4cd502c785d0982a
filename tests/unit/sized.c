/* Programs of another version have shorter or longer structs: they get the answers of their own
 * fields. Every struct lies at the end of a block of its size, where a sanitizer sees a byte that
 * is read or written past it. */
#include "core/sized.h"
#include "advice/advise.h"
#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_budget.h"
#include "tamis_builder.h"
#include "tamis_disk.h"

enum { MOST = TAMIS_SPEEDS_MAX + 1, SPAN = 80 };

/* A copy of a struct in a block of `size` bytes: cut, or with zeros behind it. */
static void *of_size(const void *from, size_t now, size_t size)
{
    void *block = array_of(size, 1);

    memcpy(block, from, now < size ? now : size);
    memcpy(block, &size, sizeof size);
    return block;
}

/* Sizes that programs may have of a struct whose first release had so many bytes. */
static size_t other_size(size_t first, size_t now, int i)
{
    const size_t sizes[] = { now, first, now + 1, now + 8, now + SPAN };

    return sizes[i];
}

enum { N_SIZES = 5 };

static tamis_spec plain_spec(void)
{
    return spec_for(1000, 0.01, 3);
}

/* ---- Structs of the library that are larger than the first ------------- */

typedef struct grown_struct {
    size_t size;
    uint64_t first, second;
    uint8_t third[24];
} grown_struct;

enum { GROWN_FIRST = SIZED_UP_TO(grown_struct, first) };

static void fields_that_they_do_not_know_are_zero(void **state)
{
    grown_struct theirs = { .first = 1, .second = 2, .third = { 3, 4 } };

    (void)state;
    for (size_t size = GROWN_FIRST; size <= sizeof theirs; size++) {
        grown_struct ours, wanted = { .size = sizeof wanted };
        void *given = of_size(&theirs, sizeof theirs, size);

        memset(&ours, 0xaa, sizeof ours);
        assert_true(tamis__sized_take(&ours, sizeof ours, GROWN_FIRST, given));
        memcpy((char *)&wanted + sizeof size, (char *)&theirs + sizeof size, size - sizeof size);
        assert_memory_equal(&ours, &wanted, sizeof ours);
        free(given);
    }
}

static void what_we_do_not_know_of_theirs_is_zero_or_refused(void **state)
{
    const grown_struct theirs = { .first = 1, .second = 2, .third = { 3, 4 } };
    grown_struct ours, untouched;

    (void)state;
    memset(&untouched, 0xaa, sizeof untouched);
    for (size_t more = 1; more <= SPAN; more++) {
        size_t size = sizeof theirs + more;
        uint8_t *given = of_size(&theirs, sizeof theirs, size);

        assert_true(tamis__sized_take(&ours, sizeof ours, GROWN_FIRST, given));
        assert_int_equal(ours.size, sizeof ours);
        ours = untouched;
        given[size - 1] = 1;
        assert_false(tamis__sized_take(&ours, sizeof ours, GROWN_FIRST, given));
        assert_memory_equal(&ours, &untouched, sizeof ours);
        free(given);
    }
}

static void impossible_sizes_are_refused(void **state)
{
    const size_t sizes[] = { 0, 1, GROWN_FIRST - 1, sizeof(grown_struct) + 4097, SIZE_MAX };
    grown_struct ours, untouched, theirs = { .first = 1 };

    (void)state;
    memset(&untouched, 0xaa, sizeof untouched);
    ours = untouched;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        theirs.size = sizes[i];
        assert_false(tamis__sized_take(&ours, sizeof ours, GROWN_FIRST, &theirs));
        assert_memory_equal(&ours, &untouched, sizeof ours);
    }
}

static void theirs_is_filled_as_far_as_it_reaches(void **state)
{
    const grown_struct ours = { sizeof ours, 1, 2, { 3, 4 } };

    (void)state;
    for (size_t size = sizeof size; size <= sizeof ours + SPAN; size++) {
        uint8_t *theirs = array_of(size, 1), *wanted = of_size(&ours, sizeof ours, size);

        memset(theirs, 0xaa, size);
        memcpy(theirs, &size, sizeof size);
        tamis__sized_give(theirs, &ours, sizeof ours);
        assert_memory_equal(theirs, wanted, size);
        free(theirs);
        free(wanted);
    }
}

/* A size that was never set is rubbish: nothing past our own size is touched. */
static void rubbish_is_not_filled(void **state)
{
    const grown_struct ours = { sizeof ours, 1, 2, { 3, 4 } };
    grown_struct theirs = { .size = SIZE_MAX / 2 }, wanted = ours;

    (void)state;
    wanted.size = theirs.size;
    tamis__sized_give(&theirs, &ours, sizeof ours);
    assert_memory_equal(&theirs, &wanted, sizeof theirs);
}

/* ---- Public calls ------------------------------------------------------ */

static size_t advice_of(const tamis_spec *spec, const tamis_use *use, double *least)
{
    static tamis_advice options[MOST];
    size_t n = tamis_advise(options, MOST, spec, use);

    *least = n ? options[0].total : 0;
    return n;
}

static tamis_status builder_of(tamis_kind kind, const tamis_spec *spec,
                               const tamis_build_options *o)
{
    tamis_builder *b = NULL;
    tamis_status status = tamis_builder_new(&b, kind, spec, o);

    tamis_builder_free(b);
    return status;
}

static void assert_plans_the_same(tamis_kind kind, const tamis_spec *a, const tamis_spec *b)
{
    tamis_plan p, q;

    memset(&p, 0, sizeof p);
    memset(&q, 0, sizeof q);
    assert_int_equal(tamis_plan_kind(&p, kind, a), tamis_plan_kind(&q, kind, b));
    assert_memory_equal(&p, &q, sizeof p);
}

static void specs_of_other_sizes_plan_the_same(void **state)
{
    const tamis_spec now = plain_spec();

    (void)state;
    for (int i = 0; i < N_SIZES; i++) {
        tamis_spec *spec = of_size(&now, sizeof now, other_size(SIZED_SPEC, sizeof now, i));

        assert_plans_the_same(TAMIS_NO_KIND, spec, &now);
        for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind)) {
            assert_plans_the_same(kind, spec, &now);
            assert_int_equal(builder_of(kind, spec, NULL), builder_of(kind, &now, NULL));
        }
        assert_int_equal(tamis_plan_all(NULL, 0, spec), tamis_plan_all(NULL, 0, &now));
        assert_true(tamis_plan_all(NULL, 0, spec) > 0);
        free(spec);
    }
}

static void specs_of_other_sizes_get_the_same_advice(void **state)
{
    const tamis_spec now = plain_spec();
    const tamis_use use = TAMIS_USE(.queries = 1e6, .store_cost = 1, .memory_cost = 1);

    (void)state;
    for (int i = 0; i < N_SIZES; i++) {
        tamis_spec *spec = of_size(&now, sizeof now, other_size(SIZED_SPEC, sizeof now, i));
        tamis_size a[TAMIS_SIZES_MAX], b[TAMIS_SIZES_MAX];
        size_t n = tamis_budget_sizes(a, TAMIS_BLOOM, &now);
        double least, wanted;

        assert_int_equal(advice_of(spec, &use, &least), advice_of(&now, &use, &wanted));
        assert_true(least > 0 && least == wanted);
        assert_int_equal(tamis_budget_sizes(b, TAMIS_BLOOM, spec), n);
        assert_true(n > 10);
        assert_memory_equal(a, b, n * sizeof *a);
        free(spec);
    }
}

/* One that measured a single kind. */
static tamis_machine plain_machine(void)
{
    const tamis_timing t = { 4, 1 << 18, 1e-9, 1e-9, 1e-9, 1e-8, 1e-8 };
    tamis_machine m = { .size = sizeof m, .hash = 1e-9, .kinds = 1 };

    for (int i = 0; i < TAMIS_READS; i++)
        m.reads[i] = 1e-9;
    m.speeds[0] = (tamis_speed){ TAMIS_BLOOM, { t, t } };
    return m;
}

static void uses_and_machines_of_other_sizes_get_the_same_advice(void **state)
{
    const tamis_spec spec = plain_spec();
    const tamis_machine machine = plain_machine();
    const tamis_use now = TAMIS_USE(.queries = 1e9, .store_cost = 1, .machine = &machine);
    double least, wanted;

    (void)state;
    assert_int_equal(advice_of(&spec, &now, &wanted), 2);
    for (int i = 0; i < N_SIZES * N_SIZES; i++) {
        tamis_use *use = of_size(&now, sizeof now, other_size(ADVISE_USE, sizeof now, i % N_SIZES));
        tamis_machine *m = of_size(&machine, sizeof machine,
                                   other_size(ADVISE_MACHINE, sizeof machine, i / N_SIZES));

        use->machine = m;
        assert_int_equal(advice_of(&spec, use, &least), 2);
        assert_true(least == wanted);
        m->size = ADVISE_MACHINE - 1;
        assert_int_equal(advice_of(&spec, use, &least), 0);
        free(use);
        free(m);
    }
}

/* Without memory nothing is measured, but the size was looked at before. */
static void machines_of_other_sizes_are_measured(void **state)
{
    const tamis_machine now = { .size = sizeof now };

    (void)state;
    for (int i = 0; i < N_SIZES; i++) {
        limited_allocator nothing = { .limit = 0 };
        const tamis_allocator a = allocator_of(&nothing);
        tamis_machine *m = of_size(&now, sizeof now, other_size(ADVISE_MACHINE, sizeof now, i));

        assert_int_equal(tamis_calibrate(m, NULL, NULL, &a), TAMIS_NOMEM);
        m->size = ADVISE_MACHINE - 1;
        assert_int_equal(tamis_calibrate(m, NULL, NULL, &a), TAMIS_RANGE);
        free(m);
    }
}

static void options_of_other_sizes_are_taken(void **state)
{
    const tamis_spec spec = plain_spec();
    const tamis_build_options build = TAMIS_BUILD_OPTIONS(.memory = 1);
    const tamis_disk_options disk = TAMIS_DISK_OPTIONS(.memory = 1);
    const size_t first[] = { SIZED_UP_TO(tamis_build_options, alloc),
                             SIZED_UP_TO(tamis_disk_options, alloc) };

    (void)state;
    for (int i = 0; i < N_SIZES; i++) {
        tamis_build_options *b =
            of_size(&build, sizeof build, other_size(first[0], sizeof build, i));
        tamis_disk_options *d = of_size(&disk, sizeof disk, other_size(first[1], sizeof disk, i));
        tamis_disk *none = NULL;

        /* Both ask for too little memory, which is seen after the size. */
        assert_int_equal(builder_of(TAMIS_CQF, &spec, b), TAMIS_NOMEM);
        assert_int_equal(tamis_disk_open(&none, "none", d), TAMIS_NOMEM);
        b->size = first[0] - 1;
        d->size = first[1] - 1;
        assert_int_equal(builder_of(TAMIS_CQF, &spec, b), TAMIS_RANGE);
        assert_int_equal(tamis_disk_open(&none, "none", d), TAMIS_RANGE);
        free(b);
        free(d);
    }
}

static void infos_of_any_size_are_filled(void **state)
{
    const tamis_plan plan = plan_for(TAMIS_BLOOM, 100, 0.01, 1);
    tamis *f = new_filter(&plan);
    tamis_info now = { .size = sizeof now };

    (void)state;
    memset(&now, 0, sizeof now);
    now.size = sizeof now;
    tamis_get_info(f, &now);
    for (size_t size = sizeof size; size <= sizeof now + SPAN; size += 8) {
        tamis_info *info = array_of(size, 1);
        uint8_t *wanted = of_size(&now, sizeof now, size);
        size_t padding = offsetof(tamis_info, readonly) + sizeof now.readonly;

        memset(info, 0xaa, size);
        memcpy(info, &size, sizeof size);
        tamis_get_info(f, info);
        if (size > padding) /* what is between fields is anything */
            memset((uint8_t *)info + padding, 0, offsetof(tamis_info, saturated) - padding);
        assert_memory_equal(info, wanted, size);
        free(info);
        free(wanted);
    }
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_they_do_not_know_are_zero),
        cmocka_unit_test(what_we_do_not_know_of_theirs_is_zero_or_refused),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(theirs_is_filled_as_far_as_it_reaches),
        cmocka_unit_test(rubbish_is_not_filled),
        cmocka_unit_test(specs_of_other_sizes_plan_the_same),
        cmocka_unit_test(specs_of_other_sizes_get_the_same_advice),
        cmocka_unit_test(uses_and_machines_of_other_sizes_get_the_same_advice),
        cmocka_unit_test(machines_of_other_sizes_are_measured),
        cmocka_unit_test(options_of_other_sizes_are_taken),
        cmocka_unit_test(infos_of_any_size_are_filled),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
