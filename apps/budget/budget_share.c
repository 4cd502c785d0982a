/* budget_share.c - which size each filter gets, and how much better that is than what is simple.
 *
 * Filters of as many keys have one list of sizes. Of very many different numbers of keys, a list
 * for each would take minutes to plan: numbers are then rounded up to ten bits, which makes filters
 * at most a five-hundredth larger than they need to be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "term/array.h"
#include "term/message.h"

/* ---- Lists of sizes ---------------------------------------------------- */

/* What the sizes of a row depend on. */
typedef struct shape {
    uint64_t keys;
    tamis_kind kind; /* of what there is; TAMIS_NO_KIND: sizes that are built */
    uint64_t was_keys, was_bytes;
    size_t row;
} shape;

typedef struct list {
    size_t start, n; /* among all sizes */
} list;

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_shapes(const void *a, const void *b)
{
    const shape *x = a, *y = b;
    int order = compare(x->keys, y->keys);

    order = order ? order : compare((uint64_t)x->kind, (uint64_t)y->kind);
    order = order ? order : compare(x->was_keys, y->was_keys);
    return order ? order : compare(x->was_bytes, y->was_bytes);
}

static int compare_shapes_and_rows(const void *a, const void *b)
{
    int order = compare_shapes(a, b);

    return order ? order : compare(((const shape *)a)->row, ((const shape *)b)->row);
}

enum { FEW_NUMBERS = 4096, KEPT_BITS = 10 };

static uint64_t rounded(uint64_t keys)
{
    int bits = 64 - __builtin_clzll(keys);
    uint64_t unit = bits > KEPT_BITS ? UINT64_C(1) << (bits - KEPT_BITS) : 1;

    return (keys + unit - 1) / unit * unit;
}

static size_t distinct(const shape *s, size_t n)
{
    size_t found = n > 0;

    for (size_t i = 1; i < n; i++)
        found += compare_shapes(&s[i - 1], &s[i]) != 0;
    return found;
}

/* Rows in order of their shapes, the numbers of keys rounded if they are many. */
static void sort_shapes(shape *s, size_t n)
{
    qsort(s, n, sizeof *s, compare_shapes_and_rows);
    if (distinct(s, n) <= FEW_NUMBERS)
        return;
    for (size_t i = 0; i < n; i++) {
        s[i].keys = rounded(s[i].keys);
        s[i].was_keys = s[i].was_keys ? rounded(s[i].was_keys) : 0;
    }
    qsort(s, n, sizeof *s, compare_shapes_and_rows);
}

static size_t planned_sizes(tamis_size *sizes, const budget *b, const shape *s)
{
    tamis_spec spec = TAMIS_SPEC(.keys = s->keys, .max_bytes = b->total);

    return tamis_budget_sizes(sizes, b->kind, &spec);
}

/* Of a filter that was planned for so many keys in so many bytes. */
static size_t kept_sizes(tamis_size *sizes, const shape *s)
{
    tamis_spec spec = TAMIS_SPEC(.keys = s->was_keys, .max_bytes = s->was_bytes);
    tamis_plan plan;

    if (tamis_plan_kind(&plan, s->kind, &spec))
        return 0;
    return tamis_budget_shrunk(sizes, &plan, s->keys);
}

/* A list for each row: rows of one shape have one. */
static list *make_lists(const budget *b, shape *s, size_t n, buffer *sizes)
{
    list *lists = array_new(b->n, sizeof *lists, "filters"), last = { 0 };
    tamis_size found[TAMIS_SIZES_MAX];

    sort_shapes(s, n);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_shapes(&s[i - 1], &s[i]) != 0) {
            last.start = sizes->size / sizeof *found;
            last.n = s[i].kind ? kept_sizes(found, &s[i]) : planned_sizes(found, b, &s[i]);
            for (size_t k = 0; k < last.n; k++)
                found[k].bytes += b->overhead;
            buffer_append(sizes, found, last.n * sizeof *found);
        }
        lists[s[i].row] = last;
    }
    return lists;
}

static list *lists_to_build(const budget *b, buffer *sizes)
{
    shape *s = array_new(b->n, sizeof *s, "filters");

    for (size_t i = 0; i < b->n; i++)
        s[i] = (shape){ .keys = budget_row_at(b, i)->keys, .row = i };
    list *lists = make_lists(b, s, b->n, sizes);
    free(s);
    return lists;
}

static list *lists_to_keep(budget *b)
{
    shape *s = array_new(b->n, sizeof *s, "filters");
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) {
        const budget_row *r = budget_row_at(b, i);
        if (r->kind)
            s[n++] = (shape){ r->keys, r->kind, r->was_keys, r->was_bytes, i };
    }
    list *lists = make_lists(b, s, n, &b->kept);
    free(s);
    return lists;
}

/* ---- Claims ------------------------------------------------------------ */

/* The part of a list within the limits of a row. */
static const tamis_size *within(const budget *b, const budget_row *r, const buffer *sizes,
                                const list *l, size_t *n)
{
    const tamis_size *at = (const tamis_size *)(const void *)sizes->bytes + l->start;

    for (*n = l->n; *n > 0 && at->bytes < r->min_bytes + b->overhead; at++)
        --*n;
    while (*n > 0 && r->max_bytes && at[*n - 1].bytes > r->max_bytes + b->overhead)
        --*n;
    return at;
}

static void make_claims(budget *b, const buffer *built, const list *to_build, const list *to_keep)
{
    for (size_t i = 0; i < b->n; i++) {
        const budget_row *r = budget_row_at(b, i);
        tamis_claim *c = &b->claims[i];
        *c = (tamis_claim){ .weight = r->share * r->cost, .needed = r->min_bytes > 0 };
        if (to_build)
            c->sizes = within(b, r, built, &to_build[i], &c->n);
        list kept = to_keep ? to_keep[i] : (list){ r->first_kept, r->n_kept };
        c->kept = within(b, r, &b->kept, &kept, &c->m);
        /* A rate that differs by how it was rounded is no reason to build anything. */
        if (b->has_was)
            c->price = b->rebuild_cost * (double)r->keys / b->queries + 1e-9 * c->weight;
        if (c->needed && c->n + c->m == 0)
            die(CODE_USAGE, "budget: %s: no size of '%s' is between its min_bytes and max_bytes",
                b->path, names_at(&b->names, i));
    }
}

/* ---- Other ways to share ----------------------------------------------- */

/* In the largest size that fits. */
static double cost_within(const tamis_claim *c, double bytes)
{
    const tamis_size *sizes = c->n ? c->sizes : c->kept;
    size_t n = c->n ? c->n : c->m;

    while (n > 0 && (double)sizes[n - 1].bytes > bytes)
        n--;
    return c->weight * (n > 0 ? sizes[n - 1].rate : 1);
}

static void cost_of_others(budget *b)
{
    double keys = 0, weights = 0, total = (double)b->total;

    for (size_t i = 0; i < b->n; i++) {
        keys += (double)budget_row_at(b, i)->keys;
        weights += b->claims[i].weight;
    }
    for (size_t i = 0; i < b->n; i++) {
        const tamis_claim *c = &b->claims[i];
        b->equal += cost_within(c, total / (double)b->n);
        b->by_keys += cost_within(c, total * (double)budget_row_at(b, i)->keys / keys);
        b->by_weight += weights > 0 ? cost_within(c, total * c->weight / weights) : 0;
    }
}

/* What filters of any size would cost: each falls as its largest size does. */
static void cost_of_ideal(budget *b)
{
    tamis_vessel *vessels = array_new(b->n, sizeof *vessels, "filters");

    for (size_t i = 0; i < b->n; i++) {
        const tamis_claim *c = &b->claims[i];
        const tamis_size *last = c->n ? &c->sizes[c->n - 1] : c->m ? &c->kept[c->m - 1] : NULL;
        vessels[i] = (tamis_vessel){ .weight = c->weight, .decay = 1 };
        if (last && last->rate > 0 && last->rate < 1) {
            vessels[i].decay = -log(last->rate) / (double)last->bytes;
            vessels[i].most = (double)last->bytes;
        }
    }
    b->ideal = NAN;
    if (tamis_budget_pour(vessels, b->n, (double)b->total) == TAMIS_OK) {
        b->ideal = 0;
        for (size_t i = 0; i < b->n; i++)
            b->ideal += vessels[i].weight * exp(-vessels[i].decay * vessels[i].bits);
    }
    free(vessels);
}

/* ---- All of it --------------------------------------------------------- */

void budget_share(budget *b)
{
    buffer built = { 0 };
    list *to_build = b->only_shrinks ? NULL : lists_to_build(b, &built);
    list *to_keep = b->has_was ? lists_to_keep(b) : NULL;

    if (to_build && built.size == 0)
        die(CODE_USAGE, "budget: %s filters cannot share a budget: they need more than keys",
            tamis_kind_name(b->kind));
    b->claims = array_new(b->n, sizeof *b->claims, "filters");
    make_claims(b, &built, to_build, to_keep);
    free(to_build);
    free(to_keep);
    tamis_status status = tamis_budget_choose(&b->result, b->claims, b->n, b->total, NULL);
    if (status == TAMIS_RANGE)
        die(CODE_USAGE, "budget: %s: what its min_bytes demand is more than --total-bytes",
            b->path);
    if (status)
        die_status("share", b->path, status);
    cost_of_others(b);
    cost_of_ideal(b);
}
