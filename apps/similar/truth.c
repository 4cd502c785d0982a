/* truth.c - how alike documents really are.
 *
 * All keys of all documents are put in order. Documents with the same key are then neighbours, and
 * each pair of them has one more key in common. That takes as many steps as there are common keys
 * in all pairs, and none for pairs that share nothing. */
#include "truth.h"

#include <math.h>
#include <stdlib.h>

#include "files/thread_pool.h"
#include "term/array.h"
#include "term/message.h"
#include "term/progress.h"

/* Keys, each with a document. */
static ranked *list_occurrences(const documents *d, size_t *n)
{
    size_t total = 0, at = 0;

    for (size_t i = 0; i < d->n; i++)
        total += d->all[i].n_keys;
    ranked *all = array_new(total, sizeof *all, "shingles of --check; give fewer documents");
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->all[i].n_keys; k++)
            all[at++] = (ranked){ d->all[i].keys[k], (uint32_t)i };
    array_sort(all, total);
    *n = total;
    return all;
}

/* Pairs of a later document with all before it follow each other. */
static uint32_t *counter_of(const truth *t, uint32_t a, uint32_t b)
{
    size_t low = a < b ? a : b, high = a < b ? b : a;

    return &t->both[high * (high - 1) / 2 + low];
}

static void count_pairs(truth *t, const ranked *same, size_t n)
{
    for (size_t j = 1; j < n; j++) {
        uint32_t *row = counter_of(t, same[j].id, 0);

        for (size_t i = 0; i < j; i++)
            row[same[i].id]++;
    }
}

truth truth_count(const documents *d)
{
    truth t = { .documents = d };
    size_t n;

    if (d->n > TRUTH_DOCUMENTS_MAX)
        die(CODE_LIMIT, "similar: --check counts the pairs of at most %d documents",
            TRUTH_DOCUMENTS_MAX);
    t.both = array_new(d->n * d->n / 2, sizeof *t.both, "pairs of --check; give fewer documents");
    ranked *all = list_occurrences(d, &n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end].by == all[i].by;)
            end++;
        count_pairs(&t, all + i, end - i);
        progress_show(i >> 20, n >> 20, "million shingles checked");
    }
    progress_erase();
    free(all);
    return t;
}

void truth_free(truth *t)
{
    free(t->both);
}

double truth_value(const truth *t, similar_measure by, uint32_t a, uint32_t b)
{
    double both = *counter_of(t, a, b);
    similar_sizes s = { .a = (double)t->documents->all[a].n_keys,
                        .b = (double)t->documents->all[b].n_keys,
                        .both = both };

    s.keys_a = s.a;
    s.keys_b = s.b;
    s.keys_or = s.a + s.b - both;
    return similar_value(by, &s);
}

/* ---- Estimates against it ---------------------------------------------- */

/* Each row is compared with all after it. */
typedef struct comparison {
    const truth *truth;
    const bit_rows *rows;
    similar_measure by;
    truth_report *reports; /* of each row: sums, which are added in order whoever made them */
    work_list list;
} comparison;

static void compare_pair(const comparison *c, truth_report *r, size_t i, size_t j, uint32_t both)
{
    const bit_rows *rows = c->rows;
    similar_sizes s = similar_sizes_of(&rows->occupancy, rows->ones[i], rows->ones[j], both);
    double bar = similar_bar(&rows->occupancy, c->by, &s);
    double error =
        fabs(similar_value(c->by, &s) - truth_value(c->truth, c->by, rows->ids[i], rows->ids[j]));

    r->pairs++;
    r->error += error;
    r->bar += bar;
    /* Values that are equal on paper may differ in their last digits. */
    r->inside += error <= bar + 1e-12;
}

static void compare_row(const comparison *c, truth_report *r, size_t i, const uint32_t *both)
{
    for (size_t j = i + 1; j < c->rows->n; j++) {
        compare_pair(c, r, i, j, both[j - i - 1]);
        if (pairs_are_ordered(c->by))
            compare_pair(c, r, j, i, both[j - i - 1]);
    }
}

static void compare_rows(void *ctx)
{
    comparison *c = ctx;
    const bit_rows *rows = c->rows;
    uint32_t *both = array_new(rows->n, sizeof *both, "pairs of --check; give fewer documents");
    overlap_kernel *overlap = overlap_choose();

    for (size_t i; work_list_next(&c->list, &i);) {
        overlap(both, bit_row(rows, i), bit_row(rows, i + 1), rows->n - i - 1, rows->words);
        compare_row(c, &c->reports[i], i, both);
    }
    free(both);
}

static truth_report sum_reports(const truth_report *all, size_t n)
{
    truth_report sum = { 0 };

    for (size_t i = 0; i < n; i++) {
        sum.pairs += all[i].pairs;
        sum.inside += all[i].inside;
        sum.error += all[i].error;
        sum.bar += all[i].bar;
    }
    if (sum.pairs > 0) {
        sum.error /= (double)sum.pairs;
        sum.bar /= (double)sum.pairs;
    }
    return sum;
}

truth_report truth_compare(const truth *t, const bit_rows *rows, similar_measure by,
                           unsigned threads)
{
    comparison c = {
        .truth = t, .rows = rows, .by = by, .list = work_list_of(rows->n, "documents checked")
    };

    c.reports = array_new(rows->n, sizeof *c.reports, "documents to check; give fewer of them");
    thread_pool_run(threads, compare_rows, &c);
    progress_erase();
    truth_report sum = sum_reports(c.reports, rows->n);
    free(c.reports);
    return sum;
}
