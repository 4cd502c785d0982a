/* traffic.h - what crossed a line, by part of the conversation. */
#ifndef TAMIS_CLI_WIRE_TRAFFIC_H
#define TAMIS_CLI_WIRE_TRAFFIC_H

#include "args/args.h"
#include "connection.h"
#include "text/json.h"

typedef struct traffic_part {
    char letter;
    const char *name; /* NULL follows the last */
} traffic_part;

/* How it is told. */
typedef struct traffic_wish {
    bool as_text, as_json;
} traffic_wish;

extern const option_row traffic_options[]; /* for a traffic_wish: of every command with a line */

/* A table on standard error. */
void traffic_print(const line *l, const traffic_part *parts);
/* Members "sent", "received" and "bytes", which is all of it. */
void traffic_json(const line *l, const traffic_part *parts, json *j);

#endif
