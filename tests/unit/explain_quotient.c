/* What kinds of fingerprints in order tell of themselves, of filters that are known by hand. */
#include "core/plan.h"
#include "explain_text.h"
#include "kinds.h"
#include "tamis_adapt.h"

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
    assert_cells(f, "slots 0: . o:9d4174c .2 o:faa8768a .2 o:ddc7970");
    add_at(f, 1, madrid);
    add_at(f, 2, ankara);
    assert_cells(f, "slots 0: . o:9d4174c ocs:ed85962 s:3b44c9e o:faa8768a .2 o:ddc7970");
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
    assert_cells(f, "slots 0: . o:a ocs:c s:5 o:9 .3");
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
    assert_cells(g, "slots 0: ocs:3 cs:3 s:1 .4 o:3");
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

/* ---- cqf --------------------------------------------------------------- */

/* The table in the comment of runs.h, and counts. */
static void slots_of_cqf(void **state)
{
    tamis *f = new_slots(TAMIS_CQF, 6, 4);

    (void)state;
    add_at(f, 4, 9);
    add_at(f, 1, 0xc);
    add_at(f, 2, 5);
    add_at(f, 1, 0xa);
    assert_cells(f, "slots 0: . o:a ocse:c se:5 oe:9 .59\n"
                    "offset 0: 0\n"
                    "slots in use 0: 4");
    assert_int_equal(tamis_add_times(f, key_at(f, 1, 0xa), 17), TAMIS_OK);
    add_at(f, 63, 2);
    add_at(f, 63, 2);
    add_at(f, 63, 7);
    assert_cells(f, "slots 0: cs:2 ocse:7 os:a csn:2 ocsn:2 cs:a cse:c se:5 se:9 .54 o:2\n"
                    "offset 0: 2\n"
                    "slots in use 0: a");
    assert_steps(f, key_at(f, 1, 0xc),
                 "hash 700000000000000\n"
                 "fingerprint 1c\n"
                 "quotient 1\n"
                 "remainder c\n"
                 "home slot, slots 0/1 ocse:7 yes\n"
                 "offset of its block 2\n"
                 "first slot of its run 2\n"
                 "slot of the run, slots 0/2 os:a no\n"
                 "digit of a count, slots 0/3 csn:2 no\n"
                 "digit of a count, slots 0/4 ocsn:2 no\n"
                 "slot of the run, slots 0/5 cs:a no\n"
                 "slot of the run, slots 0/6 cse:c yes\n"
                 "count 1\n"
                 "yes: a slot of its run holds its remainder");
    tamis_free(f);
}

/* ---- aqf --------------------------------------------------------------- */

/* Keys of one fingerprint are told apart by more bits of their hashes, a chunk of three. */
static uint64_t key_with_chunk(const tamis *f, uint64_t quotient, uint64_t remainder,
                               uint64_t chunk)
{
    return tamis_key_with_hash(f, quotient << 58 | remainder << 54 | chunk << 51);
}

static void slots_of_aqf(void **state)
{
    tamis_spec spec = TAMIS_SPEC(.quotient_bits = 6, .tag_bits = 4, .can = TAMIS_CAN_ASK_KEYS);
    tamis_plan plan;

    (void)state;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_AQF, &spec), TAMIS_OK);
    tamis *f = new_filter(&plan), *g = new_slots(TAMIS_AQF, 6, 4);
    add_at(f, 4, 9);
    assert_cells(f, "slots 0: .4 oe:9 .59\n"
                    "offset 0: 0\n"
                    "slots in use 0: 1");
    tamis_free(f);
    assert_int_equal(tamis_add_times(g, key_with_chunk(g, 4, 9, 1), 12), TAMIS_OK);
    assert_int_equal(tamis_add(g, key_with_chunk(g, 4, 9, 4)), TAMIS_OK);
    assert_int_equal(tamis_add(g, key_with_chunk(g, 5, 2, 7)), TAMIS_OK);
    uint64_t stranger = key_with_chunk(g, 5, 2, 3);
    assert_true(tamis_has(g, stranger));
    assert_int_equal(tamis_adapt(g, stranger), TAMIS_OK);
    assert_cells(g, "slots 0: .4 o:9 ocsx:1 csn:3 csn:1 cs:9 csex:4 s:2 csex:7 .52\n"
                    "offset 0: 0\n"
                    "slots in use 0: 8\n"
                    "key hash 0: .4 1248000000000000 .3 1260000000000000 . 14b8000000000000 "
                    ".53");
    assert_steps(g, stranger,
                 "hash 1498000000000000\n"
                 "fingerprint 52\n"
                 "quotient 5\n"
                 "remainder 2\n"
                 "bits after it 6000000000000000\n"
                 "home slot, slots 0/5 ocsx:1 yes\n"
                 "offset of its block 0\n"
                 "first slot of its run a\n"
                 "slot of the run, slots 0/10 s:2 yes\n"
                 "more bits of that key, slots 0/11 csex:7 no\n"
                 "count 0\n"
                 "no: its remainder is there, but followed by bits of another key");
    tamis_free(g);
}

/* ---- aleph ------------------------------------------------------------- */

/* Doubles at that load, in thousandths. */
static tamis *new_aleph(uint32_t width, uint16_t load)
{
    tamis_plan plan = plan_for(TAMIS_ALEPH, 1, 0.1, 0);

    plan.slots = 64;
    plan.width = width;
    plan.load = load;
    plan.hashes = 21 << 8;
    plan.capacity = 64u * load / 1000 - 1;
    assert_int_equal(tamis__plan_settle(&plan), TAMIS_OK);
    return new_filter(&plan);
}

/* The key in the comment of aleph.c, but in 64 slots: quotient 7, fingerprint 1011. */
static void slots_of_aleph(void **state)
{
    tamis *f = new_aleph(5, 32);
    uint64_t key = tamis_key_with_hash(f, (uint64_t)0x7b << 54),
             other = tamis_key_with_hash(f, (uint64_t)0xa << 53);

    (void)state;
    assert_int_equal(tamis_add(f, key), TAMIS_OK);
    assert_cells(f, "slots 0: .7 oe:b .56\n"
                    "offset 0: 0\n"
                    "slots in use 0: 1\n"
                    "bits left 0: 4");
    assert_int_equal(tamis_add(f, other), TAMIS_OK);
    assert_cells(f, "slots 0: oe:a .14 oe:3 .112\n"
                    "offset 0: 0 0\n"
                    "slots in use 0: 2\n"
                    "bits left 0: 3 4");
    for (int i = 0; i < 14; i++)
        assert_int_equal(tamis_add(f, other), TAMIS_OK);
    assert_steps(f, tamis_key_with_hash(f, (uint64_t)0x7b5 << 50),
                 "hash 1ed4000000000000\n"
                 "doublings 4\n"
                 "quotient 7b\n"
                 "fingerprint 5\n"
                 "home slot, slots 0/123 oev:0 yes\n"
                 "offset of its block 0\n"
                 "first slot of its run 7b\n"
                 "slot of the run, slots 0/123 oev:0 yes\n"
                 "generation 0\n"
                 "yes: its run has a void, which passes for any key of the slot");
    tamis_free(f);
}

/* ---- All of them ------------------------------------------------------- */

enum { SLOTS = 64, KEYS = 50 };

typedef struct slots {
    tamis_cell at[SLOTS];
    size_t n;
} slots;

static bool take_slot(void *ctx, const tamis_cell *cell)
{
    slots *s = ctx;

    if (strcmp(cell->array, "slots") != 0)
        return false;
    s->at[s->n] = *cell;
    s->at[s->n++].marks &= ~(unsigned)TAMIS_MARK_RUN_END;
    return true;
}

static slots slots_of(tamis *f, const uint64_t *keys)
{
    slots s = { .n = 0 };

    add_all(f, keys, KEYS);
    assert_int_equal(tamis_visit_cells(f, take_slot, &s), TAMIS_OK);
    assert_int_equal(s.n, SLOTS);
    tamis_free(f);
    return s;
}

static void assert_same_slots(const slots *a, const slots *b)
{
    for (size_t i = 0; i < SLOTS; i++) {
        assert_int_equal(a->at[i].marks, b->at[i].marks);
        assert_int_equal(a->at[i].value, b->at[i].value);
        assert_int_equal(a->at[i].bits, b->at[i].bits);
    }
}

/* Distinct fingerprints of 6 and 8 bits lie as in the quotient filter, which has all three bits of
 * a slot; the other kinds work some of them out. */
static void runs_lie_alike_in_all_kinds(void **state)
{
    rng r = rng_for(19, 1);

    (void)state;
    for (int round = 0; round < 200; round++) {
        tamis *f = new_slots(TAMIS_QUOTIENT, 6, 8);
        uint64_t keys[KEYS], around = rng_below(&r, SLOTS), spread = 1 + rng_below(&r, SLOTS);
        for (uint64_t i = 0; i < KEYS; i++)
            keys[i] = key_at(f, (around + rng_below(&r, spread)) % SLOTS, (uint32_t)(i * 5));
        slots expected = slots_of(f, keys);
        slots cqf = slots_of(new_slots(TAMIS_CQF, 6, 8), keys);
        slots aqf = slots_of(new_slots(TAMIS_AQF, 6, 8), keys);
        slots aleph = slots_of(new_aleph(9, 900), keys);
        assert_same_slots(&expected, &cqf);
        assert_same_slots(&expected, &aqf);
        assert_same_slots(&expected, &aleph);
    }
}

/* ---- Shards ------------------------------------------------------------ */

/* The slot that is drawn for a fingerprint, and the slots of each shard before it. */
typedef struct shards {
    uint64_t slots[2];
    tamis_cell drawn, read;
    uint64_t told;
} shards;

static bool take_cell_of_shard(void *ctx, const tamis_cell *cell)
{
    shards *s = ctx;

    if (strcmp(cell->array, "slots") != 0)
        return true;
    assert_in_range(cell->number, 0, 1);
    assert_int_equal(cell->index, s->slots[cell->number]++);
    if (!(cell->marks & TAMIS_MARK_EMPTY))
        s->drawn = *cell;
    return true;
}

static bool take_step_of_shard(void *ctx, const tamis_step *step)
{
    shards *s = ctx;

    if (step->type == TAMIS_STEP_CELL)
        s->read = step->cell;
    if (step->type == TAMIS_STEP_NUMBER && strcmp(step->text, "shard") == 0)
        s->told = step->value;
    return true;
}

/* 2^17 slots are two shards; the last quotient is in the last slot of the second. */
static void large_tables_have_shards(void **state)
{
    const tamis_kind kinds[] = { TAMIS_CQF, TAMIS_AQF };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tamis *f = new_slots(kinds[i], 17, 8);
        uint64_t key = key_at(f, (1 << 17) - 1, 0x5a);
        shards s = { .told = 0 };
        add_at(f, (1 << 17) - 1, 0x5a);
        assert_int_equal(tamis_visit_cells(f, take_cell_of_shard, &s), TAMIS_OK);
        assert_true(tamis_explain(f, key, take_step_of_shard, &s));
        assert_int_equal(s.slots[0], 1 << 16);
        assert_int_equal(s.slots[1], 1 << 16);
        assert_int_equal(s.told, 1);
        assert_int_equal(s.drawn.number, 1);
        assert_int_equal(s.drawn.index, (1 << 16) - 1);
        assert_int_equal(s.drawn.value, 0x5a);
        assert_int_equal(s.read.number, 1);
        assert_int_equal(s.read.index, (1 << 16) - 1);
        assert_int_equal(s.read.value, 0x5a);
        tamis_free(f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v12_cities),
        cmocka_unit_test(slots_of_quotient),
        cmocka_unit_test(slots_of_cqf),
        cmocka_unit_test(slots_of_aqf),
        cmocka_unit_test(slots_of_aleph),
        cmocka_unit_test(runs_lie_alike_in_all_kinds),
        cmocka_unit_test(large_tables_have_shards),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
