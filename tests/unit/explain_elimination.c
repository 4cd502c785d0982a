/* explain_elimination.c - how filters by linear equations were made: a second elimination, step by
 * step, arrives at the cells that are there. No kind is named. */
#include "kinds.h"
#include "tamis_explain.h"

enum { BAND = 64, NOBODY = -1 };

/* Cells are numbered through: that of the level times STRIDE, and the index. */
enum { STRIDE = 1 << 20 };

typedef struct row {
    uint64_t first, picked, sum; /* from the first cell on, a bit for each that is picked */
} row;

typedef struct square {
    uint64_t held, filled;
    long owner;
    bool is_filled;
} square;

typedef struct course {
    row *rows;       /* of keys */
    square *squares; /* level by level, each with room for `most` */
    size_t most, levels;
    size_t n, n_touched, n_taken, n_left, n_filled, n_added;
    uint64_t last; /* cell that was filled */
} course;

static bool is_level(const tamis_cell *cell)
{
    return strcmp(cell->array, "level") == 0;
}

static bool take_corner(void *ctx, const tamis_cell *cell)
{
    course *c = ctx;

    if (is_level(cell)) {
        c->levels = cell->number >= c->levels ? (size_t)cell->number + 1 : c->levels;
        c->most = cell->index >= c->most ? (size_t)cell->index + 1 : c->most;
    }
    return true;
}

static square *square_at(const course *c, uint64_t at)
{
    return &c->squares[at / STRIDE * c->most + at % STRIDE];
}

static uint64_t place_of(const tamis_cell *cell)
{
    assert_true(is_level(cell) && cell->index < STRIDE);
    return cell->number * STRIDE + cell->index;
}

static bool take_cell(void *ctx, const tamis_cell *cell)
{
    if (is_level(cell))
        *square_at(ctx, place_of(cell)) = (square){ .held = cell->value, .owner = NOBODY };
    return true;
}

static row row_of(const tamis_peel *step)
{
    row r = { .sum = step->fingerprint };

    for (unsigned j = 0; j < step->n_cells; j++) {
        uint64_t at = place_of(&step->cells[j]);
        r.first = j ? r.first : at;
        assert_true(at >= r.first && at - r.first < BAND);
        assert_int_equal(r.picked >> (at - r.first), 0);
        r.picked |= UINT64_C(1) << (at - r.first);
    }
    return r;
}

static void check_touch(course *c, const tamis_peel *step, const row *r)
{
    uint64_t sum = r->sum;

    assert_int_equal(step->key, c->n_touched++);
    for (unsigned j = 0; j < BAND; j++)
        sum ^= r->picked >> j & 1 ? square_at(c, r->first + j)->held : 0;
    assert_int_equal(sum, 0);
}

static void check_add(course *c, const tamis_peel *step, const row *r)
{
    const row *before = &c->rows[step->key], *other = &c->rows[step->other];

    assert_int_equal(c->n_touched, c->n);
    assert_int_equal(square_at(c, before->first)->owner, step->other);
    assert_int_equal(before->first, other->first);
    assert_int_equal(r->picked ? r->picked << (r->first - before->first) : 0,
                     before->picked ^ other->picked);
    assert_int_equal(r->sum, before->sum ^ other->sum);
    c->n_added++;
}

static void check_take(course *c, const tamis_peel *step, const row *r)
{
    assert_int_equal(step->own, 0);
    assert_memory_equal(r, &c->rows[step->key], sizeof *r);
    assert_int_equal(square_at(c, r->first)->owner, NOBODY);
    square_at(c, r->first)->owner = (long)step->key;
    c->n_taken++;
}

/* From the last cell to the first: those behind are known. */
static void check_fill(course *c, const tamis_peel *step, const row *r)
{
    square *own = square_at(c, r->first);
    uint64_t sum = r->sum;

    assert_int_equal(c->n_taken + c->n_left, c->n);
    assert_int_equal(own->owner, step->key);
    assert_true(r->first < c->last);
    c->last = r->first;
    for (unsigned j = 1; j < BAND; j++) {
        const square *s = r->picked >> j & 1 ? square_at(c, r->first + j) : NULL;
        assert_true(!s || s->is_filled || s->owner == NOBODY);
        sum ^= s && s->is_filled ? s->filled : 0;
    }
    own->filled = sum;
    own->is_filled = true;
    assert_int_equal(own->filled, own->held);
    c->n_filled++;
}

static bool take_step(void *ctx, const tamis_peel *step)
{
    course *c = ctx;
    row r = row_of(step);

    assert_true(step->key < c->n);
    switch (step->type) {
    case TAMIS_PEEL_TOUCHES:
        check_touch(c, step, &r);
        break;
    case TAMIS_PEEL_ADDS:
        check_add(c, step, &r);
        break;
    case TAMIS_PEEL_TAKES:
        check_take(c, step, &r);
        break;
    case TAMIS_PEEL_FILLS:
        check_fill(c, step, &r);
        break;
    case TAMIS_PEEL_LEAVES:
        c->n_left++;
        break;
    }
    c->rows[step->key] = r;
    return true;
}

/* ---- Any filter -------------------------------------------------------- */

/* Returns how many keys have no cell. Those that are nobody's are zero. */
static size_t check_course(const tamis *f, const uint64_t *keys, size_t n)
{
    course c = { .n = n, .last = UINT64_MAX };

    assert_int_equal(tamis_visit_cells(f, take_corner, &c), TAMIS_OK);
    c.squares = array_of(c.levels * c.most, sizeof *c.squares);
    c.rows = array_of(n, sizeof *c.rows);
    assert_int_equal(tamis_visit_cells(f, take_cell, &c), TAMIS_OK);
    assert_int_equal(tamis_explain_elimination(f, keys, n, take_step, &c), TAMIS_OK);
    assert_int_equal(c.n_touched, n);
    assert_int_equal(c.n_taken + c.n_left, n);
    assert_int_equal(c.n_filled, c.n_taken);
    for (size_t i = 0; i < c.levels * c.most; i++)
        assert_true(c.squares[i].is_filled || c.squares[i].held == 0);
    assert_true(n < 100 || c.n_added > 0);
    free(c.squares);
    free(c.rows);
    return c.n_left;
}

static size_t check_size(tamis_kind kind, size_t n, uint32_t tag_bits, bool repeats)
{
    rng r = rng_for(1920 + n, tag_bits);
    tamis_spec spec = TAMIS_SPEC(.keys = n, .tag_bits = tag_bits);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan;

    for (size_t i = 0; i < n / 3 && repeats; i++)
        keys[n - 1 - i] = keys[i];
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    tamis *f = filter_of(&plan, keys, n);
    size_t left = check_course(f, keys, n);
    tamis_free(f);
    free(keys);
    return left;
}

static tamis_kind next_eliminated(tamis_kind kind)
{
    do
        kind = tamis_kind_next(kind);
    while (kind && !has_trait(kind, TAMIS_TRAIT_IS_ELIMINATED));
    return kind;
}

/* From 4097 keys on there is more than one level. */
static void cells_are_filled_with_what_they_hold(void **state)
{
    const uint32_t widths[] = { 1, 7, 8, 32 };
    const size_t sizes[] = { 100, 1000, 4096, 4097, run_size(10000, 5000, 100000) };
    tamis_kind kind = next_eliminated(TAMIS_NO_KIND);

    (void)state;
    assert_int_not_equal(kind, TAMIS_NO_KIND);
    for (; kind; kind = next_eliminated(kind))
        for (int w = 0; w < 4; w++) {
            for (size_t n = 0; n <= 80; n++)
                assert_int_equal(check_size(kind, n, widths[w], false), 0);
            for (int i = 0; i < 5; i++)
                assert_int_equal(check_size(kind, sizes[i], widths[w], false), 0);
        }
}

static void repeated_keys_leave(void **state)
{
    tamis_kind kind = next_eliminated(TAMIS_NO_KIND);

    (void)state;
    for (; kind; kind = next_eliminated(kind))
        for (size_t n = 3; n < 600; n += n / 2)
            assert_int_equal(check_size(kind, n, 8, true), n / 3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_filled_with_what_they_hold),
        cmocka_unit_test(repeated_keys_leave),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
