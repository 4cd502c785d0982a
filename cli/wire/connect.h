/* connect.h - ways to another tamis: a connection over TCP, a command whose input and output are
 * the line, or one's own input and output. */
#ifndef TAMIS_CLI_WIRE_CONNECT_H
#define TAMIS_CLI_WIRE_CONNECT_H

#include "args/args.h"
#include "connection.h"
#include "files/thread_pool.h"

typedef struct connect_way {
    const char *listen, *connect, *via; /* at most one is set */
    bool serves_here;                   /* on standard input and output */
    line_limits limits;
    pid_t command; /* that runs at the other end; 0: none */
} connect_way;

extern const option_row connect_options[]; /* for a connect_way: of every command with a line */

connect_way connect_default(void);
/* Refuses more than one way, or none. */
void connect_check(const connect_way *way, const args *a);
/* This side asks, the other one serves. */
bool connect_asks(const connect_way *way);

/* The other side, if it is a thread of this program. What fails there ends the program, with one
 * message. */
typedef struct neighbour {
    line *line;
    void (*serve)(struct neighbour *n);
    thread_pool pool; /* of one */
} neighbour;

/* Calls `serve` there. Returns the line to it; names are those of both sides for messages. */
line *connect_beside(neighbour *n, const line_limits *limits, const char *here, const char *there);
/* Waits until it has served. */
void connect_end_beside(neighbour *n);

/* A line to the other side. Waits for it, with --listen. */
line *connect_open(connect_way *way);
/* Closes the line. A command at the other end has to end well. */
void connect_close(connect_way *way, line *l);

#endif
