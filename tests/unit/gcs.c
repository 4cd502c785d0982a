/* gcs: codes bit by bit against a second writer, sizes against the entropy, sets that do not fit,
 * and payloads that nobody wrote. */
#include "base/bits.h"
#include "base/le.h"
#include "base/parts.h"
#include "kinds.h"

enum { LINE = 64 };

static tamis_plan sized(tamis_plan plan)
{
    plan.bytes = tamis__ops(TAMIS_GCS)->bytes(&plan);
    assert_true(plan.bytes > 0);
    return plan;
}

/* One part of capacity / 128 + 1 buckets. The best rest has one width: that which has a size. */
static tamis_plan tiny_plan(uint64_t capacity, uint64_t values, uint32_t lines)
{
    tamis_plan plan = plan_for(TAMIS_GCS, capacity, 0.01, 0);
    int n = 0;

    plan.slots = values;
    plan.hashes = lines;
    for (uint32_t width = 0; width < 64; width++) {
        tamis_plan p = plan;
        p.width = width;
        if (tamis__ops(TAMIS_GCS)->bytes(&p)) {
            plan.width = width;
            n++;
        }
    }
    assert_int_equal(n, 1);
    return sized(plan);
}

static tamis_status solve(tamis *f, const uint64_t *hashes, size_t *n)
{
    uint64_t *copy = array_of(*n, sizeof *copy);
    void *scratch = array_of(f->ops.scratch(&f->plan, TAMIS_STAGE_SIEVE, *n, 1) + 1, 1);

    memcpy(copy, hashes, *n * sizeof *copy);
    tamis_status status = f->ops.solve(f, TAMIS_STAGE_SIEVE, f->payload, copy, n, scratch, NULL);
    free(scratch);
    free(copy);
    return status;
}

/* The cells as a filter, however many the plan is for. */
static tamis *filter_of_hashes(const tamis_plan *p, const uint64_t *hashes, size_t n)
{
    tamis *f = new_filter(p);

    assert_int_equal(solve(f, hashes, &n), TAMIS_OK);
    f->count = n;
    return f;
}

static uint64_t buckets_of(const tamis_plan *p)
{
    return (p->capacity >> part_bits(p->capacity)) / 128 + 1;
}

/* The smallest hash that falls into that cell of `cells`. */
static uint64_t hash_of_cell(uint64_t cell, uint64_t cells)
{
    uint64_t h = 0;

    for (int bit = 63; bit >= 0; bit--)
        if (cell > 0 && scale64(h | ((UINT64_C(1) << bit) - 1), cells) < cell)
            h |= UINT64_C(1) << bit;
    return h;
}

static bool has_hash(const tamis *f, uint64_t h)
{
    return tamis_has(f, unhash_key(h, f->salt));
}

/* ---- A second writer --------------------------------------------------- */

static void set_bit(uint8_t *bytes, uint64_t bit)
{
    bytes[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* Cells ascend. Bit by bit, as docs/format.md says it. */
static void write_slowly(uint8_t *part, const tamis_plan *p, const uint64_t *cells, size_t n)
{
    uint64_t buckets = buckets_of(p), index = p->bytes - 4 * (buckets + 1), start = 0;
    size_t i = 0;

    memset(part, 0, p->bytes);
    for (uint64_t b = 0; b < buckets; b++) {
        uint64_t low = start, end = start, next = b * p->slots;
        size_t first = i;

        for (; i < n && cells[i] < (b + 1) * p->slots; i++) {
            end += ((cells[i] - next) >> p->width) + 1 + p->width;
            next = cells[i] + 1;
        }
        start = end;
        next = b * p->slots;
        for (size_t j = first; j < i; j++) {
            uint64_t distance = cells[j] - next;

            low += distance >> p->width;
            set_bit(part, low++);
            end -= p->width;
            for (uint32_t k = 0; k < p->width; k++)
                if (distance >> k & 1)
                    set_bit(part, end + k);
            next = cells[j] + 1;
        }
        assert_int_equal(low, end);
        put_le32(part + index + 4 * (b + 1), (uint32_t)start);
    }
}

static uint64_t *hashes_of(const tamis_plan *p, const uint64_t *cells, size_t n)
{
    uint64_t *hashes = array_of(n, sizeof *hashes);

    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_of_cell(cells[i], buckets_of(p) * p->slots);
    return hashes;
}

static void assert_written(const tamis_plan *p, const uint64_t *cells, size_t n)
{
    uint64_t *hashes = hashes_of(p, cells, n);
    uint8_t *expected = array_of(p->bytes, 1);
    tamis *f = filter_of_hashes(p, hashes, n);

    write_slowly(expected, p, cells, n);
    assert_memory_equal(f->payload, expected, p->bytes);
    assert_int_equal(f->count, n);
    assert_true(is_whole(f));
    for (size_t i = 0; i < n; i++)
        assert_true(has_hash(f, hashes[i]));
    tamis_free(f);
    free(expected);
    free(hashes);
}

static void assert_answers(const tamis_plan *p, const uint64_t *cells, size_t n, uint64_t of)
{
    uint64_t *hashes = hashes_of(p, cells, n);
    tamis *f = filter_of_hashes(p, hashes, n);

    for (uint64_t cell = 0, i = 0; cell < of; cell++) {
        bool member = i < n && cells[i] == cell;

        assert_int_equal(has_hash(f, hash_of_cell(cell, of)), member);
        i += member;
    }
    assert_true(is_near(info_of(f).fpr, (double)n / (double)of, 1e-12));
    tamis_free(f);
    free(hashes);
}

static size_t cells_in(uint64_t *cells, uint64_t set)
{
    size_t n = 0;

    for (; set; set &= set - 1)
        cells[n++] = (uint64_t)__builtin_ctzll(set);
    return n;
}

/* Every set of ten cells, with rests of 0 to 3 bits: few keys planned make them wide. */
static void every_small_set_is_written_and_read(void **state)
{
    uint64_t cells[64];

    (void)state;
    for (uint32_t rest_bits = 0; rest_bits <= 3; rest_bits++)
        for (uint64_t set = 0; set < 1 << 10; set++) {
            tamis_plan plan = tiny_plan(10 >> rest_bits, 10, 1);
            size_t n = cells_in(cells, set);

            assert_int_equal(plan.width, rest_bits);
            assert_written(&plan, cells, n);
            assert_answers(&plan, cells, n, 10);
        }
}

/* The same over two buckets of five cells, then over two of five hundred. */
static void buckets_follow_each_other(void **state)
{
    uint64_t cells[64];

    (void)state;
    for (uint64_t set = 0; set < 1 << 10; set++) {
        tamis_plan small = tiny_plan(200, 5, 1), large = tiny_plan(200, 500, 1);
        size_t n = cells_in(cells, set);

        assert_int_equal(small.width, 0);
        assert_int_equal(large.width, 2);
        assert_written(&small, cells, n);
        assert_answers(&small, cells, n, 10);
        for (size_t i = 0; i < n; i++)
            cells[i] *= 111;
        assert_written(&large, cells, n);
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static size_t random_cells(uint64_t *cells, rng *r, size_t n, uint64_t below)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        cells[i] = rng_below(r, below);
    qsort(cells, n, sizeof *cells, by_value);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || cells[kept - 1] != cells[i])
            cells[kept++] = cells[i];
    return kept;
}

/* Rests from none to the widest, and sets of fewer keys than planned: quotients that end inside a
 * window, and runs of zeros longer than one. */
static void every_width_of_rest(void **state)
{
    uint64_t cells[1000];
    rng r = rng_for(1, 0);

    (void)state;
    for (uint32_t rest_bits = 0; rest_bits <= 52; rest_bits++)
        for (size_t most = 1000; most > 0; most /= 10) {
            tamis_plan plan = tiny_plan(1000, UINT64_C(160) << rest_bits, 150);
            size_t n = random_cells(cells, &r, most, 8 * plan.slots);

            assert_int_equal(plan.width, rest_bits);
            assert_written(&plan, cells, n);
        }
    tamis_plan widest = tiny_plan(1, UINT64_C(3) << 55, 1);
    assert_int_equal(widest.width, 56);
    for (int i = 0; i < 100; i++)
        assert_written(&widest, cells, random_cells(cells, &r, 2, widest.slots));
}

/* ---- Sizes ------------------------------------------------------------- */

static double bits_per_key(double n, double fpr)
{
    tamis_plan plan = plan_for(TAMIS_GCS, (uint64_t)n, fpr, 0);

    assert_true(plan.fpr <= fpr);
    return 8 * (double)plan.bytes / n;
}

/* n of C cells cannot be told in fewer than log2(C / n) + 1/ln 2 bits each; Rice takes a tenth
 * more at most, offsets a quarter. */
static void sizes_are_near_the_entropy(void **state)
{
    (void)state;
    for (double n = 1e5; n <= (sizeof(size_t) > 4 ? 1e9 : 1e8); n *= 10)
        for (double rate = 3.5; rate <= 32; rate += 0.125) {
            double entropy = rate + 1 / log(2);

            assert_true(bits_per_key(n, exp2(-rate)) < entropy + 0.1 + 0.25 + 0.06);
            assert_true(bits_per_key(n, exp2(-rate)) > entropy);
        }
    assert_true(bits_per_key(1e7, 0x1p-8) < 9.8);
    assert_true(bits_per_key(1e7, 0x1p-10) < 11.8);
}

static uint64_t bits_used(const tamis *f)
{
    const uint8_t *end = (const uint8_t *)f->payload + f->plan.bytes;

    return le32(end - 4);
}

/* What is planned is what is used, but for t = 3.2 sqrt(n) bits twice, a line, and the distances
 * behind the last keys of buckets. */
static void codes_fill_their_room(void **state)
{
    const double rates[] = { 0.3, 0.1, 0.01, 0x1p-8, 1e-4, 0x1p-20 };
    const size_t n = 300000;
    rng r = rng_for(2, 0);

    (void)state;
    for (int i = 0; i < 6; i++) {
        tamis_plan plan = plan_for(TAMIS_GCS, n, rates[i], (uint64_t)i);
        uint64_t *keys = fresh_keys(&r, n);
        tamis *f = filter_of(&plan, keys, n);
        double room = 8 * (double)(plan.bytes - 4 * (buckets_of(&plan) + 1));
        double t = sqrt((double)n * log(1e9) / 2);
        double slack = 2 * t * (plan.width + 2) + 8 * LINE + 3 * (double)buckets_of(&plan);

        assert_true((double)bits_used(f) <= room);
        assert_true((double)bits_used(f) >= room - slack);
        tamis_free(f);
        free(keys);
    }
}

/* ---- Sets that do not fit ---------------------------------------------- */

static tamis_status try_to_solve(const tamis_plan *p, const uint64_t *hashes, size_t n)
{
    tamis *f = new_filter(p);
    tamis_status status = solve(f, hashes, &n);

    tamis_free(f);
    return status;
}

static int steps_to_fit(tamis_plan plan, const uint64_t *hashes, size_t n)
{
    int steps = 0;

    while (try_to_solve(&plan, hashes, n)) {
        assert_int_equal(try_to_solve(&plan, hashes, n), TAMIS_FULL);
        uint64_t before = plan.bytes;
        assert_int_equal(tamis__ops(TAMIS_GCS)->resize(&plan, 0), TAMIS_OK);
        plan = sized(plan);
        assert_true(plan.bytes > before && plan.bytes <= before + before / 8 + LINE);
        assert_true(++steps < 1000);
    }
    return steps;
}

static void a_part_grows_until_it_fits(void **state)
{
    rng r = rng_for(3, 0);
    uint64_t *hashes = fresh_keys(&r, 20000);

    (void)state;
    for (size_t n = 10000; n <= 20000; n += 1000) {
        tamis_plan plan = plan_for(TAMIS_GCS, 10000, 0.01, 0);
        int steps = steps_to_fit(plan, hashes, n);

        assert_true(n == 10000 ? steps == 0 : steps > 0);
        plan.hashes = 11;
        assert_true(steps_to_fit(sized(plan), hashes, n) > 10);
    }
    free(hashes);
}

/* No set of as many keys as planned needs more than two steps: neither cells at the largest
 * distances that there are, nor all in one bucket. */
static void chosen_keys_fit_soon(void **state)
{
    const double rates[] = { 0.3, 0.1, 0.03, 0.01, 0x1p-8, 1e-3, 1e-4, 1e-6 };
    const size_t n = 20000;
    uint64_t *hashes = array_of(n, sizeof *hashes);

    (void)state;
    for (int i = 0; i < 8; i++) {
        tamis_plan plan = plan_for(TAMIS_GCS, n, rates[i], 0);
        uint64_t cells = buckets_of(&plan) * plan.slots;

        for (uint64_t j = 0, at = 0; j < n; j++, at += (UINT64_C(1) << plan.width) + 1)
            hashes[j] = hash_of_cell(at % cells, cells);
        assert_true(steps_to_fit(plan, hashes, n) <= 2);
        for (uint64_t j = 0; j < n; j++)
            hashes[j] = hash_of_cell(cells - 1 - j * (cells / n), cells);
        assert_true(steps_to_fit(plan, hashes, n) <= 2);
        for (uint64_t j = 0; j < n; j++)
            hashes[j] = hash_of_cell(j % plan.slots, cells);
        assert_true(steps_to_fit(plan, hashes, n) <= 2);
    }
    free(hashes);
}

/* ---- The set alone ----------------------------------------------------- */

static void duplicates_and_order_do_not_matter(void **state)
{
    enum { N = 6000 };
    tamis_plan plan = plan_for(TAMIS_GCS, N, 0.01, 4);
    rng r = rng_for(5, 0);
    uint64_t *keys = array_of(5 * N, sizeof *keys), *once = fresh_keys(&r, N);
    tamis *f = filter_of(&plan, once, N);

    (void)state;
    for (int i = 0; i < 5; i++)
        memcpy(keys + i * N, once, N * sizeof *keys);
    for (int i = 0; i < 5; i++) {
        shuffle(&r, keys, 5 * N);
        tamis *g = filter_of(&plan, keys, 5 * N);
        assert_true(same_image(f, g));
        tamis_free(g);
    }
    for (int i = 0; i < 5 * N; i++)
        keys[i] = once[0];
    tamis *one = filter_of(&plan, keys, 5 * N), *same = filter_of(&plan, once, 1);
    assert_true(same_image(one, same));
    assert_int_equal(one->count, 1);
    tamis_free(one);
    tamis_free(same);
    tamis_free(f);
    free(once);
    free(keys);
}

/* Hashes that agree in all but their last bits share cells, and must still be sorted and counted.
 */
static void hashes_that_agree(void **state)
{
    enum { N = 50000 };
    tamis_plan plan = plan_for(TAMIS_GCS, N, 0.01, 0);
    uint64_t *keys = array_of(N, sizeof *keys);

    (void)state;
    for (int shift = 0; shift <= 48; shift += (int)run_size(4, 16, 4)) {
        for (uint64_t i = 0; i < N; i++)
            keys[i] = unhash_key(i * 7919 % N << shift, salt_of_seed(0));
        tamis *f = filter_of(&plan, keys, N);
        assert_int_equal(f->count, N);
        assert_true(is_whole(f));
        assert_true(holds_all(f, keys, N));
        tamis_free(f);
    }
    free(keys);
}

/* Two parts: the first bit of a hash says which. */
static void parts_are_filters_of_their_own(void **state)
{
    tamis_plan plan = plan_for(TAMIS_GCS, PART_KEYS + 1, 0.1, 8);
    rng r = rng_for(6, 0);
    uint64_t *keys = fresh_keys(&r, 2000), upper = 0, hits[2000 / 64 + 1];
    tamis *f = filter_of(&plan, keys, 2000);
    const uint8_t *end = (const uint8_t *)f->payload + plan.bytes;

    (void)state;
    assert_int_equal(part_bits(plan.capacity), 1);
    for (int i = 0; i < 2000; i++)
        upper += hash_key(keys[i], f->salt) >> 63;
    assert_int_equal(tamis_has_many(f, hits, keys, 2000), 2000);
    assert_true(le32(end - 4) >= upper * (plan.width + 1));
    assert_true(le32(end - plan.bytes / 2 - 4) >= (2000 - upper) * (plan.width + 1));
    assert_true(is_whole(f));
    assert_true(is_near(info_of(f).fpr, tamis_plan_rate(&plan, 2000), 1e-3));
    tamis_free(f);
    free(keys);
}

/* ---- Hostile payloads and plans ---------------------------------------- */

static void scribble(tamis *f, rng *r, int how)
{
    uint64_t *word = f->payload, same = rng_next(r);

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        word[i] = how == 0 ? same : how == 1 ? rng_next(r) : how == 2 ? 0 : UINT64_MAX;
}

/* Offsets within the part, in no order. */
static void scribble_offsets(tamis *f, rng *r)
{
    uint64_t entries = buckets_of(&f->plan) + 1;
    uint8_t *index = (uint8_t *)f->payload + f->plan.bytes - 4 * entries;

    for (uint64_t i = 0; i < entries; i++)
        put_le32(index + 4 * i, (uint32_t)rng_below(r, 8 * f->plan.bytes));
}

static void queries_end_on_any_payload(void **state)
{
    const uint64_t values[] = { 100, 400, 25000, UINT64_C(1) << 40, UINT64_C(1) << 59 };
    uint64_t hits[4], keys[200];
    rng r = rng_for(7, 0);

    (void)state;
    for (int round = 0; round < 400; round++) {
        tamis_plan plan = tiny_plan(1000, values[round % 5], 30);
        tamis *f = new_filter(&plan);

        scribble(f, &r, round / 5 % 4);
        if (round % 3)
            scribble_offsets(f, &r);
        for (int i = 0; i < 200; i++)
            keys[i] = rng_next(&r);
        size_t found = tamis_has_many(f, hits, keys, 200);
        for (int i = 0; i < 200; i++)
            found -= tamis_has(f, keys[i]);
        assert_int_equal(found, 0);
        assert_true(info_of(f).fpr <= 1);
        (void)!tamis_verify(f, NULL, NULL);
        tamis_free(f);
    }
}

static void assert_no_geometry(tamis_plan plan)
{
    assert_int_equal(tamis__ops(TAMIS_GCS)->bytes(&plan), 0);
}

static void geometries_are_checked(void **state)
{
    const tamis_plan good = plan_for(TAMIS_GCS, 100000, 0.01, 0);
    tamis_plan p = good;

    (void)state;
    p.slots = 0;
    assert_no_geometry(p);
    p.slots = UINT64_MAX;
    assert_no_geometry(p);
    p = good;
    p.width++;
    assert_no_geometry(p);
    p.width -= 2;
    assert_no_geometry(p);
    p.width = UINT32_MAX;
    assert_no_geometry(p);
    p = good;
    p.hashes = 0;
    assert_no_geometry(p);
    p.hashes = UINT32_MAX;
    assert_no_geometry(p);
    p.hashes = 1 << 23;
    assert_no_geometry(p);
    p.hashes = 4 * (100000 / 128 + 2) / LINE;
    assert_no_geometry(p);
    p = good;
    p.capacity = UINT64_MAX;
    assert_no_geometry(p);
    p.capacity = UINT64_C(1) << 48;
    assert_no_geometry(p);
    p = good;
    p.flags = 1;
    assert_no_geometry(p);
    p = good;
    p.load = 1;
    assert_no_geometry(p);
}

/* Whatever the machine: doubles decide, though registers may hold more. */
static void plans_are_the_same_everywhere(void **state)
{
    const struct {
        uint64_t keys, slots;
        double fpr;
    } rows[] = { { 1, 10, 0.1 }, { 1, 20, 0.05 }, { 5, 499999998, 1e-8 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tamis_spec spec = TAMIS_SPEC(.keys = rows[i].keys, .fpr = rows[i].fpr);
        tamis_plan plan;

        assert_int_equal(tamis_plan_kind(&plan, TAMIS_GCS, &spec), TAMIS_OK);
        assert_int_equal(plan.slots, rows[i].slots);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_the_same_everywhere),
        cmocka_unit_test(every_small_set_is_written_and_read),
        cmocka_unit_test(buckets_follow_each_other),
        cmocka_unit_test(every_width_of_rest),
        cmocka_unit_test(sizes_are_near_the_entropy),
        cmocka_unit_test(codes_fill_their_room),
        cmocka_unit_test(a_part_grows_until_it_fits),
        cmocka_unit_test(chosen_keys_fit_soon),
        cmocka_unit_test(duplicates_and_order_do_not_matter),
        cmocka_unit_test(hashes_that_agree),
        cmocka_unit_test(parts_are_filters_of_their_own),
        cmocka_unit_test(queries_end_on_any_payload),
        cmocka_unit_test(geometries_are_checked),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
