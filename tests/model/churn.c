/* churn.c - filters whose keys come and go, at the load they are planned for: as many keys are
 * removed as are added, the oldest first, through many turnovers. No key is refused or lost, no
 * room is taken for good, and strangers are found no more often than planned. No kind is named. */
#include "kinds.h"

/* Key number i is there if it is one of n from `first` on; the next n are strangers. */
typedef struct crowd {
    tamis *f;
    double rate; /* that strangers may be found with */
    uint64_t salt, first, universe;
    size_t n;
    uint64_t *keys, *hits;
} crowd;

/* Keys per filter, and parts of a turnover: each part is removed, then replaced. */
enum { PARTS = 10 };

static size_t crowd_size(void)
{
    return run_size(1000, 1000, 100000);
}

static size_t turnovers(void)
{
    return run_size(440, 60, 10000);
}

static const uint64_t *keys_from(crowd *c, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c->keys[i] = c->universe ? (first + i) % c->universe : mix64(first + i) ^ c->salt;
    return c->keys;
}

static crowd crowd_of(tamis_kind kind, size_t n, double fpr)
{
    rng r = rng_for(8000 + (uint64_t)kind, (uint64_t)(1 / fpr));
    crowd c = { .n = n, .salt = rng_next(&r) };
    tamis_spec spec = spec_for(is_indexed(kind) ? 2 * n : n, fpr, rng_next(&r));
    tamis_plan plan;

    spec.can = TAMIS_CAN_REMOVE;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    c.universe = is_indexed(kind) ? 2 * n : 0;
    /* Marks stay, until each lookup looks at both places. */
    c.rate = fmin(1, tamis_plan_rate(&plan, n) * (keeps_marks(kind) ? 2 : 1));
    c.keys = array_of(n, sizeof *c.keys);
    c.hits = array_of(n / 64 + 1, sizeof *c.hits);
    c.f = new_filter(&plan);
    add_all(c.f, keys_from(&c, 0, n), n);
    return c;
}

static void free_crowd(crowd *c)
{
    tamis_free(c->f);
    free(c->keys);
    free(c->hits);
}

static size_t found_from(crowd *c, uint64_t first)
{
    return tamis_has_many(c->f, c->hits, keys_from(c, first, c->n), c->n);
}

/* ---- Turnovers --------------------------------------------------------- */

typedef struct change {
    tamis_status (*one)(tamis *f, uint64_t key);
    tamis_status (*many)(tamis *f, size_t *done, const uint64_t *keys, size_t n);
} change;

static const change ADD = { tamis_add, tamis_add_many };
static const change REMOVE = { tamis_remove, tamis_remove_many };

static void change_part(crowd *c, const change *how, uint64_t first, size_t n, bool in_batches)
{
    const uint64_t *keys = keys_from(c, first, n);
    size_t done = 0;

    if (in_batches)
        assert_int_equal(how->many(c->f, &done, keys, n), TAMIS_OK);
    else
        while (done < n && how->one(c->f, keys[done]) == TAMIS_OK)
            done++;
    assert_int_equal(done, n);
}

static void turn_over(crowd *c, bool in_batches)
{
    for (size_t part = 0; part < PARTS; part++) {
        size_t n = c->n * (part + 1) / PARTS - c->n * part / PARTS;
        change_part(c, &REMOVE, c->first, n, in_batches);
        change_part(c, &ADD, c->first + c->n, n, in_batches);
        c->first += n;
    }
}

/* Of kinds whose counts stop, some counters may have stopped for good. */
static void assert_nothing_left(crowd *c)
{
    change_part(c, &REMOVE, c->first, c->n, true);
    if (info_of(c->f).saturated)
        return;
    assert_int_equal(info_of(c->f).count, 0);
    assert_int_equal(found_from(c, c->first), 0);
    assert_int_equal(found_from(c, c->first + c->n), 0);
}

static void churn(tamis_kind kind, double fpr)
{
    crowd c = crowd_of(kind, crowd_size(), fpr);
    const uint64_t bytes = tamis_plan_of(c.f)->bytes;
    uint64_t hits = 0, asked = 0;

    for (size_t t = 0; t < turnovers(); t++) {
        snprintf(law_at, sizeof law_at, "fpr %g, turnover %zu", fpr, t);
        turn_over(&c, t % 2);
        assert_int_equal(found_from(&c, c.first), c.n);
        hits += found_from(&c, c.first + c.n);
        asked += c.n;
    }
    if (!binomial_fits_between(hits, asked, 0, c.rate))
        fail_msg("%llu of %llu strangers found, not %g", (unsigned long long)hits,
                 (unsigned long long)asked, c.rate);
    assert_int_equal(tamis_plan_of(c.f)->bytes, bytes);
    assert_true(is_whole(c.f));
    assert_nothing_left(&c);
    free_crowd(&c);
}

static void lives_on(tamis_kind kind)
{
    const double fprs[] = { 0.5, 0.1, 0.01, 0.001, 0.000001 };

    for (int i = 0; i < 5; i++)
        churn(kind, fprs[i]);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "lives on while keys come and go", lives_on, .can = TAMIS_CAN_ADD | TAMIS_CAN_REMOVE },
    };

    test_begin(argc, argv);
    return check_laws_of_all(laws, sizeof laws / sizeof *laws);
}
