/* cmd_budget.c - tamis budget: one budget of memory for many filters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "commands.h"
#include "filters/collection_member.h"
#include "filters/spec.h"
#include "filters/store.h"
#include "term/message.h"
#include "term/output.h"
#include "text/csv.h"
#include "text/json.h"

typedef enum printing { AS_CSV, AS_TABLE, AS_JSON } printing;

typedef struct request {
    budget budget;
    budget_job job;
    const char *log, *was;
    uint64_t queries;
    cost_value rebuild_cost; /* costs may have any unit, but all the same */
    printing printing;
} request;

/* ---- Rows -------------------------------------------------------------- */

/* What the plan says of a row. */
typedef struct outcome {
    const char *name, *kind, *action;
    uint64_t bytes;
    double rate, wrong;
} outcome;

static const char *action_of(const tamis_claim *c)
{
    if (!c->size)
        return c->m ? "drop" : "none";
    if (!c->is_kept)
        return "build";
    return c->size == &c->kept[c->m - 1] ? "keep" : "shrink";
}

static outcome outcome_of(const budget *b, size_t i)
{
    const tamis_claim *c = &b->claims[i];
    const budget_row *r = budget_row_at(b, i);
    tamis_kind kind = c->is_kept ? r->kind : b->kind;
    double rate = c->size ? c->size->rate : 1;

    return (outcome){ .name = names_at(&b->names, i),
                      .kind = c->size ? tamis_kind_name(kind) : "none",
                      .action = action_of(c),
                      .bytes = c->size ? c->size->bytes - b->overhead : 0,
                      .rate = rate,
                      .wrong = r->share * rate };
}

static bool tells_actions(const budget *b)
{
    return b->has_was || b->only_shrinks;
}

/* ---- Printing ---------------------------------------------------------- */

enum { ROW_MAX = 256 };

static void print_csv(const budget *b)
{
    static const csv_format FORMAT = { .delim = ',', .end = '\n' };
    buffer out = { 0 };
    char text[ROW_MAX];

    buffer_append(&out, text,
                  (size_t)snprintf(text, sizeof text,
                                   "name,keys,share,cost,kind,bytes,rate,wrong%s\n",
                                   tells_actions(b) ? ",action" : ""));
    for (size_t i = 0; i < b->n; i++) {
        const budget_row *r = budget_row_at(b, i);
        outcome o = outcome_of(b, i);
        csv_quote(&FORMAT, &out, o.name, strlen(o.name));
        int size =
            snprintf(text, sizeof text, ",%" PRIu64 ",%.10g,%.10g,%s,%" PRIu64 ",%.6g,%.6g%s%s\n",
                     r->keys, r->share, r->cost, o.kind, o.bytes, o.rate, o.wrong,
                     tells_actions(b) ? "," : "", tells_actions(b) ? o.action : "");
        buffer_append(&out, text, (size_t)size);
        output_gathered(&out, false);
    }
    output_gathered(&out, true);
    buffer_free(&out);
}

static void print_table(const budget *b)
{
    printf("%-24s %12s %12s  %-12s %12s %11s %11s%s\n", "name", "keys", "share", "kind", "bytes",
           "rate", "wrong", tells_actions(b) ? "  action" : "");
    for (size_t i = 0; i < b->n; i++) {
        const budget_row *r = budget_row_at(b, i);
        outcome o = outcome_of(b, i);
        printf("%-24s %12" PRIu64 " %12.4g  %-12s %12" PRIu64 " %11.4g %11.4g%s%s\n", o.name,
               r->keys, r->share, o.kind, o.bytes, o.rate, o.wrong, tells_actions(b) ? "  " : "",
               tells_actions(b) ? o.action : "");
    }
}

static void print_row_json(json *j, const budget *b, size_t i)
{
    const budget_row *r = budget_row_at(b, i);
    outcome o = outcome_of(b, i);

    json_open(j, NULL, '{');
    json_text(j, "name", o.name);
    json_count(j, "keys", r->keys);
    json_real(j, "share", r->share);
    json_real(j, "cost", r->cost);
    json_text(j, "kind", o.kind);
    json_count(j, "bytes", o.bytes);
    json_real(j, "rate", o.rate);
    json_real(j, "wrong", o.wrong);
    if (tells_actions(b))
        json_text(j, "action", o.action);
    json_close(j, '}');
}

static void print_json(const budget *b)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_count(&j, "total_bytes", b->total);
    json_count(&j, "bytes", b->result.bytes);
    json_real(&j, "cost", b->result.cost);
    json_real(&j, "least_cost", b->result.least);
    json_real(&j, "ideal_cost", b->ideal);
    json_real(&j, "equal_cost", b->equal);
    json_real(&j, "by_keys_cost", b->by_keys);
    json_real(&j, "by_weight_cost", b->by_weight);
    json_open(&j, "filters", '[');
    for (size_t i = 0; i < b->n; i++)
        print_row_json(&j, b, i);
    json_close(&j, ']');
    json_close(&j, '}');
}

/* One line: what it costs, and what other ways to share would cost. */
static void say_summary(const budget *b)
{
    size_t left_out = 0;
    double cost = b->result.cost > 0 ? b->result.cost : 1;
    char bound[80] = "the least possible";

    for (size_t i = 0; i < b->n; i++)
        left_out += !b->claims[i].size;
    if (b->result.least < b->result.cost)
        snprintf(bound, sizeof bound, "at most %.1g of that above the least possible",
                 1 - b->result.least / cost);
    say("%zu filters in %" PRIu64 " of %" PRIu64 " bytes, %zu left out; wrong answers%s cost %.4g, "
        "%s; with the same bytes for each %.3g times that, with the same bits per key %.3g times, "
        "with bytes by weight %.3g times",
        b->n - left_out, b->result.bytes, b->total, left_out, b->has_was ? " and building" : "",
        b->result.cost, bound, b->equal / cost, b->by_keys / cost, b->by_weight / cost);
}

/* ---- Command ----------------------------------------------------------- */

static int run_apply(request *r, const args *a, char **operands)
{
    if (!operands[0] || operands[1] || !r->job.out || (!r->job.keys && !r->job.images))
        args_refuse(a, "apply takes one PLAN, -o OUT, and --keys DIR or --images FILE or both");
    if (r->budget.total || r->log || r->was || r->printing)
        args_refuse(a, "apply has no use for options that make a plan");
    r->job.plan = operands[0];
    return budget_apply(&r->job);
}

static void check_plan_options(const request *r, const args *a, const char *path)
{
    bool are_images = store_is_folder(path) || member_is_collection(path);

    if (!r->budget.total)
        args_refuse(a, "give --total-bytes SIZE");
    if (!tamis_kind_can(r->budget.kind))
        args_refuse(a, "this program was built without partitioned filters; give -k KIND");
    if (r->job.keys || r->job.images || r->job.out)
        args_refuse(a, "-o, --keys and --images are for apply");
    if (are_images && !r->log)
        args_refuse(a, "for a folder of images or a collection, give --log FILE: what was asked");
    if (!are_images && r->log)
        args_refuse(a, "--log is for a folder of images or a collection; a CSV has shares");
    if (are_images && r->was)
        args_refuse(a, "--was is for a CSV; images are what they are");
    if (!r->was && (r->rebuild_cost.value > 0 || r->queries != 1))
        args_refuse(a, "--rebuild-cost and --queries need --was: what there is already");
}

static int run_plan(request *r, const args *a, char **operands)
{
    budget *b = &r->budget;

    if (operands[1])
        args_refuse(a, "give one CSV, folder or collection");
    check_plan_options(r, a, operands[0]);
    b->queries = (double)r->queries;
    b->rebuild_cost = r->rebuild_cost.value;
    if (r->log)
        budget_read_images(b, operands[0], r->log);
    else
        budget_read_csv(b, operands[0]);
    if (r->was)
        budget_read_was(b, r->was);
    budget_share(b);
    if (r->printing == AS_CSV)
        print_csv(b);
    else if (r->printing == AS_TABLE)
        print_table(b);
    else
        print_json(b);
    say_summary(b);
    return CODE_OK;
}

static int run(args *a)
{
    request r = { .budget = { .kind = TAMIS_PARTITIONED }, .queries = 1 };

    args_read(a, &r);
    char **operands = args_operands(a, 1, 3, "a CSV of filters");
    if (strcmp(operands[0], "apply") == 0)
        return run_apply(&r, a, operands + 1);
    return run_plan(&r, a, operands);
}

static const option_row options[] = {
    { 0, "total-bytes", "SIZE", "what all filters together may take: 4096, 64K, 1G",
      TO_SIZE(request, budget.total) },
    { 'k', "kind", "KIND", "of the filters (default: partitioned, whose rows can be dropped later)",
      TO_KIND(request, budget.kind) },
    { 0, "overhead", "SIZE", "what each filter takes besides, such as its header",
      TO_SIZE(request, budget.overhead) },
    { 0, "table", NULL, "print a table", TO_CONSTANT(request, printing, AS_TABLE) },
    { 0, "json", NULL, "print JSON, with the costs of other ways to share",
      TO_CONSTANT(request, printing, AS_JSON) },
    { 0, "log", "FILE", "queries that were asked, as name,key or name", TO_TEXT(request, log) },
    { 0, "was", "PLAN", "the plan of what there is: keeping and shrinking it is free",
      TO_TEXT(request, was) },
    { 0, "rebuild-cost", "C", "of each key of a filter that is built anew",
      TO_COST(request, rebuild_cost) },
    { 0, "queries", "N", "that come before the next plan (default: 1)",
      TO_COUNT(request, queries, 1, UINT64_MAX) },
    { 0, "keys", "DIR", "apply: files of keys, one per filter, called as it",
      TO_TEXT(request, job.keys) },
    { 0, "images", "FILE", "apply: a folder of filters to shrink, or a collection",
      TO_TEXT(request, job.images) },
    { 'o', "output", "OUT", "apply: an existing folder, or the collection to make",
      TO_TEXT(request, job.out) },
    { 0 },
};

const command cmd_budget = { "budget", help_budget, options, .verbs = "apply", .run = run };
