/* lab_cuckoo.c - tamis lab cuckoo: how full cuckoo filters become, and how many keys an add moves.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"
#include "tamis_explain.h"

typedef struct cuckoo {
    lab lab;
    uint64_t slots, filters;
} cuckoo;

/* `limit` is the load that no table can pass as it grows, if the places of keys were independent:
 * two buckets of four slots (Fernholz and Ramachandran 2007; Cain, Sanders and Wormald 2007), two
 * windows of two (Walzer 2018). */
static const struct {
    tamis_kind kind;
    double limit;
    const char *name, *limit_name;
} TRIED[] = { { TAMIS_CUCKOO_BUCKETS, 0.98038, "two buckets of four", "limit of buckets" },
              { TAMIS_CUCKOO, 0.96499, "two windows of two", "limit of windows" } };

enum { N_TRIED = sizeof TRIED / sizeof *TRIED };

static tamis *empty_filter(const lab *l, tamis_kind kind, uint64_t slots, uint64_t seed)
{
    tamis_spec spec = TAMIS_SPEC(.keys = slots * 94 / 100, .tag_bits = 12);
    tamis_plan plan = lab_plan(l, kind, &spec);

    plan.hasher.seed = seed;
    return lab_new(l, &plan);
}

static double load_of(const tamis *f, uint64_t keys)
{
    return (double)keys / (double)tamis_plan_of(f)->slots;
}

/* ---- The first refusal ------------------------------------------------- */

static double fill_up(const lab *l, tamis_kind kind, uint64_t slots, lab_random *random)
{
    tamis *f = empty_filter(l, kind, slots, lab_draw(random));
    uint64_t keys = 0;

    while (tamis_add(f, lab_draw(random)) == TAMIS_OK)
        keys++;
    double load = load_of(f, keys);
    tamis_free(f);
    return load;
}

static void show_refusal(const lab *l, int t, uint64_t slots, uint64_t filters, chart_series *seen)
{
    lab_random random = lab_stream(l, slots * N_TRIED + (uint64_t)t);
    double least = 2, most = 0, sum = 0;

    for (uint64_t i = 0; i < filters; i++) {
        double load = fill_up(l, TRIED[t].kind, slots, &random);
        least = fmin(least, load);
        most = fmax(most, load);
        sum += load;
    }
    double mean = sum / (double)filters;
    LAB_ROW(l, lab_text("refusal"), lab_text(tamis_kind_name(TRIED[t].kind)), lab_count(slots),
            lab_none(), lab_real(TRIED[t].limit), lab_real(least), lab_real(mean), lab_real(most));
    chart_put_range(seen, (double)slots, mean, least, most);
}

static void show_refusals(const lab *l, uint64_t filters)
{
    static const uint64_t SLOTS[] = { 256, 1024, 4096, 16384, 65536 };
    chart *c = lab_chart(l, "Load at which the first key is refused: least, mean and most",
                         "slots of the filter", "load");

    c->x.is_log = true;
    c->y.low = 0.94;
    c->y.high = 1.04;
    for (int t = 0; t < N_TRIED; t++) {
        chart_series *seen = chart_add(c, TRIED[t].name, CHART_LINE_DOTS);
        chart_series *limit = chart_add(c, TRIED[t].limit_name, CHART_DASHES);
        limit->colour = seen->colour = svg_colour_at((size_t)t);
        chart_put(limit, (double)SLOTS[0], TRIED[t].limit);
        chart_put(limit, (double)SLOTS[4], TRIED[t].limit);
        for (size_t i = 0; i < (l->is_quick ? 3 : 5); i++)
            show_refusal(l, t, SLOTS[i], filters, seen);
    }
    lab_note(l, "Refusal: each filter was filled until it refused a key. Small ones vary more, and "
                "their stash of a few keys is a larger share, so that 256 slots may hold more than "
                "256 keys; large ones all stop at the same load, "
                "below the limit that theory has for independent places. Buckets of four with two "
                "choices are filled better than two windows of two, which need fewer bits per "
                "slot.");
}

/* ---- Moves ------------------------------------------------------------- */

/* What the slots held after the add before. They are the first array that a filter shows, or all of
 * that name. */
typedef struct snapshot {
    const char *array;
    uint64_t *values; /* 0: empty */
    uint64_t n, room;
    uint64_t changed;
} snapshot;

static bool take_cell(void *ctx, const tamis_cell *cell)
{
    snapshot *s = ctx;
    uint64_t value = cell->marks & TAMIS_MARK_EMPTY ? 0 : cell->value + 1;

    if (s->n == 0)
        s->array = cell->array;
    if (s->n == s->room || strcmp(s->array, cell->array) != 0)
        return false;
    s->changed += s->values[s->n] != value;
    s->values[s->n++] = value;
    return true;
}

/* An add that moves r keys changes r + 1 slots. */
static uint64_t slots_changed(const tamis *f, snapshot *s)
{
    s->n = s->changed = 0;
    if (tamis_visit_cells(f, take_cell, s))
        die(CODE_USAGE, "lab cuckoo: this library does not show the slots of %s filters",
            tamis_kind_name(tamis_plan_of(f)->kind));
    return s->changed;
}

/* Fills up to a load, then counts what each further add moves. */
static uint64_t add_to(tamis *f, lab_random *random, uint64_t keys, double load)
{
    while (load_of(f, keys) < load && tamis_add(f, lab_draw(random)) == TAMIS_OK)
        keys++;
    return keys;
}

static void show_moves(const lab *l, int t, uint64_t slots, chart_series *seen)
{
    static const double LOADS[] = { 0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94 };
    lab_random random = lab_stream(l, 7 + (uint64_t)t);
    tamis *f = empty_filter(l, TRIED[t].kind, slots, l->seed);
    snapshot s = { .room = 2 * slots };
    uint64_t keys = 0;

    s.values = array_new(s.room, sizeof *s.values, "numbers");
    for (size_t i = 0; i < sizeof LOADS / sizeof *LOADS; i++) {
        uint64_t moved = 0, most = 0, first = keys = add_to(f, &random, keys, LOADS[i]);
        slots_changed(f, &s);
        while (load_of(f, keys) < LOADS[i] + 0.01 && tamis_add(f, lab_draw(&random)) == TAMIS_OK) {
            uint64_t changed = slots_changed(f, &s), moves = changed > 0 ? changed - 1 : 0;
            moved += moves;
            most = moves > most ? moves : most;
            keys++;
        }
        double mean = keys > first ? (double)moved / (double)(keys - first) : 0;
        LAB_ROW(l, lab_text("moves"), lab_text(tamis_kind_name(TRIED[t].kind)), lab_count(slots),
                lab_real(LOADS[i]), lab_none(), lab_none(), lab_real(mean), lab_count(most));
        chart_put(seen, LOADS[i], mean);
    }
    free(s.values);
    tamis_free(f);
}

/* ---- Experiment -------------------------------------------------------- */

static void run(void *request)
{
    const cuckoo *r = request;
    const lab *l = &r->lab;

    lab_columns(l, "part kind slots load limit least mean most");
    show_refusals(l, lab_choice(l, r->filters, 20, 3));
    chart *c = lab_chart(l, "Keys that an add moves", "load", "moves, mean");
    c->y.is_log = true;
    for (int t = 0; t < N_TRIED; t++)
        show_moves(l, t, l->is_quick ? r->slots / 4 : r->slots,
                   chart_add(c, TRIED[t].name, CHART_LINE_DOTS));
    lab_note(l,
             "Moves: slots that an add has changed, less one. Half-full filters hardly ever move "
             "a key; close to their limit, adds move several.");
}

static const option_row options[] = {
    { 0, "slots", "N", "of the filter in which moves are counted (default: 8192)",
      TO_COUNT(cuckoo, slots, 256, 1 << 16) },
    { 0, "filters", "N", "of each size to fill (default: 20)",
      TO_COUNT(cuckoo, filters, 1, 100000) },
    { 0 },
};

LAB_EXPERIMENT(cuckoo, LAB_NEEDS(TAMIS_CUCKOO, TAMIS_CUCKOO_BUCKETS), .slots = 8192);
