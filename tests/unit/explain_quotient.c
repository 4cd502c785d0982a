/* What kinds of fingerprints in order tell of themselves, of filters that are known by hand. */
#include "kinds.h"
#include "telling.h"

/* A filter of 2^q slots with remainders of r bits. */
static tamis *new_slots(tamis_kind kind, unsigned q, unsigned r)
{
    tamis_spec spec = TAMIS_SPEC(.quotient_bits = q, .tag_bits = r);
    tamis_plan plan;

    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    assert_int_equal(plan.slots, UINT64_C(1) << q);
    assert_int_equal(plan.width, r);
    return new_filter(&plan);
}

/* Fingerprints are the first bits of a hash. */
static uint64_t key_at(const tamis *f, uint64_t quotient, uint32_t remainder)
{
    uint64_t fingerprint = quotient << f->plan.width | remainder;

    return tamis_key_with_hash(f,
                               fingerprint * (UINT64_MAX / (f->plan.slots << f->plan.width) + 1));
}

static void add_at(tamis *f, uint64_t quotient, uint32_t remainder)
{
    assert_int_equal(tamis_add(f, key_at(f, quotient, remainder)), TAMIS_OK);
    assert_true(is_whole(f));
}

/* ---- quotient ---------------------------------------------------------- */

/* Remainders are signed in the source. */
static void v12_cities(void **state)
{
    tamis *f = new_slots(TAMIS_QUOTIENT, 3, 32);
    const uint32_t amsterdam = 164894540, berlin = (uint32_t)-89622902, london = 232552816;
    const uint32_t madrid = 249059682, ankara = 62147742, ferret = 122150710;

    (void)state;
    add_at(f, 1, amsterdam);
    add_at(f, 4, berlin);
    add_at(f, 7, london);
    assert_cells(f, "slots 0: . o:9d4174c . . o:faa8768a . . o:ddc7970");
    add_at(f, 1, madrid);
    add_at(f, 2, ankara);
    assert_cells(f, "slots 0: . o:9d4174c ocs:ed85962 s:3b44c9e o:faa8768a . . o:ddc7970");
    assert_steps(f, key_at(f, 1, ferret),
                 "hash 20e8fbe6c0000000\n"
                 "fingerprint 10747df36\n"
                 "quotient 1\n"
                 "remainder 747df36\n"
                 "home slot, slots 0/1 o:9d4174c yes\n"
                 "first slot of its cluster 1\n"
                 "first slot of its run 1\n"
                 "slot of the run, slots 0/1 o:9d4174c no\n"
                 "slot of the run, slots 0/2 ocs:ed85962 no\n"
                 "count 0\n"
                 "no: no slot of its run holds its remainder");
    assert_steps(f, key_at(f, 4, berlin),
                 "hash 9f550ed140000000\n"
                 "fingerprint 4faa8768a\n"
                 "quotient 4\n"
                 "remainder faa8768a\n"
                 "home slot, slots 0/4 o:faa8768a yes\n"
                 "first slot of its cluster 4\n"
                 "first slot of its run 4\n"
                 "slot of the run, slots 0/4 o:faa8768a yes\n"
                 "count 1\n"
                 "yes: a slot of its run holds its remainder");
    tamis_free(f);
}

/* The table in the comment of quotient.c, and one that goes around the end. */
static void slots_of_quotient(void **state)
{
    tamis *f = new_slots(TAMIS_QUOTIENT, 3, 4), *g = new_slots(TAMIS_QUOTIENT, 3, 4);

    (void)state;
    add_at(f, 4, 9);
    add_at(f, 1, 0xc);
    add_at(f, 2, 5);
    add_at(f, 1, 0xa);
    assert_cells(f, "slots 0: . o:a ocs:c s:5 o:9 . . .");
    assert_steps(f, key_at(f, 3, 5),
                 "hash 6a00000000000000\n"
                 "fingerprint 35\n"
                 "quotient 3\n"
                 "remainder 5\n"
                 "home slot, slots 0/3 s:5 no\n"
                 "no: no key has its quotient");
    for (uint32_t i = 0; i < 3; i++)
        add_at(g, 7, 3);
    add_at(g, 0, 1);
    assert_cells(g, "slots 0: ocs:3 cs:3 s:1 . . . . o:3");
    assert_steps(g, key_at(g, 0, 1),
                 "hash 200000000000000\n"
                 "fingerprint 1\n"
                 "quotient 0\n"
                 "remainder 1\n"
                 "home slot, slots 0/0 ocs:3 yes\n"
                 "first slot of its cluster 7\n"
                 "first slot of its run 2\n"
                 "slot of the run, slots 0/2 s:1 yes\n"
                 "count 1\n"
                 "yes: a slot of its run holds its remainder");
    tamis_free(f);
    tamis_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v12_cities),
        cmocka_unit_test(slots_of_quotient),
    };

    test_begin(argc, argv);
    return test_end(cmocka_run_group_tests(tests, NULL, NULL));
}
