/* traffic.c - what crossed a line, by part of the conversation. */
#include <stdio.h>

#include "traffic.h"

const option_row traffic_options[] = {
    { 0, "stats", NULL, "tell what was sent and received, on standard error",
      TO_FLAG(traffic_wish, as_text) },
    { 0, "json", NULL, "print the result as JSON, with what was sent and received",
      TO_FLAG(traffic_wish, as_json) },
    { 0 },
};

static void print_row(const char *name, uint64_t sent, uint64_t received)
{
    if (sent + received > 0)
        fprintf(stderr, "%-12s %12" PRIu64 " %12" PRIu64 "\n", name, sent, received);
}

void traffic_print(const line *l, const traffic_part *parts)
{
    fprintf(stderr, "%-12s %12s %12s\n", "bytes", "sent", "received");
    for (const traffic_part *p = parts; p->name; p++)
        print_row(p->name, line_sent_of(l, p->letter), line_received_of(l, p->letter));
    print_row("total", line_sent(l), line_received(l));
}

static void put_one_way(json *j, const char *name, const line *l, const traffic_part *parts,
                        uint64_t (*bytes)(const line *l, char part))
{
    json_open(j, name, '{');
    for (const traffic_part *p = parts; p->name; p++)
        json_count(j, p->name, bytes(l, p->letter));
    json_close(j, '}');
}

void traffic_json(const line *l, const traffic_part *parts, json *j)
{
    put_one_way(j, "sent", l, parts, line_sent_of);
    put_one_way(j, "received", l, parts, line_received_of);
    json_count(j, "bytes", line_sent(l) + line_received(l));
}
