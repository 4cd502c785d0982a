/* explain.c - what filters tell of themselves is what they do. No kind is named. */
#include <string.h>

#include "model/ground.h"
#include "tamis_explain.h"

/* Of kinds that need more than keys, too: with values, or told from the strangers. */
static tamis *told_filter(const ground *g)
{
    tamis *f = NULL;
    tamis_status status;

    if (has_trait(g->plan.kind, TAMIS_TRAIT_TAKES_EXCLUDED)) {
        status =
            tamis_build_excluding(&f, &g->plan, g->keys, g->n, g->strangers, g->n_strangers, NULL);
    } else if (has_trait(g->plan.kind, TAMIS_TRAIT_TAKES_VALUES)) {
        uint64_t *values = array_of(g->n, sizeof *values);
        for (size_t i = 0; i < g->n; i++)
            values[i] = i % 32;
        status = tamis_build_map(&f, &g->plan, g->keys, values, g->n, NULL);
        free(values);
    } else {
        status = tamis_build(&f, &g->plan, g->keys, g->n, NULL);
    }
    assert_int_equal(status, TAMIS_OK);
    return f;
}

/* ---- Cells ------------------------------------------------------------- */

/* All cells of a filter, or as many as are enough. */
enum { ENOUGH = 1 << 20 };

typedef struct picture {
    tamis_cell *cells;
    size_t n, room;
} picture;

static bool take_cell(void *ctx, const tamis_cell *cell)
{
    picture *p = ctx;

    if (p->n == p->room) {
        p->room = 2 * p->room + 64;
        p->cells = realloc(p->cells, p->room * sizeof *p->cells);
        assert_non_null(p->cells);
    }
    p->cells[p->n++] = *cell;
    return p->n < ENOUGH;
}

static picture picture_of(const tamis *f)
{
    picture p = { 0 };

    assert_non_null(f->ops.explain);
    assert_int_equal(tamis_visit_cells(f, take_cell, &p), TAMIS_OK);
    return p;
}

static bool same_array(const tamis_cell *a, const tamis_cell *b)
{
    return strcmp(a->array, b->array) == 0 && a->number == b->number;
}

static const tamis_cell *cell_at(const picture *p, const tamis_cell *wanted)
{
    for (size_t i = 0; i < p->n; i++)
        if (same_array(&p->cells[i], wanted) && p->cells[i].index == wanted->index)
            return &p->cells[i];
    return NULL;
}

/* Arrays are whole: each starts at 0 and goes up by 1, and none comes twice. */
static void assert_arrays(const picture *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const tamis_cell *now = &p->cells[i], *before = now - 1;
        bool goes_on = i > 0 && same_array(now, before);

        assert_true(now->bits >= 1 && now->bits <= 64);
        assert_true(now->bits == 64 || now->value >> now->bits == 0);
        assert_int_equal(now->index, goes_on ? before->index + 1 : 0);
        if (i > 0 && !goes_on && strcmp(now->array, before->array) == 0)
            assert_true(now->number > before->number);
    }
}

static void cells_are_in_order(ground *g)
{
    tamis *f = told_filter(g);
    picture p = picture_of(f);

    assert_true(p.n > 0);
    assert_arrays(&p);
    free(p.cells);
    tamis_free(f);
}

typedef struct stop {
    size_t left;
} stop;

static bool stop_cells(void *ctx, const tamis_cell *cell)
{
    stop *s = ctx;

    (void)cell;
    assert_true(s->left > 0);
    return --s->left > 0;
}

static bool stop_steps(void *ctx, const tamis_step *step)
{
    (void)step;
    return stop_cells(ctx, NULL);
}

static void tellings_stop_when_told(ground *g)
{
    tamis *f = told_filter(g);

    for (size_t n = 1; n <= 5; n++) {
        stop cells = { n }, steps = { n };
        assert_int_equal(tamis_visit_cells(f, stop_cells, &cells), TAMIS_OK);
        uint64_t key = g->n ? g->keys[0] : 0;
        assert_int_equal(tamis_explain(f, key, stop_steps, &steps), tamis_has(f, key));
    }
    tamis_free(f);
}

/* ---- Steps ------------------------------------------------------------- */

typedef struct explanation {
    const tamis *f;
    const picture *picture; /* NULL: cells are not looked up */
    uint64_t key;
    size_t steps, answers;
} explanation;

/* The hash comes first, the answer last; each cell that is read is one of the picture. */
static bool check_step(void *ctx, const tamis_step *step)
{
    explanation *e = ctx;

    assert_int_equal(e->answers, 0);
    assert_non_null(step->text);
    if (e->steps++ == 0) {
        assert_int_equal(step->type, TAMIS_STEP_NUMBER);
        assert_int_equal(tamis_key_with_hash(e->f, step->value), e->key);
    }
    if (step->type == TAMIS_STEP_CELL && e->picture) {
        const tamis_cell *drawn = cell_at(e->picture, &step->cell);
        assert_non_null(drawn);
        assert_int_equal(step->value, step->cell.value);
        assert_int_equal(drawn->value, step->cell.value);
        assert_int_equal(drawn->bits, step->cell.bits);
        assert_int_equal(drawn->marks, step->cell.marks);
    }
    if (step->type == TAMIS_STEP_ANSWER) {
        assert_int_equal(step->value, tamis_has(e->f, e->key));
        assert_int_equal(step->agrees, step->value);
        e->answers++;
    }
    return true;
}

static void assert_explained(const tamis *f, const picture *p, uint64_t key)
{
    explanation e = { .f = f, .picture = p, .key = key };

    assert_int_equal(tamis_explain(f, key, check_step, &e), tamis_has(f, key));
    assert_int_equal(e.answers, 1);
}

static void steps_agree_with_the_answer(ground *g)
{
    tamis *f = told_filter(g);
    picture p = picture_of(f);
    const size_t most = run_size(10000, 1000, 100000);
    bool is_small = g->n <= 10;

    for (size_t i = 0; i < g->n + g->n_strangers && i < most; i++)
        assert_explained(f, is_small ? &p : NULL, g->keys[i]);
    for (size_t i = 0; i < most && !(tamis_kind_can(g->plan.kind) & TAMIS_IS_INDEXED); i++)
        assert_explained(f, is_small && i < 100 ? &p : NULL, rng_next(&g->r));
    free(p.cells);
    tamis_free(f);
}

/* ---- Damage ------------------------------------------------------------ */

/* Ones, noise, and a few flipped bits. */
static void scribble(tamis *f, rng *r, int how)
{
    uint8_t *payload = f->payload;

    for (uint64_t i = 0; i < f->plan.bytes && how < 2; i++)
        payload[i] = (uint8_t)(how == 0 ? 0xff : rng_next(r));
    for (int i = 0; i < 5 && how >= 2; i++)
        payload[rng_below(r, f->plan.bytes)] ^= (uint8_t)(1u << rng_below(r, 8));
    tamis__use_cpu(f, f->cpu); /* whose choice of code may depend on the payload */
}

static void any_payload_can_be_told(ground *g)
{
    for (int how = 0; how < 10 && g->plan.bytes < 4096; how++) {
        tamis *f = told_filter(g);
        scribble(f, &g->r, how);
        picture p = picture_of(f);
        assert_arrays(&p);
        for (size_t i = 0; i < g->n + g->n_strangers && i < 30; i++)
            assert_explained(f, &p, g->keys[i]);
        free(p.cells);
        tamis_free(f);
    }
}

int main(int argc, char **argv)
{
    const ground_law laws[] = {
        { "cells are in order", cells_are_in_order, 0 },
        { "tellings stop when told", tellings_stop_when_told, 0 },
        { "steps agree with the answer", steps_agree_with_the_answer, 0 },
        { "any payload can be told", any_payload_can_be_told, 0 },
    };

    test_begin(argc, argv);
    return check_ground_laws_of(check_laws_of_all, laws, sizeof laws / sizeof *laws);
}
