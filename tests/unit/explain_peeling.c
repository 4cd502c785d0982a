/* explain_peeling.c - how filters by peeling were made: a second peeling, step by step, arrives at
 * the cells that are there. No kind is named. */
#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_explain.h"

/* ---- Every step -------------------------------------------------------- */

typedef struct square {
    uint64_t held, filled;
    size_t touching; /* keys that are left */
    bool is_owned, is_filled;
} square;

/* What is known after each step. Cells are in a table of numbers by indexes. */
typedef struct course {
    square *squares;
    size_t rows, columns;
    char *is_off;  /* of each key */
    size_t *taken; /* keys, in order */
    size_t n, n_touched, n_taken, n_left, n_filled;
} course;

static bool take_corner(void *ctx, const tamis_cell *cell)
{
    course *c = ctx;

    if (strcmp(cell->array, "block") == 0) {
        c->rows = cell->number >= c->rows ? (size_t)cell->number + 1 : c->rows;
        c->columns = cell->index >= c->columns ? (size_t)cell->index + 1 : c->columns;
    }
    return true;
}

static square *square_of(const course *c, const tamis_cell *cell)
{
    assert_string_equal(cell->array, "block");
    assert_true(cell->number < c->rows && cell->index < c->columns);
    return &c->squares[cell->number * c->columns + cell->index];
}

static bool take_cell(void *ctx, const tamis_cell *cell)
{
    if (strcmp(cell->array, "block") == 0)
        square_of(ctx, cell)->held = cell->value;
    return true;
}

static course course_of(const tamis *f, size_t n)
{
    course c = { .n = n };

    assert_int_equal(tamis_visit_cells(f, take_corner, &c), TAMIS_OK);
    c.squares = array_of(c.rows * c.columns, sizeof *c.squares);
    c.is_off = array_of(n, 1);
    c.taken = array_of(n, sizeof *c.taken);
    assert_int_equal(tamis_visit_cells(f, take_cell, &c), TAMIS_OK);
    return c;
}

static void end_course(course *c)
{
    free(c->squares);
    free(c->is_off);
    free(c->taken);
}

static void take_off(course *c, const tamis_peel *step)
{
    assert_false(c->is_off[step->key]);
    c->is_off[step->key] = true;
    for (unsigned j = 0; j < step->n_cells; j++)
        square_of(c, &step->cells[j])->touching--;
}

/* Each in its turn. */
static void check_touch(course *c, const tamis_peel *step)
{
    assert_int_equal(step->key, c->n_touched++);
    assert_int_equal(c->n_taken, 0);
    for (unsigned j = 0; j < step->n_cells; j++) {
        square *s = square_of(c, &step->cells[j]);
        assert_int_equal(step->cells[j].value, s->held);
        s->touching++;
    }
}

/* Keys that are stashed or repeated leave at once, others when nothing else can be done. */
static void check_leave(course *c, const tamis_peel *step)
{
    uint64_t sum = step->fingerprint;

    for (unsigned j = 0; j < step->n_cells; j++)
        sum ^= step->cells[j].value;
    assert_true(sum == 0 || step->key == c->n_touched - 1);
    for (size_t i = 0; i < c->rows * c->columns && c->n_taken > 0; i++)
        assert_int_not_equal(c->squares[i].touching, 1);
    c->n_left++;
    take_off(c, step);
}

static void check_take(course *c, const tamis_peel *step)
{
    square *own = square_of(c, &step->cells[step->own]);

    assert_true(step->own < step->n_cells);
    assert_int_equal(c->n_touched, c->n);
    assert_int_equal(c->n_filled, 0);
    assert_int_equal(own->touching, 1);
    assert_false(own->is_owned);
    own->is_owned = true;
    c->taken[c->n_taken++] = step->key;
    take_off(c, step);
}

/* Its other cells will not change any more. */
static void check_fill(course *c, const tamis_peel *step)
{
    square *own = square_of(c, &step->cells[step->own]);
    uint64_t sum = step->fingerprint;

    assert_int_equal(c->n_taken + c->n_left, c->n);
    assert_int_equal(step->key, c->taken[c->n_taken - ++c->n_filled]);
    assert_true(own->is_owned && !own->is_filled);
    for (unsigned j = 0; j < step->n_cells; j++) {
        const square *s = square_of(c, &step->cells[j]);
        assert_true(s == own || s->is_filled || !s->is_owned);
        if (s != own)
            sum ^= s->is_filled ? s->filled : s->held;
    }
    own->filled = sum;
    own->is_filled = true;
    assert_int_equal(own->filled, own->held);
}

static bool take_step(void *ctx, const tamis_peel *step)
{
    static void (*const check[])(course * c, const tamis_peel *step) = {
        [TAMIS_PEEL_TOUCHES] = check_touch,
        [TAMIS_PEEL_TAKES] = check_take,
        [TAMIS_PEEL_LEAVES] = check_leave,
        [TAMIS_PEEL_FILLS] = check_fill,
    };
    course *c = ctx;

    assert_true(step->key < c->n);
    assert_in_range(step->n_cells, 3, 5);
    check[step->type](c, step);
    return true;
}

/* ---- Any filter -------------------------------------------------------- */

static bool is_peeled(tamis_kind kind)
{
    return has_trait(kind, TAMIS_TRAIT_IS_PEELED);
}

static tamis_kind next_peeled(tamis_kind kind)
{
    do
        kind = tamis_kind_next(kind);
    while (kind && !is_peeled(kind));
    return kind;
}

static tamis_plan plan_of_tags(tamis_kind kind, uint64_t n, uint32_t tag_bits, uint64_t seed)
{
    tamis_spec spec = TAMIS_SPEC(.keys = n, .tag_bits = tag_bits, .hasher = { .seed = seed });

    return plan_of_spec(kind, spec);
}

/* All is told; returns how many keys have no cell of their own. With fingerprints of 32 bits no
 * cell is filled with 0 by chance: then those that are not zero, and no other, have owners. */
static size_t check_course(const tamis *f, const uint64_t *keys, size_t n)
{
    course c = course_of(f, n);

    assert_int_equal(tamis_explain_peeling(f, keys, n, take_step, &c), TAMIS_OK);
    assert_int_equal(c.n_touched, n);
    assert_int_equal(c.n_taken + c.n_left, n);
    assert_int_equal(c.n_filled, c.n_taken);
    for (size_t i = 0; i < c.rows * c.columns && f->plan.width == 32; i++)
        assert_int_equal(c.squares[i].is_owned, c.squares[i].held != 0);
    end_course(&c);
    return c.n_left;
}

static size_t check_size(tamis_kind kind, size_t n, uint32_t tag_bits)
{
    rng r = rng_for(1900 + n, (uint64_t)kind * 33 + tag_bits);
    tamis_plan plan = plan_of_tags(kind, n, tag_bits, rng_next(&r));
    uint64_t *keys = fresh_keys(&r, n);
    tamis *f = filter_of(&plan, keys, n);
    size_t left = check_course(f, keys, n);

    tamis_free(f);
    free(keys);
    return left;
}

static void cells_are_filled_with_what_they_hold(void **state)
{
    const uint32_t widths[] = { 1, 8, 11, 32 };
    const size_t sizes[] = { 100, 300, 1000, run_size(4000, 2000, 100000) };
    size_t kinds = 0;

    (void)state;
    for (tamis_kind kind = next_peeled(TAMIS_NO_KIND); kind; kind = next_peeled(kind), kinds++)
        for (int w = 0; w < 4; w++) {
            for (size_t n = 0; n <= 40; n++)
                check_size(kind, n, widths[w]);
            for (int i = 0; i < 4; i++)
                check_size(kind, sizes[i], widths[w]);
        }
    assert_int_equal(kinds, 5);
}

/* One set in ten or so needs a stash. */
static void stashed_keys_leave(void **state)
{
    (void)state;
    for (tamis_kind kind = next_peeled(TAMIS_NO_KIND); kind; kind = next_peeled(kind)) {
        size_t left = 0;

        for (size_t n = 41; n < 241; n++)
            left += check_size(kind, n, 8);
        assert_true(left > 0);
    }
}

/* Of equal keys the first has the cell. */
static void repeated_keys_leave(void **state)
{
    (void)state;
    for (tamis_kind kind = next_peeled(TAMIS_NO_KIND); kind; kind = next_peeled(kind)) {
        rng r = rng_for(1902, (uint64_t)kind);
        tamis_plan plan = plan_of_tags(kind, 100, 32, 0);
        uint64_t *keys = fresh_keys(&r, 150);

        memcpy(keys + 100, keys + 20, 50 * sizeof *keys);
        tamis *f = filter_of(&plan, keys, 150);
        size_t left = check_course(f, keys, 100);
        assert_int_equal(check_course(f, keys, 150), left + 50);
        shuffle(&r, keys, 150);
        assert_int_equal(check_course(f, keys, 150), left + 50);
        tamis_free(f);
        free(keys);
    }
}

/* ---- Refusals ---------------------------------------------------------- */

/* By peeling or by elimination, of which explain_elimination.c has the steps. */
static bool is_told(tamis_kind kind)
{
    return is_peeled(kind) || has_trait(kind, TAMIS_TRAIT_IS_ELIMINATED);
}

static tamis_kind next_told(tamis_kind kind)
{
    do
        kind = tamis_kind_next(kind);
    while (kind && !is_told(kind));
    return kind;
}

static tamis_status explain(const tamis *f, const uint64_t *keys, size_t n, tamis_visit_peel *visit,
                            void *ctx)
{
    return is_peeled(f->plan.kind) ? tamis_explain_peeling(f, keys, n, visit, ctx)
                                   : tamis_explain_elimination(f, keys, n, visit, ctx);
}

static bool take_none(void *ctx, const tamis_peel *step)
{
    (void)ctx, (void)step;
    fail();
    return true;
}

static void other_kinds_cannot(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        tamis_plan plan = plan_for(kind, 10, 0.01, 0);
        const uint64_t key = 3;
        tamis *f = filter_of(&plan, &key, 1);

        assert_int_equal(explain(f, &key, 0, take_none, NULL),
                         is_told(kind) ? TAMIS_OK : TAMIS_CANNOT);
        if (!is_told(kind))
            assert_int_equal(explain(f, &key, 1, take_none, NULL), TAMIS_CANNOT);
        if (!is_peeled(kind))
            assert_int_equal(tamis_explain_peeling(f, &key, 1, take_none, NULL), TAMIS_CANNOT);
        tamis_free(f);
    }
}

static bool count_steps(void *ctx, const tamis_peel *step)
{
    size_t *left = ctx;

    (void)step;
    assert_true(*left > 0);
    return --*left > 0;
}

static void other_keys_are_absent(void **state)
{
    (void)state;
    for (tamis_kind kind = next_told(TAMIS_NO_KIND); kind; kind = next_told(kind)) {
        rng r = rng_for(1903, (uint64_t)kind);
        tamis_plan plan = plan_of_tags(kind, 100, 32, 0);
        uint64_t *keys = fresh_keys(&r, 101);
        tamis *f = filter_of(&plan, keys, 100), *empty = filter_of(&plan, keys, 0);
        size_t any = SIZE_MAX;

        assert_int_equal(explain(f, keys, 101, count_steps, &any), TAMIS_ABSENT);
        assert_int_equal(explain(empty, keys, 1, take_none, NULL), TAMIS_ABSENT);
        tamis_free(f);
        tamis_free(empty);
        free(keys);
    }
}

static void it_stops_when_told(void **state)
{
    (void)state;
    for (tamis_kind kind = next_told(TAMIS_NO_KIND); kind; kind = next_told(kind)) {
        rng r = rng_for(1904, (uint64_t)kind);
        tamis_plan plan = plan_of_tags(kind, 10, 8, 0);
        uint64_t *keys = fresh_keys(&r, 10);
        tamis *f = filter_of(&plan, keys, 10);

        for (size_t n = 1; n <= 20; n++) {
            size_t left = n;
            assert_int_equal(explain(f, keys, 10, count_steps, &left), TAMIS_OK);
            assert_int_equal(left, 0);
        }
        tamis_free(f);
        free(keys);
    }
}

/* What it takes is given back, whether that is enough or not. */
static void memory_is_asked_for_and_returned(void **state)
{
    (void)state;
    for (tamis_kind kind = next_told(TAMIS_NO_KIND); kind; kind = next_told(kind)) {
        rng r = rng_for(1905, (uint64_t)kind);
        tamis_plan plan = plan_of_tags(kind, 50, 8, 0);
        uint64_t *keys = fresh_keys(&r, 50);
        limited_allocator p = { .limit = UINT64_MAX };
        tamis_allocator a = allocator_of(&p);
        tamis *f = NULL;

        assert_int_equal(tamis_build(&f, &plan, keys, 50, &a), TAMIS_OK);
        uint64_t live = p.most = p.live;
        size_t any = SIZE_MAX;
        assert_int_equal(explain(f, keys, 50, count_steps, &any), TAMIS_OK);
        uint64_t needed = p.most - live;
        assert_true(needed > 0);
        for (uint64_t less = 1; less <= needed; less += 1 + needed / 7) {
            p.limit = live + needed - less;
            assert_int_equal(explain(f, keys, 50, take_none, NULL), TAMIS_NOMEM);
            assert_int_equal(p.live, live);
        }
        tamis_free(f);
        assert_int_equal(p.live, 0);
        free(keys);
    }
}

/* Keys that pass by chance can be explained from any bytes, as if the filter had been made of them;
 * others are absent. */
static void any_payload_can_be_told(void **state)
{
    (void)state;
    for (tamis_kind kind = next_told(TAMIS_NO_KIND); kind; kind = next_told(kind)) {
        rng r = rng_for(1906, (uint64_t)kind);
        tamis_plan plan = plan_of_tags(kind, 100, 2, 0);
        uint64_t *keys = fresh_keys(&r, 100);
        tamis *f = filter_of(&plan, keys, 100);

        for (int round = 0; round < 40; round++) {
            size_t n = 0, any = SIZE_MAX;
            for (uint64_t i = 0; i < plan.bytes; i++)
                ((uint8_t *)f->payload)[i] = round ? (uint8_t)rng_next(&r) : 0xff;
            tamis__use_cpu(f, f->cpu);
            for (size_t i = 0; i < 100; i++)
                if (tamis_has(f, keys[i])) {
                    uint64_t passing = keys[i];
                    keys[i] = keys[n];
                    keys[n++] = passing;
                }
            assert_int_equal(explain(f, keys, n, count_steps, &any), TAMIS_OK);
            assert_int_equal(explain(f, keys, 100, count_steps, &any),
                             n < 100 ? TAMIS_ABSENT : TAMIS_OK);
        }
        tamis_free(f);
        free(keys);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_filled_with_what_they_hold),
        cmocka_unit_test(stashed_keys_leave),
        cmocka_unit_test(repeated_keys_leave),
        cmocka_unit_test(other_kinds_cannot),
        cmocka_unit_test(other_keys_are_absent),
        cmocka_unit_test(it_stops_when_told),
        cmocka_unit_test(memory_is_asked_for_and_returned),
        cmocka_unit_test(any_payload_can_be_told),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
