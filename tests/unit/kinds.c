/* The tables of kinds, abilities and statuses, and the version. */
#include "kinds.h"

static void version_is_that_of_the_header(void **state)
{
    (void)state;
    assert_string_equal(tamis_version(), TAMIS_VERSION);
}

static void kinds_follow_each_other_by_number(void **state)
{
    tamis_kind last = TAMIS_NO_KIND;
    int n = 0;

    (void)state;
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind)) {
        assert_true(kind > last);
        last = kind;
        n++;
    }
#define TAMIS_X(constant, number, symbol, name, summary) n--;
    TAMIS_KINDS(TAMIS_X)
#undef TAMIS_X
    assert_int_equal(n, 0);
    assert_int_equal(tamis_kind_next(last), TAMIS_NO_KIND);
}

static void kinds_are_found_by_name(void **state)
{
    (void)state;
#define TAMIS_X(constant, number, symbol, name, summary)        \
    do {                                                        \
        tamis_kind kind = TAMIS_NO_KIND;                        \
        assert_true(tamis_kind_find(&kind, name));              \
        assert_int_equal(kind, TAMIS_##constant);               \
        assert_int_equal(kind, number);                         \
        assert_string_equal(tamis_kind_name(kind), name);       \
        assert_string_equal(tamis_kind_summary(kind), summary); \
    } while (0);
    TAMIS_KINDS(TAMIS_X)
#undef TAMIS_X
}

static void unknown_kinds_have_nothing(void **state)
{
    const char *const names[] = { "", "Bloom", "bloom ", "bloo", "blooms", "no such kind" };
    const unsigned numbers[] = { 0, 99, 255, 65536, 0x7fffffff };
    tamis_kind kind = TAMIS_NO_KIND;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(tamis_kind_find(&kind, names[i]));
    assert_int_equal(kind, TAMIS_NO_KIND);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_null(tamis_kind_name((tamis_kind)numbers[i]));
        assert_null(tamis_kind_summary((tamis_kind)numbers[i]));
        assert_int_equal(tamis_kind_can((tamis_kind)numbers[i]), 0);
    }
}

static void collect_bit(unsigned *all, unsigned bit)
{
    assert_int_equal(bit & (bit - 1), 0);
    assert_int_equal(bit & *all, 0);
    *all |= bit;
}

static void abilities_are_known_bits(void **state)
{
    unsigned all = 0;

    (void)state;
#define TAMIS_X(constant, bit, name, meaning) collect_bit(&all, TAMIS_##constant);
    TAMIS_ABILITIES(TAMIS_X)
#undef TAMIS_X
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind)) {
        assert_int_equal(tamis_kind_can(kind) & ~all, 0);
        assert_true(tamis_kind_can(kind) & (TAMIS_CAN_BUILD | TAMIS_CAN_GET | TAMIS_CAN_EXCLUDE));
    }
}

static void abilities_are_what_the_tables_offer(void **state)
{
    (void)state;
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind)) {
        const tamis_ops *ops = tamis__ops(kind);
        unsigned can = tamis_kind_can(kind), traits = ops->traits;

        bool in_order = ops->next && ops->append, solved = ops->solve != NULL;
        bool needs_more = traits & (TAMIS_TRAIT_TAKES_VALUES | TAMIS_TRAIT_TAKES_EXCLUDED);

        assert_int_equal(!!(can & TAMIS_CAN_ADD), ops->add && !ops_put(ops));
        assert_int_equal(!!(can & TAMIS_CAN_BUILD),
                         (ops->add && !ops_put(ops)) || (solved && !needs_more));
        assert_int_equal(!!(can & TAMIS_CAN_REMOVE), ops->remove != NULL);
        assert_int_equal(!!(can & TAMIS_CAN_COUNT), ops->count != NULL);
        assert_int_equal(!!(can & TAMIS_CAN_MERGE), ops->merge || in_order);
        assert_int_equal(!!(can & TAMIS_CAN_INTERSECT), ops->reduce || in_order);
        assert_int_equal(!!(can & TAMIS_CAN_DOT), ops->dot || in_order);
        assert_int_equal(!!(can & TAMIS_CAN_LIST), ops->next != NULL);
        assert_int_equal(!!(can & TAMIS_CAN_FOLD), ops->move && !ops->resize);
        assert_int_equal(!!(can & TAMIS_CAN_ADD_CONCURRENT), ops->add_concurrent != NULL);
        assert_int_equal(!!(can & TAMIS_CAN_READ_WHILE_ADD),
                         !!(traits & TAMIS_TRAIT_ONLY_SETS_BITS));
        assert_int_equal(!!(can & TAMIS_CAN_RESIZE), in_order);
        assert_int_equal(!!(can & TAMIS_CAN_GROW),
                         !!(traits & (TAMIS_TRAIT_GROWS | TAMIS_TRAIT_CAN_GROW)));
        assert_int_equal(!!(can & TAMIS_CAN_GET), !!(traits & TAMIS_TRAIT_TAKES_VALUES));
        assert_int_equal(!!(can & TAMIS_CAN_PUT), ops_put(ops));
        assert_int_equal(!!(can & TAMIS_CAN_EXCLUDE), !!(traits & TAMIS_TRAIT_TAKES_EXCLUDED));
        assert_int_equal(!!(can & TAMIS_CAN_ROTATE), ops->forget && !ops->adapt);
        assert_int_equal(!!(can & TAMIS_IS_EXACT), ops->rate == NULL);
        assert_int_equal(!!(can & TAMIS_IS_INDEXED), ops->item && !ops->rate);
        assert_int_equal(!!(can & TAMIS_IS_TO_STUDY), !!(traits & TAMIS_TRAIT_TO_STUDY));
        /* What belongs together. */
        assert_true(!in_order || (ops->count && ops->resize && ops->room));
        assert_true(!ops->append || ops->next);
        assert_true(!ops->room || ops->resize);
        assert_int_equal(solved, ops->scratch != NULL);
        assert_true(!solved || (!ops->add && ops->resize));
        assert_true(!needs_more || ((solved || ops_put(ops)) && ops->get));
        assert_true(!ops->adapt || ops->forget);
    }
}

static void every_status_has_its_own_text(void **state)
{
    const char *texts[64];
    int n = 0;

    (void)state;
#define TAMIS_X(constant, number, text)                             \
    assert_int_equal(TAMIS_##constant, number);                     \
    assert_string_equal(tamis_status_text(TAMIS_##constant), text); \
    texts[n++] = tamis_status_text(TAMIS_##constant);
    TAMIS_STATUSES(TAMIS_X)
#undef TAMIS_X
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(texts[i], texts[j]);
}

static void unknown_statuses_have_a_text_too(void **state)
{
    (void)state;
    assert_non_null(tamis_status_text((tamis_status)999));
    assert_non_null(tamis_status_text((tamis_status)0x7fffffff));
}

/* None is ranked last by omission, and no two share a place. */
static void every_kind_has_a_rank(void **state)
{
    const int none = tamis__kind_rank(TAMIS_NO_KIND);

    (void)state;
    for (tamis_kind kind = first_kind(); kind; kind = tamis_kind_next(kind)) {
        if (tamis__kind_rank(kind) >= none)
            fail_msg("%s has no rank", tamis_kind_name(kind));
        for (tamis_kind other = first_kind(); other != kind; other = tamis_kind_next(other))
            assert_int_not_equal(tamis__kind_rank(other), tamis__kind_rank(kind));
    }
}

/* As that of a program of a later version: what is not known here is 0. */
static void a_longer_info_ends_with_zeros(void **state)
{
    struct {
        tamis_info info;
        uint8_t later[96];
    } info;
    tamis_plan plan = plan_for(first_kind(), 10, 0.01, 0);
    tamis *f = new_filter(&plan);

    (void)state;
    memset(&info, 0xA5, sizeof info);
    info.info.size = sizeof info - 32;
    tamis_get_info(f, &info.info);
    assert_int_equal(info.info.size, sizeof info - 32);
    for (size_t i = 0; i < sizeof info.later; i++)
        assert_int_equal(info.later[i], i < sizeof info.later - 32 ? 0 : 0xA5);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_that_of_the_header),
        cmocka_unit_test(kinds_follow_each_other_by_number),
        cmocka_unit_test(kinds_are_found_by_name),
        cmocka_unit_test(unknown_kinds_have_nothing),
        cmocka_unit_test(abilities_are_known_bits),
        cmocka_unit_test(abilities_are_what_the_tables_offer),
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(unknown_statuses_have_a_text_too),
        cmocka_unit_test(every_kind_has_a_rank),
        cmocka_unit_test(a_longer_info_ends_with_zeros),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
