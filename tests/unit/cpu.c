/* base/cpu.h: one answer, of known flags. */
#include "base/cpu.h"

#include "check.h"

static void the_answer_is_stable_and_known(void **state)
{
    unsigned cpu = tamis__cpu();

    (void)state;
    assert_int_equal(
        cpu & ~(unsigned)(TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512 | TAMIS_CPU_NEON | TAMIS_CPU_FAR), 0);
    assert_true(cpu & TAMIS_CPU_AVX2 || !(cpu & TAMIS_CPU_AVX512));
    assert_int_equal(tamis__cpu(), cpu);
}

static void flags_belong_to_this_architecture(void **state)
{
    unsigned cpu = tamis__cpu();

    (void)state;
#ifndef __x86_64__
    assert_false(cpu & (TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512));
#endif
#ifndef __aarch64__
    assert_false(cpu & TAMIS_CPU_NEON);
#endif
#if !defined(__x86_64__)
    assert_false(cpu & TAMIS_CPU_FAR);
#endif
    (void)cpu;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_is_stable_and_known),
        cmocka_unit_test(flags_belong_to_this_architecture),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
