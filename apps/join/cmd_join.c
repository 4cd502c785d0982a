/* cmd_join.c - tamis join: rows of two tables with the same key. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "join.h"
#include "term/message.h"

/* Least memory: a split of tapes takes a buffer for each, of 1 KiB or more. */
enum { DEFAULT_MEMORY = 1 << 30, LEAST_MEMORY = 1 << 16 };

typedef struct request {
    join join;
    buffer keys; /* of all --on, with commas between them and a NUL */
    const char *out;
    stats_form stats;
} request;

/* ---- Options ----------------------------------------------------------- */

/* "a=b" has one "=", and something on both of its sides. */
static bool is_column(const char *at, size_t size)
{
    const char *equal = memchr(at, '=', size);

    if (!equal)
        return size > 0;
    return equal > at && equal + 1 < at + size &&
           !memchr(equal + 1, '=', (size_t)(at + size - equal - 1));
}

static void add_keys(void *into, const args *a)
{
    request *r = into;
    const char *at = a->value;

    for (;; at++) {
        size_t size = strcspn(at, ",");
        if (!is_column(at, size))
            args_refuse(a, "--on takes names or numbers of columns: id, or id=user_id, or year,id");
        at += size;
        if (!*at)
            break;
    }
    if (r->keys.size > 0)
        r->keys.bytes[r->keys.size - 1] = ',';
    buffer_append(&r->keys, a->value, strlen(a->value) + 1);
}

static void check_keys(const request *r, const args *a)
{
    size_t n = 1;

    if (r->keys.size == 0)
        args_refuse(a, "give the columns that must be equal with --on");
    for (const char *at = r->keys.bytes; *at; at++)
        n += *at == ',';
    if (n > KEY_FIELDS_MAX)
        args_refuse(a, "--on takes 16 columns at most");
}

static void check_options(void *into, const args *a)
{
    request *r = into;

    if (args_given(a, "left") + args_given(a, "semi") + args_given(a, "anti") > 1)
        args_refuse(a, "--left, --semi and --anti cannot be used together");
    check_keys(r, a);
    if (r->join.memory < LEAST_MEMORY)
        args_refuse(a, "--memory is too little for two files; give 64K or more");
    r->join.b = r->join.a;
}

/* ---- Files ------------------------------------------------------------- */

static void name_sheet(sheet *s, const char *path)
{
    s->path = path;
    s->name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (strcmp(path, "-") != 0 && access(path, R_OK))
        die_errno("read", path);
}

/* By name; standard input is as the other file. */
static void choose_delims(request *r, const args *a)
{
    join *j = &r->join;
    unsigned char given = args_given(a, "delim") ? j->source.format.delim : 0;
    unsigned char of_a = sheet_delim(j->a.path), of_b = sheet_delim(j->b.path);

    if (strcmp(j->a.path, "-") == 0)
        of_a = of_b;
    if (strcmp(j->b.path, "-") == 0)
        of_b = of_a;
    j->a.csv = (csv_format){ given ? given : of_a ? of_a : ',', '\n' };
    j->b.csv = (csv_format){ given ? given : of_b ? of_b : ',', '\n' };
    if (given == '\n' || given == '\r' || (given == '"' && j->a.has_quotes))
        args_refuse(a, "--delim must not be a line end or a quote");
    if (!j->a.has_quotes && j->a.csv.delim != j->b.csv.delim)
        args_refuse(a, "--no-quotes needs one delimiter for both files: give --delim");
}

static void take_files(request *r, const args *a, char **paths)
{
    if (strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        args_refuse(a, "standard input can be one of the two files, not both");
    name_sheet(&r->join.a, paths[0]);
    name_sheet(&r->join.b, paths[1]);
    choose_delims(r, a);
}

/* ---- What was done ----------------------------------------------------- */

typedef struct tally {
    const sheet *first, *second;
    uint64_t in_vain; /* rows of the second that were not dropped, and found nothing */
    bool gave_up;
} tally;

static tally tally_of(const join *j)
{
    const sheet *second = j->a_is_first ? &j->b : &j->a;
    uint64_t found = j->a_is_first ? j->counts.b_found : j->counts.a_found;

    return (tally){ .first = j->a_is_first ? &j->a : &j->b,
                    .second = second,
                    .in_vain = second->rows - j->counts.dropped - found,
                    .gave_up = j->filter_bytes > 0 && !j->asks };
}

static void report_text(const join *j)
{
    tally t = tally_of(j);

    fprintf(stderr, "%s: %" PRIu64 " rows, read first\n", t.first->name, t.first->rows);
    fprintf(stderr,
            "%s: %" PRIu64 " rows, %" PRIu64 " dropped by the filter%s, %" PRIu64
            " passed in vain\n",
            t.second->name, t.second->rows, j->counts.dropped,
            t.gave_up             ? " until it was given up"
            : j->filter_bytes > 0 ? ""
                                  : " that was not made",
            t.in_vain);
    fprintf(stderr,
            "%" PRIu64 " rows out, %" PRIu64 " bytes of filter, %" PRIu64 " bytes on disk\n",
            j->counts.out, j->filter_bytes, j->spilled);
}

static void report_json(const join *j)
{
    tally t = tally_of(j);

    fprintf(stderr,
            "{\"a_rows\": %" PRIu64 ", \"b_rows\": %" PRIu64
            ", \"first\": \"%s\", \"asked\": %" PRIu64 ", \"dropped\": %" PRIu64
            ", \"in_vain\": %" PRIu64 ", \"gave_up\": %s, \"filter_bytes\": %" PRIu64
            ", \"spilled_bytes\": %" PRIu64 ", \"rows\": %" PRIu64 "}\n",
            j->a.rows, j->b.rows, j->a_is_first ? "a" : "b", j->counts.asked, j->counts.dropped,
            t.in_vain, t.gave_up ? "true" : "false", j->filter_bytes, j->spilled, j->counts.out);
}

static void report_counts(const request *r)
{
    if (r->stats == STATS_JSON)
        report_json(&r->join);
    else if (r->stats)
        report_text(&r->join);
}

/* ---- Command ----------------------------------------------------------- */

static void request_init(request *r)
{
    sheet empty = { .has_quotes = true,
                    .has_header = true,
                    .lock = PTHREAD_MUTEX_INITIALIZER,
                    .opened = PTHREAD_COND_INITIALIZER };

    *r = (request){ .out = "-" };
    r->join.memory = DEFAULT_MEMORY;
    r->join.a = empty; /* and B is so, too, when options were read */
    r->join.source = source_default();
}

static int run(args *a)
{
    static request r;

    request_init(&r);
    args_read(a, &r);
    take_files(&r, a, args_operands(a, 2, 2, "two files, or - for standard input"));
    r.join.key = r.keys.bytes;
    r.join.to = replace_begin(r.out);
    join_run(&r.join);
    replace_end(r.join.to);
    report_counts(&r);
    sheet_close(&r.join.a);
    sheet_close(&r.join.b);
    buffer_free(&r.keys);
    return r.join.counts.out > 0 ? CODE_OK : CODE_NOTHING;
}

static const option_row options[] = {
    { 0, "on", "COLUMNS", "the columns that must be equal: id, 2, id=user_id, or year,id",
      .take = add_keys },
    { 0, "left", NULL, "rows of A without a partner, too, with empty fields for B",
      TO_CONSTANT(request, join.kind, JOIN_LEFT) },
    { 0, "semi", NULL, "rows of A with a partner, once and without columns of B",
      TO_CONSTANT(request, join.kind, JOIN_SEMI) },
    { 0, "anti", NULL, "rows of A without one", TO_CONSTANT(request, join.kind, JOIN_ANTI) },
    { 0, "no-header", NULL, "the first lines are rows: columns have numbers only",
      TO_CONSTANT(request, join.a.has_header, false) },
    { 'd', "delim", "C", "the byte C stands between fields (default: by the name, TAB for .tsv)",
      TO_BYTE(request, join.source.format.delim) },
    { 0, "no-quotes", NULL, "quotes are text as any other",
      TO_CONSTANT(request, join.a.has_quotes, false) },
    { 'o', "output", "FILE", "write to FILE, which is replaced when all went well",
      TO_TEXT(request, out) },
    { 0, "memory", "SIZE", "for rows, 1G by default: K, M, G; more wait on disk",
      TO_SIZE(request, join.memory) },
    { 0, "no-filter", NULL, "ask no filter which rows to drop", TO_FLAG(request, join.no_filter) },
    { 0, "stats", "[=json]", "say at the end how many rows there were, and were dropped",
      TO_STATS(request, stats) },
    OPTIONS(input_options, request, join.source),
    { .take = check_options },
};

const command cmd_join = { "join", help_join, options, .run = run };
