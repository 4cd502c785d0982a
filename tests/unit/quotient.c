/* quotient: fingerprints injected, so that every slot is known; and all short histories of a tiny
 * table, each against the multiset it holds. */
#include "base/bits.h"
#include "base/cpu.h"
#include "base/le.h"
#include "base/packed.h"
#include "core/plan.h"
#include "kinds.h"

/* ---- Tables of chosen fingerprints ------------------------------------- */

enum { PLANES = 24, OCCUPIED = 4, CONTINUED = 2, SHIFTED = 1 };

static tamis_plan table_plan(uint64_t slots, uint32_t width)
{
    tamis_plan plan = plan_for(TAMIS_QUOTIENT, 1, 0.5, 0);

    plan.capacity = slots - 1;
    plan.slots = slots;
    plan.width = width;
    assert_int_equal(tamis__plan_settle(&plan), TAMIS_OK);
    assert_int_equal(plan.bytes, (slots + 63) / 64 * (PLANES + 8 * width) + 8);
    return plan;
}

static tamis *new_table(uint64_t slots, uint32_t width)
{
    tamis_plan plan = table_plan(slots, width);

    return new_filter(&plan);
}

/* The key of the lowest hash with that fingerprint. */
static uint64_t key_of_fingerprint(const tamis *f, uint64_t fingerprint)
{
    uint64_t all = f->plan.slots << f->plan.width;
    uint64_t hash = divide_up(fingerprint, 0, all);

    assert_int_equal(scale64(hash, all), fingerprint);
    return unhash_key(hash, f->salt);
}

static uint64_t key_at(const tamis *f, uint64_t quotient, uint32_t remainder)
{
    return key_of_fingerprint(f, quotient << f->plan.width | remainder);
}

static void add_fingerprint(tamis *f, uint64_t fingerprint)
{
    assert_int_equal(tamis_add(f, key_of_fingerprint(f, fingerprint)), TAMIS_OK);
    assert_true(tamis_has(f, key_of_fingerprint(f, fingerprint)));
}

static void add_at(tamis *f, uint64_t quotient, uint32_t remainder)
{
    add_fingerprint(f, quotient << f->plan.width | remainder);
    assert_true(is_whole(f));
}

static void remove_at(tamis *f, uint64_t quotient, uint32_t remainder)
{
    assert_int_equal(tamis_remove(f, key_at(f, quotient, remainder)), TAMIS_OK);
    assert_true(is_whole(f));
}

static const uint8_t *block_of(const tamis *f, uint64_t slot)
{
    return (const uint8_t *)f->payload + slot / 64 * (PLANES + 8 * f->plan.width);
}

static uint32_t remainder_of(const tamis *f, uint64_t slot)
{
    return packed_get(block_of(f, slot) + PLANES, slot % 64, f->plan.width);
}

static unsigned state_of(const tamis *f, uint64_t slot)
{
    const uint8_t *block = block_of(f, slot);
    unsigned state = 0;

    for (int plane = 0; plane < 3; plane++)
        state = state << 1 | (le64(block + 8 * plane) >> slot % 64 & 1);
    return state;
}

typedef struct expected {
    unsigned state;
    uint32_t remainder;
} expected;

static void assert_slots(const tamis *f, const expected *slots)
{
    for (uint64_t i = 0; i < f->plan.slots; i++) {
        assert_int_equal(state_of(f, i), slots[i].state);
        assert_int_equal(remainder_of(f, i), slots[i].remainder);
    }
    assert_true(is_whole(f));
}

/* ---- Against a multiset ------------------------------------------------ */

/* Fingerprints, ascending. */
typedef struct multiset {
    uint64_t *at;
    size_t n;
} multiset;

static size_t below(const multiset *m, uint64_t fingerprint)
{
    size_t i = 0;

    while (i < m->n && m->at[i] < fingerprint)
        i++;
    return i;
}

static size_t copies(const multiset *m, uint64_t fingerprint)
{
    return below(m, fingerprint + 1) - below(m, fingerprint);
}

static void insert(multiset *m, uint64_t fingerprint, size_t times)
{
    size_t i = below(m, fingerprint);

    memmove(m->at + i + times, m->at + i, (m->n - i) * sizeof *m->at);
    for (size_t j = 0; j < times; j++)
        m->at[i + j] = fingerprint;
    m->n += times;
}

static void erase(multiset *m, uint64_t fingerprint, size_t times)
{
    size_t i = below(m, fingerprint);

    m->n -= times;
    memmove(m->at + i, m->at + i + times, (m->n - i) * sizeof *m->at);
}

/* Where the runs that come first may start: behind those that wrap around the end. */
static uint64_t overflow(const tamis_plan *plan, const multiset *m)
{
    uint64_t first = 0, end;

    for (;; first = end - plan->slots) {
        end = first;
        for (size_t i = 0; i < m->n; i++) {
            uint64_t home = m->at[i] >> plan->width;
            end = (end > home ? end : home) + 1;
        }
        if (end <= plan->slots + first)
            return first;
    }
}

static void set_bit(uint8_t *plane, uint64_t bit)
{
    plane[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* The table by its definition: each in the first free slot from its home on, in their order. */
static void lay_out(uint8_t *payload, const tamis_plan *plan, const multiset *m)
{
    uint64_t end = overflow(plan, m);

    memset(payload, 0, plan->bytes);
    for (size_t i = 0; i < m->n; i++) {
        uint64_t home = m->at[i] >> plan->width;
        bool continued = i > 0 && m->at[i - 1] >> plan->width == home;
        end = end > home ? end : home;
        uint64_t slot = end++ % plan->slots;
        uint8_t *block = payload + slot / 64 * (PLANES + 8 * plan->width);
        set_bit(payload + home / 64 * (PLANES + 8 * plan->width), home % 64);
        if (continued)
            set_bit(block + 8, slot % 64);
        if (slot != home)
            set_bit(block + 16, slot % 64);
        packed_put(block + PLANES, slot % 64, plan->width,
                   (uint32_t)m->at[i] & packed_mask(plan->width));
    }
}

static void assert_is(const tamis *f, const multiset *m, uint8_t *payload)
{
    lay_out(payload, &f->plan, m);
    assert_memory_equal(f->payload, payload, f->plan.bytes);
    assert_int_equal(f->count, m->n);
}

typedef struct listing {
    const multiset *m;
    size_t seen;
} listing;

static bool is_next(void *ctx, uint64_t fingerprint, uint64_t count)
{
    listing *l = ctx;

    assert_true(l->seen < l->m->n);
    assert_int_equal(fingerprint, l->m->at[l->seen]);
    assert_int_equal(count, copies(l->m, fingerprint));
    l->seen += count;
    return true;
}

static void assert_lists(const tamis *f, const multiset *m)
{
    listing l = { m, 0 };

    assert_int_equal(tamis_list(f, is_next, &l), TAMIS_OK);
    assert_int_equal(l.seen, m->n);
}

/* ---- Slot by slot ------------------------------------------------------ */

/* Remainders are signed 32-bit numbers in the source, whose order only matters within runs. */
static void v12_cities(void **state)
{
    tamis *f = new_table(8, 32);
    const uint32_t amsterdam = 164894540, berlin = (uint32_t)-89622902, london = 232552816;
    const uint32_t madrid = 249059682, ankara = 62147742, ferret = 122150710;

    (void)state;
    add_at(f, 1, amsterdam);
    add_at(f, 4, berlin);
    add_at(f, 7, london);
    assert_slots(f, (expected[]){ { 0, 0 },
                                  { OCCUPIED, amsterdam },
                                  { 0, 0 },
                                  { 0, 0 },
                                  { OCCUPIED, berlin },
                                  { 0, 0 },
                                  { 0, 0 },
                                  { OCCUPIED, london } });
    add_at(f, 1, madrid);
    add_at(f, 2, ankara);
    assert_slots(f, (expected[]){ { 0, 0 },
                                  { OCCUPIED, amsterdam },
                                  { OCCUPIED | CONTINUED | SHIFTED, madrid },
                                  { SHIFTED, ankara },
                                  { OCCUPIED, berlin },
                                  { 0, 0 },
                                  { 0, 0 },
                                  { OCCUPIED, london } });
    assert_false(tamis_has(f, key_at(f, 1, ferret)));
    assert_true(tamis_has(f, key_at(f, 4, berlin)));
    tamis_free(f);
}

/* In every order of adding: eight of them, rotated and reversed. */
static void two_clusters_of_four_runs(void **state)
{
    const uint8_t pairs[8][2] = { { 1, 0xa }, { 1, 0xc }, { 1, 3 }, { 2, 5 },
                                  { 4, 1 },   { 4, 9 },   { 7, 2 }, { 7, 3 } };
    const expected full[16] = { { 0, 0 }, { 4, 3 }, { 7, 0xa }, { 3, 0xc }, { 5, 5 },
                                { 1, 1 }, { 3, 9 }, { 4, 2 },   { 3, 3 } };
    const expected less[16] = { { 0, 0 }, { 4, 3 }, { 7, 0xc }, { 1, 5 }, { 4, 1 },
                                { 3, 9 }, { 0, 0 }, { 4, 2 },   { 3, 3 } };

    (void)state;
    for (int order = 0; order < 16; order++) {
        tamis *f = new_table(16, 4);

        for (int i = 0; i < 8; i++) {
            int at = (i + order) % 8;
            at = order < 8 ? at : 7 - at;
            add_at(f, pairs[at][0], pairs[at][1]);
        }
        assert_slots(f, full);
        remove_at(f, 1, 0xa);
        assert_slots(f, less);
        add_at(f, 1, 0xa);
        assert_slots(f, full);
        tamis_free(f);
    }
}

static void runs_wrap_around_the_end(void **state)
{
    tamis *f = new_table(8, 3);

    (void)state;
    add_at(f, 0, 6);
    add_at(f, 7, 4);
    add_at(f, 7, 1);
    add_at(f, 6, 7);
    add_at(f, 7, 2);
    add_at(f, 1, 0);
    assert_slots(
        f, (expected[]){
               { 7, 2 }, { 7, 4 }, { 1, 6 }, { 1, 0 }, { 0, 0 }, { 0, 0 }, { 4, 7 }, { 4, 1 } });
    assert_lists(f, &(multiset){ (uint64_t[]){ 6, 8, 55, 57, 58, 60 }, 6 });
    remove_at(f, 7, 1);
    assert_slots(
        f, (expected[]){
               { 7, 4 }, { 5, 6 }, { 1, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 4, 7 }, { 4, 2 } });
    remove_at(f, 7, 2);
    remove_at(f, 7, 4);
    assert_slots(
        f, (expected[]){
               { 4, 6 }, { 4, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 4, 7 }, { 0, 0 } });
    tamis_free(f);
}

/* ---- All short histories ----------------------------------------------- */

/* Eight slots, remainders of two bits. If every add to every multiset of up to four fingerprints
 * gives the layout of one more, and every remove from every one of up to five that of one less,
 * then so does every sequence of adds, and every order of removes. */
enum { TINY_SLOTS = 8, TINY_WIDTH = 2, TINY_FINGERPRINTS = TINY_SLOTS << TINY_WIDTH, LONGEST = 5 };

typedef struct tiny {
    tamis *f;
    uint64_t keys[TINY_FINGERPRINTS], values[LONGEST + 1];
    uint8_t payload[64];
    multiset m;
    unsigned long multisets, adds, removes;
} tiny;

static void restore(tiny *t)
{
    lay_out(t->f->payload, &t->f->plan, &t->m);
    t->f->count = t->m.n;
}

static void check_adds(tiny *t)
{
    for (uint64_t p = 0; p < TINY_FINGERPRINTS; p++, t->adds++) {
        assert_int_equal(tamis_add(t->f, t->keys[p]), TAMIS_OK);
        insert(&t->m, p, 1);
        assert_is(t->f, &t->m, t->payload);
        erase(&t->m, p, 1);
        restore(t);
    }
}

static void check_removes(tiny *t)
{
    for (uint64_t p = 0; p < TINY_FINGERPRINTS; p++, t->removes++) {
        size_t held = copies(&t->m, p);

        assert_int_equal(tamis_has(t->f, t->keys[p]), held > 0);
        assert_int_equal(tamis_count(t->f, t->keys[p]), held);
        assert_int_equal(tamis_remove(t->f, t->keys[p]), held ? TAMIS_OK : TAMIS_ABSENT);
        if (!held)
            continue;
        erase(&t->m, p, 1);
        assert_is(t->f, &t->m, t->payload);
        insert(&t->m, p, 1);
        restore(t);
    }
}

static void check_from(tiny *t, uint64_t lowest)
{
    restore(t);
    assert_true(is_whole(t->f));
    assert_lists(t->f, &t->m);
    check_removes(t);
    if (t->m.n < LONGEST)
        check_adds(t);
    t->multisets++;
    for (uint64_t p = lowest; p < TINY_FINGERPRINTS && t->m.n < LONGEST; p++) {
        insert(&t->m, p, 1);
        check_from(t, p);
        erase(&t->m, p, 1);
    }
}

static void every_short_history_of_a_tiny_table(void **state)
{
    (void)state;
    if (is_sanitized())
        skip(); /* long_histories go the same ways */
    tiny t = { .f = new_table(TINY_SLOTS, TINY_WIDTH) };
    t.m.at = t.values;
    for (uint64_t p = 0; p < TINY_FINGERPRINTS; p++)
        t.keys[p] = key_of_fingerprint(t.f, p);
    check_from(&t, 0);
    assert_int_equal(t.multisets, 435897); /* 37 choose 5 */
    tamis_free(t.f);
}

/* ---- Long histories ---------------------------------------------------- */

typedef struct walk {
    tamis *f;
    multiset m;
    uint8_t *payload;
    rng r;
    uint64_t homes; /* the last ones only, of that many */
} walk;

/* Few fingerprints, in few places, so that runs and clusters are long and wrap around. */
static uint64_t random_fingerprint(walk *w)
{
    const tamis_plan *p = &w->f->plan;
    uint64_t home = p->slots - 1 - rng_below(&w->r, w->homes);
    uint64_t remainder = rng_next(&w->r) & packed_mask(p->width);

    return home << p->width | (rng_below(&w->r, 2) ? remainder : remainder & 3);
}

static void add_some(walk *w)
{
    uint64_t fingerprint = random_fingerprint(w),
             times = rng_below(&w->r, 4) ? 1 : rng_below(&w->r, 9);
    uint64_t room = w->f->plan.capacity - w->m.n, key = key_of_fingerprint(w->f, fingerprint);
    tamis_status status = times == 1 ? tamis_add(w->f, key) : tamis_add_times(w->f, key, times);

    assert_int_equal(status, times <= room ? TAMIS_OK : TAMIS_FULL);
    if (times <= room)
        insert(&w->m, fingerprint, times);
}

static void remove_some(walk *w)
{
    uint64_t fingerprint =
        w->m.n && rng_below(&w->r, 8) ? w->m.at[rng_below(&w->r, w->m.n)] : random_fingerprint(w);
    uint64_t held = copies(&w->m, fingerprint), times = 1 + rng_below(&w->r, 4) / 3 * held;
    uint64_t key = key_of_fingerprint(w->f, fingerprint);
    tamis_status status =
        times == 1 ? tamis_remove(w->f, key) : tamis_remove_times(w->f, key, times);

    assert_int_equal(status, times <= held ? TAMIS_OK : TAMIS_ABSENT);
    if (times <= held)
        erase(&w->m, fingerprint, times);
}

static void check_answers(walk *w)
{
    uint64_t keys[200], hits[4];

    for (int i = 0; i < 200; i++)
        keys[i] = key_of_fingerprint(w->f, random_fingerprint(w));
    (void)tamis_has_many(w->f, hits, keys, 200);
    for (int i = 0; i < 200; i++) {
        uint64_t all = w->f->plan.slots << w->f->plan.width;
        size_t held = copies(&w->m, scale64(hash_key(keys[i], w->f->salt), all));
        assert_int_equal(tamis_has(w->f, keys[i]), held > 0);
        assert_int_equal(hits[i / 64] >> i % 64 & 1, held > 0);
        assert_int_equal(tamis_count(w->f, keys[i]), held);
    }
    assert_lists(w->f, &w->m);
    assert_true(is_whole(w->f));
}

static void check_walk(uint64_t slots, uint32_t width, uint64_t homes, uint64_t steps)
{
    walk w = { .f = new_table(slots, width), .r = rng_for(slots, width), .homes = homes };

    w.m.at = array_of(slots, sizeof *w.m.at);
    w.payload = array_of(w.f->plan.bytes, 1);
    for (uint64_t i = 0; i < steps; i++) {
        /* Up to the brim, down to nothing, and again. */
        if (rng_below(&w.r, 10) < (i / (2 * slots) % 2 ? 2u : 7u))
            add_some(&w);
        else
            remove_some(&w);
        assert_is(w.f, &w.m, w.payload);
        if (i % 50 == 0)
            check_answers(&w);
    }
    free(w.payload);
    free(w.m.at);
    tamis_free(w.f);
}

static void long_histories(void **state)
{
    const uint64_t slots[] = { 2, 3, 7, 8, 63, 64, 65, 100, 128, 129, 200, 500 };
    const uint64_t steps = run_size(800, 300, 2000);

    (void)state;
    for (uint32_t width = 1; width <= 32; width++)
        for (int i = 0; i < 12; i++) {
            check_walk(slots[i], width, slots[i], steps);
            check_walk(slots[i], width, slots[i] < 3 ? slots[i] : 3, steps);
        }
}

/* Lookups of every instruction set agree, on runs of any length and at any place. */
static void kernels_agree(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= 32; width++) {
        walk w = { .f = new_table(1000, width), .r = rng_for(40, width), .homes = 1000 };

        for (int i = 0; i < 900; i++)
            add_fingerprint(w.f, random_fingerprint(&w));
        for (int round = 0; round < 20; round++) {
            uint64_t keys[500], hits[8], others[8];

            for (int i = 0; i < 500; i++)
                keys[i] = key_of_fingerprint(w.f, random_fingerprint(&w));
            size_t found = tamis_has_many(w.f, hits, keys, 500);
            tamis__use_cpu(w.f, 0);
            assert_int_equal(tamis_has_many(w.f, others, keys, 500), found);
            assert_memory_equal(hits, others, sizeof hits);
            for (int i = 0; i < 500; i++)
                assert_int_equal(hits[i / 64] >> i % 64 & 1, tamis_count(w.f, keys[i]) > 0);
            tamis__use_cpu(w.f, tamis__cpu());
        }
        tamis_free(w.f);
    }
}

/* ---- Capacity and size ------------------------------------------------- */

/* Copies of one key push the runs behind it away, to any slot of the next block and beyond. */
static void runs_behind_many_copies_are_found(void **state)
{
    enum { NEIGHBOURS = 200, MOST_COPIES = 260 };
    tamis *f = new_table(704, 6);
    uint64_t keys[NEIGHBOURS], hits[NEIGHBOURS / 64 + 1];

    (void)state;
    for (uint64_t q = 0; q < NEIGHBOURS; q++) {
        keys[q] = key_at(f, q + 3, (uint32_t)q % 61);
        assert_int_equal(tamis_add(f, keys[q]), TAMIS_OK);
    }
    for (int copies = 0; copies < MOST_COPIES; copies++) {
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            tamis__use_cpu(f, cpu ? tamis__cpu() : 0);
            assert_int_equal(tamis_has_many(f, hits, keys, NEIGHBOURS), NEIGHBOURS);
            for (int i = 0; i < NEIGHBOURS; i++)
                assert_true(tamis_has(f, keys[i]));
        }
        assert_int_equal(tamis_add(f, key_at(f, 3, 0)), TAMIS_OK);
    }
    tamis_free(f);
}

static void the_capacity_counts_copies(void **state)
{
    tamis_plan plan = plan_for(TAMIS_QUOTIENT, 100, 0.01, 1);
    tamis *f = new_filter(&plan);

    (void)state;
    assert_int_equal(tamis_add_times(f, 1, 101), TAMIS_FULL);
    assert_int_equal(tamis_add_times(f, 1, UINT64_MAX), TAMIS_FULL);
    assert_int_equal(tamis_add_times(f, 1, 0), TAMIS_OK);
    assert_int_equal(count_ones(f->payload, f->plan.bytes), 0);
    assert_int_equal(tamis_add_times(f, 1, 98), TAMIS_OK);
    assert_int_equal(tamis_count(f, 1), 98);
    image_bytes before = image_of(f);
    assert_int_equal(tamis_add_times(f, 2, 3), TAMIS_FULL);
    assert_int_equal(tamis_remove_times(f, 1, 99), TAMIS_ABSENT);
    assert_int_equal(tamis_remove_times(f, 1, 0), TAMIS_OK);
    assert_true(is_image_of(&before, f));
    assert_int_equal(tamis_add_times(f, 2, 2), TAMIS_OK);
    assert_int_equal(tamis_add(f, 1), TAMIS_FULL);
    assert_int_equal(tamis_remove_times(f, 1, 98), TAMIS_OK);
    assert_int_equal(tamis_remove_times(f, 2, 2), TAMIS_OK);
    assert_int_equal(count_ones(f->payload, f->plan.bytes), 0);
    free_bytes(&before);
    tamis_free(f);
}

static void slots_follow_the_load(void **state)
{
    const double loads[] = { 0, 0.1, 0.5, 0.75, 0.9, 0.95 };
    tamis_plan p;

    (void)state;
    for (int i = 0; i < 6; i++)
        for (uint64_t keys = 0; keys < 3000000; keys += keys / 7 + 1) {
            tamis_spec spec = TAMIS_SPEC(.keys = keys, .fpr = 0.001, .load = loads[i]);
            double wanted = ((double)keys + 1) / (loads[i] > 0 ? loads[i] : 0.75);

            assert_int_equal(tamis_plan_kind(&p, TAMIS_QUOTIENT, &spec), TAMIS_OK);
            assert_true((double)p.slots >= wanted && (double)p.slots <= wanted * 1.002 + 1);
            assert_true(p.bytes * 8 <= (p.slots + 63) * (p.width + 3) + 64);
        }
    tamis_spec spec = TAMIS_SPEC(.keys = 1000, .load = 0.96);
    assert_int_equal(tamis_plan_kind(&p, TAMIS_QUOTIENT, &spec), TAMIS_RANGE);
}

/* A table of random fingerprints, copies among them. */
static walk walk_to(uint64_t slots, uint32_t width, uint64_t n, uint64_t round)
{
    walk w = { .f = new_table(slots, width), .r = rng_for(41, round), .homes = slots };

    w.m.at = array_of(slots, sizeof *w.m.at);
    w.payload = array_of(16 * w.f->plan.bytes, 1);
    while (w.m.n < n)
        add_some(&w);
    return w;
}

static void end_walk(walk *w)
{
    free(w->payload);
    free(w->m.at);
    tamis_free(w->f);
}

/* The bytes are those of a table of that size that was never another. */
static void sizes_are_doubled_and_halved(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 30; round++) {
        uint64_t slots = 2 * (50 + round * 7);
        walk w = walk_to(slots, 12, slots / (1 + round % 3) - 1, round);
        image_bytes before = image_of(w.f);

        for (uint32_t times = 1; times <= 11; times += times < 4 ? 1 : 7) {
            uint64_t keys = (slots << times) - 1;
            if (times == 11)
                w.payload = realloc(w.payload,
                                    tamis__ops(TAMIS_QUOTIENT)
                                        ->bytes(&(tamis_plan){ .slots = slots << 11, .width = 1 }));
            assert_int_equal(tamis_resize(w.f, keys), TAMIS_OK);
            assert_int_equal(w.f->plan.slots, slots << times);
            assert_int_equal(w.f->plan.width, 12 - times);
            assert_int_equal(w.f->plan.capacity, keys);
            assert_is(w.f, &w.m, w.payload);
            check_answers(&w);
        }
        assert_int_equal(tamis_resize(w.f, w.f->plan.capacity + 1), TAMIS_RANGE);
        assert_int_equal(tamis_resize(w.f, slots - 1), TAMIS_OK);
        assert_true(is_image_of(&before, w.f));
        bool fits = w.m.n <= slots / 2 - 1;
        assert_int_equal(tamis_resize(w.f, slots / 2 - 1), fits ? TAMIS_OK : TAMIS_FULL);
        assert_int_equal(w.f->plan.slots, fits ? slots / 2 : slots);
        assert_is(w.f, &w.m, w.payload);
        free_bytes(&before);
        end_walk(&w);
    }
}

static void merged_fingerprints_are_those_of_both(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 30; round++) {
        walk a = walk_to(200 + round, 5, 90, round), b = walk_to(200 + round, 5, 90, round + 100);
        tamis *sum = NULL;

        assert_int_equal(tamis_resize(b.f, b.f->plan.capacity + 1), TAMIS_OK);
        assert_int_equal(tamis_merge_many(&sum, (const tamis *[]){ a.f, b.f }, 2, NULL), TAMIS_OK);
        assert_int_equal(tamis_combine(a.f, TAMIS_MERGE, b.f), TAMIS_OK);
        for (size_t i = 0; i < b.m.n; i++)
            insert(&a.m, b.m.at[i], 1);
        assert_is(a.f, &a.m, a.payload);
        assert_is(sum, &a.m, a.payload);
        tamis_free(sum);
        end_walk(&a);
        end_walk(&b);
    }
}

static void keys_that_are_built_are_keys_that_are_added(void **state)
{
    rng r = rng_for(42, 0);

    (void)state;
    for (size_t n = 0; n < 30000; n += n + 1) {
        tamis_plan plan = plan_for(TAMIS_QUOTIENT, n, 0.3, n);
        uint64_t *keys = fresh_keys(&r, n);
        for (size_t i = 1; i < n; i += 3)
            keys[i] = keys[i / 2];
        tamis *built = filter_of(&plan, keys, n), *added = new_filter(&plan), *none = NULL;

        for (size_t i = 0; i < n; i++)
            assert_int_equal(tamis_add(added, keys[i]), TAMIS_OK);
        assert_true(same_image(built, added));
        plan.capacity -= n > 0;
        assert_int_equal(tamis_build(&none, &plan, keys, n, NULL), n ? TAMIS_FULL : TAMIS_OK);
        tamis_free(none);
        tamis_free(added);
        tamis_free(built);
        free(keys);
    }
}

/* Batches that are large beside the table, small ones, and what is too much for it. */
static void batches_leave_what_single_keys_leave(void **state)
{
    enum { KEYS = 60000, FIRST = 30000, MORE = 29000 };
    tamis_plan plan = plan_for(TAMIS_QUOTIENT, KEYS, 0.01, 3);
    rng r = rng_for(60, 0);
    uint64_t *keys = fresh_keys(&r, KEYS + 1000);
    tamis *f = filter_of(&plan, keys, FIRST), *first = filter_of(&plan, keys, FIRST);
    tamis *all = new_filter(&plan);
    size_t done = 0;

    (void)state;
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(tamis_add(all, keys[i]), TAMIS_OK);
    assert_int_equal(tamis_add_many(f, &done, keys + FIRST, MORE), TAMIS_OK);
    assert_int_equal(done, MORE);
    assert_int_equal(tamis_add_many(f, &done, keys + FIRST + MORE, 2000), TAMIS_FULL);
    assert_int_equal(done, KEYS - FIRST - MORE);
    assert_true(same_image(f, all));
    assert_int_equal(tamis_remove_many(f, &done, keys + FIRST, MORE), TAMIS_OK);
    assert_int_equal(done, MORE);
    assert_int_equal(tamis_remove_many(f, &done, keys + FIRST + MORE, 1000), TAMIS_OK);
    assert_true(same_image(f, first));
    tamis_free(f);
    tamis_free(first);
    tamis_free(all);
    free(keys);
}

/* Of `crowd` keys in ten, hashes lie within the last 64th of all: clusters go on for many blocks,
 * and around the end. Every seventh key comes again, and every ninth that is to go is not there. */
static void check_removals(unsigned bits, unsigned crowd, unsigned cpu)
{
    size_t n = ((size_t)15 << bits) / 16, told, removed = 0;
    tamis_spec spec = TAMIS_SPEC(.keys = n, .quotient_bits = bits, .tag_bits = 8);
    rng r = rng_for(1514, bits);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan;

    assert_int_equal(tamis_plan_kind(&plan, TAMIS_QUOTIENT, &spec), TAMIS_OK);
    for (size_t i = 0; i < n; i++)
        if (i % 10 < crowd)
            keys[i] = unhash_key(~(keys[i] >> 6), salt_of_seed(plan.hasher.seed));
    for (size_t i = 7; i < n; i += 7)
        keys[i] = keys[i / 2];
    tamis *many = filter_of(&plan, keys, n), *one = filter_of(&plan, keys, n);
    tamis__use_cpu(many, cpu);
    tamis__use_cpu(one, 0);
    for (size_t i = 0; i < n; i += 9)
        keys[i] = ~keys[i];
    for (size_t from = 0, step = 70; from + step <= n; from += step, step += step / 3) {
        assert_in_range(tamis_remove_many(many, &told, keys + from, step), TAMIS_OK, TAMIS_ABSENT);
        removed = 0;
        for (size_t i = 0; i < step; i++)
            removed += tamis_remove(one, keys[from + i]) == TAMIS_OK;
        assert_int_equal(told, removed);
        assert_true(same_image(many, one) && is_whole(many));
    }
    tamis_free(many);
    tamis_free(one);
    free(keys);
}

static void batches_take_bytes_out_as_single_keys_do(void **state)
{
    (void)state;
    for (unsigned bits = 7; bits <= run_size(13, 11, 13); bits += 2)
        for (unsigned crowd = 0; crowd < 3; crowd++) {
            check_removals(bits, crowd, 0);
            check_removals(bits, crowd, tamis__cpu());
        }
}

static void filters_grow_if_asked_to(void **state)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 10, .fpr = 0x1p-20, .can = TAMIS_CAN_GROW);
    tamis_plan plan;
    rng r = rng_for(43, 0);

    (void)state;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_QUOTIENT, &spec), TAMIS_OK);
    tamis *f = new_filter(&plan);
    uint64_t *keys = fresh_keys(&r, 10000), slots = plan.slots;
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(tamis_add(f, keys[i]), TAMIS_OK);
    add_all(f, keys + 5000, 5000);
    for (size_t i = 0; i < 10000; i++)
        assert_true(tamis_has(f, keys[i]));
    assert_true(is_whole(f));
    assert_int_equal(f->plan.slots, slots << 10);
    assert_int_equal(f->plan.width, plan.width - 10);
    free(keys);
    tamis_free(f);
}

/* ---- Damage ------------------------------------------------------------ */

/* Each bit of a small table says something: none can be flipped unseen. */
static void verify_sees_every_bit(void **state)
{
    walk w = walk_to(70, 3, 50, 0);
    uint8_t *payload = w.f->payload;

    (void)state;
    for (uint64_t bit = 0; bit < w.f->plan.bytes * 8; bit++) {
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool whole = is_whole(w.f);
        /* A remainder may be another one, in order. */
        bool is_remainder = bit / 8 % (PLANES + 24) >= PLANES;
        assert_true(!whole || is_remainder);
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_true(is_whole(w.f));
    w.f->count++;
    assert_false(is_whole(w.f));
    end_walk(&w);
}

static void scribble(tamis *f, rng *r, int how)
{
    uint8_t *at = f->payload;

    for (uint64_t i = 0; i < f->plan.bytes; i++)
        at[i] = how == 0 ? 0xFF : how == 1 ? (uint8_t)rng_next(r) : how == 2 ? 0xFE : 0;
    for (uint64_t i = 0; how == 3 && i < f->plan.slots; i += 64)
        memset(at + i / 64 * (PLANES + 8 * f->plan.width), 0xFF, 8);
}

static bool is_counted(void *ctx, uint64_t fingerprint, uint64_t count)
{
    (void)fingerprint;
    *(uint64_t *)ctx += count;
    return true;
}

/* A view may hold any bytes: no slot at home, none empty, no run that ends, noise. */
static void queries_end_on_any_payload(void **state)
{
    rng r = rng_for(44, 0);

    (void)state;
    for (int round = 0; round < 400; round++) {
        tamis *f = new_table(1 + rng_below(&r, 300), 1 + (uint32_t)rng_below(&r, 32));
        uint64_t keys[100], hits[2], listed = 0;

        scribble(f, &r, round % 4);
        for (int i = 0; i < 100; i++)
            keys[i] = rng_next(&r);
        (void)tamis_has_many(f, hits, keys, 100);
        for (int i = 0; i < 100; i++) {
            (void)tamis_has(f, keys[i]);
            (void)tamis_count(f, keys[i]);
        }
        assert_int_equal(tamis_list(f, is_counted, &listed), TAMIS_OK);
        assert_true(listed <= 2 * f->plan.slots);
        (void)info_of(f);
        (void)is_whole(f);
        tamis_free(f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v12_cities),
        cmocka_unit_test(two_clusters_of_four_runs),
        cmocka_unit_test(runs_wrap_around_the_end),
        cmocka_unit_test(every_short_history_of_a_tiny_table),
        cmocka_unit_test(long_histories),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(runs_behind_many_copies_are_found),
        cmocka_unit_test(the_capacity_counts_copies),
        cmocka_unit_test(slots_follow_the_load),
        cmocka_unit_test(sizes_are_doubled_and_halved),
        cmocka_unit_test(merged_fingerprints_are_those_of_both),
        cmocka_unit_test(keys_that_are_built_are_keys_that_are_added),
        cmocka_unit_test(batches_leave_what_single_keys_leave),
        cmocka_unit_test(batches_take_bytes_out_as_single_keys_do),
        cmocka_unit_test(filters_grow_if_asked_to),
        cmocka_unit_test(verify_sees_every_bit),
        cmocka_unit_test(queries_end_on_any_payload),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
