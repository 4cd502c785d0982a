/* cmd_similar.c - tamis similar: which documents are alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "documents.h"
#include "pairs.h"
#include "term/array.h"
#include "term/message.h"
#include "term/progress.h"
#include "text/json.h"
#include "truth.h"

typedef struct request {
    source source;
    documents documents;
    pairs_wish wish;
    uint64_t bits;         /* 0: as many as the largest document needs */
    uint64_t words, chars; /* in a shingle, if they were given */
    bool checks, as_json;
} request;

/* In the order of their values. */
static const word_row measures[] = {
    { "jaccard", SIMILAR_JACCARD, "in both, of what is in either" },
    { "cosine", SIMILAR_COSINE, "in both, by the root of the product of the sizes" },
    { "containment", SIMILAR_CONTAINMENT, "in both, of what is in the first" },
    { "bits", SIMILAR_BITS, "the normalised dot product of the filters" },
    { 0 },
};

/* ---- Options ----------------------------------------------------------- */

enum { DEFAULT_TOP = 20, DEFAULT_WORDS = 3, BITS_MIN = 512, BITS_MAX = 1 << 26, TOP_MAX = 1 << 26 };

static uint64_t power_of_two(uint64_t least)
{
    uint64_t power = 1;

    while (power < least)
        power *= 2;
    return power;
}

static void choose_shingles(request *r, const args *a)
{
    shingle_format *form = &r->documents.shingles;

    if (r->words && r->chars)
        args_refuse(a, "give either --words or --chars");
    form->of_words = !r->chars;
    form->k = (unsigned)(r->words ? r->words : r->chars ? r->chars : DEFAULT_WORDS);
}

static void check_options(void *into, const args *a)
{
    request *r = into;
    documents *d = &r->documents;

    choose_shingles(r, a);
    if (args_given(a, "lines") + args_given(a, "sets") + args_given(a, "filters") > 1)
        args_refuse(a, "give one of --lines, --sets and --filters");
    if (r->wish.top && r->wish.each)
        args_refuse(a, "give either --top or --each");
    if ((d->id_field || r->source.format.n_fields) && d->unit != DOCUMENT_IS_LINE)
        args_refuse(a, "--id and --field are for --lines");
    if ((r->words || r->chars) && (d->unit == DOCUMENT_IS_SET || d->unit == DOCUMENT_IS_FILTER))
        args_refuse(a, "sets and filters have elements and no shingles");
    if (r->bits && d->unit == DOCUMENT_IS_FILTER)
        args_refuse(a, "filters have the --bits they were made with");
    if (r->checks && d->unit == DOCUMENT_IS_FILTER)
        args_refuse(a, "--check needs the documents, not their filters");
    if (r->checks && r->wish.by == SIMILAR_BITS)
        args_refuse(a, "the normalised product of bits is exact: there is nothing to --check");
    if (r->bits)
        r->bits = power_of_two(r->bits);
    d->keeps_keys = r->checks;
    if (!args_given(a, "above") && !r->wish.top && !r->wish.each)
        r->wish.top = DEFAULT_TOP;
}

static void read_options(request *r, args *a)
{
    r->source = source_default();
    r->documents.source = &r->source;
    args_read(a, r);
    source_inputs(&r->source, args_operands(a, 0, SIZE_MAX, ""));
    r->wish.threads = r->source.threads;
}

/* ---- Rows -------------------------------------------------------------- */

/* A bar is about 1.4 / sqrt(bits) wide as long as most bits are clear: more of them for the largest
 * document help the others too. The least keeps bars within 0.03. */
enum { DEFAULT_BITS_MIN = 4096, BITS_PER_SHINGLE = 8 };

static uint64_t bits_for(const request *r, double largest)
{
    const documents *d = &r->documents;
    uint64_t bits = DEFAULT_BITS_MIN;

    if (r->bits || d->unit == DOCUMENT_IS_FILTER)
        return d->total_bits;
    while ((double)bits < BITS_PER_SHINGLE * largest && bits < d->total_bits)
        bits *= 2;
    return bits;
}

static double largest_of(const documents *d)
{
    occupancy wide = { .bits = (double)d->total_bits, .hashes = d->plan.hashes };
    uint64_t ones = 0;

    for (size_t i = 0; i < d->n; i++)
        ones = d->all[i].ones > ones ? d->all[i].ones : ones;
    return occupancy_keys(&wide, ones);
}

/* At three shingles to a bit, one bit in twenty is clear, and bars are twice as wide. */
static void say_crowded(uint64_t bits, double largest)
{
    uint64_t better = largest < BITS_MAX ? power_of_two((uint64_t)largest) : BITS_MAX;

    if (largest > 3 * (double)bits)
        say("the largest document has %.2g shingles in %" PRIu64
            " bits, so that bars are wide; with --bits %" PRIu64 " they are narrow",
            largest, bits, better);
}

static bit_rows new_rows(const documents *d)
{
    bit_rows rows = { .n = d->n };
    size_t size;

    rows.words = ((size_t)(d->plan.bytes + 7) / 8 + OVERLAP_LINE - 1) / OVERLAP_LINE * OVERLAP_LINE;
    if (__builtin_mul_overflow(rows.words * sizeof *rows.bits, d->n, &size) ||
        !(rows.bits = aligned_alloc(OVERLAP_LINE * sizeof *rows.bits, size)) ||
        !occupancy_init(&rows.occupancy, d->total_bits, d->plan.hashes))
        die(CODE_MEMORY, "out of memory for the bits of all documents; give smaller --bits");
    memset(rows.bits, 0, size);
    rows.ones = array_new(d->n, sizeof *rows.ones, "documents");
    rows.ids = array_new(d->n, sizeof *rows.ids, "documents");
    return rows;
}

static bit_rows make_rows(const documents *d)
{
    bit_rows rows = new_rows(d);
    ranked *order = array_new(d->n, sizeof *order, "documents");

    for (size_t i = 0; i < d->n; i++)
        order[i] = (ranked){ d->all[i].ones, (uint32_t)i };
    array_sort(order, d->n);
    for (size_t i = 0; i < d->n; i++) {
        rows.ones[i] = (uint32_t)order[i].by;
        rows.ids[i] = order[i].id;
        document_fill(d, order[i].id, (uint8_t *)(rows.bits + i * rows.words));
    }
    free(order);
    return rows;
}

static void free_rows(bit_rows *rows)
{
    free(rows->bits);
    free(rows->ones);
    free(rows->ids);
    occupancy_free(&rows->occupancy);
}

/* ---- Results ----------------------------------------------------------- */

/* What is printed, and all that it is made of. */
typedef struct outcome {
    const request *request;
    const bit_rows *rows;
    pairs_found found;
    truth truth;
    truth_report report;
    size_t inputs; /* documents, those left out too */
} outcome;

static const char *name_of(const outcome *o, uint32_t id)
{
    return o->request->documents.all[id].name;
}

static void print_text(const outcome *o)
{
    const request *r = o->request;

    for (size_t i = 0; i < o->found.n; i++) {
        const pair *p = &o->found.all[i];
        const occupancy *all = &o->rows->occupancy;
        similar_sizes s = similar_sizes_of(all, p->ones_a, p->ones_b, p->both);

        printf("%.4f\t%.4f\t", p->value, similar_bar(all, r->wish.by, &s));
        if (r->checks)
            printf("%.4f\t", truth_value(&o->truth, r->wish.by, p->a, p->b));
        printf("%s\t%s%c", name_of(o, p->a), name_of(o, p->b), r->source.format.end);
    }
}

static void print_measure(json *j, const char *name, const occupancy *all, similar_measure by,
                          const similar_sizes *s)
{
    json_open(j, name, '{');
    json_real(j, "value", similar_value(by, s));
    json_real(j, "bar", similar_bar(all, by, s));
    json_close(j, '}');
}

static void print_pair(json *j, const outcome *o, const pair *p)
{
    const occupancy *all = &o->rows->occupancy;
    similar_sizes s = similar_sizes_of(all, p->ones_a, p->ones_b, p->both);
    similar_sizes swapped = similar_sizes_of(all, p->ones_b, p->ones_a, p->both);

    json_open(j, NULL, '{');
    json_text(j, "a", name_of(o, p->a));
    json_text(j, "b", name_of(o, p->b));
    json_real(j, "keys_a", s.keys_a);
    json_real(j, "keys_b", s.keys_b);
    print_measure(j, "jaccard", all, SIMILAR_JACCARD, &s);
    print_measure(j, "cosine", all, SIMILAR_COSINE, &s);
    print_measure(j, "a_in_b", all, SIMILAR_CONTAINMENT, &s);
    print_measure(j, "b_in_a", all, SIMILAR_CONTAINMENT, &swapped);
    json_real(j, "bits", similar_value(SIMILAR_BITS, &s));
    if (o->request->checks)
        json_real(j, "exact", truth_value(&o->truth, o->request->wish.by, p->a, p->b));
    json_close(j, '}');
}

static void print_report(json *j, const truth_report *t)
{
    json_open(j, "check", '{');
    json_count(j, "pairs", t->pairs);
    json_real(j, "mean_absolute_error", t->error);
    json_real(j, "mean_bar", t->bar);
    json_count(j, "inside", t->inside);
    json_close(j, '}');
}

static void print_json(const outcome *o)
{
    const request *r = o->request;
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_count(&j, "documents", r->documents.n);
    json_count(&j, "left_out", o->inputs - r->documents.n);
    json_count(&j, "bits", r->documents.total_bits);
    json_text(&j, "by", measures[r->wish.by].name);
    if (r->checks)
        print_report(&j, &o->report);
    json_open(&j, "pairs", '[');
    for (size_t i = 0; i < o->found.n; i++)
        print_pair(&j, o, &o->found.all[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}

static void say_report(const truth_report *t)
{
    if (t->pairs > 0)
        say("%" PRIu64 " pairs checked: mean absolute error %.5f, mean bar %.5f, %" PRIu64
            " inside their bars (%.2f %%)",
            t->pairs, t->error, t->bar, t->inside, 100 * (double)t->inside / (double)t->pairs);
}

/* ---- Run --------------------------------------------------------------- */

static void read_documents(request *r)
{
    documents *d = &r->documents;

    documents_read(d, r->source.names, r->bits ? r->bits : DOCUMENT_BITS_MAX);
    if (d->n == 0)
        return;
    double largest = largest_of(d);
    if (d->unit != DOCUMENT_IS_FILTER)
        documents_fold(d, bits_for(r, largest));
    say_crowded(d->total_bits, largest);
}

static void search_pairs(outcome *o, request *r, bit_rows *rows)
{
    o->rows = rows;
    if (r->checks)
        o->truth = truth_count(&r->documents);
    if (r->checks)
        o->report = truth_compare(&o->truth, rows, r->wish.by, r->wish.threads);
    o->found = pairs_find(rows, &r->wish);
    progress_make_way();
}

static int run(args *a)
{
    static request r;
    outcome o = { .request = &r };
    bit_rows rows = { 0 };

    read_options(&r, a);
    read_documents(&r);
    o.inputs = r.documents.n;
    documents_drop(&r.documents);
    if (r.documents.n < 2)
        say("there is %s; a pair takes two", r.documents.n ? "one document" : "no document");
    else {
        rows = make_rows(&r.documents);
        search_pairs(&o, &r, &rows);
    }
    if (r.as_json)
        print_json(&o);
    else
        print_text(&o);
    if (r.checks)
        say_report(&o.report);
    free(o.found.all);
    truth_free(&o.truth);
    free_rows(&rows);
    documents_free(&r.documents);
    return o.found.n > 0 ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 0, "words", "K", "shingles are K words that follow each other (default: 3)",
      TO_COUNT(request, words, 1, SHINGLE_MAX) },
    { 0, "chars", "K", "or K characters", TO_COUNT(request, chars, 1, SHINGLE_MAX) },
    { 0, "case", NULL, "tell capitals from small letters",
      TO_FLAG(request, documents.shingles.keeps_case) },
    { 0, "lines", NULL, "each line is a document, or its --field",
      TO_CONSTANT(request, documents.unit, DOCUMENT_IS_LINE) },
    { 0, "id", "N", "lines have their names in column N (default: INPUT:LINE)",
      TO_COUNT(request, documents.id_field, 1, UINT32_MAX) },
    { 0, "sets", NULL, "each INPUT is a set, and its lines are the elements",
      TO_CONSTANT(request, documents.unit, DOCUMENT_IS_SET) },
    { 0, "filters", NULL, "each INPUT is a filter that was made before",
      TO_CONSTANT(request, documents.unit, DOCUMENT_IS_FILTER) },
    { 0, "by", "MEASURE", "jaccard (default), cosine, containment or bits",
      TO_WORD(request, wish.by, measures) },
    { 0, "top", "K", "print the K best pairs (default: 20, or all with --above)",
      TO_COUNT(request, wish.top, 1, TOP_MAX) },
    { 0, "each", "K", "print the K best partners of each document",
      TO_COUNT(request, wish.each, 1, TOP_MAX) },
    { 0, "above", "X", "print only pairs with X or more: 0.5, 80%",
      TO_SHARE(request, wish.above, 0, 1) },
    { 0, "bits", "B", "bits of a filter (default: as the largest document needs)",
      TO_COUNT(request, bits, BITS_MIN, BITS_MAX) },
    { 0, "check", NULL, "count the truth too, and tell how far off the estimates are",
      TO_FLAG(request, checks) },
    { 0, "json", NULL, "print JSON, with all measures", TO_FLAG(request, as_json) },
    { .included = quiet_options },
    OPTIONS(key_options, request, source),
    { .take = check_options },
};

const command cmd_similar = { "similar", help_similar, options, .run = run };
