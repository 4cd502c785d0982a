/* cqf: the codes of counts, runs slot by slot, and tables against an exact multiset of fingerprints
 * that are chosen, not hashed: so that runs are long, go around the end and fill all but a slot. */
#include "quotient/cqf.h"

#include "base/cpu.h"
#include "kinds.h"
#include "quotient/runs_writer.h"

/* ---- Counter codes ----------------------------------------------------- */

typedef struct vector {
    unsigned width;
    uint32_t x;
    uint64_t count;
    unsigned n;
    uint32_t code[8];
} vector;

static void counts_are_written_as_specified(void **state)
{
    const vector vectors[] = {
        { 8, 9, 1, 1, { 9 } },
        { 8, 9, 2, 2, { 9, 9 } },
        { 8, 9, 3, 3, { 9, 0, 9 } },
        { 8, 0, 1, 1, { 0 } },
        { 8, 0, 2, 2, { 0, 0 } },
        { 8, 0, 3, 3, { 0, 0, 0 } },
        { 8, 0, 4, 4, { 0, 1, 0, 0 } },
        { 8, 0, 258, 4, { 0, 255, 0, 0 } },
        { 8, 0, 260, 5, { 0, 2, 2, 0, 0 } },
        { 8, 0, 70000, 6, { 0, 2, 20, 127, 0, 0 } },
        { 8, 1, 4, 4, { 1, 0, 3, 1 } },
        { 8, 1, 257, 5, { 1, 0, 3, 2, 1 } },
        { 8, 2, 257, 5, { 2, 0, 3, 1, 2 } },
        { 8, 5, 4, 3, { 5, 2, 5 } },
        { 8, 5, 100, 4, { 5, 0, 99, 5 } },
        { 8, 5, 257, 4, { 5, 2, 1, 5 } },
        { 8, 5, 70000, 5, { 5, 2, 23, 149, 5 } },
        { 8, 255, 256, 3, { 255, 254, 255 } },
        { 8, 255, 257, 4, { 255, 2, 1, 255 } },
        { 3, 4, 4, 3, { 4, 2, 4 } },
        { 3, 4, 6, 4, { 4, 0, 5, 4 } },
        { 3, 4, 9, 4, { 4, 2, 1, 4 } },
        { 3, 7, 8, 3, { 7, 6, 7 } },
        { 3, 1, 9, 5, { 1, 0, 3, 2, 1 } },
        { 8, 9, 0, 0, { 0 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const vector *v = &vectors[i];
        uint32_t code[COUNTER_MOST];

        assert_int_equal(cqf_counter_put(code, v->x, v->count, v->width), v->n);
        assert_memory_equal(code, v->code, v->n * sizeof *code);
    }
}

/* ---- Tables ------------------------------------------------------------ */

/* As a shard: header, blocks, slack; the guard after it must stay what it is. */
typedef struct box {
    uint8_t *shard;
    size_t size;
    runs_table t;
} box;

enum { GUARD = 64 };

static box box_of(uint64_t slots, unsigned width)
{
    size_t size = RUNS_HEADER + slots / RUNS_BLOCK * (RUNS_SLOTS + 8 * width) + 8;
    box b = { array_of(size + GUARD, 1), size, { 0 } };

    memset(b.shard + size, 0xa5, GUARD);
    b.t = runs_table_at(b.shard, slots, width);
    return b;
}

static void free_box(box *b)
{
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(b->shard[b->size + (size_t)i], 0xa5);
    free(b->shard);
}

static tamis_status put_in(box *b, uint64_t q, uint32_t x, uint64_t times)
{
    return cqf_add_at((shards_position){ b->t, q, x }, b->t.slots - 1, times);
}

static tamis_status take_from(box *b, uint64_t q, uint32_t x, uint64_t times)
{
    return cqf_remove_at((shards_position){ b->t, q, x }, times);
}

static uint64_t count_of(runs_table t, uint64_t q, uint32_t x)
{
    return cqf_count_at((shards_position){ t, q, x });
}

/* ---- Round trips of codes ---------------------------------------------- */

/* Before and after it in the run stand other remainders, the next one with a counter of its own. */
static void assert_reads_back(unsigned width, uint32_t x, uint64_t count, bool is_alone)
{
    box b = box_of(192, width);
    uint32_t last = packed_mask(width);

    assert_int_equal(put_in(&b, 7, x, count), TAMIS_OK);
    if (!is_alone && x > 0)
        assert_int_equal(put_in(&b, 7, x - 1, 1 + count % 7), TAMIS_OK);
    if (!is_alone && x < last)
        assert_int_equal(put_in(&b, 7, x + 1, 1 + count % 5), TAMIS_OK);
    assert_int_equal(count_of(b.t, 7, x), count);
    if (!is_alone && x > 0)
        assert_int_equal(count_of(b.t, 7, x - 1), 1 + count % 7);
    if (!is_alone && x < last)
        assert_int_equal(count_of(b.t, 7, x + 1), 1 + count % 5);
    free_box(&b);
}

/* One copy more takes one slot more or none: what add, and room for as many keys as slots, rely
 * on. */
static void counts_are_read_back(void **state)
{
    (void)state;
    for (unsigned width = 2; width <= 6; width++)
        for (uint32_t x = 0; x <= packed_mask(width); x++) {
            uint32_t code[COUNTER_MOST];
            unsigned before = 0;

            for (uint64_t c = 1; c <= 5000; c++) {
                unsigned n = cqf_counter_put(code, x, c, width);

                assert_true(n == before || n == before + 1);
                assert_true(n <= c);
                before = n;
                if (c < 300 || c % 61 == 0)
                    assert_reads_back(width, x, c, c % 2);
            }
        }
}

static void the_largest_counts_are_read_back(void **state)
{
    const uint64_t counts[] = { UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2, UINT64_C(1) << 63 };

    (void)state;
    for (unsigned width = 2; width <= 32; width++)
        for (int i = 0; i < 4; i++) {
            assert_reads_back(width, 0, counts[i], true);
            assert_reads_back(width, 1, counts[i], true);
            assert_reads_back(width, packed_mask(width), counts[i], false);
        }
}

/* ---- Slot by slot ------------------------------------------------------ */

typedef struct fact {
    uint64_t q;
    uint32_t x;
    uint64_t count;
} fact;

static const fact FACTS[] = { { 1, 3, 1 },  { 1, 7, 1 },  { 2, 2, 1 },  { 2, 5, 4 },  { 4, 9, 1 },
                              { 60, 1, 1 }, { 60, 4, 1 }, { 60, 6, 2 }, { 61, 0, 3 }, { 63, 8, 1 },
                              { 63, 9, 1 }, { 64, 5, 1 }, { 70, 1, 1 } };
enum { N_FACTS = sizeof FACTS / sizeof *FACTS };

static void assert_is_the_vector(runs_table t)
{
    const uint32_t from_1[] = { 3, 7, 2, 5, 2, 5, 9 };
    const uint32_t from_60[] = { 1, 4, 6, 6, 0, 0, 0, 8, 9, 5, 1 };
    const uint64_t words[][3] = { { 0xb000000000000016, 0x80000000000000c4, 0 },
                                  { 0x41, 0x74, 5 },
                                  { 0, 0, 0 } };

    for (uint64_t i = 0; i < t.slots; i++)
        assert_int_equal(runs_slot(t, i), i >= 1 && i < 8     ? from_1[i - 1]
                                          : i >= 60 && i < 71 ? from_60[i - 60]
                                                              : 0);
    for (uint64_t k = 0; k < 3; k++) {
        const uint8_t *b = runs_block(t, k);

        assert_int_equal(runs_occupied(b), words[k][0]);
        assert_int_equal(runs_ends(b), words[k][1]);
        assert_int_equal(b[RUNS_OFFSET], words[k][2]);
    }
}

/* The last slot up to which quotients up to q reach, or q. */
static uint64_t run_end(runs_table t, uint64_t q)
{
    runs_run r = runs_find(t, q);

    return r.is_there ? r.end - 1 : r.start > q ? r.start - 1 : q;
}

static void slots_are_as_specified(void **state)
{
    const uint64_t ends[][2] = { { 1, 2 },   { 2, 6 },   { 3, 6 },   { 4, 7 },
                                 { 59, 59 }, { 60, 63 }, { 61, 66 }, { 62, 66 },
                                 { 63, 68 }, { 64, 69 }, { 69, 69 }, { 70, 70 } };
    box b = box_of(192, 4);

    (void)state;
    for (int i = N_FACTS; i-- > 0;)
        assert_int_equal(put_in(&b, FACTS[i].q, FACTS[i].x, FACTS[i].count), TAMIS_OK);
    assert_is_the_vector(b.t);
    assert_int_equal(runs_used(b.t), 18);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        assert_int_equal(run_end(b.t, ends[i][0]), ends[i][1]);
    assert_int_equal(runs_find_gap(b.t, 8), 8);
    assert_int_equal(runs_find_gap(b.t, 1), 8);
    assert_int_equal(runs_find_gap(b.t, 60), 71);
    free_box(&b);
}

static void slots_are_as_specified_in_order(void **state)
{
    box b = box_of(192, 4);
    runs_writer w = runs_writer_at(b.t, 0, 0, false);

    (void)state;
    for (int i = 0; i < N_FACTS; i++) {
        uint32_t code[COUNTER_MOST];

        w = runs_writer_put(w, FACTS[i].q, code,
                            cqf_counter_put(code, FACTS[i].x, FACTS[i].count, 4));
    }
    runs_writer_end(&w);
    assert_is_the_vector(b.t);
    free_box(&b);
}

/* ---- Against a multiset ------------------------------------------------ */

/* Counts of fingerprints in a small window of them, from `first` on and around. */
typedef struct world {
    box b;
    uint64_t first, quotients;
    uint32_t remainders, step;
    uint64_t *counts;
    rng r;
} world;

static uint64_t quotient_of(const world *w, uint64_t i)
{
    return (w->first + i / w->remainders) % w->b.t.slots;
}

/* The lowest, the highest, and evenly between. */
static uint32_t remainder_of(const world *w, uint64_t i)
{
    uint32_t nth = (uint32_t)(i % w->remainders);

    return nth + 1 == w->remainders ? packed_mask(w->b.t.width) : nth * w->step;
}

static world world_of(uint64_t slots, unsigned width, uint64_t quotients, uint64_t round)
{
    world w = { .b = box_of(slots, width), .quotients = quotients, .r = rng_for(1500, round) };
    uint32_t mask = packed_mask(width);

    w.first = rng_below(&w.r, slots);
    w.remainders = mask < 16 ? mask + 1 : 16;
    w.step = mask < 16 ? 1 : mask / 16;
    w.counts = array_of((size_t)(quotients * w.remainders), sizeof *w.counts);
    return w;
}

/* The same table, written in order: the bytes must not tell how it came to be. */
static void assert_is_canonical(const world *w)
{
    box again = box_of(w->b.t.slots, w->b.t.width);
    runs_writer to = runs_writer_at(again.t, 0, 0, false);
    uint64_t n = w->quotients * w->remainders, used = 0, slots = w->b.t.slots, at = 0;

    /* From the first quotient of the window that is at the start of the table, then the others. */
    while (at < n && w->first != 0 && w->first + at / w->remainders < slots)
        at++;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t i = (at + k) % n;
        uint32_t code[COUNTER_MOST];
        unsigned length = cqf_counter_put(code, remainder_of(w, i), w->counts[i], w->b.t.width);

        if (length)
            to = runs_writer_put(to, quotient_of(w, i), code, length);
        used += length;
    }
    runs_writer_end(&to);
    assert_int_equal(used, runs_used(w->b.t));
    put_le64(again.shard, used);
    assert_memory_equal(w->b.shard, again.shard, again.size);
    free_box(&again);
}

static void assert_counts(const world *w)
{
    for (uint64_t i = 0; i < w->quotients * w->remainders; i++)
        assert_int_equal(count_of(w->b.t, quotient_of(w, i), remainder_of(w, i)), w->counts[i]);
}

/* In order, each once. */
static void assert_walks(const world *w)
{
    cqf_walk on = { .run.t = w->b.t };
    uint64_t before = 0, distinct = 0;

    while (cqf_walk_on(&on)) {
        uint64_t fingerprint = (on.run.after - 1) << w->b.t.width | on.remainder;

        assert_true(distinct == 0 || fingerprint > before);
        assert_int_equal(on.count, count_of(w->b.t, on.run.after - 1, on.remainder));
        before = fingerprint;
        distinct++;
    }
    for (uint64_t i = 0; i < w->quotients * w->remainders; i++)
        distinct -= w->counts[i] != 0;
    assert_int_equal(distinct, 0);
}

static uint64_t some_times(world *w)
{
    uint64_t bits = rng_below(&w->r, 8) ? rng_below(&w->r, 3) : rng_below(&w->r, 40);

    return 1 + rng_below(&w->r, UINT64_C(1) << bits);
}

static void step_up(world *w, uint64_t i)
{
    uint64_t times = some_times(w);
    uint8_t *before = array_of(w->b.size, 1);

    memcpy(before, w->b.shard, w->b.size);
    tamis_status status = put_in(&w->b, quotient_of(w, i), remainder_of(w, i), times);
    if (status == TAMIS_OK) {
        w->counts[i] += times;
    } else {
        assert_int_equal(status, TAMIS_FULL);
        assert_true(runs_used(w->b.t) + COUNTER_MOST > w->b.t.slots - 1);
        assert_memory_equal(before, w->b.shard, w->b.size);
    }
    free(before);
}

static void step_down(world *w, uint64_t i)
{
    uint64_t times = rng_below(&w->r, 4) ? some_times(w) : w->counts[i];
    uint8_t *before = array_of(w->b.size, 1);

    memcpy(before, w->b.shard, w->b.size);
    tamis_status status = take_from(&w->b, quotient_of(w, i), remainder_of(w, i), times);
    if (times <= w->counts[i]) {
        assert_int_equal(status, TAMIS_OK);
        w->counts[i] -= times;
    } else {
        assert_int_equal(status, TAMIS_ABSENT);
        assert_memory_equal(before, w->b.shard, w->b.size);
    }
    free(before);
}

/* Up to the last slot but one, then down to nothing, and half-way in between. */
static void live(uint64_t slots, unsigned width, uint64_t quotients, uint64_t round, unsigned steps)
{
    world w = world_of(slots, width, quotients, round);
    uint64_t n = w.quotients * w.remainders;

    for (unsigned s = 0; s < steps; s++) {
        bool is_rising = s % (steps / 3 + 1) < steps / 5;

        if (rng_below(&w.r, 10) < (is_rising ? 8 : 3))
            step_up(&w, rng_below(&w.r, n));
        else
            step_down(&w, rng_below(&w.r, n));
        if (s % 32 == 0) {
            assert_is_canonical(&w);
            assert_counts(&w);
            assert_walks(&w);
        }
    }
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(take_from(&w.b, quotient_of(&w, i), remainder_of(&w, i), w.counts[i]),
                         TAMIS_OK);
    for (size_t i = 0; i < w.b.size; i++)
        assert_int_equal(w.b.shard[i], 0);
    free(w.counts);
    free_box(&w.b);
}

static void tables_behave_as_multisets(void **state)
{
    uint64_t round = 0;
    unsigned steps = (unsigned)run_size(800, 300, 2000);

    (void)state;
    for (unsigned width = 2; width <= 32; width++)
        for (uint64_t slots = 64; slots <= 320; slots += 64) {
            live(slots, width, slots, round++, steps);
            live(slots, width, 1 + slots / 16, round++, steps);
        }
}

/* A window of few quotients with many remainders and counts: offsets that do not fit in a byte. */
static void long_runs_behave_as_multisets(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 12; round++) {
        unsigned width = 4 + (unsigned)round;

        live(1024, width, 30 + 5 * round, 1000 + round, (unsigned)run_size(5000, 2000, 12000));
    }
}

/* ---- Offsets that do not fit ------------------------------------------- */

static void assert_offsets(runs_table t, uint64_t q, uint64_t n)
{
    for (uint64_t k = 0; k < t.blocks; k++) {
        uint64_t block = (q / RUNS_BLOCK + k) % t.blocks,
                 from = q / RUNS_BLOCK * RUNS_BLOCK + k * RUNS_BLOCK;
        uint64_t truth = k && q + n > from ? q + n - from : 0;

        assert_int_equal(runs_offset(t, block), truth);
        assert_int_equal(runs_block(t, block)[RUNS_OFFSET], truth < RUNS_FAR ? truth : RUNS_FAR);
    }
}

/* One run of up to 500 slots around the end: at every length every offset is what it is to be. */
static void offsets_saturate_and_come_back(void **state)
{
    box b = box_of(640, 9);
    const uint64_t q = 630;

    (void)state;
    for (uint32_t x = 0; x < 500; x++) {
        assert_int_equal(put_in(&b, q, 499 - x, 1), TAMIS_OK);
        assert_offsets(b.t, q, x + 1);
    }
    for (uint32_t x = 0; x < 500; x++) {
        assert_int_equal(count_of(b.t, q, x), 1);
        assert_int_equal(take_from(&b, q, x, 1), TAMIS_OK);
        assert_offsets(b.t, q, 499 - x);
    }
    free_box(&b);
}

/* ---- All of a few ------------------------------------------------------ */

enum { FEW = 8, LONGEST = 5 };

/* Fingerprints of two quotients at the end of the table, with two bits of remainder. */
static void put_few(box *b, unsigned i)
{
    assert_int_equal(put_in(b, 62 + i / 4, i % 4, 1), TAMIS_OK);
}

static void assert_few(const box *b, const unsigned *counts)
{
    for (unsigned i = 0; i < FEW; i++)
        assert_int_equal(count_of(b->t, 62 + i / 4, i % 4), counts[i]);
}

/* Adds what `code` says in base FEW, then removes it from the other end. */
static void try_sequence(unsigned code, unsigned length)
{
    box b = box_of(64, 2);
    unsigned added[LONGEST], counts[FEW] = { 0 };

    for (unsigned k = 0; k < length; k++, code /= FEW) {
        added[k] = code % FEW;
        put_few(&b, added[k]);
        counts[added[k]]++;
    }
    assert_few(&b, counts);
    for (unsigned k = 0; k < length; k++) {
        unsigned i = added[(2 * k + 1) % length * (length % 2) + k * (1 - length % 2)];

        assert_int_equal(take_from(&b, 62 + i / 4, i % 4, 1), counts[i] ? TAMIS_OK : TAMIS_ABSENT);
        counts[i] -= counts[i] > 0;
        assert_few(&b, counts);
    }
    free_box(&b);
}

static void all_short_sequences_are_right(void **state)
{
    unsigned sequences = 1;

    (void)state;
    for (unsigned length = 1; length <= LONGEST; length++) {
        sequences *= FEW;
        for (unsigned code = 0; code < sequences; code++)
            try_sequence(code, length);
    }
}

/* ---- Any bytes --------------------------------------------------------- */

/* Remainders of a run rise: two keys of the first quotient, the second remainder then lowered. */
static void runs_out_of_order_are_refused(void **state)
{
    tamis_plan plan = plan_for(TAMIS_CQF, 100, 0.001, 3);
    tamis *f = new_filter(&plan);
    const shards s = shards_of(f);
    runs_table t = shards_table(&s, 0);

    (void)state;
    for (uint64_t x = 5; x <= 9; x += 4) {
        uint64_t hash = x * (UINT64_MAX / s.fingerprints + 1);
        assert_int_equal(tamis_add(f, unhash_key(hash, s.salt)), TAMIS_OK);
    }
    assert_int_equal(runs_slot(t, 0), 5);
    assert_int_equal(runs_slot(t, 1), 9);
    assert_true(is_whole(f));
    runs_put_slot(t, 1, 4);
    assert_int_equal(tamis_verify(f, NULL, NULL), TAMIS_CORRUPT);
    tamis_free(f);
}

static void any_bytes_are_read_safely(void **state)
{
    rng r = rng_for(1501, 0);

    (void)state;
    for (int round = 0; round < (is_sanitized() ? 300 : 2000); round++) {
        box b = box_of(64 * (1 + rng_below(&r, 6)), 2 + (unsigned)rng_below(&r, 31));
        uint64_t dense = rng_next(&r), steps = 0;

        for (size_t i = 0; i < b.size; i++)
            b.shard[i] = (uint8_t)(rng_next(&r) | (dense >> i % 8 & 1 ? rng_next(&r) : 0));
        for (uint64_t k = 0; k < b.t.blocks && round % 3; k++)
            runs_block(b.t, k)[RUNS_OFFSET] =
                round % 3 == 1 ? RUNS_FAR : (uint8_t)rng_below(&r, 70);
        for (uint64_t q = 0; q < b.t.slots; q++) {
            runs_run found = runs_find(b.t, q);

            assert_true(found.start >= q && found.start <= found.end);
            assert_true(found.end <= q + b.t.slots);
            (void)count_of(b.t, q, (uint32_t)rng_next(&r) & packed_mask(b.t.width));
        }
        cqf_walk w = { .run.t = b.t };
        while (cqf_walk_on(&w))
            assert_true(++steps <= 2 * b.t.slots);
        free_box(&b);
    }
}

/* ---- Filters ----------------------------------------------------------- */

static tamis_plan plan_with(uint64_t keys, double fpr, double load, unsigned can)
{
    tamis_spec spec = spec_for(keys, fpr, 15);

    spec.load = load;
    spec.can = can;
    return plan_of_spec(TAMIS_CQF, spec);
}

/* Every key at every width, at the load that was asked for. */
static void every_width_is_usable_to_the_load(void **state)
{
    rng r = rng_for(1502, 0);
    const size_t n = 15000;
    uint64_t *keys = fresh_keys(&r, n);

    (void)state;
    for (unsigned width = 2; width <= 32; width++) {
        tamis_plan plan = plan_with(n, ldexp(1, -(int)width), 0.95, 0);
        tamis *f = new_filter(&plan);

        assert_int_equal(plan.width, width);
        assert_true((double)n / (double)plan.slots > 0.94);
        assert_true(is_near((double)plan.bytes * 8 / (double)n, (width + 2.125) / 0.95, 0.02));
        add_all(f, keys, n);
        assert_true(is_whole(f));
        for (size_t i = 0; i < n; i++)
            assert_true(tamis_has(f, keys[i]) && tamis_count(f, keys[i]) >= 1);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(tamis_remove(f, keys[i]), TAMIS_OK);
        tamis *empty = new_filter(&plan);
        assert_true(same_image(f, empty));
        tamis_free(empty);
        tamis_free(f);
    }
    free(keys);
}

/* Batches that are sorted and merged, with repeated and with absent keys, in one shard and in four,
 * with the instructions of every machine. */
static void check_batches(size_t capacity, unsigned cpu)
{
    rng r = rng_for(1506, capacity);
    const size_t n = capacity / 2;
    tamis_plan plan = plan_with(capacity, 0.003, 0, 0);
    uint64_t *keys = fresh_keys(&r, 2 * n);
    tamis *many = new_filter(&plan), *one = new_filter(&plan);
    size_t removed = 0, told;

    for (size_t i = 0; i < n; i += 1 + i % 3)
        keys[i] = keys[rng_below(&r, 64)];
    tamis__use_cpu(many, cpu);
    tamis__use_cpu(one, TAMIS_CPU_PORTABLE);
    for (size_t half = 0; half < 2; half++) {
        add_all(many, keys + half * n / 2, n / 2);
        for (size_t i = 0; i < n / 2; i++)
            assert_int_equal(tamis_add(one, keys[half * n / 2 + i]), TAMIS_OK);
        assert_true(same_image(many, one));
    }
    assert_int_equal(tamis_remove_many(many, &told, keys + n / 4, n), TAMIS_ABSENT);
    for (size_t i = 0; i < n; i++)
        removed += tamis_remove(one, keys[n / 4 + i]) == TAMIS_OK;
    assert_int_equal(told, removed);
    assert_true(same_image(many, one) && is_whole(many));
    tamis_free(many);
    tamis_free(one);
    free(keys);
}

static void large_batches_are_as_one_by_one(void **state)
{
    const size_t capacities[] = { 200, 5000, 400000 };

    (void)state;
    for (int i = 0; i < (is_sanitized() ? 2 : 3); i++) {
        check_batches(capacities[i], TAMIS_CPU_PORTABLE);
        check_batches(capacities[i], tamis__cpu());
    }
}

/* Full tables, whose runs reach over blocks and around the end, of bytes and of other widths. Of
 * `crowd` keys in ten, hashes lie within the last 64th of all: offsets are too large to be written.
 */
static void check_removals(size_t capacity, double fpr, unsigned crowd, unsigned cpu)
{
    rng r = rng_for(1507, capacity);
    tamis_plan plan = plan_with(capacity, fpr, 0, 0);
    uint64_t *keys = fresh_keys(&r, capacity), salt = salt_of_seed(plan.hasher.seed);
    for (size_t i = 0; i < capacity; i++)
        if (i % 10 < crowd)
            keys[i] = unhash_key(~(keys[i] >> 6), salt);
    tamis *many = filter_of(&plan, keys, capacity), *one = filter_of(&plan, keys, capacity);
    size_t told;

    tamis__use_cpu(many, cpu);
    tamis__use_cpu(one, TAMIS_CPU_PORTABLE);
    for (size_t from = 0, n = 70; from + n <= capacity; from += n, n += n / 4) {
        assert_int_equal(tamis_remove_many(many, &told, keys + from, n), TAMIS_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(tamis_remove(one, keys[from + i]), TAMIS_OK);
        assert_true(same_image(many, one) && is_whole(many));
    }
    tamis_free(many);
    tamis_free(one);
    free(keys);
}

static void batches_leave_full_tables_as_one_by_one(void **state)
{
    const double rates[] = { 0.2, 0.004, 0.001, 0.00002, 1e-9 };

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t capacity = 100; capacity < 20000; capacity = capacity * 3 + 1)
            for (unsigned crowd = 0; crowd < 6; crowd += 5) {
                check_removals(capacity, rates[i], crowd, TAMIS_CPU_PORTABLE);
                check_removals(capacity, rates[i], crowd,
                               tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512);
                check_removals(capacity, rates[i], crowd, tamis__cpu());
            }
}

/* ---- Lookups with the instructions of every machine ---------------------- */

static void assert_all_cpus_agree(tamis *f, const uint64_t *keys, size_t n)
{
    const unsigned cpus[] = { TAMIS_CPU_PORTABLE, tamis__cpu() & ~(unsigned)TAMIS_CPU_AVX512,
                              tamis__cpu() };
    uint64_t *hits = array_of(n / 64 + 1, 8);

    for (int c = 0; c < 3; c++) {
        tamis__use_cpu(f, cpus[c]);
        size_t found = tamis_has_many(f, hits, keys, n);

        for (size_t i = 0; i < n; i++) {
            bool hit = hits[i / 64] >> i % 64 & 1;

            assert_int_equal(hit, tamis_has(f, keys[i]));
            assert_int_equal(hit, tamis_count(f, keys[i]) != 0);
            found -= hit;
        }
        assert_int_equal(found, 0);
    }
    free(hits);
}

/* Full of keys, each third of which was added up to 400 times. */
static void check_lookups(uint64_t keys, unsigned width, double load)
{
    tamis_plan plan = plan_with(keys, ldexp(1, -(int)width), load, 0);
    rng r = rng_for(1509, keys + width);
    uint64_t *some = fresh_keys(&r, 2 * keys);
    tamis *f = new_filter(&plan);

    for (size_t i = 0; i < keys; i++) {
        uint64_t times = i % 3 ? 1 : 1 + rng_below(&r, 400) / (1 + rng_below(&r, 200));

        if (tamis_add_times(f, some[i], times) != TAMIS_OK)
            break;
    }
    assert_all_cpus_agree(f, some, 2 * keys);
    for (size_t n = 0; n < 200; n += 1 + n / 8)
        assert_all_cpus_agree(f, some + keys - n / 2, n);
    tamis_free(f);
    free(some);
}

static void kernels_agree(void **state)
{
    const double loads[] = { 0.5, 0.9, 0.95 };

    (void)state;
    for (unsigned width = 2; width <= 32; width++)
        for (int i = 0; i < 3; i++)
            check_lookups(700 * (1 + width % 3), width, loads[i]);
}

/* Bits dense or not, offsets that are far or lead into the block, and the next one. */
static void fill_with_any_bytes(tamis *f, rng *r)
{
    const shards s = shards_of(f);
    uint64_t dense = rng_next(r), offsets = rng_below(r, 4);
    uint8_t *payload = f->payload;

    for (uint64_t i = 0; i < f->plan.bytes; i++)
        payload[i] = (uint8_t)(rng_next(r) & (dense >> i % 8 & 1 ? rng_next(r) : UINT64_MAX));
    for (uint64_t k = 0; k < s.slots / RUNS_BLOCK && offsets; k++)
        runs_block(shards_table(&s, 0), k)[RUNS_OFFSET] =
            (uint8_t)rng_below(r, offsets == 1 ? 70 : 9);
}

static void kernels_agree_on_any_payload(void **state)
{
    const uint64_t sizes[] = { 40, 100, 170, 900 };
    rng r = rng_for(1510, 0);

    (void)state;
    for (unsigned width = 2; width <= 32; width++)
        for (int round = 0; round < (is_sanitized() ? 8 : 40); round++) {
            tamis_plan plan = plan_with(sizes[round % 4], ldexp(1, -(int)width), 0.95, 0);
            tamis *f = new_filter(&plan);
            uint64_t *keys = fresh_keys(&r, 300);

            assert_int_equal(plan.width, width);
            fill_with_any_bytes(f, &r);
            assert_all_cpus_agree(f, keys, 1 + rng_below(&r, 300));
            tamis_free(f);
            free(keys);
        }
}

/* ---- Sizes ------------------------------------------------------------- */

/* Shards, and the way back to one. */
static void resizing_is_building_anew(void **state)
{
    rng r = rng_for(1503, 0);
    const size_t n = 60000;
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan = plan_with(n, 1e-5, 0, 0);
    tamis *f = filter_of(&plan, keys, n), *before = filter_of(&plan, keys, n);

    (void)state;
    for (uint64_t times = 2; times <= 32; times *= 2) {
        assert_int_equal(tamis_resize(f, n * times), TAMIS_OK);
        assert_int_equal(f->plan.slots, times * plan.slots);
        assert_int_equal(f->plan.slots << f->plan.width, plan.slots << plan.width);
        assert_true(is_whole(f));
        tamis *direct = filter_of(&f->plan, keys, n);
        assert_true(same_image(f, direct));
        tamis_free(direct);
    }
    assert_int_equal(tamis_resize(f, n - 1), TAMIS_FULL);
    assert_int_equal(tamis_resize(f, UINT64_C(1) << 50), TAMIS_RANGE);
    assert_int_equal(tamis_resize(f, n), TAMIS_OK);
    assert_true(same_image(f, before));
    tamis_free(f);
    tamis_free(before);
    free(keys);
}

static bool visit_none(void *ctx, uint64_t key, uint64_t count)
{
    (void)key;
    (void)count;
    *(bool *)ctx = true;
    return true;
}

static void nothing_resizes_to_nothing(void **state)
{
    tamis_plan plan = plan_with(100, 0.01, 0, 0);
    tamis *f = new_filter(&plan), *g = new_filter(&plan), *both = NULL;
    const tamis *two[] = { f, g };
    bool seen = false;

    (void)state;
    assert_int_equal(tamis_resize(f, 1000), TAMIS_OK);
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, g), TAMIS_OK);
    assert_int_equal(tamis_merge_many(&both, two, 2, NULL), TAMIS_OK);
    assert_int_equal(tamis_list(both, visit_none, &seen), TAMIS_OK);
    assert_false(seen);
    assert_true(is_whole(f) && is_whole(both));
    assert_int_equal(tamis_remove(f, 5), TAMIS_ABSENT);
    assert_int_equal(info_of(f).count, 0);
    tamis_free(f);
    tamis_free(g);
    tamis_free(both);
}

static void filters_grow_when_asked_to(void **state)
{
    tamis_plan plan = plan_with(100, 1e-9, 0.9, TAMIS_CAN_GROW);
    tamis_plan fixed = plan_with(100, 1e-9, 0.9, 0);
    tamis *f = new_filter(&plan), *g = new_filter(&fixed);
    rng r = rng_for(1504, 0);
    const size_t n = 20000;
    uint64_t *keys = fresh_keys(&r, n);

    (void)state;
    add_all(f, keys, n);
    assert_true(is_whole(f));
    assert_true(f->plan.slots * 9 / 10 >= n && f->plan.slots / plan.slots <= 256);
    assert_int_equal(f->plan.slots << f->plan.width, plan.slots << plan.width);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_count(f, keys[i]), 1);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tamis_add(g, keys[i]), i < 100 ? TAMIS_OK : TAMIS_FULL);
    tamis_free(f);
    tamis_free(g);
    free(keys);
}

/* What chance does not damage. */
static void damage_is_told(void **state)
{
    rng r = rng_for(1505, 0);
    uint64_t *keys = fresh_keys(&r, 100);
    tamis_plan plan = plan_with(100, 0.01, 0, 0);
    const size_t marks[] = { 0, CQF_LOCK, CQF_LOCK + 4, RUNS_HEADER + RUNS_OFFSET };

    (void)state;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        tamis *f = filter_of(&plan, keys, 100);
        uint8_t *payload = f->payload;

        assert_true(is_whole(f));
        payload[marks[i]] ^= 1;
        assert_false(is_whole(f));
        payload[marks[i]] ^= 1;
        payload[plan.bytes - 1] = 1;
        assert_false(is_whole(f));
        tamis_free(f);
    }
    free(keys);
}

/* A table so small, and a batch so large, that hashes of one fingerprint differ in the bits by
 * which a batch is cut. */
static void no_fingerprint_falls_between_groups(void **state)
{
    enum { KEYS = 40 };
    const size_t n = (size_t)3 << 20;
    tamis_plan plan = plan_for(TAMIS_CQF, 50, 0.25, 0);
    rng r = rng_for(1500, 0);
    uint64_t *keys = fresh_keys(&r, n), absent = 0;
    size_t removed = 0;

    (void)state;
    tamis *f = filter_of(&plan, keys, KEYS);
    while (tamis_has(f, absent))
        absent++;
    for (size_t i = KEYS; i < n; i++)
        keys[i] = absent;
    assert_int_equal(tamis_remove_many(f, &removed, keys, n), TAMIS_ABSENT);
    assert_int_equal(removed, KEYS);
    assert_int_equal(f->count, 0);
    tamis_free(f);
    free(keys);
}

/* Runs that cross blocks, and those that go around at the end of each shard. */
static void members_of_all_shards_are_found(void **state)
{
    const double loads[] = { 0.5, 0.9, 0.95 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        tamis_spec spec = spec_for(500000, 0.0039, (uint64_t)i);
        tamis_plan plan;
        rng r = rng_for(1508, (uint64_t)i);
        uint64_t *keys = fresh_keys(&r, 500000), *hits = array_of(500000 / 64 + 1, 8);

        spec.load = loads[i];
        assert_int_equal(tamis_plan_kind(&plan, TAMIS_CQF, &spec), TAMIS_OK);
        tamis *f = filter_of(&plan, keys, 500000);
        assert_int_equal(tamis_has_many(f, hits, keys, 500000), 500000);
        tamis__use_cpu(f, 0);
        assert_int_equal(tamis_has_many(f, hits, keys, 500000), 500000);
        tamis_free(f);
        free(keys);
        free(hits);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_written_as_specified),
        cmocka_unit_test(counts_are_read_back),
        cmocka_unit_test(the_largest_counts_are_read_back),
        cmocka_unit_test(slots_are_as_specified),
        cmocka_unit_test(slots_are_as_specified_in_order),
        cmocka_unit_test(tables_behave_as_multisets),
        cmocka_unit_test(long_runs_behave_as_multisets),
        cmocka_unit_test(offsets_saturate_and_come_back),
        cmocka_unit_test(all_short_sequences_are_right),
        cmocka_unit_test(runs_out_of_order_are_refused),
        cmocka_unit_test(any_bytes_are_read_safely),
        cmocka_unit_test(every_width_is_usable_to_the_load),
        cmocka_unit_test(large_batches_are_as_one_by_one),
        cmocka_unit_test(batches_leave_full_tables_as_one_by_one),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(kernels_agree_on_any_payload),
        cmocka_unit_test(resizing_is_building_anew),
        cmocka_unit_test(nothing_resizes_to_nothing),
        cmocka_unit_test(filters_grow_when_asked_to),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(members_of_all_shards_are_found),
        cmocka_unit_test(no_fingerprint_falls_between_groups),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
