/* cmd_replicas.c - tamis replicas: are two copies equal, and if not, what is missing where? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "filters/store.h"
#include "replicas_talk.h"
#include "term/array.h"
#include "term/message.h"
#include "term/output.h"
#include "text/json.h"
#include "wire/connect.h"
#include "wire/packed_message.h"

enum { DEFAULT_ROUNDS = 16, MOST_ROUNDS = 255 };

typedef struct request {
    replicas talk;
    inventory here, there; /* there: if it is here, too */
    connect_way way;
    traffic_wish wants;
    bool takes_packed, prints_null, counting;
} request;

/* ---- What was found ---------------------------------------------------- */

typedef struct finding {
    span name;
    bool is_here, is_there;
} finding;

typedef struct findings {
    finding *all; /* by the bytes of their names */
    size_t n, only_here, only_there, differ;
} findings;

static int compare_findings(const void *a, const void *b)
{
    const finding *x = a, *y = b;
    int order = span_compare(x->name, y->name);

    return order ? order : y->is_here - x->is_here;
}

/* One of this side, then one of the other, if both have that name. */
static void join_findings(findings *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        finding *last = n > 0 ? &f->all[n - 1] : NULL;

        if (last && !last->is_there && f->all[i].is_there &&
            span_compare(last->name, f->all[i].name) == 0)
            last->is_there = true;
        else
            f->all[n++] = f->all[i];
    }
    f->n = n;
    for (size_t i = 0; i < n; i++)
        ++*(!f->all[i].is_there ? &f->only_here : !f->all[i].is_here ? &f->only_there : &f->differ);
}

static findings find_all(const request *q)
{
    const replicas *r = &q->talk;
    const line_set *set = &q->here.set;
    _Static_assert(sizeof(finding) <= REPLICAS_NAME, "names that come are counted so");
    findings f = { .all =
                       array_new(r->side.n_missing + (size_t)r->n_there, sizeof *f.all, "names") };
    size_t at = 0;
    span text;

    for (size_t i = 0; i < r->side.n; i++)
        if (r->side.states[i] == SIDE_MISSING) {
            finding *one = &f.all[f.n++];

            one->is_here = true;
            inventory_name(&q->here, line_set_line(set, &set->lines[i]), &one->name);
        }
    while (line_next(&r->only_there, r->here->set.end, &at, &text)) {
        finding *one = &f.all[f.n++];

        one->is_there = true;
        inventory_name(&q->here, text, &one->name);
    }
    qsort(f.all, f.n, sizeof *f.all, compare_findings);
    join_findings(&f);
    return f;
}

static const char *sign_of(const finding *f)
{
    return !f->is_there ? "< " : !f->is_here ? "> " : "! ";
}

/* ---- Printing ---------------------------------------------------------- */

/* Bytes written at a time. */
static void print_names(const request *q, const findings *f)
{
    unsigned char end = q->prints_null ? 0 : '\n';
    buffer out = { 0 };

    for (size_t i = 0; i < f->n; i++) {
        buffer_append(&out, sign_of(&f->all[i]), 2);
        output_put_text(&out, f->all[i].name.at, f->all[i].name.size);
        buffer_append(&out, &end, 1);
        output_gathered(&out, i + 1 == f->n);
    }
    buffer_free(&out);
}

static size_t same_of(const request *q, const findings *f)
{
    return q->talk.side.n - f->only_here - f->differ;
}

static void say_chance(const request *q, const char *counts)
{
    const replicas *r = &q->talk;

    if (r->agrees)
        say("%s; the chance that something was overlooked is %.0e", counts, r->chance);
    else
        say("%s; that is not all: about %.2g more were overlooked; give more --rounds, or a lower "
            "--fpr",
            counts, r->overlooked);
}

static void json_names(json *j, const char *name, const findings *f, const char *sign)
{
    json_open(j, name, '[');
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(sign_of(&f->all[i]), sign) == 0)
            json_bytes(j, NULL, f->all[i].name.at, f->all[i].name.size);
    json_close(j, ']');
}

static void print_json(const request *q, const findings *f)
{
    const replicas *r = &q->talk;
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_count(&j, "here", r->side.n);
    json_count(&j, "there", r->all_there);
    json_count(&j, "same", same_of(q, f));
    json_names(&j, "only_here", f, "< ");
    json_names(&j, "only_there", f, "> ");
    json_names(&j, "different", f, "! ");
    json_bool(&j, "complete", r->agrees);
    json_real(&j, "chance", r->chance);
    json_real(&j, "overlooked", r->overlooked);
    json_count(&j, "rounds", r->rounds);
    traffic_json(r->line, replicas_parts, &j);
    json_close(&j, '}');
}

static void print_result(const request *q)
{
    findings f = find_all(q);
    char counts[160];

    snprintf(counts, sizeof counts, "%zu only here, %zu only there, %zu different, %zu the same",
             f.only_here, f.only_there, f.differ, same_of(q, &f));
    if (q->wants.as_json)
        print_json(q, &f);
    else if (q->counting)
        printf("%s\n", counts);
    else
        print_names(q, &f);
    if (!q->wants.as_json)
        say_chance(q, counts);
    if (q->wants.as_text)
        traffic_print(q->talk.line, replicas_parts);
    free(f.all);
}

/* ---- Talking ----------------------------------------------------------- */

/* The other replica, if it is on this machine: the same conversation. */
typedef struct other_side {
    neighbour beside;
    replicas talk;
} other_side;

static void serve_beside(neighbour *n)
{
    replicas *talk = &((other_side *)n)->talk;

    talk->line = n->line;
    talk->offers = line_greet(talk->line, "replicas", false, packed_offer());
    replicas_serve(talk);
}

static bool is_local(const request *q)
{
    return q->there.path;
}

static void converse(request *q, bool asks)
{
    replicas *r = &q->talk;

    r->offers = line_greet(r->line, "replicas", asks, packed_offer());
    if (asks)
        replicas_ask(r);
    else
        replicas_serve(r);
}

static void compare_here(request *q)
{
    other_side other = { .beside = { .serve = serve_beside },
                         .talk = { .here = &q->there, .memory = q->talk.memory } };

    q->talk.line = connect_beside(&other.beside, &q->way.limits, q->here.path, q->there.path);
    converse(q, true);
    print_result(q);
    line_close(q->talk.line);
    connect_end_beside(&other.beside);
    replicas_free(&other.talk);
    inventory_close(&q->there);
}

static void compare_there(request *q)
{
    bool asks = connect_asks(&q->way);

    q->talk.line = connect_open(&q->way);
    converse(q, asks);
    if (asks)
        print_result(q);
    connect_close(&q->way, q->talk.line);
}

/* ---- Command ----------------------------------------------------------- */

static const option_row options[] = {
    { 0, "checksum", NULL, "files are equal if their contents are, whatever their times",
      TO_CONSTANT(request, here.facts, FACTS_CONTENT) },
    { 0, "size-only", NULL, "files are equal if their sizes are, whatever their times",
      TO_CONSTANT(request, here.facts, FACTS_SIZE) },
    { 'c', "count", NULL, "print only how many names differ", TO_FLAG(request, counting) },
    { 'z', "null", NULL, "lines end with a NUL byte, not with a newline",
      TO_FLAG(request, prints_null) },
    { 'p', "fpr", "P", "rate of all filters (default: 1/16, then what is likely to find the rest)",
      TO_FPR(request, talk.fpr) },
    { 0, "rounds", "N", "exchange filters N times at most (default: 16)",
      TO_COUNT(request, talk.rounds_most, 1, MOST_ROUNDS) },
    { 0, "no-decompress", NULL,
      "take compressed lists as they are (default: read gzip, zstd and xz)",
      TO_FLAG(request, takes_packed) },
    { 0, "memory", "SIZE",
      "for each message of the other side and what is made of it (default: 1G)",
      TO_MEMORY(request, talk.memory) },
    OPTIONS(traffic_options, request, wants),
    OPTIONS(connect_options, request, way),
    { .included = progress_options },
    { .included = quiet_options },
    { 0 },
};

static void read_request(request *q, args *a)
{
    args_read(a, q);
    char **paths =
        args_operands(a, 1, 2, "two lists or two folders, or one and how to reach the other");
    q->here.path = paths[0];
    q->there.path = paths[1];
    if (!is_local(q))
        connect_check(&q->way, a);
    else if (connect_asks(&q->way) || q->way.listen || q->way.serves_here)
        args_refuse(a, "two operands are compared here; with --via, --connect, --listen or --serve "
                       "give one");
    if (q->way.serves_here && strcmp(q->here.path, "-") == 0)
        args_refuse(a, "with --serve, standard input is the line; name a list or a folder");
    if (is_local(q) && strcmp(q->here.path, "-") == 0 && strcmp(q->there.path, "-") == 0)
        args_refuse(a, "standard input can be read only once");
}

static void open_inventory(request *q, inventory *v)
{
    v->set.end = q->prints_null ? 0 : '\n';
    inventory_open(v, q->takes_packed);
}

static int run(args *a)
{
    request q = { .talk = { .memory = (size_t)1 << 30, .rounds_most = DEFAULT_ROUNDS },
                  .way = connect_default() };

    read_request(&q, a);
    q.talk.here = &q.here;
    open_inventory(&q, &q.here);
    if (is_local(&q))
        open_inventory(&q, &q.there);
    if (is_local(&q) && q.here.is_folder != q.there.is_folder)
        die(CODE_USAGE, "replicas: %s is a folder and %s is a list; give two of a kind",
            q.here.is_folder ? q.here.path : q.there.path,
            q.here.is_folder ? q.there.path : q.here.path);
    (is_local(&q) ? compare_here : compare_there)(&q);
    bool is_equal = q.talk.side.n_missing + q.talk.n_there == 0 &&
                    (q.talk.agrees || (!is_local(&q) && !connect_asks(&q.way)));
    line_free(q.talk.line);
    replicas_free(&q.talk);
    inventory_close(&q.here);
    return is_equal || q.way.serves_here ? CODE_OK : CODE_NOTHING;
}

const command cmd_replicas = { "replicas", help_replicas, options, .run = run };
