#include "flows_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "term/message.h"

const char *const WAY_NAMES[WAYS] = { "flow", "source", "destination", "port" };

static const uint64_t SECOND = 1000000000;

enum { TIME_TEXT = 48 };

/* 2026-01-31T12:00:00.000000001Z, without the part that is 0. */
static void time_text(char *text, uint64_t time)
{
    time_t seconds = (time_t)(time / SECOND);
    struct tm *day = gmtime(&seconds);
    size_t size = day ? strftime(text, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", day) : 0;

    if (time % SECOND)
        size += (size_t)snprintf(text + size, TIME_TEXT - size, ".%09u", (unsigned)(time % SECOND));
    snprintf(text + size, TIME_TEXT - size, "Z");
}

static void line_text(char *text, const flow_report *r, way w, const candidate *c)
{
    const tally_kept *kept = (const void *)c->text;

    switch (w) {
    case WAY_SOURCE:
        address_text(text, kept->flow.source, kept->flow.version);
        break;
    case WAY_TARGET:
        address_text(text, kept->flow.target, kept->flow.version);
        break;
    case WAY_PORT:
        port_text(text, &kept->flow);
        break;
    default:
        flow_text(text, &kept->flow, r->wish->both_ways);
    }
}

/* The first packet is known if no other was missed. */
static void first_text(char *text, const candidate *c)
{
    if (c->extra)
        snprintf(text, TIME_TEXT, "%s", "");
    else
        time_text(text, tally_time((const void *)c->text));
}

static const char *unit_of(const flow_report *r)
{
    return r->wish->by_bytes ? "bytes" : "packets";
}

/* The lines of a list that are shown. */
static const candidate *shown_of(const flow_report *r, top *t, size_t *n)
{
    const candidate *best = top_rank(t, n);

    *n = *n < r->shown ? *n : r->shown;
    return best;
}

/* ---- Begin ------------------------------------------------------------- */

static const char CSV_HEADER[] = "part,name,packets,bytes,flows,new,least,most,first\n";

static void begin(flow_report *r)
{
    if (r->has_printed)
        return;
    r->has_printed = true;
    if (r->form == REPORT_CSV)
        fputs(CSV_HEADER, stdout);
    if (r->form == REPORT_TEXT && r->wish->window)
        printf("%-30s %10s %13s %9s %9s\n", "window", "packets", "bytes", "flows", "new");
    if (r->form != REPORT_JSON)
        return;
    json_open(&r->json, NULL, '{');
    if (r->wish->window)
        json_open(&r->json, "windows", '[');
}

/* ---- Intervals --------------------------------------------------------- */

static void interval_json(json *j, const char *start, const interval *i)
{
    json_open(j, NULL, '{');
    json_text(j, "start", start);
    json_count(j, "packets", i->packets);
    json_count(j, "bytes", i->bytes);
    json_count(j, "flows", i->flows);
    json_count(j, "new", i->fresh);
    json_close(j, '}');
}

void report_interval(void *ctx, const interval *i)
{
    flow_report *r = ctx;
    char start[TIME_TEXT];

    begin(r);
    time_text(start, i->start);
    if (r->form == REPORT_JSON)
        interval_json(&r->json, start, i);
    else
        printf(r->form == REPORT_CSV
                   ? "window,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,\n"
                   : "%-30s %10" PRIu64 " %13" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n",
               start, i->packets, i->bytes, i->flows, i->fresh);
    /* Somebody may be watching, and traffic comes slowly. */
    if (r->wish->window >= SECOND)
        fflush(stdout); /* output_end() looks at the stream */
}

/* ---- Totals ------------------------------------------------------------ */

typedef struct total_row {
    const char *name;
    uint64_t packets;
} total_row;

enum { TOTAL_ROWS = 7 };

/* What is 0 in nearly all captures comes last. */
static void total_rows(total_row rows[TOTAL_ROWS], const tally_total *s)
{
    const total_row all[TOTAL_ROWS] = {
        { "ipv4", s->ipv4 },           { "ipv6", s->ipv6 },           { "other", s->other },
        { "truncated", s->truncated }, { "fragments", s->fragments }, { "strays", s->strays },
        { "late", s->late },
    };

    memcpy(rows, all, sizeof all);
}

static void totals_text(const tally_total *s, const distinct_bounds *flows)
{
    char first[TIME_TEXT], last[TIME_TEXT];
    total_row rows[TOTAL_ROWS];

    time_text(first, s->first);
    time_text(last, s->last);
    total_rows(rows, s);
    printf("packets      %" PRIu64 "\nbytes        %" PRIu64 "\n", s->packets, s->bytes);
    if (s->packets)
        printf("from         %s\nto           %s\n", first, last);
    printf("flows        %.0f (%" PRIu64 " to %" PRIu64 ")\n", flows->estimate, flows->least,
           flows->most);
    for (size_t i = 0; i < TOTAL_ROWS; i++)
        if (rows[i].packets || i < 3)
            printf("%-12s %" PRIu64 "\n", rows[i].name, rows[i].packets);
}

static void totals_csv(const tally_total *s, const distinct_bounds *flows)
{
    char first[TIME_TEXT];
    total_row rows[TOTAL_ROWS];

    time_text(first, s->first);
    total_rows(rows, s);
    printf("total,,%" PRIu64 ",%" PRIu64 ",%.0f,,%" PRIu64 ",%" PRIu64 ",%s\n", s->packets,
           s->bytes, flows->estimate, flows->least, flows->most, s->packets ? first : "");
    for (size_t i = 0; i < TOTAL_ROWS; i++)
        printf("%s,,%" PRIu64 ",,,,,,\n", rows[i].name, rows[i].packets);
}

static void totals_json(json *j, const tally_total *s, const distinct_bounds *flows)
{
    char first[TIME_TEXT], last[TIME_TEXT];
    total_row rows[TOTAL_ROWS];

    time_text(first, s->first);
    time_text(last, s->last);
    total_rows(rows, s);
    json_count(j, "packets", s->packets);
    json_count(j, "bytes", s->bytes);
    if (s->packets) {
        json_text(j, "from", first);
        json_text(j, "to", last);
    }
    for (size_t i = 0; i < TOTAL_ROWS; i++)
        json_count(j, rows[i].name, rows[i].packets);
    json_open(j, "flows", '{');
    json_real(j, "estimate", flows->estimate);
    json_count(j, "at_least", flows->least);
    json_count(j, "at_most", flows->most);
    json_close(j, '}');
}

static void report_totals(flow_report *r, tally *t)
{
    const tally_total *s = tally_sum(t);
    distinct_bounds flows = tally_flows(t);

    if (r->form == REPORT_JSON)
        totals_json(&r->json, s, &flows);
    else if (r->form == REPORT_CSV)
        totals_csv(s, &flows);
    else
        totals_text(s, &flows);
}

/* ---- Lists ------------------------------------------------------------- */

static void line_json(json *j, const candidate *c, const char *name, const char *first)
{
    json_open(j, NULL, '{');
    json_text(j, "name", name);
    json_count(j, "at_least", c->count - c->extra);
    json_count(j, "at_most", c->count);
    if (*first)
        json_text(j, "first", first);
    json_close(j, '}');
}

/* Bounds that are equal are one number in CSV, where packets or bytes stand. */
static void line_csv(const flow_report *r, way w, const candidate *c, const char *name,
                     const char *first)
{
    printf("%s,%s,", WAY_NAMES[w], name);
    if (c->extra)
        printf(",,");
    else
        printf(r->wish->by_bytes ? ",%" PRIu64 "," : "%" PRIu64 ",,", c->count);
    printf(",,%" PRIu64 ",%" PRIu64 ",%s\n", c->count - c->extra, c->count, first);
}

static void report_line(flow_report *r, way w, const candidate *c)
{
    char name[FLOW_TEXT], first[TIME_TEXT];

    line_text(name, r, w, c);
    first_text(first, c);
    if (r->form == REPORT_JSON)
        line_json(&r->json, c, name, first);
    else if (r->form == REPORT_CSV)
        line_csv(r, w, c, name, first);
    else
        printf("%13" PRIu64 " %13" PRIu64 "  %-30s  %s\n", c->count - c->extra, c->count, first,
               name);
}

static void report_list(flow_report *r, way w, top *t)
{
    size_t n;
    const candidate *best = shown_of(r, t, &n);

    if (r->form == REPORT_JSON)
        json_open(&r->json, WAY_NAMES[w], '[');
    if (r->form == REPORT_TEXT)
        printf("\n%13s %13s  %-30s  %s\n", "least", "most", "first seen", WAY_NAMES[w]);
    for (size_t i = 0; i < n; i++)
        report_line(r, w, &best[i]);
    if (r->form == REPORT_JSON)
        json_close(&r->json, ']');
    uint64_t missing = top_doubt(t, n);
    if (missing > 0)
        say("a %s of up to %" PRIu64 " %s may be missing; a smaller --error tells more",
            WAY_NAMES[w], missing, unit_of(r));
}

static void report_lists(flow_report *r, tally *t)
{
    if (r->form == REPORT_JSON) {
        json_text(&r->json, "unit", unit_of(r));
        json_open(&r->json, "top", '{');
    }
    for (int w = 0; w < WAYS; w++)
        if (tally_top(t, (way)w))
            report_list(r, (way)w, tally_top(t, (way)w));
    if (r->form == REPORT_JSON)
        json_close(&r->json, '}');
}

/* ---- Blocked addresses ------------------------------------------------- */

static void report_prefix(flow_report *r, const prefix *p)
{
    char name[ADDRESS_TEXT];

    prefix_text(name, p);
    if (r->form == REPORT_CSV)
        printf("blocked,%s,%" PRIu64 ",%" PRIu64 ",,,,,\n", name, p->packets, p->bytes);
    if (r->form == REPORT_TEXT)
        printf("%13" PRIu64 " %13" PRIu64 " %13" PRIu64 "  %s\n", p->from, p->to, p->bytes, name);
    if (r->form != REPORT_JSON)
        return;
    json_open(&r->json, NULL, '{');
    json_text(&r->json, "prefix", name);
    json_count(&r->json, "from", p->from);
    json_count(&r->json, "to", p->to);
    json_count(&r->json, "packets", p->packets);
    json_count(&r->json, "bytes", p->bytes);
    json_close(&r->json, '}');
}

static void report_blocked(flow_report *r, blocklist *b)
{
    blocked all = blocklist_total(b);
    size_t n;
    const prefix *prefixes = blocklist_rank(b, &n);

    if (r->form == REPORT_CSV)
        printf("blocked,,%" PRIu64 ",%" PRIu64 ",,,,,\n", all.packets, all.bytes);
    if (r->form == REPORT_TEXT)
        printf("\nblocked      %" PRIu64 " packets of %zu prefixes out of %zu\n"
               "%13s %13s %13s  %s\n",
               all.packets, n, all.prefixes, "from", "to", "bytes", "prefix");
    if (r->form == REPORT_JSON) {
        json_count(&r->json, "blocked_packets", all.packets);
        json_count(&r->json, "blocked_bytes", all.bytes);
        json_open(&r->json, "blocked", '[');
    }
    for (size_t i = 0; i < n; i++)
        report_prefix(r, &prefixes[i]);
    if (r->form == REPORT_JSON)
        json_close(&r->json, ']');
}

/* ---- All --------------------------------------------------------------- */

void report_all(flow_report *r, tally *t)
{
    begin(r);
    if (r->form == REPORT_JSON && r->wish->window)
        json_close(&r->json, ']');
    if (r->form == REPORT_TEXT && r->wish->window)
        putchar('\n');
    report_totals(r, t);
    report_lists(r, t);
    if (r->wish->blocked)
        report_blocked(r, r->wish->blocked);
    if (r->form == REPORT_JSON)
        json_close(&r->json, '}');
}
